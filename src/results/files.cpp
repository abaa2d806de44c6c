#include "results/files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "results/csv_files.hpp"
#include "results/timeline.hpp"

namespace trainyard::results {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
    }
    result += c;
  }
  return result + "\"";
}

/// The scenario as resolved, then where it came from.
std::string scenario_toml(const simulation::Scenario& scenario) {
  std::string text = scenario.resolved_toml;
  if (!text.empty() && text.back() != '\n') {
    text += '\n';
  }
  text += fmt::format("\n[provenance]\nversion = \"{}\"\nseed = {}\n", TRAINYARD_VERSION,
                      scenario.seed);
  for (const auto& file : scenario.inputs) {
    text += fmt::format("\n[[provenance.input]]\nname = {}\nsha256 = \"{}\"\n", quoted(file.name),
                        file.sha256);
  }
  return text;
}

bool names_queues(const simulation::Outcome& outcome) {
  return std::any_of(outcome.jobs.begin(), outcome.jobs.end(),
                     [](const auto& job) { return !job.queue.empty(); });
}

}  // namespace

std::string placement_text(const std::vector<topology::GpuId>& gpus,
                           const topology::Cluster& cluster) {
  std::string text;
  for (std::size_t i = 0; i < gpus.size();) {
    const int node = cluster.node_of(gpus[i]);
    text += fmt::format("{}node{}:", text.empty() ? "" : " ", node);
    const char* comma = "";
    while (i < gpus.size() && cluster.node_of(gpus[i]) == node) {
      std::size_t last = i;
      while (last + 1 < gpus.size() && gpus[last + 1] == gpus[last] + 1 &&
             cluster.node_of(gpus[last + 1]) == node) {
        ++last;
      }
      const int first = cluster.first_gpu(node);
      text += last == i ? fmt::format("{}{}", comma, gpus[i] - first)
                        : fmt::format("{}{}-{}", comma, gpus[i] - first, gpus[last] - first);
      comma = ",";
      i = last + 1;
    }
  }
  return text;
}

double mean_utilization(const simulation::LinkRow& row, const topology::Cluster& cluster,
                        double makespan) {
  const double most = cluster.link(row.link).bandwidth.si() * makespan;
  return most > 0.0 ? row.bytes / most : 0.0;
}

Files make_files(const simulation::Scenario& scenario, const simulation::Outcome& outcome,
                 const Metrics& metrics) {
  Files files;
  files["summary.json"] = summary_json(scenario, outcome, metrics);
  files["jobs.csv"] = jobs_csv(outcome, metrics, *scenario.cluster);
  files["utilization.csv"] = utilization_csv(outcome);
  files["decisions.csv"] = decisions_csv(outcome);
  files["scenario.toml"] = scenario_toml(scenario);
  if (names_queues(outcome)) {
    files["queues.csv"] = queues_csv(outcome);
  }
  if (!outcome.links.empty()) {
    files["links.csv"] = links_csv(outcome, metrics, *scenario.cluster);
  }
  if (!outcome.timeline.empty()) {
    files["timeline.json.gz"] = timeline_json_gz(outcome);
  }
  return files;
}

}  // namespace trainyard::results
