// Switches and cables of the shipped clusters, against the tables of their makers.
#include <catch2/catch.hpp>
#include <ostream>

#include "topology/summary.hpp"
#include "topology/support.hpp"

using namespace trainyard;

namespace {

struct Counts {
  int nodes = 0;
  int gpus = 0;
  int leaves = 0;
  int spines = 0;
  int cores = 0;
  int cables = 0;  ///< to NICs
  int trunks = 0;  ///< between switches

  bool operator==(const Counts&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Counts& all) {
  return out << all.nodes << " nodes, " << all.gpus << " GPUs, " << all.leaves << " + "
             << all.spines << " + " << all.cores << " switches, " << all.cables << " + "
             << all.trunks << " links";
}

/// A name with a known tier, whatever its number.
int* tier_of(Counts& counts, const std::string& name) {
  if (name.starts_with("leaf")) {
    return &counts.leaves;
  }
  if (name.starts_with("core")) {
    return &counts.cores;
  }
  return name.find("spine") != std::string::npos ? &counts.spines : nullptr;
}

Counts counts_of(const topology::Cluster& cluster) {
  Counts counts{.nodes = cluster.nodes(), .gpus = cluster.gpus()};
  for (const auto& group : topology::fabric_of(cluster).switches) {
    int* const tier = tier_of(counts, group.first);
    REQUIRE(tier != nullptr);
    *tier += group.count;
  }
  for (const auto& group : topology::cables_of(cluster)) {
    counts.cables += group.links;
  }
  for (const auto& group : topology::trunks_of(cluster)) {
    counts.trunks += group.links;
  }
  return counts;
}

}  // namespace

TEST_CASE("shipped clusters have the switches and cables of their tables", "[superpod]") {
  const auto [name, expected] = GENERATE(table<std::string, Counts>({
      // RA-09950: units of 20 nodes, 8 leaves each, 20 uplinks a leaf, 40 ports a spine.
      {"superpod-a100-1su", {20, 160, 8, 4, 0, 160, 160}},
      {"superpod-a100-2su", {40, 320, 16, 8, 0, 320, 320}},
      {"superpod-a100-4su", {80, 640, 32, 16, 0, 640, 640}},
      // As built: 56 x 20 links below the spines, 80 x 14 above them.
      {"superpod-a100-7su", {140, 1120, 56, 80, 28, 1120, 1120 + 1120}},
      // RA-11333: of 1,020 cables to leaves four are the fabric manager's.
      {"superpod-h100-4su", {127, 1016, 32, 16, 0, 1020 - 4, 1024}},
      // 36 x 4 ports on leaves of 18; 96 x 8 on leaves of 18, 43 x 18 uplinks to two of 648.
      {"dgx-1-pod", {36, 288, 8, 4, 0, 144, 144}},
      {"dgx-2-pod", {96, 1536, 43, 2, 0, 768, 774}},
      // 1,536 racks with 16 links down and up; 128 cluster switches with 27 up each.
      {"meta-24k-roce", {3072, 24576, 1536, 128, 27, 24576, 24576 + 128 * 27}},
      // 15 segments of 16 switches with 60 links up; 2 x 60 aggregation switches with 8 up.
      {"hpn-15k", {1920, 15360, 240, 120, 8, 30720, 240 * 60 + 120 * 8}},
  }));
  CAPTURE(name);
  CHECK(counts_of(topology::load_cluster(name)) == expected);
}

TEST_CASE("on the rails of seven units a rail has ten spines and each spine half the cores",
          "[superpod]") {
  const auto pod = topology::load_cluster("superpod-a100-7su");
  // Leaves 3, 11, 19 ... are rail 3, hence pod 3: two links to each of its ten spines.
  CHECK(pod.link(test::link_named(pod, "leaf11->pod3-spine9")).count == 2);
  // Even spines go to cores 0 .. 13, odd ones to 14 .. 27, a link each.
  CHECK(pod.link(test::link_named(pod, "pod3-spine8->core13")).count == 1);
  CHECK(pod.link(test::link_named(pod, "pod3-spine9->core14")).count == 1);
  CHECK(pod.switch_hops(0, 8 * 19) == 1);               // same rail, same unit
  CHECK(pod.switch_hops(0, 8 * 20) == 3);               // another unit
  CHECK(pod.nic_to_nic(0, 0, 1, 1).links.size() == 6);  // another rail: five switches
  CHECK(topology::fabric_bisection(pod).si() == Approx(70 * 8 * 25e9));
}

TEST_CASE("a pod of HPN keeps planes apart below the core", "[superpod]") {
  const auto pod = topology::load_cluster("hpn-15k");
  CHECK(pod.nic_to_nic(0, 0, 127, 0).links.size() == 2);   // a segment, a switch
  CHECK(pod.nic_to_nic(0, 0, 128, 0).links.size() == 4);   // the next segment, same plane
  CHECK(pod.nic_to_nic(0, 0, 128, 14).links.size() == 4);  // and another rail of it
  CHECK(pod.nic_to_nic(0, 0, 128, 1).links.size() == 6);   // the other plane: over the core
  // Port speed is the NIC's, trunk speed the switches'.
  CHECK(pod.link(pod.nics(0)[0].to_fabric).raw.si() == Approx(25e9));
  CHECK(pod.link(test::link_named(pod, "leaf0->pod0-spine0")).raw.si() == Approx(50e9));
}

TEST_CASE("Meta's pods do not block and are seven to one above", "[superpod]") {
  // Four pods against four: 4 x 16 x 27 links of 50 GB/s for 12,288 NICs.
  const auto cluster = topology::load_cluster("meta-24k-roce");
  CHECK(topology::fabric_bisection(cluster).si() == Approx(4 * 16 * 27 * 50e9));
  CHECK(topology::fabric_demand(cluster).si() == Approx(12288 * 50e9));
  CHECK(cluster.switch_hops(0, 15) == 1);    // a rack
  CHECK(cluster.switch_hops(0, 3071) == 3);  // a pod
  CHECK(cluster.switch_hops(0, 3072) == 5);  // the next
  CHECK(cluster.link(cluster.nics(0)[0].to_fabric).kind == "roce-400");
}
