#include "simulation/jobs_file.hpp"

#include <fmt/core.h>

#include <array>
#include <limits>

namespace trainyard::simulation {
namespace {

std::vector<std::string> columns_needed() {
  return {"job_id", "submit_s", "gpus", "duration_s"};
}

std::vector<std::string> columns_acted_on() {
  return {"workload", "steps", "samples",  "estimate_s",  "queue",
          "user",     "class", "priority", "memory_bytes"};
}

constexpr std::array<const char*, 7> kUnsupported{
    "deadline_s",         "gpu_kind",    "min_gpus",    "max_gpus",
    "checkpoint_every_s", "mig_profile", "gpu_fraction"};

// 64 bits of nanoseconds end at 292 years; the rest is room for sums.
constexpr double kLongestSeconds = 200.0 * 365.0 * 86400.0;
constexpr std::int64_t kMostSteps = 1'000'000'000'000;
constexpr std::int64_t kMostPriority = 1'000'000;

/// @param lowest  0, or just above it
units::Nanoseconds seconds_in(const input::CsvRow& row, std::string_view column, double lowest) {
  const double seconds = row.number(column);
  if (!(seconds >= lowest && seconds <= kLongestSeconds)) {
    row.fail(column, fmt::format("must be seconds {}, at most 200 years, got \"{}\"",
                                 lowest > 0.0 ? "above 0" : "from 0", row.text(column)));
  }
  return units::to_nanoseconds(units::Seconds{seconds});
}

std::int64_t integer_in(const input::CsvRow& row, std::string_view column, std::int64_t low,
                        std::int64_t high) {
  const std::int64_t value = row.integer(column);
  if (value < low || value > high) {
    row.fail(column, fmt::format("must be an integer from {} to {}, got {}", low, high, value));
  }
  return value;
}

double positive(const input::CsvRow& row, std::string_view column) {
  const double value = row.number(column);
  if (!(value > 0.0)) {
    row.fail(column, fmt::format("must be above 0, got \"{}\"", row.text(column)));
  }
  return value;
}

void read_amount(const input::CsvRow& row, JobRow& job) {
  // Half a nanosecond rounds to one: a run always takes some time.
  if (row.has("duration_s")) {
    job.duration = seconds_in(row, "duration_s", 0.5e-9);
  }
  if (row.has("estimate_s")) {
    (void)seconds_in(row, "estimate_s", 0.0);
  }
  if (row.has("steps")) {
    job.steps = integer_in(row, "steps", 1, kMostSteps);
  }
  if (row.has("samples")) {
    job.samples = positive(row, "samples");
  }
  if (job.steps && job.samples) {
    row.fail("samples", "and 'steps' exclude each other: leave one of them empty");
  }
}

void read_labels(const input::CsvRow& row, JobRow& job) {
  for (const auto& [column, text] :
       {std::pair{"workload", &job.workload}, std::pair{"queue", &job.queue},
        std::pair{"user", &job.user}, std::pair{"class", &job.job_class}}) {
    if (row.has(column)) {
      *text = row.text(column);
    }
  }
  if (const std::string wrong = check_class(job.job_class); !wrong.empty()) {
    row.fail("class", wrong);
  }
  if (row.has("priority")) {
    job.priority = static_cast<int>(integer_in(row, "priority", -kMostPriority, kMostPriority));
  }
  if (row.has("memory_bytes")) {
    job.memory = units::Bytes{positive(row, "memory_bytes")};
  }
}

JobRow read_row(const input::CsvRow& row) {
  for (const char* column : kUnsupported) {
    if (row.has(column)) {
      throw input::InputError{row.place(column),
                              fmt::format("'{}' is not supported by this version", column)};
    }
  }
  JobRow job;
  job.id = row.text("job_id");
  if (job.id.empty()) {
    row.fail("job_id", "must not be empty");
  }
  job.submit = seconds_in(row, "submit_s", 0.0);
  job.gpus = static_cast<int>(integer_in(row, "gpus", 1, std::numeric_limits<int>::max()));
  read_amount(row, job);
  read_labels(row, job);
  return job;
}

}  // namespace

std::vector<JobRow> read_job_rows(const input::Csv& csv) {
  std::vector<std::string> optional = columns_acted_on();
  optional.insert(optional.end(), kUnsupported.begin(), kUnsupported.end());
  csv.check_columns(columns_needed(), optional);
  std::vector<JobRow> rows;
  rows.reserve(csv.size());
  for (std::size_t i = 0; i < csv.size(); ++i) {
    rows.push_back(read_row(csv.row(i)));
  }
  return rows;
}

bool has_estimates(const input::Csv& csv) {
  for (std::size_t i = 0; i < csv.size(); ++i) {
    if (csv.row(i).has("estimate_s")) {
      return true;
    }
  }
  return false;
}

std::string check_class(std::string_view job_class) {
  if (job_class == "interactive" || job_class == "training" || job_class == "inference") {
    return "";
  }
  return fmt::format(R"(must be "interactive", "training" or "inference", got "{}")", job_class);
}

}  // namespace trainyard::simulation
