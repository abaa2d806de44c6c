#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::input {

/// Where something stands in a user's file. Line 0: the format has no lines; column 0: none known.
struct Place {
  std::string file{};
  int line = 0;
  int column = 0;
};

/// "FILE:LINE:COLUMN: ", "FILE: " without lines, "" without a file.
[[nodiscard]] std::string prefix(const Place& place);

/// The user's input is wrong. `main` prints one line "FILE:LINE:COLUMN: error: ..." and exits 2;
/// notes follow as "note: ..." lines.
class InputError : public std::runtime_error {
 public:
  InputError(const Place& at, std::string_view what, std::vector<std::string> notes = {});
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::vector<std::string> notes_;
};

/// The run had begun and failed (disk full, a broken pipe): exit 1.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Place of a byte offset in a text (1-based line and column; column counts bytes).
[[nodiscard]] Place place_of(std::string_view file, std::string_view text, std::size_t offset);

/// ", did you mean "x"?" for the nearest known word, or ` (known: a, b, c)` when none is near.
[[nodiscard]] std::string suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace trainyard::input
