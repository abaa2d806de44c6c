// The same scenarios on SimGrid and on the own fluid network: nothing above the engine may depend
// on which of them moves the bytes.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

#include "engine/in_child.hpp"
#include "simulation/random_scenarios.hpp"
#include "simulation/run.hpp"

using namespace trainyard;
using namespace trainyard::simulation;

namespace {

/// Nanoseconds each job ran; -1: it has not ended.
std::string run_times(const Outcome& outcome) {
  std::string text;
  for (const JobOutcome& job : outcome.jobs) {
    text += fmt::format("{} ", job.end ? job.run.count() : -1);
  }
  return text;
}

bool has_contention(const Outcome& outcome) {
  return std::any_of(outcome.jobs.begin(), outcome.jobs.end(), [](const JobOutcome& job) {
    return job.alone &&
           static_cast<double>(job.run.count()) > 1.02 * static_cast<double>(job.alone->count());
  });
}

}  // namespace

TEST_CASE("SimGrid and the fluid network give the same run times", "[back-ends]") {
  int contended = 0;
  for (std::uint64_t seed = 1; contended < 5; ++seed) {
    REQUIRE(seed < 50);
    auto scenario = test::random_scenario(seed);
    scenario.detail = seed % 2 == 0 ? Detail::full : Detail::sampled;
    const Outcome fluid = run_on_fluid_network(scenario);
    if (!has_contention(fluid)) {
      continue;
    }
    ++contended;
    CAPTURE(seed);
    std::istringstream times{test::in_child([&] { return run_times(run(scenario)); })};
    for (const JobOutcome& job : fluid.jobs) {
      std::int64_t simgrid = 0;
      REQUIRE(times >> simgrid);
      REQUIRE(job.end);
      CHECK(static_cast<double>(simgrid) ==
            Approx(static_cast<double>(job.run.count())).epsilon(0.001));
    }
  }
}
