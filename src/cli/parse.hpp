#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace trainyard::cli {

/// Splits the words after the command's name into the values of its options.
/// @throws InputError "command line: error: ..." for an unknown option (with the nearest known
/// one), a missing value or a surplus argument
[[nodiscard]] Arguments::Values parse(const CommandSpec& command,
                                      const std::vector<std::string>& words);

}  // namespace trainyard::cli
