#include <algorithm>
#include <catch2/catch.hpp>

#include "collective/plan.hpp"
#include "collective/support.hpp"

using namespace trainyard;
using collective::Flow;
using collective::rates_alone;

namespace {

Flow flow(std::vector<topology::LinkId> links, double bytes, double cap = 0.0) {
  return {std::move(links), units::Bytes{bytes}, units::BytesPerSecond{cap}};
}

double bandwidth(const topology::Cluster& cluster, topology::LinkId link) {
  return cluster.link(link).bandwidth.si();
}

}  // namespace

TEST_CASE("flows share a link equally, and what a capped one leaves goes to the others",
          "[rates]") {
  const auto cluster = test::nodes_of("dgx-1-v100", 1);
  const topology::LinkId link = *cluster.nvlink(0, 1);
  const double b = bandwidth(cluster, link);

  SECTION("two equal flows") {
    const auto rates = rates_alone({flow({link}, 1e9), flow({link}, 1e9)}, cluster);
    CHECK(rates[0].si() == Approx(b / 2));
    CHECK(rates[1].si() == Approx(b / 2));
  }
  SECTION("one of them capped at a quarter") {
    const auto rates = rates_alone({flow({link}, 1e9, b / 4), flow({link}, 1e9)}, cluster);
    CHECK(rates[0].si() == Approx(b / 4));
    CHECK(rates[1].si() == Approx(b * 3 / 4));
  }
  SECTION("a flow that crosses the link twice takes two parts of three") {
    const auto rates = rates_alone({flow({link, link}, 1e9), flow({link}, 1e9)}, cluster);
    CHECK(rates[0].si() == Approx(b / 3));
    CHECK(rates[1].si() == Approx(b / 3));
  }
  SECTION("a flow held back elsewhere leaves its share") {
    // 0-1 is one link, 0-3 is two: two flows on 0-1 get b/2 each, the third on 0-3 gets 2b - b/2.
    const topology::LinkId wide = *cluster.nvlink(0, 3);
    REQUIRE(bandwidth(cluster, wide) == Approx(2 * b));
    const auto rates =
        rates_alone({flow({link, wide}, 1e9), flow({link}, 1e9), flow({wide}, 1e9)}, cluster);
    CHECK(rates[0].si() == Approx(b / 2));
    CHECK(rates[1].si() == Approx(b / 2));
    CHECK(rates[2].si() == Approx(b * 3 / 2));
  }
  SECTION("no flows, no rates") {
    CHECK(rates_alone({}, cluster).empty());
  }
}

TEST_CASE("flows that end early leave their share to the others", "[rates]") {
  const auto cluster = test::nodes_of("dgx-1-v100", 1);
  const topology::LinkId link = *cluster.nvlink(0, 1);
  const double b = bandwidth(cluster, link);
  collective::Plan plan;
  plan.latency = units::Seconds{1e-5};

  SECTION("without flows the latency is all") {
    CHECK(time_alone(plan, cluster).si() == Approx(1e-5));
  }
  SECTION("sizes 1 and 3: together until 1 is through, then alone") {
    // All 4 b bytes cross one link that is never idle: 4 s.
    plan.flows = {flow({link}, b), flow({link}, 3 * b)};
    CHECK(time_alone(plan, cluster).si() == Approx(4.0 + 1e-5));
  }
  SECTION("the rest stays capped") {
    // Rates b/2, b/2 until 2 s (1 b each), then 2 b more at the cap of b/2: 6 s.
    plan.flows = {flow({link}, b), flow({link}, 3 * b, b / 2)};
    CHECK(time_alone(plan, cluster).si() == Approx(6.0 + 1e-5));
  }
}

TEST_CASE("random rates are max-min fair", "[rates]") {
  const auto cluster = test::nodes_of("dgx-1-v100", 1);
  test::Random random{7};
  for (int round = 0; round < 200; ++round) {
    std::vector<Flow> flows;
    const int count = 1 + random.below(8);
    for (int f = 0; f < count; ++f) {
      Flow next = flow({}, 1e6, random.below(3) == 0 ? 1e9 * (1 + random.below(20)) : 0.0);
      const int links = 1 + random.below(5);
      for (int l = 0; l < links; ++l) {
        next.links.push_back(random.below(std::min(12, static_cast<int>(cluster.links()))));
      }
      flows.push_back(std::move(next));
    }
    const auto rates = rates_alone(flows, cluster);
    std::map<topology::LinkId, double> load;
    std::map<topology::LinkId, double> fastest;
    for (std::size_t f = 0; f < flows.size(); ++f) {
      for (const topology::LinkId link : flows[f].links) {
        load[link] += rates[f].si();
        fastest[link] = std::max(fastest[link], rates[f].si());
      }
    }
    for (const auto& [link, rate] : load) {
      CHECK(rate <= bandwidth(cluster, link) * (1 + 1e-9));
    }
    // Max-min: each flow is at its cap, or is among the fastest on a full link.
    for (std::size_t f = 0; f < flows.size(); ++f) {
      const double cap = flows[f].cap.si();
      const bool at_cap = cap > 0.0 && rates[f].si() >= cap * (1 - 1e-9);
      const bool held =
          std::any_of(flows[f].links.begin(), flows[f].links.end(), [&](topology::LinkId link) {
            return load[link] >= bandwidth(cluster, link) * (1 - 1e-9) &&
                   rates[f].si() >= fastest[link] * (1 - 1e-9);
          });
      CHECK((at_cap || held));
      CHECK((cap == 0.0 || rates[f].si() <= cap * (1 + 1e-9)));
    }
  }
}
