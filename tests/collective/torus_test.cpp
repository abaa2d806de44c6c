#include <catch2/catch.hpp>

#include "collective/support.hpp"

using namespace trainyard;
using workload::CollectiveOp;

namespace {

/// Bytes on the busiest of the links between routers, and on the idlest.
std::pair<double, double> extremes(const topology::Cluster& cluster, const collective::Plan& plan) {
  double most = 0.0;
  double least = 1e300;
  for (const auto& [link, bytes] : test::bytes_by_link(plan)) {
    if (cluster.link(link).name.find("router") == 0 &&
        cluster.link(link).name.find("->router") != std::string::npos) {
      most = std::max(most, bytes);
      least = std::min(least, bytes);
    }
  }
  return {most, least};
}

}  // namespace

TEST_CASE("a square torus uses all four links of each chip evenly", "[torus]") {
  const auto cluster = topology::load_cluster("tpu-v2-pod");
  const auto all = test::first_gpus(256);
  const auto plan = test::round_plan(cluster, CollectiveOp::all_reduce, 4e9, all);
  REQUIRE(plan.algorithm == "torus");
  CHECK(plan.flows.size() == 4);
  // 2 S (n - 1) / n over four links.
  const auto [most, least] = extremes(cluster, plan);
  CHECK(most == Approx(2 * 4e9 * 255 / 256 / 4));
  CHECK(least == Approx(most));
  const auto gather = test::round_plan(cluster, CollectiveOp::all_gather, 4e9, all);
  CHECK(extremes(cluster, gather).first == Approx(4e9 * 255 / 256 / 4));
  CHECK(test::transfer_time(cluster, plan) == Approx(2 * test::transfer_time(cluster, gather)));
}

TEST_CASE("a torus of unequal sides: what its longer side carries, by hand", "[torus]") {
  const auto cluster = topology::parse_cluster(
      input::Document::parse("name = \"small\"\n[[node]]\ntype = \"tpu-v2-chip\"\ncount = 8\n"
                             "[fabric]\nkind = \"torus\"\nshape = [4, 2]\nlink = \"ici-v2\"\n",
                             "small.toml"),
      topology::Catalog::load());
  const auto plan =
      test::round_plan(cluster, CollectiveOp::reduce_scatter, 8.0, test::first_gpus(8));
  REQUIRE(plan.algorithm == "torus");
  // Parts of 2 B. Side 4: its own part 2 x 3/4, and half of the other's: 1 x 3/4. Side 2: its own
  // 2 x 1/2, and a quarter of the other's: 1/2 x 1/2.
  CHECK(plan.flows[0].size.si() == Approx(1.5 + 0.75));
  CHECK(plan.flows[2].size.si() == Approx(1.0 + 0.25));
}

TEST_CASE("part of a torus, and other calls, go over rings", "[torus]") {
  const auto cluster = topology::load_cluster("tpu-v2-pod");
  CHECK(test::round_plan(cluster, CollectiveOp::all_reduce, 1e9, test::first_gpus(255)).algorithm !=
        "torus");
  CHECK(test::round_plan(cluster, CollectiveOp::broadcast, 1e9, test::first_gpus(256)).algorithm ==
        "ring");
  CHECK(test::plan_of(topology::load_cluster("superpod-a100-1su"), CollectiveOp::all_reduce, 1e9,
                      {0, 8, 16})
            .algorithm != "torus");
}

TEST_CASE("steps around a torus are as many as its sides are long", "[torus]") {
  const auto cluster = topology::load_cluster("tpu-v2-pod");
  const auto plan = test::plan_of(cluster, CollectiveOp::all_reduce, 8.0, test::first_gpus(256));
  const auto constants = collective::Constants::load();
  CHECK(plan.algorithm == "torus");
  CHECK(plan.latency.si() == Approx((constants.start - constants.gap).si() +
                                    2 * 30 * constants.transport("ici").hop.si()));
}
