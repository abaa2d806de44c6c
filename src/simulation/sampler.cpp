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
constexpr std::int64_t kCheapSteps = 1000;    ///< of each member: not worth an error
constexpr std::int64_t kFewSteps = 200;       ///< of one member: its neighbours stay awake for it
constexpr double kWorthASleep = 8.0;          ///< steps
constexpr double kWindowsLeft = 4.0;          ///< windows that every member must have ahead of it
constexpr std::int64_t kTolerance = 2;        ///< ns: flows end on whole nanoseconds

constexpr double kShortestStep = 1e-3;  ///< ns, so that steps of no length can be counted
constexpr double kEver = std::numeric_limits<double>::infinity();

/// A component's alarm has its first job's token with this bit.
constexpr std::uint64_t kAlarm = std::uint64_t{1} << 63U;

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
  if (steps == 0 || !member.run->has_collectives()) {
    const std::int64_t end = solo_end(program, gpus, now, steps);
    member.networked = false;
    const double count = static_cast<double>(std::max<std::int64_t>(steps, 1));
    set_mean(member, static_cast<double>(end - now) / count, 0.0);
    member.solo_since = now;
    member.total_steps = steps;
    end_at(job, end);
    return;
  }
  member.total_steps = steps;
  for (const PlannedCollective& planned : collectives) {
    member.latency.push_back(units::to_nanoseconds(planned.plan.latency).count());
  }
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
Sampled Sampler::progress(const Member& member, std::int64_t now) {
  Sampled sampled;
  sampled.detailed_steps = std::max<std::int64_t>(member.run->steps_done() - member.skipped, 0);
  sampled.steps = member.run->steps_done();
  sampled.error = member.error;
  sampled.shared = member.shared;
  if ((member.mode == Mode::asleep || !member.networked) && member.mean > 0.0) {
    const std::int64_t since = member.networked ? member.run->last_done() : member.solo_since;
    const double asleep = static_cast<double>(now - since) / member.mean;
    sampled.steps = std::min(sampled.steps + static_cast<std::int64_t>(asleep), member.total_steps);
    sampled.error += member.mean_error * asleep;
  }
  if (sampled.detailed_steps > 0) {
    sampled.communicating = member.run->communicating() * static_cast<double>(sampled.steps) /
                            static_cast<double>(sampled.detailed_steps);
  }
  return sampled;
}

