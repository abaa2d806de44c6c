#include "simulation/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/network.hpp"
#include "simulation/alone_run.hpp"
#include "simulation/job_run.hpp"
#include "simulation/op_times.hpp"
#include "simulation/prepare.hpp"

namespace trainyard::simulation {
namespace {

using units::Nanoseconds;

/// Listens to a single job that nothing disturbs.
class Replay final : public JobListener {
 public:
  void step_done(int /*job*/, std::int64_t /*step*/, std::int64_t /*boundary*/) override {}
  void collective_started(int /*job*/, int /*collective*/, std::int64_t /*start*/) override {}
  void collective_ended(int /*job*/) override {}
  void run_ended(int /*job*/, std::int64_t /*end*/) override {}
  void collective_done(int /*job*/, int /*rank*/, int /*collective*/, std::int64_t /*arrival*/,
                       std::int64_t /*end*/) override {}
};

/// One recorded rank after the replay.
struct ReplayedRank {
  std::int64_t start = 0;
  std::vector<Interval> times{};
};

/// Runs the whole recorded window once as a job's only step; collectives share links where a rank
/// overlaps its own. The own fluid network serves: there is one job and it can be called at will.
std::vector<ReplayedRank> replay(const workload::Workload& workload, const Program& program,
                                 const std::vector<PlannedCollective>& planned,
                                 const topology::Cluster& cluster, int gpus, bool skewed) {
  const SharedLinks links = shared_links(cluster, overlaps_collectives(workload));
  const auto network = engine::make_fluid_network(links.resources);
  Traffic traffic{cluster, *network, links};
  Replay listener;
  JobRun run{0, program, gpus, traffic, *network, listener};
  traffic.join(0, planned);
  run.begin(0, 1, skewed);
  network->run();
  std::vector<ReplayedRank> ranks;
  for (int i = 0; i < run.classes(); ++i) {
    const auto& timeline = workload.timelines[static_cast<std::size_t>(i)];
    const std::int64_t start = skewed ? timeline.start.count() : 0;
    ranks.push_back({start, op_times(timeline, start, run.collective_ends(i))});
  }
  return ranks;
}

/// Begin and end of every marked step; the whole window where none is marked.
std::vector<Interval> marked_steps(const workload::Timeline& timeline,
                                   const std::vector<Interval>& times, std::int64_t start) {
  std::int64_t last = start;
  for (const Interval& time : times) {
    last = std::max(last, time.second);
  }
  std::vector<Interval> steps;
  for (const auto& mark : timeline.steps) {
    steps.emplace_back(mark.begin < 0 ? start : times[static_cast<std::size_t>(mark.begin)].second,
                       mark.end < 0 ? last : times[static_cast<std::size_t>(mark.end)].second);
  }
  if (steps.empty()) {
    steps.emplace_back(start, last);
  }
  return steps;
}

std::int64_t median(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

std::int64_t median_length(const std::vector<Interval>& intervals) {
  std::vector<std::int64_t> lengths;
  lengths.reserve(intervals.size());
  for (const Interval& interval : intervals) {
    lengths.push_back(interval.second - interval.first);
  }
  return median(std::move(lengths));
}

/// First start to last end of GPU work.
std::int64_t gpu_span(const GpuUse& use) {
  return use.any.empty() ? 0 : use.any.back().second - use.any.front().first;
}

/// Steps of all ranks laid over each other: from the first begin to the last end of each.
std::vector<Interval> joint_steps(const std::vector<std::vector<Interval>>& ranks) {
  std::vector<Interval> joint = ranks.front();
  for (const auto& steps : ranks) {
    joint.resize(std::min(joint.size(), steps.size()));
    for (std::size_t i = 0; i < joint.size(); ++i) {
      joint[i] = {std::min(joint[i].first, steps[i].first),
                  std::max(joint[i].second, steps[i].second)};
    }
  }
  return joint;
}

/// Sums over ranks and steps of what the GPUs did inside the steps.
struct Parts {
  std::int64_t steps = 0;
  std::int64_t compute = 0;
  std::int64_t exposed = 0;
  std::int64_t idle = 0;

  void add(const GpuUse& use, const Interval& step) {
    const std::int64_t busy = length_within(use.any, step.first, step.second);
    const std::int64_t computing = length_within(use.compute, step.first, step.second);
    ++steps;
    compute += computing;
    exposed += busy - computing;
    idle += step.second - step.first - busy;
  }
  [[nodiscard]] Nanoseconds mean(std::int64_t sum) const {
    return Nanoseconds{sum / std::max<std::int64_t>(steps, 1)};
  }
};

std::string busiest_link(const std::vector<PlannedCollective>& planned,
                         const topology::Cluster& cluster) {
  double most = 0.0;
  topology::LinkId busiest = -1;
  for (const LinkLoad& load : link_loads(planned, cluster)) {
    const double time = load.bytes / cluster.link(load.link).bandwidth.si();
    if (time > most * (1.0 + 1e-9)) {
      most = time;
      busiest = load.link;
    }
  }
  return busiest < 0 ? "" : cluster.link(busiest).name;
}

/// Durations of collectives by recorded rank, waiting included.
void fill_collectives(const workload::Workload& workload, const Program& program,
                      const std::vector<PlannedCollective>& planned,
                      const std::vector<ReplayedRank>& ranks, Prediction& result) {
  for (std::size_t k = 0; k < planned.size(); ++k) {
    PredictedCollective& row = result.collectives.emplace_back();
    row.collective = static_cast<int>(k);
    row.algorithm = planned[k].plan.algorithm;
    row.protocol = planned[k].plan.protocol;
    row.transfer = planned[k].alone;
    row.absent_wait = Nanoseconds{program.absent_wait[k]};
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto& ops = workload.timelines[i].ops;
    for (std::size_t op = 0; op < ops.size(); ++op) {
      if (ops[op].kind == workload::OpKind::collective) {
        auto& row = result.collectives[static_cast<std::size_t>(ops[op].collective)];
        const Interval& time = ranks[i].times[op];
        row.duration.emplace_back(time.second - time.first);
        row.recorded.push_back(ops[op].recorded);
      }
    }
  }
}

/// Pace of the representative step, repeated.
Nanoseconds steady_step(const workload::Workload& workload, const topology::Cluster& cluster,
                        const std::vector<topology::GpuId>& gpus, collective::Planner& planner) {
  const auto step = workload::only_step(workload, workload::representative_step(workload));
  std::vector<std::int64_t> alone;
  for (const auto& planned : plan_collectives(step, gpus, planner, cluster)) {
    alone.push_back(planned.alone.count());
  }
  const Program program = prepare(step, reference_times(step));
  return Nanoseconds{std::llround(alone_run(program, static_cast<int>(gpus.size()), alone).step)};
}

void add_notes(const workload::Workload& workload, std::size_t gpus, bool reference_known,
               Prediction& result) {
  if (workload.timelines.size() < gpus) {
    result.notes.push_back(
        fmt::format("{} of {} ranks were recorded; the others do the same work as a recorded one",
                    workload.timelines.size(), gpus));
    result.notes.emplace_back(
        reference_known
            ? "what a collective's recorded duration has beyond its transfer time on the "
              "machine it was measured on is kept as the wait for absent ranks"
            : "the machine it was measured on is not known: absent ranks arrive in time");
  }
  if (static_cast<int>(gpus) != workload.world_size) {
    result.notes.push_back(
        fmt::format("recorded on {} ranks, run on {}: the work of a rank is kept (weak scaling)",
                    workload.world_size, gpus));
  }
  const auto unknown = std::count_if(workload.collectives.begin(), workload.collectives.end(),
                                     [](const auto& call) { return !call.bytes; });
  if (unknown > 0) {
    result.notes.push_back(
        fmt::format("{} collectives of unknown size cost their latency only", unknown));
  }
}

}  // namespace

Prediction predict(const workload::Workload& workload, const topology::Cluster& cluster,
                   const std::vector<topology::GpuId>& gpus, const PredictOptions& options) {
  collective::Planner planner{cluster};
  const auto planned = plan_collectives(workload, gpus, planner, cluster);
  const auto reference = reference_times(workload);
  const Program program = prepare(workload, reference);
  const auto ranks =
      replay(workload, program, planned, cluster, static_cast<int>(gpus.size()), !options.aligned);
  Prediction result;
  Parts parts;
  std::vector<std::vector<Interval>> steps;
  std::vector<std::vector<Interval>> recorded_steps;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto& timeline = workload.timelines[i];
    const GpuUse use = gpu_use(timeline, ranks[i].times);
    steps.push_back(marked_steps(timeline, ranks[i].times, ranks[i].start));
    auto recorded = marked_steps(timeline, recorded_times(timeline), 0);
    for (Interval& step : recorded) {
      step.first += ranks[i].start;
      step.second += ranks[i].start;
    }
    recorded_steps.push_back(std::move(recorded));
    for (const Interval& step : steps.back()) {
      parts.add(use, step);
    }
    result.ranks.push_back(
        {timeline.rank, Nanoseconds{median_length(steps.back())}, Nanoseconds{gpu_span(use)}});
  }
  const auto joint = joint_steps(steps);
  result.step = Nanoseconds{median_length(joint)};
  result.makespan = Nanoseconds{joint.back().second - joint.front().first};
  result.recorded_step = Nanoseconds{median_length(joint_steps(recorded_steps))};
  result.compute = parts.mean(parts.compute);
  result.exposed_communication = parts.mean(parts.exposed);
  result.idle = parts.mean(parts.idle);
  result.steady_step = steady_step(workload, cluster, gpus, planner);
  if (workload.samples_per_step) {
    result.samples_per_second = *workload.samples_per_step * static_cast<double>(gpus.size()) /
                                workload.world_size / result.steady_step.seconds().si();
  }
  result.bottleneck_link = busiest_link(planned, cluster);
  fill_collectives(workload, program, planned, ranks, result);
  add_notes(workload, gpus.size(), !reference.empty(), result);
  return result;
}

}  // namespace trainyard::simulation
