#pragma once

#include "simulation/outcome.hpp"
#include "simulation/scenario.hpp"

namespace trainyard::test {

/// Two jobs on two nodes of four GPUs, times in whole seconds.
///
///     a: 4 GPUs, submitted 0, runs 0-10, 20 steps of 8 samples, all GPU time computing
///     b: 8 GPUs, submitted 2, waits for a (capacity), runs 10-30, 10 steps, half computing, a
///     quarter
///        communicating
[[nodiscard]] simulation::Outcome two_jobs();

/// The scenario around it.
[[nodiscard]] simulation::Scenario flat_scenario();

}  // namespace trainyard::test
