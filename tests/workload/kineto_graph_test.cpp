#include <catch2/catch.hpp>

#include "graph_support.hpp"
#include "profile_builder.hpp"

using namespace trainyard;
using test::ProfileBuilder;
using test::TimelineView;
using units::Nanoseconds;
using workload::OpKind;
using workload::Timeline;

namespace {

constexpr const char* kLaunch = "cudaLaunchKernel";

Nanoseconds us(std::int64_t count) {
  return Nanoseconds{count * 1'000};
}

}  // namespace

TEST_CASE("a launch is host time and the kernel waits for it", "[graph]") {
  // launches at 10 and 30, the GPU is idle in between: the slack of 5 and 6 us is launch latency
  const auto workload = ProfileBuilder{}
                            .call(kLaunch, 10, 2, 1)
                            .call(kLaunch, 30, 2, 2)
                            .kernel(15, 4, 1)
                            .kernel(36, 4, 2)
                            .import();
  const Timeline& timeline = workload.timelines.at(0);
  const TimelineView view{timeline};
  REQUIRE(view.on("host:0").size() == 2);
  REQUIRE(view.on("gpu0:7").size() == 2);
  CHECK(view.op("host:0", 0).duration == us(0));  // the window starts at the first launch
  CHECK(view.op("host:0", 1).duration == us(20));
  CHECK(view.lag(view.at("gpu0:7", 0), view.at("host:0", 0)) == 5.0);
  CHECK(view.lag(view.at("gpu0:7", 1), view.at("host:0", 1)) == 6.0);
  CHECK(view.op("gpu0:7", 1).gap == us(0));
  CHECK(view.start_us(view.at("gpu0:7", 1)) == 26.0);
}

TEST_CASE("a busy stream makes the gap the slack", "[graph]") {
  // launched at 12, the kernel before runs until 50
  const auto workload = ProfileBuilder{}
                            .call(kLaunch, 10, 1, 1)
                            .call(kLaunch, 12, 1, 2)
                            .kernel(20, 30, 1)
                            .kernel(52, 5, 2)
                            .import();
  const TimelineView view{workload.timelines.at(0)};
  CHECK(view.op("gpu0:7", 1).gap == us(2));
  CHECK(view.lag(view.at("gpu0:7", 1), view.at("host:0", 1)) == 0.0);
}

TEST_CASE("overlap on one stream is a negative gap", "[graph]") {
  const auto workload = ProfileBuilder{}
                            .call(kLaunch, 10, 1, 1)
                            .call(kLaunch, 12, 1, 2)
                            .kernel(20, 30, 1)
                            .kernel(45, 5, 2)
                            .import();
  const TimelineView view{workload.timelines.at(0)};
  CHECK(view.op("gpu0:7", 1).gap == us(-5));
  CHECK(view.start_us(view.at("gpu0:7", 1)) == 35.0);
}

TEST_CASE("a kernel recorded before its launch does not wait for it", "[graph]") {
  const auto workload =
      ProfileBuilder{}.step(1, 0, 100).call(kLaunch, 10, 3, 1).kernel(9, 4, 1).import();
  const TimelineView view{workload.timelines.at(0)};
  CHECK(view.op("gpu0:7", 0).after.empty());
  CHECK(view.start_us(view.at("gpu0:7", 0)) == 9.0);
  CHECK(view.op("gpu0:7", 0).step == 0);
}

TEST_CASE("GPU work without a launch record keeps its stream's order", "[graph]") {
  const auto workload = ProfileBuilder{}.kernel(5, 3, 77).kernel(10, 3, 78).import();
  const TimelineView view{workload.timelines.at(0)};
  CHECK(view.op("gpu0:7", 0).gap == us(0));
  CHECK(view.op("gpu0:7", 1).gap == us(2));
  CHECK(view.op("gpu0:7", 1).after.empty());
  REQUIRE(workload.skipped.size() == 1);
  CHECK(workload.skipped[0].count == 2);
  CHECK(workload.skipped[0].reason ==
        "GPU operations without a launch record (kept, in stream order)");
}

TEST_CASE("the kernels of a graph launch all wait for it", "[graph]") {
  const auto workload = ProfileBuilder{}
                            .call("cudaGraphLaunch", 10, 2, 5)
                            .kernel(20, 4, 5)
                            .kernel(25, 4, 5)
                            .kernel(22, 9, 5, 8)
                            .import();
  const TimelineView view{workload.timelines.at(0)};
  const int launch = view.at("host:0", 0);
  CHECK(view.lag(view.at("gpu0:7", 0), launch) == 10.0);
  CHECK(view.lag(view.at("gpu0:7", 1), launch) == 0.0);
  CHECK(view.op("gpu0:7", 1).gap == us(1));
  CHECK(view.lag(view.at("gpu0:8", 0), launch) == 12.0);
}

TEST_CASE("calls that neither launch nor block are host time", "[graph]") {
  const auto workload = ProfileBuilder{}
                            .call(kLaunch, 10, 1, 1)
                            .call("cudaEventQuery", 15, 2, 2)
                            .call("cudaLaunchKernel", 20, 1, 3)  // its kernel was not recorded
                            .call(kLaunch, 40, 1, 4)
                            .kernel(12, 1, 1)
                            .kernel(45, 1, 4)
                            .import();
  const TimelineView view{workload.timelines.at(0)};
  REQUIRE(view.on("host:0").size() == 2);
  CHECK(view.op("host:0", 1).duration == us(30));
}

TEST_CASE("an idle thread takes over from the thread that worked meanwhile", "[graph]") {
  // thread 1 launches at 10, thread 2 at 30 and 40, thread 1 again at 70
  const auto workload = ProfileBuilder{}
                            .call(kLaunch, 10, 1, 1, 1)
                            .call(kLaunch, 30, 1, 2, 2)
                            .call(kLaunch, 40, 1, 3, 2)
                            .call(kLaunch, 70, 1, 4, 1)
                            .kernel(12, 1, 1)
                            .kernel(32, 1, 2)
                            .kernel(42, 1, 3)
                            .kernel(72, 1, 4)
                            .import();
  const TimelineView view{workload.timelines.at(0)};
  CHECK(view.lag(view.at("host:1", 0), view.at("host:0", 0)) == 0.0);
  CHECK(view.op("host:1", 0).duration == us(20));
  CHECK(view.op("host:1", 1).after.empty());
  CHECK(view.lag(view.at("host:0", 1), view.at("host:1", 1)) == 0.0);
  CHECK(view.op("host:0", 1).duration == us(30));
}

TEST_CASE("step markers are host operations of no duration", "[graph]") {
  const auto workload = ProfileBuilder{}
                            .step(4, 0, 50)
                            .step(5, 50, 60)
                            .call(kLaunch, 10, 1, 1)
                            .call(kLaunch, 60, 1, 2)
                            .kernel(48, 8, 1)
                            .kernel(70, 5, 2)
                            .import();
  const Timeline& timeline = workload.timelines.at(0);
  REQUIRE(timeline.steps.size() == 2);
  CHECK(timeline.steps[0].name == "ProfilerStep#4");
  const auto times = workload::recorded_times(timeline);
  CHECK(step_begin(timeline.steps[0], times) == us(0));
  CHECK(step_end(timeline.steps[0], times) == us(50));
  CHECK(step_begin(timeline.steps[1], times) == us(50));
  CHECK(step_end(timeline.steps[1], times) == us(110));
  for (const auto& step : timeline.steps) {
    CHECK(timeline.ops.at(static_cast<std::size_t>(step.begin)).duration == us(0));
    CHECK(timeline.ops.at(static_cast<std::size_t>(step.end)).kind == OpKind::host);
  }
  const TimelineView view{timeline};
  CHECK(view.op("gpu0:7", 0).step == 0);  // launched in step 4, although it ends in step 5
  CHECK(view.op("gpu0:7", 1).step == 1);
}

TEST_CASE("a stream-wait makes the next launch depend on the other stream", "[graph]") {
  // stream 7 works from 15 to 40; the wait at 20 precedes the launch on 9, which starts at 43
  const auto workload = ProfileBuilder{}
                            .call(kLaunch, 10, 1, 1)
                            .call("cudaStreamWaitEvent", 20, 1, 2)
                            .call(kLaunch, 22, 1, 3)
                            .kernel(15, 25, 1, 7)
                            .kernel(43, 5, 3, 9)
                            .import();
  const TimelineView view{workload.timelines.at(0)};
  CHECK(view.lag(view.at("gpu0:9", 0), view.at("gpu0:7", 0)) == 3.0);
  CHECK(view.lag(view.at("gpu0:9", 0), view.at("host:0", 1)) == 0.0);
}

TEST_CASE("without a stream-wait streams do not wait for each other", "[graph]") {
  const auto workload = ProfileBuilder{}
                            .call(kLaunch, 10, 1, 1)
                            .call(kLaunch, 22, 1, 3)
                            .kernel(15, 25, 1, 7)
                            .kernel(43, 5, 3, 9)
                            .import();
  const TimelineView view{workload.timelines.at(0)};
  CHECK(view.op("gpu0:9", 0).after.size() == 1);
  CHECK(view.lag(view.at("gpu0:9", 0), view.at("host:0", 1)) == 21.0);
}

TEST_CASE("an op still running at the start was not waited for", "[graph]") {
  // of stream 7 the op that ended at 20, not the one that runs until 90
  const auto workload = ProfileBuilder{}
                            .call(kLaunch, 5, 1, 1)
                            .call(kLaunch, 6, 1, 2)
                            .call("cudaStreamWaitEvent", 20, 1, 3)
                            .call(kLaunch, 22, 1, 4)
                            .kernel(10, 10, 1, 7)
                            .kernel(20, 70, 2, 7)
                            .kernel(30, 5, 4, 9)
                            .import();
  const TimelineView view{workload.timelines.at(0)};
  CHECK(view.lag(view.at("gpu0:9", 0), view.at("gpu0:7", 0)) == 0.0);
  CHECK(view.lag(view.at("gpu0:9", 0), view.at("gpu0:7", 1)) == -1.0);
}

TEST_CASE("waits inside a collective's range, behind its launch, are the library's", "[graph]") {
  // the compute launch at 60 follows a wait at 35 inside the range: no dependency on the first
  // collective, which ended at 20
  const auto workload =
      ProfileBuilder{}
          .range("nccl:all_reduce", 8, 10, 1, R"("Input Dims":[[4]],"Input type":["float"])")
          .call(kLaunch, 10, 1, 1)
          .kernel(12, 8, 1, 20, "ncclKernel_AllReduce_RING_LL_Sum_float(X)")
          .range("nccl:all_reduce", 28, 12, 1, R"("Input Dims":[[4]],"Input type":["float"])")
          .call(kLaunch, 30, 1, 2)
          .call("cudaStreamWaitEvent", 35, 1, 3)
          .kernel(32, 200, 2, 20, "ncclKernel_AllReduce_RING_LL_Sum_float(X)")
          .call(kLaunch, 60, 1, 4)
          .kernel(65, 5, 4, 7)
          .import();
  const TimelineView view{workload.timelines.at(0)};
  CHECK(view.op("gpu0:7", 0).after.size() == 1);
}

TEST_CASE("a communication kernel waits for the compute that ended before it", "[graph]") {
  const auto workload = ProfileBuilder{}
                            .call(kLaunch, 10, 1, 1)
                            .call(kLaunch, 14, 1, 2)
                            .kernel(15, 20, 1, 7)
                            .kernel(40, 30, 2, 20, "ncclKernel_AllReduce_RING_LL_Sum_float(X)")
                            .import();
  const TimelineView view{workload.timelines.at(0)};
  CHECK(view.lag(view.at("gpu0:20", 0), view.at("gpu0:7", 0)) == 5.0);
  CHECK(view.op("gpu0:20", 0).kind == OpKind::collective);
  CHECK(view.op("gpu0:20", 0).duration == us(0));
  CHECK(view.op("gpu0:20", 0).recorded == us(30));
}

TEST_CASE("a recorded stream-wait names both streams", "[graph]") {
  // cuda_sync: stream 9 waits for stream 8, although stream 7 ended later
  const auto workload =
      ProfileBuilder{}
          .call(kLaunch, 5, 1, 1)
          .call(kLaunch, 6, 1, 2)
          .call("cudaEventRecord", 8, 1, 3)
          .call("cudaStreamWaitEvent", 9, 1, 4)
          .sync("Stream Wait Event", 4,
                R"("stream":9,"wait_on_stream":8,"wait_on_cuda_event_record_corr_id":3)")
          .call(kLaunch, 12, 1, 5)
          .kernel(10, 30, 1, 7)
          .kernel(10, 20, 2, 8)
          .kernel(41, 5, 5, 9)
          .import();
  const TimelineView view{workload.timelines.at(0)};
  CHECK(view.lag(view.at("gpu0:9", 0), view.at("gpu0:8", 0)) == 11.0);
  CHECK(view.lag(view.at("gpu0:9", 0), view.at("gpu0:7", 0)) == -1.0);
}

TEST_CASE("dependencies point backwards even when everything happens at once", "[graph]") {
  const auto workload = ProfileBuilder{}
                            .call(kLaunch, 10, 0, 1)
                            .call("cudaStreamWaitEvent", 10, 0, 2)
                            .call(kLaunch, 10, 0, 3)
                            .call("cudaDeviceSynchronize", 10, 0, 4)
                            .kernel(10, 0, 1, 7)
                            .kernel(10, 0, 3, 8)
                            .import();
  const auto& ops = workload.timelines.at(0).ops;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    for (const auto& dependency : ops[i].after) {
      CHECK(dependency.op < static_cast<int>(i));
    }
  }
}

TEST_CASE("several GPUs of one process are streams of one rank", "[graph]") {
  auto profile = ProfileBuilder{};
  profile.call(kLaunch, 10, 1, 1).kernel(12, 3, 1);
  profile.raw(R"({"ph":"X","cat":"kernel","name":"k","ts":20,"dur":1,
                  "args":{"device":1,"stream":7,"correlation":9}})");
  const auto workload = profile.import();
  REQUIRE(workload.timelines.size() == 1);
  CHECK(TimelineView{workload.timelines[0]}.on("gpu1:7").size() == 1);
  const auto devices = workload::statistics(workload);
  REQUIRE(devices.size() == 2);
  CHECK(devices[1].device == 1);
  CHECK(devices[1].n_kernels == 1);
}
