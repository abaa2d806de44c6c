// Fat trees: which NIC goes to which leaf, and which leaves make a pod.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

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

/// Storage servers take the ports that nodes leave free, the emptiest leaf's first.
void attach_servers(Fabric& fabric, const TreeShape& shape, const std::vector<NodePorts>& servers,
                    std::vector<int> free) {
  const int all = std::accumulate(free.begin(), free.end(), 0);
  if (all < static_cast<int>(servers.size())) {
    shape.place.fail(
        fmt::format("{} storage servers need a port each: the nodes leave {} of {} free",
                    servers.size(), all, shape.down() * static_cast<int>(free.size())));
  }
  for (const NodePorts& server : servers) {
    const auto emptiest = std::max_element(free.begin(), free.end());
    --*emptiest;
    fabric.attach(static_cast<int>(emptiest - free.begin()), slower(server.cables[0], shape.link));
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
  int hosts = 0;
  for (const NodePorts& node : nodes) {
    rails = std::max(rails, static_cast<int>(node.nics.size()));
    hosts += node.server ? 0 : 1;
  }
  const int units = (hosts + shape.down() - 1) / shape.down();
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
  std::vector<int> free(static_cast<std::size_t>(units * rails), shape.down());
  for (int node = 0; node < hosts; ++node) {
    int leaf = node / shape.down() * rails;
    for (const LinkKind& nic : nodes[static_cast<std::size_t>(node)].cables) {
      --free[static_cast<std::size_t>(leaf)];
      fabric.attach(leaf++, slower(nic, shape.link));
    }
  }
  attach_servers(fabric, shape, {nodes.begin() + hosts, nodes.end()}, std::move(free));
  return fabric;
}

}  // namespace trainyard::topology
