#pragma once

#include <cstdint>
#include <vector>

#include "workload/importers/kineto_links.hpp"
#include "workload/importers/kineto_threads.hpp"

namespace trainyard::workload {

/// Finds what a blocking call waited for, by the rules of `build_graph`. Keeps references: `links`
/// is shifted to the window's start by the time `find` is called.
class Blockers {
 public:
  Blockers(const KinetoFile& file, const Links& links, std::int64_t window_start)
      : file_{file}, links_{links}, window_start_{window_start} {}

  /// @param returned     the return of the call
  /// @param last_launch  the last call of its thread that launched, -1: none
  /// @param emitted      per op of `links`: not negative if it may be depended on
  /// @return indices into Links::ops; empty if the profile shows nothing to wait for
  [[nodiscard]] std::vector<int> find(const Instant& returned, int last_launch,
                                      const std::vector<int>& emitted) const;

 private:
  struct Query {
    std::int64_t called = 0;
    std::int64_t returned = 0;
    int last_launch = -1;
    const std::vector<int>& emitted;
  };
  [[nodiscard]] bool ended(int op, const Query& query) const;
  [[nodiscard]] std::vector<int> last_of_each_lane(const Query& query) const;
  [[nodiscard]] int recorded_blocker(std::size_t sync, const Query& query) const;
  [[nodiscard]] int stream_blocker(const Query& query) const;
  [[nodiscard]] int latest_of_any_lane(const Query& query, bool any_op) const;

  const KinetoFile& file_;
  const Links& links_;
  std::int64_t window_start_;
};

}  // namespace trainyard::workload
