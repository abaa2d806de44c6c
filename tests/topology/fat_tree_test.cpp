#include <catch2/catch.hpp>
#include <set>

#include "topology/summary.hpp"
#include "topology/support.hpp"

using namespace trainyard;

namespace {

std::string tree(const std::string& kind, int ports, const std::string& more = "") {
  return "kind = \"" + kind + "\"\nlink = \"ib\"\nleaf_ports = " + std::to_string(ports) + "\n" +
         more;
}

int switches(const topology::Cluster& cluster, const std::string& first) {
  int count = 0;
  for (const auto& group : topology::fabric_of(cluster).switches) {
    count += group.first == first ? group.count : 0;
  }
  return count;
}

int trunk_links(const topology::Cluster& cluster) {
  int links = 0;
  for (const auto& group : topology::trunks_of(cluster)) {
    links += group.links;
  }
  return links;
}

}  // namespace

TEST_CASE("a non-blocking tree has half of each leaf's ports down", "[fat-tree]") {
  // 16 NICs on leaves of 8 ports: four leaves of 4 down and 4 up; 16 uplinks fill two spines.
  const auto cluster = test::on_fabric(16, 1, tree("fat-tree", 8));
  CHECK(switches(cluster, "leaf0") == 4);
  CHECK(switches(cluster, "spine0") == 2);
  CHECK(trunk_links(cluster) == 16);
  CHECK(topology::fabric_bisection(cluster).si() == Approx(8 * 10e9));
  CHECK(cluster.switch_hops(0, 3) == 1);
  CHECK(cluster.switch_hops(0, 4) == 3);
  CHECK(cluster.leaf_of(3) == 0);
  CHECK(cluster.leaf_of(4) == 1);
}

TEST_CASE("NICs that fit one leaf need no spine", "[fat-tree]") {
  const auto cluster = test::on_fabric(4, 1, tree("fat-tree", 8));
  CHECK(switches(cluster, "leaf0") == 1);
  CHECK(trunk_links(cluster) == 0);
}

TEST_CASE("oversubscription trades uplinks for NICs", "[fat-tree]") {
  // 3 to 1 on 8 ports: 6 down, 2 up. 24 NICs: 4 leaves, 8 uplinks; half the nodes want 12 x 10
  // GB/s over the 4 uplinks of their two leaves.
  const auto cluster = test::on_fabric(24, 1, tree("fat-tree", 8, "oversubscription = 3\n"));
  CHECK(switches(cluster, "leaf0") == 4);
  CHECK(trunk_links(cluster) == 8);
  CHECK(topology::fabric_demand(cluster).si() == Approx(12 * 10e9));
  CHECK(topology::fabric_bisection(cluster).si() == Approx(4 * 10e9));
}

TEST_CASE("spines can be named; uplinks are spread over them evenly", "[fat-tree]") {
  const auto cluster = test::on_fabric(16, 1, tree("fat-tree", 8, "spines = 3\n"));
  CHECK(switches(cluster, "spine0") == 3);
  CHECK(trunk_links(cluster) == 16);
  CHECK(cluster.link(test::link_named(cluster, "leaf0->spine0")).count == 2);
  CHECK(cluster.link(test::link_named(cluster, "leaf0->spine2")).count == 1);
}

TEST_CASE("more leaves than ports make three tiers", "[fat-tree]") {
  // 4 ports: leaves of 2 down, pods of 2 leaves. 16 NICs: 8 leaves, 4 pods of 2 spines, 4 cores:
  // the canonical k = 4 fat tree of 20 switches and 32 links between them.
  const auto cluster = test::on_fabric(16, 1, tree("fat-tree", 4));
  CHECK(switches(cluster, "leaf0") == 8);
  CHECK(switches(cluster, "core0") == 4);
  CHECK(switches(cluster, "pod0-spine0") == 8);
  CHECK(trunk_links(cluster) == 32);
  CHECK(cluster.switch_hops(0, 1) == 1);
  CHECK(cluster.switch_hops(0, 2) == 3);
  CHECK(cluster.switch_hops(0, 4) == 5);
  CHECK(topology::fabric_bisection(cluster).si() == Approx(8 * 10e9));
}

