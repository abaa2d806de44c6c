#include "workload/step.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>

#include "workload/replay.hpp"

namespace trainyard::workload {
namespace {

using units::Nanoseconds;

constexpr std::array<const char*, 6> kOpKinds{"compute",    "copy", "fill",
                                              "collective", "host", "wait"};
constexpr std::array<const char*, 5> kCategories{"gemm", "conv", "attention", "memory-bound",
                                                 "other"};
constexpr std::array<const char*, 5> kCopyKinds{"h2d", "d2h", "d2d", "p2p", "unknown"};
constexpr std::array<const char*, 10> kCollectiveOps{
    "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",
    "all_to_all", "send_recv",  "gather",         "scatter",   "barrier"};

// "all_reduce", "all-reduce" and "allreduce" are one name.
std::string without_separators(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c != '_' && c != '-') {
      result.push_back(c);
    }
  }
  return result;
}

// The steps that every rank has; they are matched by their index.
int common_steps(const Workload& workload) {
  std::size_t count = std::numeric_limits<std::size_t>::max();
  for (const Timeline& timeline : workload.timelines) {
    count = std::min(count, timeline.steps.size());
  }
  return workload.timelines.empty() ? 0 : static_cast<int>(count);
}

/// Cuts one timeline to one step.
class StepCutter {
 public:
  StepCutter(const Timeline& from, int step)
      : from_{from}, step_{step}, times_{recorded_times(from)} {}

  Timeline cut() {
    assert(static_cast<std::size_t>(step_) < from_.steps.size());
    const StepMark& mark = from_.steps[static_cast<std::size_t>(step_)];
    begin_ = step_begin(mark, times_);
    Timeline to;
    to.rank = from_.rank;
    to.start = from_.start + begin_;
    to.streams = from_.streams;
    number_.assign(from_.ops.size(), -1);
    seen_.assign(from_.streams.size(), false);
    last_.assign(from_.streams.size(), -1);
    for (std::size_t i = 0; i < from_.ops.size(); ++i) {
      if (from_.ops[i].step == step_) {
        number_[i] = static_cast<int>(to.ops.size());
        to.ops.push_back(cut_op(i));
      }
      last_[static_cast<std::size_t>(from_.ops[i].stream)] = static_cast<int>(i);
    }
    to.steps.push_back({mark.name, renumber(mark.begin), renumber(mark.end)});
    return to;
  }

 private:
  [[nodiscard]] int renumber(int op) const {
    return op < 0 ? -1 : number_[static_cast<std::size_t>(op)];
  }

  Op cut_op(std::size_t index) {
    Op op = from_.ops[index];
    const auto stream = static_cast<std::size_t>(op.stream);
    op.step = 0;
    std::vector<Dependency> kept;
    for (const Dependency& dependency : op.after) {
      if (const int number = renumber(dependency.op); number >= 0) {
        kept.push_back({number, dependency.lag});
      }
    }
    op.after = std::move(kept);
    if (!seen_[stream] && op.after.empty()) {
      make_first(index, op);
    }
    seen_[stream] = true;
    return op;
  }

  // The first op of a stream counts from the end of the stream's last op in the step before, or
  // from the start of the step when the stream had ended by then. Host time before the step is not
  // the step's.
  void make_first(std::size_t index, Op& op) const {
    const int last = last_[static_cast<std::size_t>(op.stream)];
    Nanoseconds from = begin_;
    if (last >= 0) {
      from = std::max(from, times_.end[static_cast<std::size_t>(last)]);
    }
    const Nanoseconds start = times_.start[index];
    if (start >= from) {
      op.gap = start - from;
    } else if (from_.streams[static_cast<std::size_t>(op.stream)].host) {
      op.gap = {};
      op.duration = std::max(Nanoseconds{}, op.duration - (from - start));
    } else {
      op.gap = {};
    }
  }

  const Timeline& from_;
  int step_;
  OpTimes times_;
  Nanoseconds begin_{};
  std::vector<int> number_{};
  std::vector<bool> seen_{};
  std::vector<int> last_{};
};

// Collectives and groups of the cut in their old order, numbered anew.
void renumber_collectives(const Workload& from, Workload& to) {
  std::vector<int> number(from.collectives.size(), -1);
  for (const Timeline& timeline : to.timelines) {
    for (const Op& op : timeline.ops) {
      if (op.collective >= 0) {
        number[static_cast<std::size_t>(op.collective)] = 0;
      }
    }
  }
  to.collectives.clear();
  std::vector<int> sequence(from.groups.size(), 0);
  for (std::size_t i = 0; i < from.collectives.size(); ++i) {
    if (number[i] < 0) {
      continue;
    }
    number[i] = static_cast<int>(to.collectives.size());
    Collective collective = from.collectives[i];
    collective.step = 0;
    collective.sequence = sequence[static_cast<std::size_t>(collective.group)]++;
    to.collectives.push_back(collective);
  }
  for (Timeline& timeline : to.timelines) {
    for (Op& op : timeline.ops) {
      if (op.collective >= 0) {
        op.collective = number[static_cast<std::size_t>(op.collective)];
      }
    }
  }
}

}  // namespace

const char* to_text(OpKind kind) {
  return kOpKinds[static_cast<std::size_t>(kind)];
}
const char* to_text(Category category) {
  return kCategories[static_cast<std::size_t>(category)];
}
const char* to_text(CopyKind kind) {
  return kCopyKinds[static_cast<std::size_t>(kind)];
}
const char* to_text(CollectiveOp op) {
  return kCollectiveOps[static_cast<std::size_t>(op)];
}

std::optional<CollectiveOp> parse_collective_op(std::string_view text) {
  const std::string wanted = without_separators(text);
  for (std::size_t i = 0; i < kCollectiveOps.size(); ++i) {
    if (wanted == without_separators(kCollectiveOps[i])) {
      return static_cast<CollectiveOp>(i);
    }
  }
  return std::nullopt;
}

int representative_step(const Workload& workload) {
  const int count = common_steps(workload);
  if (count == 0) {
    return -1;
  }
  std::vector<std::pair<Nanoseconds, int>> slowest(static_cast<std::size_t>(count));
  for (int step = 0; step < count; ++step) {
    slowest[static_cast<std::size_t>(step)].second = step;
  }
  for (const Timeline& timeline : workload.timelines) {
    const OpTimes times = recorded_times(timeline);
    for (auto& [duration, step] : slowest) {
      const StepMark& mark = timeline.steps[static_cast<std::size_t>(step)];
      duration = std::max(duration, step_end(mark, times) - step_begin(mark, times));
    }
  }
  std::sort(slowest.begin(), slowest.end());
  return slowest[(slowest.size() - 1) / 2].second;
}

Workload only_step(const Workload& workload, int step) {
  Workload result = workload;
  if (step < 0) {
    return result;
  }
  result.timelines.clear();
  Nanoseconds first = units::kForever;
  for (const Timeline& timeline : workload.timelines) {
    result.timelines.push_back(StepCutter{timeline, step}.cut());
    first = std::min(first, result.timelines.back().start);
  }
  for (Timeline& timeline : result.timelines) {
    timeline.start -= first;
  }
  renumber_collectives(workload, result);
  return result;
}

}  // namespace trainyard::workload
