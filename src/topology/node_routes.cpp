// Finds all routes of a node type, once.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "topology/graph.hpp"
#include "topology/node.hpp"

namespace trainyard::topology {
namespace {

/// NVLink first counts hops, then prefers wide bundles.
constexpr double kHop = 1000.0;

/// A relay passes one GPU at the most.
constexpr int kMostRelays = 1;

void add_both_ways(Graph& graph, const Bundle& bundle, std::size_t index, double weight) {
  const int id = 2 * static_cast<int>(index);
  graph.add_edge(bundle.a, bundle.b, weight, id);
  graph.add_edge(bundle.b, bundle.a, weight, id + 1);
}

}  // namespace

/// PCIe and sockets, and NVLink between GPU and CPU (POWER9, Grace) that stands for PCIe there.
bool NodeType::is_host_link(const Bundle& bundle) const {
  if (bundle.kind.medium == Medium::nvlink) {
    return kind_of(bundle.a) == DeviceKind::cpu || kind_of(bundle.b) == DeviceKind::cpu;
  }
  return bundle.kind.medium != Medium::storage;
}

Graph NodeType::nvlink_graph() const {
  Graph graph{static_cast<int>(vertices_.size())};
  for (std::size_t i = 0; i < bundles_.size(); ++i) {
    if (!is_host_link(bundles_[i]) && bundles_[i].kind.medium == Medium::nvlink) {
      add_both_ways(graph, bundles_[i], i, kHop + 1.0 / bundles_[i].count);
    }
  }
  return graph;
}

/// Ways from one device: they may end at a GPU or a NIC, but never pass through another one.
Graph NodeType::host_graph(int source) const {
  const auto is_end = [&](int vertex) {
    const DeviceKind kind = kind_of(vertex);
    return vertex != source && (kind == DeviceKind::gpu || kind == DeviceKind::nic);
  };
  Graph graph{static_cast<int>(vertices_.size())};
  for (std::size_t i = 0; i < bundles_.size(); ++i) {
    const Bundle& bundle = bundles_[i];
    const int id = 2 * static_cast<int>(i);
    if (is_host_link(bundle) && !is_end(bundle.a)) {
      graph.add_edge(bundle.a, bundle.b, 1.0, id);
    }
    if (is_host_link(bundle) && !is_end(bundle.b)) {
      graph.add_edge(bundle.b, bundle.a, 1.0, id + 1);
    }
  }
  return graph;
}

void NodeType::find_routes() {
  const Graph nvlink = nvlink_graph();
  for (int from = 0; from < gpus(); ++from) {
    const auto fast = nvlink.paths_from(gpu(from).vertex);
    const auto slow = host_graph(gpu(from).vertex).paths_from(gpu(from).vertex);
    auto& nvlink_row = nvlink_paths_.emplace_back();
    auto& pcie_row = pcie_paths_.emplace_back();
    auto& class_row = pcie_classes_.emplace_back();
    for (int to = 0; to < gpus(); ++to) {
      const auto vertex = static_cast<std::size_t>(gpu(to).vertex);
      const bool too_long = gpus_between(fast[vertex]) > kMostRelays;
      nvlink_row.push_back(too_long ? LocalPath{} : fast[vertex]);
      pcie_row.push_back(slow[vertex]);
      class_row.push_back(slow[vertex].empty() ? "" : path_class(slow[vertex]));
    }
    auto& nic_row = nic_paths_.emplace_back();
    for (int to = 0; to < nics(); ++to) {
      nic_row.push_back(slow[static_cast<std::size_t>(nic(to).vertex)]);
    }
  }
}

/// Up to the nearest CPU, where host memory is, and down to the other GPU; empty without a CPU.
LocalPath NodeType::through_host(int from, int to) const {
  const auto up = host_graph(gpu(from).vertex).paths_from(gpu(from).vertex);
  const auto down = host_graph(gpu(to).vertex).paths_from(gpu(to).vertex);
  int cpu = -1;
  for (int vertex = 0; vertex < static_cast<int>(vertices_.size()); ++vertex) {
    const auto length = up[static_cast<std::size_t>(vertex)].size();
    if (kind_of(vertex) == DeviceKind::cpu && length > 0 &&
        (cpu < 0 || length < up[static_cast<std::size_t>(cpu)].size())) {
      cpu = vertex;
    }
  }
  if (cpu < 0) {
    return {};
  }
  LocalPath path = up[static_cast<std::size_t>(cpu)];
  const LocalPath rest = reversed(down[static_cast<std::size_t>(cpu)]);
  path.insert(path.end(), rest.begin(), rest.end());
  return path;
}

/// The class of a pair stays that of the wires: `nvidia-smi` knows nothing of peer access.
void NodeType::find_staged_paths() {
  for (int from = 0; from < gpus(); ++from) {
    for (int to = 0; to < gpus(); ++to) {
      LocalPath& path = pcie_paths_[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
      if (!path.empty() && !(gpu(from).gpu->peer_access && gpu(to).gpu->peer_access)) {
        LocalPath staged = through_host(from, to);
        path = staged.empty() ? path : std::move(staged);
      }
    }
  }
}

/// The shortest way over NVLink to another GPU whose host holds the NIC; empty: there is none.
LocalPath NodeType::through_neighbour(int from, int nic) const {
  LocalPath best;
  for (int other = 0; other < gpus(); ++other) {
    const LocalPath& way = nvlink_path(from, other);
    const LocalPath& rest = gpu_to_nic(other, nic);
    const bool is_way = !way.empty() && !rest.empty() && gpus_between(rest) == 0;
    if (is_way && (best.empty() || way.size() + rest.size() < best.size())) {
      best = way;
      best.insert(best.end(), rest.begin(), rest.end());
    }
  }
  return best;
}

/// Trays of a rack share NVLink, but each host reaches its own NICs only.
void NodeType::find_far_nics() {
  for (int from = 0; from < gpus(); ++from) {
    auto& row = nic_paths_[static_cast<std::size_t>(from)];
    for (int to = 0; to < nics(); ++to) {
      if (row[static_cast<std::size_t>(to)].empty()) {
        row[static_cast<std::size_t>(to)] = through_neighbour(from, to);
      }
    }
  }
}

void NodeType::find_nic_classes() {
  for (int from = 0; from < nics(); ++from) {
    const auto ways = host_graph(nic(from).vertex).paths_from(nic(from).vertex);
    auto& row = nic_classes_.emplace_back();
    for (int to = 0; to < nics(); ++to) {
      const LocalPath& way = ways[static_cast<std::size_t>(nic(to).vertex)];
      row.push_back(from == to ? "X" : way.empty() ? "NET" : path_class(way));
    }
  }
}

void NodeType::find_private_links() {
  for (const Bundle& bundle : bundles_) {
    private_.push_back(kind_of(bundle.a) == DeviceKind::gpu ||
                       kind_of(bundle.b) == DeviceKind::gpu);
  }
  for (const auto& row : nvlink_paths_) {
    for (const LocalPath& path : row) {
      for (const int link : path) {
        if (gpus_between(path) > 0) {
          private_[static_cast<std::size_t>(link / 2)] = false;
        }
      }
    }
  }
}

/// A NIC's PCIe links up to the first branch carry just what its cable carries: where they are as
/// fast, they cannot hold anything up, and a platform of thousands of nodes is the smaller.
void NodeType::hide_nic_stubs() {
  for (int n = 0; n < nics(); ++n) {
    const auto cable = nic(n).cable->bandwidth * nic(n).cable->efficiency;
    int at = nic(n).vertex;
    for (std::optional<int> next = only_link(at, -1); next; next = only_link(at, *next)) {
      const Bundle& bundle = bundles_[static_cast<std::size_t>(*next)];
      if (bundle.kind.bandwidth * bundle.kind.efficiency * bundle.count >= cable) {
        private_[static_cast<std::size_t>(*next)] = true;
      }
      at = bundle.a == at ? bundle.b : bundle.a;
      if (kind_of(at) != DeviceKind::pcie_switch) {
        break;
      }
    }
  }
}

/// The bundle at a vertex, `but` left out, when there is just one.
std::optional<int> NodeType::only_link(int vertex, int but) const {
  std::optional<int> only;
  for (int i = 0; i < static_cast<int>(bundles_.size()); ++i) {
    const Bundle& bundle = bundles_[static_cast<std::size_t>(i)];
    if (i == but || (bundle.a != vertex && bundle.b != vertex)) {
      continue;
    }
    if (only) {
      return std::nullopt;
    }
    only = i;
  }
  return only;
}

void NodeType::check_connected(const input::Document& document) const {
  const auto fall_apart = [&](const Device& a, const Device& b) {
    document.root().fail(
        fmt::format(R"(no path from "{}" to "{}": the node falls apart)", a.name, b.name));
  };
  for (int a = 0; a < gpus(); ++a) {
    for (int b = 0; b < gpus(); ++b) {
      if (a != b && nvlink_path(a, b).empty() && pcie_path(a, b).empty()) {
        fall_apart(gpu(a), gpu(b));
      }
    }
    for (int n = 0; n < nics(); ++n) {
      if (gpu_to_nic(a, n).empty()) {
        fall_apart(gpu(a), nic(n));
      }
    }
  }
}

std::vector<int> NodeType::nearest_nics(int gpu) const {
  std::vector<int> nearest;
  for (int n = 0; n < nics(); ++n) {
    const std::size_t length = gpu_to_nic(gpu, n).size();
    const std::size_t best = nearest.empty() ? length : gpu_to_nic(gpu, nearest[0]).size();
    if (length < best) {
      nearest.clear();
    }
    if (length <= best) {
      nearest.push_back(n);
    }
  }
  return nearest;
}

/// The nearest NIC; GPUs that are equally near to several NICs take turns, spread over all of them.
void NodeType::choose_nics() {
  std::map<std::vector<int>, std::size_t> sharers;
  for (int g = 0; g < gpus(); ++g) {
    ++sharers[nearest_nics(g)];
  }
  std::map<std::vector<int>, std::size_t> turns;
  for (int g = 0; g < gpus(); ++g) {
    const auto nearest = nearest_nics(g);
    const std::size_t step = std::max<std::size_t>(1, nearest.size() / sharers[nearest]);
    nic_of_.push_back(nearest.empty() ? -1 : nearest[step * turns[nearest]++ % nearest.size()]);
  }
  for (int g = 0; g < gpus(); ++g) {
    auto& row = exits_.emplace_back();
    for (int rail = 0; rail < nics(); ++rail) {
      row.push_back(find_exit(g, rail));
    }
    row.push_back({g, nic_of(g)});
  }
}

bool NodeType::is_near(int gpu, int nic) const {
  const std::string way = nic_class(gpu, nic);
  const Bundle& first = bundles_[static_cast<std::size_t>(gpu_to_nic(gpu, nic).front() / 2)];
  return way == "PIX" || way == "PXB" || (way == "PHB" && first.kind.medium == Medium::nvlink);
}

/// Of the GPUs near the NIC the one with the shortest, then widest NVLink; through another GPU it
/// is no gain.
Exit NodeType::find_exit(int from, int rail) const {
  if (is_near(from, rail)) {
    return {from, rail};
  }
  Exit best{from, nic_of(from)};
  std::tuple<std::size_t, int> best_rank{};
  for (int other = 0; other < gpus(); ++other) {
    const LocalPath& way = nvlink_path(from, other);
    if (way.empty() || gpus_between(way) > 0 || nic_of(other) != rail || !is_near(other, rail)) {
      continue;
    }
    const std::tuple rank{way.size(), -width_of(way)};
    if (best.gpu == from || rank < best_rank) {
      best = {other, rail};
      best_rank = rank;
    }
  }
  return best;
}

}  // namespace trainyard::topology
