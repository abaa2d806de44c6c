#include <catch2/catch.hpp>

#include "collective/support.hpp"

using namespace trainyard;
using workload::CollectiveOp;

namespace {

topology::Cluster on_fabric(const std::string& type, int nodes, bool reduces) {
  return topology::parse_cluster(
      input::Document::parse("name = \"c\"\n[[node]]\ntype = \"" + type +
                                 "\"\ncount = " + std::to_string(nodes) +
                                 "\n[fabric]\nkind = \"single-switch\"\nin_network_reduction = " +
                                 (reduces ? "true" : "false") + "\n",
                             "c.toml"),
      topology::Catalog::load());
}

}  // namespace

TEST_CASE("switches that add take each byte of a node once, however many nodes", "[sharp]") {
  for (const int nodes : {2, 4, 9}) {
    CAPTURE(nodes);
    const auto cluster = on_fabric("dgx-a100-40gb", nodes, true);
    const auto plan = test::round_plan(cluster, CollectiveOp::all_reduce, 8e9,
                                       test::first_gpus(8 * nodes), {.algorithm = "sharp"});
    REQUIRE(plan.algorithm == "sharp");
    const auto bytes = test::bytes_by_link(plan);
    for (int node = 0; node < nodes; ++node) {
      for (const auto& nic : cluster.nics(node)) {
        CHECK(bytes.at(nic.to_fabric) == Approx(1e9));
        CHECK(bytes.at(nic.from_fabric) == Approx(1e9));
      }
    }
    CHECK(bytes.at(*cluster.nvswitch_port(0, true)) == Approx(2 * 7.0 / 8 * 8e9));
    // Start, two hops of Simple, the fabric; no log of the nodes.
    CHECK(plan.latency.si() == Approx((10 + 2 * 3 + 30) * 1e-6));
    // 14/8 S through a port of 228 GB/s takes longer than S through eight NICs of 23.75.
    CHECK(test::transfer_time(cluster, plan) == Approx(14e9 / (300e9 * 0.76)));
  }
}

TEST_CASE("where neither fabric nor node can, it is not there", "[sharp]") {
  const collective::Software only{.algorithm = "sharp"};
  const auto algorithm = [&](const topology::Cluster& cluster, CollectiveOp op,
                             const std::vector<int>& group) {
    return test::round_plan(cluster, op, 1e9, group, only).algorithm;
  };
  const auto plain = on_fabric("dgx-a100-40gb", 2, false);
  const auto able = on_fabric("dgx-a100-40gb", 2, true);
  CHECK(algorithm(plain, CollectiveOp::all_reduce, test::first_gpus(16)) != "sharp");
  CHECK(algorithm(able, CollectiveOp::all_gather, test::first_gpus(16)) != "sharp");
  CHECK(algorithm(able, CollectiveOp::all_reduce, test::first_gpus(8)) != "sharp");
  // A cube mesh has no switch to scatter over; one GPU a node needs none.
  const auto mesh = on_fabric("dgx-1-v100", 2, true);
  CHECK(algorithm(mesh, CollectiveOp::all_reduce, test::first_gpus(16)) != "sharp");
  CHECK(algorithm(mesh, CollectiveOp::all_reduce, {0, 8}) == "sharp");
}
