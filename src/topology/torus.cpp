// Tori: a router in every node, rings along every dimension.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "topology/fabric_kinds.hpp"

namespace trainyard::topology {
namespace {

constexpr int kLongestSide = 1024;
constexpr std::size_t kMostDimensions = 6;

std::vector<int> read_sides(const input::Value& shape) {
  std::vector<int> sides;
  for (const input::Value& side : shape.array()) {
    sides.push_back(static_cast<int>(side.integer_in(1, kLongestSide)));
  }
  if (sides.empty() || sides.size() > kMostDimensions) {
    shape.fail(fmt::format("must have from 1 to {} sides, got {}", kMostDimensions, sides.size()));
  }
  return sides;
}

void check_nodes(const input::Value& shape, const std::vector<int>& sides, std::int64_t nodes) {
  const double wanted = std::accumulate(sides.begin(), sides.end(), 1.0, std::multiplies<>{});
  if (wanted != static_cast<double>(nodes)) {
    shape.fail(fmt::format("must multiply to the number of nodes, {}, got {} = {:.0f}", nodes,
                           fmt::join(sides, " x "), wanted));
  }
}

/// The ring links of one dimension, whose neighbours are `stride` apart. A side of two has both its
/// links between the same routers.
void add_rings(Fabric& fabric, const LinkKind& link, int side, int stride) {
  const int all = fabric.switches();
  for (int at = 0; at < all; ++at) {
    const int coordinate = at / stride % side;
    if (side == 2 && coordinate == 0) {
      fabric.add_link(at, at + stride, link, 2);
    } else if (side > 2) {
      const int next = coordinate + 1 < side ? at + stride : at - coordinate * stride;
      fabric.add_link(at, next, link, 1);
    }
  }
}

}  // namespace

Fabric torus(const input::Section& section, const std::vector<NodePorts>& nodes,
             const Catalog& catalog, Routing routing) {
  if (routing == Routing::adaptive) {
    section.require("routing").fail("must be static or ecmp in a torus, got \"adaptive\"");
  }
  const LinkKind& link = network_link(section.require("link"), catalog);
  const input::Value shape = section.require("shape");
  const std::vector<int> sides = read_sides(shape);
  const auto routers = static_cast<std::size_t>(
      std::count_if(nodes.begin(), nodes.end(), [](const auto& node) { return !node.server; }));
  check_nodes(shape, sides, static_cast<std::int64_t>(routers));
  Fabric fabric{"torus"};
  for (std::size_t i = 0; i < routers; ++i) {
    fabric.add_switch(fmt::format("router{}", i));
  }
  // The first dimension's links first: static routes finish one dimension before the next.
  int stride = static_cast<int>(routers);
  for (const int side : sides) {
    stride /= side;
    add_rings(fabric, link, side, stride);
  }
  for (std::size_t i = 0; i < routers; ++i) {
    for (LinkKind cable : nodes[i].cables) {
      cable.latency = {};  // the router is in the node
      fabric.attach(static_cast<int>(i), cable);
    }
  }
  const std::size_t servers = nodes.size() - routers;
  for (std::size_t i = 0; i < servers; ++i) {  // spread over the routers
    fabric.attach(static_cast<int>(i * routers / servers), nodes[routers + i].cables[0]);
  }
  fabric.set_shape(sides);
  return fabric;
}

}  // namespace trainyard::topology
