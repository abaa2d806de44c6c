#include <catch2/catch.hpp>

#include "support/recorded_loop.hpp"

// The textbook schedules that need no more than submit order. Letters A, B, ... are rows. Mean JCT
// is the sum of (end - submit) over the jobs, divided by their number.

namespace trainyard {
namespace {

using test::intervals;
using test::RecordedJob;
using test::RecordedLoop;
using test::RecordedRun;
using Intervals = std::vector<std::pair<std::int64_t, std::int64_t>>;

std::vector<RecordedRun> run(const topology::Cluster& cluster, const std::string& scheduler,
                             const std::vector<RecordedJob>& jobs) {
  return RecordedLoop{cluster, scheduler, jobs}.finish();
}

std::vector<RecordedRun> run_on_pool(int gpus, const std::string& policy,
                                     const std::vector<RecordedJob>& jobs) {
  return run(topology::flat_cluster(1, gpus),
             "policy = \"" + policy + "\"\nplacement = \"count\"\n", jobs);
}

std::int64_t sum_of_jct(const std::vector<RecordedRun>& ran, const std::vector<RecordedJob>& jobs) {
  std::int64_t sum = 0;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    sum += ran[job].end - jobs[job].submit;
  }
  return sum;
}

TEST_CASE("T1: strict and best-effort order on 4 GPUs", "[textbook]") {
  const std::vector<RecordedJob> jobs{{2, 8, 0}, {1, 10, 1}, {4, 5, 2}, {3, 2, 3}, {1, 6, 4}};

  SECTION("fifo: C blocks until B ends at 11, D and E wait behind it") {
    const auto ran = run_on_pool(4, "fifo", jobs);
    CHECK(intervals(ran) == Intervals{{0, 8}, {1, 11}, {11, 16}, {16, 18}, {16, 22}});
    CHECK(sum_of_jct(ran, jobs) == 65);  // mean 13.0
  }
  SECTION("fifo-best-effort: E and D jump, C slips to 12") {
    const auto ran = run_on_pool(4, "fifo-best-effort", jobs);
    CHECK(intervals(ran) == Intervals{{0, 8}, {1, 11}, {12, 17}, {10, 12}, {4, 10}});
    CHECK(sum_of_jct(ran, jobs) == 48);  // mean 9.6
  }
}

TEST_CASE("T2: strict and best-effort order on 8 GPUs", "[textbook]") {
  const std::vector<RecordedJob> jobs{{4, 10, 0}, {6, 10, 1}, {5, 6, 2},
                                      {2, 25, 3}, {1, 9, 4},  {2, 6, 5}};

  SECTION("fifo") {
    const auto ran = run_on_pool(8, "fifo", jobs);
    CHECK(intervals(ran) == Intervals{{0, 10}, {10, 20}, {20, 26}, {20, 45}, {20, 29}, {26, 32}});
    CHECK(sum_of_jct(ran, jobs) == 147);  // mean 24.5
  }
  SECTION("fifo-best-effort") {
    const auto ran = run_on_pool(8, "fifo-best-effort", jobs);
    CHECK(intervals(ran) == Intervals{{0, 10}, {16, 26}, {10, 16}, {3, 28}, {4, 13}, {26, 32}});
    CHECK(sum_of_jct(ran, jobs) == 110);  // mean 18.3333
  }
}

TEST_CASE("T3, T5, T15: strict order where other disciplines reorder", "[textbook]") {
  SECTION("T3") {
    const std::vector<RecordedJob> jobs{{4, 20, 0}, {4, 5, 2}, {2, 8, 4}, {2, 3, 6}};
    const auto ran = run_on_pool(4, "fifo", jobs);
    CHECK(intervals(ran) == Intervals{{0, 20}, {20, 25}, {25, 33}, {25, 28}});
    CHECK(sum_of_jct(ran, jobs) == 94);  // mean 23.5
  }
  SECTION("T5") {
    const std::vector<RecordedJob> jobs{{1, 12, 0}, {1, 4, 3}, {1, 2, 5}};
    const auto ran = run_on_pool(1, "fifo", jobs);
    CHECK(intervals(ran) == Intervals{{0, 12}, {12, 16}, {16, 18}});
    CHECK(sum_of_jct(ran, jobs) == 38);  // mean 12.6667
  }
  SECTION("T15") {
    CHECK(intervals(run_on_pool(1, "fifo", {{1, 10, 0}, {1, 4, 0}})) ==
          Intervals{{0, 10}, {10, 14}});
  }
}

TEST_CASE("T8: a job of at most a node sits in one node", "[textbook]") {
  const auto cluster = topology::flat_cluster(2, 4);
  const std::vector<RecordedJob> jobs{{2, 10, 0}, {2, 10, 0}, {4, 5, 1}};
  const auto run_with = [&](const std::string& placement, const std::string& span) {
    return run(cluster, "placement = \"" + placement + "\"\nspan = \"" + span + "\"\n", jobs);
  };

  SECTION("pack keeps node 1 whole for C") {
    const auto ran = run_with("pack", "fit-node");
    CHECK(ran[0].gpus == std::vector{0, 1});
    CHECK(ran[1].gpus == std::vector{2, 3});
    CHECK(ran[2].gpus == std::vector{4, 5, 6, 7});
    CHECK(intervals(ran) == Intervals{{0, 10}, {0, 10}, {1, 6}});
    CHECK(sum_of_jct(ran, jobs) == 25);  // mean 8.3333
  }
  SECTION("spread leaves 2 + 2: C waits although 4 GPUs are free") {
    const auto ran = run_with("spread", "fit-node");
    CHECK(ran[0].gpus == std::vector{0, 1});
    CHECK(ran[1].gpus == std::vector{4, 5});
    CHECK(intervals(ran) == Intervals{{0, 10}, {0, 10}, {10, 15}});
    CHECK(sum_of_jct(ran, jobs) == 34);  // mean 11.3333
    CHECK(ran[2].waits == std::map<std::string, std::int64_t>{{"fragmentation", 9}});
  }
  SECTION("spanning allowed: C starts at once on both nodes") {
    const auto ran = run_with("spread", "any");
    CHECK(intervals(ran) == Intervals{{0, 10}, {0, 10}, {1, 6}});
    CHECK(ran[2].gpus == std::vector{2, 3, 6, 7});
  }
  SECTION("count under fit-node: first node with room") {
    const auto ran = run_with("count", "fit-node");
    CHECK(intervals(ran) == Intervals{{0, 10}, {0, 10}, {1, 6}});
    CHECK(ran[2].gpus == std::vector{4, 5, 6, 7});
  }
}

TEST_CASE("T9: a job takes all of its GPUs or none", "[textbook]") {
  const auto ran = run_on_pool(4, "fifo", {{3, 5, 0}, {3, 5, 0}});
  CHECK(intervals(ran) == Intervals{{0, 5}, {5, 10}});
  CHECK(ran[1].gpus.size() == 3);
  CHECK(ran[1].waits == std::map<std::string, std::int64_t>{{"capacity", 5}});
}

}  // namespace
}  // namespace trainyard
