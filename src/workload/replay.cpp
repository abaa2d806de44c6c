#include "workload/replay.hpp"

#include <algorithm>
#include <optional>

namespace trainyard::workload {

using units::Nanoseconds;

OpTimes recorded_times(const Timeline& timeline) {
  OpTimes times;
  times.start.reserve(timeline.ops.size());
  times.end.reserve(timeline.ops.size());
  std::vector<Nanoseconds> stream_end(timeline.streams.size());
  for (const Op& op : timeline.ops) {
    Nanoseconds& before = stream_end[static_cast<std::size_t>(op.stream)];
    Nanoseconds start = before + op.gap;
    for (const Dependency& dependency : op.after) {
      start = std::max(start, times.end[static_cast<std::size_t>(dependency.op)] + dependency.lag);
    }
    const Nanoseconds end = start + (op.kind == OpKind::collective ? op.recorded : op.duration);
    times.start.push_back(start);
    times.end.push_back(end);
    before = end;
  }
  return times;
}

Nanoseconds step_begin(const StepMark& step, const OpTimes& times) {
  return step.begin < 0 ? Nanoseconds{} : times.end[static_cast<std::size_t>(step.begin)];
}

Nanoseconds step_end(const StepMark& step, const OpTimes& times) {
  if (step.end >= 0) {
    return times.end[static_cast<std::size_t>(step.end)];
  }
  const auto last = std::max_element(times.end.begin(), times.end.end());
  return last == times.end.end() ? Nanoseconds{} : *last;
}

}  // namespace trainyard::workload
