#pragma once

#include <string>

#include "topology/cluster.hpp"

namespace trainyard::topology {

/// The cluster as an SVG picture: its node types (NVLink, then PCIe) and its fabric, with a legend
/// of link kinds and their rates. The same cluster gives the same bytes.
[[nodiscard]] std::string plot_svg(const Cluster& cluster);

}  // namespace trainyard::topology
