#pragma once

#include <string>

#include "results/metrics.hpp"
#include "simulation/outcome.hpp"
#include "simulation/scenario.hpp"

namespace trainyard::results {

/// A row a job; of long lists the first 20 and the last 5.
[[nodiscard]] std::string jobs_table(const simulation::Scenario& scenario,
                                     const simulation::Outcome& outcome, const Metrics& metrics);

/// The cluster and its most loaded links.
[[nodiscard]] std::string cluster_table(const simulation::Scenario& scenario,
                                        const simulation::Outcome& outcome, const Metrics& metrics);

}  // namespace trainyard::results
