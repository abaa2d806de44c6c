#pragma once

#include <optional>
#include <vector>

#include "input/section.hpp"
#include "topology/fabric.hpp"

namespace trainyard::topology {

/// Leaves that share spines of their own.
using Pod = std::vector<int>;

/// What a [fabric] table says of the switches of a tree.
struct TreeShape {
  LinkKind link{};
  int ports = 0;                         ///< of a leaf
  int up = 0;                            ///< of them, to spines
  int spine_ports = 0;                   ///< of a spine or core
  int pod_leaves = 0;                    ///< at most; half a leaf's ports unless the file says
  double core_oversubscription = 1.0;    ///< of a spine, links to leaves over links to cores
  bool three = false;                    ///< the file asks for cores
  std::optional<input::Value> spines{};  ///< all of them
  std::optional<input::Value> cores{};
  bool merge = false;  ///< adaptive: the parallel switches of a tier are one
  input::Section place;

  [[nodiscard]] int down() const { return ports - up; }
};

/// Reads leaf_ports, uplinks or oversubscription, spine_ports, spines, cores, pod_leaves and
/// core_oversubscription.
/// @throws InputError, oversubscription below 1 among others
[[nodiscard]] TreeShape read_tree_shape(const input::Section& section, const LinkKind& link,
                                        bool merge);

/// Puts spines above leaves 0 .. leaves-1, which are in the fabric already, and cores above the
/// spines of several pods where a spine cannot reach all leaves.
/// @throws InputError where ports do not suffice
void add_tiers(Fabric& fabric, const TreeShape& shape, const std::vector<Pod>& pods, int leaves);

}  // namespace trainyard::topology
