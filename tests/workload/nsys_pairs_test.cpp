// Communication kernels of several processes without a word on communicators.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "nsys_builder.hpp"

using namespace trainyard;
using test::NsysBuilder;
using workload::Workload;

namespace {

struct Call {
  std::int64_t rank = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::string op = "AllReduce_Sum_f32_RING_LL";
  int stream = 20;
};

/// One process a rank; rank 0 is pid 100. Every rank also has a kernel of its own.
Workload import(const std::vector<Call>& calls, std::int64_t ranks) {
  NsysBuilder builder;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    builder.kernel({.start = 0, .end = 10, .pid = 100 + rank});
  }
  for (const Call& call : calls) {
    builder.kernel(
        {.start = call.start, .end = call.end, .stream = call.stream, .pid = 100 + call.rank},
        "ncclDevKernel_" + call.op + "(ncclDevKernelArgsStorage<4096>)");
  }
  return builder.import();
}

/// Number of collectives by the ranks of their group.
std::map<std::vector<int>, int> groups(const Workload& workload) {
  std::map<std::vector<int>, int> counts;
  for (const auto& collective : workload.collectives) {
    ++counts[workload.groups.at(static_cast<std::size_t>(collective.group)).ranks];
  }
  return counts;
}

using Groups = std::map<std::vector<int>, int>;

}  // namespace

TEST_CASE("pairs: equal streams of calls are collectives of all") {
  // The ends are a millisecond apart: the order alone counts.
  const Workload workload = import({{0, 100, 1'000'000},
                                    {1, 200, 2'000'000},
                                    {0, 3'000'000, 4'000'000},
                                    {1, 3'000'000, 5'000'000}},
                                   2);
  CHECK(groups(workload) == Groups{{{0, 1}, 2}});
  CHECK(workload.groups.at(0).name == "stream 0");
  CHECK(workload.skipped.size() == 1);  // operations without a launch record
}

TEST_CASE("pairs: a window that cuts a collective on one rank leaves it alone") {
  const Workload workload =
      import({{0, 100, 1'000}, {0, 300'000, 400'000}, {1, 350'000, 400'900}}, 2);
  CHECK(groups(workload) == Groups{{{0}, 1}, {{0, 1}, 1}});
  // The one that is shared is the later one of rank 0.
  const auto& ops = workload.timelines[0].ops;
  for (const auto& op : ops) {
    if (op.collective >= 0) {
      const auto& call = workload.collectives.at(static_cast<std::size_t>(op.collective));
      const auto size = workload.groups.at(static_cast<std::size_t>(call.group)).ranks.size();
      CHECK(size == (op.recorded.count() == 900 ? 1U : 2U));
    }
  }
  REQUIRE_FALSE(workload.skipped.empty());
  CHECK(std::any_of(workload.skipped.begin(), workload.skipped.end(), [](const auto& skipped) {
    return skipped.count == 1 && skipped.reason.starts_with("communication kernels without a");
  }));
}

TEST_CASE("pairs: ends tell communicators apart") {
  // Ranks 0 and 1 reduce, then 2 and 3 gather, then all four reduce: 2 + 2 + 4 kernels.
  const Workload workload = import({{0, 0, 1'000'000},
                                    {1, 0, 1'002'000},
                                    {2, 0, 2'000'000, "AllGather_RING_LL"},
                                    {3, 0, 2'003'000, "AllGather_RING_LL"},
                                    {0, 2'500'000, 4'000'000},
                                    {1, 2'400'000, 4'001'000},
                                    {2, 2'300'000, 4'002'000},
                                    {3, 2'200'000, 4'003'000}},
                                   4);
  CHECK(groups(workload) == Groups{{{0, 1}, 1}, {{2, 3}, 1}, {{0, 1, 2, 3}, 1}});
}

TEST_CASE("pairs: another operation is no partner, neither is one that ends much later") {
  const Workload operations = import({{0, 0, 1'000}, {1, 0, 1'000, "AllGather_RING_LL"}}, 2);
  CHECK(groups(operations) == Groups{{{0}, 1}, {{1}, 1}});
  const Workload late = import({{0, 0, 1'000}, {1, 0, 101'001}, {1, 200'000, 300'000}}, 2);
  CHECK(groups(late) == Groups{{{0}, 1}, {{1}, 2}});
  const Workload in_time = import({{0, 0, 1'000}, {1, 0, 101'000}, {1, 200'000, 300'000}}, 2);
  CHECK(groups(in_time) == Groups{{{0, 1}, 1}, {{1}, 1}});
}

TEST_CASE("pairs: calls that cross on two streams are not of one group") {
  // By their ends 0-1, then 0-1 again; but rank 1 starts them the other way round.
  const Workload workload = import({{0, 100, 1'000'000, "AllReduce_Sum_f32_RING_LL", 20},
                                    {0, 200, 2'000'000, "AllReduce_Sum_f32_RING_LL", 21},
                                    {1, 300, 1'000'000, "AllReduce_Sum_f32_RING_LL", 20},
                                    {1, 200, 2'000'000, "AllReduce_Sum_f32_RING_LL", 21},
                                    {1, 3'000'000, 3'000'500}},
                                   2);
  CHECK(groups(workload) == Groups{{{0, 1}, 1}, {{0}, 1}, {{1}, 2}});
}
