#pragma once

#include <cstdint>
#include <map>
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

/// Something that happens in a joint window. A begin may lie ahead of the events that follow it.
struct WindowEvent {
  enum class Kind { begin, end, step };  ///< a transfer begins or ends; a step is done
  int job = 0;
  Kind kind = Kind::step;
  std::int64_t time = 0;  ///< ns
};

/// A pattern that repeats exactly: in `time` ns each job does so many steps.
struct Recurrence {
  std::int64_t time = 0;
  std::map<int, std::int64_t> steps{};
};

/// Looks for one at the end of a joint window whose last event is a step of `clock`: everything
/// since some earlier step of it happened just so (to within `tolerance` ns) once before. Two equal
/// periods mean equal flows in flight, so all that follows is equal too. Equal step lengths alone
/// do not: the transfers inside can slide for many steps before a step's length shows it.
[[nodiscard]] std::optional<Recurrence> find_recurrence(const std::vector<WindowEvent>& events,
                                                        int clock, std::int64_t tolerance);

/// Jobs whose steps all repeat exactly, each at its own pace, slide evenly: as long as no begin or
/// end of one passes one of the other, nothing changes. Time until the first passes, less two
/// steps; nullopt when a job's last steps differ or two jobs' paces are more than a tenth apart.
[[nodiscard]] std::optional<double> even_slide(const std::vector<WindowEvent>& events,
                                               const std::vector<int>& jobs,
                                               std::int64_t tolerance);

/// How two jobs' steps slide against each other in a window.
struct Drift {
  double cycles = 0.0;    ///< of the slide seen in the window, at the nearest resonance
  double per_step = 0.0;  ///< cycles a step of the first job
};

/// Nearest resonance p:q with q <= 4: the phases that q steps of the first job visit must all be
/// covered, so slow slides past 1:2 count as slow too.
[[nodiscard]] Drift drift(const Boundaries& first, const Boundaries& second);

}  // namespace trainyard::simulation
