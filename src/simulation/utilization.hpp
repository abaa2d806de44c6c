#pragma once

#include <vector>

#include "simulation/outcome.hpp"

namespace trainyard::simulation {

/// The cluster's state over time from the jobs' outcomes: a row each time a job is submitted,
/// starts or ends. A job's busy GPUs are its mean over its own life. `end`: when the simulation
/// stopped.
[[nodiscard]] std::vector<UtilizationRow> utilization_rows(const std::vector<JobOutcome>& jobs,
                                                           units::Nanoseconds end);

}  // namespace trainyard::simulation
