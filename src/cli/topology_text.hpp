#pragma once

#include <string>

#include "cli/command.hpp"
#include "topology/cluster.hpp"

namespace trainyard::cli {

// What the four topology commands have in common.

/// The positional argument T.
[[nodiscard]] Option topology_option();
/// The cluster that T names. @throws InputError
[[nodiscard]] topology::Cluster topology_argument(const Arguments& arguments);

/// "160 x a100-sxm4-40gb", several kinds by comma.
[[nodiscard]] std::string gpu_text(const topology::Cluster& cluster);
/// "20 nodes", "1 node"
[[nodiscard]] std::string counted(std::size_t count, std::string_view what);
/// NICs of all nodes.
[[nodiscard]] std::size_t nic_count(const topology::Cluster& cluster);

}  // namespace trainyard::cli
