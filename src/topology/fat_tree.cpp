// Fat trees: leaves, spines and, where one spine cannot reach all leaves, pods below core switches.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "topology/fabric_kinds.hpp"

namespace trainyard::topology {
namespace {

/// Leaves that share spines of their own.
using Pod = std::vector<int>;

struct TreeShape {
  LinkKind link{};
  int ports = 0;
  double oversubscription = 1.0;
  std::optional<input::Value> spines{};
  bool merge = false;  ///< adaptive: the parallel switches of a tier are one
  input::Section place;

  /// Ports of a leaf that go down.
  [[nodiscard]] int down() const {
    const double share = oversubscription / (1.0 + oversubscription);
    return std::clamp(static_cast<int>(std::lround(ports * share)), 1, ports - 1);
  }
  [[nodiscard]] int up() const { return ports - down(); }
  [[nodiscard]] int most_pod_leaves() const { return ports / 2; }
};

TreeShape read_shape(const input::Section& section, const Catalog& catalog, Routing routing) {
  TreeShape shape{.link = network_link(section.require("link"), catalog), .place = section};
  shape.ports = static_cast<int>(section.require("leaf_ports").integer_in(2, 10000));
  if (const auto value = section.find("oversubscription")) {
    shape.oversubscription = value->number_in(0.1, 1000.0);
  }
  shape.spines = section.find("spines");
  shape.merge = routing == Routing::adaptive;
  return shape;
}

/// Spreads `links` as evenly as possible over `count` switches: the i-th gets this many.
int share_of(int links, int count, int i) {
  return links / count + (i < links % count ? 1 : 0);
}

/// As many spines as asked for, else the fewest that have a port for every uplink.
int spine_count(const TreeShape& shape, int leaves) {
  const int fewest = (leaves * shape.up() + shape.ports - 1) / shape.ports;
  if (!shape.spines) {
    return std::min(fewest, shape.up());
  }
  const int spines = static_cast<int>(shape.spines->integer_in(1, shape.up()));
  if (leaves * share_of(shape.up(), spines, 0) > shape.ports) {
    shape.spines->fail(
        fmt::format("gives a spine more links than its {} ports, got {} for {} "
                    "leaves of {} uplinks",
                    shape.ports, spines, leaves, shape.up()));
  }
  return spines;
}

/// Spines above all leaves. Merged: one spine that is as wide as all of them.
void add_spines(Fabric& fabric, const TreeShape& shape, const std::vector<Pod>& pods, int leaves) {
  const int wanted = spine_count(shape, leaves);
  const int spines = shape.merge ? 1 : wanted;
  for (int s = 0; s < spines; ++s) {
    const int spine = fabric.add_switch(fmt::format("spine{}", s));
    for (const Pod& pod : pods) {
      for (const int leaf : pod) {
        fabric.add_link(leaf, spine, shape.link, share_of(shape.up(), spines, s));
      }
    }
  }
}

void add_pod(Fabric& fabric, const TreeShape& shape, const Pod& leaves, int number,
             const std::vector<int>& cores) {
  const int spines = shape.merge ? 1 : shape.up();
  const auto cores_per_spine = cores.size() / static_cast<std::size_t>(spines);
  const int down_links = shape.merge ? shape.up() : 1;
  const int core_links = shape.merge ? shape.most_pod_leaves() * shape.up() : 1;
  for (int s = 0; s < spines; ++s) {
    const int spine = fabric.add_switch(fmt::format("pod{}-spine{}", number, s));
    for (const int leaf : leaves) {
      fabric.add_link(leaf, spine, shape.link, down_links);
    }
    for (std::size_t c = 0; c < cores_per_spine; ++c) {
      fabric.add_link(spine, cores[static_cast<std::size_t>(s) * cores_per_spine + c], shape.link,
                      core_links);
    }
  }
}

/// The canonical three-tier tree: a spine of a pod has half its ports up, one to each of the cores
/// of its number; a core has one port for each pod.
void add_pods(Fabric& fabric, const TreeShape& shape, const std::vector<Pod>& pods, int leaves) {
  if (static_cast<int>(pods.size()) > shape.ports) {
    shape.place.fail(fmt::format("{} leaves of {} ports, in {} pods, need more than three tiers",
                                 leaves, shape.ports, pods.size()));
  }
  if (shape.spines) {
    shape.spines->fail(
        fmt::format("is for two tiers: {} leaves of {} ports need three", leaves, shape.ports));
  }
  std::vector<int> cores(
      static_cast<std::size_t>(shape.merge ? 1 : shape.up() * shape.most_pod_leaves()));
  for (std::size_t i = 0; i < cores.size(); ++i) {
    cores[i] = fabric.add_switch(fmt::format("core{}", i));
  }
  for (std::size_t pod = 0; pod < pods.size(); ++pod) {
    add_pod(fabric, shape, pods[pod], static_cast<int>(pod), cores);
  }
}

void add_tiers(Fabric& fabric, const TreeShape& shape, const std::vector<Pod>& pods, int leaves) {
  if (leaves < 2) {
    return;
  }
  if (leaves <= shape.ports) {
    add_spines(fabric, shape, pods, leaves);
  } else {
    add_pods(fabric, shape, pods, leaves);
  }
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
    if (i % shape.most_pod_leaves() == 0) {
      pods.emplace_back();
    }
    pods.back().push_back(leaf);
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
  const TreeShape shape = read_shape(section, catalog, routing);
  int rails = 1;
  for (const NodePorts& node : nodes) {
    rails = std::max(rails, static_cast<int>(node.nics.size()));
  }
  const int units = (static_cast<int>(nodes.size()) + shape.down() - 1) / shape.down();
  Fabric fabric{"rail-fat-tree"};
  std::vector<Pod> pods;
  for (int rail = 0; rail < rails; ++rail) {
    cut_pods(pods, shape, rail, rails, units * rails);  // a rail keeps to its pods
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
