#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "workload/replay.hpp"
#include "workload/step.hpp"

namespace trainyard::test {

/// Looks at the ops of an imported timeline by stream.
class TimelineView {
 public:
  explicit TimelineView(const workload::Timeline& timeline)
      : timeline_{timeline}, times_{workload::recorded_times(timeline)} {}

  /// Indices of the ops on a stream, in order.
  [[nodiscard]] std::vector<int> on(const std::string& stream) const {
    std::vector<int> found;
    for (std::size_t i = 0; i < timeline_.ops.size(); ++i) {
      const auto at = static_cast<std::size_t>(timeline_.ops[i].stream);
      if (timeline_.streams[at].name == stream) {
        found.push_back(static_cast<int>(i));
      }
    }
    return found;
  }

  [[nodiscard]] int at(const std::string& stream, std::size_t index) const {
    const std::vector<int> found = on(stream);
    REQUIRE(index < found.size());
    return found[index];
  }

  [[nodiscard]] const workload::Op& op(const std::string& stream, std::size_t index) const {
    return timeline_.ops[static_cast<std::size_t>(at(stream, index))];
  }

  /// Lag in us of the dependency of one op on another; -1 if there is none.
  [[nodiscard]] double lag(int from, int to) const {
    for (const auto& dependency : timeline_.ops[static_cast<std::size_t>(from)].after) {
      if (dependency.op == to) {
        return static_cast<double>(dependency.lag.count()) / 1e3;
      }
    }
    return -1.0;
  }

  [[nodiscard]] double start_us(int op) const {
    return static_cast<double>(times_.start[static_cast<std::size_t>(op)].count()) / 1e3;
  }
  [[nodiscard]] double end_us(int op) const {
    return static_cast<double>(times_.end[static_cast<std::size_t>(op)].count()) / 1e3;
  }

 private:
  const workload::Timeline& timeline_;
  workload::OpTimes times_;
};

}  // namespace trainyard::test
