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
};

/// Builds the fabric that a [fabric] table describes; ports in the order node by node, NIC by NIC.
///
///     kind = "single-switch" | "fat-tree" | "rail-fat-tree" | "custom"
///     routing = "static" | "ecmp" | "adaptive", seed
///
/// single-switch: link, ports (both optional). Trees: link, leaf_ports, spines, oversubscription.
/// fat-tree: leaves with p/(1 + 1/oversubscription) ports down, the others up; two tiers while
/// every spine reaches every leaf, else three tiers in pods of p/2 leaves. rail-fat-tree: NIC i of
/// the nodes of a unit goes to the unit's leaf i, and a rail keeps to its pods. custom:
/// [[fabric.switch]] name, ports; [[fabric.link]] between, kind, count, NICs as "node0/mlx5_0". A
/// cable is as fast as the slower of its NIC and the fabric's link.
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
