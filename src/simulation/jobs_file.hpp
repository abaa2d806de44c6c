#pragma once

#include <optional>
#include <string>
#include <vector>

#include "input/csv.hpp"
#include "simulation/scenario.hpp"

namespace trainyard::simulation {

/// A row of a jobs.csv. Cells that are empty or of an absent column keep their default.
struct JobRow {
  std::string id{};
  units::Nanoseconds submit{};
  int gpus = 1;
  std::optional<units::Nanoseconds> duration{};
  std::string workload{};
  std::optional<std::int64_t> steps{};
  std::optional<double> samples{};
  std::string queue{};
  std::string user{};
  int priority = 0;
  std::string job_class = "training";
  std::optional<units::Bytes> memory{};  ///< per GPU
};

/// @throws InputError at FILE:LINE:COLUMN: missing or unknown column, a cell of the wrong type or
///         range, a filled cell of a column that this version does not act on
[[nodiscard]] std::vector<JobRow> read_job_rows(const input::Csv& csv);

/// Some row says how long its job is expected to run.
[[nodiscard]] bool has_estimates(const input::Csv& csv);

/// Why a class of job is wrong, "" when it is not.
[[nodiscard]] std::string check_class(std::string_view job_class);

}  // namespace trainyard::simulation
