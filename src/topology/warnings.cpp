#include <fmt/format.h>

#include <set>

#include "topology/cluster_implementation.hpp"
#include "topology/summary.hpp"
#include "units/text.hpp"

namespace trainyard::topology {
namespace {

class NodeWarnings {
 public:
  explicit NodeWarnings(const NodeType& type) : type_{type} {}

  std::vector<std::string> find(bool in_cluster) {
    for (const Device& device : type_.devices()) {
      check_linked(device);
    }
    for (int gpu = 0; gpu < type_.gpus(); ++gpu) {
      check_nvlinks(type_.gpu(gpu));
      check_licence(type_.gpu(gpu), in_cluster);
    }
    for (int nic = 0; nic < type_.nics(); ++nic) {
      check_port(type_.nic(nic));
    }
    return std::move(found_);
  }

 private:
  void check_linked(const Device& device) {
    for (const Bundle& bundle : type_.bundles()) {
      if (bundle.a == device.vertex || bundle.b == device.vertex) {
        return;
      }
    }
    if (device.kind != DeviceKind::gpu) {
      found_.push_back(fmt::format("{}: \"{}\" has no [[link]]", type_.name(), device.name));
    }
  }

  /// Of the GPU's generation: a chip-to-chip link to its CPU takes no port.
  void check_nvlinks(const Device& gpu) {
    int links = 0;
    for (const Bundle& bundle : type_.bundles()) {
      const bool ends_here = bundle.a == gpu.vertex || bundle.b == gpu.vertex;
      const bool takes_port =
          bundle.kind.medium == Medium::nvlink && bundle.kind.name.starts_with(gpu.gpu->nvlink);
      links += ends_here && takes_port ? bundle.count : 0;
    }
    if (links > gpu.gpu->nvlink_links) {
      found_.push_back(fmt::format("{}: \"{}\" has {} NVLinks, a {} has {}", type_.name(), gpu.name,
                                   links, gpu.gpu->name, gpu.gpu->nvlink_links));
    }
  }

  void check_licence(const Device& gpu, bool in_cluster) {
    if (in_cluster && !gpu.gpu->data_center && consumer_.insert(gpu.gpu->name).second) {
      found_.push_back(
          fmt::format("{}{}: {} is a consumer card, whose driver's licence excludes data centres",
                      input::prefix(gpu.place), type_.name(), gpu.gpu->name));
    }
  }

  void check_port(const Device& nic) {
    for (const Bundle& bundle : type_.bundles()) {
      const bool ends_here = bundle.a == nic.vertex || bundle.b == nic.vertex;
      const auto host = bundle.kind.bandwidth * bundle.count;
      if (ends_here && host < nic.cable->bandwidth) {
        found_.push_back(fmt::format("{}: \"{}\" sends {}, its {} link carries {}", type_.name(),
                                     nic.name, units::to_text(nic.cable->bandwidth),
                                     bundle.kind.name, units::to_text(host)));
      }
    }
  }

  const NodeType& type_;
  std::set<std::string> consumer_{};
  std::vector<std::string> found_{};
};

}  // namespace

std::vector<std::string> warnings_of(const Cluster& cluster) {
  std::vector<std::string> all;
  for (const int node : nodes_by_type(cluster)) {
    if (cluster.implementation().flat_nodes == 0) {
      NodeWarnings warnings{*cluster.implementation().node(node).type};
      const auto found = warnings.find(cluster.nodes() > 1);
      all.insert(all.end(), found.begin(), found.end());
    }
  }
  return all;
}

}  // namespace trainyard::topology
