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
///     link, leaf_ports, spines, oversubscription, routing, seed
///
/// fat-tree: leaves with p/(1 + 1/oversubscription) ports down, the others up; two tiers while
/// every spine reaches every leaf, else three tiers in pods of p/2 leaves. rail-fat-tree: NIC i of
/// the nodes of a unit goes to the unit's leaf i. custom: [[fabric.switch]] name, [[fabric.link]]
/// between, kind, count, with NICs written "node0/mlx5_0".
/// @throws InputError
[[nodiscard]] Fabric make_fabric(const input::Section& section, const std::vector<NodePorts>& nodes,
                                 const Catalog& catalog);

/// One switch for all, cables as fast as the NICs.
[[nodiscard]] Fabric single_switch(const std::vector<NodePorts>& nodes);

}  // namespace trainyard::topology
