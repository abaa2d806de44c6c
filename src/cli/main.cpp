#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace {

/// With a standard stream closed the next file that is opened would take its number, and results
/// would be printed into it. Open for reading only, so that writing still fails.
void occupy_closed_streams() {
  for (int number = 0; number <= 2; ++number) {
    if (::fcntl(number, F_GETFD) == -1) {
      static_cast<void>(::open("/dev/null", O_RDONLY));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  occupy_closed_streams();
  // A reader that went away is an error like a full disk: exit 1 instead of a signal.
  std::signal(SIGPIPE, SIG_IGN);
  std::ios::sync_with_stdio(false);
  trainyard::cli::Streams streams{std::cout, std::cerr, ::isatty(STDERR_FILENO) == 1};
  return trainyard::cli::run_program(
      std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc), streams);
}
