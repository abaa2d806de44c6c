// `trainyard validate`: predictions beside published measurements.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "input/csv.hpp"
#include "validation/nccl.hpp"

namespace trainyard::cli {
namespace {

using validation::Report;
using validation::Row;
using validation::Summary;

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100.0 * share);
}

void print_summaries(const std::string& title, const std::map<std::string, Summary>& summaries,
                     std::ostream& out) {
  out << fmt::format("\n{:<44} {:>5} {:>8} {:>8} {:>8}\n", title, "rows", "median", "p90", "mean");
  for (const auto& [name, summary] : summaries) {
    out << fmt::format("{:<44} {:>5} {:>8} {:>8} {:>8}\n", name, summary.n, percent(summary.median),
                       percent(summary.p90), percent(summary.mean));
  }
}

void print_line(const std::string& name, const Summary& summary, std::ostream& out) {
  out << fmt::format("{:<24} n {:>5}  median {:>7}  p90 {:>7}  mean {:>7}\n", name, summary.n,
                     percent(summary.median), percent(summary.p90), percent(summary.mean));
}

void print_worst(const Report& report, std::ostream& out) {
  constexpr std::size_t kShown = 10;
  std::vector<const Row*> worst;
  for (const Row& row : report.rows) {
    if (row.unscored.empty()) {
      worst.push_back(&row);
    }
  }
  std::stable_sort(worst.begin(), worst.end(), [](const Row* a, const Row* b) {
    return std::abs(a->error()) > std::abs(b->error());
  });
  worst.resize(std::min(worst.size(), kShown));
  out << fmt::format("\nworst rows ({})\n{:>12} {:>12} {:>8}\n", report.unit, "measured",
                     "predicted", "error");
  for (const Row* row : worst) {
    std::string identity;
    for (const auto& [column, value] : row->identity) {
      identity += value.empty() ? "" : fmt::format(" {}={}", column, value);
    }
    out << fmt::format("{:>12.1f} {:>12.1f} {:>+7.1f}% {}\n", row->measured, row->predicted,
                       100.0 * row->error(), identity);
  }
}

void print_text(const Report& report, std::ostream& out) {
  print_line("scored rows", report.over_rows(), out);
  print_line("medians of families", report.over_families(), out);
  out << fmt::format("{:<24} {} behind {} rows\n", "constants", report.constants,
                     report.rows.size());
  print_summaries("by family", report.by_family(), out);
  print_summaries("by system", report.by_system(), out);
  print_summaries("not scored", report.apart(), out);
  print_worst(report, out);
}

void print_csv(const Report& report, std::ostream& out) {
  if (report.rows.empty()) {
    return;
  }
  for (const auto& [column, value] : report.rows.front().identity) {
    out << column << ',';
  }
  out << "measured,predicted,error,unscored\n";
  for (const Row& row : report.rows) {
    for (const auto& [column, value] : row.identity) {
      out << input::csv_cell(value) << ',';
    }
    out << fmt::format("{},{:.3f},{:.5f},{}\n", row.measured, row.predicted, row.error(),
                       input::csv_cell(row.unscored));
  }
}

nlohmann::ordered_json to_json(const Summary& summary) {
  return {{"n", summary.n},
          {"median_abs_error", summary.median},
          {"p90_abs_error", summary.p90},
          {"mean_abs_error", summary.mean}};
}

nlohmann::ordered_json to_json(const std::map<std::string, Summary>& summaries) {
  auto document = nlohmann::ordered_json::object();
  for (const auto& [name, summary] : summaries) {
    document[name] = to_json(summary);
  }
  return document;
}

void print_json(const Report& report, std::ostream& out) {
  nlohmann::ordered_json document;
  document["set"] = report.set;
  document["unit"] = report.unit;
  document["constants"] = report.constants;
  document["rows"] = nlohmann::ordered_json::array();
  for (const Row& row : report.rows) {
    nlohmann::ordered_json entry;
    for (const auto& [column, value] : row.identity) {
      entry[column] = value;
    }
    entry["measured"] = row.measured;
    entry["predicted"] = row.predicted;
    entry["error"] = row.error();
    if (!row.unscored.empty()) {
      entry["unscored"] = row.unscored;
    }
    document["rows"].push_back(std::move(entry));
  }
  auto summary = to_json(report.over_rows());
  summary["families"] = to_json(report.over_families());
  summary["by_family"] = to_json(report.by_family());
  summary["by_system"] = to_json(report.by_system());
  summary["not_scored"] = to_json(report.apart());
  document["summary"] = std::move(summary);
  out << document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

int run(const Arguments& arguments, Streams& streams) {
  const std::string path =
      arguments.has("--against") ? arguments.text("--against") : validation::published_nccl();
  const Report report = validation::validate_nccl(path);
  const std::string format = arguments.text("--format");
  if (format == "json") {
    print_json(report, streams.out);
  } else if (format == "csv") {
    print_csv(report, streams.out);
  } else {
    print_text(report, streams.out);
  }
  return 0;
}

}  // namespace

CommandSpec validate_command() {
  CommandSpec spec;
  spec.name = "validate";
  spec.summary = "Predictions held against published measurements";
  spec.details =
      "Prints, for every published row, what was measured and what is predicted, and the errors\n"
      "over rows, families and systems. Rows that cannot be scored are shown apart, with the "
      "reason.\n"
      "nccl: times of nccl-tests tables; scored from 1 MiB up.";
  spec.example = "trainyard validate nccl";
  spec.options = {
      {.name = "SET", .help = "what to predict", .default_value = "nccl", .choices = {"nccl"}},
      {.name = "--against", .value_name = "FILE.csv", .help = "a table of your own, same columns"},
      {.name = "--format",
       .value_name = "F",
       .help = "text, csv or json",
       .default_value = "text",
       .choices = {"text", "csv", "json"}},
  };
  spec.run = &run;
  return spec;
}

}  // namespace trainyard::cli
