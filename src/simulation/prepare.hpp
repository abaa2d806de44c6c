#pragma once

#include <map>
#include <string>
#include <vector>

#include "collective/plan.hpp"
#include "simulation/program.hpp"
#include "simulation/traffic.hpp"
#include "topology/cluster.hpp"
#include "workload/step.hpp"

namespace trainyard::simulation {

/// Time alone of each collective of a workload on the node type it was measured on (the usual node
/// of its GPU), ns. Empty when that machine is not known.
[[nodiscard]] std::vector<std::int64_t> reference_times(const workload::Workload& workload);

/// Fuses a workload and fills in the ranks that were not recorded. What a collective's recorded
/// duration has beyond its transfer time on the machine it was measured on is the wait for them.
/// @param reference  see reference_times; empty: no wait is known, absent ranks arrive in time
[[nodiscard]] Program prepare(const workload::Workload& workload,
                              const std::vector<std::int64_t>& reference);

/// The GPUs of a collective's group when the job's rank r runs on gpus[r]. A group of all ranks
/// spans all GPUs of the job, however many it has.
[[nodiscard]] std::vector<topology::GpuId> group_gpus(const workload::Workload& workload, int group,
                                                      const std::vector<topology::GpuId>& gpus);

/// Plans every collective of a step for a job on given GPUs.
[[nodiscard]] std::vector<PlannedCollective> plan_collectives(
    const workload::Workload& workload, const std::vector<topology::GpuId>& gpus,
    collective::Planner& planner, const topology::Cluster& cluster);

/// Do two collectives of a step possibly overlap (a rank issues them on several streams)?
[[nodiscard]] bool overlaps_collectives(const workload::Workload& workload);

}  // namespace trainyard::simulation
