#include "validation/report.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace trainyard::validation {
namespace {

/// numpy's default, q in [0, 1]; `sorted` not empty.
double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = at - static_cast<double>(below);
  return sorted[below] + part * (sorted[above] - sorted[below]);
}

template <typename Key>
std::map<std::string, Summary> grouped(const std::vector<Row>& rows, bool scored, Key key) {
  std::map<std::string, std::vector<double>> errors;
  for (const Row& row : rows) {
    if (row.unscored.empty() == scored) {
      errors[key(row)].push_back(std::abs(row.error()));
    }
  }
  std::map<std::string, Summary> summaries;
  for (auto& [name, values] : errors) {
    summaries[name] = summarise(std::move(values));
  }
  return summaries;
}

}  // namespace

Summary summarise(std::vector<double> absolute_errors) {
  Summary summary;
  summary.n = absolute_errors.size();
  if (summary.n == 0) {
    return summary;
  }
  std::sort(absolute_errors.begin(), absolute_errors.end());
  summary.median = quantile(absolute_errors, 0.5);
  summary.p90 = quantile(absolute_errors, 0.9);
  summary.mean = std::accumulate(absolute_errors.begin(), absolute_errors.end(), 0.0) /
                 static_cast<double>(summary.n);
  return summary;
}

Summary Report::over_rows() const {
  std::vector<double> errors;
  for (const Row& row : rows) {
    if (row.unscored.empty()) {
      errors.push_back(std::abs(row.error()));
    }
  }
  return summarise(std::move(errors));
}

Summary Report::over_families() const {
  std::vector<double> medians;
  for (const auto& [name, summary] : by_family()) {
    medians.push_back(summary.median);
  }
  return summarise(std::move(medians));
}

std::map<std::string, Summary> Report::by_family() const {
  return grouped(rows, true, [](const Row& row) { return row.family; });
}

std::map<std::string, Summary> Report::by_system() const {
  return grouped(rows, true, [](const Row& row) { return row.system; });
}

std::map<std::string, Summary> Report::apart() const {
  return grouped(rows, false, [](const Row& row) { return row.unscored; });
}

}  // namespace trainyard::validation
