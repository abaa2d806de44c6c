#include <catch2/catch.hpp>

#include "graph_support.hpp"
#include "profile_builder.hpp"

using namespace trainyard;
using test::ProfileBuilder;
using test::TimelineView;
using workload::OpKind;

namespace {

constexpr const char* kLaunch = "cudaLaunchKernel";

/// The wait op of a thread and the ops it depends on.
struct Wait {
  double start_us = 0.0;
  double duration_us = 0.0;
  std::vector<int> after{};
};

std::vector<Wait> waits(const workload::Workload& workload) {
  const auto& timeline = workload.timelines.at(0);
  const TimelineView view{timeline};
  std::vector<Wait> found;
  for (std::size_t i = 0; i < timeline.ops.size(); ++i) {
    if (timeline.ops[i].kind != OpKind::wait) {
      continue;
    }
    const auto index = static_cast<int>(i);
    Wait wait{view.start_us(index), view.end_us(index) - view.start_us(index), {}};
    for (const auto& dependency : timeline.ops[i].after) {
      wait.after.push_back(dependency.op);
    }
    found.push_back(wait);
  }
  return found;
}

}  // namespace

TEST_CASE("a stream synchronisation lasts from the end of the kernel it waited for", "[graph]") {
  // kernel 12..60, call 20..65: waits until 60, then 5 us to return; the next launch is at 80
  const auto workload = ProfileBuilder{}
                            .call(kLaunch, 10, 1, 1)
                            .call("cudaStreamSynchronize", 20, 45, 2)
                            .call(kLaunch, 80, 1, 3)
                            .kernel(12, 48, 1)
                            .kernel(85, 1, 3)
                            .import();
  const TimelineView view{workload.timelines.at(0)};
  const auto found = waits(workload);
  REQUIRE(found.size() == 1);
  CHECK(found[0].start_us == 50.0);  // from the window's start at 10
  CHECK(found[0].duration_us == 5.0);
  CHECK(found[0].after == std::vector<int>{view.at("gpu0:7", 0)});
  // host: 0 us to the launch, 10 to the call, wait, 15 to the next launch
  CHECK(view.op("host:0", 3).duration == units::Nanoseconds{15'000});
}

TEST_CASE("a slower kernel moves what its synchronisation held back", "[graph]") {
  auto workload = ProfileBuilder{}
                      .call(kLaunch, 10, 1, 1)
                      .call("cudaStreamSynchronize", 20, 45, 2)
                      .call(kLaunch, 80, 1, 3)
                      .kernel(12, 48, 1)
                      .kernel(85, 1, 3)
                      .import();
  auto& timeline = workload.timelines.at(0);
  const int second = TimelineView{timeline}.at("gpu0:7", 1);
  for (auto& op : timeline.ops) {
    op.duration = op.kind == OpKind::compute ? op.duration * 2 : op.duration;
  }
  // 48 us longer: the second kernel starts at 85 - 10 + 48
  CHECK(TimelineView{timeline}.start_us(second) == 123.0);
}

TEST_CASE("work that had ended before the call does not bind", "[graph]") {
  const auto workload = ProfileBuilder{}
                            .call(kLaunch, 10, 1, 1)
                            .call("cudaStreamSynchronize", 50, 3, 2)
                            .kernel(12, 8, 1)
                            .import();
  const auto found = waits(workload);
  REQUIRE(found.size() == 1);
  CHECK(found[0].start_us == 40.0);
  CHECK(found[0].duration_us == 3.0);
  CHECK(found[0].after.size() == 1);
}

TEST_CASE("a synchronisation right behind a copy waits for the copy", "[graph]") {
  // stream 20 ends at 39, later than the copy at 30, but the copy is what was asked for
  const auto workload = ProfileBuilder{}
                            .call(kLaunch, 5, 1, 1)
                            .call("cudaMemcpyAsync", 10, 5, 2)
                            .call("cudaStreamSynchronize", 16, 24, 3)
                            .kernel(8, 31, 1, 20)
                            .copy(28, 2, 2, 7)
                            .import();
  const TimelineView view{workload.timelines.at(0)};
  const auto found = waits(workload);
  REQUIRE(found.size() == 1);
  CHECK(found[0].after == std::vector<int>{view.at("gpu0:7", 0)});
  CHECK(found[0].duration_us == 10.0);
}

TEST_CASE("a copy call that contains the end of its copy blocks", "[graph]") {
  const auto* name = GENERATE("cudaMemcpyAsync", "cudaMemcpy", "hipMemcpyWithStream");
  const auto workload = ProfileBuilder{}.call(name, 10, 90, 1).copy(80, 15, 1).import();
  const auto found = waits(workload);
  REQUIRE(found.size() == 1);
  CHECK(found[0].start_us == 85.0);
  CHECK(found[0].duration_us == 5.0);
}

TEST_CASE("a copy call that returns before its copy ends does not block", "[graph]") {
  CHECK(waits(ProfileBuilder{}.call("cudaMemcpyAsync", 10, 5, 1).copy(20, 15, 1).import()).empty());
}

TEST_CASE("a device synchronisation waits for every stream", "[graph]") {
  const auto* name = GENERATE("cudaDeviceSynchronize", "hipDeviceSynchronize", "cuCtxSynchronize");
  const auto workload = ProfileBuilder{}
                            .call(kLaunch, 5, 1, 1)
                            .call(kLaunch, 8, 1, 2)
                            .call(name, 10, 60, 3)
                            .kernel(10, 20, 1, 7)
                            .kernel(12, 50, 2, 9)
                            .import();
  const auto found = waits(workload);
  REQUIRE(found.size() == 1);
  CHECK(found[0].after.size() == 2);
  CHECK(found[0].start_us == 57.0);  // 62 - 5
  CHECK(found[0].duration_us == 8.0);
}

TEST_CASE("an event synchronisation waits for an op in the middle of a stream", "[graph]") {
  // the op that runs until 90 was launched too, but only the first had ended at 35
  const auto workload = ProfileBuilder{}
                            .call(kLaunch, 5, 1, 1)
                            .call(kLaunch, 6, 1, 2)
                            .call("cudaEventSynchronize", 10, 25, 3)
                            .kernel(10, 20, 1)
                            .kernel(30, 60, 2)
                            .import();
  const TimelineView view{workload.timelines.at(0)};
  const auto found = waits(workload);
  REQUIRE(found.size() == 1);
  CHECK(found[0].after == std::vector<int>{view.at("gpu0:7", 0)});
}

TEST_CASE("a recorded synchronisation names its stream", "[graph]") {
  const auto workload = ProfileBuilder{}
                            .call(kLaunch, 5, 1, 1)
                            .call(kLaunch, 6, 1, 2)
                            .call("cudaStreamSynchronize", 10, 60, 3)
                            .sync("Stream Sync", 3, R"("stream":7)")
                            .kernel(10, 20, 1, 7)
                            .kernel(12, 50, 2, 9)
                            .import();
  const TimelineView view{workload.timelines.at(0)};
  const auto found = waits(workload);
  REQUIRE(found.size() == 1);
  CHECK(found[0].after == std::vector<int>{view.at("gpu0:7", 0)});
}

TEST_CASE("a recorded event synchronisation names the record call", "[graph]") {
  // both ops of stream 7 had ended, the event was recorded between their launches
  const auto workload =
      ProfileBuilder{}
          .call(kLaunch, 5, 1, 1)
          .call("cudaEventRecord", 7, 1, 2)
          .call(kLaunch, 9, 1, 3)
          .call("cudaEventSynchronize", 12, 80, 4)
          .sync("Event Sync", 4,
                R"("stream":-1,"wait_on_stream":7,"wait_on_cuda_event_record_corr_id":2)")
          .kernel(10, 20, 1)
          .kernel(30, 20, 3)
          .import();
  const TimelineView view{workload.timelines.at(0)};
  const auto found = waits(workload);
  REQUIRE(found.size() == 1);
  CHECK(found[0].after == std::vector<int>{view.at("gpu0:7", 0)});
}

TEST_CASE("releasing memory blocks only when work ended inside the call", "[graph]") {
  const auto with_free = [](int start) {
    return waits(ProfileBuilder{}
                     .call(kLaunch, 5, 1, 1)
                     .call("cudaFree", start, 40, 2)
                     .kernel(10, 20, 1)
                     .import());
  };
  CHECK(with_free(20).size() == 1);  // 20..60 contains 30
  CHECK(with_free(35).empty());
}

TEST_CASE("a synchronisation with nothing launched before is host time", "[graph]") {
  const auto workload = ProfileBuilder{}
                            .call("cudaDeviceSynchronize", 1, 3, 9)
                            .call(kLaunch, 5, 1, 1)
                            .kernel(10, 20, 1)
                            .import();
  CHECK(waits(workload).empty());
}
