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

const input::Place command_line{"command line"};

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
      throw input::InputError{command_line,
                              "unknown option '" + name + "'" + input::suggestion(name, known)};
    }
  }
  for (const std::string& word : extras) {
    if (word != "--") {
      throw input::InputError{command_line, "unexpected argument '" + word + "'"};
    }
  }
}

/// `--seed --force` is a forgotten value, not the seed "--force".
void reject_options_as_values(const Arguments::Values& values, const CommandSpec& command) {
  for (const Option& option : command.options) {
    const auto given = values.find(option.name);
    if (is_positional(option) || given == values.end()) {
      continue;
    }
    for (const std::string& value : given->second) {
      if (value.starts_with('-') &&
          std::ranges::find(command.options, value, &Option::name) != command.options.end()) {
        throw input::InputError{command_line,
                                option.name + " wants a value, got the option " + value};
      }
    }
  }
}

/// CLI11 says "--seed: 1 required  missing" for a missing value and "force was given a disallowed
/// flag override" for --force=no.
std::string explain(const CLI::ParseError& error) {
  const std::string_view what = error.what();
  const auto colon = what.find(':');
  if (error.get_name() == "ArgumentMismatch") {
    return colon != std::string_view::npos
               ? std::string{what.substr(0, colon)} + " wants a value"
               : "--" + std::string{what.substr(0, what.find(' '))} + " takes no value";
  }
  return std::string{what.substr(0, what.find('\n'))};
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
    throw input::InputError{command_line, explain(error)};
  }
  reject(app.remaining(), command);
  Arguments::Values values;
  for (const Option& option : command.options) {
    const auto* parsed = app.get_option(option.name);
    if (parsed->count() > 0) {
      values[option.name] = parsed->results();
    }
  }
  reject_options_as_values(values, command);
  return values;
}

}  // namespace trainyard::cli
