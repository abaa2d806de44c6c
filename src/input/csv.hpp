#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "input/error.hpp"

namespace trainyard::input {

/// One CSV row. Typed access throws InputError at FILE:LINE:COLUMN of the cell.
class CsvRow {
 public:
  [[nodiscard]] Place place(std::string_view column) const;
  [[nodiscard]] bool has(
      std::string_view column) const;  ///< the column exists and the cell has text
  [[nodiscard]] const std::string& text(std::string_view column) const;
  [[nodiscard]] std::int64_t integer(std::string_view column) const;
  [[nodiscard]] double number(std::string_view column) const;  ///< finite
  [[noreturn]] void fail(std::string_view column, std::string_view what) const;

 private:
  friend class Csv;
  const class Csv* csv_ = nullptr;
  std::size_t index_ = 0;
};

/// A CSV file with a header row (RFC 4180: quotes, doubled quotes, line breaks in quotes; LF or
/// CRLF; a UTF-8 byte order mark is skipped). Ragged rows and repeated column names are errors.
class Csv {
 public:
  [[nodiscard]] static Csv parse(std::string_view text, std::string_view name);
  [[nodiscard]] static Csv parse_file(const std::string& path);

  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  /// Error for a column that is not in `known`, with a suggestion, and for a missing `required`
  /// one.
  void check_columns(const std::vector<std::string>& required,
                     const std::vector<std::string>& optional) const;
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] CsvRow row(std::size_t index) const;

 private:
  friend class CsvRow;
  struct Cell {
    std::string text{};
    int line = 0;
    int column = 0;
  };
  [[nodiscard]] std::optional<std::size_t> find(std::string_view column) const;
  std::string name_{};
  std::vector<std::string> columns_{};
  std::vector<Place> header_places_{};  ///< of each column name
  std::vector<std::vector<Cell>> rows_{};
};

/// A cell for writing: quoted only when it holds a comma, a quote or a line break.
[[nodiscard]] std::string csv_cell(std::string_view text);

}  // namespace trainyard::input
