#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "cli/command.hpp"

using namespace trainyard::cli;

namespace {

const std::vector<Option> kOptions{
    {.name = "SCENARIO"},
    {.name = "--gpus", .default_value = "8"},
    {.name = "--set", .repeated = true},
    {.name = "--force", .flag = true},
    {.name = "--format", .default_value = "text", .choices = {"text", "json"}},
};

Arguments given(Arguments::Values values) {
  return Arguments{kOptions, std::move(values)};
}

}  // namespace

TEST_CASE("what is given wins over the default", "[arguments]") {
  const Arguments none = given({});
  CHECK_FALSE(none.has("--gpus"));
  CHECK(none.text("--gpus") == "8");
  CHECK(none.text("SCENARIO").empty());
  CHECK(none.all("--gpus").empty());
  CHECK(none.integer("--gpus", 1, 64) == 8);
  CHECK_FALSE(none.has("--force"));

  const Arguments some = given({{"--gpus", {"16"}}, {"--force", {"true"}}, {"SCENARIO", {"a"}}});
  CHECK(some.has("--gpus"));
  CHECK(some.integer("--gpus", 1, 64) == 16);
  CHECK(some.has("--force"));
  CHECK(some.text("SCENARIO") == "a");
}

TEST_CASE("repeated options keep their order", "[arguments]") {
  const Arguments arguments = given({{"--set", {"b=1", "a=2"}}});
  CHECK(arguments.all("--set") == std::vector<std::string>{"b=1", "a=2"});
  CHECK(arguments.text("--set") == "a=2");
}

TEST_CASE("an integer out of range or malformed names its option", "[arguments]") {
  const auto value =
      GENERATE(as<std::string>{}, "0", "65", "x", "", "8.0", "8 ", "99999999999999999999");
  CHECK_THROWS_WITH(
      given({{"--gpus", {value}}}).integer("--gpus", 1, 64),
      "command line: error: --gpus must be an integer from 1 to 64, got \"" + value + "\"");
  CHECK_THROWS_WITH(
      given({{"--gpus", {"-1"}}}).integer("--gpus", 0, std::numeric_limits<std::int64_t>::max()),
      "command line: error: --gpus must be an integer of at least 0, got \"-1\"");
}

TEST_CASE("a required argument must be there", "[arguments]") {
  const Option option{.name = "--topology", .required = true};
  CHECK_THROWS_WITH(Arguments({option}, {}), "command line: error: missing --topology");
  CHECK(Arguments({option}, {{"--topology", {"x"}}}).text("--topology") == "x");
}

TEST_CASE("only repeated options may be given twice", "[arguments]") {
  CHECK_THROWS_WITH(given({{"--gpus", {"1", "2"}}}),
                    "command line: error: --gpus is given more than once");
}

TEST_CASE("a choice outside the list is refused", "[arguments]") {
  CHECK(given({{"--format", {"json"}}}).text("--format") == "json");
  CHECK_THROWS_WITH(given({{"--format", {"jsn"}}}),
                    "command line: error: --format must be one of text, json, got \"jsn\", did "
                    "you mean \"json\"?");
}

TEST_CASE("an option that the command does not declare is a mistake in the command",
          "[arguments]") {
  CHECK_THROWS_WITH(given({}).text("--gpu"), "the command does not declare --gpu");
}

TEST_CASE("a command can refuse a value", "[arguments]") {
  CHECK_THROWS_WITH(given({}).fail("--gpus", "must divide the node"),
                    "command line: error: --gpus must divide the node");
}
