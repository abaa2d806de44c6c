#include "simulation/scenario.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <limits>

#include "input/files.hpp"
#include "simulation/input_files.hpp"
#include "simulation/job_list.hpp"
#include "simulation/unsupported.hpp"

namespace trainyard::simulation {
namespace {

constexpr std::int64_t kMostFlatGpus = 1'000'000;

/// The catalogues count as inputs too: bandwidths and rates come from them.
void record_catalogues(InputFiles& files) {
  const std::string folder = "topologies/catalog";
  for (const std::string& name : input::shipped_names(folder, ".toml")) {
    files.record(input::data_folder() / folder / (name + ".toml"), name);
  }
}

/// A cluster file and the node files that it names.
std::filesystem::path record_topology(const input::Value& name, InputFiles& files) {
  auto path =
      files.find(name.text(), name.place(), {"topologies/clusters", "topologies/nodes"}, {".toml"});
  files.record(path, name.text());
  const auto root = input::Document::parse_file(path.string()).root();
  for (const input::Section& node : root.sections("node")) {
    if (const auto type = node.find("type")) {
      files.record(files.find(type->text(), type->place(), {"topologies/nodes"}, {".toml"}),
                   type->text());
    }
  }
  record_catalogues(files);
  return path;
}

std::optional<int> count_in(const std::optional<input::Value>& value) {
  if (!value) {
    return std::nullopt;
  }
  return static_cast<int>(value->integer_in(1, kMostFlatGpus));
}

/// Reads [cluster]: a topology, or GPUs that nothing is known of.
void read_cluster(const input::Section& section, Scenario& scenario, InputFiles& files) {
  const auto topology = section.find("topology");
  const auto flat = section.find("flat_gpus");
  const auto per_node = section.find("gpus_per_node");
  const auto nodes = count_in(section.find("nodes"));
  const auto nics = count_in(section.find("nics"));
  section.reject_unknown();
  const auto& extra = flat ? flat : per_node;
  if (topology) {
    if (extra) {
      extra->fail("and 'topology' exclude each other");
    }
    const auto path = record_topology(*topology, files);
    scenario.cluster = std::make_shared<topology::Cluster>(
        topology::load_cluster(path.string(), {nodes, nics}, topology->place()));
    scenario.cluster_text = scenario.cluster->name();
    return;
  }
  if (nics) {
    section.require("nics").fail("needs a 'topology'");
  }
  if (flat ? (per_node || nodes) : !(per_node && nodes)) {
    section.fail("a cluster is a 'topology', or 'flat_gpus', or 'nodes' with 'gpus_per_node'");
  }
  if (!flat && *nodes > kMostFlatGpus / per_node->integer_in(1, kMostFlatGpus)) {
    per_node->fail(fmt::format("makes more than {} GPUs", kMostFlatGpus));
  }
  scenario.cluster = std::make_shared<topology::Cluster>(
      flat ? topology::flat_cluster(1, *count_in(flat))
           : topology::flat_cluster(*nodes, *count_in(per_node)));
  scenario.cluster_text = "flat";
}

void read_scheduler(Scenario& scenario) {
  const input::Section& section = scenario.scheduler;
  (void)scheduling::make_policy(section);
  (void)scheduling::make_placement(section);
  if (const auto policy = section.find("policy")) {
    scenario.policy = policy->text();
  }
  if (const auto placement = section.find("placement")) {
    scenario.placement = placement->text();
  }
  if (const auto order = section.find("order"); order && order->text() != "submit") {
    order->fail(fmt::format(R"(must be "submit", got "{}": no other is supported by this version)",
                            order->text()));
  }
  refuse_unsupported(section, {"victims", "thresholds", "promote_after", "quota", "rounds"});
  section.reject_unknown();
}

void read_run(const input::Section& section, Scenario& scenario) {
  if (const auto seed = section.find("seed")) {
    scenario.seed =
        static_cast<std::uint64_t>(seed->integer_in(0, std::numeric_limits<std::int64_t>::max()));
  }
  if (const auto detail = section.find("detail")) {
    if (detail->text() != "sampled" && detail->text() != "full") {
      detail->fail(fmt::format(R"(must be "sampled" or "full", got "{}")", detail->text()));
    }
    scenario.detail = detail->text() == "full" ? Detail::full : Detail::sampled;
  }
  if (const auto max_time = section.find("max_time")) {
    scenario.max_time = max_time->nanoseconds();
    if (*scenario.max_time == units::Nanoseconds{}) {
      max_time->fail("must be above 0");
    }
  }
  section.reject_unknown();
}

void read_jobs(const input::Section& root, Scenario& scenario, InputFiles& files) {
  JobList jobs{*scenario.cluster, scenario.cluster_text != "flat", files};
  for (const input::Section& job : root.sections("job")) {
    jobs.add_section(job);
  }
  if (const auto trace = root.section("jobs")) {
    jobs.add_trace_of(*trace);
  }
  jobs.move_into(scenario);
  if (scenario.jobs.empty()) {
    root.fail("the scenario has no jobs: expected [[job]] or [jobs] with a 'trace'");
  }
}

/// The table, or an empty one where the file has none.
input::Section section_or_empty(const input::Section& root, std::string_view key) {
  const auto section = root.section(key);
  return section ? *section : input::Document::parse("", root.place().file).root();
}

}  // namespace

Scenario parse_scenario(const input::Document& document, const std::string& folder) {
  const input::Section root = document.root();
  for (const std::string_view key : {"name", "cluster", "scheduler", "job", "jobs", "run"}) {
    (void)root.find(key);
  }
  refuse_unsupported(root, {"event", "failures", "prices", "metrics", "costs"});
  root.reject_unknown();

  Scenario scenario{.scheduler = section_or_empty(root, "scheduler")};
  const input::Value name = root.require("name");
  scenario.name = name.text();
  if (scenario.name.empty() || scenario.name.find('/') != std::string::npos ||
      scenario.name.starts_with('.')) {
    name.fail(fmt::format("must be a name for a folder, got \"{}\"", scenario.name));
  }
  InputFiles files{folder};
  const input::Section cluster = root.require("cluster").section();
  read_scheduler(scenario);
  read_run(section_or_empty(root, "run"), scenario);
  read_cluster(cluster, scenario, files);
  read_jobs(root, scenario, files);
  scenario.inputs = files.recorded();
  scenario.resolved_toml = document.to_toml();
  return scenario;
}

Scenario load_scenario(const std::string& path, const std::vector<Override>& overrides) {
  const std::string text = input::read_file(path);
  auto document = input::Document::parse(text, path);
  for (const Override& change : overrides) {
    document = document.with(change.key, change.value);
  }
  const std::filesystem::path file{path};
  Scenario scenario = parse_scenario(document, file.parent_path().string());
  scenario.inputs.insert(scenario.inputs.begin(), {file.filename().string(), input::sha256(text)});
  return scenario;
}

}  // namespace trainyard::simulation
