#include "simulation/random_scenarios.hpp"

#include <cmath>

namespace trainyard::test {
namespace {

/// A step of `period` ns alone: compute, then one or two collectives, part of them overlapped.
workload::Workload random_periodic_step(Random& random, double period, int ranks, double rate) {
  const double share = random.between(0.1, 0.6);
  const double bytes = period * 1e-9 * share * rate * ranks / (2.0 * (ranks - 1));
  const auto compute = static_cast<std::int64_t>(period * (1.0 - share));
  StepBuilder builder;
  switch (random.below(3)) {
    case 0:
      builder.compute(compute).collective(bytes);
      break;
    case 1:
      builder.compute(compute / 3).collective(bytes / 2).compute(compute / 2).collective(bytes / 2);
      break;
    default:
      builder.compute(compute / 2)
          .collective_aside(bytes)
          .compute(compute / 2)
          .join()
          .compute(1000);
  }
  return builder.one_rank(ranks);
}

}  // namespace

simulation::Scenario random_scenario(std::uint64_t seed) {
  Random random{seed};
  const int nodes = 3 + static_cast<int>(random.below(4));
  // Filled from the left: jobs of five to seven GPUs on nodes of four meet on the NICs between
  // them.
  auto scenario = scenario_on(nic_cluster(nodes, 4), "placement = \"count\"");
  const double rate = nic_rate(*scenario.cluster);
  const bool alike = seed % 3 == 0;
  const double base = std::exp(random.between(std::log(5e6), std::log(500e6)));
  const int jobs = 2 + static_cast<int>(random.below(5));
  double submit = 0.0;
  for (int i = 0; i < jobs; ++i) {
    const double period = alike ? base * random.between(1.0, 1.02)
                                : std::exp(random.between(std::log(5e6), std::log(500e6)));
    const int gpus = 3 + static_cast<int>(random.below(5));
    const double run = std::exp(random.between(std::log(20.0), std::log(2000.0))) * base;
    const auto steps = static_cast<std::int64_t>(std::ceil(run / period));
    add_job(scenario, random_periodic_step(random, period, gpus, rate), gpus,
            static_cast<std::int64_t>(submit), steps);
    submit += random.between(0.0, 40.0) * base;
  }
  return scenario;
}

}  // namespace trainyard::test
