#pragma once

#include <memory>
#include <vector>

namespace trainyard::topology {

/// A weighted graph with one-way edges, Boost.Graph inside (graph.cpp only).
class Graph {
 public:
  explicit Graph(int vertices);
  ~Graph();
  Graph(Graph&& other) noexcept;
  Graph& operator=(Graph&& other) noexcept;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// `id` is what paths are made of.
  void add_edge(int from, int to, double weight, int id);

  /// Edge ids of the lightest path to every vertex; empty where there is none (and to `from`).
  /// Equal weights: the path over the vertex that was reached first, so the same every time.
  [[nodiscard]] std::vector<std::vector<int>> paths_from(int from) const;

  /// Most that can flow from all of `sources` together to all of `sinks`, weights being capacities.
  /// The two must not share a vertex.
  [[nodiscard]] double max_flow(const std::vector<int>& sources,
                                const std::vector<int>& sinks) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace trainyard::topology
