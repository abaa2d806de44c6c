#pragma once

#include "input/error.hpp"
#include "topology/cluster.hpp"
#include "workload/step.hpp"

namespace trainyard::simulation {

/// Can the workload run on that many GPUs? Yes on as many as it was recorded on, and on any number
/// when all its collectives span all its ranks (each rank's work stays the same: weak scaling).
/// @throws InputError with both numbers
void check_gpu_count(const workload::Workload& workload, int gpus, const input::Place& place);

/// Does a rank's memory fit every GPU of the cluster? Unknown memory passes; the caller says so.
/// @throws InputError with both numbers
void check_memory(const workload::Workload& workload, const topology::Cluster& cluster,
                  const input::Place& place);

/// The same for a stated need of `name`.
void check_memory(std::string_view name, units::Bytes need, const topology::Cluster& cluster,
                  const input::Place& place);

}  // namespace trainyard::simulation
