#pragma once

#include "scheduling/placements/span.hpp"

namespace trainyard::scheduling {

/// The emptiest node first, so that jobs keep out of each other's way: a job takes what the node
/// with most free GPUs has, then the next. Ties: lowest node index.
class Spread final : public Placement {
 public:
  explicit Spread(Span span) : span_{span} {}
  [[nodiscard]] static std::unique_ptr<Placement> make(const input::Section& scheduler);
  [[nodiscard]] std::optional<std::vector<topology::GpuId>> place(
      const Devices& devices, const JobView& job) const override;

 private:
  Span span_;
};

}  // namespace trainyard::scheduling
