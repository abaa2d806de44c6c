#include "cli/commands.hpp"

namespace trainyard::cli {

const std::vector<CommandSpec>& commands() {
  static const std::vector<CommandSpec> table{};
  return table;
}

}  // namespace trainyard::cli
