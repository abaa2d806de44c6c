#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "workload/step.hpp"

namespace trainyard::collective {

/// "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all", "send_recv",
/// "gather", "scatter", "barrier", and as nccl-tests writes them: "alltoall", "sendrecv".
/// "alltoallv" is timed by its mean message, as all_to_all.
[[nodiscard]] std::optional<workload::CollectiveOp> parse_op(std::string_view text);

/// Message for a text that parse_op does not know.
[[nodiscard]] std::string unknown_op(std::string_view text);

/// Bus bandwidth / algorithm bandwidth of nccl-tests. @param ranks  at least 1
[[nodiscard]] double bus_factor(workload::CollectiveOp op, std::size_t ranks);

}  // namespace trainyard::collective
