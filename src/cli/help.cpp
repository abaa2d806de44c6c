#include "cli/help.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace trainyard::cli {

namespace {

constexpr std::size_t kWidth = 100;

using Rows = std::vector<std::pair<std::string, std::string>>;

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    words.emplace_back(word);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return words;
}

/// Joins pieces by blanks, breaking lines between them; every line after the first is indented.
std::string wrapped(const std::vector<std::string>& pieces, std::size_t indent,
                    std::size_t first_column) {
  std::string out;
  std::size_t column = first_column;
  for (const std::string& piece : pieces) {
    if (column + 1 + piece.size() > kWidth && column > indent) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!out.empty()) {
      out += ' ';
      ++column;
    }
    out += piece;
    column += piece.size();
  }
  return out;
}

/// Two columns: names, and what they mean.
std::string two_columns(const Rows& rows) {
  std::size_t widest = 0;
  for (const auto& [name, meaning] : rows) {
    widest = std::max(widest, name.size());
  }
  std::string out;
  for (const auto& [name, meaning] : rows) {
    const std::size_t indent = widest + 4;
    out += fmt::format("  {:<{}}  {}\n", name, widest, wrapped(words_of(meaning), indent, indent));
  }
  return out;
}

std::string value_name(const Option& option) {
  if (!option.value_name.empty()) {
    return option.value_name;
  }
  return option.choices.empty() ? "VALUE" : fmt::format("{}", fmt::join(option.choices, "|"));
}

/// "--out DIR", "--force", "SCENARIO".
std::string with_value(const Option& option) {
  if (option.flag || !option.name.starts_with('-')) {
    return option.name;
  }
  return fmt::format("{} {}", option.name, value_name(option));
}

/// One piece an option, so that a line never breaks between an option and its value.
std::vector<std::string> usage(const CommandSpec& command) {
  std::vector<std::string> pieces;
  for (const Option& option : command.options) {
    const std::string text = with_value(option);
    pieces.push_back((option.required ? text : fmt::format("[{}]", text)) +
                     (option.repeated ? "..." : ""));
  }
  return pieces;
}

std::string meaning(const Option& option) {
  std::string out = option.help;
  if (!option.choices.empty() && !option.value_name.empty()) {
    out += fmt::format(" (one of {})", fmt::join(option.choices, ", "));
  }
  if (!option.default_value.empty()) {
    out += fmt::format(" (default {})", option.default_value);
  }
  return out;
}

}  // namespace

std::string program_help(const std::vector<CommandSpec>& table) {
  Rows rows;
  for (const CommandSpec& command : table) {
    rows.emplace_back(command.name, command.summary);
  }
  return fmt::format(
      "Usage: trainyard COMMAND [OPTIONS]\n\n"
      "Predicts what training jobs do on a multi-GPU cluster: step times, queueing, "
      "utilisation.\n\n"
      "Commands:\n{}\nOptions:\n{}\nExample:\n  trainyard run sim/quickstart.toml\n",
      two_columns(rows),
      two_columns({{"--help", "this text; after a command, what it takes"},
                   {"--version", "name and version"}}));
}

std::string group_help(const std::vector<CommandSpec>& table, std::string_view group) {
  Rows rows;
  std::string example;
  for (const CommandSpec& command : table) {
    if (command.name.starts_with(fmt::format("{} ", group))) {
      rows.emplace_back(command.name, command.summary);
      example = example.empty() ? command.example : example;
    }
  }
  return fmt::format("Usage: trainyard {} COMMAND [OPTIONS]\n\nCommands:\n{}\nExample:\n  {}\n",
                     group, two_columns(rows), example);
}

std::string command_help(const CommandSpec& command) {
  const std::string start =
      fmt::format("Usage: trainyard {}{}", command.name, command.options.empty() ? "" : " ");
  std::string out = start + wrapped(usage(command), 7, start.size()) + "\n\n";
  out += command.summary + "\n";
  if (!command.details.empty()) {
    out += "\n" + command.details + "\n";
  }
  Rows rows;
  for (const Option& option : command.options) {
    rows.emplace_back(with_value(option), meaning(option));
  }
  rows.emplace_back("--help", "this text");
  return out + fmt::format("\nOptions:\n{}\nExample:\n  {}\n", two_columns(rows), command.example);
}

}  // namespace trainyard::cli
