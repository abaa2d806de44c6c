#include <catch2/catch.hpp>
#include <cmath>

#include "collective/constants.hpp"
#include "collective/plan.hpp"
#include "collective/support.hpp"

using namespace trainyard;
using workload::CollectiveOp;

namespace {

double latency_us(const collective::Plan& plan) {
  return plan.latency.si() * 1e6;
}

}  // namespace

// Expected latencies from NCCL's table: LL base 6.6 us, hops 0.6 (NVLink), 1.0 (PCIe), 2.7
// (network); 0.3 us a peer.
TEST_CASE("small collectives cost the base and their hops", "[protocol]") {
  const auto v100 = test::nodes_of("dgx-1-v100", 1);
  const auto a100 = test::nodes_of("dgx-a100-40gb", 2);
  const auto eight = test::first_gpus(8);

  SECTION("all-reduce: 2 (n - 1) hops") {
    const auto plan = test::plan_of(v100, CollectiveOp::all_reduce, 8.0, eight);
    CHECK(plan.protocol == "ll");
    CHECK(latency_us(plan) == Approx(6.6 + 14 * 0.6));
  }
  SECTION("broadcast: n - 1 hops") {
    CHECK(latency_us(test::plan_of(a100, CollectiveOp::broadcast, 8.0, {0, 1})) ==
          Approx(6.6 + 0.6));
  }
  SECTION("all-to-all: a small part for each peer") {
    CHECK(latency_us(test::plan_of(v100, CollectiveOp::all_to_all, 8.0, eight)) ==
          Approx(6.6 + 7 * 0.3));
  }
  SECTION("between nodes: network hops in place of NVLink hops") {
    // 30 steps, 2 (nodes - 1) = 2 of them over the network.
    CHECK(latency_us(test::plan_of(a100, CollectiveOp::all_reduce, 8.0, test::first_gpus(16))) ==
          Approx(6.6 + 28 * 0.6 + 2 * 2.7));
    // 1 step, and that over the network.
    CHECK(latency_us(test::plan_of(a100, CollectiveOp::all_gather, 8.0, {0, 8})) ==
          Approx(6.6 + 2.7));
  }
}

TEST_CASE("small kernels last about as long as profiles show", "[protocol]") {
  // Recorded in-kernel times of small messages, launch not included; the model is not fitted to
  // them. Half to twice: they contain clock rounding and some arrival skew.
  const auto v100 = test::nodes_of("dgx-1-v100", 1);
  const auto a100 = test::nodes_of("dgx-a100-40gb", 1);
  const auto time = [](const topology::Cluster& cluster, CollectiveOp op, double bytes,
                       const std::vector<int>& group) {
    return 1e6 * time_alone(test::plan_of(cluster, op, bytes, group), cluster).si();
  };
  const double exchange = time(v100, CollectiveOp::all_to_all, 16384, test::first_gpus(8));
  CHECK(exchange > 5.0);  // 7-10 us
  CHECK(exchange < 15.0);
  const double reduction = time(v100, CollectiveOp::all_reduce, 4096, test::first_gpus(8));
  CHECK(reduction > 10.0);  // about 20 us
  CHECK(reduction < 30.0);
  const double broadcast = time(a100, CollectiveOp::broadcast, 4096, {0, 1});
  CHECK(broadcast > 5.0);  // about 8 us
  CHECK(broadcast < 12.0);
  const double bucket = time(a100, CollectiveOp::all_reduce, 31.5e6, {0, 1});
  CHECK(bucket > 150.0);  // about 0.2 ms
  CHECK(bucket < 250.0);
}

TEST_CASE("the protocol is the one that ends first", "[protocol]") {
  const auto cluster = test::nodes_of("dgx-1-v100", 1);
  collective::Planner planner{cluster};
  std::vector<std::string> seen;
  double before = 0.0;
  for (int power = 10; power <= 30; ++power) {
    const double bytes = std::pow(2.0, power);
    const auto plan =
        planner.plan({CollectiveOp::all_reduce, units::Bytes{bytes}, test::first_gpus(8)});
    if (seen.empty() || seen.back() != plan.protocol) {
      seen.push_back(plan.protocol);
    }
    const double time = time_alone(plan, cluster).si();
    CHECK(time > before);
    before = time;
  }
  CHECK(seen == std::vector<std::string>{"ll", "ll128", "simple"});
}

