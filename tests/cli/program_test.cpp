#include "cli/program.hpp"

#include <catch2/catch.hpp>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "input/error.hpp"
#include "support/run_program.hpp"

using namespace trainyard;
using namespace trainyard::cli;

namespace {

int echo(const Arguments& arguments, Streams& streams) {
  streams.out << arguments.text("TEXT") << ' ' << arguments.text("--mark") << '\n';
  return 0;
}

int refuse(const Arguments& /*arguments*/, Streams& /*streams*/) {
  throw input::InputError{input::Place{"s.toml", 3, 7}, "no such policy", {"try fifo", "or sjf"}};
}

int miss(const Arguments& /*arguments*/, Streams& streams) {
  streams.out << "2 of 3 points failed\n";
  return 1;
}

int break_down(const Arguments& /*arguments*/, Streams& /*streams*/) {
  throw input::RunError{"cannot write out: No space left on device"};
}

int surprise(const Arguments& /*arguments*/, Streams& /*streams*/) {
  throw std::out_of_range{"index 7"};
}

const std::vector<CommandSpec>& table() {
  static const std::vector<CommandSpec> kTable{
      {.name = "echo",
       .summary = "Prints",
       .example = "trainyard echo x",
       .options = {{.name = "TEXT", .required = true}, {.name = "--mark", .default_value = "!"}},
       .run = echo},
      {.name = "refuse", .run = refuse},
      {.name = "miss", .run = miss},
      {.name = "break down", .run = break_down},
      {.name = "break up", .example = "trainyard break up", .run = surprise},
  };
  return kTable;
}

test::Ran run(const std::vector<std::string>& words) {
  return test::run_program(table(), words);
}

/// A buffer that takes nothing, like a full disk.
class FullBuffer final : public std::streambuf {};

}  // namespace

TEST_CASE("a command gets its arguments and its result is the exit code", "[program]") {
  const auto ran = run({"echo", "hello", "--mark", "?"});
  CHECK(ran.code == 0);
  CHECK(ran.out == "hello ?\n");
  CHECK(ran.err.empty());
  CHECK(run({"echo", "hello"}).out == "hello !\n");
  const auto missed = run({"miss"});
  CHECK(missed.code == 1);
  CHECK(missed.out == "2 of 3 points failed\n");
}

TEST_CASE("wrong input is one line, notes, and exit code 2", "[program]") {
  const auto ran = run({"refuse"});
  CHECK(ran.code == 2);
  CHECK(ran.out.empty());
  CHECK(ran.err == "s.toml:3:7: error: no such policy\nnote: try fifo\nnote: or sjf\n");
}

TEST_CASE("a run that fails is one line and exit code 1", "[program]") {
  const auto failed = run({"break", "down"});
  CHECK(failed.code == 1);
  CHECK(failed.err == "trainyard: error: cannot write out: No space left on device\n");
  const auto surprised = run({"break", "up"});
  CHECK(surprised.code == 1);
  CHECK(surprised.err == "trainyard: error: index 7\n");
}

TEST_CASE("a wrong command line is one line and exit code 2", "[program]") {
  const auto [words, message] = GENERATE(table<std::vector<std::string>, std::string>({
      {{"ecko"}, "unknown command 'ecko', did you mean \"echo\"?"},
      {{"simulate"}, "unknown command 'simulate' (known: echo, refuse, miss, break)"},
      {{"break", "dwn"}, "unknown command 'break dwn', did you mean \"break down\"?"},
      {{"break", "everything"}, "unknown command 'break everything' (known: break down, break up)"},
      {{""}, "unknown command '' (known: echo, refuse, miss, break)"},
      {{"--verison"}, "unknown option '--verison', did you mean \"--version\"?"},
      {{"--set"}, "unknown option '--set' (known: --help, --version)"},
      {{"echo"}, "missing TEXT"},
      {{"echo", "a", "b"}, "unexpected argument 'b'"},
      {{"echo", "a", "--mrk", "x"}, "unknown option '--mrk', did you mean \"--mark\"?"},
      {{"echo", "a", "--mark", "1", "--mark", "2"}, "--mark is given more than once"},
  }));
  const auto ran = run(words);
  CHECK(ran.code == 2);
  CHECK(ran.out.empty());
  CHECK(ran.err == "command line: error: " + message + "\n");
}

TEST_CASE("the version is printed", "[program]") {
  const auto ran = run({"--version"});
  CHECK(ran.code == 0);
  CHECK(ran.out == "trainyard 0.1.0\n");
}

TEST_CASE("help is printed wherever it is asked for", "[program]") {
  const auto words = GENERATE(values<std::vector<std::string>>({{"--help"}, {"-h"}}));
  CHECK_THAT(run(words).out, Catch::StartsWith("Usage: trainyard COMMAND"));
  CHECK_THAT(run({"echo", words[0]}).out, Catch::StartsWith("Usage: trainyard echo TEXT"));
  CHECK_THAT(run({"echo", "a", words[0]}).out, Catch::Contains("trainyard echo x"));
  CHECK_THAT(run({"break", words[0]}).out, Catch::StartsWith("Usage: trainyard break COMMAND"));
  CHECK_THAT(run({"break", "up", words[0]}).out, Catch::Contains("trainyard break up"));
  CHECK(run({"echo", words[0]}).code == 0);
  CHECK(run({"break", words[0]}).code == 0);
}

TEST_CASE("behind two dashes nothing is an option", "[program]") {
  CHECK(run({"echo", "--", "--help"}).out == "--help !\n");
}

TEST_CASE("without a command the help goes to the error stream", "[program]") {
  const auto nothing = run({});
  CHECK(nothing.code == 2);
  CHECK(nothing.out.empty());
  CHECK_THAT(nothing.err, Catch::StartsWith("Usage: trainyard COMMAND"));
  const auto group = run({"break"});
  CHECK(group.code == 2);
  CHECK(group.out.empty());
  CHECK_THAT(group.err, Catch::StartsWith("Usage: trainyard break COMMAND"));
}

TEST_CASE("output that cannot be written is exit code 1", "[program]") {
  const auto words = GENERATE(
      values<std::vector<std::string>>({{"--help"}, {"--version"}, {"echo", "x"}, {"miss"}}));
  FullBuffer full;
  std::ostream out{&full};
  std::ostringstream err;
  Streams streams{out, err, false};
  CHECK(run_program(table(), words, streams) == 1);
  CHECK(err.str() == "trainyard: error: cannot write to standard output\n");
}
