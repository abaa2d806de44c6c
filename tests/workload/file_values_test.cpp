// Each key of a workload file with each kind of value that it does not take.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "input/error.hpp"
#include "workload/file.hpp"

using namespace trainyard;

namespace {

/// The whole file around one value, so that the value stands at line 2, column 1.
struct Slot {
  std::string key{};
  std::string before{};
  std::string after{};
};

const std::string head_text = R"({"format": "trainyard-workload", "version": 1, "world_size": 4, )";
const std::string one_timeline = R"("timelines": [{"rank": 0}]})";

Slot top(const std::string& key) {
  return {key, head_text + '"' + key + "\":\n", ", " + one_timeline};
}

Slot group(const std::string& key, const std::string& more = "") {
  return {key, head_text + R"("groups": [{")" + key + "\":\n", more + "}], " + one_timeline};
}

Slot collective(const std::string& key) {
  return {
      key,
      head_text + R"("groups": [{"name": "0", "ranks": [0]}], "collectives": [{")" + key + "\":\n",
      (key == "op" ? "}], " : R"(, "op": "barrier"}], )") + one_timeline};
}

Slot timeline(const std::string& key) {
  return {key, head_text + R"("timelines": [{")" + key + "\":\n", "}]}"};
}

Slot stream(const std::string& key) {
  return {key, head_text + R"("timelines": [{"streams": [{")" + key + "\":\n", "}]}]}"};
}

Slot step(const std::string& key) {
  return {key, head_text + R"("timelines": [{"steps": [{")" + key + "\":\n", "}]}]}"};
}

/// A compute operation with one more key; a kind of operation stands alone.
Slot op(const std::string& key, const std::string& kind = R"("compute_ns": 1, )") {
  return {key,
          head_text + R"("timelines": [{"streams": [{"name": "gpu0:7"}], "ops": [{)" + kind + '"' +
              key + "\":\n",
          "}]}]}"};
}

Slot skipped(const std::string& key) {
  return {key, head_text + R"("skipped": [{")" + key + "\":\n", "}], " + one_timeline};
}

std::string error_of(const Slot& slot, const std::string& value) {
  try {
    (void)workload::parse_workload(slot.before + value + slot.after, "w.json");
  } catch (const input::InputError& error) {
    return error.what();
  }
  return "no error";
}

void check_refused(const Slot& slot, const std::vector<std::string>& values,
                   const std::string& what) {
  for (const std::string& value : values) {
    INFO(slot.before << value);
    CHECK_THAT(error_of(slot, value),
               Catch::StartsWith(fmt::format("w.json:2:1: error: '{}' {}", slot.key, what)));
    CHECK_THAT(error_of(slot, value), Catch::EndsWith(", got " + value));
  }
}

}  // namespace

