#include "workload/importers/kineto_links.hpp"

#include <catch2/catch.hpp>

using namespace trainyard;
using workload::CallKind;
using workload::GpuWork;
using workload::KinetoFile;
using workload::Links;
using workload::SyncKind;

namespace {

constexpr const char* kCompute = "void scale_kernel<float>(float*)";
constexpr const char* kAllReduce = "ncclKernel_AllReduce_RING_LL_Sum_float(X)";

/// Builds what the parser would hand over. Times in ns.
class FileBuilder {
 public:
  FileBuilder() { file_.names = {kCompute, kAllReduce}; }

  FileBuilder& kernel(std::int64_t start, std::int64_t duration, std::int64_t correlation,
                      std::int64_t stream = 7, int name = 0, int device = 0) {
    file_.gpu.push_back(
        {start, duration, correlation, stream, -1, device, name, -1, GpuWork::kernel});
    return *this;
  }
  FileBuilder& call(std::int64_t start, std::int64_t end, std::int64_t correlation,
                    CallKind kind = CallKind::other, int thread = 0) {
    file_.calls.push_back({start, end, correlation, thread, kind});
    return *this;
  }
  FileBuilder& range(std::int64_t start, std::int64_t end, int thread = 0) {
    file_.ranges.push_back({start, end, thread, 0});
    return *this;
  }
  FileBuilder& sync(SyncKind kind, std::int64_t correlation, std::int64_t stream = -1,
                    std::int64_t source = -1, std::int64_t recorder = -1) {
    file_.syncs.push_back({kind, 0, correlation, stream, source, recorder});
    return *this;
  }
  [[nodiscard]] const KinetoFile& file() const { return file_; }
  [[nodiscard]] Links link() const { return workload::link(file_); }

 private:
  KinetoFile file_{};
};

}  // namespace

TEST_CASE("lanes are the streams by device and number", "[links]") {
  const Links links = FileBuilder{}
                          .kernel(10, 1, 1, 20)
                          .kernel(11, 1, 2, 7)
                          .kernel(12, 1, 3, 7, 0, 1)
                          .kernel(13, 1, 4, 20)
                          .link();
  REQUIRE(links.lanes.size() == 3);
  CHECK(links.find_lane(0, 7) == 0);
  CHECK(links.find_lane(0, 20) == 1);
  CHECK(links.find_lane(1, 7) == 2);
  CHECK(links.find_lane(1, 20) == -1);
  CHECK(links.find_lane(0, 8) == -1);
  CHECK(links.find_lane(-1, 7) == -1);
}

TEST_CASE("ops are sorted by start, then lane, then end", "[links]") {
  const Links links =
      FileBuilder{}.kernel(30, 5, 1).kernel(10, 9, 2, 20).kernel(10, 9, 3).kernel(10, 4, 4).link();
  std::vector<int> events;
  for (const auto& op : links.ops) {
    events.push_back(op.event);
  }
  CHECK(events == std::vector<int>{3, 2, 1, 0});
  CHECK(links.ops[0].end == 14);
}

TEST_CASE("the order of the events in the file changes nothing", "[links]") {
  const auto starts = [](bool reversed) {
    FileBuilder builder;
    for (int i = 0; i < 6; ++i) {
      const int k = reversed ? 5 - i : i;
      builder.kernel(100 - 10 * (k % 3), 5, k + 1, 7 + k % 2).call(k, k + 1, k + 1);
    }
    std::vector<std::pair<std::int64_t, std::int64_t>> found;
    for (const auto& op : builder.link().ops) {
      found.emplace_back(op.start, op.launched);
    }
    return found;
  };
  CHECK(starts(false) == starts(true));
}

TEST_CASE("a launch is the call of the same correlation id", "[links]") {
  const Links links =
      FileBuilder{}.call(1, 2, 11).call(3, 4, 12).kernel(20, 5, 12).kernel(10, 5, 99).link();
  CHECK(links.ops[0].launch == -1);
  CHECK(links.ops[0].launched == 10);  // its own start
  CHECK(links.ops[1].launch == 1);
  CHECK(links.ops[1].launched == 3);
  CHECK(links.without_launch == 1);
  CHECK(links.launches[0].empty());
  CHECK(links.launches[1] == std::vector<int>{1});
}

