#include "workload/importers/kineto_links.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "workload/importers/kernel_names.hpp"

namespace trainyard::workload {
namespace {

class Linker {
 public:
  explicit Linker(const KinetoFile& file) : file_{file} {}

  Links link() {
    for (const std::string_view name : file_.names) {
      links_.communicates.push_back(is_communication_kernel(name) ? 1 : 0);
    }
    make_lanes();
    find_launches();
    sort_ops();
    find_ranges();
    find_syncs();
    mark_waits();
    return std::move(links_);
  }

 private:
  void make_lanes() {
    std::vector<std::pair<int, std::int64_t>> keys;
    keys.reserve(file_.gpu.size());
    for (const GpuEvent& event : file_.gpu) {
      keys.emplace_back(event.device, event.stream);
    }
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    for (const auto& [device, stream] : keys) {
      links_.lanes.push_back({device, stream, {}});
    }
  }

  // The call of each correlation id. Two calls may share one (a runtime call around a driver call):
  // the outer one, which starts first.
  void find_launches() {
    calls_.reserve(file_.calls.size());
    for (std::size_t i = 0; i < file_.calls.size(); ++i) {
      const auto call = static_cast<int>(i);
      if (file_.calls[i].correlation == 0) {
        continue;
      }
      const auto [found, is_new] = calls_.try_emplace(file_.calls[i].correlation, call);
      if (!is_new && before(call, found->second)) {
        found->second = call;
      }
    }
  }

  [[nodiscard]] bool before(int a, int b) const {
    const HostCall& left = file_.calls[static_cast<std::size_t>(a)];
    const HostCall& right = file_.calls[static_cast<std::size_t>(b)];
    return std::tuple{left.start, -left.end, left.correlation} <
           std::tuple{right.start, -right.end, right.correlation};
  }

  [[nodiscard]] int call_of(std::int64_t correlation) const {
    const auto found = calls_.find(correlation);
    return found == calls_.end() ? -1 : found->second;
  }

  void sort_ops() {
    links_.launches.resize(file_.calls.size());
    for (std::size_t i = 0; i < file_.gpu.size(); ++i) {
      const GpuEvent& event = file_.gpu[i];
      GpuOp op;
      op.event = static_cast<int>(i);
      op.lane = links_.find_lane(event.device, event.stream);
      op.start = event.start;
      op.end = event.start + event.duration;
      op.launch = call_of(event.correlation);
      op.launched =
          op.launch < 0 ? op.start : file_.calls[static_cast<std::size_t>(op.launch)].start;
      links_.ops.push_back(op);
    }
    std::sort(links_.ops.begin(), links_.ops.end(), [&](const GpuOp& a, const GpuOp& b) {
      const auto key = [&](const GpuOp& op) {
        const GpuEvent& event = file_.gpu[static_cast<std::size_t>(op.event)];
        return std::tuple{op.start, op.lane, op.end, event.correlation,
                          file_.names[static_cast<std::size_t>(event.name)]};
      };
      return key(a) < key(b);
    });
    for (std::size_t i = 0; i < links_.ops.size(); ++i) {
      const GpuOp& op = links_.ops[i];
      links_.lanes[static_cast<std::size_t>(op.lane)].by_launch.push_back(static_cast<int>(i));
      if (op.launch >= 0) {
        links_.launches[static_cast<std::size_t>(op.launch)].push_back(static_cast<int>(i));
      } else {
        ++links_.without_launch;
      }
    }
    for (Lane& lane : links_.lanes) {
      std::stable_sort(lane.by_launch.begin(), lane.by_launch.end(), [&](int a, int b) {
        return links_.ops[static_cast<std::size_t>(a)].launched <
               links_.ops[static_cast<std::size_t>(b)].launched;
      });
    }
  }

  [[nodiscard]] const CommunicationRange& range(int index) const {
    return file_.ranges[static_cast<std::size_t>(index)];
  }

