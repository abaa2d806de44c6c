#pragma once

#include <vector>

#include "input/section.hpp"
#include "topology/fabric.hpp"

namespace trainyard::topology {

/// What a fabric has to connect: a row a node.
struct NodePorts {
  std::string name{};  ///< "node3"
  std::vector<std::string> nics{};
  std::vector<LinkKind> cables{};  ///< a NIC each, its own speed
  bool server = false;             ///< a storage server, after all nodes; its one port is "port"
};

/// Builds the fabric that a [fabric] table describes; ports in the order node by node, NIC by NIC.
///
///     kind = "single-switch" | "fat-tree" | "rail-fat-tree" | "torus" | "dragonfly" | "custom"
///     routing = "static" | "ecmp" | "adaptive", seed, in_network_reduction
///
/// single-switch: link, ports (both optional). Trees: link, leaf_ports and the optional uplinks or
/// oversubscription, spine_ports, spines; pod_leaves, core_oversubscription or cores make three
/// tiers. fat-tree: leaves with p/(1 + 1/oversubscription) ports down, the others up; two tiers
/// while every spine reaches every leaf, else three tiers in pods of p/2 leaves. rail-fat-tree: NIC
/// i of the nodes of a unit goes to the unit's leaf i, and a rail keeps to its pods, or to one of
/// `planes` that rails take turns on. torus: link, shape. dragonfly: link, groups,
/// switches_per_group, nodes_per_switch, global_links (of a switch), ports. custom:
/// [[fabric.switch]] name, ports; [[fabric.link]] between, kind, count, NICs as "node0/mlx5_0",
/// storage servers as "NAME/port". A cable is as fast as the slower of its NIC and the fabric's
/// link, and of the fabric's kind where both are equally fast.
/// @throws InputError
[[nodiscard]] Fabric make_fabric(const input::Section& section, const std::vector<NodePorts>& nodes,
                                 const Catalog& catalog);

/// One switch for all, cables as fast as the NICs.
[[nodiscard]] Fabric single_switch(const std::vector<NodePorts>& nodes);

// The kinds that have files of their own.
[[nodiscard]] Fabric fat_tree(const input::Section& section, const std::vector<NodePorts>& nodes,
                              const Catalog& catalog, Routing routing);
[[nodiscard]] Fabric rail_fat_tree(const input::Section& section,
                                   const std::vector<NodePorts>& nodes, const Catalog& catalog,
                                   Routing routing);
[[nodiscard]] Fabric torus(const input::Section& section, const std::vector<NodePorts>& nodes,
                           const Catalog& catalog, Routing routing);
[[nodiscard]] Fabric dragonfly(const input::Section& section, const std::vector<NodePorts>& nodes,
                               const Catalog& catalog, Routing routing);
[[nodiscard]] Fabric custom_fabric(const input::Section& section,
                                   const std::vector<NodePorts>& nodes, const Catalog& catalog);

/// A link kind of the catalogue that joins nodes. @throws InputError for any other
[[nodiscard]] const LinkKind& network_link(const input::Value& name, const Catalog& catalog);
[[nodiscard]] const LinkKind& slower(const LinkKind& a, const LinkKind& b);

}  // namespace trainyard::topology