TEST_CASE("of two calls with one id the one that starts first launched", "[links]") {
  CHECK(FileBuilder{}.call(5, 6, 1).call(4, 8, 1).kernel(10, 1, 1).link().ops[0].launch == 1);
  CHECK(FileBuilder{}.call(4, 8, 1).call(5, 6, 1).kernel(10, 1, 1).link().ops[0].launch == 0);
  // at the same instant the longer one
  CHECK(FileBuilder{}.call(4, 6, 1).call(4, 8, 1).kernel(10, 1, 1).link().ops[0].launch == 1);
}

TEST_CASE("id 0 is none", "[links]") {
  const Links links = FileBuilder{}.call(1, 2, 0).kernel(10, 5, 0).link();
  CHECK(links.ops[0].launch == -1);
}

TEST_CASE("a lane's launches are in the order of their calls", "[links]") {
  // the kernel that starts first was launched last (a replayed graph may do so)
  const Links links =
      FileBuilder{}.call(1, 2, 1).call(3, 4, 2).kernel(30, 5, 1).kernel(20, 5, 2).link();
  CHECK(links.lanes[0].by_launch == std::vector<int>{1, 0});
}

TEST_CASE("the last op that was launched before and had ended", "[links]") {
  // launched at 1, 2, 3; end at 20, 90, 40
  const Links links = FileBuilder{}
                          .call(1, 1, 1)
                          .call(2, 2, 2)
                          .call(3, 3, 3)
                          .kernel(10, 10, 1)
                          .kernel(20, 70, 2)
                          .kernel(30, 10, 3)
                          .link();
  const std::vector<int> all{0, 0, 0};
  CHECK(links.latest_ended(0, 100, 100, all) == 2);
  CHECK(links.latest_ended(0, 3, 100, all) == 1);  // "before" excludes the instant itself
  CHECK(links.latest_ended(0, 3, 89, all) == 0);
  CHECK(links.latest_ended(0, 100, 40, all) == 2);
  CHECK(links.latest_ended(0, 100, 39, all) == 0);
  CHECK(links.latest_ended(0, 100, 19, all) == -1);
  CHECK(links.latest_ended(0, 1, 100, all) == -1);
  CHECK(links.latest_ended(0, 100, 100, {0, 0, -1}) == 1);  // not emitted yet
  CHECK(links.latest_ended(0, 100, 100, {-1, -1, -1}) == -1);
  CHECK(links.last_launched(0, 100) == 2);
  CHECK(links.last_launched(0, 3) == 1);
  CHECK(links.last_launched(0, 1) == -1);
}

TEST_CASE("communication kernels find the ranges around their launch", "[links]") {
  // an outer range 0..100 and an inner one 10..50; launches at 20 and 60, then outside at 200
  const auto build = [](int name) {
    return FileBuilder{}
        .range(10, 50)
        .range(0, 100)
        .call(20, 21, 1)
        .call(60, 61, 2)
        .call(200, 201, 3)
        .kernel(300, 1, 1, 20, name)
        .kernel(310, 1, 2, 20, name)
        .kernel(320, 1, 3, 20, name)
        .link();
  };
  const Links links = build(1);
  CHECK(links.range_of == std::vector<int>{0, 1, -1});
  CHECK(links.outer_range_of == std::vector<int>{1, 1, -1});
  CHECK(links.communicates == std::vector<char>{0, 1});
  // a compute kernel in the same place has none
  CHECK(build(0).range_of == std::vector<int>{-1, -1, -1});
}

TEST_CASE("ranges of another thread do not count", "[links]") {
  const Links links = FileBuilder{}
                          .range(0, 100, 1)
                          .call(20, 21, 1, CallKind::other, 0)
                          .kernel(300, 1, 1, 20, 1)
                          .link();
  CHECK(links.range_of == std::vector<int>{-1});
}

TEST_CASE("a stream-wait concerns the next launch, of whichever thread", "[links]") {
  const Links links = FileBuilder{}
                          .call(5, 6, 1)
                          .call(10, 11, 8, CallKind::stream_wait)
                          .call(15, 16, 9)  // launches nothing
                          .call(20, 21, 2, CallKind::other, 1)
                          .call(30, 31, 3)
                          .kernel(100, 5, 1)
                          .kernel(110, 5, 2)
                          .kernel(120, 5, 3)
                          .link();
  CHECK(links.waits == std::vector<std::int64_t>{10});
  CHECK_FALSE(links.ops[0].waits);
  CHECK(links.ops[1].waits);
  CHECK_FALSE(links.ops[2].waits);
}

