#include "topology/fabric_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "topology/names.hpp"

namespace trainyard::topology {
namespace {

struct TreeShape {
  LinkKind link{};
  int ports = 0;
  double oversubscription = 1.0;
  std::optional<int> spines{};
  bool merge = false;  ///< adaptive: the parallel switches of a tier are one
  input::Section place;

  /// Ports of a leaf that go down.
  [[nodiscard]] int down() const {
    const double share = oversubscription / (1.0 + oversubscription);
    return std::clamp(static_cast<int>(std::lround(ports * share)), 1, ports - 1);
  }
  [[nodiscard]] int up() const { return ports - down(); }
};

Routing read_routing(const input::Section& section) {
  const auto value = section.find("routing");
  if (!value || value->text() == "static") {
    return Routing::static_routes;
  }
  if (value->text() == "ecmp") {
    return Routing::ecmp;
  }
  if (value->text() == "adaptive") {
    return Routing::adaptive;
  }
  value->fail(fmt::format("must be static, ecmp or adaptive, got \"{}\"", value->text()));
}

TreeShape read_shape(const input::Section& section, const Catalog& catalog, Routing routing) {
  const input::Value link = section.require("link");
  TreeShape shape{.link = catalog.link(link.text(), link.place()), .place = section};
  shape.ports = static_cast<int>(section.require("leaf_ports").integer_in(2, 100000));
  if (const auto value = section.find("oversubscription")) {
    shape.oversubscription = value->number_in(0.1, 1000.0);
  }
  if (const auto value = section.find("spines")) {
    shape.spines = static_cast<int>(value->integer_in(1, 100000));
  }
  shape.merge = routing == Routing::adaptive;
  return shape;
}

/// Spreads `links` as evenly as possible over `count` switches: the i-th gets this many.
int share_of(int links, int count, int i) {
  return links / count + (i < links % count ? 1 : 0);
}

/// Spines above all leaves. Merged: one spine that is as wide as all of them.
void add_spines(Fabric& fabric, const TreeShape& shape, const std::vector<int>& leaves) {
  const int needed = (static_cast<int>(leaves.size()) * shape.up() + shape.ports - 1) / shape.ports;
  const int spines = shape.merge ? 1 : std::min(shape.spines.value_or(needed), shape.up());
  for (int s = 0; s < spines; ++s) {
    const int spine = fabric.add_switch(fmt::format("spine{}", s));
    for (const int leaf : leaves) {
      const int links = share_of(shape.up(), spines, s);
      if (links > 0) {
        fabric.add_link(leaf, spine, shape.link, links);
      }
    }
  }
}

/// Pods of leaves with spines of their own, core switches above: the canonical three-tier tree.
void add_pods(Fabric& fabric, const TreeShape& shape, const std::vector<int>& leaves) {
  const int half = shape.ports / 2;
  const int pod_leaves = half;
  const int pods = (static_cast<int>(leaves.size()) + pod_leaves - 1) / pod_leaves;
  if (pods > shape.ports) {
    shape.place.fail(fmt::format("{} leaves of {} ports need more than three tiers", leaves.size(),
                                 shape.ports));
  }
  const int pod_spines = shape.merge ? 1 : shape.up();
  const int spine_links = shape.merge ? shape.up() : 1;
  const int cores = shape.merge ? 1 : half;
  const int core_links = shape.merge ? half * shape.up() : 1;
  std::vector<int> core;
  for (int i = 0; i < (shape.merge ? 1 : pod_spines * cores); ++i) {
    core.push_back(fabric.add_switch(fmt::format("core{}", i)));
  }
  for (int pod = 0; pod < pods; ++pod) {
    for (int s = 0; s < pod_spines; ++s) {
      const int spine = fabric.add_switch(fmt::format("pod{}-spine{}", pod, s));
      const int end = std::min((pod + 1) * pod_leaves, static_cast<int>(leaves.size()));
      for (int leaf = pod * pod_leaves; leaf < end; ++leaf) {
        fabric.add_link(leaves[static_cast<std::size_t>(leaf)], spine, shape.link, spine_links);
      }
      for (int c = 0; c < cores; ++c) {
        fabric.add_link(spine, core[static_cast<std::size_t>(s * cores + c)], shape.link,
                        core_links);
      }
    }
  }
}

void add_tiers(Fabric& fabric, const TreeShape& shape, const std::vector<int>& leaves) {
  if (leaves.size() < 2) {
    return;
  }
  if (static_cast<int>(leaves.size()) <= shape.ports) {
    add_spines(fabric, shape, leaves);
  } else {
    add_pods(fabric, shape, leaves);
  }
}

std::vector<int> add_leaves(Fabric& fabric, int count) {
  std::vector<int> leaves;
  for (int i = 0; i < count; ++i) {
    leaves.push_back(fabric.add_switch(fmt::format("leaf{}", i)));
  }
  return leaves;
}

Fabric fat_tree(const TreeShape& shape, const std::vector<NodePorts>& nodes) {
  int ports = 0;
  for (const NodePorts& node : nodes) {
    ports += static_cast<int>(node.nics.size());
  }
  Fabric fabric;
  const auto leaves = add_leaves(fabric, std::max((ports + shape.down() - 1) / shape.down(), 1));
  add_tiers(fabric, shape, leaves);
  for (int port = 0; port < ports; ++port) {
    fabric.attach(leaves[static_cast<std::size_t>(port / shape.down())], shape.link);
  }
  return fabric;
}

Fabric rail_fat_tree(const TreeShape& shape, const std::vector<NodePorts>& nodes) {
  std::size_t rails = 1;
  for (const NodePorts& node : nodes) {
    rails = std::max(rails, node.nics.size());
  }
  const auto unit = static_cast<std::size_t>(shape.down());
  const std::size_t units = (nodes.size() + unit - 1) / unit;
  Fabric fabric;
  const auto leaves = add_leaves(fabric, static_cast<int>(units * rails));
  add_tiers(fabric, shape, leaves);
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    for (std::size_t rail = 0; rail < nodes[node].nics.size(); ++rail) {
      fabric.attach(leaves[node / unit * rails + rail], shape.link);
    }
  }
  return fabric;
}

/// A free list of switches and links.
class CustomFabric {
 public:
  CustomFabric(const input::Section& section, const std::vector<NodePorts>& nodes,
               const Catalog& catalog)
      : section_{section}, nodes_{nodes}, catalog_{catalog} {}

