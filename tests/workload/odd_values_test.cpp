// Profiles with values that no profiler should write: each is refused with a clear error or read in
// a way that leaves a valid workload.
#include <catch2/catch.hpp>

#include "graph_support.hpp"
#include "input/error.hpp"
#include "profile_builder.hpp"
#include "workload/file.hpp"

using namespace trainyard;
using test::ProfileBuilder;
using workload::Workload;

namespace {

constexpr const char* kAllReduce = "ncclKernel_AllReduce_RING_LL_Sum_float(X)";
constexpr const char* kTwoRanks = R"("distributedInfo":{"rank":0,"world_size":2},)";

std::string kernel(std::string_view ts, std::string_view dur, std::string_view arguments) {
  return fmt::format(R"({{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{},"dur":{},)"
                     R"("args":{{{}}}}})",
                     ts, dur, arguments);
}

/// Column of a value behind its key in the text of `kernel`; of a text what its quotes hold.
std::size_t column_of(std::string_view value, std::string_view key) {
  const std::size_t at = kernel("10", "0", "").find(key) + key.size() + 1;
  return value.front() == '"' ? at + 1 : at;
}

/// Imports texts as the files p0.json, p1.json, ...
Workload import(const std::vector<std::string>& texts) {
  const test::TemporaryFolder folder;
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    paths.push_back(folder.write(fmt::format("p{}.json", i), texts[i]).string());
  }
  return workload::import_kineto(paths, "odd");
}

std::string error_of(const std::vector<std::string>& texts) {
  try {
    const Workload workload = import(texts);
    (void)workload::parse_workload(to_json(workload), "written");
  } catch (const input::InputError& error) {
    const std::string what = error.what();
    const std::size_t name = what.find_last_of('/', what.find(": error: "));
    return name == std::string::npos ? what : what.substr(name + 1);
  }
  return "no error";
}

/// One collective of rank 0 of 2 with this metadata.
std::string collective(std::string_view metadata, std::string_view head = kTwoRanks) {
  return ProfileBuilder{}
      .head(head)
      .call("cudaLaunchKernel", 5, 1, 1)
      .kernel(10, 5, 1, 20, kAllReduce, fmt::format(",{}", metadata))
      .text();
}

}  // namespace

TEST_CASE("numbers as texts are read as numbers", "[odd]") {
  const auto workload = import(
      {ProfileBuilder{}
           .raw(kernel("\"12.5\"", "\"2\"", R"("device":"1","stream":"20","correlation":"4")"))
           .raw(kernel("20", "1", R"("device":1,"stream":20)"))
           .text()});
  const test::TimelineView view{workload.timelines.at(0)};
  REQUIRE(view.on("gpu1:20").size() == 2);
  CHECK(view.start_us(view.at("gpu1:20", 0)) == 0.0);
  CHECK(view.end_us(view.at("gpu1:20", 0)) == 2.0);
  CHECK(view.start_us(view.at("gpu1:20", 1)) == 7.5);
}

TEST_CASE("a time that is no finite number names its place", "[odd]") {
  const auto* value = GENERATE("NaN", "nan", "-inf", "Infinity", "1e300", "null", "true",
                               "\"soon\"", "[1]", "9223372036854775808", "-9223372036854775809");
  INFO(value);
  const std::string text = ProfileBuilder{}.raw(kernel(value, "1", "")).text();
  CHECK_THAT(error_of({text}),
             Catch::StartsWith(fmt::format("p0.json:2:{}: error: 'ts' must be a finite time in "
                                           "microseconds, got ",
                                           column_of(value, "\"ts\":"))));
}

