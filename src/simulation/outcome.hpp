#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "topology/cluster.hpp"
#include "units/nanoseconds.hpp"
#include "units/quantity.hpp"

namespace trainyard::simulation {

/// What happened to one job. Times since the start of the scenario.
struct JobOutcome {
  std::string id{};
  int gpus = 0;
  units::Nanoseconds submit{};
  std::optional<units::Nanoseconds> start{};  ///< absent: never started (max_time)
  std::optional<units::Nanoseconds> end{};    ///< absent: not ended
  units::Nanoseconds run{};                   ///< holding GPUs so far
  std::int64_t steps = 0;                     ///< done
  std::int64_t detailed_steps = 0;            ///< of them simulated one by one
  std::optional<double> samples{};            ///< done; absent when the workload does not say
  double run_interval = 0.0;                  ///< 95 % half-width of run, relative; 0: exact
  std::optional<units::Nanoseconds> alone{};  ///< run time alone on the same GPUs, nothing shared
  std::map<std::string, units::Nanoseconds> waits{};  ///< by reason; sum = wait
  std::string queue{};
  std::string workload{};
  std::vector<topology::GpuId> placement{};
  // GPU time by use, summed over the job's GPUs (GPU-nanoseconds in double: they can pass 2^63).
  double compute_busy_ns = 0.0;   ///< kernels and copies, communication left out
  double communicating_ns = 0.0;  ///< a collective in flight or waiting and no compute
};

/// State of the cluster from `time` until the next row.
struct UtilizationRow {
  units::Nanoseconds time{};
  double allocated_gpus = 0.0;
  double busy_gpus = 0.0;  ///< compute_busy + communicating
  double compute_busy_gpus = 0.0;
  double communicating_gpus = 0.0;
  int queue_length = 0;
  int queued_gpus = 0;
  int running_jobs = 0;
};

struct DecisionRow {
  units::Nanoseconds time{};
  std::string action{};  ///< "start"
  std::string job{};
  std::string why{};
};

struct LinkRow {
  topology::LinkId link = -1;
  double bytes = 0.0;                                  ///< over the whole run
  double peak_rate = 0.0;                              ///< bytes/s, largest sum of flow rates seen
  std::vector<std::pair<std::string, double>> jobs{};  ///< job id, bytes; most first, at most 5
};

/// A span on the timeline: one rank class of one job.
struct TimelineSpan {
  std::string job{};
  int rank = 0;
  std::string name{};  ///< "step 3", "all_reduce 31.5 MB"
  bool communication = false;
  units::Nanoseconds start{};
  units::Nanoseconds end{};
};

/// Everything a run produced; the writers turn it into a results folder.
struct Outcome {
  std::vector<JobOutcome> jobs{};  ///< order of the scenario
  std::vector<UtilizationRow> utilization{};
  std::vector<DecisionRow> decisions{};
  std::vector<LinkRow> links{};  ///< only links that carried bytes, by link id
  std::vector<TimelineSpan> timeline{};
  std::int64_t timeline_left_out = 0;  ///< spans beyond the bound
  int cluster_gpus = 0;
  units::Nanoseconds first_submit{};
  units::Nanoseconds last_end{};
  std::int64_t events = 0;
  bool reached_max_time = false;
};

}  // namespace trainyard::simulation