  Fabric build() {
    for (const input::Section& each : section_.sections("switch")) {
      const input::Value name = each.require("name");
      for (const std::string& one : expand_name(name)) {
        if (!switches_.emplace(one, fabric_.add_switch(one)).second) {
          name.fail(fmt::format("\"{}\" is the name of another switch", one));
        }
      }
      each.reject_unknown();
    }
    for (const input::Section& each : section_.sections("link")) {
      read_link(each);
    }
    attach_all();
    return std::move(fabric_);
  }

 private:
  struct Attachment {
    int at_switch = -1;
    LinkKind cable{};
  };

  void read_link(const input::Section& section) {
    const input::Value between = section.require("between");
    const auto ends = between.array();
    if (ends.size() != 2) {
      between.fail("must name the two ends of a link");
    }
    const input::Value name = section.require("kind");
    const LinkKind& kind = catalog_.link(name.text(), name.place());
    const auto count = section.find("count");
    const int links = count ? static_cast<int>(count->integer_in(1, 10000)) : 1;
    section.reject_unknown();
    for (const std::string& a : expand_name(ends[0])) {
      for (const std::string& b : expand_name(ends[1])) {
        connect(ends[0], a, ends[1], b, kind, links);
      }
    }
  }

  void connect(const input::Value& a_value, const std::string& a, const input::Value& b_value,
               const std::string& b, const LinkKind& kind, int links) {
    const bool a_is_nic = a.find('/') != std::string::npos;
    const bool b_is_nic = b.find('/') != std::string::npos;
    if (a_is_nic && b_is_nic) {
      b_value.fail("links two NICs: a NIC goes to a switch");
    }
    if (a_is_nic || b_is_nic) {
      const std::string& nic = a_is_nic ? a : b;
      const int at = a_is_nic ? find_switch(b_value, b) : find_switch(a_value, a);
      if (!attachments_.emplace(nic, Attachment{at, kind}).second) {
        b_value.fail(fmt::format("\"{}\" has a cable already", nic));
      }
      return;
    }
    const int from = find_switch(a_value, a);
    const int to = find_switch(b_value, b);
    if (from == to) {
      b_value.fail(fmt::format("links \"{}\" with itself", a));
    }
    fabric_.add_link(from, to, kind, links);
  }

