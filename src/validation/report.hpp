#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace trainyard::validation {

/// A published figure and ours.
struct Row {
  std::vector<std::pair<std::string, std::string>> identity{};  ///< column, value: in file order
  std::string family{};                                         ///< rows of one measurement
  std::string system{};
  std::string unscored{};  ///< why it is not scored; empty: it is
  double measured = 0.0;
  double predicted = 0.0;

  [[nodiscard]] double error() const { return predicted / measured - 1.0; }
};

/// Absolute relative errors of some rows. Percentiles: linear between order statistics.
struct Summary {
  std::size_t n = 0;
  double median = 0.0;
  double p90 = 0.0;
  double mean = 0.0;
};

[[nodiscard]] Summary summarise(std::vector<double> absolute_errors);

/// What `trainyard validate` prints of one set.
struct Report {
  std::string set{};
  std::string unit{};  ///< of measured and predicted: "us"
  std::vector<Row> rows{};
  int constants = 0;  ///< fitted or chosen numbers behind the predictions

  [[nodiscard]] Summary over_rows() const;      ///< scored rows
  [[nodiscard]] Summary over_families() const;  ///< medians of the families' scored rows
  [[nodiscard]] std::map<std::string, Summary> by_family() const;
  [[nodiscard]] std::map<std::string, Summary> by_system() const;
  /// Rows that are not scored, by reason.
  [[nodiscard]] std::map<std::string, Summary> apart() const;
};

}  // namespace trainyard::validation
