#include <catch2/catch.hpp>

#include "collective/support.hpp"

using namespace trainyard;
using workload::CollectiveOp;

TEST_CASE("reduction in NVSwitch: the whole buffer into the switch and back, once", "[nvls]") {
  const auto cluster = test::nodes_of("dgx-h100", 1);
  const auto plan = test::round_plan(cluster, CollectiveOp::all_reduce, 1e9, test::first_gpus(8));
  REQUIRE(plan.algorithm == "nvls");
  CHECK(plan.protocol == "simple");
  CHECK(plan.flows.size() == 1);
  const auto bytes = test::bytes_by_link(plan);
  CHECK(bytes.size() == 16);
  for (int gpu = 0; gpu < 8; ++gpu) {
    CHECK(bytes.at(*cluster.nvswitch_port(gpu, true)) == Approx(1e9));
    CHECK(bytes.at(*cluster.nvswitch_port(gpu, false)) == Approx(1e9));
  }
  // Half of 18 x 25 GB/s; a start of half of 10 us and 40 us for the switch.
  CHECK(test::transfer_time(cluster, plan) == Approx(1e9 / 225e9));
  CHECK(plan.latency.si() == Approx(45e-6));
}

TEST_CASE("where the switch cannot reduce, rings do", "[nvls]") {
  const auto algorithm = [](const std::string& type, CollectiveOp op, int gpus,
                            const collective::Software& software = {}) {
    const auto cluster = test::nodes_of(type, 1);
    return test::round_plan(cluster, op, 1e10, test::first_gpus(gpus), software).algorithm;
  };
  // A ring over n GPUs reaches 0.75 x 450 GB/s x n / 2(n-1): 225 of four, 211 of five.
  CHECK(algorithm("dgx-h100", CollectiveOp::all_reduce, 5) == "nvls");
  CHECK(algorithm("dgx-h100", CollectiveOp::all_reduce, 3) == "ring");
  CHECK(algorithm("dgx-h100", CollectiveOp::all_reduce, 2) == "ring");
  CHECK(algorithm("dgx-h100", CollectiveOp::all_gather, 8) == "ring");
  CHECK(algorithm("dgx-h100", CollectiveOp::all_reduce, 8, {.era = collective::Era::before_2_12}) ==
        "ring");
  CHECK(algorithm("dgx-a100-40gb", CollectiveOp::all_reduce, 8) == "ring");
  CHECK(algorithm("dgx-h100", CollectiveOp::all_reduce, 8, {.algorithm = "ring"}) == "ring");
}

TEST_CASE("several nodes: in each the switch, between them a tree", "[nvls]") {
  const auto cluster = test::nodes_of("dgx-h100", 2);
  const auto group = test::first_gpus(16);
  const auto plan = test::round_plan(cluster, CollectiveOp::all_reduce, 4e9, group);
  REQUIRE(plan.algorithm == "nvls-tree");
  CHECK(plan.flows.size() == 1 + 2 * 8);
  const auto bytes = test::bytes_by_link(plan);
  for (const auto& nic : cluster.nics(1)) {
    CHECK(bytes.at(nic.to_fabric) == Approx(4e9 / 8));
    CHECK(bytes.at(nic.from_fabric) == Approx(4e9 / 8));
  }
  // The switches are slower (225 GB/s) than eight NICs (400 x 0.95).
  CHECK(test::transfer_time(cluster, plan) == Approx(4e9 / 225e9));
  // Start, switch, two network hops and ten for the pipeline.
  CHECK(plan.latency.si() == Approx((5.0 + 40.0 + 12 * 5.0) * 1e-6));
}

TEST_CASE("twelve nodes: the NICs of inner nodes carry everything twice", "[nvls]") {
  const auto cluster = test::nodes_of("dgx-h100", 12);
  const auto plan = test::round_plan(cluster, CollectiveOp::all_reduce, 4e9, test::first_gpus(96));
  REQUIRE(plan.algorithm == "nvls-tree");
  const double nics = 8 * 0.95 * 50e9;
  CHECK(test::transfer_time(cluster, plan) == Approx(2 * 4e9 / nics));
}