  int find_switch(const input::Value& value, const std::string& name) const {
    const auto found = switches_.find(name);
    if (found == switches_.end()) {
      std::vector<std::string> known;
      for (const auto& [other, index] : switches_) {
        known.push_back(other);
      }
      value.fail(fmt::format("names \"{}\", which is no switch of this fabric{}", name,
                             input::suggestion(name, known)));
    }
    return found->second;
  }

  void attach_all() {
    std::size_t used = 0;
    for (const NodePorts& node : nodes_) {
      for (const std::string& nic : node.nics) {
        const auto found = attachments_.find(node.name + "/" + nic);
        if (found == attachments_.end()) {
          section_.fail(fmt::format("no [[fabric.link]] for \"{}/{}\"", node.name, nic));
        }
        fabric_.attach(found->second.at_switch, found->second.cable);
        ++used;
      }
    }
    if (used != attachments_.size()) {
      section_.fail("a [[fabric.link]] names a NIC that no node has");
    }
  }

  const input::Section& section_;
  const std::vector<NodePorts>& nodes_;
  const Catalog& catalog_;
  Fabric fabric_{};
  std::map<std::string, int> switches_{};
  std::map<std::string, Attachment> attachments_{};
};

Fabric build(const std::string& kind, const input::Section& section,
             const std::vector<NodePorts>& nodes, const Catalog& catalog, Routing routing) {
  if (kind == "custom") {
    return CustomFabric{section, nodes, catalog}.build();
  }
  if (kind == "single-switch") {
    std::vector<NodePorts> cabled = nodes;
    if (const auto link = section.find("link")) {
      for (NodePorts& node : cabled) {
        node.cables.assign(node.nics.size(), catalog.link(link->text(), link->place()));
      }
    }
    return single_switch(cabled);
  }
  const TreeShape shape = read_shape(section, catalog, routing);
  return kind == "fat-tree" ? fat_tree(shape, nodes) : rail_fat_tree(shape, nodes);
}

}  // namespace

Fabric single_switch(const std::vector<NodePorts>& nodes) {
  Fabric fabric;
  const int only = fabric.add_switch("switch");
  for (const NodePorts& node : nodes) {
    for (const LinkKind& cable : node.cables) {
      fabric.attach(only, cable);
    }
  }
  return fabric;
}

Fabric make_fabric(const input::Section& section, const std::vector<NodePorts>& nodes,
                   const Catalog& catalog) {
  static const std::vector<std::string> kKinds{"single-switch", "fat-tree", "rail-fat-tree",
                                               "custom"};
  const input::Value kind = section.require("kind");
  if (std::find(kKinds.begin(), kKinds.end(), kind.text()) == kKinds.end()) {
    kind.fail(fmt::format("must be a kind of fabric, got \"{}\"{}", kind.text(),
                          input::suggestion(kind.text(), kKinds)));
  }
  const Routing routing = read_routing(section);
  const auto seed = section.find("seed");
  Fabric fabric = build(kind.text(), section, nodes, catalog, routing);
  fabric.set_routing(routing,
                     seed ? static_cast<std::uint64_t>(seed->integer_in(0, 1LL << 62U)) : 1);
  section.reject_unknown();
  return fabric;
}

}  // namespace trainyard::topology
