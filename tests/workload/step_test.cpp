#include "workload/step.hpp"

#include <catch2/catch.hpp>

#include "graph_support.hpp"
#include "profile_builder.hpp"
#include "workload/file.hpp"

using namespace trainyard;
using test::ProfileBuilder;
using test::TimelineView;
using units::Nanoseconds;
using workload::CollectiveOp;

namespace {

constexpr const char* kLaunch = "cudaLaunchKernel";
constexpr const char* kAllReduce = "ncclKernel_AllReduce_RING_LL_Sum_float(X)";

Nanoseconds us(std::int64_t count) {
  return Nanoseconds{count * 1'000};
}

/// Steps of 100, 140 and 120 us; in each a kernel and a collective.
workload::Workload three_steps() {
  auto profile = ProfileBuilder{};
  int start = 1'000;
  int correlation = 0;
  for (const int length : {100, 140, 120}) {
    const int kernel = ++correlation;
    const int collective = ++correlation;
    profile.step(kernel, start, length)
        .call(kLaunch, start + 10, 1, kernel)
        .kernel(start + 15, 30, kernel)
        .range("nccl:all_reduce", start + 18, 20, 1,
               fmt::format(R"("Input Dims":[[{}]],"Input type":["float"])", collective))
        .call(kLaunch, start + 20, 1, collective)
        .kernel(start + 50, 20, collective, 20, kAllReduce);
    start += length;
  }
  return profile.import();
}

}  // namespace

TEST_CASE("names of enumerators are those of the files", "[step]") {
  CHECK(to_text(workload::OpKind::compute) == std::string{"compute"});
  CHECK(to_text(workload::OpKind::wait) == std::string{"wait"});
  CHECK(to_text(workload::Category::memory_bound) == std::string{"memory-bound"});
  CHECK(to_text(workload::CopyKind::p2p) == std::string{"p2p"});
  CHECK(to_text(CollectiveOp::reduce_scatter) == std::string{"reduce_scatter"});
  CHECK(to_text(CollectiveOp::barrier) == std::string{"barrier"});
}

TEST_CASE("collectives are read in the usual spellings", "[step]") {
  CHECK(workload::parse_collective_op("all_reduce") == CollectiveOp::all_reduce);
  CHECK(workload::parse_collective_op("all-reduce") == CollectiveOp::all_reduce);
  CHECK(workload::parse_collective_op("allreduce") == CollectiveOp::all_reduce);
  CHECK(workload::parse_collective_op("alltoall") == CollectiveOp::all_to_all);
  CHECK(workload::parse_collective_op("sendrecv") == CollectiveOp::send_recv);
  CHECK_FALSE(workload::parse_collective_op("reduce all"));
  CHECK_FALSE(workload::parse_collective_op(""));
}

TEST_CASE("the step of median length stands for all", "[step]") {
  CHECK(workload::representative_step(three_steps()) == 2);  // 100, 140, 120
  CHECK(workload::representative_step(ProfileBuilder{}.kernel(1, 2, 3).import()) == -1);
}

TEST_CASE("of an even number of steps the lower median stands for all", "[step]") {
  const auto workload = ProfileBuilder{}
                            .step(1, 0, 50)
                            .step(2, 50, 20)
                            .step(3, 70, 40)
                            .step(4, 110, 30)
                            .call(kLaunch, 5, 1, 1)
                            .kernel(8, 1, 1)
                            .import();
  CHECK(workload::representative_step(workload) == 3);  // 20 30 40 50: 30
}

TEST_CASE("a cut holds one step and its collective", "[step]") {
  const auto cut = workload::only_step(three_steps(), 1);
  REQUIRE(cut.timelines.size() == 1);
  const auto& timeline = cut.timelines.front();
  REQUIRE(timeline.steps.size() == 1);
  CHECK(timeline.steps.front().begin == 0);
  const auto times = workload::recorded_times(timeline);
  CHECK(step_begin(timeline.steps.front(), times) == us(0));
  CHECK(step_end(timeline.steps.front(), times) == us(140));
  const TimelineView view{timeline};
  REQUIRE(view.on("gpu0:7").size() == 1);
  CHECK(view.start_us(view.at("gpu0:7", 0)) == 15.0);
  CHECK(view.start_us(view.at("gpu0:20", 0)) == 50.0);
  REQUIRE(cut.collectives.size() == 1);
  CHECK(cut.collectives.front().bytes.value().si() == 4 * 4.0);  // the fourth correlation
  CHECK(cut.collectives.front().sequence == 0);
  CHECK(view.op("gpu0:20", 0).collective == 0);
}

TEST_CASE("a cut reads back as a valid workload", "[step]") {
  for (int step = 0; step < 3; ++step) {
    const std::string text = to_json(workload::only_step(three_steps(), step));
    CHECK(to_json(workload::parse_workload(text, "cut")) == text);
  }
}

TEST_CASE("step -1 is a copy", "[step]") {
  const auto workload = three_steps();
  CHECK(to_json(workload::only_step(workload, -1)) == to_json(workload));
}

TEST_CASE("work that ran on from the step before leaves only its stream's gap", "[step]") {
  // the kernel of step 1 runs until 130, into step 2, whose kernel follows it after 4 us and whose
  // host waits for it
  const auto workload = ProfileBuilder{}
                            .step(1, 0, 100)
                            .step(2, 100, 100)
                            .call(kLaunch, 90, 1, 1)
                            .call(kLaunch, 110, 1, 2)
                            .call("cudaStreamSynchronize", 112, 100, 3)
                            .kernel(95, 35, 1)
                            .kernel(134, 10, 2)
                            .import();
  const auto cut = workload::only_step(workload, 1);
  const TimelineView view{cut.timelines.front()};
  CHECK(view.op("gpu0:7", 0).gap == us(4));
  CHECK(view.op("gpu0:7", 0).after.size() == 1);
  CHECK(view.start_us(view.at("gpu0:7", 0)) == 10.0);  // at its launch: nothing runs before it
}

TEST_CASE("GPU work without a launch keeps its distance in a cut", "[step]") {
  // first of its stream, 30 us into the step
  const auto workload = ProfileBuilder{}
                            .step(1, 0, 100)
                            .step(2, 100, 100)
                            .call(kLaunch, 10, 1, 1)
                            .kernel(12, 3, 1)
                            .kernel(130, 5, 99, 11)
                            .import();
  const auto cut = workload::only_step(workload, 1);
  const TimelineView view{cut.timelines.front()};
  CHECK(view.start_us(view.at("gpu0:11", 0)) == 30.0);
}

TEST_CASE("a replay with an open step marker counts to the end", "[step]") {
  workload::Timeline timeline;
  timeline.streams = {{"gpu0:7", false}};
  timeline.ops.resize(2);
  timeline.ops[0].duration = us(5);
  timeline.ops[1].duration = us(7);
  timeline.ops[1].gap = us(1);
  const auto times = workload::recorded_times(timeline);
  CHECK(step_begin({"open", -1, -1}, times) == us(0));
  CHECK(step_end({"open", -1, -1}, times) == us(13));
}