TEST_CASE("LL and LL128 move bytes more slowly than Simple", "[protocol]") {
  const auto cluster = test::nodes_of("dgx-1-v100", 1);
  const double link = cluster.link(*cluster.nvlink(0, 1)).bandwidth.si();
  const auto all = test::first_gpus(8);
  const auto ll = test::plan_of(cluster, CollectiveOp::all_reduce, 1024, all);
  REQUIRE(ll.protocol == "ll");
  CHECK(ll.flows[0].cap.si() == Approx(0.37 * link));
  // 2 MB over six rings of 22.6 GB/s take 25.8 us: LL 15 + 25.8 / 0.37 = 85 us, LL128
  // 40.6 + 25.8 / 0.8 = 73 us, Simple 56 + 25.8 = 82 us.
  const auto ll128 = test::plan_of(cluster, CollectiveOp::all_reduce, 2e6, all);
  REQUIRE(ll128.protocol == "ll128");
  CHECK(ll128.flows[0].cap.si() == Approx(0.80 * link));
  const auto simple = test::plan_of(cluster, CollectiveOp::all_reduce, 1e9, all);
  REQUIRE(simple.protocol == "simple");
  CHECK(simple.flows[0].cap.si() == 0.0);
}

TEST_CASE("without NVLink the ring goes over PCIe, with its hops and without LL128", "[protocol]") {
  const auto cluster = topology::parse_cluster(
      input::Document::parse("name = \"pcie-node\"\n"
                             "[[gpu]]\nname = \"gpu{0..3}\"\nmodel = \"v100-sxm2-32gb\"\n"
                             "[[pcie_switch]]\nname = \"plx0\"\n[[cpu]]\nname = \"cpu0\"\n"
                             "[[link]]\nbetween = [\"gpu{0..3}\", \"plx0\"]\n"
                             "kind = \"pcie3-x16\"\n"
                             "[[link]]\nbetween = [\"plx0\", \"cpu0\"]\nkind = \"pcie3-x16\"\n",
                             "pcie-node.toml"),
      topology::Catalog::load());
  collective::Planner planner{cluster};
  const auto small = planner.plan({CollectiveOp::all_reduce, units::Bytes{8}, {0, 1, 2, 3}});
  CHECK(latency_us(small) == Approx(6.6 + 6 * 1.0));
  for (int power = 10; power <= 30; ++power) {
    const units::Bytes bytes{std::pow(2.0, power)};
    CHECK(planner.plan({CollectiveOp::all_reduce, bytes, {0, 1, 2, 3}}).protocol != "ll128");
  }
  // Each GPU's port carries 2 x 3/4 of the buffer in and out.
  const auto large = planner.plan({CollectiveOp::all_reduce, units::Bytes{1e9}, {0, 1, 2, 3}});
  REQUIRE(large.flows.size() == 1);
  const double port = cluster.link(large.flows[0].links.front()).bandwidth.si();
  CHECK(test::transfer_time(cluster, large) == Approx(1.5e9 / port));
}

TEST_CASE("LL128 is for Volta and later", "[protocol]") {
  CHECK(collective::keeps_128_byte_stores("volta"));
  CHECK(collective::keeps_128_byte_stores("hopper"));
  CHECK_FALSE(collective::keeps_128_byte_stores("pascal"));
  CHECK_FALSE(collective::keeps_128_byte_stores("kepler"));
}

TEST_CASE("without bytes or peers nothing is moved", "[protocol]") {
  const auto cluster = test::nodes_of("dgx-1-v100", 1);
  const auto alone = test::plan_of(cluster, CollectiveOp::all_reduce, 1e6, {3});
  CHECK(alone.algorithm == "none");
  CHECK(alone.latency.si() == 0.0);
  CHECK(alone.flows.empty());
  const auto unknown = test::plan_of(cluster, CollectiveOp::all_reduce, 0.0, {0, 1, 2, 3});
  CHECK(unknown.algorithm == "none");
  CHECK(latency_us(unknown) == Approx(6.6 + 6 * 0.6));
  CHECK(unknown.flows.empty());
  const auto barrier = test::plan_of(cluster, CollectiveOp::barrier, 1e6, {0, 1, 2, 3});
  CHECK(latency_us(barrier) == Approx(6.6 + 6 * 0.6));
  CHECK(barrier.flows.empty());
}
