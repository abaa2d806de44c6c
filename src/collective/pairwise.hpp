#pragma once

#include <vector>

#include "topology/cluster.hpp"
#include "workload/step.hpp"

namespace trainyard::collective {

/// Links that as many messages of a pairwise exchange cross.
struct EqualLoad {
  double messages = 0.0;
  std::vector<topology::LinkId> links{};  ///< ascending
};

/// Equal messages of one rank (position in the group) to another.
struct Messages {
  std::size_t from = 0;
  std::size_t to = 0;
  int count = 1;
};

/// What they put on every link, most first. Over the cluster's paths, but for GPUs of a node that
/// share no NVLink: there over each of the group's GPUs that joins the two best, in equal parts;
/// over PCIe where none does.
[[nodiscard]] std::vector<EqualLoad> message_loads(const topology::Cluster& cluster,
                                                   const std::vector<topology::GpuId>& group,
                                                   const std::vector<Messages>& messages);

/// Rates with which all flows of a shape end together, and unit_time from the slowest: a lightly
/// loaded link is busy all the time at a low rate, as it is when every rank goes through its peers
/// one after another. @param share  that the exchange reaches of its links
void set_even_rates(const topology::Cluster& cluster, double share, struct Shape& shape);

/// What an exchange of equal messages puts on every link, most messages first.
///
/// all_to_all: from every rank to every other. gather, scatter: to, from the first rank. send_recv:
/// from every rank to the next in the group; of two ranks only from the first to the second.
[[nodiscard]] std::vector<EqualLoad> pairwise_loads(const topology::Cluster& cluster,
                                                    workload::CollectiveOp op,
                                                    const std::vector<topology::GpuId>& group);

}  // namespace trainyard::collective
