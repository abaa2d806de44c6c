// Loads and splits of plans written by hand: NIC cables of a cluster of three nodes as links.
#include "simulation/traffic_split.hpp"

#include <catch2/catch.hpp>

#include "simulation/link_loads.hpp"
#include "simulation/support.hpp"

using namespace trainyard;
using namespace trainyard::simulation;

namespace {

constexpr double kGiga = 1e9;

collective::Flow flow(std::vector<topology::LinkId> links, double gigabytes, double cap = 0.0) {
  return {std::move(links), units::Bytes{gigabytes * kGiga}, units::BytesPerSecond{cap * kGiga}};
}

PlannedCollective planned(std::vector<collective::Flow> flows, int lane = 0) {
  PlannedCollective result;
  result.plan.flows = std::move(flows);
  result.lane = lane;
  return result;
}

/// Cables from the NICs to the switch.
struct Cables {
  topology::Cluster cluster = test::nic_cluster(3, 1);
  double rate = test::nic_rate(cluster);
  [[nodiscard]] topology::LinkId up(int node) const { return cluster.nics(node)[0].to_fabric; }
};

}  // namespace

TEST_CASE("plans that differ in length only have one shape", "[traffic-split]") {
  const std::vector<PlannedCollective> collectives{
      planned({flow({1}, 1.0), flow({2}, 2.0)}),
      planned({flow({1}, 3.0), flow({2}, 6.0)}),       // three times the first
      planned({flow({1}, 3.0), flow({2}, 3.0)}),       // another proportion
      planned({flow({1}, 1.0), flow({2}, 2.0, 1.0)}),  // a cap
      planned({flow({1}, 1.0), flow({3}, 2.0)}),       // another link
      planned({flow({1}, 1.0)}),
      planned({flow({1}, 6.0), flow({2}, 6.0)}),  // twice the third
  };
  CHECK(plan_shapes(collectives) == std::vector<int>{0, 0, 1, 2, 3, 4, 1});
}

TEST_CASE("collectives of one lane follow each other, lanes add up", "[traffic-split]") {
  const Cables cables;
  const auto a = cables.up(0);
  const auto b = cables.up(1);
  // Lane 0: 1 GB/s, later 2 GB/s on a. Lane 1: 3 GB/s on a and b, twice with other sizes.
  const auto loads =
      link_loads({planned({flow({a}, 1.0, 1.0)}), planned({flow({a}, 4.0, 2.0)}),
                  planned({flow({a, b}, 5.0, 3.0)}, 1), planned({flow({a, b}, 7.0, 3.0)}, 1)},
                 cables.cluster);
  REQUIRE(loads.size() == 2);
  CHECK(loads[0].link == std::min(a, b));
  CHECK(loads[1].link == std::max(a, b));
  const LinkLoad& on_a = loads[a < b ? 0 : 1];
  const LinkLoad& on_b = loads[a < b ? 1 : 0];
  CHECK(on_a.peak == Approx(5.0 * kGiga));
  CHECK(on_a.bytes == Approx(17.0 * kGiga));
  CHECK(on_b.peak == Approx(3.0 * kGiga));
  CHECK(on_b.bytes == Approx(12.0 * kGiga));
}

TEST_CASE("a step without collectives loads nothing", "[traffic-split]") {
  CHECK(link_loads({}, Cables{}.cluster).empty());
  CHECK(plan_shapes({}).empty());
}

TEST_CASE("links that nobody else uses only limit a flow", "[traffic-split]") {
  const Cables cables;
  const auto shared = shared_links(cables.cluster, true);
  const collective::Plan plan = planned({flow({cables.up(0)}, 1.0), flow({cables.up(0)}, 2.0),
                                         flow({cables.up(1)}, 1.0, 1.0)})
                                    .plan;
  const auto splits =
      split_plans({&plan}, cables.cluster, shared, [](topology::LinkId) { return false; });
  REQUIRE(splits.size() == 1);
  CHECK_FALSE(splits[0].contended);
  // Two flows on one cable get half of it each; the third has a cap below its cable.
  REQUIRE(splits[0].flows.size() == 3);
  CHECK(splits[0].flows[0].cap == Approx(cables.rate / 2.0));
  CHECK(splits[0].flows[1].cap == Approx(cables.rate / 2.0));
  CHECK(splits[0].flows[2].cap == Approx(kGiga));
  for (const FlowSplit& part : splits[0].flows) {
    CHECK(part.resources.empty());
  }
}

TEST_CASE("flows that meet the same rivals are one part of their plan", "[traffic-split]") {
  const Cables cables;
  const auto shared = shared_links(cables.cluster, true);
  // Both plans cross cables 0 and 1 with a flow each; cable 2 is the second plan's own.
  const collective::Plan first =
      planned({flow({cables.up(0)}, 1.0), flow({cables.up(1)}, 1.0)}).plan;
  const collective::Plan second =
      planned({flow({cables.up(0)}, 3.0), flow({cables.up(2)}, 3.0), flow({cables.up(1)}, 3.0)})
          .plan;
  const auto splits = split_plans({&first, &second}, cables.cluster, shared,
                                  [&](topology::LinkId link) { return link != cables.up(2); });
  REQUIRE(splits.size() == 2);
  CHECK(splits[0].contended);
  CHECK(splits[0].part_of == std::vector<std::size_t>{0, 0});
  REQUIRE(splits[0].flows.size() == 1);
  CHECK(splits[0].flows[0].cap == 0.0);
  REQUIRE(splits[0].flows[0].resources.size() == 1);
  CHECK(splits[1].part_of == std::vector<std::size_t>{0, 1, 0});
  REQUIRE(splits[1].flows.size() == 2);
  CHECK(splits[1].flows[0].resources == splits[0].flows[0].resources);
  CHECK(splits[1].flows[1].resources.empty());
  CHECK(splits[1].flows[1].flow == 1);
  CHECK(splits[1].flows[1].cap == Approx(cables.rate));
}
