#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "engine/network.hpp"
#include "simulation/program.hpp"
#include "simulation/traffic.hpp"

namespace trainyard::simulation {

/// Hears what a running job does. Calls come from inside network call-backs.
class JobListener {
 public:
  virtual ~JobListener() = default;
  /// Every rank has finished this step (0-based); its last work ends at `boundary`, which can lie a
  /// little ahead of now: what follows a step's last collective is known at once.
  virtual void step_done(int job, std::int64_t step, std::int64_t boundary) = 0;
  /// All ranks hold before the same step, as asked by halt().
  virtual void at_rest(int job) = 0;
  /// All steps are done; the last work ends at `end` >= now.
  virtual void run_ended(int job, std::int64_t end) = 0;
  /// A collective of one recorded rank: from its arrival to its end. Only for watched steps.
  virtual void collective_done(int job, int rank, int collective, std::int64_t arrival,
                               std::int64_t end) = 0;
};

/// A job's ranks as state machines over their programs. Ranks with one program and one role are one
/// class: what happens to one happens to all. No actor, no event a kernel: the only events are the
/// ends of collectives.
class JobRun final : public engine::Handler {
 public:
  JobRun(int job, const Program& program, int gpus, Traffic& traffic, engine::Network& network,
         JobListener& listener);

  /// Starts at `start` (>= now). `skewed`: each rank by its recorded offset later.
  void begin(std::int64_t start, std::int64_t steps, bool skewed);
  /// Finish the steps begun and hold. Precondition: running, no halt pending.
  void halt();
  /// From rest: `steps` are skipped, everything moves `shift` ns later. Call at the instant of the
  /// rest + shift, not later, so that no arrival lies in the past.
  void resume(std::int64_t steps, std::int64_t shift);

  [[nodiscard]] std::int64_t steps_done() const { return steps_done_; }
  [[nodiscard]] std::int64_t total_steps() const { return total_steps_; }
  [[nodiscard]] bool has_collectives() const { return has_collectives_; }
  /// Ranks that share this job's program `i`.
  [[nodiscard]] int ranks_of(int i) const;
  [[nodiscard]] int classes() const { return static_cast<int>(classes_.size()); }
  /// ns that each rank class spent from arrival to end of collectives, weighted with the share that
  /// no compute covers, summed over ranks and the steps simulated in detail.
  [[nodiscard]] double communicating() const { return communicating_; }
  /// Steps whose collectives are reported to the listener, from the first.
  void watch(std::int64_t steps) { watched_ = steps; }
  /// When each stream of class `i` was last busy, ns.
  [[nodiscard]] const std::vector<std::int64_t>& carry(int i) const {
    return classes_[static_cast<std::size_t>(i)].carry;
  }
  /// Ends of the collectives of class `i` in its current (or, at the end, last) step.
  [[nodiscard]] const std::vector<std::int64_t>& collective_ends(int i) const {
    return classes_[static_cast<std::size_t>(i)].ends;
  }

  void fire(std::uint64_t token) override;

 private:
  struct RankClass {
    const RankProgram* program = nullptr;
    int ranks = 0;
    std::int64_t step = 0;  ///< in progress
    bool holding = false;
    int open = 0;  ///< collectives of the step that have not ended
    std::vector<std::int64_t> carry{};
    std::vector<std::int64_t> arrivals{};
    std::vector<std::int64_t> ends{};
    std::vector<int> missing{};
  };
  /// One collective that ranks have arrived at.
  struct Meeting {
    std::vector<std::pair<int, int>> members{};  ///< class, position in its program
    int arrived = 0;
    std::int64_t latest = 0;
  };
  struct Boundary {
    int finished = 0;
    std::int64_t time = 0;
  };

  void begin_step(int index);
  void arrive(int index, int position);
  void finish_step(int index);
  void finish_idle_classes();
  void report(const Boundary& boundary);
  void check_rest();

  int job_;
  Traffic& traffic_;
  engine::Network& network_;
  JobListener& listener_;
  const Program& program_;
  std::vector<RankClass> classes_{};
  std::vector<Meeting> meetings_{};    ///< by workload collective
  std::deque<Boundary> boundaries_{};  ///< of steps that some class has finished and not all
  std::int64_t steps_done_ = 0;
  std::int64_t total_steps_ = 0;
  std::int64_t halt_at_ = -1;
  std::int64_t watched_ = 0;
  bool has_collectives_ = false;
  double communicating_ = 0.0;
};

/// Steps of a job without collectives, computed at once: each rank's program repeated until it
/// grows evenly, then multiplied. Returns the end for `steps` steps from `start`.
[[nodiscard]] std::int64_t solo_end(const Program& program, int gpus, std::int64_t start,
                                    std::int64_t steps);

}  // namespace trainyard::simulation
