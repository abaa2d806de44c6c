#pragma once

#include <vector>

#include "topology/cluster.hpp"
#include "workload/step.hpp"

namespace trainyard::collective {

/// Links that as many messages of a pairwise exchange cross.
struct EqualLoad {
  int messages = 0;
  std::vector<topology::LinkId> links{};  ///< ascending
};

/// What an exchange of equal messages puts on every link, most messages first.
///
/// all_to_all: from every rank to every other. gather, scatter: to, from the first rank. send_recv:
/// from every rank to the next in the group; of two ranks only from the first to the second.
[[nodiscard]] std::vector<EqualLoad> pairwise_loads(const topology::Cluster& cluster,
                                                    workload::CollectiveOp op,
                                                    const std::vector<topology::GpuId>& group);

}  // namespace trainyard::collective
