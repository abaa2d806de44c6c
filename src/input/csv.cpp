#include "input/csv.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "input/files.hpp"

namespace trainyard::input {

namespace {

/// Splits CSV text into cells. Lines and columns count from 1; columns count bytes.
class Reader {
 public:
  struct Cell {
    std::string text{};
    int line = 0;
    int column = 0;
  };

  Reader(std::string_view text, std::string_view name) : text_{text}, name_{name} {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text_.starts_with(kByteOrderMark)) {
      text_.remove_prefix(kByteOrderMark.size());
    }
  }

  /// The next row that is not a blank line; empty at the end.
  std::vector<Cell> next_row() {
    while (at_ < text_.size() && at_line_end()) {
      skip_line_end();
    }
    std::vector<Cell> cells;
    while (at_ < text_.size()) {
      cells.push_back(next_cell());
      if (at_ == text_.size()) {
        break;
      }
      if (at_line_end()) {
        skip_line_end();
        break;
      }
      ++at_;  // the comma
      if (at_ == text_.size()) {
        cells.push_back(Cell{"", line_, column()});
      }
    }
    return cells;
  }

 private:
  [[nodiscard]] int column() const { return static_cast<int>(at_ - line_start_) + 1; }

  [[nodiscard]] bool at_line_end() const {
    return text_[at_] == '\n' || text_.substr(at_, 2) == "\r\n";
  }

  void skip_line_end() {
    at_ += text_[at_] == '\r' ? 2 : 1;
    ++line_;
    line_start_ = at_;
  }

  [[noreturn]] void fail(int line, int column, std::string_view what) const {
    throw InputError{Place{std::string{name_}, line, column}, what};
  }

  Cell next_cell() {
    Cell cell{"", line_, column()};
    if (text_[at_] == '"') {
      read_quoted(cell);
      return cell;
    }
    while (at_ < text_.size() && text_[at_] != ',' && !at_line_end()) {
      if (text_[at_] == '"') {
        fail(line_, column(), "a quote inside a cell that does not start with one");
      }
      cell.text += text_[at_++];
    }
    return cell;
  }

  void read_quoted(Cell& cell) {
    ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"' && text_.substr(at_, 1) == "\"") {
        ++at_;
      } else if (c == '"') {
        if (at_ < text_.size() && text_[at_] != ',' && !at_line_end()) {
          fail(line_, column(), "text after the closing quote of a cell, expected a comma");
        }
        return;
      } else if (c == '\n') {
        ++line_;
        line_start_ = at_;
      }
      cell.text += c;
    }
    fail(cell.line, cell.column, "the quote that opens this cell is never closed");
  }

  std::string_view text_;
  std::string_view name_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
};

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole ? std::optional{number} : std::nullopt;
}

}  // namespace

Csv Csv::parse(std::string_view text, std::string_view name) {
  Csv csv;
  csv.name_ = name;
  Reader reader{text, csv.name_};
  for (auto& cell : reader.next_row()) {
    const Place place{csv.name_, cell.line, cell.column};
    if (csv.find(cell.text)) {
      throw InputError{place, fmt::format("column '{}' appears twice", cell.text)};
    }
    csv.columns_.push_back(std::move(cell.text));
    csv.header_places_.push_back(place);
  }
  if (csv.columns_.empty()) {
    throw InputError{Place{csv.name_}, "no header row: the file is empty"};
  }
  for (auto cells = reader.next_row(); !cells.empty(); cells = reader.next_row()) {
    if (cells.size() != csv.columns_.size()) {
      throw InputError{Place{csv.name_, cells.front().line, 1},
                       fmt::format("the row has {} cells, expected {} as in the header",
                                   cells.size(), csv.columns_.size())};
    }
    auto& row = csv.rows_.emplace_back();
    row.reserve(cells.size());
    for (auto& cell : cells) {
      row.push_back(Cell{std::move(cell.text), cell.line, cell.column});
    }
  }
  return csv;
}

Csv Csv::parse_file(const std::string& path) {
  return parse(read_file(path), path);
}

std::optional<std::size_t> Csv::find(std::string_view column) const {
  const auto at = std::ranges::find(columns_, column);
  return at == columns_.end() ? std::nullopt
                              : std::optional{static_cast<std::size_t>(at - columns_.begin())};
}

void Csv::check_columns(const std::vector<std::string>& required,
                        const std::vector<std::string>& optional) const {
  std::vector<std::string> known = required;
  known.insert(known.end(), optional.begin(), optional.end());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (std::ranges::find(known, columns_[i]) == known.end()) {
      throw InputError{header_places_[i], fmt::format("unknown column '{}'{}", columns_[i],
                                                      suggestion(columns_[i], known))};
    }
  }
  for (const std::string& column : required) {
    if (!find(column)) {
      throw InputError{header_places_.front(), fmt::format("missing column '{}'", column)};
    }
  }
}

CsvRow Csv::row(std::size_t index) const {
  CsvRow row;
  row.csv_ = this;
  row.index_ = index;
  return row;
}

Place CsvRow::place(std::string_view column) const {
  const auto& cells = csv_->rows_[index_];
  const auto at = csv_->find(column);
  if (!at) {
    return Place{csv_->name_, cells.front().line, 0};
  }
  return Place{csv_->name_, cells[*at].line, cells[*at].column};
}

bool CsvRow::has(std::string_view column) const {
  const auto at = csv_->find(column);
  return at && !csv_->rows_[index_][*at].text.empty();
}

const std::string& CsvRow::text(std::string_view column) const {
  const auto at = csv_->find(column);
  if (!at) {
    throw InputError{csv_->header_places_.front(), fmt::format("missing column '{}'", column)};
  }
  return csv_->rows_[index_][*at].text;
}

std::int64_t CsvRow::integer(std::string_view column) const {
  const std::string& cell = text(column);
  const auto value = parse_number<std::int64_t>(cell);
  if (!value) {
    fail(column, fmt::format("must be an integer, got \"{}\"", cell));
  }
  return *value;
}

double CsvRow::number(std::string_view column) const {
  const std::string& cell = text(column);
  const auto value = parse_number<double>(cell);
  if (!value || !std::isfinite(*value)) {
    fail(column, fmt::format("must be a number, got \"{}\"", cell));
  }
  return *value;
}

void CsvRow::fail(std::string_view column, std::string_view what) const {
  throw InputError{place(column), fmt::format("'{}' {}", column, what)};
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string{text};
  }
  std::string out = "\"";
  for (const char c : text) {
    out.append(c == '"' ? 2 : 1, c);
  }
  return out + '"';
}

}  // namespace trainyard::input
