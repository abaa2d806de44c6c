#include "cli/help.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>
#include <string>

using namespace trainyard::cli;

namespace {

const CommandSpec kCheck{
    .name = "topology check",
    .summary = "Reads a topology and says what is wrong",
    .details = "Prints nothing else.",
    .example = "trainyard topology check dgx-1-v100",
    .options =
        {{.name = "T", .help = "name or file", .required = true},
         {.name = "--set", .value_name = "KEY=VALUE", .help = "changes a key", .repeated = true},
         {.name = "--force", .help = "goes on", .flag = true},
         {.name = "--format",
          .help = "how to print",
          .default_value = "text",
          .choices = {"text", "json"}},
         {.name = "--what", .value_name = "KIND", .help = "what", .choices = {"a", "b"}},
         {.name = "--nodes", .help = "a number"}},
};

}  // namespace

TEST_CASE("a command's help has usage, options and the example", "[help]") {
  CHECK(command_help(kCheck) ==
        "Usage: trainyard topology check T [--set KEY=VALUE]... [--force] [--format text|json] "
        "[--what KIND]\n"
        "       [--nodes VALUE]\n"
        "\n"
        "Reads a topology and says what is wrong\n"
        "\n"
        "Prints nothing else.\n"
        "\n"
        "Options:\n"
        "  T                   name or file\n"
        "  --set KEY=VALUE     changes a key\n"
        "  --force             goes on\n"
        "  --format text|json  how to print (default text)\n"
        "  --what KIND         what (one of a, b)\n"
        "  --nodes VALUE       a number\n"
        "  --help              this text\n"
        "\n"
        "Example:\n"
        "  trainyard topology check dgx-1-v100\n");
}

TEST_CASE("long texts break at 100 columns under their column", "[help]") {
  std::string words = "word";
  for (int i = 0; i < 49; ++i) {
    words += " word";
  }
  const CommandSpec command{
      .name = "run", .example = "trainyard run x", .options = {{.name = "--set", .help = words}}};
  std::istringstream lines{command_help(command)};
  int with_words = 0;
  for (std::string line; std::getline(lines, line);) {
    CHECK(line.size() <= 100);
    CHECK((line.empty() || line.back() != ' '));
    if (line.find("word") != std::string::npos) {
      ++with_words;
      // "  --set VALUE  " is 15 columns wide
      CHECK(line.find("word") == 15);
    }
  }
  // 85 columns take 17 words of 5: 50 words fill 3 lines
  CHECK(with_words == 3);
}

TEST_CASE("a command without options has a bare usage line", "[help]") {
  const CommandSpec command{.name = "topology list", .summary = "Lists", .example = "x"};
  CHECK(command_help(command) ==
        "Usage: trainyard topology list\n"
        "\n"
        "Lists\n"
        "\n"
        "Options:\n"
        "  --help  this text\n"
        "\n"
        "Example:\n"
        "  x\n");
}

TEST_CASE("the help of a group lists only its commands", "[help]") {
  const CommandSpec run{.name = "run", .summary = "Runs"};
  const CommandSpec list{.name = "topology list", .summary = "Lists"};
  CHECK(group_help({run, kCheck, list}, "topology") ==
        "Usage: trainyard topology COMMAND [OPTIONS]\n"
        "\n"
        "Commands:\n"
        "  topology check  Reads a topology and says what is wrong\n"
        "  topology list   Lists\n"
        "\n"
        "Example:\n"
        "  trainyard topology check dgx-1-v100\n");
}

TEST_CASE("the program's help lists every command and an example", "[help]") {
  const std::string help = program_help({{.name = "run", .summary = "Runs a scenario"}, kCheck});
  CHECK_THAT(help, Catch::StartsWith("Usage: trainyard COMMAND [OPTIONS]\n"));
  CHECK_THAT(help, Catch::Contains("  run             Runs a scenario\n"));
  CHECK_THAT(help, Catch::Contains("  topology check  Reads a topology"));
  CHECK_THAT(help, Catch::Contains("--version"));
  CHECK_THAT(help, Catch::EndsWith("Example:\n  trainyard run sim/quickstart.toml\n"));
}
