#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workload/importers/kineto_events.hpp"

namespace trainyard::workload {

/// A GPU event with its place on its stream and the call that launched it.
struct GpuOp {
  int event = 0;    ///< index into KinetoFile::gpu
  int lane = 0;     ///< index into Links::lanes
  int launch = -1;  ///< index into KinetoFile::calls, -1 without a launch record
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t launched = 0;  ///< start of the launch call, or its own start
  bool waits = false;         ///< a stream-wait call stands before its launch
};

/// A stream of one GPU.
struct Lane {
  int device = 0;
  std::int64_t stream = 0;
  std::vector<int> by_launch{};  ///< indices into Links::ops, in the order of their launches
};

/// A stream-wait whose two streams are recorded (`cuda_sync`).
struct KnownWait {
  int lane = 0;               ///< the lane that waits
  int source = 0;             ///< the lane waited for
  std::int64_t time = 0;      ///< of the wait call
  std::int64_t recorded = 0;  ///< of the event-record call
};

/// Who launched what, in which order. Times as in the file.
struct Links {
  std::vector<GpuOp> ops{};  ///< by start, then lane; ties broken by end, correlation and name
  std::vector<Lane> lanes{};
  std::vector<std::vector<int>> launches{};  ///< per call: the ops it launched
  std::vector<int> range_of{};               ///< per op: innermost communication range, or -1
  std::vector<int> outer_range_of{};         ///< per op: outermost one, or -1
  std::vector<KnownWait> known_waits{};      ///< by lane, then time
  std::vector<std::int64_t> waits{};         ///< starts of the other stream-wait calls, sorted
  std::vector<int> sync_of{};                ///< per call: its record in KinetoFile::syncs, or -1
  std::vector<int> recorder_of{};            ///< per sync record: its event-record call, or -1
  std::vector<char> communicates{};          ///< per name: it is a communication kernel
  std::int64_t without_launch = 0;

  /// The last op of `lane` that was launched before `launched_before` and ended by `ended_by`,
  /// among those for which `emitted` is not negative; -1 if there is none.
  [[nodiscard]] int latest_ended(int lane, std::int64_t launched_before, std::int64_t ended_by,
                                 const std::vector<int>& emitted) const;
  /// The last op of `lane` that was launched before, ended or not; -1 if there is none.
  [[nodiscard]] int last_launched(int lane, std::int64_t launched_before) const;
  [[nodiscard]] int find_lane(int device, std::int64_t stream) const;  ///< -1 if there is none
};

/// Joins GPU events and calls by correlation and decides which launches stream-wait calls affect:
/// the records of a wait call do not say which streams it joins, so
///   * with a `cuda_sync` record: the next op launched onto its stream;
///   * inside a communication range, after the launch in it: none (the library's bookkeeping);
///   * else: the next launch after it, of whichever thread.
[[nodiscard]] Links link(const KinetoFile& file);

}  // namespace trainyard::workload
