#include "cli/commands.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "support/run_program.hpp"

using namespace trainyard;

TEST_CASE("every command is complete and has a name of its own", "[commands]") {
  std::set<std::string> names;
  for (const cli::CommandSpec& command : cli::commands()) {
    CAPTURE(command.name);
    CHECK(names.insert(command.name).second);
    CHECK_FALSE(command.summary.empty());
    CHECK(command.summary.back() != '.');
    CHECK_THAT(command.example, Catch::StartsWith("trainyard " + command.name));
    CHECK(command.run != nullptr);
  }
}

TEST_CASE("every option says what it means and no name comes twice", "[commands]") {
  for (const cli::CommandSpec& command : cli::commands()) {
    std::set<std::string> names;
    for (const cli::Option& option : command.options) {
      CAPTURE(command.name, option.name);
      CHECK(names.insert(option.name).second);
      CHECK_FALSE(option.help.empty());
      CHECK_FALSE((option.flag && (option.required || option.repeated)));
    }
  }
}

TEST_CASE("every command answers --help and refuses an unknown option", "[commands]") {
  for (const cli::CommandSpec& command : cli::commands()) {
    CAPTURE(command.name);
    std::vector<std::string> words{command.name};
    if (const auto blank = command.name.find(' '); blank != std::string::npos) {
      words = {command.name.substr(0, blank), command.name.substr(blank + 1)};
    }
    auto with_help = words;
    with_help.emplace_back("--help");
    const auto help = test::run_program(with_help);
    CHECK(help.code == 0);
    CHECK_THAT(help.out, Catch::Contains(command.example));

    words.emplace_back("--no-such-option");
    const auto wrong = test::run_program(words);
    CHECK(wrong.code == 2);
    CHECK(wrong.out.empty());
    CHECK_THAT(wrong.err,
               Catch::StartsWith("command line: error: unknown option '--no-such-option'"));
  }
}
