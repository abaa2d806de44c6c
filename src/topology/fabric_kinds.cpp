#include "topology/fabric_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace trainyard::topology {
namespace {

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

Fabric one_switch(const input::Section& section, const std::vector<NodePorts>& nodes,
                  const Catalog& catalog, Routing /*routing*/) {
  std::vector<NodePorts> cabled = nodes;
  if (const auto value = section.find("link")) {
    const LinkKind& link = network_link(*value, catalog);
    for (NodePorts& node : cabled) {
      for (LinkKind& cable : node.cables) {
        cable = slower(cable, link);
      }
    }
  }
  Fabric fabric = single_switch(cabled);
  if (const auto ports = section.find("ports"); ports && ports->integer() < fabric.ports()) {
    ports->fail(fmt::format("must be at least {}, one for each NIC, got {}", fabric.ports(),
                            ports->integer()));
  }
  return fabric;
}

Fabric free_list(const input::Section& section, const std::vector<NodePorts>& nodes,
                 const Catalog& catalog, Routing routing) {
  if (routing == Routing::adaptive) {
    section.require("routing").fail(
        "must be static or ecmp in a custom fabric: adaptive routing needs tiers to spread over");
  }
  return custom_fabric(section, nodes, catalog);
}

struct Kind {
  std::string_view name;
  Fabric (*make)(const input::Section&, const std::vector<NodePorts>&, const Catalog&, Routing);
};

/// The one table of kinds.
constexpr std::array<Kind, 6> kKinds{{{"single-switch", &one_switch},
                                      {"fat-tree", &fat_tree},
                                      {"rail-fat-tree", &rail_fat_tree},
                                      {"torus", &torus},
                                      {"dragonfly", &dragonfly},
                                      {"custom", &free_list}}};

}  // namespace

const LinkKind& network_link(const input::Value& name, const Catalog& catalog) {
  const LinkKind& link = catalog.link(name.text(), name.place());
  if (link.medium != Medium::network) {
    name.fail(fmt::format(R"(must be a network link such as "ib-edr", got "{}")", link.name));
  }
  return link;
}

const LinkKind& slower(const LinkKind& a, const LinkKind& b) {
  return b.bandwidth * b.efficiency <= a.bandwidth * a.efficiency ? b : a;
}

Fabric single_switch(const std::vector<NodePorts>& nodes) {
  Fabric fabric{"single-switch"};
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
  const input::Value name = section.require("kind");
  const auto* const kind = std::find_if(kKinds.begin(), kKinds.end(),
                                        [&](const Kind& each) { return each.name == name.text(); });
  if (kind == kKinds.end()) {
    std::vector<std::string> known;
    known.reserve(kKinds.size());
    for (const Kind& each : kKinds) {
      known.emplace_back(each.name);
    }
    name.fail(fmt::format("must be a kind of fabric, got \"{}\"{}", name.text(),
                          input::suggestion(name.text(), known)));
  }
  const Routing routing = read_routing(section);
  const auto seed = section.find("seed");
  Fabric fabric = kind->make(section, nodes, catalog, routing);
  fabric.set_routing(routing,
                     seed ? static_cast<std::uint64_t>(seed->integer_in(0, 1LL << 62U)) : 1);
  if (const auto reduces = section.find("in_network_reduction")) {
    if (reduces->boolean() && !fabric.shape().empty()) {
      reduces->fail("is what switches do: a torus has none");
    }
    fabric.set_in_network_reduction(reduces->boolean());
  }
  section.reject_unknown();
  return fabric;
}

}  // namespace trainyard::topology
