#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace trainyard::simulation {

/// Step boundaries of one job in a window of detailed steps: n + 1 times for n steps, ns.
using Boundaries = std::vector<std::int64_t>;

/// Mean step of a window, weighted with exp(-1 / (t (1 - t))), t from 0 to 1 over the window. Step
/// times of jobs that drift against each other are a quasi-periodic sequence; this weight makes its
/// mean converge faster than any power of the window's length, where the plain mean keeps an error
/// of one unfinished beat. A constant sequence gives the constant.
/// @param from, to  positions in `boundaries`, from < to
/// @source Das, Saiki, Sander, Yorke 2017, quantitative quasiperiodicity (Nonlinearity 30)
[[nodiscard]] double smooth_mean(const Boundaries& boundaries, std::size_t from, std::size_t to);

struct Estimate {
  double mean = 0.0;   ///< ns a step
  double error = 0.0;  ///< ns a step, 95 % half-width
};

/// Mean of the whole window and how far its halves are from it.
[[nodiscard]] Estimate estimate(const Boundaries& boundaries);

/// A pattern that repeats exactly: `steps[i]` steps of job i take `time` ns.
struct Recurrence {
  std::int64_t time = 0;
  std::vector<std::int64_t> steps{};
};

/// Looks for one at the end of a joint window: the phases of all jobs against the first one's last
/// boundaries come back (to within `tolerance` ns) after some number of its steps, twice in a row.
/// @param jobs  boundaries of each job, the first job's steps are the clock
/// @param now   boundaries later than this are not all known yet and left aside
[[nodiscard]] std::optional<Recurrence> find_recurrence(const std::vector<const Boundaries*>& jobs,
                                                        std::int64_t now, std::int64_t tolerance);

/// How two jobs' steps slide against each other in a window.
struct Drift {
  double cycles = 0.0;    ///< of the slide seen in the window, at the nearest resonance
  double per_step = 0.0;  ///< cycles a step of the first job
};

/// Nearest resonance p:q with q <= 4: the phases that q steps of the first job visit must all be
/// covered, so slow slides past 1:2 count as slow too.
[[nodiscard]] Drift drift(const Boundaries& first, const Boundaries& second);

}  // namespace trainyard::simulation