  /// Indices of the ranges by thread and start, the enclosing ones first.
  [[nodiscard]] std::vector<int> sorted_ranges() const {
    std::vector<int> order(file_.ranges.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      return std::tuple{range(a).thread, range(a).start, -range(a).end} <
             std::tuple{range(b).thread, range(b).start, -range(b).end};
    });
    return order;
  }

  void find_ranges() {
    const std::vector<int> order = sorted_ranges();
    links_.range_of.assign(links_.ops.size(), -1);
    links_.outer_range_of.assign(links_.ops.size(), -1);
    for (std::size_t i = 0; i < links_.ops.size(); ++i) {
      const GpuOp& op = links_.ops[i];
      if (op.launch >= 0 && is_communication(op)) {
        find_ranges_around(order, i, file_.calls[static_cast<std::size_t>(op.launch)]);
      }
    }
  }

  // Two or three ranges enclose each other, so few steps back from the call find them all.
  void find_ranges_around(const std::vector<int>& order, std::size_t op, const HostCall& call) {
    static constexpr int kNesting = 16;
    auto at =
        std::upper_bound(order.begin(), order.end(), std::tuple{call.thread, call.start},
                         [&](const auto& wanted, int index) {
                           return wanted < std::tuple{range(index).thread, range(index).start};
                         });
    for (int steps = 0; at != order.begin() && steps < kNesting; ++steps) {
      --at;
      if (range(*at).thread != call.thread) {
        break;
      }
      if (range(*at).end >= call.start) {
        links_.range_of[op] = links_.range_of[op] < 0 ? *at : links_.range_of[op];
        links_.outer_range_of[op] = *at;
      }
    }
  }

  [[nodiscard]] bool is_communication(const GpuOp& op) const {
    const GpuEvent& event = file_.gpu[static_cast<std::size_t>(op.event)];
    return event.work == GpuWork::kernel &&
           links_.communicates[static_cast<std::size_t>(event.name)] != 0;
  }

  void find_syncs() {
    links_.sync_of.assign(file_.calls.size(), -1);
    for (std::size_t i = 0; i < file_.syncs.size(); ++i) {
      links_.recorder_of.push_back(call_of(file_.syncs[i].record_correlation));
      const int call = call_of(file_.syncs[i].correlation);
      if (call >= 0) {
        links_.sync_of[static_cast<std::size_t>(call)] = static_cast<int>(i);
      }
    }
  }

  // A stream-wait with both streams on record affects exactly one lane.
  bool add_known_wait(std::size_t call) {
    const int index = links_.sync_of[call];
    if (index < 0) {
      return false;
    }
    const SyncRecord& record = file_.syncs[static_cast<std::size_t>(index)];
    if (record.kind != SyncKind::stream_waits) {
      return false;
    }
    const int lane = links_.find_lane(record.device, record.stream);
    const int source = links_.find_lane(record.device, record.source);
    if (lane >= 0 && source >= 0) {
      const std::int64_t time = file_.calls[call].start;
      const int recorder = links_.recorder_of[static_cast<std::size_t>(index)];
      links_.known_waits.push_back(
          {lane, source, time,
           recorder < 0 ? time : file_.calls[static_cast<std::size_t>(recorder)].start});
    }
    return true;
  }

  // [launch, end of the outermost range]: waits in between belong to the communication library.
  struct Closed {
    int thread = 0;
    std::int64_t after = 0;
    std::int64_t until = 0;
  };

  [[nodiscard]] std::vector<Closed> library_intervals() const {
    std::vector<Closed> intervals;
    for (std::size_t i = 0; i < links_.ops.size(); ++i) {
      const int range = links_.outer_range_of[i];
      if (range >= 0) {
        const HostCall& call = file_.calls[static_cast<std::size_t>(links_.ops[i].launch)];
        intervals.push_back(
            {call.thread, call.start, file_.ranges[static_cast<std::size_t>(range)].end});
      }
    }
    std::sort(intervals.begin(), intervals.end(), [](const Closed& a, const Closed& b) {
      return std::tuple{a.thread, a.after, a.until} < std::tuple{b.thread, b.after, b.until};
    });
    return intervals;
  }