TEST_CASE("a duration that is no time names its place", "[odd]") {
  const auto [value, what] = GENERATE(table<std::string, std::string>({
      {"-1", "'dur' must not be negative, got -1 (microseconds)"},
      {"-0.001", "'dur' must not be negative, got -0.001 (microseconds)"},
      {"nan", "'dur' must be a finite time in microseconds, got nan"},
      {"inf", "'dur' must be a finite time in microseconds, got inf"},
      {"1e41", "'dur' must be a finite time in microseconds, got 1e41"},
      {"\"long\"", "'dur' must be a finite time in microseconds, got long"},
  }));
  const std::string text = ProfileBuilder{}.raw(kernel("10", value, "")).text();
  CHECK(error_of({text}) ==
        fmt::format("p0.json:2:{}: error: {}", column_of(value, "\"dur\":"), what));
}

TEST_CASE("a negative duration below half a nanosecond is none", "[odd]") {
  const auto workload = import({ProfileBuilder{}.raw(kernel("10", "-0.0004", "")).text()});
  CHECK(workload.timelines.at(0).ops.at(0).duration == units::Nanoseconds{0});
}

TEST_CASE("an event with an empty time stamp has none", "[odd]") {
  const auto workload =
      import({ProfileBuilder{}.raw(kernel("\"\"", "1", "")).raw(kernel("3", "1", "")).text()});
  CHECK(workload.timelines.at(0).ops.size() == 1);
  CHECK(workload.skipped.at(1).reason == "events without a time stamp");
}

TEST_CASE("times before the profiler's zero are times", "[odd]") {
  const auto workload = import({ProfileBuilder{}
                                    .raw(kernel("-30.5", "10", R"("stream":7)"))
                                    .raw(kernel("4.5", "1", R"("stream":7)"))
                                    .text()});
  const test::TimelineView view{workload.timelines.at(0)};
  CHECK(view.start_us(view.at("gpu0:7", 0)) == 0.0);
  CHECK(view.start_us(view.at("gpu0:7", 1)) == 35.0);
}

TEST_CASE("stamps that cannot be of one run are refused", "[odd]") {
  // a stamp near zero among stamps since 1970; the largest ones that can be read
  CHECK(error_of({ProfileBuilder{}
                      .raw(kernel("4", "5", ""))
                      .raw(kernel("1700000000000000", "5", ""))
                      .text()}) ==
        "p0.json: error: the profile spans more than a year, from 4 to 1700000000000005 us: some "
        "of its time stamps are wrong");
  CHECK_THAT(error_of({ProfileBuilder{}
                           .raw(kernel("-4000000000000000", "1", ""))
                           .raw(kernel("4000000000000000", "4000000000000000", ""))
                           .text()}),
             Catch::Contains("the profile spans more than a year, from -4000000000000000 to "
                             "8000000000000000 us"));
  CHECK_THAT(error_of({ProfileBuilder{}.raw(kernel("0", "31536000000001", "")).text()}),
             Catch::Contains("more than a year"));
  CHECK(error_of({ProfileBuilder{}.raw(kernel("0", "31536000000000", "")).text()}) == "no error");
  CHECK_THAT(error_of({ProfileBuilder{}.kernel(5, 1, 1).step(1, 0, 1).text(),
                       ProfileBuilder{}.raw(kernel("1700000000000000", "5", "")).text()}),
             Catch::StartsWith("p1.json: error: the profile starts more than a year after "));
  CHECK_THAT(error_of({ProfileBuilder{}
                           .head(R"("baseTimeNanoseconds":4000000000000000000,)")
                           .raw(kernel("4000000000000000", "1", ""))
                           .text(),
                       ProfileBuilder{}
                           .head(R"("baseTimeNanoseconds":-4000000000000000000,)")
                           .raw(kernel("-4000000000000000", "1", ""))
                           .text()}),
             Catch::StartsWith("p0.json: error: the profile starts more than a year after "));
}

TEST_CASE("a base time that is no whole number is refused", "[odd]") {
  const auto* value = GENERATE("1.5", "\"now\"", "null", "1e9", "99999999999999999999", "NaN");
  INFO(value);
  CHECK_THAT(
      error_of({ProfileBuilder{}
                    .head(fmt::format(R"("baseTimeNanoseconds":{},)", value))
                    .kernel(1, 2, 3)
                    .text()}),
      Catch::StartsWith("p0.json:1:24: error: 'baseTimeNanoseconds' must be a whole number"));
}

