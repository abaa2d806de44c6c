#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulation/outcome.hpp"

namespace trainyard::results {

/// What docs/results.md defines of one job. Seconds; absent where it has no value (yet).
struct JobMetrics {
  std::optional<double> jct{};         ///< end - submit
  double wait = 0.0;                   ///< jct - time holding GPUs; so far, when it has not ended
  double run = 0.0;                    ///< time holding GPUs
  std::optional<double> throughput{};  ///< samples (else steps) a second of holding GPUs
  std::optional<double> step_ms{};
  std::optional<double> slowdown{};  ///< jct / run time alone on the same GPUs
  std::optional<double> rho{};       ///< jct / (service x jobs in the system at its submit)
};

/// Mean and percentiles by linear interpolation between order statistics.
struct Spread {
  std::size_t count = 0;
  double mean = 0.0;
  double p50 = 0.0;
  double p95 = 0.0;
  double p99 = 0.0;
};

struct ClusterMetrics {
  double makespan = 0.0;      ///< s, last end - first submit
  double allocation = 0.0;    ///< GPU-seconds held / (GPUs x makespan)
  double busy = 0.0;          ///< share with a kernel running, communication that waits included
  double compute_busy = 0.0;  ///< the same without communication
  double goodput = 0.0;       ///< GPU-seconds of useful work / (GPUs x makespan)
  int jobs_ended = 0;
  Spread jct{};
  Spread wait{};
  Spread run{};
  std::optional<double> rho_mean{};
};

struct Metrics {
  std::vector<JobMetrics> jobs{};  ///< order of Outcome::jobs
  ClusterMetrics cluster{};
};

[[nodiscard]] Metrics measure(const simulation::Outcome& outcome);

/// numpy's default: linear between order statistics. @param share in [0, 1]; empty: 0
[[nodiscard]] double percentile(std::vector<double> values, double share);

}  // namespace trainyard::results
