#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "workload/step.hpp"

namespace trainyard::simulation {

using Interval = std::pair<std::int64_t, std::int64_t>;  ///< start and end, ns

/// Start and end of every operation from the ends of its collectives (in order of arrival), with
/// the timeline's window starting at `start`.
[[nodiscard]] std::vector<Interval> op_times(const workload::Timeline& timeline, std::int64_t start,
                                             const std::vector<std::int64_t>& collective_ends);

/// The same with every collective as long as it was recorded, window start 0.
[[nodiscard]] std::vector<Interval> recorded_times(const workload::Timeline& timeline);

/// When the GPU does what: sorted, disjoint intervals.
struct GpuUse {
  std::vector<Interval> compute{};        ///< kernels, copies and fills
  std::vector<Interval> communication{};  ///< collectives, waiting included
  std::vector<Interval> any{};
};
[[nodiscard]] GpuUse gpu_use(const workload::Timeline& timeline,
                             const std::vector<Interval>& times);

[[nodiscard]] std::vector<Interval> united(std::vector<Interval> intervals);
[[nodiscard]] std::int64_t length(const std::vector<Interval>& disjoint);
/// The part of sorted, disjoint intervals inside [from, to), its length.
[[nodiscard]] std::int64_t length_within(const std::vector<Interval>& disjoint, std::int64_t from,
                                         std::int64_t to);

}  // namespace trainyard::simulation
