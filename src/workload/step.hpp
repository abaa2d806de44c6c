#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "units/nanoseconds.hpp"
#include "units/quantity.hpp"

namespace trainyard::workload {

/// What an operation does. `host` is work of the thread that launches: a launch-bound step stays
/// launch bound on a faster GPU. `wait` is a host thread that blocks until its dependencies end.
enum class OpKind { compute, copy, fill, collective, host, wait };

/// How a kernel's time scales with the GPU; by name of the kernel.
enum class Category { gemm, conv, attention, memory_bound, other };

enum class CopyKind { h2d, d2h, d2d, p2p, unknown };

enum class CollectiveOp {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  all_to_all,
  send_recv,
  gather,
  scatter,
  barrier
};

/// An edge of the step graph: the operation may start `lag` after operation `op` has ended.
struct Dependency {
  int op = 0;  ///< index into Timeline::ops, smaller than the own index
  units::Nanoseconds lag{};
};

/// One operation of one rank. It starts at
///     max( end of the previous op of its stream + gap, end of every dependency + its lag )
/// and ends `duration` later; a collective ends when the simulation says so. The first op of a
/// stream counts from the start of the timeline (or, when steps repeat, from the end of the
/// stream's last op in the step before). `gap` may be negative: kernels of one stream can overlap
/// (programmatic dependent launch, graph replays).
struct Op {
  OpKind kind = OpKind::compute;
  int stream = 0;  ///< index into Timeline::streams
  int step = -1;   ///< index into Timeline::steps, -1 outside every marked step
  units::Nanoseconds gap{};
  units::Nanoseconds duration{};  ///< compute, copy, fill, host: as measured. collective: 0
  std::vector<Dependency> after{};
  Category category = Category::other;  ///< compute
  CopyKind copy = CopyKind::unknown;    ///< copy
  std::optional<units::Bytes> bytes{};  ///< copy, fill
  int collective = -1;                  ///< collective: index into Workload::collectives
  units::Nanoseconds
      recorded{};  ///< collective: as recorded, waiting included (never its transfer time)
  int name = -1;   ///< index into Workload::names
};

struct Stream {
  std::string name{};  ///< "gpu:7", "host:0"
  bool host = false;
};

/// Name of a compute op that stands for a whole CUDA graph: the profile does not list its kernels,
/// so statistics count its time as busy, but no kernels. No kernel can be called that.
inline constexpr const char* kGraphRun = "[CUDA graph]";

/// A marked step of the recording: from the end of `begin` to the end of `end` (ops of kind host
/// with duration 0 on the stream that marked the step, or -1: the timeline's start / end).
struct StepMark {
  std::string name{};
  int begin = -1;
  int end = -1;
};

/// What one rank did in the recorded window, in topological order (dependencies point backwards).
struct Timeline {
  int rank = 0;                ///< rank it was recorded on
  units::Nanoseconds start{};  ///< window start on the clock the ranks share, 0 = earliest rank
  std::vector<Stream> streams{};
  std::vector<StepMark> steps{};  ///< may be empty (no markers): the whole window is one step
  std::vector<Op> ops{};
};

/// One collective call of the step, the same for every rank that takes part.
struct Collective {
  CollectiveOp op = CollectiveOp::all_reduce;
  /// Per rank. all_reduce, broadcast, reduce: the buffer. all_gather: the whole output.
  /// reduce_scatter: the whole input. all_to_all, gather, scatter: what one rank holds (sum over
  /// peers). send_recv: the message. nullopt: the profile does not say (workload check warns; it
  /// then costs latency only).
  std::optional<units::Bytes> bytes{};
  int group = 0;     ///< index into Workload::groups
  int sequence = 0;  ///< order inside its group
  int step = -1;     ///< as Op::step
};

/// A communicator as recorded: global ranks in order. Ranks without a Timeline are absent: their
/// part is filled by the class of a present rank.
struct Group {
  std::string name{};
  std::vector<int> ranks{};
};

/// What was left out at import and why: a result that is shown, not a log line.
struct Skipped {
  std::string reason{};
  std::int64_t count = 0;
};

/// One training step (or a recorded window of steps) of one job, measured by a profiler.
struct Workload {
  std::string name{};
  std::string gpu{};  ///< catalogue name of the GPU it was measured on, or as the profile spells
                      ///< it; "" unknown
  std::string framework{};  ///< profiler and format, e.g. "kineto"
  std::string source{};     ///< where the profile is from
  std::string licence{};
  int world_size = 1;                            ///< ranks of the recorded job; >= timelines.size()
  std::optional<double> samples_per_step{};      ///< over all ranks
  std::optional<units::Bytes> memory_per_gpu{};  ///< unknown is unknown, never 0
  std::optional<units::Bytes> checkpoint_size{};
  std::optional<units::Bytes> dataset_bytes_per_sample{};
  std::vector<std::string> names{};  ///< kernel names, shared by all timelines
  std::vector<Group> groups{};
  std::vector<Collective> collectives{};
  std::vector<Timeline> timelines{};  ///< one a present rank, by rank
  std::vector<Skipped> skipped{};
};

[[nodiscard]] const char* to_text(OpKind kind);
[[nodiscard]] const char* to_text(Category category);
[[nodiscard]] const char* to_text(CopyKind kind);
[[nodiscard]] const char* to_text(CollectiveOp op);
[[nodiscard]] std::optional<CollectiveOp> parse_collective_op(std::string_view text);

/// Index of the step that stands for all: the one of median duration as recorded (lower median of
/// the slowest rank), -1 when no step is marked (then the whole window is the step).
[[nodiscard]] int representative_step(const Workload& workload);

/// The workload cut to one marked step: ops launched in it, dependencies on earlier steps left out
/// (what remains of them is the gap of the stream's first op), collectives renumbered.
/// step -1: a copy. Precondition: every timeline has that step.
[[nodiscard]] Workload only_step(const Workload& workload, int step);

}  // namespace trainyard::workload
