#pragma once

#include "scheduling/placements/span.hpp"

namespace trainyard::scheduling {

/// The fullest node that fits, so that whole nodes stay free for large jobs. A job that no node can
/// hold takes the fewest nodes: all that the emptiest have free, and what is left of it from the
/// fullest node that fits. "Full" and "empty" count free GPUs; ties: lowest node index.
class Pack final : public Placement {
 public:
  explicit Pack(Span span) : span_{span} {}
  [[nodiscard]] static std::unique_ptr<Placement> make(const input::Section& scheduler);
  [[nodiscard]] std::optional<std::vector<topology::GpuId>> place(
      const Devices& devices, const JobView& job) const override;

 private:
  Span span_;
};

}  // namespace trainyard::scheduling
