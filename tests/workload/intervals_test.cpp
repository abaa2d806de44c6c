#include "workload/intervals.hpp"

#include <catch2/catch.hpp>

using namespace trainyard;
using workload::Intervals;

namespace {

units::Nanoseconds ns(std::int64_t count) {
  return units::Nanoseconds{count};
}

Intervals make(std::initializer_list<std::pair<int, int>> pairs) {
  Intervals result;
  for (const auto& [start, end] : pairs) {
    result.emplace_back(ns(start), ns(end));
  }
  return result;
}

}  // namespace

TEST_CASE("overlapping and touching intervals become one", "[intervals]") {
  CHECK(workload::united(make({{5, 9}, {0, 3}, {3, 4}, {6, 7}})) == make({{0, 4}, {5, 9}}));
  CHECK(workload::united({}).empty());
}

TEST_CASE("empty intervals cover nothing", "[intervals]") {
  CHECK(workload::united(make({{3, 3}, {5, 4}})).empty());
}

TEST_CASE("lengths add up", "[intervals]") {
  CHECK(workload::length(make({{0, 4}, {5, 9}})) == ns(8));
  CHECK(workload::length({}) == ns(0));
}

TEST_CASE("the common length counts what both cover", "[intervals]") {
  // [0,10) and [20,30) against [5,25): 5 + 5
  CHECK(workload::common_length(make({{0, 10}, {20, 30}}), make({{5, 25}})) == ns(10));
  CHECK(workload::common_length(make({{0, 10}}), make({{10, 20}})) == ns(0));
  CHECK(workload::common_length(make({{0, 10}}), make({{1, 2}, {3, 5}, {9, 40}})) == ns(4));
  CHECK(workload::common_length({}, make({{1, 2}})) == ns(0));
}
