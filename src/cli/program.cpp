#include "cli/program.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <span>
#include <string_view>

#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/parse.hpp"
#include "input/error.hpp"

namespace trainyard::cli {

namespace {

using Table = std::vector<CommandSpec>;
using Words = std::span<const std::string>;

constexpr int kFailed = 1;
constexpr int kWrongInput = 2;

const input::Place command_line{"command line"};

bool asks_for_help(Words words) {
  // Behind "--" everything is an argument, whatever it looks like.
  const auto end = std::ranges::find(words, "--");
  return std::any_of(words.begin(), end,
                     [](const std::string& word) { return word == "--help" || word == "-h"; });
}

const CommandSpec* find_command(const Table& table, std::string_view name) {
  const auto at = std::ranges::find(table, name, &CommandSpec::name);
  return at == table.end() ? nullptr : &*at;
}

bool is_group(const Table& table, std::string_view word) {
  return std::ranges::any_of(table, [&](const CommandSpec& command) {
    return command.name.starts_with(fmt::format("{} ", word));
  });
}

/// First words of all commands, each once, or with a group its full names.
std::vector<std::string> known_names(const Table& table, std::string_view group) {
  std::vector<std::string> names;
  for (const CommandSpec& command : table) {
    const bool inside = !group.empty() && command.name.starts_with(fmt::format("{} ", group));
    const std::string name = inside ? command.name : command.name.substr(0, command.name.find(' '));
    if ((inside || group.empty()) && std::ranges::find(names, name) == names.end()) {
      names.push_back(name);
    }
  }
  return names;
}

[[noreturn]] void unknown_command(const Table& table, std::string_view name,
                                  std::string_view group) {
  throw input::InputError{command_line,
                          fmt::format("unknown command '{}'{}", name,
                                      input::suggestion(name, known_names(table, group)))};
}

int run_command(const CommandSpec& command, Words words, Streams& streams) {
  if (asks_for_help(words)) {
    streams.out << command_help(command);
    return 0;
  }
  const std::vector<std::string> rest{words.begin(), words.end()};
  return command.run(Arguments{command.options, parse(command, rest)}, streams);
}

int run_group(const Table& table, Words words, Streams& streams) {
  const std::string& group = words.front();
  if (words.size() == 1) {
    streams.err << group_help(table, group);
    return kWrongInput;
  }
  const std::string name = fmt::format("{} {}", group, words[1]);
  if (const auto* command = find_command(table, name)) {
    return run_command(*command, words.subspan(2), streams);
  }
  if (asks_for_help(words.subspan(1, 1))) {
    streams.out << group_help(table, group);
    return 0;
  }
  unknown_command(table, name, group);
}

int dispatch(const Table& table, Words words, Streams& streams) {
  if (words.empty()) {
    streams.err << program_help(table);
    return kWrongInput;
  }
  const std::string& first = words.front();
  if (asks_for_help(words.first(1))) {
    streams.out << program_help(table);
    return 0;
  }
  if (first == "--version") {
    streams.out << "trainyard " << TRAINYARD_VERSION << '\n';
    return 0;
  }
  if (first.starts_with('-')) {
    throw input::InputError{command_line,
                            fmt::format("unknown option '{}'{}", first,
                                        input::suggestion(first, {"--help", "--version"}))};
  }
  if (const auto* command = find_command(table, first)) {
    return run_command(*command, words.subspan(1), streams);
  }
  if (is_group(table, first)) {
    return run_group(table, words, streams);
  }
  unknown_command(table, first, "");
}

}  // namespace

int run_program(const Table& table, const std::vector<std::string>& words, Streams& streams) {
  try {
    const int code = dispatch(table, words, streams);
    // A full disk shows only when the last buffer goes out.
    if (!streams.out.flush()) {
      throw input::RunError{"cannot write to standard output"};
    }
    return code;
  } catch (const input::InputError& error) {
    streams.err << error.what() << '\n';
    for (const std::string& note : error.notes()) {
      streams.err << "note: " << note << '\n';
    }
    return kWrongInput;
  } catch (const std::exception& error) {  // RunError too
    streams.err << "trainyard: error: " << error.what() << '\n';
    return kFailed;
  }
}

int run_program(const std::vector<std::string>& words, Streams& streams) {
  return run_program(commands(), words, streams);
}

}  // namespace trainyard::cli
