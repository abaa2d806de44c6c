// Fat trees: which NIC goes to which leaf, and which leaves make a pod.
#include <fmt/format.h>

#include <algorithm>

#include "topology/fabric_kinds.hpp"
#include "topology/tree_tiers.hpp"

namespace trainyard::topology {
namespace {

TreeShape read_shape(const input::Section& section, const Catalog& catalog, Routing routing) {
  return read_tree_shape(section, network_link(section.require("link"), catalog),
                         routing == Routing::adaptive);
}

/// Leaves first, so that leaf i is switch i.
void add_leaves(Fabric& fabric, int count) {
  for (int i = 0; i < count; ++i) {
    fabric.add_switch(fmt::format("leaf{}", i));
  }
}

/// Leaf numbers first, first + step, ... below `end`, cut into pods.
void cut_pods(std::vector<Pod>& pods, const TreeShape& shape, int first, int step, int end) {
  for (int leaf = first, i = 0; leaf < end; leaf += step, ++i) {
    if (i % shape.pod_leaves == 0) {
      pods.emplace_back();
    }
    pods.back().push_back(leaf);
  }
}

/// A pod of all leaves of a plane: rails take turns over the planes.
void cut_planes(std::vector<Pod>& pods, int planes, int rails, int units) {
  pods.resize(static_cast<std::size_t>(planes));
  for (int leaf = 0; leaf < units * rails; ++leaf) {
    pods[static_cast<std::size_t>(leaf % rails % planes)].push_back(leaf);
  }
}

}  // namespace

Fabric fat_tree(const input::Section& section, const std::vector<NodePorts>& nodes,
                const Catalog& catalog, Routing routing) {
  const TreeShape shape = read_shape(section, catalog, routing);
  int ports = 0;
  for (const NodePorts& node : nodes) {
    ports += static_cast<int>(node.nics.size());
  }
  Fabric fabric{"fat-tree"};
  const int leaves = std::max((ports + shape.down() - 1) / shape.down(), 1);
  std::vector<Pod> pods;
  cut_pods(pods, shape, 0, 1, leaves);
  add_leaves(fabric, leaves);
  add_tiers(fabric, shape, pods, leaves);
  int port = 0;
  for (const NodePorts& node : nodes) {
    for (const LinkKind& nic : node.cables) {
      fabric.attach(port++ / shape.down(), slower(nic, shape.link));
    }
  }
  return fabric;
}

Fabric rail_fat_tree(const input::Section& section, const std::vector<NodePorts>& nodes,
                     const Catalog& catalog, Routing routing) {
  TreeShape shape = read_shape(section, catalog, routing);
  int rails = 1;
  for (const NodePorts& node : nodes) {
    rails = std::max(rails, static_cast<int>(node.nics.size()));
  }
  const int units = (static_cast<int>(nodes.size()) + shape.down() - 1) / shape.down();
  Fabric fabric{"rail-fat-tree"};
  std::vector<Pod> pods;
  if (const auto planes = section.find("planes")) {
    shape.three = true;
    cut_planes(pods, static_cast<int>(planes->integer_in(2, rails)), rails, units);
    shape.pod_leaves = static_cast<int>(pods.front().size());
  } else {
    for (int rail = 0; rail < rails; ++rail) {
      cut_pods(pods, shape, rail, rails, units * rails);  // a rail keeps to its pods
    }
  }
  add_leaves(fabric, units * rails);
  add_tiers(fabric, shape, pods, units * rails);
  for (int node = 0; node < static_cast<int>(nodes.size()); ++node) {
    int leaf = node / shape.down() * rails;
    for (const LinkKind& nic : nodes[static_cast<std::size_t>(node)].cables) {
      fabric.attach(leaf++, slower(nic, shape.link));
    }
  }
  return fabric;
}

}  // namespace trainyard::topology
