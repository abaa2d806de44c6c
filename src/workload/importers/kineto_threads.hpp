#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workload/importers/kineto_links.hpp"

namespace trainyard::workload {

/// An instant of a host thread that the step graph keeps.
struct Instant {
  enum class Kind { returned, step_end, step_begin, call, returned_at_once };
  std::int64_t time = 0;  ///< ns since the window's start
  int thread = 0;         ///< index into Threads::count, by first instant
  Kind kind = Kind::call;
  int call = -1;  ///< index into KinetoFile::calls
  int step = -1;  ///< index into Threads::steps
};

/// The host side of the recording. Times in ns since the window's start.
struct Threads {
  std::int64_t window_start = 0;  ///< on the file's clock
  int count = 0;
  std::vector<StepRange> steps{};   ///< by start; `thread` as in Instant
  std::vector<Instant> instants{};  ///< by time, then thread; each thread in its own order
  /// Index of the step that covers `time` (begin included, end not), -1 if none does.
  [[nodiscard]] int step_at(std::int64_t time) const;
};

[[nodiscard]] bool blocks(CallKind kind);

[[nodiscard]] Threads find_instants(const KinetoFile& file, const Links& links);

}  // namespace trainyard::workload
