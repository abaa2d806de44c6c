#include "results/csv_files.hpp"

#include <fmt/format.h>

#include <map>

#include "input/csv.hpp"
#include "results/files.hpp"
#include "units/text.hpp"

namespace trainyard::results {
namespace {

using input::csv_cell;
using units::to_decimal;
using units::to_decimal_seconds;

/// Wait reasons in the order of the contract: the first that applies is charged.
constexpr const char* kReasons[] = {"quota",    "order",         "reservation", "capacity",
                                    "topology", "fragmentation", "repair"};

std::string cell(const std::optional<double>& value) {
  return value ? to_decimal(*value) : "";
}

std::string seconds_cell(const std::optional<units::Nanoseconds>& time) {
  return time ? to_decimal_seconds(*time) : "";
}

units::Nanoseconds total_wait(const simulation::JobOutcome& job) {
  units::Nanoseconds sum;
  for (const auto& [reason, time] : job.waits) {
    sum += time;
  }
  return sum;
}

std::string job_row(const simulation::JobOutcome& job, const JobMetrics& metrics,
                    const topology::Cluster& cluster) {
  std::string row =
      fmt::format("{},{},{},{},{}", csv_cell(job.id), job.gpus, to_decimal_seconds(job.submit),
                  seconds_cell(job.start), seconds_cell(job.end));
  const auto jct = job.end ? std::optional{*job.end - job.submit} : std::nullopt;
  // Nothing is preempted, restarted or lost in this version: service is the time holding GPUs.
  row += fmt::format(",{},{},{},{},0,0,0", seconds_cell(jct), to_decimal_seconds(total_wait(job)),
                     to_decimal_seconds(job.run), to_decimal_seconds(job.run));
  row += fmt::format(",{},{},{}", cell(metrics.throughput), cell(metrics.step_ms),
                     to_decimal(job.run_interval));
  for (const char* reason : kReasons) {
    const auto found = job.waits.find(reason);
    row +=
        "," + to_decimal_seconds(found == job.waits.end() ? units::Nanoseconds{} : found->second);
  }
  row += fmt::format(",{},,,{},{}\n", cell(metrics.rho), csv_cell(job.queue),
                     csv_cell(placement_text(job.placement, cluster)));
  return row;
}

}  // namespace

std::string jobs_csv(const simulation::Outcome& outcome, const Metrics& metrics,
                     const topology::Cluster& cluster) {
  std::string text =
      "job_id,gpus,submit_s,start_s,end_s,jct_s,wait_s,run_s,service_s,restart_s,lost_s,"
      "preemptions,throughput,step_ms,step_ci";
  for (const char* reason : kReasons) {
    text += fmt::format(",wait_{}_s", reason);
  }
  text += ",rho,energy_j,cost,queue,placement\n";
  for (std::size_t i = 0; i < outcome.jobs.size(); ++i) {
    text += job_row(outcome.jobs[i], metrics.jobs[i], cluster);
  }
  return text;
}

std::string utilization_csv(const simulation::Outcome& outcome) {
  std::string text =
      "time_s,allocated_gpus,busy_gpus,compute_busy_gpus,communicating_gpus,idle_gpus,"
      "running_jobs,queue_length,queued_gpus\n";
  for (const auto& row : outcome.utilization) {
    text += fmt::format("{},{},{},{},{},{},{},{},{}\n", to_decimal_seconds(row.time),
                        to_decimal(row.allocated_gpus), to_decimal(row.busy_gpus),
                        to_decimal(row.compute_busy_gpus), to_decimal(row.communicating_gpus),
                        to_decimal(outcome.cluster_gpus - row.allocated_gpus), row.running_jobs,
                        row.queue_length, row.queued_gpus);
  }
  return text;
}

std::string decisions_csv(const simulation::Outcome& outcome) {
  std::string text = "time_s,action,job_id,why\n";
  for (const auto& row : outcome.decisions) {
    text += fmt::format("{},{},{},{}\n", to_decimal_seconds(row.time), csv_cell(row.action),
                        csv_cell(row.job), csv_cell(row.why));
  }
  return text;
}

std::string queues_csv(const simulation::Outcome& outcome) {
  struct State {
    int allocated = 0;
    int waiting = 0;
    int waiting_gpus = 0;
  };
  std::map<std::pair<units::Nanoseconds, std::string>, State> changes;
  for (const auto& job : outcome.jobs) {
    State& submitted = changes[{job.submit, job.queue}];
    ++submitted.waiting;
    submitted.waiting_gpus += job.gpus;
    if (job.start) {
      State& started = changes[{*job.start, job.queue}];
      --started.waiting;
      started.waiting_gpus -= job.gpus;
      started.allocated += job.gpus;
    }
    if (job.end) {
      changes[{*job.end, job.queue}].allocated -= job.gpus;
    }
  }
  std::string text = "time_s,queue,allocated_gpus,waiting_jobs,waiting_gpus\n";
  std::map<std::string, State> states;
  for (const auto& [key, change] : changes) {
    State& state = states[key.second];
    state.allocated += change.allocated;
    state.waiting += change.waiting;
    state.waiting_gpus += change.waiting_gpus;
    text += fmt::format("{},{},{},{},{}\n", to_decimal_seconds(key.first), csv_cell(key.second),
                        state.allocated, state.waiting, state.waiting_gpus);
  }
  return text;
}

std::string links_csv(const simulation::Outcome& outcome, const Metrics& metrics,
                      const topology::Cluster& cluster) {
  std::string text =
      "link,kind,bandwidth_gb_per_s,bytes,mean_utilization,peak_utilization,top_jobs\n";
  for (const auto& row : outcome.links) {
    const topology::Link link = cluster.link(row.link);
    std::string jobs;
    for (const auto& [job, bytes] : row.jobs) {
      jobs += (jobs.empty() ? "" : "; ") + job + "=" + to_decimal(bytes);
    }
    text += fmt::format("{},{},{},{},{},{},{}\n", csv_cell(link.name), csv_cell(link.kind),
                        to_decimal(link.bandwidth.si() * 1e-9), to_decimal(row.bytes),
                        to_decimal(mean_utilization(row, cluster, metrics.cluster.makespan)),
                        to_decimal(row.peak_rate / link.bandwidth.si()), csv_cell(jobs));
  }
  return text;
}

}  // namespace trainyard::results
