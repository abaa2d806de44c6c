#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::cli {

/// Where a command writes: results to `out`, diagnostics and progress to `err`.
struct Streams {
  std::ostream& out;
  std::ostream& err;
  bool terminal = false;  ///< `err` is one: only then is there progress
};

/// One option or, when the name does not start with '-', one positional argument.
struct Option {
  std::string name{};        ///< "--topology", "-o", or "SCENARIO" for a positional
  std::string value_name{};  ///< "DIR"; empty: the choices, or VALUE
  std::string help{};
  bool required = false;
  bool repeated = false;  ///< may be given several times; a positional takes all that follow
  bool flag = false;      ///< takes no value
  std::string default_value{};
  std::vector<std::string> choices{};  ///< empty: any text
};

/// What the user gave. The names are those of the command's options; asking for another one is a
/// mistake in the command: @throws std::logic_error.
class Arguments {
 public:
  using Values = std::map<std::string, std::vector<std::string>, std::less<>>;

  /// Checks that what is required is there, nothing is given twice that may not be, and choices.
  /// @throws InputError "command line: error: ..."
  Arguments(std::vector<Option> options, Values given);

  [[nodiscard]] bool has(
      std::string_view name) const;  ///< the user gave it; a default is not given
  [[nodiscard]] std::string text(std::string_view name) const;  ///< given, else default, else ""
  [[nodiscard]] std::vector<std::string> all(
      std::string_view name) const;  ///< in order; no default
  /// @throws InputError when it is no integer or outside [low, high]
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t low,
                                     std::int64_t high) const;
  /// @throws InputError `command line: error: NAME <what>`
  [[noreturn]] void fail(std::string_view name, std::string_view what) const;

 private:
  [[nodiscard]] const Option& option(std::string_view name) const;
  [[nodiscard]] const std::vector<std::string>& given(std::string_view name) const;
  void check(const Option& option) const;

  std::vector<Option> options_;
  Values given_;
};

/// One command: what the parser, the help and the dispatcher need to know of it.
struct CommandSpec {
  std::string name{};     ///< "run"; two words make a subcommand: "topology check"
  std::string summary{};  ///< one line, no full stop
  std::string details{};  ///< paragraphs for --help; may be empty
  std::string example{};  ///< a whole command line that works
  std::vector<Option> options{};
  /// Returns the exit code: 0 done, 1 it ran and failed. Wrong input throws InputError.
  int (*run)(const Arguments&, Streams&) = nullptr;
};

}  // namespace trainyard::cli
