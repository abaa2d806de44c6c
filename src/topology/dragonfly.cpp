// Dragonflies: groups of fully connected switches, and every group linked to every other.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "topology/fabric_kinds.hpp"

namespace trainyard::topology {
namespace {

constexpr int kMostGroups = 2048;
constexpr int kMostSwitches = 512;
/// Minimal ways leave their group once: local, global, local is cheaper than two global links.
constexpr int kGlobalCost = 3;
constexpr std::int64_t kMostInAll = 20000;

struct DragonflyShape {
  int groups = 0;
  int switches = 0;  ///< of a group
  int nodes = 0;     ///< of a switch
  int global = 0;    ///< links of a switch to other groups
};

int count_of(const input::Section& section, std::string_view key, int most) {
  return static_cast<int>(section.require(key).integer_in(1, most));
}

DragonflyShape read_dragonfly(const input::Section& section, std::int64_t nodes) {
  DragonflyShape shape{.groups = count_of(section, "groups", kMostGroups),
                       .switches = count_of(section, "switches_per_group", kMostSwitches),
                       .nodes = count_of(section, "nodes_per_switch", 10000)};
  const input::Value global = section.require("global_links");
  shape.global = static_cast<int>(global.integer_in(0, 10000));
  const std::int64_t switches = static_cast<std::int64_t>(shape.groups) * shape.switches;
  if (switches > kMostInAll) {
    section.fail(fmt::format("{} groups of {} switches are too many: at most {} switches",
                             shape.groups, shape.switches, kMostInAll));
  }
  if (nodes > switches * shape.nodes) {
    section.fail(fmt::format("{} groups of {} switches with {} nodes each hold {} nodes, got {}",
                             shape.groups, shape.switches, shape.nodes, switches * shape.nodes,
                             nodes));
  }
  if (shape.switches * shape.global < shape.groups - 1) {
    global.fail(
        fmt::format("must reach the {} other groups: {} switches with {} links each have "
                    "{} in a group",
                    shape.groups - 1, shape.switches, shape.global, shape.switches * shape.global));
  }
  return shape;
}

/// A switch's ports have to suffice for its group, the other groups and its nodes' NICs.
void check_ports(const input::Section& section, const DragonflyShape& shape, int nics) {
  const auto ports = section.find("ports");
  const int wanted = shape.switches - 1 + shape.global + shape.nodes * nics;
  if (ports && ports->integer() < wanted) {
    ports->fail(fmt::format(
        "must be at least {}: {} links in the group, {} to others, {} nodes of {} NICs; got {}",
        wanted, shape.switches - 1, shape.global, shape.nodes, nics, ports->integer()));
  }
}

void add_group(Fabric& fabric, const LinkKind& link, const DragonflyShape& shape, int group) {
  const int first = fabric.switches();
  for (int a = 0; a < shape.switches; ++a) {
    fabric.add_switch(fmt::format("group{}-switch{}", group, a));
    for (int b = 0; b < a; ++b) {
      fabric.add_link(first + b, first + a, link, 1);
    }
  }
}

/// Port k of a group's switches, counted through, goes to the group 1 + k modulo (groups - 1)
/// further on; port k' of that one comes back. What is left of the last round stays free.
void add_global_links(Fabric& fabric, const LinkKind& link, const DragonflyShape& shape) {
  const int others = shape.groups - 1;
  const int rounds = others == 0 ? 0 : shape.switches * shape.global / others;
  std::map<std::pair<int, int>, int> counts;
  for (int group = 0; group < shape.groups; ++group) {
    for (int k = 0; k < rounds * others; ++k) {
      const int offset = 1 + k % others;
      const int other = (group + offset) % shape.groups;
      if (group < other) {
        const int back = k / others * others + others - offset;
        ++counts[{group * shape.switches + k / shape.global,
                  other * shape.switches + back / shape.global}];
      }
    }
  }
  for (const auto& [ends, count] : counts) {
    fabric.add_link(ends.first, ends.second, link, count, kGlobalCost);
  }
}

}  // namespace

Fabric dragonfly(const input::Section& section, const std::vector<NodePorts>& nodes,
                 const Catalog& catalog, Routing routing) {
  if (routing == Routing::adaptive) {
    section.require("routing").fail("must be static or ecmp in a dragonfly, got \"adaptive\"");
  }
  const LinkKind& link = network_link(section.require("link"), catalog);
  const DragonflyShape shape = read_dragonfly(section, static_cast<std::int64_t>(nodes.size()));
  std::size_t nics = 0;
  for (const NodePorts& node : nodes) {
    nics = std::max(nics, node.nics.size());
  }
  check_ports(section, shape, static_cast<int>(nics));
  Fabric fabric{"dragonfly"};
  for (int group = 0; group < shape.groups; ++group) {
    add_group(fabric, link, shape, group);
  }
  add_global_links(fabric, link, shape);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const LinkKind& nic : nodes[i].cables) {
      fabric.attach(static_cast<int>(i) / shape.nodes, slower(nic, link));
    }
  }
  return fabric;
}

}  // namespace trainyard::topology
