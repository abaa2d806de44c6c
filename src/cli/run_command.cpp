// `trainyard run`: a scenario, from its file to its results folder.
#include <fmt/format.h>

#include <filesystem>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "input/error.hpp"
#include "results/folder.hpp"
#include "results/tables.hpp"
#include "simulation/run.hpp"
#include "simulation/scenario.hpp"

namespace trainyard::cli {
namespace {

std::vector<simulation::Override> overrides_of(const Arguments& arguments) {
  std::vector<simulation::Override> overrides;
  for (const std::string& setting : arguments.all("--set")) {
    const auto equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      arguments.fail("--set", fmt::format("needs KEY=VALUE, got \"{}\"", setting));
    }
    overrides.push_back({setting.substr(0, equals), setting.substr(equals + 1)});
  }
  if (arguments.has("--seed")) {
    overrides.push_back(
        {"run.seed", std::to_string(arguments.integer("--seed", 0, 9007199254740992))});
  }
  if (arguments.has("--detail")) {
    overrides.push_back({"run.detail", "\"" + arguments.text("--detail") + "\""});
  }
  return overrides;
}

/// results/NAME, for names that are one plain file name.
std::filesystem::path output_of(const Arguments& arguments, const simulation::Scenario& scenario) {
  if (arguments.has("--out")) {
    return arguments.text("--out");
  }
  const std::string& name = scenario.name;
  if (name.empty() || name.front() == '.' || name.find('/') != std::string::npos) {
    throw input::InputError{{arguments.text("SCENARIO")},
                            fmt::format("name \"{}\" cannot name a folder: use --out DIR", name)};
  }
  return std::filesystem::path{"results"} / name;
}

int run_scenario(const Arguments& arguments, Streams& streams) {
  const auto scenario =
      simulation::load_scenario(arguments.text("SCENARIO"), overrides_of(arguments));
  const auto folder = output_of(arguments, scenario);
  const bool force = arguments.has("--force");
  results::check_output(folder, force);
  if (streams.terminal) {
    streams.err << fmt::format("simulating {} jobs on {} GPUs\n", scenario.jobs.size(),
                               scenario.cluster->gpus());
  }
  const auto outcome = simulation::run(scenario);
  const auto metrics = results::measure(outcome);
  results::write_folder(folder, results::make_files(scenario, outcome, metrics), force);
  if (arguments.text("--format") == "json") {
    streams.out << results::summary_json(scenario, outcome, metrics);
    return 0;
  }
  streams.out << results::jobs_table(scenario, outcome, metrics) << '\n'
              << results::cluster_table(scenario, outcome, metrics);
  for (const std::string& note : scenario.notes) {
    streams.out << "note: " << note << '\n';
  }
  if (outcome.reached_max_time) {
    streams.out << "note: stopped at run.max_time\n";
  }
  streams.out << "results in " << folder.string() << '\n';
  return 0;
}

}  // namespace

CommandSpec run_command() {
  CommandSpec spec;
  spec.name = "run";
  spec.summary = "Simulate a scenario and write its results folder";
  spec.details =
      "Reads the scenario with its topology, workloads and jobs, simulates it, prints a table of "
      "jobs\n"
      "and of the cluster and writes the results folder (docs/results.md).";
  spec.example =
      "trainyard run sim/quickstart.toml --set scheduler.policy=fifo-best-effort --force";
  spec.options = {
      {.name = "SCENARIO", .help = "scenario file", .required = true},
      {.name = "--set",
       .value_name = "KEY=VALUE",
       .help = "replaces a value of the scenario",
       .repeated = true},
      {.name = "--out", .value_name = "DIR", .help = "results folder (default results/<name>)"},
      {.name = "--force", .help = "replace an existing results folder", .flag = true},
      {.name = "--seed", .value_name = "N", .help = "short for --set run.seed=N"},
      {.name = "--detail", .help = "how steps are simulated", .choices = {"sampled", "full"}},
      {.name = "--format",
       .help = "what is printed",
       .default_value = "text",
       .choices = {"text", "json"}},
  };
  spec.run = &run_scenario;
  return spec;
}

}  // namespace trainyard::cli
