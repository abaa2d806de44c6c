#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "units/nanoseconds.hpp"
#include "workload/step.hpp"

namespace trainyard::simulation {

/// One term of a max-plus sum: the value of `source` plus `weight` nanoseconds.
struct Term {
  int source = 0;
  std::int64_t weight = 0;
};
using Terms = std::vector<Term>;

/// One rank's step with all compute between communication points fused: a max-plus linear system.
///
/// Sources 0 .. streams-1 are the times at which each stream was last busy before the step (all
/// equal to the start in the first one); sources streams .. streams+collectives-1 are the ends of
/// the step's collectives in order of arrival. Every value is max over its terms of (source +
/// weight): exact, for any start and end times, because each operation starts at a maximum of sums.
struct RankProgram {
  int rank = 0;             ///< that the timeline was recorded on
  std::int64_t offset = 0;  ///< ns, window start on the ranks' common clock
  int streams = 0;
  std::vector<int> collectives{};        ///< workload index of each, in order of arrival
  std::vector<std::int64_t> recorded{};  ///< ns, as recorded, waiting included
  std::vector<Terms> arrival{};          ///< a row a collective
  std::vector<Terms> finish{};           ///< a row a stream: when it is done with the step
  Terms gpu_end{};                       ///< last end of GPU work
  Terms gpu_start{};           ///< first start of GPU work (a minimum in truth; see below)
  std::vector<Terms> marks{};  ///< begin and end of every marked step, in turn
  /// For each collective, the later ones of this step whose arrival (or finish) waits for it.
  std::vector<std::vector<int>> dependents{};
  std::vector<int> missing{};  ///< a count of collective sources a row of `arrival`
  // As recorded, a step: what the GPU does in it.
  std::int64_t compute_busy = 0;  ///< ns with a kernel, copy or fill running, collectives left out
  double exposed_share = 1.0;     ///< of the communication time: not covered by compute
};

/// A job's step: a program a recorded rank. Ranks r of a job use program r mod programs.size().
struct Program {
  std::vector<RankProgram> ranks{};
  std::vector<std::int64_t> absent_wait{};  ///< ns, by workload collective: for ranks not recorded
};

/// Fuses a workload (already cut to what repeats, see workload::only_step).
[[nodiscard]] Program compile(const workload::Workload& workload);

/// Value of a sum. `streams` and `collectives` hold ns; an empty sum is `otherwise`.
[[nodiscard]] std::int64_t evaluate(const Terms& terms, const std::vector<std::int64_t>& streams,
                                    const std::vector<std::int64_t>& collectives,
                                    std::int64_t otherwise);

}  // namespace trainyard::simulation
