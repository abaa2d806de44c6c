#include "simulation/op_times.hpp"

#include <algorithm>
#include <optional>

namespace trainyard::simulation {
namespace {

using workload::OpKind;

/// `ends` null: collectives last as recorded.
std::vector<Interval> times_of(const workload::Timeline& timeline, std::int64_t start,
                               const std::vector<std::int64_t>* ends) {
  std::vector<Interval> times(timeline.ops.size());
  std::vector<std::int64_t> stream_end(timeline.streams.size(), start);
  std::size_t collectives = 0;
  for (std::size_t i = 0; i < timeline.ops.size(); ++i) {
    const workload::Op& op = timeline.ops[i];
    std::int64_t& previous = stream_end[static_cast<std::size_t>(op.stream)];
    std::int64_t begin = previous + op.gap.count();
    for (const auto& dependency : op.after) {
      begin = std::max(
          begin, times[static_cast<std::size_t>(dependency.op)].second + dependency.lag.count());
    }
    std::int64_t end = begin + op.duration.count();
    if (op.kind == OpKind::collective) {
      end = ends == nullptr ? begin + op.recorded.count() : (*ends)[collectives];
      ++collectives;
    }
    times[i] = {begin, end};
    previous = end;
  }
  return times;
}

}  // namespace

std::vector<Interval> op_times(const workload::Timeline& timeline, std::int64_t start,
                               const std::vector<std::int64_t>& collective_ends) {
  return times_of(timeline, start, &collective_ends);
}

std::vector<Interval> recorded_times(const workload::Timeline& timeline) {
  return times_of(timeline, 0, nullptr);
}

GpuUse gpu_use(const workload::Timeline& timeline, const std::vector<Interval>& times) {
  GpuUse use;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const OpKind kind = timeline.ops[i].kind;
    if (kind == OpKind::collective) {
      use.communication.push_back(times[i]);
    } else if (kind != OpKind::host && kind != OpKind::wait) {
      use.compute.push_back(times[i]);
    }
  }
  use.compute = united(std::move(use.compute));
  use.communication = united(std::move(use.communication));
  use.any = use.compute;
  use.any.insert(use.any.end(), use.communication.begin(), use.communication.end());
  use.any = united(std::move(use.any));
  return use;
}

std::vector<Interval> united(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end());
  std::vector<Interval> result;
  for (const Interval& next : intervals) {
    if (!result.empty() && next.first <= result.back().second) {
      result.back().second = std::max(result.back().second, next.second);
    } else {
      result.push_back(next);
    }
  }
  return result;
}

std::int64_t length(const std::vector<Interval>& disjoint) {
  std::int64_t sum = 0;
  for (const Interval& interval : disjoint) {
    sum += interval.second - interval.first;
  }
  return sum;
}

std::int64_t length_within(const std::vector<Interval>& disjoint, std::int64_t from,
                           std::int64_t to) {
  std::int64_t sum = 0;
  for (const Interval& interval : disjoint) {
    sum +=
        std::max<std::int64_t>(std::min(interval.second, to) - std::max(interval.first, from), 0);
  }
  return sum;
}

}  // namespace trainyard::simulation
