#include "simulation/sampler.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <set>

namespace trainyard::simulation {
namespace {

constexpr std::size_t kFirstLook = 16;        ///< steps of every member
constexpr std::size_t kLongestWindow = 512;   ///< steps
constexpr double kGoodError = 0.0008;         ///< relative, of a mean step
constexpr double kWholeBeats = 2.0;           ///< cycles of slide over which a mean is taken
constexpr double kFollowedPart = 1.0 / 24.0;  ///< of a beat, slept over between two windows
constexpr double kFirstSleep = 16.0;          ///< windows' lengths slept over first, then doubling
constexpr std::int64_t kTolerance = 2;        ///< ns: flows end on whole nanoseconds

constexpr double kShortestStep = 1e-3;  ///< ns, so that steps of no length can be counted
constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max() / 2;
constexpr double kEver = std::numeric_limits<double>::infinity();

}  // namespace

Sampler::Sampler(Traffic& traffic, engine::Network& network, Detail detail, Owner& owner)
    : traffic_{traffic}, network_{network}, detail_{detail}, owner_{owner} {}

Sampler::~Sampler() = default;

void Sampler::start(int job, const Program& program, int gpus,
                    std::vector<PlannedCollective> collectives, std::int64_t steps,
                    std::int64_t watch) {
  Member& member = members_[job];
  member.run = std::make_unique<JobRun>(job, program, gpus, traffic_, network_, *this);
  const std::int64_t now = network_.now().count();
  member.rest_instant = now;
  if (steps == 0 || !member.run->has_collectives()) {
    const std::int64_t end = solo_end(program, gpus, now, steps);
    member.networked = false;
    member.mean =
        static_cast<double>(end - now) / static_cast<double>(std::max<std::int64_t>(steps, 1));
    member.total_steps = steps;
    end_at(job, end);
    return;
  }
  member.total_steps = steps;
  member.run->watch(watch);
  const std::vector<int> touched = traffic_.join(job, std::move(collectives));
  loads_[job] = traffic_.loads(job);
  member.run->begin(now, steps, false);
  regroup(touched);
}

void Sampler::end_at(int job, std::int64_t time) {
  Member& member = members_.at(job);
  member.mode = Mode::ending;
  member.timer =
      network_.after(units::Nanoseconds{std::max<std::int64_t>(time - network_.now().count(), 0)},
                     *this, static_cast<std::uint64_t>(job));
}

Sampled Sampler::result(int job, std::int64_t now) const {
  const auto ended = results_.find(job);
  return ended != results_.end() ? ended->second : progress(members_.at(job), now);
}

const std::vector<LinkLoad>& Sampler::loads(int job) const {
  static const std::vector<LinkLoad> none;
  const auto found = loads_.find(job);
  return found == loads_.end() ? none : found->second;
}

/// A job's steps at `now`: those simulated, those slept over, and those of the sleep it is in.
Sampled Sampler::progress(const Member& member, std::int64_t now) const {
  Sampled sampled;
  sampled.detailed_steps = member.run->steps_done() - member.skipped;
  sampled.steps = member.run->steps_done();
  sampled.error = member.error;
  if ((member.mode == Mode::asleep || !member.networked) && member.mean > 0.0) {
    const double asleep = static_cast<double>(now - member.rest_instant) / member.mean;
    sampled.steps = std::min(sampled.steps + static_cast<std::int64_t>(asleep), member.total_steps);
    sampled.error += member.mean_error * std::floor(asleep);
  }
  if (sampled.detailed_steps > 0) {
    sampled.communicating = member.run->communicating() * static_cast<double>(sampled.steps) /
                            static_cast<double>(sampled.detailed_steps);
  }
  return sampled;
}

void Sampler::fire(std::uint64_t token) {
  const int job = static_cast<int>(token);
  Member& member = members_.at(job);
  member.timer = 0;
  if (member.mode == Mode::asleep && !member.ends_asleep) {
    const double steps =
        static_cast<double>(network_.now().count() - member.rest_instant) / member.mean;
    resume(job, std::llround(steps));
    return;
  }
  Sampled& sampled = results_[job];
  sampled = progress(member, network_.now().count());
  if (sampled.steps > 0 && sampled.communicating > 0.0) {
    sampled.communicating *=
        static_cast<double>(member.total_steps) / static_cast<double>(sampled.steps);
  }
  sampled.steps = member.total_steps;
  const bool networked = member.networked;
  members_.erase(job);
  if (networked) {
    regroup(traffic_.leave(job));
  }
  owner_.job_ended(job);
}

// ---- Components -------------------------------------------------------------------------------

std::vector<int> Sampler::connected(int job) const {
  std::set<int> found{job};
  std::vector<int> open{job};
  while (!open.empty()) {
    const int next = open.back();
    open.pop_back();
    for (const int other : traffic_.neighbours(next)) {
      if (found.insert(other).second) {
        open.push_back(other);
      }
    }
  }
  return {found.begin(), found.end()};
}

void Sampler::regroup(const std::vector<int>& touched) {
  if (detail_ == Detail::full) {
    return;
  }
  std::set<int> done;
  for (const int job : touched) {
    if (done.count(job) != 0) {
      continue;
    }
    auto component = std::make_shared<Component>();
    component->jobs = connected(job);
    for (const int member : component->jobs) {
      done.insert(member);
      members_.at(member).component = component;
    }
    open_window(*component);
  }
}

void Sampler::open_window(Component& component) {
  component.phase = Phase::measuring;
  component.target = kFirstLook;
  component.windows = 0;
  component.followed = 0.0;
  const std::int64_t now = network_.now().count();
  for (const int job : component.jobs) {
    Member& member = members_.at(job);
    member.boundaries.clear();
    member.formed_steps = -1;
    if (member.mode == Mode::asleep) {
      wake(job, now);
    }
  }
}

/// Sets a sleeper's alarm to its first step boundary at or after `time`: its phase is kept.
void Sampler::wake(int job, std::int64_t time) {
  Member& member = members_.at(job);
  const double asleep = static_cast<double>(time - member.rest_instant);
  const auto steps = static_cast<std::int64_t>(
      std::ceil(std::max(asleep, 0.0) / std::max(member.mean, kShortestStep)));
  if (member.timer != 0) {
    network_.cancel_timer(member.timer);
    member.timer = 0;
  }
  const std::int64_t left = member.run->total_steps() - member.run->steps_done();
  if (steps >= left) {
    end_at(job, member.rest_boundary + std::llround(static_cast<double>(left) * member.mean));
    member.mode = Mode::asleep;
    member.ends_asleep = true;
    return;
  }
  member.ends_asleep = false;
  const std::int64_t instant =
      member.rest_instant + std::llround(static_cast<double>(steps) * member.mean);
  member.timer = network_.after(
      units::Nanoseconds{std::max<std::int64_t>(instant - network_.now().count(), 0)}, *this,
      static_cast<std::uint64_t>(job));
}

void Sampler::resume(int job, std::int64_t steps) {
  Member& member = members_.at(job);
  member.mode = Mode::detail;
  member.halting = false;
  member.skipped += steps;
  member.error += member.mean_error * static_cast<double>(steps);
  member.component->phase = Phase::measuring;
  member.component->target = kFirstLook;
  for (const int other : member.component->jobs) {
    members_.at(other).boundaries.clear();
  }
  member.run->resume(steps, network_.now().count() - member.rest_instant);
}

bool Sampler::all_awake(const Component& component) const {
  return std::all_of(component.jobs.begin(), component.jobs.end(), [&](int job) {
    const Member& member = members_.at(job);
    return member.mode == Mode::detail && !member.halting;
  });
}

// ---- Windows ----------------------------------------------------------------------------------

void Sampler::step_done(int job, std::int64_t step, std::int64_t boundary) {
  Member& member = members_.at(job);
  member.last_boundary = boundary;
  owner_.watched_step(job, step, boundary);
  if (detail_ == Detail::full) {
    return;
  }
  Component& component = *member.component;
  if (component.phase != Phase::measuring || !all_awake(component)) {
    return;
  }
  member.boundaries.push_back(boundary);
  if (member.formed_steps < 0) {
    member.formed_steps = step;
    member.formed_boundary = boundary;
  }
  look(component, job);
}

std::size_t Sampler::window_length(const Component& component) const {
  std::size_t shortest = std::numeric_limits<std::size_t>::max();
  for (const int job : component.jobs) {
    const std::size_t count = members_.at(job).boundaries.size();
    shortest = std::min(shortest, count > 0 ? count - 1 : 0);
  }
  return shortest;
}

void Sampler::look(Component& component, int job) {
  const std::size_t length = window_length(component);
  // The first member's steps are the clock of a recurrence.
  if (length < 3 || (job == component.jobs.front() && settle_exactly(component)) ||
      length < component.target) {
    return;
  }
  settle_by_estimate(component);
}

bool Sampler::settle_exactly(Component& component) {
  std::vector<const Boundaries*> all;
  for (const int job : component.jobs) {
    all.push_back(&members_.at(job).boundaries);
  }
  const auto recurrence = find_recurrence(all, network_.now().count(), kTolerance);
  if (!recurrence) {
    return false;
  }
  for (std::size_t i = 0; i < component.jobs.size(); ++i) {
    Member& member = members_.at(component.jobs[i]);
    member.mean = static_cast<double>(recurrence->time) / static_cast<double>(recurrence->steps[i]);
    member.mean_error = 0.0;
  }
  component.sleep_limit = kEver;
  begin_halt(component);
  return true;
}

Drift Sampler::slowest_drift(const Component& component) const {
  Drift slowest{kEver, 0.0};
  for (const int job : component.jobs) {
    for (const int other : traffic_.neighbours(job)) {
      if (other > job) {
        const Drift pair = drift(members_.at(job).boundaries, members_.at(other).boundaries);
        if (pair.cycles < slowest.cycles) {
          slowest = pair;
        }
      }
    }
  }
  return slowest;
}

/// Every member's mean step and its error from the window; whether all errors are small.
bool Sampler::estimate_means(Component& component) {
  bool good = true;
  for (const int job : component.jobs) {
    Member& member = members_.at(job);
    const Estimate found = estimate(member.boundaries);
    member.mean = found.mean;
    member.mean_error = found.error;
    good = good && found.error < kGoodError * found.mean;
  }
  return good;
}

void Sampler::settle_by_estimate(Component& component) {
  const std::size_t length = window_length(component);
  const bool good = estimate_means(component);
  const Drift slide = slowest_drift(component);
  const bool slow = slide.per_step * static_cast<double>(kLongestWindow) < kWholeBeats;
  if (slow) {
    follow(component, slide);
    return;
  }
  if ((!good || slide.cycles < kWholeBeats) && length < kLongestWindow) {
    component.target = 2 * length;
    return;
  }
  component.sleep_limit = 0.0;
  for (const int job : component.jobs) {
    component.sleep_limit = std::max(component.sleep_limit, members_.at(job).mean);
  }
  component.sleep_limit *=
      static_cast<double>(length) * kFirstSleep * std::pow(2.0, component.windows);
  begin_halt(component);
}

/// Jobs that slide slowly: sleep over a small part of the beat at the rates just measured. After a
/// whole beat the mean since the component formed stands for all that follows.
void Sampler::follow(Component& component, const Drift& slide) {
  double longest_step = 0.0;
  for (const int job : component.jobs) {
    longest_step = std::max(longest_step, members_.at(job).mean);
  }
  const double steps =
      std::max(kFollowedPart / std::max(slide.per_step, 1e-12), static_cast<double>(kFirstLook));
  component.followed += slide.cycles + steps * slide.per_step;
  component.sleep_limit = steps * longest_step;
  if (component.followed >= kWholeBeats) {
    for (const int job : component.jobs) {
      Member& member = members_.at(job);
      const std::int64_t done = member.run->steps_done() - 1 - member.formed_steps;
      member.mean = static_cast<double>(member.last_boundary - member.formed_boundary) /
                    static_cast<double>(done);
    }
    component.sleep_limit *= kFirstSleep * std::pow(2.0, component.followed);
  }
  begin_halt(component);
}

void Sampler::begin_halt(Component& component) {
  component.phase = Phase::halting;
  ++component.windows;
  for (const int job : component.jobs) {
    Member& member = members_.at(job);
    member.halting = true;
    member.run->halt();
  }
}

void Sampler::at_rest(int job) {
  Member& member = members_.at(job);
  member.mode = Mode::asleep;
  member.rest_instant = network_.now().count();
  member.rest_boundary = member.last_boundary;
  Component& component = *member.component;
  if (component.phase == Phase::measuring) {
    resume(job, 0);  // the component changed while this member was coming to rest
    return;
  }
  const bool all = std::all_of(component.jobs.begin(), component.jobs.end(),
                               [&](int other) { return members_.at(other).mode != Mode::detail; });
  if (all) {
    fall_asleep(component);
  }
}

void Sampler::fall_asleep(Component& component) {
  component.phase = Phase::asleep;
  const double limit = component.sleep_limit;
  for (const int job : component.jobs) {
    if (members_.at(job).mode == Mode::asleep) {
      // Beyond any run, but a time that can be counted.
      const auto time = static_cast<std::int64_t>(std::min(limit, 4e18));
      wake(job, std::min(network_.now().count(), kFar - time) + time);
    }
  }
}

void Sampler::run_ended(int job, std::int64_t end) {
  end_at(job, end);
}

void Sampler::collective_done(int job, int rank, int collective, std::int64_t arrival,
                              std::int64_t end) {
  owner_.watched_collective(job, rank, collective, arrival, end);
}

}  // namespace trainyard::simulation
