#pragma once

#include <vector>

#include "collective/rings.hpp"
#include "topology/cluster.hpp"

namespace trainyard::collective {

/// What one ring between nodes does inside one of them: in by a NIC, through every member, out by
/// the same NIC. GPUs are local.
struct Chain {
  int nic = 0;
  Walk walk{};                  ///< members, each once; the first takes what the NIC receives
  bool leave_by_entry = false;  /// the last hands over to the first, which is nearer to the NIC
};

/// One chain a NIC, where NVLink allows on links of their own. `members` ascending; every NIC is
/// near one of them. The chain begins at a GPU near its NIC and ends at another such GPU, or at the
/// one with the shortest way to the NIC, or goes back over NVLink when that way is long (NCCL:
/// PXN).
[[nodiscard]] std::vector<Chain> node_chains(const topology::Cluster& cluster, int node,
                                             const std::vector<int>& members,
                                             const std::vector<int>& nics);

/// The same for the chain of a tree, which carries sums one way and results the other: from the GPU
/// at the NIC to wherever it ends.
[[nodiscard]] std::vector<Chain> tree_chains(const topology::Cluster& cluster, int node,
                                             const std::vector<int>& members,
                                             const std::vector<int>& nics);

}  // namespace trainyard::collective
