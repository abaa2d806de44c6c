#pragma once

#include "scheduling/placements/span.hpp"

namespace trainyard::scheduling {

/// Any free GPUs, lowest index first: only their number matters. Where a job must sit in one node:
/// the first node with room.
class Count final : public Placement {
 public:
  explicit Count(Span span) : span_{span} {}
  [[nodiscard]] static std::unique_ptr<Placement> make(const input::Section& scheduler);
  [[nodiscard]] std::optional<std::vector<topology::GpuId>> place(
      const Devices& devices, const JobView& job) const override;

 private:
  Span span_;
};

}  // namespace trainyard::scheduling
