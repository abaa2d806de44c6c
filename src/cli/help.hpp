#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"

namespace trainyard::cli {

/// `trainyard --help`: all commands, a line each.
[[nodiscard]] std::string program_help(const std::vector<CommandSpec>& table);
/// `trainyard topology --help`: the subcommands of a group.
[[nodiscard]] std::string group_help(const std::vector<CommandSpec>& table, std::string_view group);
/// `trainyard run --help`: usage, summary, details, options and an example.
[[nodiscard]] std::string command_help(const CommandSpec& command);

}  // namespace trainyard::cli
