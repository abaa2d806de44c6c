#include "validation/nccl.hpp"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <tuple>

#include "collective/bound.hpp"
#include "collective/operation.hpp"
#include "collective/plan.hpp"
#include "input/csv.hpp"
#include "input/files.hpp"

namespace trainyard::validation {
namespace {

/// What the aims are set on: below it, start and hops alone decide.
constexpr double kScoredBytes = 1048576.0;

std::string text_or(const input::CsvRow& row, std::string_view column, std::string_view other) {
  return row.has(column) ? row.text(column) : std::string{other};
}

int count_or(const input::CsvRow& row, std::string_view column, int other) {
  if (!row.has(column)) {
    return other;
  }
  const auto value = row.integer(column);
  if (value < 1 || value > 1000000) {
    row.fail(column, fmt::format("must be from 1 to 1000000, got {}", value));
  }
  return static_cast<int>(value);
}

double positive(const input::CsvRow& row, std::string_view column) {
  const double value = row.number(column);
  if (value <= 0.0) {
    row.fail(column, fmt::format("must be more than 0, got {}", value));
  }
  return value;
}

/// Tables that are no measure of a model, with the reason; decided before looking at errors.
std::map<std::string, std::string> unscored_tables() {
  const auto path = input::data_folder() / "tests" / "published" / "unscored.csv";
  const auto csv = input::Csv::parse_file(path.string());
  csv.check_columns({"set", "id", "reason"}, {});
  std::map<std::string, std::string> reasons;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    if (csv.row(i).text("set") == "nccl") {
      reasons[csv.row(i).text("id")] = csv.row(i).text("reason");
    }
  }
  return reasons;
}

/// Clusters and planners of the rows read so far.
class Predictor {
 public:
  double microseconds(const input::CsvRow& row) {
    const int nodes = count_or(row, "nodes", 1);
    const int gpus = count_or(row, "gpus", 0);
    Case& here = find(row, nodes);
    const auto group = spread(row, here.cluster, nodes, gpus);
    const auto op = text_or(row, "collective", "all_reduce");
    const auto known = collective::parse_op(op);
    if (!known) {
      row.fail("collective", collective::unknown_op(op));
    }
    const collective::Request request{*known, units::Bytes{positive(row, "bytes")}, group};
    collective::check_request(here.cluster, request, row.place("bytes"));
    const auto plan = here.planner.plan(request);
    return collective::time_alone(plan, here.cluster).si() * 1e6;
  }

 private:
  struct Case {
    Case(topology::Cluster made, const collective::Software& software)
        : cluster{std::move(made)}, planner{cluster, software} {}
    topology::Cluster cluster;
    collective::Planner planner;
  };

  Case& find(const input::CsvRow& row, int nodes) {
    collective::Software software;
    software.era = collective::era_of(text_or(row, "nccl_version", ""));
    software.call_to_call = true;
    software.one_process = text_or(row, "notes", "").find("1 process") != std::string::npos;
    topology::ClusterOptions options;
    options.nodes = nodes;
    if (row.has("nics")) {
      options.nics = count_or(row, "nics", 1);
    }
    const auto key = std::make_tuple(row.text("topology"), nodes, options.nics.value_or(0),
                                     software.era, software.one_process);
    auto& entry = cases_[key];
    if (!entry) {
      entry = std::make_unique<Case>(
          topology::load_cluster(row.text("topology"), options, row.place("topology")), software);
    }
    return *entry;
  }

  static std::vector<topology::GpuId> spread(const input::CsvRow& row,
                                             const topology::Cluster& cluster, int nodes,
                                             int gpus) {
    if (gpus % nodes != 0 || gpus / nodes > cluster.gpus_in(0) || nodes > cluster.nodes()) {
      row.fail("gpus", fmt::format("must spread evenly over {} nodes of {} GPUs, got {}", nodes,
                                   cluster.gpus_in(0), gpus));
    }
    std::vector<topology::GpuId> group;
    for (int node = 0; node < nodes; ++node) {
      for (int gpu = 0; gpu < gpus / nodes; ++gpu) {
        group.push_back(cluster.first_gpu(node) + gpu);
      }
    }
    return group;
  }

  std::map<std::tuple<std::string, int, int, collective::Era, bool>, std::unique_ptr<Case>>
      cases_{};
};

}  // namespace

std::string published_nccl() {
  return (input::data_folder() / "tests" / "published" / "nccl-tests.csv").string();
}

Report validate_nccl(const std::string& path) {
  const auto csv = input::Csv::parse_file(path);
  csv.check_columns({"topology", "gpus", "bytes", "time_us"}, csv.columns());
  if (csv.size() == 0) {
    throw input::InputError{{path}, "the table has no rows behind its header, expected at least 1"};
  }
  const auto unscored = unscored_tables();
  Predictor predictor;
  Report report{"nccl", "us", {}, collective::Constants::load().count()};
  for (std::size_t i = 0; i < csv.size(); ++i) {
    const auto row = csv.row(i);
    Row result;
    for (const char* column : {"id", "topology", "nodes", "nics", "gpus", "collective", "bytes"}) {
      result.identity.emplace_back(column, text_or(row, column, ""));
    }
    result.family = text_or(row, "id", row.text("topology"));
    result.system = row.text("topology");
    result.measured = positive(row, "time_us");
    result.predicted = predictor.microseconds(row);
    const auto reason = unscored.find(result.family);
    if (reason != unscored.end()) {
      result.unscored = reason->second;
    } else if (row.number("bytes") < kScoredBytes) {
      result.unscored = "below 1 MiB";
    }
    report.rows.push_back(std::move(result));
  }
  return report;
}

}  // namespace trainyard::validation
