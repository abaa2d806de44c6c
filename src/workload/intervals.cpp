#include "workload/intervals.hpp"

#include <algorithm>

namespace trainyard::workload {

Intervals united(Intervals intervals) {
  std::sort(intervals.begin(), intervals.end());
  Intervals result;
  for (const auto& [start, end] : intervals) {
    if (end <= start) {
      continue;
    }
    if (!result.empty() && start <= result.back().second) {
      result.back().second = std::max(result.back().second, end);
    } else {
      result.emplace_back(start, end);
    }
  }
  return result;
}

units::Nanoseconds length(const Intervals& disjoint) {
  units::Nanoseconds total{};
  for (const auto& [start, end] : disjoint) {
    total += end - start;
  }
  return total;
}

units::Nanoseconds common_length(const Intervals& a, const Intervals& b) {
  units::Nanoseconds total{};
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const units::Nanoseconds start = std::max(a[i].first, b[j].first);
    const units::Nanoseconds end = std::min(a[i].second, b[j].second);
    total += std::max(units::Nanoseconds{}, end - start);
    (a[i].second < b[j].second ? i : j) += 1;
  }
  return total;
}

}  // namespace trainyard::workload
