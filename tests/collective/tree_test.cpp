#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "collective/routes.hpp"
#include "collective/support.hpp"

using namespace trainyard;
using workload::CollectiveOp;

namespace {

std::vector<int> children_of(const std::vector<int>& parents) {
  std::vector<int> children(parents.size(), 0);
  for (const int parent : parents) {
    if (parent >= 0) {
      ++children[static_cast<std::size_t>(parent)];
    }
  }
  return children;
}

/// Steps to the root; more than there are nodes: a circle.
int depth_of(const std::vector<int>& parents, int node) {
  int depth = 0;
  while (parents[static_cast<std::size_t>(node)] >= 0 &&
         depth <= static_cast<int>(parents.size())) {
    node = parents[static_cast<std::size_t>(node)];
    ++depth;
  }
  return depth;
}

double most_on_a_cable(const topology::Cluster& cluster, const collective::Plan& plan) {
  const auto bytes = test::bytes_by_link(plan);
  double most = 0.0;
  for (int node = 0; node < cluster.nodes(); ++node) {
    for (const auto& nic : cluster.nics(node)) {
      for (const topology::LinkId cable : {nic.to_fabric, nic.from_fabric}) {
        const auto load = bytes.find(cable);
        most = std::max(most, load == bytes.end() ? 0.0 : load->second);
      }
    }
  }
  return most;
}

}  // namespace

TEST_CASE("the two trees of two, of eight nodes", "[tree]") {
  CHECK(collective::double_tree(2)[0] == std::vector<int>{-1, 0});
  CHECK(collective::double_tree(2)[1] == std::vector<int>{1, -1});
  // 0 <- 4 <- {2, 6}, 2 <- {1, 3}, 6 <- {5, 7}; and its mirror image.
  CHECK(collective::double_tree(8)[0] == std::vector<int>{-1, 2, 4, 2, 0, 6, 4, 6});
  CHECK(collective::double_tree(8)[1] == std::vector<int>{1, 3, 1, 7, 5, 3, 5, -1});
}

TEST_CASE("inner nodes of one tree are leaves of the other", "[tree]") {
  for (int count = 2; count <= 70; ++count) {
    CAPTURE(count);
    const auto trees = collective::double_tree(count);
    int inner_in_both = 0;
    const auto first = children_of(trees[0]);
    const auto second = children_of(trees[1]);
    for (std::size_t node = 0; node < first.size(); ++node) {
      inner_in_both += first[node] > 0 && second[node] > 0 ? 1 : 0;
      CHECK(first[node] <= 2);
      CHECK(second[node] <= 2);
    }
    CHECK(inner_in_both <= count % 2);
    for (const auto& parents : trees) {
      CHECK(std::count(parents.begin(), parents.end(), -1) == 1);
      int deepest = 0;
      for (int node = 0; node < count; ++node) {
        deepest = std::max(deepest, depth_of(parents, node));
      }
      int levels = 0;
      while ((1 << levels) < count) {
        ++levels;
      }
      CHECK(deepest <= levels + 1);
    }
  }
}

TEST_CASE("on two nodes every byte crosses a NIC once a direction, on more at most twice",
          "[tree]") {
  constexpr double kSize = 8e8;
  const collective::Software tree{.algorithm = "tree"};
  // Of three nodes none has two children.
  for (const auto& [nodes, times] :
       std::map<int, double>{{2, 1}, {3, 1.5}, {4, 2}, {8, 2}, {9, 2}}) {
    CAPTURE(nodes);
    const auto cluster = test::nodes_of("dgx-a100-40gb", nodes);
    const auto plan = test::round_plan(cluster, CollectiveOp::all_reduce, kSize,
                                       test::first_gpus(8 * nodes), tree);
    REQUIRE(plan.algorithm == "tree");
    CHECK(plan.flows.size() == 2 * 8);
    // Eight rails share the bytes. An inner node of one tree has two children and a parent there
    // (half of the bytes each) and a parent in the other: in 2 + 1 + 1 halves.
    CHECK(most_on_a_cable(cluster, plan) == Approx(times * kSize / 8));
  }
}

TEST_CASE("the chain of a tree loads each GPU's port with sums and results", "[tree]") {
  constexpr double kSize = 8e8;
  const auto cluster = test::nodes_of("dgx-a100-40gb", 2);
  const auto plan = test::round_plan(cluster, CollectiveOp::all_reduce, kSize, test::first_gpus(16),
                                     {.algorithm = "tree"});
  const auto bytes = test::bytes_by_link(plan);
  double total = 0.0;
  for (int gpu = 0; gpu < 16; ++gpu) {
    total += bytes.at(*cluster.nvswitch_port(gpu, true));
  }
  // Seven hops a chain, both ways, in each of two nodes, for the bytes of all chains together.
  CHECK(total == Approx(2 * 7 * 2 * kSize));
}

TEST_CASE("chains of trees spread over the links between four fully joined GPUs", "[tree]") {
  const auto cluster = test::nodes_of("gh200-quad", 2);
  const auto plan = test::round_plan(cluster, CollectiveOp::all_reduce, 1.2e9, test::first_gpus(8),
                                     {.algorithm = "tree"});
  const auto bytes = test::bytes_by_link(plan);
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b) {
      if (a != b) {
        // Four chains of three hops over six pairs, both ways: two quarters of the bytes each.
        CHECK(bytes.at(*cluster.nvlink(a, b)) == Approx(1.2e9 / 2));
      }
    }
  }
}
