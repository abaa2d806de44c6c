#pragma once

#include <string>
#include <vector>

#include "collective/constants.hpp"
#include "collective/pairwise.hpp"
#include "collective/plan.hpp"

namespace trainyard::collective {

/// An algorithm written down in MSCCL's XML: which rank sends how many chunks to which.
struct MscclAlgorithm {
  std::string name{};
  workload::CollectiveOp op = workload::CollectiveOp::all_reduce;
  std::size_t ranks = 0;
  int chunks = 1;  ///< equal parts of the call's bytes (nchunksperloop)
  std::size_t protocol = kSimple;
  std::vector<Messages> messages{};
  int depth = 0;  ///< messages one after another on the longest way
};

/// @throws InputError: not well-formed, unknown collective or protocol, ranks or chunks out of
///         range, a send without its receive, steps that wait for each other
[[nodiscard]] MscclAlgorithm read_msccl(const std::string& path);
[[nodiscard]] MscclAlgorithm parse_msccl(std::string_view text, const std::string& name);

/// The call as this algorithm runs it on the cluster's own paths.
/// @throws InputError at `place`: the group has another size
[[nodiscard]] Plan msccl_plan(const topology::Cluster& cluster, const MscclAlgorithm& algorithm,
                              units::Bytes bytes, const std::vector<topology::GpuId>& group,
                              const Constants& constants, const Software& software,
                              const input::Place& place);

}  // namespace trainyard::collective
