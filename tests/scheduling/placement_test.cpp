#include <catch2/catch.hpp>
#include <numeric>

#include "scheduling/policy.hpp"

namespace trainyard {
namespace {

using Gpus = std::vector<topology::GpuId>;
using scheduling::Devices;

/// Devices of nodes with 4 GPUs each, of which free[n] on node n (the last ones) are free.
Devices with_free(const topology::Cluster& cluster, const std::vector<int>& free) {
  Devices devices{cluster};
  for (int node = 0; node < cluster.nodes(); ++node) {
    Gpus held(static_cast<std::size_t>(4 - free[static_cast<std::size_t>(node)]));
    std::iota(held.begin(), held.end(), cluster.first_gpu(node));
    devices.take(held);
  }
  return devices;
}

/// Where a job of `gpus` GPUs goes; empty: it does not fit.
Gpus place(const std::string& placement, const std::string& span, const std::vector<int>& free,
           int gpus) {
  const auto cluster = topology::flat_cluster(static_cast<int>(free.size()), 4);
  const auto section = input::Document::parse(
      "placement = \"" + placement + "\"\nspan = \"" + span + "\"\n", "x.toml");
  scheduling::JobView job;
  job.gpus = gpus;
  return scheduling::make_placement(section.root())
      ->place(with_free(cluster, free), job)
      .value_or(Gpus{});
}

// Node n has GPUs 4n .. 4n+3; with_free frees the highest of them.

TEST_CASE("count takes the lowest free GPUs wherever they are", "[placement]") {
  CHECK(place("count", "any", {1, 3, 4}, 2) == Gpus{3, 5});
  CHECK(place("count", "any", {1, 3, 4}, 8) == Gpus{3, 5, 6, 7, 8, 9, 10, 11});
  CHECK(place("count", "any", {1, 3, 4}, 9).empty());
  CHECK(place("count", "any", {0, 0, 0}, 1).empty());
}

TEST_CASE("pack takes the fullest node that fits", "[placement]") {
  CHECK(place("pack", "any", {4, 2, 3}, 2) == Gpus{6, 7});
  CHECK(place("pack", "any", {4, 2, 3}, 3) == Gpus{9, 10, 11});
  CHECK(place("pack", "any", {4, 2, 3}, 4) == Gpus{0, 1, 2, 3});
  CHECK(place("pack", "any", {4, 2, 3}, 1) == Gpus{6});

  SECTION("ties go to the lowest node") {
    CHECK(place("pack", "any", {4, 3, 3}, 2) == Gpus{5, 6});
  }
}

TEST_CASE("pack takes the fewest nodes when none fits", "[placement]") {
  SECTION("whole idle nodes first, the rest in the fullest node that fits") {
    // 6 = 4 (node 1, idle) + 2: node 3 has just 2 free, node 2 would be cut
    CHECK(place("pack", "any", {1, 4, 3, 2}, 6) == Gpus{4, 5, 6, 7, 14, 15});
    // 5 = 4 + 1 in node 0, which is the fullest with one free
    CHECK(place("pack", "any", {1, 4, 3, 2}, 5) == Gpus{3, 4, 5, 6, 7});
  }
  SECTION("two idle nodes: the lower one is taken whole") {
    // 6 = 4 (node 0) + 2: node 2 has 3 free, node 1 is idle
    CHECK(place("pack", "any", {4, 4, 3}, 6) == Gpus{0, 1, 2, 3, 9, 10});
  }
  SECTION("no idle node: those with most free GPUs") {
    // 7 = 3 (node 1) + 3 (node 3) + 1: node 0 has one free; two nodes hold at most 6
    CHECK(place("pack", "any", {1, 3, 2, 3}, 7) == Gpus{3, 5, 6, 7, 13, 14, 15});
    // 5 = 3 (node 1) + 2 (node 2)
    CHECK(place("pack", "any", {1, 3, 2, 3}, 5) == Gpus{5, 6, 7, 10, 11});
  }
  SECTION("equally full candidates for the rest: the lowest") {
    // 5 = 3 (node 0) + 2 (node 1, before node 2)
    CHECK(place("pack", "any", {3, 2, 2}, 5) == Gpus{1, 2, 3, 6, 7});
  }
  SECTION("everything that is free") {
    CHECK(place("pack", "any", {1, 1, 1}, 3) == Gpus{3, 7, 11});
    CHECK(place("pack", "any", {1, 1, 1}, 4).empty());
  }
}

TEST_CASE("spread takes the emptiest node first", "[placement]") {
  CHECK(place("spread", "any", {2, 4, 3}, 1) == Gpus{4});
  CHECK(place("spread", "any", {2, 4, 3}, 4) == Gpus{4, 5, 6, 7});
  CHECK(place("spread", "any", {3, 2, 3}, 2) == Gpus{1, 2});  // tie: lowest node
  // 5 = 4 (node 1) + 1 (node 2, 3 free)
  CHECK(place("spread", "any", {2, 4, 3}, 5) == Gpus{4, 5, 6, 7, 9});
  CHECK(place("spread", "any", {2, 0, 1}, 3) == Gpus{2, 3, 11});
  CHECK(place("spread", "any", {2, 0, 1}, 4).empty());
}

TEST_CASE("fit-node keeps a job of at most a node in one node", "[placement]") {
  const std::string placement = GENERATE("count", "pack", "spread");
  INFO(placement);
  CHECK(place(placement, "fit-node", {2, 2, 3}, 4).empty());
  CHECK(place(placement, "fit-node", {2, 2, 3}, 3) == Gpus{9, 10, 11});
  // more than a node may span
  CHECK(place(placement, "fit-node", {2, 2, 3}, 5).size() == 5);
  CHECK(place(placement, "fit-node", {2, 2, 3}, 8).empty());
}

TEST_CASE("count under fit-node takes the first node with room", "[placement]") {
  CHECK(place("count", "fit-node", {1, 4, 2}, 2) == Gpus{4, 5});
}

TEST_CASE("no placement gives a GPU twice or a held one", "[placement]") {
  const std::string placement = GENERATE("count", "pack", "spread");
  const std::string span = GENERATE("any", "fit-node");
  for (int gpus = 1; gpus <= 10; ++gpus) {
    INFO(placement << " " << span << " " << gpus);
    const auto chosen = place(placement, span, {1, 4, 0, 2, 3}, gpus);
    // 10 are free; node 1 is idle, so what fits a node always does and what is larger may span
    REQUIRE(chosen.size() == static_cast<std::size_t>(gpus));
    CHECK(std::is_sorted(chosen.begin(), chosen.end()));
    CHECK(std::adjacent_find(chosen.begin(), chosen.end()) == chosen.end());
    const Gpus free{3, 4, 5, 6, 7, 14, 15, 17, 18, 19};
    CHECK(std::includes(free.begin(), free.end(), chosen.begin(), chosen.end()));
  }
}

}  // namespace
}  // namespace trainyard
