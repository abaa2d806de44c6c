#pragma once

#include <cstdint>
#include <vector>

#include "simulation/program.hpp"

namespace trainyard::simulation {

/// How a job runs when nothing else is on its links: the first step's end, and the pace after that.
struct AloneRun {
  std::int64_t first_end = 0;  ///< ns from the start
  double step = 0.0;           ///< ns a step once it is even

  /// End of `steps` >= 1 steps, ns from the start.
  [[nodiscard]] std::int64_t end_of(std::int64_t steps) const;
};

/// Repeats the step with every collective taking its time alone, no events, until it grows evenly.
/// @param durations  ns, by workload collective
[[nodiscard]] AloneRun alone_run(const Program& program, int gpus,
                                 const std::vector<std::int64_t>& durations);

}  // namespace trainyard::simulation
