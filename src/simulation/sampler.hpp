#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "engine/network.hpp"
#include "simulation/job_run.hpp"
#include "simulation/scenario.hpp"
#include "simulation/traffic.hpp"
#include "simulation/window.hpp"

namespace trainyard::simulation {

/// What sampling knows of a job when it has ended (or was cut off).
struct Sampled {
  std::int64_t steps = 0;           ///< done
  std::int64_t detailed_steps = 0;  ///< of them simulated one by one
  double error = 0.0;               ///< ns of the run time, 95 % half-width
  bool shared = false;              ///< it has had neighbours on contended links
  double communicating = 0.0;       ///< GPU-ns over all steps
};

/// Runs jobs step by step only as long as that teaches something.
///
/// Running jobs that share contended links form a component. When a job starts or ends, its
/// component runs a joint window of detailed steps. If the joint pattern recurs exactly, the rest
/// is a multiple of it. Jobs that slide against each other fast are averaged over whole beats; jobs
/// that slide slowly are followed: short windows, then a sleep of a small part of a beat at the
/// rate just measured. All members sleep to their predicted end, phases kept, until the component
/// changes or the next window.
class Sampler final : public JobListener, public engine::Handler {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    /// Called at the instant at which the job ends; it no longer uses the network.
    virtual void job_ended(int job) = 0;
    virtual void watched_collective(int job, int rank, int collective, std::int64_t arrival,
                                    std::int64_t end) = 0;
    virtual void watched_step(int job, std::int64_t step, std::int64_t boundary) = 0;
  };

  Sampler(Traffic& traffic, engine::Network& network, Detail detail, Owner& owner);
  ~Sampler() override;

  /// Starts a job now. `watch`: steps whose spans the owner hears of.
  void start(int job, const Program& program, int gpus, std::vector<PlannedCollective> collectives,
             std::int64_t steps, std::int64_t watch);
  /// Of a job that has ended, or still runs when the simulation is cut off.
  [[nodiscard]] Sampled result(int job, std::int64_t now) const;
  /// What a started job puts on links, ended or not.
  [[nodiscard]] const std::vector<LinkLoad>& loads(int job) const;

  void step_done(int job, std::int64_t step, std::int64_t boundary) override;
  void collective_started(int job, int collective, std::int64_t start) override;
  void collective_ended(int job) override;
  void run_ended(int job, std::int64_t end) override;
  void collective_done(int job, int rank, int collective, std::int64_t arrival,
                       std::int64_t end) override;
  void fire(std::uint64_t token) override;

 private:
  enum class Mode { detail, asleep, ending };
  struct Component;
  struct Member {
    std::unique_ptr<JobRun> run{};
    std::shared_ptr<Component> component{};
    Mode mode = Mode::detail;
    bool networked = true;
    bool shared = false;  ///< it has had neighbours
    std::int64_t total_steps = 0;
    std::int64_t solo_since = 0;          ///< start of a job without collectives
    std::vector<std::int64_t> latency{};  ///< ns, by collective: until its bytes begin to move
    Boundaries boundaries{};
    std::int64_t formed_boundary = 0;  ///< first boundary since the component formed, ns
    std::int64_t formed_steps = -1;    ///< steps done then; -1: none yet
    double mean = 0.0;                 ///< ns a step while asleep
    double mean_error = 0.0;
    std::int64_t last_boundary = 0;
    std::int64_t skipped = 0;  ///< steps slept over
    double error = 0.0;
    engine::TimerId timer = 0;  ///< its end: certain, or what the sleep predicts
  };
  struct Component {
    std::vector<int> jobs{};  ///< ascending; the first one's steps are the clock
    std::vector<WindowEvent> events{};
    bool asleep = false;
    bool waking = false;     ///< not all members are awake yet
    std::size_t target = 0;  ///< steps before the next look
    int windows = 0;
    double followed = 0.0;      ///< cycles of slide since the component formed, sleeps included
    engine::TimerId alarm = 0;  ///< when the next window is due
  };

  [[nodiscard]] static Sampled progress(const Member& member, std::int64_t now);
  void regroup(const std::vector<int>& touched);
  [[nodiscard]] std::vector<int> connected(int job) const;
  void open_window(const std::shared_ptr<Component>& component);
  void forget(Component& component);
  void sleep(Component& component, double limit);
  void wake(Component& component);
  [[nodiscard]] bool is_measuring(const Component& component) const;
  [[nodiscard]] std::size_t window_length(const Component& component) const;
  void look(Component& component, int job);
  bool settle_exactly(Component& component);
  bool settle_until_meeting(Component& component);
  [[nodiscard]] bool is_cheap(const Component& component) const;
  [[nodiscard]] bool worth_sleeping(const Component& component, std::size_t length) const;
  void note(int job, WindowEvent::Kind kind, std::int64_t time);
  void settle_by_estimate(Component& component);
  static void set_mean(Member& member, double mean, double error);
  [[nodiscard]] double longest_step(const Component& component) const;
  bool estimate_means(Component& component);
  void follow(Component& component, const Drift& slide);
  [[nodiscard]] Drift slowest_drift(const Component& component) const;
  void end_at(int job, std::int64_t time);

  Traffic& traffic_;
  engine::Network& network_;
  Detail detail_;
  Owner& owner_;
  std::map<int, Member> members_{};   ///< running jobs
  std::map<int, Sampled> results_{};  ///< ended jobs
  std::map<int, std::vector<LinkLoad>> loads_{};
};

}  // namespace trainyard::simulation
