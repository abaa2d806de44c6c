#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/program.hpp"

namespace trainyard::test {

/// What a command line gave.
struct Ran {
  int code = 0;
  std::string out{};
  std::string err{};
};

/// Runs a command line inside the test, without the program's name, away from a terminal.
inline Ran run_program(const std::vector<cli::CommandSpec>& table,
                       const std::vector<std::string>& words) {
  std::ostringstream out;
  std::ostringstream err;
  cli::Streams streams{out, err, false};
  const int code = cli::run_program(table, words, streams);
  return {code, out.str(), err.str()};
}

inline Ran run_program(const std::vector<std::string>& words) {
  return run_program(cli::commands(), words);
}

}  // namespace trainyard::test
