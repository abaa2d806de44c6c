#include "results/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace trainyard::results {
namespace {

using simulation::JobOutcome;

/// Divided, not multiplied: 30000000000 ns is 30 s to the last bit.
double seconds(units::Nanoseconds time) {
  return static_cast<double>(time.count()) / 1e9;
}

Spread spread(const std::vector<double>& values) {
  Spread result;
  result.count = values.size();
  if (!values.empty()) {
    result.mean =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    result.p50 = percentile(values, 0.50);
    result.p95 = percentile(values, 0.95);
    result.p99 = percentile(values, 0.99);
  }
  return result;
}

/// Jobs in the system when each job is submitted, itself included.
std::vector<int> company(const std::vector<JobOutcome>& jobs) {
  std::vector<units::Nanoseconds> submits;
  std::vector<units::Nanoseconds> ends;
  for (const JobOutcome& job : jobs) {
    submits.push_back(job.submit);
    ends.push_back(job.end.value_or(units::kForever));
  }
  std::sort(submits.begin(), submits.end());
  std::sort(ends.begin(), ends.end());
  std::vector<int> result;
  for (const JobOutcome& job : jobs) {
    const auto came = std::upper_bound(submits.begin(), submits.end(), job.submit);
    const auto gone = std::upper_bound(ends.begin(), ends.end(), job.submit);
    result.push_back(static_cast<int>((came - submits.begin()) - (gone - ends.begin())));
  }
  return result;
}

JobMetrics measure_job(const JobOutcome& job, int in_system) {
  JobMetrics result;
  result.run = seconds(job.run);
  for (const auto& [reason, time] : job.waits) {
    result.wait += seconds(time);
  }
  if (job.steps > 0 && result.run > 0.0) {
    result.throughput = job.samples.value_or(static_cast<double>(job.steps)) / result.run;
    result.step_ms = result.run * 1e3 / static_cast<double>(job.steps);
  }
  if (job.end) {
    result.jct = seconds(*job.end - job.submit);
    if (job.alone && job.alone->count() > 0) {
      result.slowdown = *result.jct / seconds(*job.alone);
    }
    if (result.run > 0.0) {
      result.rho = *result.jct / (result.run * std::max(in_system, 1));
    }
  }
  return result;
}

ClusterMetrics measure_cluster(const simulation::Outcome& outcome,
                               const std::vector<JobMetrics>& jobs) {
  ClusterMetrics cluster;
  cluster.makespan = seconds(outcome.last_end - outcome.first_submit);
  const double capacity = cluster.makespan * outcome.cluster_gpus;
  std::vector<double> jct;
  std::vector<double> wait;
  std::vector<double> run;
  double rho = 0.0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const JobOutcome& job = outcome.jobs[i];
    if (capacity > 0.0) {
      const double held = seconds(job.run) * job.gpus / capacity;
      cluster.allocation += held;
      cluster.goodput += held;  // nothing is lost or restarted in this version
      cluster.compute_busy += job.compute_busy_ns * 1e-9 / capacity;
      cluster.busy += (job.compute_busy_ns + job.communicating_ns) * 1e-9 / capacity;
    }
    if (jobs[i].jct) {
      ++cluster.jobs_ended;
      jct.push_back(*jobs[i].jct);
      wait.push_back(jobs[i].wait);
      run.push_back(jobs[i].run);
      rho += jobs[i].rho.value_or(0.0);
    }
  }
  cluster.jct = spread(jct);
  cluster.wait = spread(wait);
  cluster.run = spread(run);
  if (cluster.jobs_ended > 0) {
    cluster.rho_mean = rho / cluster.jobs_ended;
  }
  return cluster;
}

}  // namespace

double percentile(std::vector<double> values, double share) {
  if (values.empty()) {
    return 0.0;
  }
  std::sort(values.begin(), values.end());
  const double position = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (position - std::floor(position)) * (values[above] - values[below]);
}

Metrics measure(const simulation::Outcome& outcome) {
  Metrics metrics;
  const auto in_system = company(outcome.jobs);
  for (std::size_t i = 0; i < outcome.jobs.size(); ++i) {
    metrics.jobs.push_back(measure_job(outcome.jobs[i], in_system[i]));
  }
  metrics.cluster = measure_cluster(outcome, metrics.jobs);
  return metrics;
}

}  // namespace trainyard::results
