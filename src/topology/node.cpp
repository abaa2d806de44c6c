#include "topology/node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "topology/graph.hpp"

namespace trainyard::topology {
namespace {

/// NVLink first counts hops, then prefers wide bundles.
constexpr double kHop = 1000.0;

/// A relay passes one GPU at the most.
constexpr std::size_t kLongestRelay = 2;

const LocalPath kNoPath{};

}  // namespace

DeviceKind NodeType::kind_of(int vertex) const {
  return std::find_if(devices_.begin(), devices_.end(),
                      [&](const Device& device) { return device.vertex == vertex; })
      ->kind;
}

const Device& NodeType::gpu(int index) const {
  return devices_[static_cast<std::size_t>(gpus_[static_cast<std::size_t>(index)])];
}

const Device& NodeType::nic(int index) const {
  return devices_[static_cast<std::size_t>(nics_[static_cast<std::size_t>(index)])];
}

void NodeType::find_routes() {
  Graph nvlink{static_cast<int>(vertices_.size())};
  Graph pcie{static_cast<int>(vertices_.size())};
  for (std::size_t i = 0; i < bundles_.size(); ++i) {
    const Bundle& bundle = bundles_[i];
    const int id = 2 * static_cast<int>(i);
    if (bundle.kind.medium == Medium::nvlink) {
      const double weight = kHop + 1.0 / bundle.count;
      nvlink.add_edge(bundle.a, bundle.b, weight, id);
      nvlink.add_edge(bundle.b, bundle.a, weight, id + 1);
    } else if (bundle.kind.medium != Medium::storage) {
      pcie.add_edge(bundle.a, bundle.b, 1.0, id);
      pcie.add_edge(bundle.b, bundle.a, 1.0, id + 1);
    }
  }
  const auto count = static_cast<std::size_t>(gpus());
  nvlink_paths_.resize(count);
  pcie_paths_.resize(count);
  nic_paths_.resize(count);
  for (int from = 0; from < gpus(); ++from) {
    const auto index = static_cast<std::size_t>(from);
    const auto fast = nvlink.paths_from(gpu(from).vertex);
    const auto slow = pcie.paths_from(gpu(from).vertex);
    for (int to = 0; to < gpus(); ++to) {
      const auto vertex = static_cast<std::size_t>(gpu(to).vertex);
      const bool relay_too_long =
          fast[vertex].size() > kLongestRelay && !nvswitch_port(from, true).has_value();
      nvlink_paths_[index].push_back(relay_too_long ? kNoPath : fast[vertex]);
      pcie_paths_[index].push_back(slow[vertex]);
    }
    for (int to = 0; to < nics(); ++to) {
      nic_paths_[index].push_back(slow[static_cast<std::size_t>(nic(to).vertex)]);
    }
  }
}

void NodeType::check_connected(const input::Document& document) const {
  for (int a = 0; a < gpus(); ++a) {
    for (int b = 0; b < gpus(); ++b) {
      if (a != b && nvlink_path(a, b).empty() && pcie_path(a, b).empty()) {
        document.root().fail(fmt::format("no path from \"{}\" to \"{}\": the node falls apart",
                                         gpu(a).name, gpu(b).name));
      }
    }
    for (int n = 0; n < nics(); ++n) {
      if (gpu_to_nic(a, n).empty()) {
        document.root().fail(fmt::format("no path from \"{}\" to \"{}\": the node falls apart",
                                         gpu(a).name, nic(n).name));
      }
    }
  }
}

/// The nearest NIC; GPUs that are equally near to several NICs take turns.
void NodeType::choose_nics() {
  std::map<std::vector<int>, std::size_t> turns;
  for (int g = 0; g < gpus(); ++g) {
    std::vector<int> nearest;
    for (int n = 0; n < nics(); ++n) {
      const std::size_t length = gpu_to_nic(g, n).size();
      const std::size_t best = nearest.empty() ? length + 1 : gpu_to_nic(g, nearest[0]).size();
      if (length < best) {
        nearest.clear();
      }
      if (length <= best) {
        nearest.push_back(n);
      }
    }
    nic_of_.push_back(nearest.empty() ? -1 : nearest[turns[nearest]++ % nearest.size()]);
  }
}

const LocalPath& NodeType::nvlink_path(int from, int to) const {
  return nvlink_paths_[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
}

const LocalPath& NodeType::pcie_path(int from, int to) const {
  return pcie_paths_[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
}

const LocalPath& NodeType::gpu_to_nic(int gpu, int nic) const {
  return nic_paths_[static_cast<std::size_t>(gpu)][static_cast<std::size_t>(nic)];
}

LocalPath NodeType::nic_to_gpu(int nic, int gpu) const {
  return reversed(gpu_to_nic(gpu, nic));
}

LocalPath NodeType::reversed(const LocalPath& path) {
  LocalPath back;
  std::transform(path.rbegin(), path.rend(), std::back_inserter(back),
                 [](int link) { return link % 2 == 0 ? link + 1 : link - 1; });
  return back;
}

std::optional<int> NodeType::nvlink(int from, int to) const {
  for (std::size_t i = 0; i < bundles_.size(); ++i) {
    const Bundle& bundle = bundles_[i];
    const int id = 2 * static_cast<int>(i);
    if (bundle.kind.medium != Medium::nvlink) {
      continue;
    }
    if (bundle.a == gpu(from).vertex && bundle.b == gpu(to).vertex) {
      return id;
    }
    if (bundle.b == gpu(from).vertex && bundle.a == gpu(to).vertex) {
      return id + 1;
    }
  }
  return std::nullopt;
}

std::optional<int> NodeType::nvswitch_port(int gpu_index, bool out) const {
  const int vertex = gpu(gpu_index).vertex;
  for (std::size_t i = 0; i < bundles_.size(); ++i) {
    const Bundle& bundle = bundles_[i];
    const bool from_gpu = bundle.a == vertex && kind_of(bundle.b) == DeviceKind::nvswitch;
    const bool to_gpu = bundle.b == vertex && kind_of(bundle.a) == DeviceKind::nvswitch;
    if (from_gpu || to_gpu) {
      return 2 * static_cast<int>(i) + (from_gpu == out ? 0 : 1);
    }
  }
  return std::nullopt;
}

std::string NodeType::path_class(const LocalPath& path) const {
  int switches = 0;
  int roots = 0;
  int cpus = 0;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    const Bundle& bundle = bundles_[static_cast<std::size_t>(path[i] / 2)];
    const DeviceKind kind = kind_of(path[i] % 2 == 0 ? bundle.b : bundle.a);
    switches += kind == DeviceKind::pcie_switch ? 1 : 0;
    roots += kind == DeviceKind::pcie_root ? 1 : 0;
    cpus += kind == DeviceKind::cpu ? 1 : 0;
  }
  if (cpus > 1) {
    return "SYS";
  }
  if (cpus == 1 && roots > 1) {
    return "NODE";
  }
  if (cpus + roots > 0) {
    return "PHB";
  }
  return switches > 1 ? "PXB" : "PIX";
}

std::string NodeType::pair_class(int a, int b) const {
  if (a == b) {
    return "X";
  }
  if (const auto direct = nvlink(a, b)) {
    return "NV" + std::to_string(bundles_[static_cast<std::size_t>(*direct / 2)].count);
  }
  const auto port = nvswitch_port(a, true);
  if (port && nvswitch_port(b, false) && !nvlink_path(a, b).empty()) {
    return "NV" + std::to_string(bundles_[static_cast<std::size_t>(*port / 2)].count);
  }
  return path_class(pcie_path(a, b));
}

std::string NodeType::nic_class(int gpu, int nic) const {
  return path_class(gpu_to_nic(gpu, nic));
}

bool NodeType::is_private(int bundle) const {
  const Bundle& both = bundles_[static_cast<std::size_t>(bundle)];
  return kind_of(both.a) == DeviceKind::gpu || kind_of(both.b) == DeviceKind::gpu;
}

}  // namespace trainyard::topology
