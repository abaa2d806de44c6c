// The only file that includes CLI11, which takes long to compile. CLI11 splits the words into
// options and values; our own checks give the messages.
#include "cli/parse.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <string_view>

#include "input/error.hpp"

namespace trainyard::cli {

namespace {

const input::Place kPlace{"command line"};

bool is_positional(const Option& option) {
  return !option.name.starts_with('-');
}

/// Adds the option without any check of its own: CLI11 would stop at a missing required option
/// before it reports the misspelt one that was meant.
void add(CLI::App& app, const Option& option) {
  if (option.flag) {
    app.add_flag(option.name)->disable_flag_override();
    return;
  }
  auto* added = app.add_option(option.name);
  added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  if (option.repeated || !is_positional(option)) {
    added->expected(1, std::numeric_limits<int>::max() / 2);
  }
  // `--set a=1 b` must not take b as a second value.
  added->allow_extra_args(option.repeated && is_positional(option));
}

/// Complains of the first word that belongs to no option.
void reject(const std::vector<std::string>& extras, const CommandSpec& command) {
  std::vector<std::string> known;
  for (const Option& option : command.options) {
    if (!is_positional(option)) {
      known.push_back(option.name);
    }
  }
  known.emplace_back("--help");
  for (const std::string& word : extras) {
    if (word.size() > 1 && word.front() == '-' && word != "--") {
      const std::string name = word.substr(0, word.find('='));
      throw input::InputError{kPlace,
                              "unknown option '" + name + "'" + input::suggestion(name, known)};
    }
  }
  for (const std::string& word : extras) {
    if (word != "--") {
      throw input::InputError{kPlace, "unexpected argument '" + word + "'"};
    }
  }
}

/// CLI11's own text, one line of it.
std::string first_line(std::string_view text) {
  return std::string{text.substr(0, text.find('\n'))};
}

}  // namespace

Arguments::Values parse(const CommandSpec& command, const std::vector<std::string>& words) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  for (const Option& option : command.options) {
    add(app, option);
  }
  try {
    // CLI11 takes the words from the back.
    app.parse(std::vector<std::string>{words.rbegin(), words.rend()});
  } catch (const CLI::ParseError& error) {
    throw input::InputError{kPlace, first_line(error.what())};
  }
  reject(app.remaining(), command);
  Arguments::Values values;
  for (const Option& option : command.options) {
    const auto* parsed = app.get_option(option.name);
    if (parsed->count() > 0) {
      values[option.name] = parsed->results();
    }
  }
  return values;
}

}  // namespace trainyard::cli
