#pragma once

#include "scheduling/policy.hpp"

namespace trainyard::scheduling {

/// Starts jobs strictly in submit order; the first that does not fit blocks the rest. Knows no run
/// times. A pass whose head is blocked looks at the head only.
class Fifo final : public Policy {
 public:
  [[nodiscard]] static std::unique_ptr<Policy> make(const input::Section& scheduler);
  [[nodiscard]] std::unique_ptr<PolicyState> make_state() const override;
  [[nodiscard]] Decisions decide(const View& view, PolicyState& state) override;
};

}  // namespace trainyard::scheduling
