#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simulation/scenario.hpp"
#include "topology/cluster.hpp"
#include "workload/step.hpp"

namespace trainyard::test {

/// splitmix64: the same sequence everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_{seed} {}
  std::uint64_t next();
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  double uniform() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }
  double between(double low, double high) { return low + (high - low) * uniform(); }

 private:
  std::uint64_t state_;
};

/// Writes steps op by op. Stream 0 is the GPU's compute stream, 1 its communication stream, 2 the
/// host.
class StepBuilder {
 public:
  StepBuilder();
  StepBuilder& compute(std::int64_t ns);
  /// An all-reduce on the compute stream.
  StepBuilder& collective(double bytes, std::int64_t recorded = 0);
  /// An all-reduce on the communication stream, after what the compute stream has done so far.
  StepBuilder& collective_aside(double bytes, std::int64_t recorded = 0);
  /// The next compute waits for the communication stream.
  StepBuilder& join();
  /// `host` ns on the host, then a kernel that it launches.
  StepBuilder& launched_compute(std::int64_t host, std::int64_t kernel);

  /// A workload with one recorded rank; `ranks` in the job, all collectives over all of them.
  [[nodiscard]] workload::Workload one_rank(int ranks = 1) const;
  /// Two recorded ranks with different compute before one collective.
  [[nodiscard]] static workload::Workload two_ranks(std::int64_t first, std::int64_t second,
                                                    double bytes);

 private:
  int add(workload::Op op);
  workload::Workload workload_{};
  int last_compute_ = -1;
  int last_aside_ = -1;
  int join_ = -1;
};

/// A random single-rank step graph with collectives, all recorded durations set.
[[nodiscard]] workload::Workload random_step(Random& random, int streams, int ops);

/// `nodes` nodes of `gpus` GPUs on PCIe with one EDR NIC each (12.5 GB/s raw), on one switch.
[[nodiscard]] topology::Cluster nic_cluster(int nodes, int gpus);
/// Effective rate of such a NIC, bytes/s.
[[nodiscard]] double nic_rate(const topology::Cluster& cluster);

/// A scenario around a cluster with default policy and placement; jobs and workloads by the test.
[[nodiscard]] simulation::Scenario scenario_on(topology::Cluster cluster,
                                               const std::string& scheduler = "");
/// Adds a job of `steps` steps of a new workload; returns its index.
int add_job(simulation::Scenario& scenario, const workload::Workload& step, int gpus,
            std::int64_t submit_ns, std::int64_t steps);

}  // namespace trainyard::test