TEST_CASE("devices and streams that do not fit are not said", "[odd]") {
  const auto stream_name = [](std::string_view arguments) {
    const auto workload = import({ProfileBuilder{}.raw(kernel("1", "2", arguments)).text()});
    return workload.timelines.at(0).streams.at(0).name;
  };
  CHECK(stream_name(R"("device":3,"stream":9)") == "gpu3:9");
  CHECK(stream_name("") == "gpu0:7");                                    // pid and tid
  CHECK(stream_name(R"("device":4294967296,"stream":9)") == "gpu0:9");   // 2^32
  CHECK(stream_name(R"("device":-2147483649,"stream":9)") == "gpu0:9");  // -2^31 - 1
  CHECK(stream_name(R"("device":2.5,"stream":null)") == "gpu0:7");       // pid and tid
  CHECK(stream_name(R"("device":0,"stream":99999999999999999999)") == "gpu0:7");
  CHECK(stream_name(R"("device":0,"stream":4294967295)") == "gpu0:4294967295");
}

TEST_CASE("byte counts that are none are unknown", "[odd]") {
  const auto bytes = [](std::string_view value) {
    const auto workload =
        import({fmt::format(R"([{{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","ts":1,"dur":2,)"
                            R"("args":{{"stream":7,"bytes":{}}}}}])",
                            value)});
    const auto found = workload.timelines.at(0).ops.at(0).bytes;
    return found ? found->si() : -1.0;
  };
  CHECK(bytes("0") == 0.0);
  CHECK(bytes("4096") == 4096.0);
  CHECK(bytes("\"4096\"") == 4096.0);
  CHECK(bytes("1e3") == -1.0);
  CHECK(bytes("-4096") == -1.0);
  CHECK(bytes("0.5") == -1.0);
  CHECK(bytes("99999999999999999999") == -1.0);
  CHECK(bytes("inf") == -1.0);
  CHECK(bytes("[4096]") == -1.0);
}

TEST_CASE("arguments of another kind than expected are not read", "[odd]") {
  const auto* arguments = GENERATE("[]", "null", "\"text\"", "5", "{}");
  INFO(arguments);
  const auto workload = import({fmt::format(
      R"([{{"ph":"X","cat":"kernel","name":"k","pid":2,"tid":5,"ts":1,"dur":2,"args":{}}}])",
      arguments)});
  CHECK(workload.timelines.at(0).streams.at(0).name == "gpu2:5");
}

TEST_CASE("an event that is no object is an error at its place", "[odd]") {
  const auto* event = GENERATE("5", "null", "\"x\"", "[]");
  INFO(event);
  CHECK_THAT(error_of({ProfileBuilder{}.raw(event).text()}), Catch::StartsWith("p0.json:2:"));
}

TEST_CASE("two calls of one correlation id: the outer one launched", "[odd]") {
  // a driver call at 12 inside the runtime call at 10, in either order of the file
  const auto inner_first = GENERATE(true, false);
  ProfileBuilder profile;
  profile.call("cudaGetDevice", 2, 1, 9)
      .call(inner_first ? "cuLaunchKernel" : "cudaLaunchKernel", inner_first ? 12 : 10,
            inner_first ? 3 : 8, 1);
  profile.call(inner_first ? "cudaLaunchKernel" : "cuLaunchKernel", inner_first ? 10 : 12,
               inner_first ? 8 : 3, 1);
  profile.kernel(20, 5, 1);
  const auto workload = import({profile.step(1, 0, 40).text()});
  const test::TimelineView view{workload.timelines.at(0)};
  const int launch = view.op("gpu0:7", 0).after.at(0).op;
  CHECK(view.end_us(launch) == 10.0);
}

