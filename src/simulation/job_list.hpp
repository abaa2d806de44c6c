#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "input/section.hpp"
#include "simulation/input_files.hpp"
#include "simulation/jobs_file.hpp"
#include "simulation/scenario.hpp"

namespace trainyard::simulation {

/// Collects the jobs of a scenario and the workloads they name, and checks each against the
/// cluster.
class JobList {
 public:
  /// @param described  the cluster is of known GPUs and links: workloads can run on it
  JobList(const topology::Cluster& cluster, bool described, InputFiles& files);

  void add_section(const input::Section& section);   ///< a [[job]], `count` times
  void add_trace_of(const input::Section& section);  ///< [jobs]
  /// Sorts by submit, then order of the files, and moves everything into the scenario.
  void move_into(Scenario& scenario);

 private:
  /// Place of a key of the job in its file, for messages.
  using PlaceOf = std::function<input::Place(std::string_view key)>;

  void add_row(const input::Csv& csv, std::size_t row, const JobRow& given, bool recorded);
  void add(Job job, const PlaceOf& place_of);
  [[nodiscard]] int workload_index(const std::string& name, const input::Place& place);
  void check_name(const Job& job, const PlaceOf& place_of);
  void check_workload(const Job& job, const PlaceOf& place_of);
  void check_memory(const Job& job, const PlaceOf& place_of);
  void note_memory(Scenario& scenario) const;
  void note_scaling(Scenario& scenario) const;

  const topology::Cluster& cluster_;
  bool described_;
  InputFiles& files_;
  std::optional<topology::GpuKind> smallest_{};  ///< of the cluster's kinds, by memory
  std::vector<Job> jobs_{};
  std::vector<workload::Workload> workloads_{};
  std::vector<std::string> workload_names_{};
  std::map<std::string, input::Place> seen_{};
  /// Workload and GPUs other than it was recorded on: the first such job, and how many.
  std::map<std::pair<int, int>, std::pair<std::string, int>> scaled_{};
  std::set<int> unknown_memory_{};  ///< workloads that a job runs without saying what it needs
  std::vector<std::string> notes_{};
};

}  // namespace trainyard::simulation
