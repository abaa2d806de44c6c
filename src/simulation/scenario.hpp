#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "input/section.hpp"
#include "scheduling/policy.hpp"
#include "topology/cluster.hpp"
#include "units/nanoseconds.hpp"
#include "workload/step.hpp"

namespace trainyard::simulation {

/// How much of a job there is to do: exactly one of the three.
struct Amount {
  std::optional<std::int64_t> steps{};
  std::optional<double> samples{};               ///< rounded up to whole steps
  std::optional<units::Nanoseconds> duration{};  ///< recorded speed: runs this long wherever it is
};

struct Job {
  std::string id{};   ///< name, or job_id of the trace; unique
  int workload = -1;  ///< index into Scenario::workloads; -1: recorded speed
  int gpus = 1;
  units::Nanoseconds submit{};
  Amount amount{};
  std::string queue{};
  std::string user{};
  int priority = 0;
  std::string job_class = "training";    ///< interactive | training | inference
  std::optional<units::Bytes> memory{};  ///< per GPU, replaces the workload's
  input::Place place{};                  ///< for messages
};

/// An input file that shaped the result, for the resolved scenario.
struct InputFile {
  std::string name{};  ///< as the user wrote it, never an absolute path
  std::string sha256{};
};

enum class Detail { sampled, full };

/// A scenario as resolved: every default filled in, every file read.
struct Scenario {
  std::string name{};
  std::shared_ptr<const topology::Cluster> cluster{};
  std::string cluster_text{};  ///< topology name, or "flat"
  std::vector<workload::Workload> workloads{};
  std::vector<std::string> workload_names{};
  std::vector<Job> jobs{};  ///< by submit, then order of the file
  std::string policy = "fifo";
  std::string placement = "pack";
  input::Section scheduler;  ///< parameters of both
  std::uint64_t seed = 1;
  Detail detail = Detail::sampled;
  std::optional<units::Nanoseconds> max_time{};
  std::vector<InputFile> inputs{};
  std::string resolved_toml{};       ///< the document with every --set applied
  std::vector<std::string> notes{};  ///< what was assumed and could not be checked, a line each
};

struct Override {
  std::string key{};
  std::string value{};
};

/// How the amounts read: `steps` and `samples` need a workload. `duration` without one is recorded
/// speed; with one it stands for as many steps as take that long alone.
///
/// Files a scenario names are looked for beside the scenario, then like any name.
///
/// Reads a scenario file, applies the overrides (seed and detail included) and everything it names.
/// Checked here: job larger than the cluster, duplicate names, none or several of steps, samples
/// and duration, memory that does not fit the GPU (refused with both numbers), a workload whose
/// groups do not fit the job's GPU count, unknown policy or placement, unknown keys.
/// @throws InputError
[[nodiscard]] Scenario load_scenario(const std::string& path,
                                     const std::vector<Override>& overrides);
[[nodiscard]] Scenario parse_scenario(const input::Document& document, const std::string& folder);

}  // namespace trainyard::simulation
