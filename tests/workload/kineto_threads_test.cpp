#include "workload/importers/kineto_threads.hpp"

#include <catch2/catch.hpp>

using namespace trainyard;
using workload::CallKind;
using workload::GpuWork;
using workload::KinetoFile;
using workload::Threads;
using Kind = workload::Instant::Kind;

namespace {

Threads find(const KinetoFile& file) {
  return workload::find_instants(file, workload::link(file));
}

void add_kernel(KinetoFile& file, std::int64_t start, std::int64_t duration,
                std::int64_t correlation, GpuWork work = GpuWork::kernel) {
  file.names = {"k"};
  file.gpu.push_back({start, duration, correlation, 7, -1, 0, 0, -1, work});
}

std::vector<std::pair<std::int64_t, Kind>> kinds(const Threads& threads) {
  std::vector<std::pair<std::int64_t, Kind>> found;
  for (const auto& instant : threads.instants) {
    found.emplace_back(instant.time, instant.kind);
  }
  return found;
}

using Kinds = std::vector<std::pair<std::int64_t, Kind>>;

}  // namespace

TEST_CASE("calls that synchronise or release memory may block", "[threads]") {
  CHECK(workload::blocks(CallKind::stream_sync));
  CHECK(workload::blocks(CallKind::device_sync));
  CHECK(workload::blocks(CallKind::event_sync));
  CHECK(workload::blocks(CallKind::free));
  CHECK_FALSE(workload::blocks(CallKind::other));
  CHECK_FALSE(workload::blocks(CallKind::copy));
  CHECK_FALSE(workload::blocks(CallKind::stream_wait));
}

TEST_CASE("a launch is one instant, a synchronisation two", "[threads]") {
  KinetoFile file;
  file.calls = {{100, 105, 1, 0, CallKind::other},
                {110, 150, 2, 0, CallKind::stream_sync},
                {160, 165, 3, 0, CallKind::other}};  // launches nothing
  add_kernel(file, 120, 20, 1);
  const Threads threads = find(file);
  CHECK(threads.window_start == 100);
  CHECK(threads.count == 1);
  CHECK(kinds(threads) == Kinds{{0, Kind::call}, {10, Kind::call}, {50, Kind::returned}});
}

TEST_CASE("a synchronisation of no length returns after its call", "[threads]") {
  KinetoFile file;
  file.calls = {{100, 100, 2, 0, CallKind::device_sync}};
  add_kernel(file, 100, 20, 1);
  CHECK(kinds(find(file)) == Kinds{{0, Kind::call}, {0, Kind::returned_at_once}});
}

TEST_CASE("a copy call returns late only if its copy ended inside it", "[threads]") {
  const auto instants = [](std::int64_t copy_end) {
    KinetoFile file;
    file.calls = {{100, 150, 1, 0, CallKind::copy}};
    add_kernel(file, 110, copy_end - 110, 1, GpuWork::copy);
    return find(file).instants.size();
  };
  CHECK(instants(140) == 2);
  CHECK(instants(150) == 2);
  CHECK(instants(151) == 1);
}

TEST_CASE("the window starts with whatever comes first", "[threads]") {
  KinetoFile file;
  file.calls = {{5, 6, 9, 0, CallKind::other}, {100, 105, 1, 0, CallKind::other}};
  add_kernel(file, 120, 20, 1);
  CHECK(find(file).window_start == 100);  // the call at 5 launches nothing
  add_kernel(file, 90, 1, 77);
  CHECK(find(file).window_start == 90);
  file.steps = {{-40, 200, 0, "ProfilerStep#1"}};
  CHECK(find(file).window_start == -40);
}

TEST_CASE("steps are sorted and mark their thread", "[threads]") {
  KinetoFile file;
  file.steps = {{200, 300, 4, "b"}, {100, 200, 4, "a"}};
  add_kernel(file, 150, 5, 1);
  const Threads threads = find(file);
  REQUIRE(threads.steps.size() == 2);
  CHECK(threads.steps[0].name == "a");
  CHECK(threads.steps[0].start == 0);
  CHECK(threads.steps[1].end == 200);
  // where one step ends and the next begins, the end comes first
  CHECK(kinds(threads) == Kinds{{0, Kind::step_begin},
                                {100, Kind::step_end},
                                {100, Kind::step_begin},
                                {200, Kind::step_end}});
}

TEST_CASE("a step covers its begin and not its end", "[threads]") {
  Threads threads;
  threads.steps = {{0, 10, 0, "a"}, {10, 20, 0, "b"}, {30, 40, 0, "c"}};
  CHECK(threads.step_at(0) == 0);
  CHECK(threads.step_at(9) == 0);
  CHECK(threads.step_at(10) == 1);
  CHECK(threads.step_at(20) == -1);
  CHECK(threads.step_at(30) == 2);
  CHECK(threads.step_at(40) == -1);
  CHECK(threads.step_at(-1) == -1);
}

TEST_CASE("of steps that overlap the one that began last covers an instant", "[threads]") {
  Threads threads;
  threads.steps = {{0, 100, 0, "outer"}, {20, 40, 0, "inner"}};
  CHECK(threads.step_at(10) == 0);
  CHECK(threads.step_at(30) == 1);
  CHECK(threads.step_at(50) == 0);
}

TEST_CASE("threads are numbered by their first instant", "[threads]") {
  KinetoFile file;
  // thread 8 of the file acts first, thread 3 second; thread 5 does nothing that is kept
  file.calls = {{130, 131, 2, 3, CallKind::other},
                {110, 111, 1, 8, CallKind::other},
                {105, 106, 9, 5, CallKind::other}};
  add_kernel(file, 120, 5, 1);
  add_kernel(file, 140, 5, 2);
  const Threads threads = find(file);
  CHECK(threads.count == 2);
  REQUIRE(threads.instants.size() == 2);
  CHECK(threads.instants[0].thread == 0);
  CHECK(threads.instants[0].call == 1);
  CHECK(threads.instants[1].thread == 1);
  CHECK(threads.instants[1].call == 0);
}
