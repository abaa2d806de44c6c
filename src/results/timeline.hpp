#pragma once

#include <string>

#include "simulation/outcome.hpp"

namespace trainyard::results {

/// Chrome/Perfetto trace of the first steps: a process a job, a thread a rank, times in us.
/// The first event says how many spans were left out.
[[nodiscard]] std::string timeline_json(const simulation::Outcome& outcome);

/// The same, gzipped without name and time: equal runs give equal bytes.
[[nodiscard]] std::string timeline_json_gz(const simulation::Outcome& outcome);

}  // namespace trainyard::results
