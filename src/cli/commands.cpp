#include "cli/commands.hpp"

namespace trainyard::cli {

const std::vector<CommandSpec>& commands() {
  static const std::vector<CommandSpec> kCommands{};
  return kCommands;
}

}  // namespace trainyard::cli
