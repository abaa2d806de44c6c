#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "input/error.hpp"
#include "workload/file.hpp"

using namespace trainyard;

namespace {

/// A small valid workload, an operation a line from line 7 on.
const std::string kValid = R"({"format": "trainyard-workload", "version": 1, "world_size": 2,
"names": ["k"], "groups": [{"name": "0", "ranks": [0, 1]}],
"collectives": [{"op": "all_reduce", "bytes": 8, "group": 0, "sequence": 0}],
"timelines": [{"rank": 0, "start_ns": 0,
"streams": [{"name": "host:0", "host": true}, {"name": "gpu0:7"}],
"steps": [{"name": "s", "begin": 0, "end": 4}], "ops": [
{"host_ns": 0, "stream": 0},
{"host_ns": 5, "stream": 0, "step": 0},
{"compute_ns": 7, "stream": 1, "after": [[1, 2]], "name": 0},
{"collective": 0, "recorded_ns": 9, "stream": 1, "after": [1]},
{"host_ns": 0, "stream": 0}]}]})";

std::string error_of(const std::string& text) {
  try {
    (void)workload::parse_workload(text, "w.json");
  } catch (const input::InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string with(std::string_view from, std::string_view to) {
  std::string text = kValid;
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("the base of these tests is valid", "[file]") {
  CHECK(error_of(kValid) == "no error");
}

TEST_CASE("mistakes in a workload file are errors at their place", "[file]") {
  const auto [from, to, expected] = GENERATE(table<std::string, std::string, std::string>({
      {"\"version\": 1", "\"version\": 2",
       "w.json:1:45: error: 'version' must be a whole number from 1 to 1, got 2"},
      {"trainyard-workload", "other",
       "w.json:1:12: error: 'format' must be \"trainyard-workload\", got \"other\""},
      {"\"world_size\": 2", "\"world_size\": 0",
       "w.json:1:62: error: 'world_size' must be a whole number from 1 to 16777216, got 0"},
      {"\"compute_ns\": 7", "\"compute_ns\": -7",
       "w.json:9:16: error: 'compute_ns' must be a whole number from 0 to"},
      {"\"compute_ns\": 7", "\"compute_ns\": 7.5", "w.json:9:16: error: 'compute_ns' must be"},
      {"\"compute_ns\": 7", "\"compute_ns\": \"7\"", "w.json:9:16: error: 'compute_ns' must be"},
      {"\"compute_ns\": 7", "\"compute_ns\": NaN", "w.json:9:16: error: 'compute_ns' must be"},
      {"\"compute_ns\": 7", "\"compute_ns\": 1e300", "w.json:9:16: error: 'compute_ns' must be"},
      {"\"compute_ns\": 7, ", "",
       "w.json:9:1: error: an operation needs exactly one of compute_ns"},
      {"\"compute_ns\": 7", "\"compute_ns\": 7, \"copy_ns\": 1",
       "w.json:9:1: error: an operation needs exactly one of compute_ns"},
      {"\"after\": [[1, 2]]", "\"after\": [[2, 2]]",
       "w.json:9:1: error: 'after' must name earlier operations (below 2), got 2"},
      {"\"after\": [[1, 2]]", "\"after\": [[1, -2]]", "w.json:9:46: error: 'after' must be"},
      {"\"after\": [[1, 2]]", "\"after\": [[1]]",
       "w.json:9:42: error: an entry of 'after' must be an index or [index, lag in ns]"},
      {"\"after\": [[1, 2]]", "\"after\": 1",
       "w.json:9:41: error: 'after' must be an array, got 1"},
      {"\"name\": 0}", "\"name\": 1}", "w.json:9:1: error: 'name' must be an index below 1, got 1"},
      {"\"stream\": 1, \"after\": [[", "\"stream\": 2, \"after\": [[",
       "w.json:9:1: error: 'stream' must be an index below 2, got 2"},
      {"\"stream\": 1, \"after\": [[", "\"stream\": 0, \"after\": [[",
       "w.json:9:1: error: an operation of kind compute must be on a GPU stream"},
      {"\"step\": 0}", "\"step\": 1}", "w.json:8:1: error: 'step' must be an index below 1, got 1"},
      {"{\"collective\": 0", "{\"collective\": 1",
       "w.json:10:1: error: 'collective' must be an index below 1, got 1"},
      {"\"ranks\": [0, 1]", "\"ranks\": [1]",
       "w.json:10:1: error: rank 0 is not in group \"0\" of collective 0"},
      {"\"ranks\": [0, 1]", "\"ranks\": [0, 1, 2]",
       "w.json:2:28: error: the group has 3 ranks, expected at most world_size 2"},
      {"\"ranks\": [0, 1]", "\"ranks\": [0, 0]",
       "w.json:2:28: error: a group must have distinct ranks below world_size 2, got [0, 0]"},
      {"\"ranks\": [0, 1]", "\"ranks\": []", "w.json:2:28: error: a group must have distinct"},
      {"\"rank\": 0", "\"rank\": 2", "w.json:4:15: error: 'rank' must be below world_size 2"},
      {"\"group\": 0", "\"group\": 3",
       "w.json:3:17: error: 'group' must be an index below 1, got 3"},
      {"\"all_reduce\"", "\"all_reduc\"",
       "w.json:3:24: error: unknown op \"all_reduc\", did you mean \"all_reduce\"?"},
      {"\"bytes\": 8", "\"bytes\": -8",
       "w.json:3:47: error: 'bytes' must be a number of at least 0, got -8"},
      {"\"begin\": 0", "\"begin\": 1", "w.json:6:11: error: a step is marked by host operations"},
      {"\"end\": 4", "\"end\": 9", "w.json:6:11: error: 'end' must be an index below 5, got 9"},
      {"\"begin\": 0, \"end\": 4", "\"begin\": 4, \"end\": 0",
       "w.json:6:11: error: a step must begin before it ends, got 4 and 0"},
      {"\"recorded_ns\"", "\"recordet_ns\"",
       "w.json:10:19: error: unknown key \"recordet_ns\" in an operation, did you mean "
       "\"recorded_ns\"?"},
      {"\"op\": \"all_reduce\", ", "", "w.json:3:17: error: a collective needs its \"op\""},
      {"\"world_size\": 2", "\"version\": 1",
       "w.json:1:48: error: key \"version\" appears twice in a workload"},
      {"\"names\": [\"k\"]", "\"names\": [\"k\"], \"names\": [\"l\"]",
       "w.json:2:17: error: key \"names\" appears twice in a workload"},
      {"\"compute_ns\": 7", "\"compute_ns\": 7, \"compute_ns\": 7",
       "w.json:9:19: error: key \"compute_ns\" appears twice in an operation"},
      {"\"compute_ns\": 7", "\"compute_ns\": 7, \"compute\\u005fns\": 7",
       "w.json:9:19: error: key \"compute_ns\" appears twice in an operation"},
      {"\"ranks\": [0, 1]", "\"ranks\": [0], \"ranks\": [1]",
       "w.json:2:56: error: key \"ranks\" appears twice in a group"},
      {"\"bytes\": 8", "\"bytes\": 8, \"bytes\": 9",
       "w.json:3:50: error: key \"bytes\" appears twice in a collective"},
      {"\"start_ns\": 0", "\"rank\": 0",
       "w.json:4:27: error: key \"rank\" appears twice in a timeline"},
      {"\"name\": \"gpu0:7\"", "\"name\": \"a\", \"name\": \"b\"",
       "w.json:5:61: error: key \"name\" appears twice in a stream"},
      {"\"end\": 4", "\"begin\": 4", "w.json:6:37: error: key \"begin\" appears twice in a step"},
      {"\"host\": true", "\"host\": 1", "w.json:5:40: error: 'host' must be true or false, got 1"},
      {"[\"k\"]", "[3]", "w.json:2:11: error: 'names' must be a text, got 3"},
      {"\"timelines\": [", "\"timelines\": [3, ",
       "w.json:4:15: error: a timeline must be an object, got 3"},
  }));
  INFO(from << " -> " << to);
  CHECK_THAT(error_of(with(from, to)), Catch::StartsWith(expected));
}

TEST_CASE("a rank cannot take part in one collective twice", "[file]") {
  CHECK_THAT(error_of(with("{\"host_ns\": 0, \"stream\": 0}]}]}",
                           "{\"host_ns\": 0, \"stream\": 0},\n{\"collective\": 0, \"recorded_ns\": "
                           "1, \"stream\": 1}]}]}")),
             Catch::StartsWith("w.json:12:1: error: the rank takes part in collective 0 twice"));
}

TEST_CASE("times that add up beyond 64 bits are an error", "[file]") {
  std::string ops = "{\"host_ns\": 1000000000000000000, \"stream\": 0}";
  for (int i = 0; i < 9; ++i) {
    ops += ",\n{\"host_ns\": 1000000000000000000, \"stream\": 0}";
  }
  const std::string text =
      R"({"format": "trainyard-workload", "version": 1, "timelines": [{"rank": 0,
"streams": [{"name": "host:0", "host": true}], "ops": [
)" + ops +
      "]}]}";
  CHECK_THAT(error_of(text), Catch::StartsWith("w.json:7:1: error: the times of the timeline add "
                                               "up to more than 126 years"));
}

TEST_CASE("a cut file is an error at its end", "[file]") {
  for (std::size_t size = 1; size < kValid.size(); size += 7) {
    INFO(size);
    CHECK_THAT(error_of(kValid.substr(0, size)), Catch::StartsWith("w.json:"));
  }
  CHECK_THAT(error_of(kValid.substr(0, 100)), Catch::Contains("the JSON text is cut"));
}

TEST_CASE("what is no workload is refused", "[file]") {
  const auto* text = GENERATE("", "42", "[]", "{}", "null", "{\"format\": \"trainyard-workload\"}",
                              "{\"format\": \"trainyard-workload\", \"version\": 1}", "\xff\xfe");
  INFO(text);
  CHECK_THAT(error_of(text), Catch::StartsWith("w.json:"));
}

TEST_CASE("text behind the workload is an error", "[file]") {
  CHECK_THAT(error_of(kValid + " {}"), Catch::StartsWith("w.json:"));
}

TEST_CASE("mutated files are errors or valid workloads, never anything else", "[file]") {
  // a small linear congruential generator: the same mutations on every machine
  std::uint32_t state = 12345;
  const auto next = [&](std::uint32_t below) {
    state = state * 1664525U + 1013904223U;
    return (state >> 8U) % below;
  };
  const std::string_view alphabet = "0123456789-.,:[]{}\"aeN \n\x01\xff";
  int errors = 0;
  for (int round = 0; round < 4'000; ++round) {
    std::string text = kValid;
    for (std::uint32_t change = 0; change <= next(3); ++change) {
      const std::size_t at = next(static_cast<std::uint32_t>(text.size()));
      const char c = alphabet[next(static_cast<std::uint32_t>(alphabet.size()))];
      switch (next(3)) {
        case 0:
          text[at] = c;
          break;
        case 1:
          text.insert(at, 1, c);
          break;
        default:
          text.erase(at, 1 + next(5));
          break;
      }
    }
    const std::string error = error_of(text);
    if (error != "no error") {
      ++errors;
      CHECK_THAT(error, Catch::StartsWith("w.json:"));
    } else {
      const auto read = workload::parse_workload(text, "w.json");
      CHECK(to_json(workload::parse_workload(to_json(read), "again")) == to_json(read));
    }
  }
  CHECK(errors > 1'000);
}
