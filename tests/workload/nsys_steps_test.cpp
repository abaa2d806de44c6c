// NVTX ranges as steps, synchronisation records and ranges of NCCL in Nsight Systems exports.
#include "workload/importers/nsys_steps.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "graph_support.hpp"
#include "nsys_builder.hpp"

using namespace trainyard;
using test::NsysBuilder;
using test::TimelineView;
using workload::NvtxRange;
using workload::OpKind;
using workload::Workload;

namespace {

std::vector<std::string> step_names(const std::vector<NvtxRange>& ranges,
                                    const std::vector<std::int64_t>& launches = {}) {
  std::vector<std::string> names;
  for (const auto& step : workload::find_nvtx_steps(ranges, launches)) {
    names.push_back(step.name);
  }
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("nsys: classes of ranges have no numbers") {
  CHECK(workload::range_class("Step 12") == "step #");
  CHECK(workload::range_class("ProfilerStep#7") == "profilerstep#");
  CHECK(workload::range_class("plain") == "plain");
}

TEST_CASE("nsys: names that say step") {
  for (const char* name :
       {"step 12", "ProfilerStep#7", "iteration: 3", "iter0", "train_step_5", "Batch 9",
        "epoch 2 step 4", "step", "training iteration", "global_step=8"}) {
    INFO(name);
    CHECK(workload::names_step(workload::range_class(name)));
  }
  for (const char* name : {"Optimizer.step#Adam.step", "optimizer step", "forward", "layer 3", "",
                           "42", "aten::add, op_id = 7", "stepping stone 4"}) {
    INFO(name);
    CHECK_FALSE(workload::names_step(workload::range_class(name)));
  }
}

TEST_CASE("nsys: named ranges are steps when they repeat") {
  CHECK(step_names({{0, 10, 0, "step 1"}, {20, 30, 0, "step 2"}, {40, 55, 0, "other"}}) ==
        Names{"step 1", "step 2"});
  CHECK(step_names({{0, 10, 0, "step 1"}}).empty());
  // On one thread only; the longer class of two.
  CHECK(step_names({{0, 10, 0, "step 1"}, {20, 30, 1, "step 2"}}).empty());
  CHECK(step_names({{0, 50, 0, "batch 1"},
                    {50, 90, 0, "batch 2"},
                    {1, 9, 0, "step 1"},
                    {10, 20, 0, "step 2"},
                    {51, 60, 0, "step 3"}}) == Names{"batch 1", "batch 2"});
  // Those inside one of their class are parts of it.
  CHECK(step_names({{0, 50, 0, "step 1"}, {10, 20, 0, "step 9"}, {60, 70, 0, "step 2"}}) ==
        Names{"step 1", "step 2"});
}

TEST_CASE("nsys: other ranges are steps when they hold the launches") {
  const std::vector<NvtxRange> ranges{
      {0, 10, 0, "infer"}, {20, 30, 0, "infer"}, {2, 4, 0, "layer"}, {22, 24, 0, "layer"}};
  // Four of five launches lie in the outer ranges, two of five in the inner ones.
  CHECK(step_names(ranges, {2, 5, 15, 23, 26}) == Names{"infer", "infer"});
  CHECK(step_names(ranges, {2, 5, 15, 16, 26}).empty());
  CHECK(step_names(ranges).empty());
  // An end belongs to what comes after it.
  CHECK(step_names(ranges, {0, 5, 10, 20, 30}).empty());
}

TEST_CASE("nsys: steps have marks, and operations belong to the step of their launch") {
  NsysBuilder builder;
  for (std::int64_t step = 0; step < 3; ++step) {
    const std::int64_t at = step * 1'000;
    builder.range(fmt::format("iteration {}", step), at, at + 900 + step)
        .call("cudaLaunchKernel", at + 100, at + 110, step + 1)
        .kernel({.start = at + 950, .end = at + 990, .correlation = step + 1});
  }
  const Workload workload = builder.import();
  const auto& timeline = workload.timelines[0];
  REQUIRE(timeline.steps.size() == 3);
  CHECK(timeline.steps[2].name == "iteration 2");
  const TimelineView view{timeline};
  for (int step = 0; step < 3; ++step) {
    CHECK(view.op("gpu0:7", static_cast<std::size_t>(step)).step == step);
  }
  const auto statistics = workload::statistics(workload);
  REQUIRE(statistics[0].step.size() == 3);
  CHECK(statistics[0].step[0].count() == 900);
  CHECK(statistics[0].step[2].count() == 902);
}

TEST_CASE("nsys: numbered steps that some process lacks are no steps") {
  NsysBuilder builder;
  for (const int rank : {0, 1}) {
    const int pid = 100 + rank;
    builder.kernel({.start = 0, .end = 9'000, .pid = pid});
    for (std::int64_t step = rank; step < 3; ++step) {
      builder.range(fmt::format("step {}", step), step * 1'000, step * 1'000 + 900, pid);
    }
  }
  const Workload workload = builder.import();
  for (const auto& timeline : workload.timelines) {
    REQUIRE(timeline.steps.size() == 2);
    CHECK(timeline.steps[0].name == "step 1");
    CHECK(timeline.steps[1].name == "step 2");
  }
}

TEST_CASE("nsys: steps without a number are kept by their order") {
  NsysBuilder builder;
  for (const int pid : {100, 101}) {
    builder.kernel({.start = 0, .end = 9'000, .pid = pid})
        .range("step", 0, 100 + pid, pid)
        .range("step", 1'000, 1'300, pid);
  }
  CHECK(builder.import().timelines[1].steps.size() == 2);
}

TEST_CASE("nsys: open ranges, marks and operators of PyTorch are no steps") {
  NsysBuilder builder;
  builder.kernel({.start = 5, .end = 9})
      .range("aten::add, op_id = 1", 0, 10)
      .range("aten::add, op_id = 2", 20, 30)
      .raw(
          "INSERT INTO NVTX_EVENTS VALUES (0, NULL, 59, 'step 1', 281474976710756, NULL, 0),"
          "(20, NULL, 34, 'step 2', 281474976710756, NULL, 0),"
          "(30, 40, 75, 'step 3', 281474976710756, NULL, 0);");
  CHECK(builder.import().timelines[0].steps.empty());
}

TEST_CASE("nsys: a synchronising call waits for the stream of its record") {
  NsysBuilder builder;
  builder.call("cudaLaunchKernel", 0, 10, 1)
      .call("cudaLaunchKernel", 20, 30, 2)
      .call("cudaStreamSynchronize_v3020", 40, 620, 3)
      .kernel({.start = 100, .end = 500, .correlation = 1, .stream = 7})
      .kernel({.start = 100, .end = 610, .correlation = 2, .stream = 8});
  builder.raw(fmt::format(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, end, deviceId, contextId, streamId,"
      " correlationId, globalPid, syncType, eventId);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (45, 615, 0, 1, 7, 3, {}, 2, "
      "4294967295);",
      NsysBuilder::process(100)));
  const Workload workload = builder.import();
  const TimelineView view{workload.timelines[0]};
  const auto& wait = view.op("host:0", 3);
  CHECK(wait.kind == OpKind::wait);
  REQUIRE(wait.after.size() == 1);
  // Without the record it would be the later end, of stream 8. (syncType 2 is what one version of
  // the tool writes for this call.)
  CHECK(wait.after[0].op == view.at("gpu0:7", 0));
}

TEST_CASE("nsys: stream waits are joined through their event's record") {
  NsysBuilder builder;
  builder.call("cudaLaunchKernel", 0, 10, 1)
      .call("cudaEventRecord", 12, 14, 2)
      .call("cudaStreamWaitEvent", 16, 18, 3)
      .call("cudaLaunchKernel", 20, 30, 4)
      .kernel({.start = 100, .end = 500, .correlation = 1, .stream = 7})
      .kernel({.start = 505, .end = 600, .correlation = 4, .stream = 8});
  builder.raw(fmt::format(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (deviceId, contextId, streamId,"
      " correlationId, globalPid, syncType, eventId, eventSyncId);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (9, 1, 8, 3, {0}, 2, 44, 6);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (contextId, streamId, correlationId, globalPid,"
      " eventId, eventSyncId);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (1, 7, 2, {0}, 44, 6);",
      NsysBuilder::process(100)));
  const Workload workload = builder.import();
  const TimelineView view{workload.timelines[0]};
  CHECK(view.lag(view.at("gpu0:8", 0), view.at("gpu0:7", 0)) == Approx(0.005));
}

TEST_CASE("nsys: a range of NCCL says what a kernel without a name of its own does") {
  NsysBuilder builder;
  builder.range("ncclAllGather", 0, 50)
      .call("cudaLaunchKernelExC_v11060", 10, 20, 1)
      .kernel({.start = 100, .end = 200, .correlation = 1}, "ncclDevKernel_Generic(ncclDevComm*)")
      .range("ncclGroupEnd", 300, 350)
      .call("cudaLaunchKernelExC_v11060", 310, 320, 2)
      .kernel({.start = 400, .end = 500, .correlation = 2}, "ncclDevKernel_SendRecv(ncclDevComm*)");
  const Workload workload = builder.import();
  REQUIRE(workload.collectives.size() == 2);
  CHECK(workload.collectives[0].op == workload::CollectiveOp::all_gather);
  CHECK_FALSE(workload.collectives[0].bytes);
  CHECK(workload.collectives[1].op == workload::CollectiveOp::send_recv);
  CHECK(workload.skipped.empty());
}