TEST_CASE("three tiers route destinations of a leaf over different cores", "[fat-tree]") {
  const auto cluster = test::on_fabric(16, 1, tree("fat-tree", 4));
  // D-mod-k: the two NICs of a leaf over two spines, the two leaves of a pod over two cores each.
  std::set<std::string> cores;
  for (int to = 4; to < 8; ++to) {
    cores.insert(test::names_of(cluster, cluster.nic_to_nic(0, 0, to, 0))[2]);
  }
  CHECK(cores.size() == 4);
}

TEST_CASE("adaptive three tiers are as wide as the switches they merge", "[fat-tree]") {
  const auto cluster = test::on_fabric(16, 1, tree("fat-tree", 4, "routing = \"adaptive\"\n"));
  CHECK(switches(cluster, "core0") == 1);
  CHECK(cluster.link(test::link_named(cluster, "leaf0->pod0-spine0")).count == 2);
  CHECK(cluster.link(test::link_named(cluster, "pod0-spine0->core0")).count == 4);
  CHECK(topology::fabric_bisection(cluster).si() == Approx(8 * 10e9));
}

TEST_CASE("on rails NIC i of a unit's nodes meet on leaf i", "[fat-tree]") {
  // Units of 4 nodes with 2 NICs: leaves 0, 1 of unit 0 and 2, 3 of unit 1.
  const auto cluster = test::on_fabric(8, 2, tree("rail-fat-tree", 8));
  CHECK(switches(cluster, "leaf0") == 4);
  const auto cable = [&](int node, int nic) {
    return cluster.link(cluster.nics(node)[static_cast<std::size_t>(nic)].to_fabric).name;
  };
  CHECK(cable(0, 0) == "node0/nic0->leaf0");
  CHECK(cable(3, 1) == "node3/nic1->leaf1");
  CHECK(cable(4, 0) == "node4/nic0->leaf2");
  CHECK(cluster.nic_to_nic(0, 0, 3, 0).links.size() == 2);  // same rail, same unit
  CHECK(cluster.nic_to_nic(0, 0, 3, 1).links.size() == 4);  // another rail
  CHECK(cluster.nic_to_nic(0, 0, 4, 0).links.size() == 4);  // another unit
}

TEST_CASE("a SuperPOD unit: eight leaves, four spines, one switch on a rail", "[fat-tree]") {
  const auto pod = topology::load_cluster("superpod-a100-1su");
  CHECK(pod.nodes() == 20);
  CHECK(switches(pod, "leaf0") == 8);
  CHECK(switches(pod, "spine0") == 4);
  CHECK(trunk_links(pod) == 160);
  CHECK(pod.link(test::link_named(pod, "leaf3->spine2")).count == 5);
  CHECK(pod.nic_to_nic(0, 3, 19, 3).links.size() == 2);
  CHECK(pod.nic_to_nic(0, 3, 19, 4).links.size() == 4);
  CHECK(topology::fabric_bisection(pod).si() == Approx(10 * 8 * 25e9));
}

TEST_CASE("SuperPODs of 2 to 5 units have the leaves and spines of their tables", "[fat-tree]") {
  // RA-09950, leaves exact by rule, spines the non-blocking minimum.
  const auto [units, leaves, spines] =
      GENERATE(table<int, int, int>({{2, 16, 8}, {3, 24, 12}, {4, 32, 16}, {5, 40, 20}}));
  const auto pod = topology::load_cluster("superpod-a100-1su", {20 * units, {}});
  CHECK(switches(pod, "leaf0") == leaves);
  CHECK(switches(pod, "spine0") == spines);
}

TEST_CASE("beyond two tiers a rail keeps to its pod", "[fat-tree]") {
  const auto pod = topology::load_cluster("superpod-a100-1su", {140, {}});
  CHECK(switches(pod, "leaf0") == 56);
  CHECK(switches(pod, "pod0-spine0") == 160);  // 8 pods, one for each rail, of 20 spines
  CHECK(pod.switch_hops(0, 8) == 1);
  CHECK(pod.switch_hops(0, 8 * 139) == 3);              // same rail, seventh unit
  CHECK(pod.nic_to_nic(0, 0, 1, 1).links.size() == 6);  // another rail: five switches
  CHECK(topology::fabric_bisection(pod).si() == Approx(70 * 8 * 25e9));
}
