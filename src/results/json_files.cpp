// The JSON files: summary.json and the timeline.
#include <zlib.h>

#include <map>
#include <nlohmann/json.hpp>

#include "input/error.hpp"
#include "results/files.hpp"
#include "results/timeline.hpp"

namespace trainyard::results {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto kReplaceBadUtf8 = Json::error_handler_t::replace;

Json spread_json(const Spread& spread) {
  return {{"mean", spread.mean}, {"p50", spread.p50}, {"p95", spread.p95}, {"p99", spread.p99}};
}

Json optional_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json job_json(const simulation::JobOutcome& job, const JobMetrics& metrics) {
  Json row;
  row["job_id"] = job.id;
  row["gpus"] = job.gpus;
  row["jct_s"] = optional_json(metrics.jct);
  row["wait_s"] = metrics.wait;
  row["run_s"] = metrics.run;
  row["steps"] = job.steps;
  row["detailed_steps"] = job.detailed_steps;
  row["step_ms"] = optional_json(metrics.step_ms);
  row["step_ci"] = job.run_interval;
  row["throughput_per_s"] = optional_json(metrics.throughput);
  row["throughput_unit"] = job.samples ? "samples" : "steps";
  row["slowdown"] = optional_json(metrics.slowdown);
  row["rho"] = optional_json(metrics.rho);
  return row;
}

}  // namespace

std::string summary_json(const simulation::Scenario& scenario, const simulation::Outcome& outcome,
                         const Metrics& metrics) {
  const ClusterMetrics& cluster = metrics.cluster;
  Json document;
  document["schema_version"] = 1;
  document["trainyard_version"] = TRAINYARD_VERSION;
  document["name"] = scenario.name;
  document["cluster"] = scenario.cluster_text;
  document["gpus"] = outcome.cluster_gpus;
  document["policy"] = scenario.policy;
  document["placement"] = scenario.placement;
  document["seed"] = scenario.seed;
  document["detail"] = scenario.detail == simulation::Detail::full ? "full" : "sampled";
  document["makespan_s"] = cluster.makespan;
  document["allocation"] = cluster.allocation;
  document["busy"] = cluster.busy;
  document["compute_busy"] = cluster.compute_busy;
  document["goodput"] = cluster.goodput;
  document["jobs"] = outcome.jobs.size();
  document["jobs_ended"] = cluster.jobs_ended;
  document["jct_s"] = spread_json(cluster.jct);
  document["wait_s"] = spread_json(cluster.wait);
  document["run_s"] = spread_json(cluster.run);
  document["rho_mean"] = optional_json(cluster.rho_mean);
  document["events"] = outcome.events;
  document["reached_max_time"] = outcome.reached_max_time;
  document["notes"] = scenario.notes;
  document["job"] = Json::array();
  for (std::size_t i = 0; i < outcome.jobs.size(); ++i) {
    document["job"].push_back(job_json(outcome.jobs[i], metrics.jobs[i]));
  }
  return document.dump(2, ' ', false, kReplaceBadUtf8) + "\n";
}

std::string timeline_json(const simulation::Outcome& outcome) {
  Json events = Json::array();
  events.push_back({{"name", "spans left out"},
                    {"ph", "i"},
                    {"s", "g"},
                    {"pid", 0},
                    {"tid", 0},
                    {"ts", 0},
                    {"args", {{"count", outcome.timeline_left_out}}}});
  std::map<std::string, int> processes;
  for (const auto& span : outcome.timeline) {
    const auto [found, added] = processes.emplace(span.job, static_cast<int>(processes.size()) + 1);
    if (added) {
      events.push_back({{"name", "process_name"},
                        {"ph", "M"},
                        {"pid", found->second},
                        {"args", {{"name", span.job}}}});
    }
    events.push_back({{"name", span.name},
                      {"cat", span.communication ? "communication" : "step"},
                      {"ph", "X"},
                      {"pid", found->second},
                      {"tid", span.rank + 1},
                      {"ts", static_cast<double>(span.start.count()) * 1e-3},
                      {"dur", static_cast<double>((span.end - span.start).count()) * 1e-3}});
  }
  const Json document{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
  return document.dump(-1, ' ', false, kReplaceBadUtf8) + "\n";
}

std::string timeline_json_gz(const simulation::Outcome& outcome) {
  constexpr int kGzip = 16 + MAX_WBITS;
  constexpr int kMemory = 8;
  std::string text = timeline_json(outcome);
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    throw input::RunError{"cannot compress the timeline"};
  }
  std::string packed(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int state = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (state != Z_STREAM_END) {
    throw input::RunError{"cannot compress the timeline"};
  }
  return packed;
}

}  // namespace trainyard::results
