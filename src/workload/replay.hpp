#pragma once

#include <vector>

#include "workload/step.hpp"

namespace trainyard::workload {

/// Start and end of each op of a timeline, counted from its start.
struct OpTimes {
  std::vector<units::Nanoseconds> start{};
  std::vector<units::Nanoseconds> end{};
};

/// Replays one rank alone: collectives last as recorded (their waiting included), so a timeline as
/// imported gives the recorded times. With changed durations it is the longest path over the ops.
[[nodiscard]] OpTimes recorded_times(const Timeline& timeline);

/// Where a marked step begins and ends in a replay: the timeline's start or end without a marker.
[[nodiscard]] units::Nanoseconds step_begin(const StepMark& step, const OpTimes& times);
[[nodiscard]] units::Nanoseconds step_end(const StepMark& step, const OpTimes& times);

}  // namespace trainyard::workload
