#include "simulation/alone_run.hpp"

#include <algorithm>
#include <cmath>

namespace trainyard::simulation {
namespace {

constexpr int kMostSteps = 64;
constexpr int kEvenSteps = 4;

/// One rank class inside one step.
struct Rank {
  const RankProgram* program = nullptr;
  std::vector<std::int64_t> carry{};
  std::vector<std::int64_t> ends{};
  std::vector<int> missing{};
};

/// Works off a step's collectives in the order in which they become ready.
class Step {
 public:
  Step(std::vector<Rank>& ranks, const Program& program, const std::vector<std::int64_t>& durations)
      : ranks_{ranks}, program_{program}, durations_{durations}, meetings_(durations.size()) {
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const auto& collectives = ranks[i].program->collectives;
      for (std::size_t q = 0; q < collectives.size(); ++q) {
        meetings_[static_cast<std::size_t>(collectives[q])].members.emplace_back(i, q);
      }
    }
  }

  void work() {
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      ranks_[i].missing = ranks_[i].program->missing;
      for (std::size_t q = 0; q < ranks_[i].missing.size(); ++q) {
        if (ranks_[i].missing[q] == 0) {
          arrive(i, q);
        }
      }
    }
    while (!ready_.empty()) {
      const std::size_t collective = ready_.back();
      ready_.pop_back();
      end(collective);
    }
  }

 private:
  struct Meeting {
    std::vector<std::pair<std::size_t, std::size_t>> members{};
    std::size_t arrived = 0;
    std::int64_t latest = 0;
  };

  void arrive(std::size_t i, std::size_t q) {
    const Rank& rank = ranks_[i];
    const auto collective = static_cast<std::size_t>(rank.program->collectives[q]);
    Meeting& meeting = meetings_[collective];
    const std::int64_t time = evaluate(rank.program->arrival[q], rank.carry, rank.ends, 0);
    meeting.latest = meeting.arrived == 0 ? time : std::max(meeting.latest, time);
    if (++meeting.arrived == meeting.members.size()) {
      ready_.push_back(collective);
    }
  }

  void end(std::size_t collective) {
    const Meeting& meeting = meetings_[collective];
    const std::int64_t time =
        meeting.latest + program_.absent_wait[collective] + durations_[collective];
    for (const auto& [i, q] : meeting.members) {
      ranks_[i].ends[q] = time;
    }
    for (const auto& [i, q] : meeting.members) {
      for (const int next : ranks_[i].program->dependents[q]) {
        if (--ranks_[i].missing[static_cast<std::size_t>(next)] == 0) {
          arrive(i, static_cast<std::size_t>(next));
        }
      }
    }
  }

  std::vector<Rank>& ranks_;
  const Program& program_;
  const std::vector<std::int64_t>& durations_;
  std::vector<Meeting> meetings_;
  std::vector<std::size_t> ready_{};
};

/// Moves every class over to the next step; returns when the last stream is done.
std::int64_t carry_over(std::vector<Rank>& ranks) {
  std::int64_t last = 0;
  for (Rank& rank : ranks) {
    std::vector<std::int64_t> next;
    for (std::size_t stream = 0; stream < rank.carry.size(); ++stream) {
      next.push_back(
          evaluate(rank.program->finish[stream], rank.carry, rank.ends, rank.carry[stream]));
      last = std::max(last, next.back());
    }
    rank.carry = std::move(next);
  }
  return last;
}

}  // namespace

std::int64_t AloneRun::end_of(std::int64_t steps) const {
  return first_end + std::llround(step * static_cast<double>(steps - 1));
}

AloneRun alone_run(const Program& program, int gpus, const std::vector<std::int64_t>& durations) {
  std::vector<Rank> ranks;
  for (const RankProgram& rank : program.ranks) {
    if (static_cast<int>(ranks.size()) < gpus) {
      ranks.push_back({&rank,
                       std::vector<std::int64_t>(static_cast<std::size_t>(rank.streams), 0),
                       std::vector<std::int64_t>(rank.collectives.size(), 0),
                       {}});
    }
  }
  AloneRun result;
  std::int64_t before = 0;
  std::int64_t growth = -1;
  int even = 0;
  for (int step = 0; step < kMostSteps && even < kEvenSteps; ++step) {
    Step{ranks, program, durations}.work();
    const std::int64_t end = carry_over(ranks);
    if (step == 0) {
      result.first_end = end;
    }
    even = end - before == growth ? even + 1 : 0;
    growth = end - before;
    before = end;
  }
  result.step = static_cast<double>(growth);
  return result;
}

}  // namespace trainyard::simulation
