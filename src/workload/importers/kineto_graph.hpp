#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "workload/importers/kineto_events.hpp"
#include "workload/step.hpp"

namespace trainyard::workload {

/// Names without repetition, numbered in the order of their first use.
class NameTable {
 public:
  [[nodiscard]] int number(const std::string& name);
  [[nodiscard]] std::vector<std::string> take() { return std::move(names_); }

 private:
  std::vector<std::string> names_{};
  std::unordered_map<std::string, int> numbers_{};
};

/// A communication kernel of the step graph and what the profile says of it.
struct CommunicationCall {
  int op = 0;    ///< index into Timeline::ops
  int lane = 0;  ///< GPU stream, by device and stream number
  std::string_view kernel{};
  CommunicationInfo info{};
};

struct RankGraph {
  Timeline timeline{};     ///< start: 0 (see `start`); Op::collective: -1 still
  std::int64_t start = 0;  ///< of the window, ns since the epoch (or the profiler's own zero)
  std::vector<CommunicationCall> communication{};  ///< in the order of their starts
  std::int64_t without_launch = 0;                 ///< GPU ops without a launch record
};

/// The step graph of one profile. Replayed with recorded durations of communication kernels it
/// gives every GPU start and end exactly as recorded. Rules:
///
/// Host. One stream a thread. An instant is the start of a call that launches or blocks, the return
/// of a blocking call, or a step marker. A `host` op ends at each instant but the return and lasts
/// since the thread's previous instant (or the window's start). If another thread had an instant
/// since then, the latest such one is a dependency and the op lasts since that: a thread that was
/// idle (autograd, or the main thread meanwhile) was waiting for the other.
///
/// Blocking. Return of a synchronising call, or of a copy call whose own copy ended inside it: a
/// `wait` op that depends on GPU ops that ended by then and lasts from the last of their ends.
///   * copy: its copy.
///   * stream synchronisation: the stream of its `cuda_sync` record; without one the copy that the
///     thread launched last if that is its last launch; else the last op launched before the call
///     on each stream, of these the one that ended last by the return.
///   * event synchronisation: of the ops launched before it, the one that ended last by the return.
///   * device synchronisation: on every stream, the op launched before that ended last by then.
///   * memory release: as a stream synchronisation, only if the op ended inside the call.
///
/// GPU. Predecessors: the op before on the stream; the launch, if it is not later than the start;
/// ops of other streams where a stream-wait call concerns this launch (`Links`), where it is a
/// communication kernel, or where the op before a start ended at most 20 us earlier, after both
/// other predecessors, with an unexplained wait call since the last op of the stream. Of each other
/// stream it is the last op launched before that ended by the start, unless the stream has waited
/// for it already. The predecessor that ended last gets the slack as gap or lag, the others 0 (of
/// several the op before on the stream; the window's start is one only if there is no other); an
/// op that starts before the one before it ends has a negative gap.
[[nodiscard]] RankGraph build_graph(const KinetoFile& file, NameTable& names);

}  // namespace trainyard::workload
