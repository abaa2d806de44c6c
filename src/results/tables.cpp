#include "results/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "results/files.hpp"
#include "units/text.hpp"

namespace trainyard::results {
namespace {

constexpr std::size_t kFirstJobs = 20;
constexpr std::size_t kLastJobs = 5;
constexpr std::size_t kLoadedLinks = 5;
constexpr std::size_t kLongestName = 24;

std::string time_text(double seconds) {
  return units::to_text(units::Seconds{seconds});
}

std::string time_text(const std::optional<double>& seconds) {
  return seconds ? time_text(*seconds) : "-";
}

/// A name that cannot break the table.
std::string name_text(const std::string& name) {
  std::string text;
  for (const char c : name) {
    text += static_cast<unsigned char>(c) < ' ' ? '?' : c;
  }
  return text.size() > kLongestName ? text.substr(0, kLongestName - 2) + ".." : text;
}

std::size_t nodes_of(const simulation::JobOutcome& job, const topology::Cluster& cluster) {
  std::set<int> nodes;
  for (const topology::GpuId gpu : job.placement) {
    nodes.insert(cluster.node_of(gpu));
  }
  return nodes.size();
}

std::string job_line(const simulation::JobOutcome& job, const JobMetrics& metrics,
                     const topology::Cluster& cluster) {
  const std::string throughput =
      metrics.throughput
          ? fmt::format("{:.4g} {}/s", *metrics.throughput, job.samples ? "samples" : "steps")
          : "-";
  const std::string step = metrics.step_ms ? time_text(*metrics.step_ms * 1e-3) : std::string{"-"};
  return fmt::format("{:<24} {:>5} {:>5} {:>10} {:>17} {:>10} {:>10} {:>10}\n", name_text(job.id),
                     job.gpus, nodes_of(job, cluster), step, throughput, time_text(metrics.wait),
                     time_text(metrics.run), time_text(metrics.jct));
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", share * 100.0);
}

std::string links_lines(const simulation::Scenario& scenario, const simulation::Outcome& outcome,
                        const Metrics& metrics) {
  std::vector<const simulation::LinkRow*> rows;
  for (const auto& row : outcome.links) {
    rows.push_back(&row);
  }
  const auto use = [&](const simulation::LinkRow* row) {
    return mean_utilization(*row, *scenario.cluster, metrics.cluster.makespan);
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const auto* a, const auto* b) { return use(a) > use(b); });
  std::string text;
  for (std::size_t i = 0; i < std::min(rows.size(), kLoadedLinks); ++i) {
    const topology::Link link = scenario.cluster->link(rows[i]->link);
    text += fmt::format("  {:<36} mean {:>7}  peak {:>7}  {}\n", link.name, percent(use(rows[i])),
                        percent(rows[i]->peak_rate / link.bandwidth.si()),
                        units::to_text(units::Bytes{rows[i]->bytes}));
  }
  return text.empty() ? "" : "most loaded links\n" + text;
}

}  // namespace

std::string jobs_table(const simulation::Scenario& scenario, const simulation::Outcome& outcome,
                       const Metrics& metrics) {
  std::string text = fmt::format("{:<24} {:>5} {:>5} {:>10} {:>17} {:>10} {:>10} {:>10}\n", "job",
                                 "GPUs", "nodes", "step", "throughput", "wait", "run", "JCT");
  const std::size_t count = outcome.jobs.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (count > kFirstJobs + kLastJobs && i == kFirstJobs) {
      const std::size_t left_out = count - kFirstJobs - kLastJobs;
      text += fmt::format("... {} more jobs (jobs.csv has all)\n", left_out);
      i += left_out;
    }
    text += job_line(outcome.jobs[i], metrics.jobs[i], *scenario.cluster);
  }
  return text;
}

std::string cluster_table(const simulation::Scenario& scenario, const simulation::Outcome& outcome,
                          const Metrics& metrics) {
  const ClusterMetrics& cluster = metrics.cluster;
  std::string text = fmt::format("cluster {}: {} nodes, {} GPUs, policy {}, placement {}\n",
                                 scenario.cluster_text, scenario.cluster->nodes(),
                                 outcome.cluster_gpus, scenario.policy, scenario.placement);
  text += fmt::format("{:<14} {}\n", "makespan", time_text(cluster.makespan));
  text += fmt::format("{:<14} {}\n", "allocation", percent(cluster.allocation));
  text += fmt::format("{:<14} {}\n", "busy", percent(cluster.busy));
  text += fmt::format("{:<14} {}\n", "compute busy", percent(cluster.compute_busy));
  text += fmt::format("{:<14} {} of {}\n", "jobs ended", cluster.jobs_ended, outcome.jobs.size());
  text += fmt::format("{:<14} {} (p95 {})\n", "mean JCT", time_text(cluster.jct.mean),
                      time_text(cluster.jct.p95));
  text += fmt::format("{:<14} {} (p95 {})\n", "mean wait", time_text(cluster.wait.mean),
                      time_text(cluster.wait.p95));
  return text + links_lines(scenario, outcome, metrics);
}

}  // namespace trainyard::results
