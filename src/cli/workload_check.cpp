// `trainyard workload check`: reads a workload file and says what it does not know.
#include <fmt/format.h>

#include <algorithm>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "input/error.hpp"
#include "input/files.hpp"
#include "workload/file.hpp"

namespace trainyard::cli {
namespace {

using workload::Workload;

std::vector<std::string> warnings_of(const Workload& workload) {
  std::vector<std::string> warnings;
  const auto unknown = std::count_if(workload.collectives.begin(), workload.collectives.end(),
                                     [](const auto& call) { return !call.bytes; });
  if (unknown > 0) {
    warnings.push_back(fmt::format("{} of {} collectives have no size: each costs latency only",
                                   unknown, workload.collectives.size()));
  }
  if (!workload.memory_per_gpu) {
    warnings.emplace_back(
        "memory per GPU is unknown: give `memory` in the scenario or --assume-memory");
  }
  if (!workload.samples_per_step) {
    warnings.emplace_back("samples per step are unknown: no throughput in samples/s");
  }
  if (workload.gpu.empty()) {
    warnings.emplace_back("the GPU it was measured on is unknown: kernel times cannot be scaled");
  }
  const auto absent = static_cast<std::size_t>(workload.world_size) - workload.timelines.size();
  if (absent > 0) {
    warnings.push_back(
        fmt::format("{} of {} ranks have no timeline: a present rank stands for them", absent,
                    workload.world_size));
  }
  if (workload::representative_step(workload) < 0) {
    warnings.emplace_back("no step is marked: the whole recorded window counts as one step");
  }
  return warnings;
}

int run(const Arguments& arguments, Streams& streams) {
  const auto path = input::find_data(arguments.text("W"), {"workloads"}, {".json", ".json.gz"},
                                     input::Place{"command line"});
  const Workload workload = workload::read_workload(path.string());
  for (const std::string& warning : warnings_of(workload)) {
    streams.out << "warning: " << warning << '\n';
  }
  std::size_t operations = 0;
  for (const auto& timeline : workload.timelines) {
    operations += timeline.ops.size();
  }
  streams.out << fmt::format("{}: valid, {} ranks, {} operations, {} collectives\n", workload.name,
                             workload.timelines.size(), operations, workload.collectives.size());
  return 0;
}

}  // namespace

CommandSpec workload_check_command() {
  CommandSpec spec;
  spec.name = "workload check";
  spec.summary = "Check a workload file and say what it leaves unknown";
  spec.example = "trainyard workload check dlrm-v100x8";
  spec.options = {{.name = "W", .help = "workload file, or a shipped name", .required = true}};
  spec.run = &run;
  return spec;
}

}  // namespace trainyard::cli
