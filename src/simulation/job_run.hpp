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
  /// All have arrived at a collective; it starts at `start`, now or later.
  virtual void collective_started(int job, int collective, std::int64_t start) = 0;
  /// One of its collectives ends now.
  virtual void collective_ended(int job) = 0;
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
  /// Takes everything in flight out of the network. The job's state is that of the end of its last
  /// whole step, so it can go on anywhere later. Precondition: a step is done.
  void sleep();
  /// Goes on now, `asleep` ns after the last whole step was done (at last_done()), as if every step
  /// since had taken `pace` ns and had run like the last: collectives that would have ended have
  /// ended, those that would be under way have what is left to move.
  void wake(std::int64_t asleep, double pace);

  /// Now, when the last whole step was done.
  [[nodiscard]] std::int64_t last_done() const { return last_done_; }
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
    int open = 0;           ///< collectives of the step that have not ended
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
    std::int64_t start = 0;       ///< of the call in flight, or the last one
    std::int64_t end = 0;         ///< of the last one
    std::int64_t start_step = 0;  ///< the step that `start` belongs to
    std::int64_t end_step = 0;
  };
  struct Boundary {
    int finished = 0;
    std::int64_t time = 0;
    std::vector<std::vector<std::int64_t>> carry{};  ///< by class, at the start of the next step
  };

  void begin_step(int index);
  void arrive(int index, int position);
  void finish_step(int index);
  void start_collective(int collective, std::int64_t step);
  void complete(std::size_t collective, std::int64_t end);
  void finish_idle_classes();
  void report(Boundary boundary);
  [[nodiscard]] std::int64_t expected(std::int64_t last, std::int64_t steps) const;

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
  std::int64_t last_done_ = 0;
  std::vector<std::vector<std::int64_t>> carry_{};  ///< by class, when the last whole step was done
  bool catching_up_ = false;
  double pace_ = 0.0;
  std::vector<std::size_t> past_{};  ///< collectives that ended while the job slept
  std::int64_t watched_ = 0;
  bool has_collectives_ = false;
  double communicating_ = 0.0;
};

/// Steps of a job without collectives, computed at once: each rank's program repeated until it
/// grows evenly, then multiplied. Returns the end for `steps` steps from `start`.
[[nodiscard]] std::int64_t solo_end(const Program& program, int gpus, std::int64_t start,
                                    std::int64_t steps);

}  // namespace trainyard::simulation
