#include "workload/file.hpp"

#include <catch2/catch.hpp>

#include "support/temporary_folder.hpp"

using namespace trainyard;
using units::Bytes;
using units::Nanoseconds;
using workload::Workload;

namespace {

/// Uses every field of the model at least once.
Workload full() {
  Workload workload;
  workload.name = "a \"quoted\" name";
  workload.gpu = "v100-sxm2-32gb";
  workload.framework = "kineto";
  workload.source = "here";
  workload.licence = "MIT";
  workload.world_size = 4;
  workload.samples_per_step = 256.5;
  workload.memory_per_gpu = Bytes{24e9};
  workload.checkpoint_size = Bytes{1e9};
  workload.dataset_bytes_per_sample = Bytes{150528};
  workload.names = {"gemm", "ncclKernel"};
  workload.groups = {{"0", {0, 2}}};
  workload.collectives = {
      {workload::CollectiveOp::all_gather, Bytes{1024}, 0, 0, 0},
      {workload::CollectiveOp::barrier, std::nullopt, 0, 1, -1},
  };
  workload::Timeline timeline;
  timeline.rank = 2;
  timeline.start = Nanoseconds{17};
  timeline.streams = {{"host:0", true}, {"gpu0:7", false}};
  timeline.ops.resize(7);
  auto& ops = timeline.ops;
  ops[0].kind = workload::OpKind::host;
  ops[0].step = 0;
  ops[1].kind = workload::OpKind::compute;
  ops[1].stream = 1;
  ops[1].gap = Nanoseconds{-5};
  ops[1].duration = Nanoseconds{1'000};
  ops[1].after = {{0, Nanoseconds{3}}};
  ops[1].category = workload::Category::memory_bound;
  ops[1].name = 0;
  ops[2].kind = workload::OpKind::copy;
  ops[2].stream = 1;
  ops[2].copy = workload::CopyKind::d2h;
  ops[2].bytes = Bytes{64};
  ops[3].kind = workload::OpKind::collective;
  ops[3].stream = 1;
  ops[3].collective = 0;
  ops[3].recorded = Nanoseconds{9};
  ops[3].after = {{0, {}}, {2, {}}};
  ops[4].kind = workload::OpKind::fill;
  ops[4].stream = 1;
  ops[5].kind = workload::OpKind::wait;
  ops[5].after = {{4, {}}};
  ops[6].kind = workload::OpKind::host;
  timeline.steps = {{"ProfilerStep#1", 0, 6}};
  workload.timelines = {timeline};
  workload.skipped = {{"something", 12}};
  return workload;
}

}  // namespace

TEST_CASE("a workload reads back as it was written", "[file]") {
  const std::string text = to_json(full());
  const Workload read = workload::parse_workload(text, "w.json");
  CHECK(to_json(read) == text);
  CHECK(read.name == "a \"quoted\" name");
  CHECK(read.samples_per_step == 256.5);
  CHECK(read.memory_per_gpu.value().si() == 24e9);
  CHECK_FALSE(read.collectives.at(1).bytes.has_value());
  const auto& op = read.timelines.at(0).ops.at(1);
  CHECK(op.gap == Nanoseconds{-5});
  CHECK(op.after.at(0).lag == Nanoseconds{3});
  CHECK(op.category == workload::Category::memory_bound);
  CHECK(read.timelines.at(0).steps.at(0).end == 6);
}

TEST_CASE("the file names units and leaves out what is default", "[file]") {
  const std::string text = to_json(full());
  CHECK_THAT(text, Catch::Contains("{\"compute_ns\": 1000, \"stream\": 1, \"gap_ns\": -5, "
                                   "\"after\": [[0, 3]], \"category\": \"memory-bound\", "
                                   "\"name\": 0}"));
  CHECK_THAT(text, Catch::Contains("{\"collective\": 0, \"recorded_ns\": 9, \"stream\": 1, "
                                   "\"after\": [0, 2]}"));
  CHECK_THAT(text, Catch::Contains("{\"fill_ns\": 0, \"stream\": 1}"));
  CHECK_THAT(text, Catch::Contains("\"memory_per_gpu_bytes\": 24000000000,"));
  CHECK_THAT(text, Catch::Contains("{\"op\": \"barrier\", \"group\": 0, \"sequence\": 1}"));
}

TEST_CASE("unknown stays unknown", "[file]") {
  Workload workload = full();
  workload.memory_per_gpu.reset();
  workload.samples_per_step.reset();
  const std::string text = to_json(workload);
  CHECK_THAT(text, !Catch::Contains("memory_per_gpu"));
  CHECK_FALSE(workload::parse_workload(text, "w").memory_per_gpu.has_value());
}

TEST_CASE("keys may come in another order", "[file]") {
  const Workload read = workload::parse_workload(
      R"({"timelines": [{"ops": [{"stream": 0, "host_ns": 5}], "streams": [{"host": true,
          "name": "host:0"}], "rank": 0}], "version": 1, "format": "trainyard-workload"})",
      "w");
  CHECK(read.timelines.at(0).ops.at(0).duration == Nanoseconds{5});
  CHECK(read.world_size == 1);
}

TEST_CASE("files are read plain", "[file]") {
  const test::TemporaryFolder folder;
  const auto path = folder.write("w.json", to_json(full())).string();
  CHECK(to_json(workload::read_workload(path)) == to_json(full()));
}
