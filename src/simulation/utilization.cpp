#include "simulation/utilization.hpp"

#include <map>

namespace trainyard::simulation {
namespace {

/// Change of the cluster's state at one instant.
struct Change {
  int queued = 0;
  int queued_gpus = 0;
  int running = 0;
  double gpus = 0.0;
  double compute = 0.0;
  double communicating = 0.0;
};

/// Rounding of sums of changes must not show: an empty cluster is exactly idle.
double settled(double value) {
  return value < 1e-9 ? 0.0 : value;
}

void add_job(std::map<units::Nanoseconds, Change>& changes, const JobOutcome& job) {
  Change& submitted = changes[job.submit];
  ++submitted.queued;
  submitted.queued_gpus += job.gpus;
  if (!job.start) {
    return;
  }
  const auto run = static_cast<double>(job.run.count());
  const double compute = run > 0.0 ? job.compute_busy_ns / run : 0.0;
  const double communicating = run > 0.0 ? job.communicating_ns / run : 0.0;
  Change& started = changes[*job.start];
  --started.queued;
  started.queued_gpus -= job.gpus;
  ++started.running;
  started.gpus += job.gpus;
  started.compute += compute;
  started.communicating += communicating;
  if (job.end) {
    Change& ended = changes[*job.end];
    --ended.running;
    ended.gpus -= job.gpus;
    ended.compute -= compute;
    ended.communicating -= communicating;
  }
}

}  // namespace

std::vector<UtilizationRow> utilization_rows(const std::vector<JobOutcome>& jobs,
                                             units::Nanoseconds end) {
  std::map<units::Nanoseconds, Change> changes;
  for (const JobOutcome& job : jobs) {
    add_job(changes, job);
  }
  std::vector<UtilizationRow> rows;
  UtilizationRow state;
  for (const auto& [time, change] : changes) {
    if (time > end) {
      break;
    }
    state.time = time;
    state.queue_length += change.queued;
    state.queued_gpus += change.queued_gpus;
    state.running_jobs += change.running;
    state.allocated_gpus = settled(state.allocated_gpus + change.gpus);
    state.compute_busy_gpus = settled(state.compute_busy_gpus + change.compute);
    state.communicating_gpus = settled(state.communicating_gpus + change.communicating);
    state.busy_gpus = state.compute_busy_gpus + state.communicating_gpus;
    rows.push_back(state);
  }
  return rows;
}

}  // namespace trainyard::simulation
