#include "cli/commands.hpp"

namespace trainyard::cli {

const std::vector<CommandSpec>& commands() {
  static const std::vector<CommandSpec> table{
      run_command(),
      predict_command(),
      topology_list_command(),
      topology_check_command(),
      topology_show_command(),
      topology_matrix_command(),
      topology_plot_command(),
      topology_import_command(),
      collective_command(),
      workload_import_command(),
      workload_check_command(),
      workload_show_command(),
      validate_command(),
  };
  return table;
}

}  // namespace trainyard::cli
