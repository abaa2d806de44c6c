#include "topology/summary.hpp"

#include <algorithm>
#include <set>

#include "topology/cluster_implementation.hpp"
#include "units/text.hpp"

namespace trainyard::topology {
namespace {

std::string kind_text(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::gpu:
      return "gpu";
    case DeviceKind::nvswitch:
      return "nvswitch";
    case DeviceKind::pcie_switch:
      return "pcie_switch";
    case DeviceKind::pcie_root:
      return "pcie_root";
    case DeviceKind::cpu:
      return "cpu";
    case DeviceKind::nic:
      return "nic";
    case DeviceKind::storage:
      return "storage";
  }
  return "";
}

std::string detail_of(const Device& device) {
  if (device.gpu != nullptr) {
    return device.gpu->name;
  }
  if (device.cable != nullptr) {
    return device.cable->name;
  }
  return device.kind == DeviceKind::storage ? units::to_text(device.capacity) : "";
}

std::string without_numbers(std::string name) {
  std::erase_if(name, [](char c) { return c >= '0' && c <= '9'; });
  return name;
}

/// Neighbours in file order that differ only in their numbers are one group.
void add_device(std::vector<DeviceGroup>& groups, const std::string& kind, const std::string& name,
                const std::string& detail) {
  if (groups.empty() || groups.back().kind != kind || groups.back().detail != detail ||
      without_numbers(groups.back().last) != without_numbers(name)) {
    groups.push_back({kind, 0, name, name, detail});
  }
  ++groups.back().count;
  groups.back().last = name;
}

void add_link(std::vector<LinkGroup>& groups, const LinkKind& kind, int links) {
  const auto known = std::find_if(groups.begin(), groups.end(), [&](const LinkGroup& group) {
    return group.kind == kind.name && group.raw == kind.bandwidth;
  });
  LinkGroup& group =
      known != groups.end()
          ? *known
          : groups.emplace_back(LinkGroup{kind.name, kind.medium, 0, 0, kind.bandwidth,
                                          kind.bandwidth * kind.efficiency, kind.latency});
  ++group.bundles;
  group.links += links;
}

const NodeType& type_of(const Cluster& cluster, int node) {
  return *cluster.implementation().node(node).type;
}

bool is_flat(const Cluster& cluster) {
  return cluster.implementation().flat_nodes > 0;
}

std::string routing_text(Routing routing) {
  switch (routing) {
    case Routing::static_routes:
      return "static";
    case Routing::ecmp:
      return "ecmp";
    case Routing::adaptive:
      return "adaptive";
  }
  return "";
}

/// Any port of each switch that has one: hops depend on the switches only.
std::vector<int> port_of_each_leaf(const Fabric& fabric) {
  std::vector<int> ports;
  std::set<int> seen;
  for (int port = 0; port < fabric.ports(); ++port) {
    if (seen.insert(fabric.switch_of(port)).second) {
      ports.push_back(port);
    }
  }
  return ports;
}

}  // namespace

std::vector<DeviceGroup> devices_of(const Cluster& cluster, int node) {
  std::vector<DeviceGroup> groups;
  if (!is_flat(cluster)) {
    for (const Device& device : type_of(cluster, node).devices()) {
      add_device(groups, kind_text(device.kind), device.name, detail_of(device));
    }
  }
  return groups;
}

std::vector<LinkGroup> links_of(const Cluster& cluster, int node) {
  std::vector<LinkGroup> groups;
  if (!is_flat(cluster)) {
    for (const Bundle& bundle : type_of(cluster, node).bundles()) {
      add_link(groups, bundle.kind, bundle.count);
    }
  }
  return groups;
}

std::vector<LinkGroup> trunks_of(const Cluster& cluster) {
  std::vector<LinkGroup> groups;
  for (const SwitchLink& link : cluster.implementation().fabric.links()) {
    add_link(groups, link.kind, link.count);
  }
  return groups;
}

std::vector<LinkGroup> cables_of(const Cluster& cluster) {
  std::vector<LinkGroup> groups;
  const Fabric& fabric = cluster.implementation().fabric;
  for (int port = 0; port < fabric.ports(); ++port) {
    add_link(groups, fabric.cable(port), 1);
  }
  return groups;
}

FabricSummary fabric_of(const Cluster& cluster) {
  FabricSummary summary;
  if (!cluster.implementation().has_fabric) {
    return summary;
  }
  const Fabric& fabric = cluster.implementation().fabric;
  summary.kind = fabric.kind_name();
  summary.routing = routing_text(fabric.routing());
  for (int i = 0; i < fabric.switches(); ++i) {
    add_device(summary.switches, "switch", fabric.switch_name(i), "");
  }
  const auto ports = port_of_each_leaf(fabric);
  for (const int from : ports) {
    for (const int to : ports) {
      summary.most_hops = std::max(summary.most_hops, fabric.hops(from, to));
    }
  }
  return summary;
}

std::vector<int> nodes_by_type(const Cluster& cluster) {
  std::vector<int> first;
  std::set<std::string> seen;
  for (int node = 0; node < cluster.nodes(); ++node) {
    if (seen.insert(cluster.node_type(node)).second) {
      first.push_back(node);
    }
  }
  return first;
}

std::string nic_class(const Cluster& cluster, GpuId gpu, int nic) {
  return type_of(cluster, cluster.node_of(gpu)).nic_class(cluster.implementation().local(gpu), nic);
}

std::string nic_pair_class(const Cluster& cluster, int node, int a, int b) {
  return type_of(cluster, node).nic_pair_class(a, b);
}

}  // namespace trainyard::topology
