// Sampled against full detail.
#include <catch2/catch.hpp>
#include <cmath>
#include <iostream>

#include "simulation/random_scenarios.hpp"
#include "simulation/run.hpp"

using namespace trainyard;
using namespace trainyard::simulation;

namespace {

struct Comparison {
  int jobs = 0;
  int covered = 0;
  double worst = 0.0;
  std::uint64_t worst_seed = 0;
  std::int64_t steps = 0;
  std::int64_t detailed = 0;
};

void compare(std::uint64_t seed, Comparison& total) {
  Scenario scenario = test::random_scenario(seed);
  scenario.detail = Detail::full;
  const Outcome full = run_on_fluid_network(scenario);
  scenario.detail = Detail::sampled;
  const Outcome sampled = run_on_fluid_network(scenario);
  for (std::size_t i = 0; i < full.jobs.size(); ++i) {
    const double truth = static_cast<double>(full.jobs[i].run.count());
    const double error = static_cast<double>(sampled.jobs[i].run.count()) / truth - 1.0;
    ++total.jobs;
    total.covered += std::abs(error) <= sampled.jobs[i].run_interval + 1e-9 ? 1 : 0;
    total.steps += sampled.jobs[i].steps;
    total.detailed += sampled.jobs[i].detailed_steps;
    CHECK(sampled.jobs[i].steps == full.jobs[i].steps);
    if (std::abs(error) > total.worst) {
      total.worst = std::abs(error);
      total.worst_seed = seed;
    }
  }
}

}  // namespace

TEST_CASE("sampled and full detail agree within 0.5 % on every job", "[sampling]") {
  Comparison total;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    compare(seed, total);
  }
  INFO("worst error " << total.worst << " in scenario " << total.worst_seed << ", covered "
                      << total.covered << " of " << total.jobs << ", detailed " << total.detailed
                      << " of " << total.steps << " steps");
  std::cout << "sampling: worst error " << total.worst << " (scenario " << total.worst_seed
            << "), interval covers " << total.covered << " of " << total.jobs << " jobs, "
            << total.detailed << " of " << total.steps << " steps in detail\n";
  CHECK(total.worst < 0.005);
  CHECK(total.covered >= 0.95 * total.jobs);
}
