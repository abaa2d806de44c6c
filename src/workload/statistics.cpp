#include <algorithm>
#include <charconv>
#include <map>

#include "workload/import.hpp"
#include "workload/intervals.hpp"
#include "workload/replay.hpp"

namespace trainyard::workload {
namespace {

using units::Nanoseconds;

// The device in a stream's name "gpu2:7"; 0 where the name has none.
int device_of(const Stream& stream) {
  int device = 0;
  if (stream.name.starts_with("gpu")) {
    const char* first = stream.name.data() + 3;
    std::from_chars(first, stream.name.data() + stream.name.size(), device);
  }
  return device;
}

/// Gathers one device of one rank.
struct Gatherer {
  int graph_run = -1;  ///< number of the name `kGraphRun`
  DeviceStatistics statistics{};
  Nanoseconds first = units::kForever;
  Nanoseconds last{};
  Intervals work{};
  Intervals compute{};
  Intervals communication{};

  void add(const Op& op, Nanoseconds start, Nanoseconds end) {
    first = std::min(first, start);
    last = std::max(last, end);
    work.emplace_back(start, end);
    const auto bytes = static_cast<std::int64_t>(op.bytes.value_or(units::Bytes{}).si());
    switch (op.kind) {
      case OpKind::copy:
        ++statistics.n_memcpy;
        statistics.memcpy += end - start;
        statistics.memcpy_bytes += bytes;
        return;
      case OpKind::fill:
        ++statistics.n_memset;
        statistics.memset += end - start;
        statistics.memset_bytes += bytes;
        return;
      case OpKind::collective:
        ++statistics.n_comm;
        statistics.comm_kernel += end - start;
        communication.emplace_back(start, end);
        break;
      default:
        if (op.name >= 0 && op.name == graph_run) {
          return;
        }
        compute.emplace_back(start, end);
        break;
    }
    ++statistics.n_kernels;
    statistics.kernel += end - start;
  }

  DeviceStatistics finish() {
    const Intervals all = united(std::move(work));
    const Intervals computing = united(std::move(compute));
    const Intervals communicating = united(std::move(communication));
    statistics.gpu_span = last - first;
    statistics.busy = length(all);
    statistics.idle = statistics.gpu_span - statistics.busy;
    statistics.compute_union = length(computing);
    statistics.comm_union = length(communicating);
    statistics.overlap = common_length(computing, communicating);
    statistics.exposed_comm = statistics.comm_union - statistics.overlap;
    return std::move(statistics);
  }
};

void add_rank(const Workload& workload, const Timeline& timeline, int graph_run,
              std::vector<DeviceStatistics>& all) {
  const OpTimes times = recorded_times(timeline);
  std::map<int, Gatherer> devices;
  for (std::size_t i = 0; i < timeline.ops.size(); ++i) {
    const Stream& stream = timeline.streams[static_cast<std::size_t>(timeline.ops[i].stream)];
    if (!stream.host) {
      devices.try_emplace(device_of(stream), Gatherer{graph_run})
          .first->second.add(timeline.ops[i], times.start[i], times.end[i]);
    }
  }
  for (auto& [device, gatherer] : devices) {
    DeviceStatistics statistics = gatherer.finish();
    statistics.rank = timeline.rank;
    statistics.device = device;
    statistics.gpu = workload.gpu;
    for (const StepMark& step : timeline.steps) {
      statistics.step.push_back(step_end(step, times) - step_begin(step, times));
    }
    statistics.n_steps = static_cast<std::int64_t>(timeline.steps.size());
    all.push_back(std::move(statistics));
  }
}

}  // namespace

std::vector<DeviceStatistics> statistics(const Workload& workload) {
  std::vector<DeviceStatistics> all;
  const auto graph_run = std::find(workload.names.begin(), workload.names.end(), kGraphRun);
  const int number =
      graph_run == workload.names.end() ? -1 : static_cast<int>(graph_run - workload.names.begin());
  for (const Timeline& timeline : workload.timelines) {
    add_rank(workload, timeline, number, all);
  }
  return all;
}

}  // namespace trainyard::workload
