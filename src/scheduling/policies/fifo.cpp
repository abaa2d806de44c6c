#include "scheduling/policies/fifo.hpp"

namespace trainyard::scheduling {
namespace {

struct FifoState final : PolicyState {
  WaitBook waits{};
};

}  // namespace

std::unique_ptr<Policy> Fifo::make(const input::Section& /*scheduler*/) {
  return std::make_unique<Fifo>();
}

std::unique_ptr<PolicyState> Fifo::make_state() const {
  return std::make_unique<FifoState>();
}

Decisions Fifo::decide(const View& view, PolicyState& state) {
  Decisions decisions;
  Trial trial = view.trial();
  for (const JobView& job : view.queue()) {
    if (!trial.place(job)) {
      // Those behind it wait for order, as they have since they joined: nothing to report.
      auto& waits = static_cast<FifoState&>(state).waits;
      waits.note(decisions, job.index, why_refused(trial.devices(), job));
      break;
    }
    decisions.start(job.index, trial.last(), "first in submit order");
  }
  return decisions;
}

}  // namespace trainyard::scheduling
