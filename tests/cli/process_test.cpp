#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "support/temporary_folder.hpp"

using namespace trainyard;

namespace {

/// Runs the real program through the shell; the exit code, or -1 when a signal ended it.
int shell(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

const std::string kProgram = std::string{"'"} + TRAINYARD_PROGRAM + "'";

}  // namespace

TEST_CASE("the program prints its version", "[process]") {
  const test::TemporaryFolder folder;
  CHECK(shell(kProgram + " --version >" + (folder.path() / "out").string()) == 0);
  CHECK(folder.read("out") == "trainyard 0.1.0\n");
}

TEST_CASE("the program exits with 2 on a wrong command line", "[process]") {
  const test::TemporaryFolder folder;
  CHECK(shell(kProgram + " --verison 2>" + (folder.path() / "err").string()) == 2);
  CHECK(folder.read("err") ==
        "command line: error: unknown option '--verison', did you mean \"--version\"?\n");
  CHECK(shell(kProgram + " 2>/dev/null") == 2);
}

TEST_CASE("the program exits with 1 when standard output takes nothing", "[process]") {
  const auto redirection = GENERATE(as<std::string>{}, ">/dev/full", ">&-");
  const test::TemporaryFolder folder;
  CHECK(shell(kProgram + " --help " + redirection + " 2>" + (folder.path() / "err").string()) == 1);
  CHECK(folder.read("err") == "trainyard: error: cannot write to standard output\n");
}

TEST_CASE("a reader that went away is an error, not a signal", "[process]") {
  const test::TemporaryFolder folder;
  const std::string code = (folder.path() / "code").string();
  // The pipe's reader is gone before the program starts to write.
  CHECK(shell("{ sleep 0.2; " + kProgram + " --help 2>/dev/null; echo $? >" + code +
              "; } | true") == 0);
  CHECK(folder.read("code") == "1\n");
}

TEST_CASE("all streams closed is still no crash", "[process]") {
  CHECK(shell(kProgram + " --help <&- >&- 2>&-") == 1);
}
