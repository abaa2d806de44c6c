#include "topology/node.hpp"

#include <algorithm>
#include <iterator>

namespace trainyard::topology {

const Device& NodeType::gpu(int index) const {
  return devices_[static_cast<std::size_t>(gpus_[static_cast<std::size_t>(index)])];
}

const Device& NodeType::nic(int index) const {
  return devices_[static_cast<std::size_t>(nics_[static_cast<std::size_t>(index)])];
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

const Exit& NodeType::exit_to(int gpu, int rail) const {
  const auto& exits = exits_[static_cast<std::size_t>(gpu)];
  return rail >= 0 && rail < nics() ? exits[static_cast<std::size_t>(rail)] : exits.back();
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

int NodeType::vertex_after(int link) const {
  const Bundle& bundle = bundles_[static_cast<std::size_t>(link / 2)];
  return link % 2 == 0 ? bundle.b : bundle.a;
}

int NodeType::gpus_between(const LocalPath& path) const {
  return path.empty()
             ? 0
             : static_cast<int>(std::count_if(path.begin(), std::prev(path.end()), [&](int link) {
                 return kind_of(vertex_after(link)) == DeviceKind::gpu;
               }));
}

int NodeType::width_of(const LocalPath& path) const {
  return path.empty() ? 0 : bundles_[static_cast<std::size_t>(path.front() / 2)].count;
}

// ---- Classes ----------------------------------------------------------------------------------

std::string NodeType::path_class(const LocalPath& path) const {
  if (gpus_between(path) > 0) {
    return "PXN";
  }
  int switches = 0;
  int roots = 0;
  int cpus = 0;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    const DeviceKind kind = kind_of(vertex_after(path[i]));
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
  const LocalPath& fast = nvlink_path(a, b);
  if (!fast.empty() && gpus_between(fast) == 0) {
    return "NV" + std::to_string(width_of(fast));
  }
  const std::string& slow = pcie_classes_[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
  return slow.empty() ? "NVB" : slow;
}

std::string NodeType::nic_class(int gpu, int nic) const {
  return path_class(gpu_to_nic(gpu, nic));
}

const std::string& NodeType::nic_pair_class(int a, int b) const {
  return nic_classes_[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
}

}  // namespace trainyard::topology
