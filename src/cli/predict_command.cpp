// `trainyard predict`: one workload on one topology, alone.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "input/files.hpp"
#include "simulation/fit.hpp"
#include "simulation/predict.hpp"
#include "topology/cluster.hpp"
#include "units/text.hpp"
#include "workload/file.hpp"

namespace trainyard::cli {
namespace {

using simulation::Prediction;

const input::Place kCommandLine{"command line"};

double milliseconds(units::Nanoseconds time) {
  return static_cast<double>(time.count()) * 1e-6;
}

topology::Cluster cluster_of(const Arguments& arguments) {
  topology::ClusterOptions options;
  if (arguments.has("--nodes")) {
    options.nodes = static_cast<int>(arguments.integer("--nodes", 1, 1000000));
  }
  return topology::load_cluster(arguments.text("--topology"), options, kCommandLine);
}

/// The job's GPUs: the first ones of the cluster, node by node.
std::vector<topology::GpuId> gpus_of(const Arguments& arguments, const topology::Cluster& cluster,
                                     const workload::Workload& workload) {
  const std::int64_t wanted =
      arguments.has("--gpus") ? arguments.integer("--gpus", 1, 10000000) : workload.world_size;
  if (wanted > cluster.gpus()) {
    throw input::InputError{kCommandLine,
                            fmt::format("workload \"{}\" wants {} GPUs, topology \"{}\" has {}",
                                        workload.name, wanted, cluster.name(), cluster.gpus())};
  }
  simulation::check_gpu_count(workload, static_cast<int>(wanted), kCommandLine);
  std::vector<topology::GpuId> gpus(static_cast<std::size_t>(wanted));
  std::iota(gpus.begin(), gpus.end(), 0);
  return gpus;
}

/// Comma-separated KEY=VALUE settings. `align=on` drops the recorded skew of the ranks' clocks.
simulation::PredictOptions options_of(const Arguments& arguments) {
  simulation::PredictOptions options;
  for (const std::string& list : arguments.all("--what-if")) {
    std::stringstream settings{list};
    for (std::string setting; std::getline(settings, setting, ',');) {
      if (setting != "align=on" && setting != "align=off") {
        arguments.fail("--what-if",
                       fmt::format("setting \"{}\" is not known to this version (known: align=on, "
                                   "align=off)",
                                   setting));
      }
      options.aligned = setting == "align=on";
    }
  }
  return options;
}

void print_collectives(const Prediction& prediction, const workload::Workload& workload,
                       std::ostream& out) {
  out << fmt::format("\n{:<4} {:<15} {:>10} {:<9} {:<8} {:>11} {:>13} {:>13} {:>13}\n", "#",
                     "collective", "bytes", "algorithm", "protocol", "transfer", "absent wait",
                     "replayed", "recorded");
  for (const auto& row : prediction.collectives) {
    const auto& call = workload.collectives[static_cast<std::size_t>(row.collective)];
    const auto longest = [](const std::vector<units::Nanoseconds>& times) {
      return times.empty() ? std::string{"-"}
                           : units::to_text(*std::max_element(times.begin(), times.end()));
    };
    out << fmt::format("{:<4} {:<15} {:>10} {:<9} {:<8} {:>11} {:>13} {:>13} {:>13}\n",
                       row.collective, workload::to_text(call.op),
                       call.bytes ? units::to_text(*call.bytes) : "unknown", row.algorithm,
                       row.protocol, units::to_text(row.transfer), units::to_text(row.absent_wait),
                       longest(row.duration), longest(row.recorded));
  }
  out << "replayed, recorded: the longest over the recorded ranks, waiting included\n";
}

void print_text(const Prediction& prediction, const workload::Workload& workload, bool explain,
                std::ostream& out) {
  const auto line = [&](const char* name, const std::string& value) {
    out << fmt::format("{:<24} {}\n", name, value);
  };
  line("step", units::to_text(prediction.step));
  line("  as recorded", units::to_text(prediction.recorded_step));
  line("  repeated, aligned", units::to_text(prediction.steady_step));
  line("compute", units::to_text(prediction.compute));
  line("exposed communication", units::to_text(prediction.exposed_communication));
  line("GPU idle", units::to_text(prediction.idle));
  line("throughput", prediction.samples_per_second
                         ? fmt::format("{:.1f} samples/s", *prediction.samples_per_second)
                         : "unknown (the workload does not say how many samples a step has)");
  line("bottleneck link", prediction.bottleneck_link.empty() ? "none" : prediction.bottleneck_link);
  out << fmt::format("\n{:>5} {:>12} {:>12}\n", "rank", "step", "GPU span");
  for (const auto& rank : prediction.ranks) {
    out << fmt::format("{:>5} {:>12} {:>12}\n", rank.rank, units::to_text(rank.step),
                       units::to_text(rank.span));
  }
  if (explain && !prediction.collectives.empty()) {
    print_collectives(prediction, workload, out);
  }
  for (const std::string& note : prediction.notes) {
    out << "note: " << note << '\n';
  }
}

nlohmann::ordered_json collectives_json(const Prediction& prediction,
                                        const workload::Workload& workload) {
  auto rows = nlohmann::ordered_json::array();
  for (const auto& row : prediction.collectives) {
    const auto& call = workload.collectives[static_cast<std::size_t>(row.collective)];
    nlohmann::ordered_json entry;
    entry["op"] = workload::to_text(call.op);
    entry["bytes"] = call.bytes ? nlohmann::ordered_json(call.bytes->si()) : nullptr;
    entry["algorithm"] = row.algorithm;
    entry["protocol"] = row.protocol;
    entry["transfer_us"] = milliseconds(row.transfer) * 1e3;
    entry["absent_wait_us"] = milliseconds(row.absent_wait) * 1e3;
    for (const auto& time : row.duration) {
      entry["duration_us"].push_back(milliseconds(time) * 1e3);
    }
    for (const auto& time : row.recorded) {
      entry["recorded_us"].push_back(milliseconds(time) * 1e3);
    }
    rows.push_back(std::move(entry));
  }
  return rows;
}

void print_json(const Prediction& prediction, const workload::Workload& workload, bool explain,
                std::ostream& out) {
  nlohmann::ordered_json document;
  document["workload"] = workload.name;
  document["step_ms"] = milliseconds(prediction.step);
  document["compute_ms"] = milliseconds(prediction.compute);
  document["exposed_comm_ms"] = milliseconds(prediction.exposed_communication);
  // Input pipeline and framework overhead are inside the recorded host time, so inside idle_ms.
  document["input_ms"] = 0.0;
  document["overhead_ms"] = 0.0;
  document["idle_ms"] = milliseconds(prediction.idle);
  document["samples_per_s"] = prediction.samples_per_second
                                  ? nlohmann::ordered_json(*prediction.samples_per_second)
                                  : nullptr;
  document["bottleneck_link"] = prediction.bottleneck_link;
  document["recorded_step_ms"] = milliseconds(prediction.recorded_step);
  document["steady_step_ms"] = milliseconds(prediction.steady_step);
  document["makespan_ms"] = milliseconds(prediction.makespan);
  document["ranks"] = nlohmann::ordered_json::array();
  for (const auto& rank : prediction.ranks) {
    document["ranks"].push_back({{"rank", rank.rank},
                                 {"step_ms", milliseconds(rank.step)},
                                 {"span_ms", milliseconds(rank.span)}});
  }
  if (explain) {
    document["collectives"] = collectives_json(prediction, workload);
  }
  document["notes"] = prediction.notes;
  out << document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

int run(const Arguments& arguments, Streams& streams) {
  const auto path = input::find_data(arguments.text("--workload"), {"workloads"},
                                     {".json", ".json.gz"}, kCommandLine);
  const auto workload = workload::read_workload(path.string());
  const auto cluster = cluster_of(arguments);
  const auto gpus = gpus_of(arguments, cluster, workload);
  simulation::check_memory(workload, cluster, kCommandLine);
  const auto prediction = simulation::predict(workload, cluster, gpus, options_of(arguments));
  const bool explain = arguments.has("--explain");
  if (arguments.text("--format") == "json") {
    print_json(prediction, workload, explain, streams.out);
  } else {
    print_text(prediction, workload, explain, streams.out);
  }
  return 0;
}

}  // namespace

CommandSpec predict_command() {
  CommandSpec spec;
  spec.name = "predict";
  spec.summary = "Step time and throughput of one workload on one topology, alone";
  spec.details =
      "Replays the recorded window on the topology's GPUs: kernels and host time as recorded, "
      "every\n"
      "collective timed by the network model. Prints where the step's time goes.";
  spec.example = "trainyard predict --topology dgx-1-v100 --workload dlrm-v100x8 --explain";
  spec.options = {
      {.name = "--topology", .value_name = "T", .help = "node or cluster file", .required = true},
      {.name = "--workload", .value_name = "W", .help = "workload file", .required = true},
      {.name = "--gpus", .value_name = "N", .help = "GPUs of the job (default: as recorded)"},
      {.name = "--nodes", .value_name = "N", .help = "nodes of the cluster"},
      {.name = "--what-if",
       .value_name = "KEY=VALUE",
       .help = "align=on: start all ranks at one instant",
       .repeated = true},
      {.name = "--explain", .help = "a row for every collective call", .flag = true},
      {.name = "--format",
       .value_name = "F",
       .help = "text or json",
       .default_value = "text",
       .choices = {"text", "json"}},
  };
  spec.run = &run;
  return spec;
}

}  // namespace trainyard::cli
