// `trainyard workload show`: what a workload holds, as recorded.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "input/error.hpp"
#include "input/files.hpp"
#include "units/text.hpp"
#include "workload/file.hpp"
#include "workload/import.hpp"

namespace trainyard::cli {
namespace {

using units::Nanoseconds;
using workload::DeviceStatistics;
using workload::Workload;

double milliseconds(Nanoseconds time) {
  return static_cast<double>(time.count()) / 1e6;
}

/// Calls and time of the kernels of one name on all ranks.
struct KernelRow {
  std::string name{};
  workload::Category category = workload::Category::other;
  std::int64_t count = 0;
  Nanoseconds total{};
};

std::vector<KernelRow> kernels_of(const Workload& workload) {
  std::map<std::pair<int, workload::Category>, KernelRow> rows;
  for (const auto& timeline : workload.timelines) {
    for (const auto& op : timeline.ops) {
      if (op.kind != workload::OpKind::compute) {
        continue;
      }
      KernelRow& row = rows[{op.name, op.category}];
      row.name = op.name < 0 ? "unnamed" : workload.names[static_cast<std::size_t>(op.name)];
      row.category = op.category;
      ++row.count;
      row.total += op.duration;
    }
  }
  std::vector<KernelRow> sorted;
  sorted.reserve(rows.size());
  for (auto& [key, row] : rows) {
    sorted.push_back(std::move(row));
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const KernelRow& a, const KernelRow& b) { return a.total > b.total; });
  return sorted;
}

// --- text ---------------------------------------------------------------------------------------

void print_head(const Workload& workload, std::ostream& out) {
  const auto line = [&](std::string_view key, const std::string& value) {
    out << fmt::format("{:<18} {}\n", key, value.empty() ? "unknown" : value);
  };
  const auto size = [](const std::optional<units::Bytes>& bytes) {
    return bytes ? units::to_text(*bytes) : std::string{};
  };
  line("workload", workload.name);
  line("GPU", workload.gpu);
  line("profiler", workload.framework);
  line("source", workload.source);
  line("licence", workload.licence);
  line("ranks", fmt::format("{} recorded of {}", workload.timelines.size(), workload.world_size));
  line("samples per step",
       workload.samples_per_step ? units::to_decimal(*workload.samples_per_step) : std::string{});
  line("memory per GPU", size(workload.memory_per_gpu));
  line("checkpoint", size(workload.checkpoint_size));
  const int step = workload::representative_step(workload);
  line("typical step", step < 0
                           ? "none is marked: the whole window"
                           : workload.timelines.front().steps[static_cast<std::size_t>(step)].name);
}

void print_devices(const std::vector<DeviceStatistics>& devices, std::ostream& out) {
  out << fmt::format(
      "\n{:>4} {:>3} {:>8} {:>10} {:>6} {:>10} {:>7} {:>7} {:>10} {:>10} {:>10} {:>10}\n", "rank",
      "GPU", "kernels", "kernel ms", "comm", "comm ms", "copies", "fills", "span ms", "busy ms",
      "idle ms", "exposed ms");
  for (const DeviceStatistics& device : devices) {
    out << fmt::format(
        "{:>4} {:>3} {:>8} {:>10.3f} {:>6} {:>10.3f} {:>7} {:>7} {:>10.3f} {:>10.3f} {:>10.3f} "
        "{:>10.3f}\n",
        device.rank, device.device, device.n_kernels, milliseconds(device.kernel), device.n_comm,
        milliseconds(device.comm_kernel), device.n_memcpy, device.n_memset,
        milliseconds(device.gpu_span), milliseconds(device.busy), milliseconds(device.idle),
        milliseconds(device.exposed_comm));
  }
  out << "comm ms is as recorded: it holds the wait for the slowest rank\n";
}

void print_steps(const Workload& workload, const std::vector<DeviceStatistics>& devices,
                 std::ostream& out) {
  const auto& marks = workload.timelines.front().steps;
  if (marks.empty()) {
    return;
  }
  out << fmt::format("\n{:<20} {:>12} {:>12}\n", "step", "fastest ms", "slowest ms");
  for (std::size_t step = 0; step < marks.size(); ++step) {
    Nanoseconds fastest = units::kForever;
    Nanoseconds slowest{};
    for (const DeviceStatistics& device : devices) {
      if (step < device.step.size()) {
        fastest = std::min(fastest, device.step[step]);
        slowest = std::max(slowest, device.step[step]);
      }
    }
    out << fmt::format("{:<20} {:>12.3f} {:>12.3f}\n", marks[step].name, milliseconds(fastest),
                       milliseconds(slowest));
  }
}

void print_kernels(const std::vector<KernelRow>& kernels, std::ostream& out) {
  constexpr std::size_t kTop = 3;  // a category
  std::map<workload::Category, Nanoseconds> totals;
  std::map<workload::Category, std::size_t> shown;
  Nanoseconds all{};
  for (const KernelRow& row : kernels) {
    totals[row.category] += row.total;
    all += row.total;
  }
  out << fmt::format("\n{:<14} {:>10} {:>7} {:>8}  {}\n", "category", "ms", "share", "calls",
                     "kernel");
  for (const auto& [category, total] : totals) {
    out << fmt::format("{:<14} {:>10.3f} {:>6.1f}%\n", workload::to_text(category),
                       milliseconds(total),
                       all > Nanoseconds{} ? 100.0 * milliseconds(total) / milliseconds(all) : 0.0);
    for (const KernelRow& row : kernels) {
      if (row.category == category && shown[category]++ < kTop) {
        out << fmt::format("{:<14} {:>10.3f} {:>7} {:>8}  {}\n", "", milliseconds(row.total), "",
                           row.count, row.name);
      }
    }
  }
}

void print_collectives(const Workload& workload, std::ostream& out) {
  if (workload.collectives.empty()) {
    return;
  }
  struct Row {
    std::int64_t calls = 0;
    std::int64_t unknown = 0;
    double bytes = 0.0;
  };
  std::map<std::tuple<int, workload::CollectiveOp>, Row> rows;
  for (const auto& call : workload.collectives) {
    Row& row = rows[{call.group, call.op}];
    ++row.calls;
    row.unknown += call.bytes ? 0 : 1;
    row.bytes += call.bytes ? call.bytes->si() : 0.0;
  }
  out << fmt::format("\n{:<16} {:>6} {:<15} {:>6} {:>12} {:>13}\n", "group", "ranks", "collective",
                     "calls", "bytes", "size unknown");
  for (const auto& [key, row] : rows) {
    const auto& group = workload.groups[static_cast<std::size_t>(std::get<0>(key))];
    out << fmt::format(
        "{:<16} {:>6} {:<15} {:>6} {:>12} {:>13}\n", group.name, group.ranks.size(),
        workload::to_text(std::get<1>(key)), row.calls,
        row.unknown == row.calls ? "unknown" : units::to_text(units::Bytes{row.bytes}),
        row.unknown);
  }
}

void print_text(const Workload& workload, std::ostream& out) {
  const auto devices = workload::statistics(workload);
  print_head(workload, out);
  print_devices(devices, out);
  print_steps(workload, devices, out);
  print_kernels(kernels_of(workload), out);
  print_collectives(workload, out);
  if (!workload.skipped.empty()) {
    out << "\nleft out or changed at import\n";
  }
  for (const auto& skipped : workload.skipped) {
    out << fmt::format("{:>10}  {}\n", skipped.count, skipped.reason);
  }
}

// --- JSON ---------------------------------------------------------------------------------------

nlohmann::ordered_json device_json(const DeviceStatistics& device) {
  nlohmann::ordered_json entry;
  entry["rank"] = device.rank;
  entry["device"] = device.device;
  entry["n_kernels"] = device.n_kernels;
  entry["kernel_ms"] = milliseconds(device.kernel);
  entry["n_comm"] = device.n_comm;
  entry["comm_kernel_ms"] = milliseconds(device.comm_kernel);
  entry["n_memcpy"] = device.n_memcpy;
  entry["memcpy_bytes"] = device.memcpy_bytes;
  entry["memcpy_ms"] = milliseconds(device.memcpy);
  entry["n_memset"] = device.n_memset;
  entry["memset_bytes"] = device.memset_bytes;
  entry["n_steps"] = device.n_steps;
  entry["step_ms"] = nlohmann::ordered_json::array();
  for (const Nanoseconds step : device.step) {
    entry["step_ms"].push_back(milliseconds(step));
  }
  entry["gpu_span_ms"] = milliseconds(device.gpu_span);
  entry["busy_ms"] = milliseconds(device.busy);
  entry["idle_ms"] = milliseconds(device.idle);
  entry["compute_union_ms"] = milliseconds(device.compute_union);
  entry["comm_union_ms"] = milliseconds(device.comm_union);
  entry["overlap_ms"] = milliseconds(device.overlap);
  entry["exposed_comm_ms"] = milliseconds(device.exposed_comm);
  return entry;
}

template <typename T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  if (!value) {
    return nullptr;
  }
  if constexpr (std::is_same_v<T, double>) {
    return *value;
  } else {
    return value->si();
  }
}

