#include "simulation/job_run.hpp"

#include <algorithm>
#include <cassert>

namespace trainyard::simulation {
namespace {

constexpr int kEvenSteps = 4;

/// A class with no collective takes no part in events: it follows the others.
bool is_idle(const RankProgram& program) {
  return program.collectives.empty();
}

std::vector<std::int64_t> next_carry(const RankProgram& program,
                                     const std::vector<std::int64_t>& carry,
                                     const std::vector<std::int64_t>& ends) {
  std::vector<std::int64_t> next;
  next.reserve(carry.size());
  for (std::size_t stream = 0; stream < carry.size(); ++stream) {
    next.push_back(evaluate(program.finish[stream], carry, ends, carry[stream]));
  }
  return next;
}

std::int64_t latest(const std::vector<std::int64_t>& values) {
  return *std::max_element(values.begin(), values.end());
}

}  // namespace

JobRun::JobRun(int job, const Program& program, int gpus, Traffic& traffic,
               engine::Network& network, JobListener& listener)
    : job_{job},
      traffic_{traffic},
      network_{network},
      listener_{listener},
      program_{program},
      meetings_(program.absent_wait.size()) {
  const int programs = static_cast<int>(program.ranks.size());
  for (int i = 0; i < std::min(programs, gpus); ++i) {
    RankClass& rank = classes_.emplace_back();
    rank.program = &program.ranks[static_cast<std::size_t>(i)];
    rank.ranks = gpus / programs + (i < gpus % programs ? 1 : 0);
    rank.ends.resize(rank.program->collectives.size());
    rank.arrivals.resize(rank.program->collectives.size());
    for (std::size_t q = 0; q < rank.program->collectives.size(); ++q) {
      const auto collective = static_cast<std::size_t>(rank.program->collectives[q]);
      meetings_[collective].members.emplace_back(i, static_cast<int>(q));
    }
    has_collectives_ = has_collectives_ || !is_idle(*rank.program);
  }
}

int JobRun::ranks_of(int i) const {
  return classes_[static_cast<std::size_t>(i)].ranks;
}

void JobRun::begin(std::int64_t start, std::int64_t steps, bool skewed) {
  total_steps_ = steps;
  for (RankClass& rank : classes_) {
    const std::int64_t offset = skewed ? rank.program->offset : 0;
    rank.carry.assign(static_cast<std::size_t>(rank.program->streams), start + offset);
  }
  for (int i = 0; i < classes(); ++i) {
    begin_step(i);
  }
}

void JobRun::halt() {
  assert(halt_at_ < 0);
  std::int64_t furthest = 0;
  for (const RankClass& rank : classes_) {
    furthest = std::max(furthest, rank.holding ? rank.step : rank.step + 1);
  }
  halt_at_ = std::min(furthest, total_steps_);
}

void JobRun::resume(std::int64_t steps, std::int64_t shift) {
  halt_at_ = -1;
  steps_done_ += steps;
  for (RankClass& rank : classes_) {
    rank.step += steps;
    rank.holding = false;
    for (std::int64_t& time : rank.carry) {
      time += shift;
    }
  }
  for (int i = 0; i < classes(); ++i) {
    begin_step(i);
  }
}

void JobRun::begin_step(int index) {
  RankClass& rank = classes_[static_cast<std::size_t>(index)];
  if (rank.step == total_steps_ || rank.step == halt_at_) {
    rank.holding = true;
    return;
  }
  if (is_idle(*rank.program)) {
    return;
  }
  rank.open = static_cast<int>(rank.program->collectives.size());
  rank.missing = rank.program->missing;
  const int count = rank.open;
  for (int q = 0; q < count; ++q) {
    if (rank.program->missing[static_cast<std::size_t>(q)] == 0) {
      arrive(index, q);
    }
  }
}

void JobRun::arrive(int index, int position) {
  RankClass& rank = classes_[static_cast<std::size_t>(index)];
  const auto q = static_cast<std::size_t>(position);
  const std::int64_t now = network_.now().count();
  const std::int64_t time =
      std::max(now, evaluate(rank.program->arrival[q], rank.carry, rank.ends, now));
  rank.arrivals[q] = time;
  const int collective = rank.program->collectives[q];
  Meeting& meeting = meetings_[static_cast<std::size_t>(collective)];
  meeting.latest = meeting.arrived == 0 ? time : std::max(meeting.latest, time);
  if (++meeting.arrived < static_cast<int>(meeting.members.size())) {
    return;
  }
  const std::int64_t start =
      meeting.latest + program_.absent_wait[static_cast<std::size_t>(collective)];
  meeting.arrived = 0;
  traffic_.start(job_, collective, units::Nanoseconds{start - now}, *this,
                 static_cast<std::uint64_t>(collective));
}

void JobRun::fire(std::uint64_t token) {
  const std::int64_t now = network_.now().count();
  const auto collective = static_cast<int>(token);
  // Copy: a member that begins its next step may meet here again at once.
  const auto members = meetings_[token].members;
  for (const auto& [index, position] : members) {
    RankClass& rank = classes_[static_cast<std::size_t>(index)];
    const auto q = static_cast<std::size_t>(position);
    rank.ends[q] = now;
    communicating_ +=
        static_cast<double>(now - rank.arrivals[q]) * rank.program->exposed_share * rank.ranks;
    if (rank.step < watched_) {
      listener_.collective_done(job_, rank.program->rank, collective, rank.arrivals[q], now);
    }
    --rank.open;
  }
  for (const auto& [index, position] : members) {
    RankClass& rank = classes_[static_cast<std::size_t>(index)];
    for (const int next : rank.program->dependents[static_cast<std::size_t>(position)]) {
      if (--rank.missing[static_cast<std::size_t>(next)] == 0) {
        arrive(index, next);
      }
    }
    if (rank.open == 0) {
      finish_step(index);
    }
  }
  finish_idle_classes();
  check_rest();
}

void JobRun::finish_step(int index) {
  RankClass& rank = classes_[static_cast<std::size_t>(index)];
  rank.carry = next_carry(*rank.program, rank.carry, rank.ends);
  const auto ahead = static_cast<std::size_t>(rank.step - steps_done_);
  if (boundaries_.size() <= ahead) {
    boundaries_.resize(ahead + 1);
  }
  Boundary& boundary = boundaries_[ahead];
  ++boundary.finished;
  boundary.time = std::max(boundary.time, latest(rank.carry));
  ++rank.step;
  begin_step(index);
}

void JobRun::finish_idle_classes() {
  const auto idle = std::count_if(classes_.begin(), classes_.end(),
                                  [](const RankClass& rank) { return is_idle(*rank.program); });
  while (!boundaries_.empty() &&
         boundaries_.front().finished + idle == static_cast<std::ptrdiff_t>(classes_.size())) {
    for (RankClass& rank : classes_) {
      if (is_idle(*rank.program)) {
        rank.carry = next_carry(*rank.program, rank.carry, rank.ends);
        ++rank.step;
        rank.holding = rank.step == total_steps_ || rank.step == halt_at_;
        boundaries_.front().time = std::max(boundaries_.front().time, latest(rank.carry));
      }
    }
    const Boundary done = boundaries_.front();
    boundaries_.pop_front();
    report(done);
  }
}

void JobRun::report(const Boundary& boundary) {
  const std::int64_t step = steps_done_++;
  listener_.step_done(job_, step, boundary.time);
  if (steps_done_ == total_steps_) {
    listener_.run_ended(job_, boundary.time);
  }
}

void JobRun::check_rest() {
  if (halt_at_ < 0 || steps_done_ != halt_at_ || steps_done_ == total_steps_) {
    return;
  }
  const bool all = std::all_of(classes_.begin(), classes_.end(),
                               [](const RankClass& rank) { return rank.holding; });
  if (all) {
    listener_.at_rest(job_);
  }
}

std::int64_t solo_end(const Program& program, int gpus, std::int64_t start, std::int64_t steps) {
  std::int64_t end = start;
  const auto programs = std::min(program.ranks.size(), static_cast<std::size_t>(gpus));
  for (std::size_t i = 0; i < programs; ++i) {
    const RankProgram& rank = program.ranks[i];
    std::vector<std::int64_t> carry(static_cast<std::size_t>(rank.streams), start);
    std::vector<std::int64_t> growth(carry.size(), 0);
    int even = 0;
    for (std::int64_t step = 0; step < steps; ++step) {
      const auto next = next_carry(rank, carry, {});
      std::vector<std::int64_t> grown(carry.size());
      std::transform(next.begin(), next.end(), carry.begin(), grown.begin(), std::minus<>{});
      even = grown == growth ? even + 1 : 0;
      growth = grown;
      carry = next;
      if (even >= kEvenSteps) {
        const std::int64_t left = steps - step - 1;
        for (std::size_t stream = 0; stream < carry.size(); ++stream) {
          carry[stream] += left * growth[stream];
        }
        break;
      }
    }
    if (!carry.empty()) {
      end = std::max(end, latest(carry));
    }
  }
  return end;
}

}  // namespace trainyard::simulation
