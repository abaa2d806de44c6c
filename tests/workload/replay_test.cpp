#include "workload/replay.hpp"

#include <catch2/catch.hpp>

using namespace trainyard;
using units::Nanoseconds;
using workload::Dependency;
using workload::Op;
using workload::OpKind;
using workload::Timeline;

namespace {

Nanoseconds ns(std::int64_t count) {
  return Nanoseconds{count};
}

Op op(int stream, std::int64_t duration, std::vector<Dependency> after = {}, std::int64_t gap = 0) {
  Op result;
  result.stream = stream;
  result.duration = ns(duration);
  result.after = std::move(after);
  result.gap = ns(gap);
  return result;
}

Timeline two_streams(std::vector<Op> ops) {
  Timeline timeline;
  timeline.streams = {{"gpu0:7", false}, {"gpu0:9", false}};
  timeline.ops = std::move(ops);
  return timeline;
}

std::vector<std::int64_t> starts(const Timeline& timeline) {
  std::vector<std::int64_t> found;
  for (const Nanoseconds start : workload::recorded_times(timeline).start) {
    found.push_back(start.count());
  }
  return found;
}

using Starts = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("a stream is first in, first out", "[replay]") {
  CHECK(starts(two_streams({op(0, 5), op(0, 7), op(1, 3), op(0, 1), op(1, 1)})) ==
        Starts{0, 5, 0, 12, 3});
}

TEST_CASE("a gap counts from the end of the op before on the stream", "[replay]") {
  CHECK(starts(two_streams({op(0, 5, {}, 2), op(0, 7, {}, 4), op(0, 1, {}, -3)})) ==
        Starts{2, 11, 15});
}

TEST_CASE("a dependency holds an op back and its lag too", "[replay]") {
  // the op on stream 1 waits for 10 + 4, longer than for its own stream
  CHECK(starts(two_streams({op(0, 10), op(1, 2), op(1, 1, {{0, ns(4)}})})) == Starts{0, 0, 14});
  // and not for a dependency that ended before
  CHECK(starts(two_streams({op(0, 1), op(1, 20), op(1, 1, {{0, ns(4)}})})) == Starts{0, 0, 20});
}

TEST_CASE("the last of several dependencies decides", "[replay]") {
  // ends 10, 3 and 13: 10 + 0, 3 + 30
  CHECK(starts(two_streams({op(0, 10), op(1, 3), op(0, 3), op(1, 1, {{0, ns(0)}, {1, ns(30)}})})) ==
        Starts{0, 0, 10, 33});
}

TEST_CASE("a collective lasts as recorded", "[replay]") {
  Op collective = op(0, 0);
  collective.kind = OpKind::collective;
  collective.recorded = ns(25);
  CHECK(starts(two_streams({collective, op(0, 1)})) == Starts{0, 25});
}

TEST_CASE("what was recorded of other operations does not count", "[replay]") {
  Op kernel = op(0, 5);
  kernel.recorded = ns(25);
  CHECK(starts(two_streams({kernel, op(0, 1)})) == Starts{0, 5});
}

TEST_CASE("longer durations move what depends on them and nothing else", "[replay]") {
  const auto build = [](std::int64_t duration) {
    return two_streams({op(0, duration), op(1, 8), op(0, 1), op(1, 1), op(1, 1, {{2, {}}})});
  };
  CHECK(starts(build(5)) == Starts{0, 0, 5, 8, 9});
  CHECK(starts(build(50)) == Starts{0, 0, 50, 8, 51});
}

TEST_CASE("an empty timeline has no times and its open step no length", "[replay]") {
  const auto times = workload::recorded_times(two_streams({}));
  CHECK(times.start.empty());
  CHECK(step_begin({"s", -1, -1}, times) == ns(0));
  CHECK(step_end({"s", -1, -1}, times) == ns(0));
}

TEST_CASE("a step lasts from the end of one marker to the end of the other", "[replay]") {
  const auto times =
      workload::recorded_times(two_streams({op(0, 5), op(0, 0), op(1, 100), op(0, 20), op(0, 0)}));
  CHECK(step_begin({"s", 1, 4}, times) == ns(5));
  CHECK(step_end({"s", 1, 4}, times) == ns(25));
  CHECK(step_end({"s", 1, -1}, times) == ns(100));  // the last end of all streams
}
