#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"

using namespace trainyard;

namespace {

/// A step of 100 us with a kernel of 20 us and an all-reduce of 4000 bytes between two ranks.
constexpr const char* kProfile = R"({"distributedInfo":{"rank":0,"world_size":2},"traceEvents":[
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":9,"tid":1,"ts":0,"dur":100},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":1,"ts":5,"dur":2,
 "args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"volta_sgemm_128x32_nt","ts":10,"dur":20,
 "args":{"device":0,"stream":7,"correlation":1}},
{"ph":"X","cat":"user_annotation","name":"nccl:all_reduce","pid":9,"tid":1,"ts":11,"dur":20,
 "args":{"Input Dims":[[1000]],"Input type":["float"]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":1,"ts":15,"dur":2,
 "args":{"correlation":2}},
{"ph":"X","cat":"kernel","name":"ncclKernel_AllReduce_RING_LL_Sum_float","ts":35,"dur":30,
 "args":{"device":0,"stream":20,"correlation":2}}]})";

/// A folder with the profile and the path of a workload to write.
struct Place {
  test::TemporaryFolder folder{};
  std::string profile = folder.write("rank0.json", kProfile).string();
  std::string out = (folder.path() / "w.json").string();

  [[nodiscard]] test::Ran import(std::vector<std::string> more = {}) const {
    std::vector<std::string> words{"workload", "import", profile, "-o", out};
    words.insert(words.end(), more.begin(), more.end());
    return test::run_program(words);
  }
};

}  // namespace

TEST_CASE("importing writes a workload that the other commands read", "[cli]") {
  const Place place;
  const auto imported = place.import({"--source", "a test", "--licence", "MIT", "--name", "tiny",
                                      "--samples-per-step", "64", "--memory-per-gpu", "2 GB"});
  REQUIRE(imported.code == 0);
  CHECK_THAT(imported.out, Catch::Contains("w.json: 1 of 2 ranks, "));

  const auto shown = test::run_program({"workload", "show", place.out, "--format", "json"});
  REQUIRE(shown.code == 0);
  const auto document = nlohmann::json::parse(shown.out);
  CHECK(document["name"] == "tiny");
  CHECK(document["source"] == "a test");
  CHECK(document["licence"] == "MIT");
  CHECK(document["samples_per_step"] == 64.0);
  CHECK(document["memory_per_gpu_bytes"] == 2e9);
  const auto& device = document["devices"].at(0);
  CHECK(device["n_kernels"] == 2);
  CHECK(device["n_comm"] == 1);
  CHECK(device["kernel_ms"] == Approx(0.050));
  CHECK(device["comm_kernel_ms"] == Approx(0.030));
  CHECK(device["step_ms"].at(0) == Approx(0.100));
  CHECK(device["gpu_span_ms"] == Approx(0.055));
  CHECK(device["idle_ms"] == Approx(0.005));
  CHECK(device["exposed_comm_ms"] == Approx(0.030));
  CHECK(document["collectives"].at(0)["bytes"] == 4000.0);
}

TEST_CASE("JSON has every key that the contract names", "[cli]") {
  const Place place;
  REQUIRE(place.import().code == 0);
  const auto shown = test::run_program({"workload", "show", place.out, "--format", "json"});
  const auto device = nlohmann::json::parse(shown.out)["devices"].at(0);
  for (const char* key :
       {"n_kernels", "kernel_ms", "n_comm", "comm_kernel_ms", "n_memcpy", "memcpy_bytes",
        "memcpy_ms", "n_memset", "memset_bytes", "n_steps", "step_ms", "gpu_span_ms", "busy_ms",
        "idle_ms", "compute_union_ms", "comm_union_ms", "overlap_ms", "exposed_comm_ms"}) {
    INFO(key);
    CHECK(device.contains(key));
  }
}

TEST_CASE("the table for people names kernels, collectives and what is unknown", "[cli]") {
  const Place place;
  REQUIRE(place.import().code == 0);
  const auto shown = test::run_program({"workload", "show", place.out});
  CHECK(shown.code == 0);
  CHECK_THAT(shown.out, Catch::Contains("volta_sgemm_128x32_nt"));
  CHECK_THAT(shown.out, Catch::Contains("gemm"));
  CHECK_THAT(shown.out, Catch::Contains("all_reduce"));
  CHECK_THAT(shown.out, Catch::Contains("memory per GPU     unknown"));
  CHECK_THAT(shown.out, Catch::Contains("ProfilerStep#1"));
}

TEST_CASE("a name comes from the output file", "[cli]") {
  const Place place;
  REQUIRE(place.import().code == 0);
  const auto checked = test::run_program({"workload", "check", place.out});
  CHECK(checked.code == 0);
  CHECK_THAT(checked.out, Catch::Contains("w: valid, 1 ranks, "));
}

TEST_CASE("checking warns of what the workload does not say", "[cli]") {
  const Place place;
  REQUIRE(place.import().code == 0);
  const auto checked = test::run_program({"workload", "check", place.out});
  CHECK_THAT(checked.out, Catch::Contains("warning: memory per GPU is unknown"));
  CHECK_THAT(checked.out, Catch::Contains("warning: samples per step are unknown"));
  CHECK_THAT(checked.out, Catch::Contains("warning: 1 of 2 ranks have no timeline"));
  CHECK_THAT(checked.out, !Catch::Contains("have no size"));
}

TEST_CASE("an existing file stays unless --force is given", "[cli]") {
  const Place place;
  place.folder.write("w.json", "mine");
  const auto refused = place.import();
  CHECK(refused.code == 2);
  CHECK(refused.out.empty());
  CHECK_THAT(refused.err, Catch::StartsWith(place.out + ": error: the file exists"));
  CHECK(place.folder.read("w.json") == "mine");
  CHECK(place.import({"--force"}).code == 0);
  CHECK(place.folder.read("w.json") != "mine");
}

TEST_CASE("a failed import leaves nothing behind", "[cli]") {
  const Place place;
  place.folder.write("rank0.json", "{\"traceEvents\": [");
  const auto failed = place.import();
  CHECK(failed.code == 2);
  CHECK_THAT(failed.err, Catch::StartsWith(place.profile + ":1:"));
  CHECK(place.folder.read("w.json").empty());
}

TEST_CASE("wrong targets and options are exit 2", "[cli]") {
  Place place;
  CHECK(place.import({"--from", "nsys"}).code == 2);
  CHECK(place.import({"--samples-per-step", "0"}).code == 2);
  const auto memory = place.import({"--memory-per-gpu", "24"});
  CHECK(memory.code == 2);
  CHECK_THAT(memory.err, Catch::Contains("a size such as"));
  place.out = (place.folder.path() / "none" / "w.json").string();
  CHECK_THAT(place.import().err, Catch::Contains("does not exist"));
  place.out = place.folder.path().string();
  CHECK_THAT(place.import().err, Catch::Contains("is a folder"));
  CHECK(test::run_program({"workload", "import", place.profile}).code == 2);
  CHECK(test::run_program({"workload", "show", "no-such-workload"}).code == 2);
  CHECK(test::run_program({"workload", "check", place.profile}).code == 2);
}
