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

TEST_CASE("small collectives cost the start and their hops", "[protocol]") {
  const auto v100 = test::nodes_of("dgx-1-v100", 1);
  const auto a100 = test::nodes_of("dgx-a100-40gb", 2);
  const auto eight = test::first_gpus(8);

  SECTION("all-reduce: 2 (n - 1) hops") {
    const auto plan = test::round_plan(v100, CollectiveOp::all_reduce, 8.0, eight);
    CHECK(plan.protocol == "ll");
    CHECK(latency_us(plan) == Approx(10 + 14 * 1.0));
  }
  SECTION("broadcast: n - 1 hops") {
    CHECK(latency_us(test::round_plan(a100, CollectiveOp::broadcast, 8.0, {0, 1})) ==
          Approx(10 + 1.0));
  }
  SECTION("all-to-all: a small part for each peer") {
    CHECK(latency_us(test::round_plan(v100, CollectiveOp::all_to_all, 8.0, eight)) ==
          Approx(10 + 7 * 0.3));
    // 7 peers here, 8 elsewhere, one way through the network.
    CHECK(latency_us(test::round_plan(a100, CollectiveOp::all_to_all, 8.0, test::first_gpus(16))) ==
          Approx(10 + 7 * 0.3 + 8 * 5.0 + 5.0));
  }
  SECTION("between nodes: network hops in place of NVLink hops") {
    // 1 step, and that over the network.
    CHECK(latency_us(test::round_plan(a100, CollectiveOp::all_gather, 8.0, {0, 8})) ==
          Approx(10 + 5.0));
    // 15 steps, 1 of them over the network.
    CHECK(latency_us(test::round_plan(a100, CollectiveOp::all_gather, 8.0, test::first_gpus(16))) ==
          Approx(10 + 14 * 1.0 + 5.0));
  }
  SECTION("a tree is shorter than a ring: up and down the chains and the log of the nodes") {
    const auto plan = test::round_plan(a100, CollectiveOp::all_reduce, 8.0, test::first_gpus(16));
    CHECK(plan.algorithm == "tree");
    CHECK(latency_us(plan) == Approx(10 + 2 * 7 * 1.0 + 2 * 1 * 5.0));
    const auto four = test::nodes_of("dgx-a100-40gb", 4);
    CHECK(latency_us(test::round_plan(four, CollectiveOp::all_reduce, 8.0, test::first_gpus(32))) ==
          Approx(10 + 2 * 7 * 1.0 + 2 * 2 * 5.0));
  }
  SECTION("one process starts its GPUs one after another") {
    const auto plan =
        test::round_plan(v100, CollectiveOp::all_reduce, 8.0, eight, {.one_process = true});
    CHECK(latency_us(plan) == Approx(1 + 8 * 4 + 14 * 1.0));
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
  collective::Planner planner{cluster, {}, test::round_constants()};
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
  const auto ll = test::round_plan(cluster, CollectiveOp::all_reduce, 1024, all);
  REQUIRE(ll.protocol == "ll");
  CHECK(ll.flows[0].cap.si() == Approx(0.5 * link));
  // S over six rings of 22.6 GB/s takes 12.9 us a MB: LL 14 + 25.8 us a MB, LL128 28 + 16.1, Simple
  // 42 + 12.9. LL128 is the shortest from 1.44 to 4.34 MB.
  const auto ll128 = test::round_plan(cluster, CollectiveOp::all_reduce, 2e6, all);
  REQUIRE(ll128.protocol == "ll128");
  CHECK(ll128.flows[0].cap.si() == Approx(0.8 * link));
  CHECK(test::round_plan(cluster, CollectiveOp::all_reduce, 1.40e6, all).protocol == "ll");
  CHECK(test::round_plan(cluster, CollectiveOp::all_reduce, 1.48e6, all).protocol == "ll128");
  CHECK(test::round_plan(cluster, CollectiveOp::all_reduce, 4.25e6, all).protocol == "ll128");
  CHECK(test::round_plan(cluster, CollectiveOp::all_reduce, 4.45e6, all).protocol == "simple");
  const auto simple = test::round_plan(cluster, CollectiveOp::all_reduce, 1e9, all);
  REQUIRE(simple.protocol == "simple");
  CHECK(simple.flows[0].cap.si() == 0.0);
}

TEST_CASE("what an older library lacks is not used", "[protocol]") {
  const auto v100 = test::nodes_of("dgx-1-v100", 2);
  const auto all = test::first_gpus(16);
  for (int power = 3; power <= 32; ++power) {
    const auto plan = test::round_plan(v100, CollectiveOp::all_reduce, std::pow(2.0, power), all,
                                       {.era = collective::Era::before_2_5});
    CHECK(plan.protocol != "ll128");
    CHECK(plan.algorithm == "ring");
  }
  // Fences: 20 us more until 2.12.
  const auto large = [&](collective::Era era) {
    return latency_us(test::round_plan(v100, CollectiveOp::broadcast, 1e10, all, {.era = era}));
  };
  CHECK(large(collective::Era::before_2_12) - large(collective::Era::current) == Approx(20.0));
}

TEST_CASE("versions are read from what tables say", "[protocol]") {
  using collective::Era;
  CHECK(collective::era_of("2.4.8") == Era::before_2_5);
  CHECK(collective::era_of("2.4-2.5 era") == Era::before_2_5);
  CHECK(collective::era_of("2.8-2.9 era") == Era::before_2_12);
  CHECK(collective::era_of("2.27+ era") == Era::current);
  CHECK(collective::era_of("unknown (2.18+ era)") == Era::current);
  CHECK(collective::era_of("unknown") == Era::current);
  CHECK(collective::era_of("") == Era::current);
  CHECK(collective::era_of("2.x") == Era::current);
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
  collective::Planner planner{cluster, {}, test::round_constants()};
  const auto small = planner.plan({CollectiveOp::all_reduce, units::Bytes{8}, {0, 1, 2, 3}});
  CHECK(latency_us(small) == Approx(10 + 6 * 2.0));
  for (int power = 10; power <= 30; ++power) {
    const units::Bytes bytes{std::pow(2.0, power)};
    CHECK(planner.plan({CollectiveOp::all_reduce, bytes, {0, 1, 2, 3}}).protocol != "ll128");
  }
  // Each GPU's port carries 2 x 3/4 of the buffer in and out; they meet in one switch: no staging.
  const auto large = planner.plan({CollectiveOp::all_reduce, units::Bytes{1e9}, {0, 1, 2, 3}});
  REQUIRE(large.flows.size() == 1);
  const double port = cluster.link(large.flows[0].links.front()).bandwidth.si();
  CHECK(test::transfer_time(cluster, large) == Approx(1.5e9 / port));
}

TEST_CASE("cards that cannot copy to peers go through host memory", "[protocol]") {
  const auto make = [](const std::string& model, const std::string& at) {
    return topology::parse_cluster(
        input::Document::parse("name = \"cards\"\n"
                               "[[gpu]]\nname = \"gpu{0..3}\"\nmodel = \"" +
                                   model +
                                   "\"\n"
                                   "[[pcie_switch]]\nname = \"plx0\"\n[[cpu]]\nname = \"cpu0\"\n"
                                   "[[link]]\nbetween = [\"gpu{0..3}\", \"" +
                                   at +
                                   "\"]\n"
                                   "kind = \"pcie3-x16\"\n"
                                   "[[link]]\nbetween = [\"plx0\", \"cpu0\"]\nkind = "
                                   "\"pcie3-x16\"\n",
                               "cards.toml"),
        topology::Catalog::load());
  };
  const auto seconds = [](const topology::Cluster& cluster) {
    return test::transfer_time(
        cluster, test::round_plan(cluster, CollectiveOp::all_reduce, 1e9, {0, 1, 2, 3}));
  };
  // Half of the raw 15.75 GB/s: consumer cards wherever they meet, others above a switch. Below one
  // switch all four cards share its way up, of which copies reach 0.79.
  CHECK(seconds(make("rtx-2080-ti", "cpu0")) == Approx(1.5e9 / 7.875e9));
  CHECK(seconds(make("rtx-2080-ti", "plx0")) == Approx(1.5e9 / (0.79 * 15.75e9 / 4)));
  CHECK(seconds(make("v100-pcie-32gb", "cpu0")) == Approx(1.5e9 / 7.875e9));
  CHECK(seconds(make("v100-pcie-32gb", "plx0")) < 1.4e9 / 7.875e9);
}

TEST_CASE("LL128 is for Volta and later", "[protocol]") {
  const auto constants = collective::Constants::load();
  CHECK(constants.generation("volta").ll128);
  CHECK(constants.generation("hopper").ll128);
  CHECK_FALSE(constants.generation("pascal").ll128);
  CHECK_FALSE(constants.generation("kepler").ll128);
  CHECK_FALSE(constants.generation("no such thing").ll128);
}

TEST_CASE("without bytes or peers nothing is moved", "[protocol]") {
  const auto cluster = test::nodes_of("dgx-1-v100", 1);
  const auto alone = test::plan_of(cluster, CollectiveOp::all_reduce, 1e6, {3});
  CHECK(alone.algorithm == "none");
  CHECK(alone.latency.si() == 0.0);
  CHECK(alone.flows.empty());
  const auto unknown = test::round_plan(cluster, CollectiveOp::all_reduce, 0.0, {0, 1, 2, 3});
  CHECK(unknown.algorithm == "none");
  CHECK(latency_us(unknown) == Approx(10 + 6 * 1.0));
  CHECK(unknown.flows.empty());
  const auto barrier = test::round_plan(cluster, CollectiveOp::barrier, 1e6, {0, 1, 2, 3});
  CHECK(latency_us(barrier) == Approx(10 + 6 * 1.0));
  CHECK(barrier.flows.empty());
}
