#pragma once

#include <string>

#include "results/metrics.hpp"
#include "simulation/outcome.hpp"
#include "simulation/scenario.hpp"

namespace trainyard::results {

[[nodiscard]] std::string jobs_csv(const simulation::Outcome& outcome, const Metrics& metrics,
                                   const topology::Cluster& cluster);
[[nodiscard]] std::string utilization_csv(const simulation::Outcome& outcome);
[[nodiscard]] std::string decisions_csv(const simulation::Outcome& outcome);
[[nodiscard]] std::string queues_csv(const simulation::Outcome& outcome);
[[nodiscard]] std::string links_csv(const simulation::Outcome& outcome, const Metrics& metrics,
                                    const topology::Cluster& cluster);

}  // namespace trainyard::results
