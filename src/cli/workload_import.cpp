// `trainyard workload import`: profiles of the ranks of one job to a workload file.
#include <fmt/format.h>

#include <filesystem>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "input/error.hpp"
#include "input/files.hpp"
#include "units/text.hpp"
#include "workload/file.hpp"
#include "workload/import.hpp"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;

// Before the work, so that a long import does not end in a refusal.
void check_target(const fs::path& target, bool force) {
  if (fs::is_directory(target)) {
    throw input::InputError{{target.string()}, "is a folder, expected a file to write"};
  }
  if (fs::exists(target) && !force) {
    throw input::InputError{{target.string()},
                            "the file exists, expected a new name (or --force to replace it)"};
  }
  const fs::path folder = target.parent_path();
  if (!folder.empty() && !fs::is_directory(folder)) {
    throw input::InputError{{target.string()},
                            fmt::format("the folder {} does not exist", folder.string())};
  }
}

// "runs/dlrm.json.gz" is named dlrm.
std::string stem(const fs::path& path) {
  std::string name = path.filename().string();
  for (const std::string_view ending : {".gz", ".json"}) {
    if (name.ends_with(ending)) {
      name.resize(name.size() - ending.size());
    }
  }
  return name;
}

void describe(workload::Workload& workload, const Arguments& arguments) {
  workload.source = arguments.text("--source");
  workload.licence = arguments.text("--licence");
  if (arguments.has("--samples-per-step")) {
    workload.samples_per_step =
        static_cast<double>(arguments.integer("--samples-per-step", 1, 1'000'000'000'000));
  }
  if (arguments.has("--memory-per-gpu")) {
    const auto memory = units::parse_bytes(arguments.text("--memory-per-gpu"));
    if (!memory || memory->si() <= 0.0) {
      arguments.fail("--memory-per-gpu",
                     fmt::format("must be {} above 0, got \"{}\"", units::bytes_spellings(),
                                 arguments.text("--memory-per-gpu")));
    }
    workload.memory_per_gpu = memory;
  }
}

workload::ProfileFormat format(const std::string& text) {
  using workload::ProfileFormat;
  for (const auto known : {ProfileFormat::kineto, ProfileFormat::nsys, ProfileFormat::nvprof}) {
    if (text == workload::to_text(known)) {
      return known;
    }
  }
  return ProfileFormat::automatic;
}

int run(const Arguments& arguments, Streams& streams) {
  const fs::path target = arguments.text("-o");
  check_target(target, arguments.has("--force"));
  const std::string name = arguments.has("--name") ? arguments.text("--name") : stem(target);
  workload::Workload workload =
      workload::import_profiles(arguments.all("PATH"), name, format(arguments.text("--from")));
  describe(workload, arguments);
  input::write_file_atomically(target, workload::to_json(workload));

  std::size_t operations = 0;
  for (const workload::Timeline& timeline : workload.timelines) {
    operations += timeline.ops.size();
  }
  streams.out << fmt::format("{}: {} of {} ranks, {} operations, {} collectives\n", target.string(),
                             workload.timelines.size(), workload.world_size, operations,
                             workload.collectives.size());
  for (const workload::Skipped& skipped : workload.skipped) {
    streams.out << fmt::format("  {} {}\n", skipped.count, skipped.reason);
  }
  return 0;
}

}  // namespace

CommandSpec workload_import_command() {
  CommandSpec spec;
  spec.name = "workload import";
  spec.summary = "Read profiles of the ranks of one job into a workload file";
  spec.details =
      "Each PATH is a PyTorch profiler trace (Kineto, .json or .json.gz) of one rank, an export "
      "of\n"
      "Nsight Systems (SQLite, or the CSV of nsys stats cuda_gpu_trace) of one or several, or a\n"
      "folder of them. Collectives keep their bytes and group; how long they last is simulated.";
  spec.example = "trainyard workload import traces/rank*.json.gz -o dlrm.json --licence MIT";
  spec.options = {
      {.name = "PATH",
       .help = "profile, or folder of profiles",
       .required = true,
       .repeated = true},
      {.name = "-o", .value_name = "OUT", .help = "workload file to write", .required = true},
      {.name = "--from",
       .value_name = "FORMAT",
       .help = "format of the profiles",
       .default_value = "auto",
       .choices = {"auto", "kineto", "nsys", "nvprof"}},
      {.name = "--name", .value_name = "NAME", .help = "name of the workload (default: of OUT)"},
      {.name = "--source", .value_name = "TEXT", .help = "where the profiles are from"},
      {.name = "--licence", .value_name = "TEXT", .help = "licence of the profiles"},
      {.name = "--samples-per-step", .value_name = "N", .help = "over all ranks"},
      {.name = "--memory-per-gpu", .value_name = "SIZE", .help = "such as \"24 GB\""},
      {.name = "--force", .help = "replace OUT", .flag = true},
  };
  spec.run = &run;
  return spec;
}

}  // namespace trainyard::cli
