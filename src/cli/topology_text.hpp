#pragma once

#include <filesystem>
#include <string>

#include "cli/command.hpp"
#include "topology/cluster.hpp"

namespace trainyard::cli {

// What the topology commands have in common.

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

/// That a command may write there; asked before the work.
/// @throws InputError: a folder, no such folder, or a file that is there without `force`
void check_new_file(const std::filesystem::path& target, bool force);

}  // namespace trainyard::cli
