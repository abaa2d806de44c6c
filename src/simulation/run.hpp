#pragma once

#include "simulation/outcome.hpp"
#include "simulation/scenario.hpp"

namespace trainyard::simulation {

/// Simulates a scenario on SimGrid: submits, scheduling passes, steps with contention, ends. One
/// call a process (SimGrid's limit); deterministic. At one instant ends come first, then submits,
/// then one scheduling pass.
[[nodiscard]] Outcome run(const Scenario& scenario);

/// The same on the own fluid network, any number of times a process: tests and cross-checks.
[[nodiscard]] Outcome run_on_fluid_network(const Scenario& scenario);

}  // namespace trainyard::simulation