TEST_CASE("texts of a workload file must be texts", "[file]") {
  const std::vector<std::string> wrong{"1", "true", "null", "[]", "{}"};
  for (const Slot& slot : {top("name"), top("gpu"), top("framework"), top("source"), top("licence"),
                           group("name", R"(, "ranks": [0])"), stream("name"), step("name"),
                           skipped("reason"), collective("op"), op("category"), op("direction")}) {
    for (const std::string& value : wrong) {
      INFO(slot.key << ": " << value);
      // of a list or an object only the bracket is shown
      CHECK_THAT(error_of(slot, value),
                 Catch::StartsWith(fmt::format("w.json:2:1: error: '{}' must be a text, got {}",
                                               slot.key, value.substr(0, 1))));
    }
    if (slot.key != "op" && slot.key != "category" && slot.key != "direction") {
      CHECK(error_of(slot, R"("a \"quoted\" text")") == "no error");
    }
  }
}

TEST_CASE("words of a workload file must be known ones", "[file]") {
  CHECK(error_of(collective("op"), "\"all_reduce\"") == "no error");
  CHECK(error_of(collective("op"), "\"allreduce\"") ==
        "w.json:2:1: error: unknown op \"allreduce\", did you mean \"all_reduce\"?");
  CHECK(error_of(op("category"), "\"memory-bound\"") == "no error");
  CHECK(error_of(op("category"), "\"memory_bound\"") ==
        "w.json:2:1: error: unknown category \"memory_bound\", did you mean \"memory-bound\"?");
  CHECK(error_of(op("direction", R"("copy_ns": 1, )"), "\"h2d\"") == "no error");
  CHECK_THAT(error_of(op("direction"), "\"sideways\""),
             Catch::StartsWith("w.json:2:1: error: unknown direction \"sideways\""));
}

TEST_CASE("sizes of a workload file must be finite and not negative", "[file]") {
  for (const Slot& slot :
       {top("samples_per_step"), top("memory_per_gpu_bytes"), top("checkpoint_bytes"),
        top("dataset_bytes_per_sample"), collective("bytes"), op("bytes")}) {
    check_refused(slot, {"-1", "-1e-9", "\"5\"", "null", "true"}, "must be a number of at least 0");
    for (const char* value : {"NaN", "inf", "1e999", "-", "0x10", "1.2.3"}) {
      INFO(slot.key << ": " << value);
      CHECK_THAT(error_of(slot, value), Catch::StartsWith("w.json:2:1: error: "));
    }
    for (const char* value : {"0", "0.5", "1e12", "123456789012345"}) {
      INFO(slot.key << ": " << value);
      CHECK(error_of(slot, value) == "no error");
    }
  }
}

TEST_CASE("times of a workload file are whole nanoseconds, at most 31 years", "[file]") {
  const std::string range = "must be a whole number from 0 to 1000000000000000000";
  std::vector<Slot> slots{timeline("start_ns"), op("recorded_ns")};
  for (const char* kind : {"compute_ns", "copy_ns", "fill_ns"}) {
    slots.push_back(op(kind, ""));
  }
  for (const Slot& slot : slots) {
    check_refused(
        slot,
        {"-1", "0.5", "1e3", "\"7\"", "null", "1000000000000000001", "99999999999999999999999"},
        range);
  }
  for (const char* kind : {"host_ns", "wait_ns"}) {
    check_refused(op(kind, ""), {"-1", "0.5", "1000000000000000001"}, range);
  }
  CHECK(error_of(op("compute_ns", ""), "1000000000000000000") == "no error");
  CHECK(error_of(op("compute_ns", ""), "12.0") == "no error");
}

TEST_CASE("a gap may be negative", "[file]") {
  CHECK(error_of(op("gap_ns"), "-1000000000000000000") == "no error");
  check_refused(op("gap_ns"), {"-1000000000000000001", "0.5", "\"1\""},
                "must be a whole number from -1000000000000000000 to 1000000000000000000");
}

TEST_CASE("indices of a workload file count from 0", "[file]") {
  for (const Slot& slot : {collective("group"), collective("sequence"), collective("step"),
                           op("stream"), op("step"), op("name"), op("collective", "")}) {
    check_refused(slot, {"-1", "1.5", "\"0\"", "null", "1073741825", "99999999999999999999"},
                  "must be a whole number from 0 to 1073741824");
  }
  for (const Slot& slot : {step("begin"), step("end")}) {
    check_refused(slot, {"-2", "1.5", "null"}, "must be a whole number from -1 to 1073741824");
    CHECK(error_of(slot, "-1") == "no error");
  }
}

TEST_CASE("ranks of a workload file are below 2^24", "[file]") {
  check_refused(timeline("rank"), {"-1", "0.5", "\"0\"", "16777217"},
                "must be a whole number from 0 to 16777216");
  check_refused(skipped("count"), {"-1", "0.5", "\"0\""}, "must be a whole number from 0 to");
  const Slot ranks{"ranks", head_text + "\"groups\": [{\"name\": \"0\", \"ranks\": [0,\n",
                   "]}], " + one_timeline};
  check_refused(ranks, {"-1", "0.5", "\"1\"", "16777217"}, "must be a whole number from 0 to");
  CHECK(error_of(ranks, "3") == "no error");
}

TEST_CASE("lists of a workload file must be lists", "[file]") {
  for (const Slot& slot :
       {top("names"), top("groups"), top("collectives"), top("skipped"), group("ranks"),
        timeline("streams"), timeline("steps"), timeline("ops"), op("after")}) {
    for (const char* value : {"1", "\"text\"", "null", "{}"}) {
      INFO(slot.key << ": " << value);
      CHECK_THAT(error_of(slot, value),
                 Catch::StartsWith(
                     fmt::format("w.json:2:1: error: '{}' must be an array, got", slot.key)));
    }
  }
}

TEST_CASE("entries of lists must be objects", "[file]") {
  const auto [slot, what] = GENERATE(table<Slot, std::string>({
      {top("groups"), "a group"},
      {top("collectives"), "a collective"},
      {top("skipped"), "a skipped entry"},
      {timeline("streams"), "a stream"},
      {timeline("steps"), "a step"},
      {timeline("ops"), "an operation"},
  }));
  for (const char* value : {"5", "null", "\"text\"", "[]"}) {
    INFO(slot.key << ": " << value);
    CHECK_THAT(
        error_of(slot, fmt::format("[{}]", value)),
        Catch::StartsWith(fmt::format("w.json:2:2: error: {} must be an object, got ", what)));
  }
}

TEST_CASE("unknown keys are named with the object they stand in", "[file]") {
  const auto [slot, what] = GENERATE(table<Slot, std::string>({
      {top("skipped"), "\"resaon\" in a skipped entry, did you mean \"reason\"?"},
      {top("groups"), "\"nmae\" in a group, did you mean \"name\"?"},
      {top("collectives"), "\"byte\" in a collective, did you mean \"bytes\"?"},
      {timeline("streams"), "\"hots\" in a stream, did you mean \"host\"?"},
      {timeline("steps"), "\"begn\" in a step, did you mean \"begin\"?"},
      {timeline("ops"), "\"strem\" in an operation, did you mean \"stream\"?"},
  }));
  const std::string key = what.substr(1, what.find('"', 1) - 1);
  CHECK(error_of(slot, fmt::format("[{{\"{}\": 1}}]", key)) ==
        "w.json:2:3: error: unknown key " + what);
}

TEST_CASE("the version is 1", "[file]") {
  const Slot version{"version", "{\"format\": \"trainyard-workload\", \"version\":\n",
                     ", " + one_timeline};
  CHECK(error_of(version, "1") == "no error");
  check_refused(version, {"0", "2", "-1", "1.5", "\"1\"", "null"}, "must be a whole number from 1");
}

TEST_CASE("a world has at least one rank", "[file]") {
  const Slot world{"world_size",
                   "{\"format\": \"trainyard-workload\", \"version\": 1, \"world_size\":\n",
                   ", " + one_timeline};
  CHECK(error_of(world, "1") == "no error");
  check_refused(world, {"0", "-8", "2.5", "\"8\"", "16777217"},
                "must be a whole number from 1 to 16777216");
}

TEST_CASE("ranks of timelines rise", "[file]") {
  const auto with = [](const std::string& timelines) {
    return error_of({"", head_text + "\"timelines\": [\n", "]}"}, timelines);
  };
  CHECK(with("{\"rank\": 0}, {\"rank\": 3}") == "no error");
  CHECK(with("{\"rank\": 1}, {\"rank\": 0}") ==
        "w.json:2:14: error: 'rank' must be below world_size 4 and above the rank before, got 0");
  CHECK(with("{\"rank\": 2}, {\"rank\": 2}") ==
        "w.json:2:14: error: 'rank' must be below world_size 4 and above the rank before, got 2");
}

TEST_CASE("escapes in names and keys are read", "[file]") {
  const std::string text =
      head_text + R"("n\u0061me": "caf\u00e9 \ud83d\ude80 \"x\"", "timelines": [{"rank": 0}]})";
  CHECK(workload::parse_workload(text, "w").name == "caf\xC3\xA9 \xF0\x9F\x9A\x80 \"x\"");
}
