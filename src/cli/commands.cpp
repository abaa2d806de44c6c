#include "cli/commands.hpp"

namespace trainyard::cli {

const std::vector<CommandSpec>& commands() {
  static const std::vector<CommandSpec> table{
      workload_import_command(),
      workload_check_command(),
      workload_show_command(),
  };
  return table;
}

}  // namespace trainyard::cli
