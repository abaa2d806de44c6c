#include "workload/importers/kineto_events.hpp"

#include <catch2/catch.hpp>

#include "profile_builder.hpp"
#include "workload/importers/kineto_fields.hpp"

using namespace trainyard;
using test::ProfileBuilder;
using workload::CallKind;
using workload::GpuWork;

namespace {

struct Parsed {
  workload::PaddedText text{};
  workload::KinetoFile file{};
};

Parsed parse(std::string_view text) {
  Parsed parsed{workload::PaddedText{text}, {}};
  parsed.file = workload::parse_kineto(parsed.text, "p.json");
  return parsed;
}

std::string only(std::string_view event) {
  return fmt::format("{{\"traceEvents\":[{}]}}", event);
}

}  // namespace

TEST_CASE("a kernel's place is in its arguments", "[events]") {
  const auto parsed = parse(ProfileBuilder{}.kernel(100, 5, 3, 84, "k<int>(x)").text());
  REQUIRE(parsed.file.gpu.size() == 1);
  const auto& kernel = parsed.file.gpu.front();
  CHECK(kernel.start == 100'000);
  CHECK(kernel.duration == 5'000);
  CHECK(kernel.correlation == 3);
  CHECK(kernel.stream == 84);
  CHECK(kernel.work == GpuWork::kernel);
  CHECK(parsed.file.names.front() == "k<int>(x)");
}

TEST_CASE("keys come in any order", "[events]") {
  const auto parsed = parse(R"({"traceEvents":[{"args":{"correlation":4,"stream":7,"device":2},
      "dur":1.5,"ts":20,"name":"k","cat":"kernel","ph":"X"}],
      "baseTimeNanoseconds":1000,"distributedInfo":{"world_size":8,"rank":3}})");
  REQUIRE(parsed.file.gpu.size() == 1);
  CHECK(parsed.file.gpu.front().correlation == 4);
  CHECK(parsed.file.gpu.front().device == 2);
  CHECK(parsed.file.gpu.front().duration == 1'500);
  CHECK(parsed.file.base == 1'000);
  CHECK(parsed.file.rank == 3);
  CHECK(parsed.file.world_size == 8);
}

TEST_CASE("older category names mean the same", "[events]") {
  const auto parsed = parse(only(R"({"ph":"X","cat":"Kernel","name":"k","pid":0,"tid":"stream 7",
      "ts":1,"dur":1,"args":{"device":0,"stream":7,"correlation":1}},
      {"ph":"X","cat":"Memcpy","name":"Memcpy HtoD","ts":3,"dur":1,"args":{"stream":7,"bytes":8}},
      {"ph":"X","cat":"Memset","name":"Memset","ts":5,"dur":1,"args":{"stream":7,"bytes":16}},
      {"ph":"X","cat":"Runtime","name":"cudaLaunchKernel","pid":1,"tid":2,"ts":0,"dur":1,
       "args":{"correlation":1}},
      {"ph":"X","cat":"Operator","name":"ProfilerStep#5","pid":1,"tid":2,"ts":0,"dur":9})"));
  REQUIRE(parsed.file.gpu.size() == 3);
  CHECK(parsed.file.gpu[1].work == GpuWork::copy);
  CHECK(parsed.file.gpu[1].bytes == 8);
  CHECK(parsed.file.gpu[2].work == GpuWork::fill);
  CHECK(parsed.file.calls.size() == 1);
  REQUIRE(parsed.file.steps.size() == 1);
  CHECK(parsed.file.steps.front().name == "ProfilerStep#5");
}

TEST_CASE("GPU annotations, sync records and flow arrows are no GPU work", "[events]") {
  const auto parsed = parse(only(R"(
      {"ph":"X","cat":"gpu_user_annotation","name":"ProfilerStep#1","ts":1,"dur":1,"args":{}},
      {"ph":"X","cat":"cuda_sync","name":"Stream Sync","ts":1,"dur":1,
       "args":{"cuda_sync_kind":"Stream Sync","stream":7,"correlation":2}},
      {"ph":"f","cat":"ac2g","name":"ac2g","id":3,"ts":1},
      {"ph":"s","cat":"kernel","name":"k","id":3,"ts":1},
      {"ph":"X","cat":"python_function","name":"f","ts":1,"dur":1})"));
  CHECK(parsed.file.gpu.empty());
  CHECK(parsed.file.steps.empty());
  CHECK(parsed.file.syncs.size() == 1);
}

TEST_CASE("a bare array is a profile, with or without its bracket", "[events]") {
  const std::string event =
      R"({"ph":"X","cat":"kernel","name":"k","ts":1,"dur":2,"args":{"stream":7}})";
  const auto* tail = GENERATE("]", "", ",", ",\n", "\n]\n");
  INFO(tail);
  const auto parsed = parse("[" + event + "," + event + tail);
  CHECK(parsed.file.gpu.size() == 2);
  CHECK(parsed.file.names.front() == "k");
}

TEST_CASE("a bare array cut inside an event is an error", "[events]") {
  REQUIRE_THROWS_WITH(parse(R"([{"ph":"X","cat":"kernel","name":"k","ts":1,"args":{"stream":7})"),
                      Catch::StartsWith("p.json:1:"));
}

TEST_CASE("a kernel with time 0 and duration 0 has lost its time stamp", "[events]") {
  const auto parsed = parse(ProfileBuilder{}.kernel(0, 0, 1).kernel(5, 0, 2).text());
  CHECK(parsed.file.gpu.size() == 1);
  CHECK(parsed.file.skipped.at("GPU events with time 0 and duration 0 (time stamp lost)") == 1);
}

TEST_CASE("bare inf and nan in arguments are counted, not read", "[events]") {
  const auto parsed = parse(only(R"~({"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","ts":1,
      "dur":0,"args":{"stream":7,"memory bandwidth (GB/s)":inf,"x":-inf,"y":nan,"bytes":4}})~"));
  REQUIRE(parsed.file.gpu.size() == 1);
  CHECK(parsed.file.gpu.front().bytes == 4);
  CHECK(parsed.file.skipped.at("numbers written as bare inf or nan") == 3);
}

TEST_CASE("a time that is no finite number is an error at its place", "[events]") {
  REQUIRE_THROWS_WITH(
      parse("{\"traceEvents\":[\n{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,"
            "\"dur\":NaN,\"args\":{}}]}"),
      "p.json:2:50: error: 'dur' must be a finite time in microseconds, got NaN");
  REQUIRE_THROWS_WITH(parse(only(R"({"ph":"X","cat":"kernel","name":"k","ts":"x","dur":1})")),
                      Catch::Contains("'ts' must be a finite time"));
}

TEST_CASE("a negative duration is an error at its place", "[events]") {
  REQUIRE_THROWS_WITH(
      parse("{\"traceEvents\":[\n{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,"
            "\"dur\":-4,\"args\":{}}]}"),
      "p.json:2:50: error: 'dur' must not be negative, got -4 (microseconds)");
}

TEST_CASE("JSON that is cut says at which byte", "[events]") {
  const std::string whole = ProfileBuilder{}.kernel(1, 2, 3).kernel(4, 5, 6).text();
  for (const double part : {0.2, 0.5, 0.9}) {
    const auto size = static_cast<std::size_t>(part * static_cast<double>(whole.size()));
    REQUIRE_THROWS_WITH(parse(whole.substr(0, size)),
                        Catch::Contains(fmt::format("byte {}", size)));
  }
}

TEST_CASE("bytes that are no UTF-8 are hidden and counted", "[events]") {
  // 0xE9 alone is Latin-1
  const auto parsed =
      parse(ProfileBuilder{}.range("f\xE9", 1, 2).kernel(5, 1, 1, 7, "k\xE9rnel").text());
  CHECK(parsed.file.names.at(0) == "k?rnel");
  CHECK(parsed.file.skipped.at("text that is not UTF-8 (all bytes above 127 read as \"?\")") == 1);
}

TEST_CASE("what is no profile is refused", "[events]") {
  const auto* text = GENERATE("42", "\"text\"", "{\"a\": 1}", "null", "{]", "\x01\x02\x03");
  INFO(text);
  REQUIRE_THROWS_WITH(parse(text), Catch::StartsWith("p.json:1:"));
}

TEST_CASE("calls are known by their names on CUDA and HIP", "[events]") {
  const auto [name, kind] = GENERATE(table<std::string, CallKind>({
      {"cudaLaunchKernel", CallKind::other},
      {"hipExtModuleLaunchKernel", CallKind::other},
      {"cudaMemcpyAsync", CallKind::copy},
      {"hipMemcpyWithStream", CallKind::copy},
      {"cuMemcpyHtoDAsync_v2", CallKind::copy},
      {"cudaStreamWaitEvent", CallKind::stream_wait},
      {"hipStreamWaitEvent", CallKind::stream_wait},
      {"cudaStreamSynchronize", CallKind::stream_sync},
      {"cudaStreamSynchronize_ptsz", CallKind::stream_sync},
      {"hipDeviceSynchronize", CallKind::device_sync},
      {"cuCtxSynchronize", CallKind::device_sync},
      {"cudaEventSynchronize", CallKind::event_sync},
      {"cudaFree", CallKind::free},
      {"cudaFreeHost", CallKind::free},
      {"cudaFreeAsync", CallKind::other},
      {"cudaMemsetAsync", CallKind::other},
      {"cudaEventQuery", CallKind::other},
  }));
  INFO(name);
  CHECK(workload::call_kind(name) == kind);
}

TEST_CASE("element sizes of PyTorch's type names", "[events]") {
  const auto [name, size] = GENERATE(table<std::string, int>({{"float", 4},
                                                              {"Float", 4},
                                                              {"long int", 8},
                                                              {"int", 4},
                                                              {"c10::Half", 2},
                                                              {"c10::BFloat16", 2},
                                                              {"BFloat16", 2},
                                                              {"double", 8},
                                                              {"unsigned char", 1},
                                                              {"c10::Float8_e4m3fn", 1},
                                                              {"Float8_e5m2", 1},
                                                              {"c10::complex<float>", 8},
                                                              {"TensorList", 0},
                                                              {"Scalar", 0},
                                                              {"", 0}}));
  INFO(name);
  CHECK(workload::element_size(name) == size);
}

TEST_CASE("shapes of a communication range give the elements of its message", "[events]") {
  const auto elements = [](std::string_view name, std::string_view arguments) {
    const auto parsed = parse(ProfileBuilder{}.range(name, 1, 2, 1, arguments).text());
    return parsed.file.communication.at(0).in_elements;
  };
  // 8 x 1024 x 16
  CHECK(elements("nccl:all_to_all", R"("Input Dims":[[8,1024,16]],"Input type":["float"])") ==
        131'072);
  CHECK(elements("nccl:all_reduce", R"("Input type":["int","int"],"Input Dims":[[3],[4]])") == 7);
  CHECK(elements("nccl:all_reduce", R"("Input Dims":[[]],"Input type":["float"])") == 1);
  CHECK(elements("nccl:all_gather", R"("Input Dims":[[[2,3],[5]]],"Input type":["float"])") == 11);
  CHECK(elements("record_param_comms",
                 R"("Input Dims":[[6],[],[]],"Input type":["float","Scalar","Scalar"])") == 6);
  CHECK(elements("record_param_comms",
                 R"("Input Dims":[[],[]],"Input type":["TensorList","Scalar"])") == -1);
  CHECK(elements("nccl:all_reduce", "") == -1);
}

TEST_CASE("process groups and device names are read", "[events]") {
  const auto parsed = parse(R"({"distributedInfo":{"rank":1,"world_size":4,"pg_config":[
      {"pg_name":"0","pg_desc":"default_pg","ranks":[0,1,2,3]},{"pg_name":"1","ranks":[1,3]}]},
      "deviceProperties":[{"id":0,"name":"A"},{"id":1,"name":"B \"x\""}],"traceEvents":[]})");
  REQUIRE(parsed.file.groups.size() == 2);
  CHECK(parsed.file.groups[1].name == "1");
  CHECK(parsed.file.groups[1].ranks == std::vector<int>{1, 3});
  CHECK(parsed.file.devices.at(1) == "B \"x\"");
}
