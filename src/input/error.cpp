#include "input/error.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <utility>

namespace trainyard::input {

namespace {

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

/// Levenshtein distance, upper and lower case alike.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) {
    row[j] = j;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replace = diagonal + (lower(a[i]) == lower(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replace, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// Keys and texts come from files and may hold line breaks or worse: an error stays one line, and
/// no byte of it steers a terminal.
std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (std::iscntrl(static_cast<unsigned char>(c)) != 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string prefix(const Place& place) {
  if (place.file.empty()) {
    return "";
  }
  if (place.line == 0) {
    return fmt::format("{}: ", place.file);
  }
  if (place.column == 0) {
    return fmt::format("{}:{}: ", place.file, place.line);
  }
  return fmt::format("{}:{}:{}: ", place.file, place.line, place.column);
}

InputError::InputError(const Place& at, std::string_view what, std::vector<std::string> notes)
    : std::runtime_error{one_line(fmt::format("{}error: {}", prefix(at), what))},
      notes_{std::move(notes)} {}

Place place_of(std::string_view file, std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line_break = before.rfind('\n');
  const std::size_t line_start = line_break == std::string_view::npos ? 0 : line_break + 1;
  return Place{std::string{file}, static_cast<int>(std::ranges::count(before, '\n')) + 1,
               static_cast<int>(before.size() - line_start) + 1};
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  if (known.empty()) {
    return "";
  }
  std::size_t nearest = std::numeric_limits<std::size_t>::max();
  std::string_view best;
  for (const std::string& candidate : known) {
    const std::size_t steps = distance(word, candidate);
    // A distance of the whole word means that nothing of it is left: no likeness at all.
    if (steps < nearest && steps < std::max(word.size(), candidate.size())) {
      nearest = steps;
      best = candidate;
    }
  }
  if (nearest <= std::max<std::size_t>(2, word.size() / 3)) {
    return fmt::format(", did you mean \"{}\"?", best);
  }
  return fmt::format(" (known: {})", fmt::join(known, ", "));
}

}  // namespace trainyard::input
