#include "workload/file_check.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace trainyard::workload {
namespace {

// No sum of times along a path may leave 64 bits.
constexpr std::int64_t kLongestTimeline = 4'000'000'000'000'000'000;

class Checker {
 public:
  Checker(const Workload& workload, const FileOffsets& offsets, const FailAt& fail)
      : workload_{workload}, offsets_{offsets}, fail_{fail} {}

  void check() {
    for (std::size_t i = 0; i < workload_.groups.size(); ++i) {
      check_group(workload_.groups[i], offsets_.groups[i]);
    }
    for (std::size_t i = 0; i < workload_.collectives.size(); ++i) {
      check_index(workload_.collectives[i].group, workload_.groups.size(), "group",
                  offsets_.collectives[i]);
    }
    int last_rank = -1;
    for (std::size_t i = 0; i < workload_.timelines.size(); ++i) {
      const Timeline& timeline = workload_.timelines[i];
      const std::size_t at = offsets_.timelines[i].self;
      if (timeline.rank <= last_rank || timeline.rank >= workload_.world_size) {
        fail_(at, fmt::format("'rank' must be below world_size {} and above the rank before, "
                              "got {}",
                              workload_.world_size, timeline.rank));
      }
      last_rank = timeline.rank;
      check_timeline(timeline, offsets_.timelines[i]);
    }
  }

 private:
  void check_index(int index, std::size_t size, std::string_view what, std::size_t at) const {
    if (index < 0 || static_cast<std::size_t>(index) >= size) {
      fail_(at, fmt::format("'{}' must be an index below {}, got {}", what, size, index));
    }
  }

  void check_group(const Group& group, std::size_t at) const {
    if (group.ranks.size() > static_cast<std::size_t>(workload_.world_size)) {
      fail_(at, fmt::format("the group has {} ranks, expected at most world_size {}",
                            group.ranks.size(), workload_.world_size));
    }
    std::vector<int> ranks = group.ranks;
    std::sort(ranks.begin(), ranks.end());
    const bool repeated = std::adjacent_find(ranks.begin(), ranks.end()) != ranks.end();
    if (ranks.empty() || repeated || ranks.back() >= workload_.world_size) {
      fail_(at, fmt::format("a group must have distinct ranks below world_size {}, got [{}]",
                            workload_.world_size, fmt::join(group.ranks, ", ")));
    }
  }

  void check_timeline(const Timeline& timeline, const FileOffsets::TimelineOffsets& offsets) const {
    std::vector<bool> used(workload_.collectives.size(), false);
    std::int64_t total = timeline.start.count();
    for (std::size_t i = 0; i < timeline.ops.size(); ++i) {
      const Op& op = timeline.ops[i];
      check_op(timeline, op, i, offsets.ops[i]);
      total = add_times(op, total, offsets.ops[i]);
      if (op.kind == OpKind::collective) {
        check_member(timeline, op, offsets.ops[i]);
        if (used[static_cast<std::size_t>(op.collective)]) {
          fail_(offsets.ops[i], fmt::format("the rank takes part in collective {} twice, expected "
                                            "once",
                                            op.collective));
        }
        used[static_cast<std::size_t>(op.collective)] = true;
      }
    }
    for (std::size_t i = 0; i < timeline.steps.size(); ++i) {
      check_mark(timeline, timeline.steps[i], offsets.steps[i]);
    }
  }

  [[nodiscard]] std::int64_t add_times(const Op& op, std::int64_t total, std::size_t at) const {
    std::int64_t longest = std::abs(op.gap.count()) + op.duration.count() + op.recorded.count();
    for (const Dependency& dependency : op.after) {
      longest += dependency.lag.count();
      if (longest > kLongestTimeline) {
        break;
      }
    }
    if (longest > kLongestTimeline - total) {
      fail_(at, "the times of the timeline add up to more than 126 years");
    }
    return total + longest;
  }

  void check_op(const Timeline& timeline, const Op& op, std::size_t index, std::size_t at) const {
    check_index(op.stream, timeline.streams.size(), "stream", at);
    const bool host = op.kind == OpKind::host || op.kind == OpKind::wait;
    if (timeline.streams[static_cast<std::size_t>(op.stream)].host != host) {
      fail_(at, fmt::format("an operation of kind {} must be on a {} stream", to_text(op.kind),
                            host ? "host" : "GPU"));
    }
    if (op.step >= 0) {
      check_index(op.step, timeline.steps.size(), "step", at);
    }
    if (op.name >= 0) {
      check_index(op.name, workload_.names.size(), "name", at);
    }
    for (const Dependency& dependency : op.after) {
      if (dependency.op < 0 || static_cast<std::size_t>(dependency.op) >= index) {
        fail_(at, fmt::format("'after' must name earlier operations (below {}), got {}", index,
                              dependency.op));
      }
    }
  }

  void check_member(const Timeline& timeline, const Op& op, std::size_t at) const {
    check_index(op.collective, workload_.collectives.size(), "collective", at);
    const Collective& collective = workload_.collectives[static_cast<std::size_t>(op.collective)];
    const Group& group = workload_.groups[static_cast<std::size_t>(collective.group)];
    if (std::find(group.ranks.begin(), group.ranks.end(), timeline.rank) == group.ranks.end()) {
      fail_(at, fmt::format("rank {} is not in group \"{}\" of collective {}", timeline.rank,
                            group.name, op.collective));
    }
  }

  void check_mark(const Timeline& timeline, const StepMark& mark, std::size_t at) const {
    for (const int op : {mark.begin, mark.end}) {
      if (op < 0) {
        continue;
      }
      check_index(op, timeline.ops.size(), op == mark.begin ? "begin" : "end", at);
      const Op& marker = timeline.ops[static_cast<std::size_t>(op)];
      if (marker.kind != OpKind::host || marker.duration != units::Nanoseconds{}) {
        fail_(at, fmt::format("a step is marked by host operations of duration 0, operation {} is "
                              "none",
                              op));
      }
    }
    if (mark.begin >= 0 && mark.end >= 0 && mark.begin >= mark.end) {
      fail_(at,
            fmt::format("a step must begin before it ends, got {} and {}", mark.begin, mark.end));
    }
  }

  const Workload& workload_;
  const FileOffsets& offsets_;
  const FailAt& fail_;
};

}  // namespace

void check_workload(const Workload& workload, const FileOffsets& offsets, const FailAt& fail) {
  Checker{workload, offsets, fail}.check();
}

}  // namespace trainyard::workload