TEST_CASE("two kernels of one correlation id have one launch", "[odd]") {
  const auto workload = import({ProfileBuilder{}
                                    .call("cudaLaunchKernel", 10, 2, 1)
                                    .kernel(15, 5, 1)
                                    .kernel(30, 5, 1, 9)
                                    .text()});
  const test::TimelineView view{workload.timelines.at(0)};
  CHECK(view.op("gpu0:7", 0).after.at(0).op == view.op("gpu0:9", 0).after.at(0).op);
  CHECK(view.lag(view.at("gpu0:9", 0), view.at("host:0", 0)) == 20.0);
}

TEST_CASE("correlation id 0 joins nothing", "[odd]") {
  const auto workload = import(
      {ProfileBuilder{}.call("cudaLaunchKernel", 10, 2, 0).kernel(15, 5, 0).step(1, 0, 30).text()});
  const test::TimelineView view{workload.timelines.at(0)};
  CHECK(view.op("gpu0:7", 0).after.empty());
}

TEST_CASE("correlation ids that two processes use do not mix", "[odd]") {
  // Both ranks use id 1; rank 1 launches 30 us later than rank 0 and its kernel comes 7 us later.
  const auto rank = [](int number, int launch, int delay) {
    return ProfileBuilder{}
        .head(fmt::format(R"("distributedInfo":{{"rank":{},"world_size":2}},)", number))
        .step(1, 0, 100)
        .call("cudaLaunchKernel", launch, 2, 1)
        .kernel(launch + delay, 5, 1)
        .text();
  };
  const auto workload = import({rank(0, 10, 4), rank(1, 40, 7)});
  REQUIRE(workload.timelines.size() == 2);
  const test::TimelineView first{workload.timelines[0]};
  const test::TimelineView second{workload.timelines[1]};
  CHECK(first.lag(first.at("gpu0:7", 0), first.op("gpu0:7", 0).after.at(0).op) == 4.0);
  CHECK(second.lag(second.at("gpu0:7", 0), second.op("gpu0:7", 0).after.at(0).op) == 7.0);
  CHECK(second.start_us(second.at("gpu0:7", 0)) == 47.0);
}

TEST_CASE("groups that the job cannot have are refused", "[odd]") {
  const auto [metadata, what] = GENERATE(table<std::string, std::string>({
      {R"("Process Group Name":"3","Process Group Ranks":"[0, 9]")",
       "group \"3\" has rank 9, expected distinct ranks below the job's 2"},
      {R"("Process Group Name":"3","Process Group Ranks":"[1]")",
       "rank 0 calls a collective of group \"3\", expected one of its ranks [1]"},
      {R"("Process Group Name":"3","Group size":900000000,"Global rank start":0,)"
       R"("Global rank stride":1)",
       "group \"3\" has 900000000 ranks up to rank 899999999, expected distinct ranks below the "
       "job's 2"},
      {R"("Process Group Name":"3","Group size":2,"Global rank start":0,)"
       R"("Global rank stride":1000000000)",
       "group \"3\" has 2 ranks up to rank 1000000000, expected distinct ranks below the job's 2"},
      {R"("Collective name":"send","Src Rank":0,"Dst Rank":4)",
       "group \"p2p 0-4\" has rank 4, expected distinct ranks below the job's 2"},
  }));
  CHECK(error_of({collective(metadata)}) == "p0.json: error: " + what);
}

TEST_CASE("without a stated world it is as large as its groups need", "[odd]") {
  const auto world = [](std::string_view metadata, std::string_view head = "") {
    const auto workload = import({collective(metadata, head)});
    CHECK(to_json(workload::parse_workload(to_json(workload), "w")) == to_json(workload));
    return workload.world_size;
  };
  CHECK(world(R"("Process Group Name":"0","Process Group Ranks":"[0, 5]")") == 6);
  CHECK(world(R"("Process Group Name":"0","Group size":3,"Global rank start":0,)"
              R"("Global rank stride":4)") == 9);
  CHECK(world(R"("Collective name":"send","Src Rank":0,"Dst Rank":3)") == 4);
  CHECK(world(R"("Process Group Name":"1")",
              R"("distributedInfo":{"rank":0,"pg_config":[{"pg_name":"1","ranks":[0,7]}]},)") == 8);
  CHECK(world(R"("Group size":3)") == 1);
}

