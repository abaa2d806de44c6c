#include "cli/parse.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace trainyard::cli;

namespace {

using Words = std::vector<std::string>;

const CommandSpec kRun{
    .name = "run",
    .options = {{.name = "SCENARIO", .required = true},
                {.name = "--set", .repeated = true},
                {.name = "--seed"},
                {.name = "-o"},
                {.name = "--force", .flag = true}},
};

const CommandSpec kImport{
    .name = "workload import",
    .options = {{.name = "PATH", .required = true, .repeated = true}, {.name = "-o"}},
};

}  // namespace

TEST_CASE("words become the values of options in any order", "[parse]") {
  const auto words = GENERATE(
      values<Words>({{"s.toml", "--set", "a=1", "--set", "b=2", "--force", "-o", "out"},
                     {"--set", "a=1", "s.toml", "--force", "--set=b=2", "-oout"},
                     {"--force", "-o", "out", "--set", "a=1", "--set", "b=2", "--", "s.toml"}}));
  const auto given = parse(kRun, words);
  CHECK(given.at("SCENARIO") == Words{"s.toml"});
  CHECK(given.at("--set") == Words{"a=1", "b=2"});
  CHECK(given.at("-o") == Words{"out"});
  CHECK(given.contains("--force"));
  CHECK_FALSE(given.contains("--seed"));
}

TEST_CASE("an option takes one value, the next word is the positional", "[parse]") {
  const auto given = parse(kRun, {"--set", "a=1", "s.toml"});
  CHECK(given.at("--set") == Words{"a=1"});
  CHECK(given.at("SCENARIO") == Words{"s.toml"});
}

TEST_CASE("values may be negative, empty, hold blanks or an equals sign", "[parse]") {
  CHECK(parse(kRun, {"--seed", "-1"}).at("--seed") == Words{"-1"});
  CHECK(parse(kRun, {"--seed=-1"}).at("--seed") == Words{"-1"});
  CHECK(parse(kRun, {"--set", "a=b = c"}).at("--set") == Words{"a=b = c"});
  CHECK(parse(kRun, {"--set", "[1, 2]"}).at("--set") == Words{"[1, 2]"});
  CHECK(parse(kRun, {"--set", "a={x = 1}"}).at("--set") == Words{"a={x = 1}"});
  CHECK(parse(kRun, {"--set", ""}).at("--set") == Words{""});
}

TEST_CASE("a value given twice is kept for the check that refuses it", "[parse]") {
  CHECK(parse(kRun, {"--seed", "1", "--seed", "2"}).at("--seed") == Words{"1", "2"});
}

TEST_CASE("a repeated positional takes all words", "[parse]") {
  const auto words = GENERATE(values<Words>(
      {{"a", "b", "c", "-o", "out"}, {"-o", "out", "a", "b", "c"}, {"a", "-o", "out", "b", "c"}}));
  const auto given = parse(kImport, words);
  CHECK(given.at("PATH") == Words{"a", "b", "c"});
  CHECK(given.at("-o") == Words{"out"});
}

TEST_CASE("an unknown option is refused before a missing one", "[parse]") {
  CHECK_THROWS_WITH(parse(kRun, {"--sed", "1"}),
                    "command line: error: unknown option '--sed', did you mean \"--set\"?");
  CHECK_THROWS_WITH(parse(kRun, {"s.toml", "--forse"}),
                    "command line: error: unknown option '--forse', did you mean \"--force\"?");
  CHECK_THROWS_WITH(parse(kRun, {"s.toml", "--sead=3"}),
                    "command line: error: unknown option '--sead', did you mean \"--seed\"?");
  CHECK_THROWS_WITH(parse(kRun, {"--topology", "x", "s.toml"}),
                    "command line: error: unknown option '--topology' (known: --set, --seed, -o, "
                    "--force, --help)");
  CHECK_THROWS_WITH(parse(kRun, {"s.toml", "-x"}),
                    Catch::StartsWith("command line: error: unknown option '-x'"));
}

TEST_CASE("a surplus argument is refused", "[parse]") {
  CHECK_THROWS_WITH(parse(kRun, {"a.toml", "b.toml"}),
                    "command line: error: unexpected argument 'b.toml'");
}

TEST_CASE("an option without its value is refused", "[parse]") {
  CHECK_THROWS_WITH(parse(kRun, {"s.toml", "--seed"}), "command line: error: --seed wants a value");
  CHECK_THROWS_WITH(parse(kRun, {"s.toml", "--set"}), "command line: error: --set wants a value");
  CHECK_THROWS_WITH(parse(kRun, {"s.toml", "-o"}), "command line: error: -o wants a value");
  CHECK_THROWS_WITH(parse(kRun, {"--seed", "--force", "s.toml"}),
                    "command line: error: --seed wants a value, got the option --force");
}

TEST_CASE("a flag takes no value", "[parse]") {
  CHECK_THROWS_WITH(parse(kRun, {"s.toml", "--force=no"}),
                    "command line: error: --force takes no value");
}
