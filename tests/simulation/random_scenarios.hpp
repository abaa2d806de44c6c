#pragma once

#include "simulation/scenario.hpp"
#include "simulation/support.hpp"

namespace trainyard::test {

/// Jobs of different steps and sizes that meet on NICs. Every third scenario has jobs whose periods
/// differ by at most 2 %. Submits fall anywhere, so jobs start in the middle of others'
/// collectives.
[[nodiscard]] simulation::Scenario random_scenario(std::uint64_t seed);

}  // namespace trainyard::test
