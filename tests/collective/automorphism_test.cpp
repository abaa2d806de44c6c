#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "collective/support.hpp"

using namespace trainyard;
using workload::CollectiveOp;

namespace {

using Permutation = std::vector<int>;

/// Every renumbering of a node's GPUs that leaves all pair classes, and so the graph, as they are.
std::vector<Permutation> automorphisms(const topology::Cluster& cluster) {
  const int gpus = cluster.gpus_in(0);
  Permutation order(static_cast<std::size_t>(gpus));
  std::iota(order.begin(), order.end(), 0);
  std::vector<Permutation> found;
  do {
    bool same = true;
    for (int a = 0; same && a < gpus; ++a) {
      for (int b = 0; same && b < a; ++b) {
        same = cluster.pair_class(a, b) == cluster.pair_class(order[static_cast<std::size_t>(a)],
                                                              order[static_cast<std::size_t>(b)]);
      }
    }
    if (same) {
      found.push_back(order);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return found;
}

}  // namespace

TEST_CASE("renumbering GPUs by a symmetry of the wiring changes no time", "[automorphism]") {
  const auto type = GENERATE(as<std::string>{}, "dgx-1-v100", "dgx-1-p100", "dgx-station-v100");
  CAPTURE(type);
  const auto cluster = test::nodes_of(type, 1);
  const auto symmetries = automorphisms(cluster);
  REQUIRE(symmetries.size() >= 2);
  collective::Planner planner{cluster};
  test::Random random{23};
  for (int round = 0; round < 40; ++round) {
    const auto group = test::sample(random, cluster.gpus(), 2 + random.below(cluster.gpus() - 1));
    const Permutation& symmetry =
        symmetries[static_cast<std::size_t>(random.below(static_cast<int>(symmetries.size())))];
    std::vector<int> renamed;
    for (const int gpu : group) {
      renamed.push_back(symmetry[static_cast<std::size_t>(gpu)]);
    }
    CAPTURE(group, renamed);
    for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::all_gather,
                                  CollectiveOp::broadcast, CollectiveOp::all_to_all}) {
      for (const double bytes : {1e3, 1e6, 1e9}) {
        const auto time = [&](const std::vector<int>& gpus) {
          return time_alone(planner.plan({op, units::Bytes{bytes}, gpus}), cluster).si();
        };
        CHECK(time(group) == Approx(time(renamed)));
      }
    }
  }
}
