#pragma once

#include <string>
#include <vector>

#include "workload/importers/kineto_graph.hpp"
#include "workload/step.hpp"

namespace trainyard::workload {

/// One rank of the job with what its profile says of process groups.
struct RankProfile {
  std::string path{};
  const KinetoFile* file = nullptr;
  RankGraph graph{};  ///< timeline.rank is set
};

/// Fills Workload::groups and ::collectives and Op::collective of the timelines in `ranks`.
///
/// Ranks are matched by order within a communicator: the process group that the profile names, else
/// that of the nearest communication kernel on the same stream, else the n-th stream (by first use)
/// that carries communication, as a group of all ranks. `send` and `recv` with a named peer are
/// matched by order within the pair.
///
/// @throws InputError "ranks disagree on collective N of group G: ...": another operation, size or
///         number of calls. Sizes of an all-to-all may differ (uneven splits): the largest counts.
void match_collectives(std::vector<RankProfile>& ranks, Workload& workload);

/// The ranks in "[0, 1, 2]"; empty when the list is cut with an ellipsis or is no list.
[[nodiscard]] std::vector<int> parse_ranks(std::string_view text);

/// The last rank of a group that is told by start, stride and size; -1 if it is not.
[[nodiscard]] std::int64_t last_rank(const CommunicationInfo& info);

/// Bytes of one call as Collective::bytes defines them; nullopt when the profile does not say.
[[nodiscard]] std::optional<units::Bytes> collective_bytes(CollectiveOp op,
                                                           const CommunicationInfo& info,
                                                           std::size_t group_size);

}  // namespace trainyard::workload