void Sampler::fire(std::uint64_t token) {
  const int job = static_cast<int>(token & ~kAlarm);
  Member& member = members_.at(job);
  if ((token & kAlarm) != 0) {
    member.component->alarm = 0;
    wake(*member.component);
    return;
  }
  Sampled& sampled = results_[job];
  sampled = progress(member, network_.now().count());
  if (sampled.steps > 0) {
    sampled.communicating *=
        static_cast<double>(member.total_steps) / static_cast<double>(sampled.steps);
  }
  sampled.steps = member.total_steps;
  const bool networked = member.networked;
  if (member.component) {
    forget(*member.component);
  }
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

/// Puts every touched job into the component it belongs to now and opens its window.
void Sampler::regroup(const std::vector<int>& touched) {
  if (detail_ == Detail::full) {
    return;
  }
  for (const int job : touched) {
    if (members_.at(job).component) {
      forget(*members_.at(job).component);
    }
  }
  std::set<int> done;
  for (const int job : touched) {
    if (done.contains(job)) {
      continue;
    }
    auto component = std::make_shared<Component>();
    component->jobs = connected(job);
    done.insert(component->jobs.begin(), component->jobs.end());
    open_window(component);
  }
}

/// A component that is no more: its alarm must not ring.
void Sampler::forget(Component& component) {
  if (component.alarm != 0) {
    network_.cancel_timer(component.alarm);
    component.alarm = 0;
  }
}

void Sampler::open_window(const std::shared_ptr<Component>& component) {
  for (const int job : component->jobs) {
    Member& member = members_.at(job);
    member.component = component;
    member.shared = member.shared || component->jobs.size() > 1;
    member.formed_steps = -1;
  }
  wake(*component);
}

/// Everyone sleeps, for `limit` ns or until the component changes; each until its end at the
/// latest.
void Sampler::sleep(Component& component, double limit) {
  component.asleep = true;
  ++component.windows;
  const std::int64_t now = network_.now().count();
  for (const int job : component.jobs) {
    Member& member = members_.at(job);
    if (member.mode == Mode::detail) {
      member.run->sleep();
      member.mode = Mode::asleep;
      const auto left = static_cast<double>(member.total_steps - member.run->steps_done());
      const std::int64_t end = member.last_boundary + std::llround(left * member.mean);
      member.timer = network_.after(units::Nanoseconds{std::max<std::int64_t>(end - now, 0)}, *this,
                                    static_cast<std::uint64_t>(job));
    }
  }
  if (limit < kEver) {
    component.alarm = network_.after(units::Nanoseconds{std::llround(limit)}, *this,
                                     static_cast<std::uint64_t>(component.jobs.front()) | kAlarm);
  }
}

/// Wakes everyone at this instant, each wherever it is in its step, and begins to measure.
void Sampler::wake(Component& component) {
  component.asleep = false;
  component.waking = true;
  component.target = kFirstLook;
  component.events.clear();
  const std::int64_t now = network_.now().count();
  for (const int job : component.jobs) {
    Member& member = members_.at(job);
    member.boundaries.clear();
    if (member.mode != Mode::asleep) {
      continue;
    }
    const std::int64_t asleep = now - member.run->last_done();
    const auto steps = static_cast<std::int64_t>(static_cast<double>(asleep) / member.mean);
    if (member.run->steps_done() + steps >= member.total_steps) {
      continue;  // nothing left but the tail of its last step
    }
    network_.cancel_timer(member.timer);
    member.mode = Mode::detail;
    member.skipped += steps;
    member.error += member.mean_error * static_cast<double>(asleep) / member.mean;
    member.run->wake(asleep, member.mean);
  }
  component.waking = false;
}

bool Sampler::is_measuring(const Component& component) const {
  return !component.asleep && !component.waking &&
         std::all_of(component.jobs.begin(), component.jobs.end(),
                     [&](int job) { return members_.at(job).mode == Mode::detail; });
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
  if (!is_measuring(component) || step + 1 == member.total_steps) {
    return;
  }
  member.boundaries.push_back(boundary);
  note(job, WindowEvent::Kind::step, network_.now().count());
  if (member.formed_steps < 0) {
    member.formed_steps = step;
    member.formed_boundary = boundary;
  }
  look(component, job);
}

void Sampler::note(int job, WindowEvent::Kind kind, std::int64_t time) {
  if (detail_ == Detail::full) {
    return;
  }
  Component& component = *members_.at(job).component;
  if (is_measuring(component)) {
    component.events.push_back({job, kind, time});
  }
}

void Sampler::collective_started(int job, int collective, std::int64_t start) {
  const Member& member = members_.at(job);
  if (member.component) {
    note(job, WindowEvent::Kind::begin,
         start + member.latency[static_cast<std::size_t>(collective)]);
  }
}

void Sampler::collective_ended(int job) {
  note(job, WindowEvent::Kind::end, network_.now().count());
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
  if (length < 3 || is_cheap(component)) {
    return;
  }
  if (job == component.jobs.front() &&
      (settle_exactly(component) || settle_until_meeting(component))) {
    return;
  }
  if (length < component.target || !worth_sleeping(component, length)) {
    return;
  }
  settle_by_estimate(component);
}

bool Sampler::settle_exactly(Component& component) {
  const auto found = find_recurrence(component.events, component.jobs.front(), kTolerance);
  if (!found) {
    return false;
  }
  for (const int job : component.jobs) {
    Member& member = members_.at(job);
    const auto steps = found->steps.find(job);
    if (steps == found->steps.end() || steps->second == 0) {
      return false;
    }
    set_mean(member, static_cast<double>(found->time) / static_cast<double>(steps->second), 0.0);
  }
  sleep(component, kEver);
  return true;
}

/// Everyone at an even pace of its own: exact until the first two events meet.
bool Sampler::settle_until_meeting(Component& component) {
  const auto time = even_slide(component.events, component.jobs, kTolerance);
  if (!time) {
    return false;
  }
  for (const int job : component.jobs) {
    Member& member = members_.at(job);
    const Boundaries& boundaries = member.boundaries;
    set_mean(member, static_cast<double>(boundaries.back() - boundaries[boundaries.size() - 2]),
             0.0);
  }
  if (*time < kWorthASleep * longest_step(component)) {
    return false;
  }
  sleep(component, *time);
  return true;
}

/// Jobs that share links are simulated step by step while that is cheap: when little is left of all
/// of them, or of one that is short beside the others' steps.
bool Sampler::is_cheap(const Component& component) const {
  if (component.jobs.size() < 2) {
    return false;
  }
  double shortest_step = kEver;
  double first_end = kEver;  // ns from now, of a member that has few steps left
  bool all_near = true;
  for (const int job : component.jobs) {
    const Member& member = members_.at(job);
    const Boundaries& boundaries = member.boundaries;
    const auto step = static_cast<double>(boundaries.back() - boundaries[boundaries.size() - 2]);
    const std::int64_t left = member.total_steps - member.run->steps_done();
    shortest_step = std::min(shortest_step, step);
    if (left <= kFewSteps) {
      first_end = std::min(first_end, static_cast<double>(left) * step);
    }
    all_near = all_near && left <= kCheapSteps;
  }
  return all_near || first_end <= static_cast<double>(kCheapSteps) * shortest_step;
}

/// An estimate is only taken for jobs that go on for several windows.
bool Sampler::worth_sleeping(const Component& component, std::size_t length) const {
  return std::all_of(component.jobs.begin(), component.jobs.end(), [&](int job) {
    const Member& member = members_.at(job);
    const auto left = static_cast<double>(member.total_steps - member.run->steps_done());
    return left > kWindowsLeft * static_cast<double>(length);
  });
}

void Sampler::set_mean(Member& member, double mean, double error) {
  member.mean = std::max(mean, kShortestStep);
  member.mean_error = error;
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
    set_mean(member, found.mean, found.error);
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
  sleep(component, longest_step(component) * static_cast<double>(length) * kFirstSleep *
                       std::pow(2.0, component.windows));
}

double Sampler::longest_step(const Component& component) const {
  double longest = 0.0;
  for (const int job : component.jobs) {
    longest = std::max(longest, members_.at(job).mean);
  }
  return longest;
}

/// Jobs that slide slowly: sleep over a small part of the beat at the rates just measured. After a
/// whole beat the mean since the component formed stands for all that follows.
void Sampler::follow(Component& component, const Drift& slide) {
  double steps =
      std::max(kFollowedPart / std::max(slide.per_step, 1e-12), static_cast<double>(kFirstLook));
  component.followed += slide.cycles + steps * slide.per_step;
  if (component.followed >= kWholeBeats) {
    for (const int job : component.jobs) {
      Member& member = members_.at(job);
      const std::int64_t done = member.run->steps_done() - 1 - member.formed_steps;
      const auto time = static_cast<double>(member.last_boundary - member.formed_boundary);
      set_mean(member, time / static_cast<double>(done), member.mean_error);
    }
    steps *= kFirstSleep * std::pow(2.0, component.followed);
  }
  sleep(component, steps * longest_step(component));
}

void Sampler::run_ended(int job, std::int64_t end) {
  end_at(job, end);
}

void Sampler::collective_done(int job, int rank, int collective, std::int64_t arrival,
                              std::int64_t end) {
  owner_.watched_collective(job, rank, collective, arrival, end);
}

}  // namespace trainyard::simulation
