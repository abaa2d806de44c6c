#pragma once

#include <vector>

#include "cli/command.hpp"

namespace trainyard::cli {

/// All commands, in the order of the help. The one table: a command that is not in it is not there.
[[nodiscard]] const std::vector<CommandSpec>& commands();

// One function a command, each in a file of its own: topology_list.cpp defines
// `CommandSpec topology_list_command()`. A new command adds a line here, a row in commands.cpp and
// its file in CMakeLists.txt.
[[nodiscard]] CommandSpec run_command();
[[nodiscard]] CommandSpec predict_command();
[[nodiscard]] CommandSpec topology_list_command();
[[nodiscard]] CommandSpec topology_check_command();
[[nodiscard]] CommandSpec topology_show_command();
[[nodiscard]] CommandSpec topology_matrix_command();
[[nodiscard]] CommandSpec topology_plot_command();
[[nodiscard]] CommandSpec topology_import_command();
[[nodiscard]] CommandSpec collective_command();
[[nodiscard]] CommandSpec validate_command();
[[nodiscard]] CommandSpec workload_import_command();
[[nodiscard]] CommandSpec workload_check_command();
[[nodiscard]] CommandSpec workload_show_command();

}  // namespace trainyard::cli
