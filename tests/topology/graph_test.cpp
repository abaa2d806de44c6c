#include "topology/graph.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "topology/support.hpp"

using namespace trainyard;
using topology::Graph;

TEST_CASE("the lightest path wins, not the shortest", "[graph]") {
  Graph graph{4};
  graph.add_edge(0, 3, 5.0, 10);
  graph.add_edge(0, 1, 1.0, 11);
  graph.add_edge(1, 2, 1.0, 12);
  graph.add_edge(2, 3, 1.0, 13);
  CHECK(graph.paths_from(0)[3] == std::vector<int>{11, 12, 13});
  CHECK(graph.paths_from(0)[0].empty());
  CHECK(graph.paths_from(3)[0].empty());  // edges are one-way
}

TEST_CASE("of parallel edges the lightest is taken", "[graph]") {
  Graph graph{2};
  graph.add_edge(0, 1, 2.0, 1);
  graph.add_edge(0, 1, 1.0, 2);
  graph.add_edge(0, 1, 1.0, 3);
  CHECK(graph.paths_from(0)[1] == std::vector<int>{2});
}

TEST_CASE("the most that flows is the least cut", "[graph]") {
  // 0 -> 1 -> 3 carries 2, 0 -> 2 -> 3 carries 3, 1 -> 2 adds nothing that 2 -> 3 could take.
  Graph graph{4};
  graph.add_edge(0, 1, 4.0, 0);
  graph.add_edge(1, 3, 2.0, 0);
  graph.add_edge(0, 2, 3.0, 0);
  graph.add_edge(2, 3, 3.0, 0);
  graph.add_edge(1, 2, 5.0, 0);
  CHECK(graph.max_flow({0}, {3}) == Approx(5.0));
  CHECK(graph.max_flow({3}, {0}) == 0.0);
  CHECK(graph.max_flow({0, 1}, {3}) == Approx(5.0));
}

TEST_CASE("flows of random graphs equal the least of all cuts", "[graph]") {
  test::Random random{5};
  constexpr int kVertices = 6;
  for (int round = 0; round < 50; ++round) {
    Graph graph{kVertices};
    std::map<std::pair<int, int>, double> edges;
    for (int i = 0; i < 14; ++i) {
      const int a = random.in(0, kVertices - 1);
      const int b = random.in(0, kVertices - 1);
      const double capacity = random.in(1, 9);
      if (a != b) {
        graph.add_edge(a, b, capacity, i);
        edges[{a, b}] += capacity;
      }
    }
    double least = 1e9;
    for (unsigned side = 0; side < 1U << kVertices; ++side) {
      const auto in = [&](int vertex) { return (side >> static_cast<unsigned>(vertex) & 1U) != 0; };
      if (!in(0) || in(kVertices - 1)) {
        continue;
      }
      double cut = 0.0;
      for (const auto& [ends, capacity] : edges) {
        cut += in(ends.first) && !in(ends.second) ? capacity : 0.0;
      }
      least = std::min(least, cut);
    }
    CHECK(graph.max_flow({0}, {kVertices - 1}) == Approx(least));
  }
}
