#include "simulation/job_run.hpp"

#include <algorithm>
#include <cmath>

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

void JobRun::sleep() {
  traffic_.abort(job_);
  boundaries_.clear();
  for (Meeting& meeting : meetings_) {
    meeting.arrived = 0;
  }
}

void JobRun::wake(std::int64_t asleep, double pace) {
  const auto steps = static_cast<std::int64_t>(static_cast<double>(asleep) / pace);
  const std::int64_t shift = std::llround(static_cast<double>(steps) * pace);
  steps_done_ += steps;
  last_done_ += shift;
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    classes_[i].step = steps_done_;
    classes_[i].carry = carry_[i];
    for (std::int64_t& time : classes_[i].carry) {
      time += shift;
    }
  }
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    carry_[i] = classes_[i].carry;
  }
  catching_up_ = true;
  pace_ = pace;
  for (int i = 0; i < classes(); ++i) {
    begin_step(i);
  }
  while (!past_.empty()) {
    const std::size_t collective = past_.back();
    past_.pop_back();
    const Meeting& meeting = meetings_[collective];
    complete(collective,
             std::max(meeting.start, expected(meeting.end, meeting.start_step - meeting.end_step)));
  }
  catching_up_ = false;
}

std::int64_t JobRun::expected(std::int64_t last, std::int64_t steps) const {
  return last + std::llround(static_cast<double>(steps) * pace_);
}

void JobRun::begin_step(int index) {
  RankClass& rank = classes_[static_cast<std::size_t>(index)];
  if (rank.step == total_steps_ || is_idle(*rank.program)) {
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
  std::int64_t time = evaluate(rank.program->arrival[q], rank.carry, rank.ends, now);
  if (!catching_up_) {
    time = std::max(now, time);
  }
  rank.arrivals[q] = time;
  const int collective = rank.program->collectives[q];
  Meeting& meeting = meetings_[static_cast<std::size_t>(collective)];
  meeting.latest = meeting.arrived == 0 ? time : std::max(meeting.latest, time);
  if (++meeting.arrived == static_cast<int>(meeting.members.size())) {
    start_collective(collective, rank.step);
  }
}

/// All have arrived. While the job catches up with what it did asleep, the call may be over
/// already, or under way.
void JobRun::start_collective(int collective, std::int64_t step) {
  const auto index = static_cast<std::size_t>(collective);
  Meeting& meeting = meetings_[index];
  meeting.arrived = 0;
  meeting.start = meeting.latest + program_.absent_wait[index];
  meeting.start_step = step;
  listener_.collective_started(job_, collective, meeting.start);
  const std::int64_t now = network_.now().count();
  Traffic::Progress progress;
  if (catching_up_ && meeting.start < now) {
    const std::int64_t end = expected(meeting.end, step - meeting.end_step);
    if (end <= now) {
      past_.push_back(index);
      return;
    }
    progress = {now - meeting.start, end - meeting.start};
  }
  traffic_.start(job_, collective,
                 units::Nanoseconds{std::max<std::int64_t>(meeting.start - now, 0)}, progress,
                 *this, index);
}

void JobRun::fire(std::uint64_t token) {
  complete(token, network_.now().count());
}

void JobRun::complete(std::size_t collective, std::int64_t end) {
  listener_.collective_ended(job_);
  Meeting& meeting = meetings_[collective];
  meeting.end = end;
  meeting.end_step = meeting.start_step;
  // Copy: a member that begins its next step may meet here again at once.
  const auto members = meeting.members;
  for (const auto& [index, position] : members) {
    RankClass& rank = classes_[static_cast<std::size_t>(index)];
    const auto q = static_cast<std::size_t>(position);
    rank.ends[q] = end;
    communicating_ +=
        static_cast<double>(end - rank.arrivals[q]) * rank.program->exposed_share * rank.ranks;
    if (rank.step < watched_) {
      listener_.collective_done(job_, rank.program->rank, static_cast<int>(collective),
                                rank.arrivals[q], end);
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
}

void JobRun::finish_step(int index) {
  const auto i = static_cast<std::size_t>(index);
  RankClass& rank = classes_[i];
  rank.carry = next_carry(*rank.program, rank.carry, rank.ends);
  const auto ahead = static_cast<std::size_t>(rank.step - steps_done_);
  if (boundaries_.size() <= ahead) {
    boundaries_.resize(ahead + 1);
  }
  Boundary& boundary = boundaries_[ahead];
  boundary.carry.resize(classes_.size());
  boundary.carry[i] = rank.carry;
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
    Boundary done = std::move(boundaries_.front());
    boundaries_.pop_front();
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      RankClass& rank = classes_[i];
      if (is_idle(*rank.program)) {
        rank.carry = next_carry(*rank.program, rank.carry, rank.ends);
        ++rank.step;
        done.carry[i] = rank.carry;
        done.time = std::max(done.time, latest(rank.carry));
      }
    }
    report(std::move(done));
  }
}

void JobRun::report(Boundary boundary) {
  const std::int64_t step = steps_done_++;
  carry_ = std::move(boundary.carry);
  last_done_ = network_.now().count();
  listener_.step_done(job_, step, boundary.time);
  if (steps_done_ == total_steps_) {
    listener_.run_ended(job_, boundary.time);
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