  static bool inside(const std::vector<Closed>& intervals, const HostCall& call) {
    const auto after = std::upper_bound(
        intervals.begin(), intervals.end(), call, [](const HostCall& wait, const Closed& closed) {
          return std::tuple{wait.thread, wait.start} < std::tuple{closed.thread, closed.after};
        });
    if (after == intervals.begin()) {
      return false;
    }
    const Closed& closed = *(after - 1);
    return closed.thread == call.thread && call.start <= closed.until;
  }

  void mark_waits() {
    const std::vector<Closed> intervals = library_intervals();
    std::vector<std::int64_t>& waits = links_.waits;
    for (std::size_t i = 0; i < file_.calls.size(); ++i) {
      const HostCall& call = file_.calls[i];
      if (call.kind == CallKind::stream_wait && !add_known_wait(i) && !inside(intervals, call)) {
        waits.push_back(call.start);
      }
    }
    std::sort(waits.begin(), waits.end());
    std::sort(links_.known_waits.begin(), links_.known_waits.end(),
              [](const KnownWait& a, const KnownWait& b) {
                return std::tuple{a.lane, a.time, a.source} < std::tuple{b.lane, b.time, b.source};
              });
    std::vector<std::pair<std::int64_t, int>> launches;
    for (std::size_t i = 0; i < links_.launches.size(); ++i) {
      if (!links_.launches[i].empty()) {
        launches.emplace_back(file_.calls[i].start, static_cast<int>(i));
      }
    }
    std::sort(launches.begin(), launches.end(),
              [&](const auto& a, const auto& b) { return before(a.second, b.second); });
    for (const std::int64_t wait : waits) {
      const auto next = std::lower_bound(
          launches.begin(), launches.end(), wait,
          [](const auto& launch, std::int64_t time) { return launch.first < time; });
      if (next == launches.end()) {
        continue;
      }
      for (const int op : links_.launches[static_cast<std::size_t>(next->second)]) {
        links_.ops[static_cast<std::size_t>(op)].waits = true;
      }
    }
  }

  const KinetoFile& file_;
  Links links_{};
  std::unordered_map<std::int64_t, int> calls_{};
};

}  // namespace

int Links::find_lane(int device, std::int64_t stream) const {
  const auto found = std::lower_bound(lanes.begin(), lanes.end(), std::pair{device, stream},
                                      [](const Lane& lane, const auto& key) {
                                        return std::pair{lane.device, lane.stream} < key;
                                      });
  if (found == lanes.end() || found->device != device || found->stream != stream) {
    return -1;
  }
  return static_cast<int>(found - lanes.begin());
}

namespace {

std::size_t launched_count(const Links& links, const Lane& lane, std::int64_t launched_before) {
  const auto end = std::partition_point(lane.by_launch.begin(), lane.by_launch.end(), [&](int op) {
    return links.ops[static_cast<std::size_t>(op)].launched < launched_before;
  });
  return static_cast<std::size_t>(end - lane.by_launch.begin());
}

}  // namespace

int Links::latest_ended(int lane, std::int64_t launched_before, std::int64_t ended_by,
                        const std::vector<int>& emitted) const {
  const Lane& stream = lanes[static_cast<std::size_t>(lane)];
  for (std::size_t i = launched_count(*this, stream, launched_before); i > 0; --i) {
    const int op = stream.by_launch[i - 1];
    if (ops[static_cast<std::size_t>(op)].end <= ended_by &&
        emitted[static_cast<std::size_t>(op)] >= 0) {
      return op;
    }
  }
  return -1;
}

int Links::last_launched(int lane, std::int64_t launched_before) const {
  const Lane& stream = lanes[static_cast<std::size_t>(lane)];
  const std::size_t count = launched_count(*this, stream, launched_before);
  return count == 0 ? -1 : stream.by_launch[count - 1];
}

Links link(const KinetoFile& file) {
  return Linker{file}.link();
}

}  // namespace trainyard::workload