TEST_CASE("a stream-wait behind every launch concerns none", "[links]") {
  const Links links =
      FileBuilder{}.call(5, 6, 1).call(10, 11, 8, CallKind::stream_wait).kernel(100, 5, 1).link();
  CHECK(links.waits == std::vector<std::int64_t>{10});
  CHECK_FALSE(links.ops[0].waits);
}

TEST_CASE("a wait before the launch in a range is the program's, behind it the library's",
          "[links]") {
  const auto waits = [](std::int64_t at, int thread) {
    return FileBuilder{}
        .range(10, 50)
        .call(20, 21, 1)
        .call(at, at + 1, 8, CallKind::stream_wait, thread)
        .kernel(100, 5, 1, 20, 1)
        .link()
        .waits;
  };
  CHECK(waits(15, 0) == std::vector<std::int64_t>{15});
  CHECK(waits(30, 0).empty());
  CHECK(waits(50, 0).empty());
  CHECK(waits(51, 0) == std::vector<std::int64_t>{51});
  CHECK(waits(30, 1) == std::vector<std::int64_t>{30});
}

TEST_CASE("a recorded stream-wait names its lanes and its event", "[links]") {
  FileBuilder builder;
  builder.call(1, 2, 1)
      .call(3, 4, 2)
      .call(8, 9, 5)  // records the event
      .call(10, 11, 6, CallKind::stream_wait)
      .sync(SyncKind::stream_waits, 6, 9, 7, 5)
      .kernel(20, 5, 1, 7)
      .kernel(30, 5, 2, 9);
  const Links links = builder.link();
  CHECK(links.waits.empty());
  REQUIRE(links.known_waits.size() == 1);
  CHECK(links.known_waits[0].lane == links.find_lane(0, 9));
  CHECK(links.known_waits[0].source == links.find_lane(0, 7));
  CHECK(links.known_waits[0].time == 10);
  CHECK(links.known_waits[0].recorded == 8);
  CHECK(links.sync_of == std::vector<int>{-1, -1, -1, 0});
  CHECK(links.recorder_of == std::vector<int>{2});
}

TEST_CASE("a recorded stream-wait without its event counts from the wait", "[links]") {
  const Links links = FileBuilder{}
                          .call(10, 11, 6, CallKind::stream_wait)
                          .sync(SyncKind::stream_waits, 6, 9, 7, 77)
                          .kernel(20, 5, 1, 7)
                          .kernel(30, 5, 2, 9)
                          .link();
  REQUIRE(links.known_waits.size() == 1);
  CHECK(links.known_waits[0].recorded == 10);
}

TEST_CASE("a recorded stream-wait on a stream without work is no wait at all", "[links]") {
  const Links links = FileBuilder{}
                          .call(10, 11, 6, CallKind::stream_wait)
                          .sync(SyncKind::stream_waits, 6, 9, 55)
                          .call(15, 16, 2)
                          .kernel(30, 5, 2, 9)
                          .link();
  CHECK(links.known_waits.empty());
  CHECK(links.waits.empty());
  CHECK_FALSE(links.ops[0].waits);
}

TEST_CASE("known waits are sorted by lane, then time", "[links]") {
  const Links links = FileBuilder{}
                          .call(30, 31, 3, CallKind::stream_wait)
                          .call(10, 11, 4, CallKind::stream_wait)
                          .call(20, 21, 5, CallKind::stream_wait)
                          .sync(SyncKind::stream_waits, 3, 7, 9)
                          .sync(SyncKind::stream_waits, 4, 9, 7)
                          .sync(SyncKind::stream_waits, 5, 7, 9)
                          .kernel(40, 5, 1, 7)
                          .kernel(40, 5, 2, 9)
                          .link();
  std::vector<std::pair<int, std::int64_t>> found;
  for (const auto& wait : links.known_waits) {
    found.emplace_back(wait.lane, wait.time);
  }
  CHECK(found == std::vector<std::pair<int, std::int64_t>>{{0, 20}, {0, 30}, {1, 10}});
}

TEST_CASE("an empty profile has no links", "[links]") {
  const Links links = FileBuilder{}.link();
  CHECK(links.ops.empty());
  CHECK(links.lanes.empty());
  CHECK(links.find_lane(0, 7) == -1);
}
