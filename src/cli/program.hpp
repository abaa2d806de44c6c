#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace trainyard::cli {

/// The whole program but for the process around it: finds the command, runs it and turns every
/// exception into its line on `err`.
/// @param words  the command line without the program's name
/// @return the exit code: 0 done, 1 it ran and failed, 2 the input or the command line is wrong
[[nodiscard]] int run_program(const std::vector<std::string>& words, Streams& streams);

/// The same with another table of commands, for tests.
[[nodiscard]] int run_program(const std::vector<CommandSpec>& table,
                              const std::vector<std::string>& words, Streams& streams);

}  // namespace trainyard::cli
