#include <algorithm>
#include <limits>
#include <map>

#include "topology/cluster_implementation.hpp"
#include "topology/graph.hpp"
#include "topology/summary.hpp"

namespace trainyard::topology {
namespace {

/// 6,435 ways to halve 16 GPUs: a moment. Every two GPUs more are four times as many.
constexpr int kMostGpusToHalve = 16;

class NodeCut {
 public:
  explicit NodeCut(const NodeType& type)
      : type_{type}, graph_{static_cast<int>(type.vertices().size())} {
    for (const Bundle& bundle : type.bundles()) {
      if (bundle.kind.medium == Medium::nvlink) {
        const double capacity = bundle.kind.bandwidth.si() * bundle.count;
        graph_.add_edge(bundle.a, bundle.b, capacity, 0);
        graph_.add_edge(bundle.b, bundle.a, capacity, 0);
      }
    }
  }

  [[nodiscard]] double least() const {
    std::vector<bool> in_first(static_cast<std::size_t>(type_.gpus()), false);
    std::fill_n(in_first.begin(), type_.gpus() / 2, true);
    double least = between(in_first);
    // Descending permutations of the marks are all choices of half the GPUs.
    while (type_.gpus() <= kMostGpusToHalve && least > 0.0 &&
           std::prev_permutation(in_first.begin(), in_first.end())) {
      if (type_.gpus() % 2 == 0 && !in_first[0]) {
        break;  // from here on the halves change places
      }
      least = std::min(least, between(in_first));
    }
    return least;
  }

 private:
  [[nodiscard]] double between(const std::vector<bool>& in_first) const {
    std::vector<int> first;
    std::vector<int> second;
    for (int gpu = 0; gpu < type_.gpus(); ++gpu) {
      (in_first[static_cast<std::size_t>(gpu)] ? first : second).push_back(type_.gpu(gpu).vertex);
    }
    return graph_.max_flow(first, second);
  }

  const NodeType& type_;
  Graph graph_;
};

}  // namespace

units::BytesPerSecond nvlink_bisection(const Cluster& cluster, int node) {
  if (cluster.implementation().flat_nodes > 0 || cluster.gpus_in(node) < 2) {
    return {};
  }
  return units::BytesPerSecond{NodeCut{*cluster.implementation().node(node).type}.least()};
}

units::BytesPerSecond fabric_bisection(const Cluster& cluster) {
  const auto& made = cluster.implementation();
  if (!made.has_fabric || cluster.nodes() < 2) {
    return {};
  }
  const Fabric& fabric = made.fabric;
  const int middle = made.node(cluster.nodes() / 2).first_port;
  const int from = fabric.switches();
  const int to = from + 1;
  Graph graph{fabric.switches() + 2};
  std::map<int, std::pair<double, double>> cables;  // by switch: of the first and the second half
  for (int port = 0; port < made.node_ports(); ++port) {
    auto& [first, second] = cables[fabric.switch_of(port)];
    (port < middle ? first : second) += fabric.cable(port).bandwidth.si();
  }
  for (const auto& [at, capacities] : cables) {
    graph.add_edge(from, at, capacities.first, 0);
    graph.add_edge(at, to, capacities.second, 0);
  }
  for (const SwitchLink& link : fabric.links()) {
    graph.add_edge(link.a, link.b, link.kind.bandwidth.si() * link.count, 0);
    graph.add_edge(link.b, link.a, link.kind.bandwidth.si() * link.count, 0);
  }
  return units::BytesPerSecond{graph.max_flow({from}, {to})};
}

units::BytesPerSecond fabric_demand(const Cluster& cluster) {
  const auto& made = cluster.implementation();
  if (!made.has_fabric || cluster.nodes() < 2) {
    return {};
  }
  const int middle = made.node(cluster.nodes() / 2).first_port;
  std::pair<units::BytesPerSecond, units::BytesPerSecond> halves;
  for (int port = 0; port < made.node_ports(); ++port) {
    (port < middle ? halves.first : halves.second) += made.fabric.cable(port).bandwidth;
  }
  return std::min(halves.first, halves.second);
}

}  // namespace trainyard::topology
