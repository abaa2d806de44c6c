#include "scheduling/policies/fifo_best_effort.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard::scheduling {
namespace {

struct FifoBestEffortState final : PolicyState {
  WaitBook waits{};
  int free = -1;           ///< GPUs left free by the last pass
  JobIndex last_job = -1;  ///< last one the last pass looked at
};

using Queue = std::vector<JobView>;

/// Between two passes devices only come back. When none did, who was refused is refused again, so
/// only the jobs that joined since are worth a look: a submit to a full cluster costs nothing.
Queue::const_iterator first_to_try(const View& view, const FifoBestEffortState& state) {
  const Queue& queue = view.queue();
  if (view.devices().free() != state.free) {
    return queue.begin();
  }
  return std::ranges::upper_bound(queue, state.last_job, {}, &JobView::index);
}

std::string reason_to_start(std::size_t passed) {
  return passed == 0 ? "first in submit order" : fmt::format("fits, {} ahead of it do not", passed);
}

void note_waits(const Queue& queue, Queue::const_iterator from, const Devices& devices,
                WaitBook& waits, Decisions& decisions) {
  // A start can turn "scattered" into "too few" for any job, so then all are looked at again.
  const auto& started = decisions.actions();  // in the order of the queue
  std::size_t next = 0;
  for (auto job = started.empty() ? from : queue.begin(); job != queue.end(); ++job) {
    if (next < started.size() && started[next].job == job->index) {
      ++next;
    } else {
      waits.note(decisions, job->index, why_refused(devices, *job));
    }
  }
}

}  // namespace

std::unique_ptr<Policy> FifoBestEffort::make(const input::Section& /*scheduler*/) {
  return std::make_unique<FifoBestEffort>();
}

std::unique_ptr<PolicyState> FifoBestEffort::make_state() const {
  return std::make_unique<FifoBestEffortState>();
}

Decisions FifoBestEffort::decide(const View& view, PolicyState& state) {
  auto& memory = static_cast<FifoBestEffortState&>(state);
  const Queue& queue = view.queue();
  const auto first = first_to_try(view, memory);
  Decisions decisions;
  Trial trial = view.trial();
  for (auto job = first; job != queue.end() && trial.devices().free() > 0; ++job) {
    if (trial.place(*job)) {
      const auto ahead = static_cast<std::size_t>(job - queue.begin());
      decisions.start(job->index, trial.last(),
                      reason_to_start(ahead - decisions.actions().size()));
    }
  }
  note_waits(queue, first, trial.devices(), memory.waits, decisions);
  memory.free = trial.devices().free();
  memory.last_job = queue.empty() ? memory.last_job : queue.back().index;
  return decisions;
}

}  // namespace trainyard::scheduling
