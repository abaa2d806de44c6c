#pragma once

#include "scheduling/policy.hpp"

namespace trainyard::scheduling {

/// Starts jobs in submit order and skips what does not fit. Reserves nothing, so it can starve
/// large jobs. Knows no run times.
class FifoBestEffort final : public Policy {
 public:
  [[nodiscard]] static std::unique_ptr<Policy> make(const input::Section& scheduler);
  [[nodiscard]] std::unique_ptr<PolicyState> make_state() const override;
  [[nodiscard]] Decisions decide(const View& view, PolicyState& state) override;
};

}  // namespace trainyard::scheduling