void print_json(const Workload& workload, std::ostream& out) {
  nlohmann::ordered_json document;
  document["name"] = workload.name;
  document["gpu"] = workload.gpu;
  document["framework"] = workload.framework;
  document["source"] = workload.source;
  document["licence"] = workload.licence;
  document["world_size"] = workload.world_size;
  document["samples_per_step"] = or_null(workload.samples_per_step);
  document["memory_per_gpu_bytes"] = or_null(workload.memory_per_gpu);
  document["representative_step"] = workload::representative_step(workload);
  document["devices"] = nlohmann::ordered_json::array();
  for (const DeviceStatistics& device : workload::statistics(workload)) {
    document["devices"].push_back(device_json(device));
  }
  document["kernels"] = nlohmann::ordered_json::array();
  for (const KernelRow& row : kernels_of(workload)) {
    document["kernels"].push_back({{"name", row.name},
                                   {"category", workload::to_text(row.category)},
                                   {"count", row.count},
                                   {"total_ms", milliseconds(row.total)}});
  }
  document["collectives"] = nlohmann::ordered_json::array();
  for (const auto& call : workload.collectives) {
    const auto& group = workload.groups[static_cast<std::size_t>(call.group)];
    document["collectives"].push_back({{"op", workload::to_text(call.op)},
                                       {"bytes", or_null(call.bytes)},
                                       {"group", group.name},
                                       {"group_size", group.ranks.size()},
                                       {"step", call.step}});
  }
  document["skipped"] = nlohmann::ordered_json::array();
  for (const auto& skipped : workload.skipped) {
    document["skipped"].push_back({{"reason", skipped.reason}, {"count", skipped.count}});
  }
  out << document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

int run(const Arguments& arguments, Streams& streams) {
  const auto path = input::find_data(arguments.text("W"), {"workloads"}, {".json", ".json.gz"},
                                     input::Place{"command line"});
  const Workload workload = workload::read_workload(path.string());
  if (arguments.text("--format") == "json") {
    print_json(workload, streams.out);
  } else {
    print_text(workload, streams.out);
  }
  return 0;
}

}  // namespace

CommandSpec workload_show_command() {
  CommandSpec spec;
  spec.name = "workload show";
  spec.summary = "Show what a workload holds, as recorded";
  spec.details =
      "One row a rank or GPU, the marked steps, the kernels that cost most by category, bytes by\n"
      "collective, and what the import left out and why.";
  spec.example = "trainyard workload show dlrm-v100x8 --format json";
  spec.options = {
      {.name = "W", .help = "workload file, or a shipped name", .required = true},
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