TEST_CASE("element counts that are none leave the size unknown", "[odd]") {
  const auto bytes = [](std::string_view value) {
    const auto workload =
        import({collective(fmt::format(R"("In msg nelems":{},"dtype":"Float")", value))});
    const auto found = workload.collectives.at(0).bytes;
    return found ? found->si() : -1.0;
  };
  CHECK(bytes("10") == 40.0);
  CHECK(bytes("\"10\"") == 40.0);
  CHECK(bytes("0") == 0.0);
  CHECK(bytes("-10") == -1.0);
  CHECK(bytes("1.5") == -1.0);
  CHECK(bytes("NaN") == -1.0);
  CHECK(bytes("null") == -1.0);
  CHECK(bytes("99999999999999999999") == -1.0);
}

TEST_CASE("shapes beyond any tensor stay in 64 bits", "[odd]") {
  // 2^40 elements is where counting ends
  const double most = 1'099'511'627'776.0 * 4.0;
  const auto bytes = [](std::string_view dimensions) {
    const auto workload =
        import({ProfileBuilder{}
                    .range("nccl:all_reduce", 3, 20, 1,
                           fmt::format(R"("Input Dims":[{}],"Input type":["float"])", dimensions))
                    .call("cudaLaunchKernel", 5, 1, 1)
                    .kernel(10, 5, 1, 20, kAllReduce)
                    .text()});
    return workload.collectives.at(0).bytes.value().si();
  };
  CHECK(bytes("[3,4]") == 48.0);
  CHECK(bytes("[1000000000000,1000000000000,1000000000000]") == most);
  CHECK(bytes("[[1000000000000,5],[1000000000000,5],[7]]") == most);
  CHECK(bytes("[1000000000000,0]") == 0.0);
  CHECK(bytes("[1000000000000,0,5,4000000000000000000]") == 0.0);
  CHECK(bytes("[-3,4]") == 0.0);
  CHECK(bytes("[\"3\",4]") == 48.0);
}

TEST_CASE("text that is no UTF-8 reaches no workload file", "[odd]") {
  const auto workload = import({ProfileBuilder{}
                                    .head("\"deviceProperties\":[{\"id\":0,\"name\":\"GPU\xFF\"}],")
                                    .kernel(1, 2, 3, 7, "caf\xC3 bad")
                                    .text()});
  CHECK(workload.gpu == "GPU?");
  for (const char c : to_json(workload)) {
    CHECK(static_cast<unsigned char>(c) < 128U);
  }
}

TEST_CASE("names keep what JSON can escape", "[odd]") {
  const auto workload = import({ProfileBuilder{}
                                    .head(R"("deviceProperties":[{"id":0,"name":"A \"é\" \\"}],)")
                                    .kernel(1, 2, 3)
                                    .text()});
  CHECK(workload.gpu == "A \"\xC3\xA9\" \\");
  CHECK(workload::parse_workload(to_json(workload), "w").gpu == workload.gpu);
}

TEST_CASE("parts of the head that are of another kind are not read", "[odd]") {
  const auto* head = GENERATE(R"("distributedInfo":5,)", R"("distributedInfo":[],)",
                              R"("distributedInfo":{"rank":"x","world_size":-4},)",
                              R"("distributedInfo":{"rank":99999999999,"world_size":1.5},)",
                              R"("distributedInfo":{"pg_config":5},)",
                              R"("distributedInfo":{"pg_config":[5,{"ranks":"all"},{}]},)",
                              R"("deviceProperties":{},)", R"("deviceProperties":[5,{}],)");
  INFO(head);
  const auto workload = import({ProfileBuilder{}.head(head).kernel(1, 2, 3).text()});
  CHECK(workload.world_size == 1);
  CHECK(workload.timelines.at(0).rank == 0);
  CHECK(workload.gpu.empty());
}
