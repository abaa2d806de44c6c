#pragma once

#include <map>
#include <string>

#include "results/metrics.hpp"
#include "simulation/outcome.hpp"
#include "simulation/scenario.hpp"

namespace trainyard::results {

/// A results folder in memory: file name to bytes. Deterministic: no wall time, no absolute path.
using Files = std::map<std::string, std::string>;

/// Every file that has content. docs/results.md says what is in each.
[[nodiscard]] Files make_files(const simulation::Scenario& scenario,
                               const simulation::Outcome& outcome, const Metrics& metrics);

/// summary.json alone: what `run --format json` prints.
[[nodiscard]] std::string summary_json(const simulation::Scenario& scenario,
                                       const simulation::Outcome& outcome, const Metrics& metrics);

/// GPUs by node, runs shortened: "node0:0-7 node1:0-3". `cluster` gives nodes and first GPUs.
[[nodiscard]] std::string placement_text(const std::vector<topology::GpuId>& gpus,
                                         const topology::Cluster& cluster);

/// Mean use of a link over the makespan, as a share of its effective bandwidth.
[[nodiscard]] double mean_utilization(const simulation::LinkRow& row,
                                      const topology::Cluster& cluster, double makespan);

}  // namespace trainyard::results
