#pragma once

#include <utility>
#include <vector>

#include "units/nanoseconds.hpp"

namespace trainyard::workload {

/// Half-open stretches of time [first, second).
using Intervals = std::vector<std::pair<units::Nanoseconds, units::Nanoseconds>>;

/// Sorted, disjoint intervals that cover the same instants; empty ones vanish.
[[nodiscard]] Intervals united(Intervals intervals);
[[nodiscard]] units::Nanoseconds length(const Intervals& disjoint);
/// Length of the instants that both cover. Both united.
[[nodiscard]] units::Nanoseconds common_length(const Intervals& a, const Intervals& b);

}  // namespace trainyard::workload
