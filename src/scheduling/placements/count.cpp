#include "scheduling/placements/count.hpp"

#include <algorithm>

namespace trainyard::scheduling {

std::unique_ptr<Placement> Count::make(const input::Section& scheduler) {
  return std::make_unique<Count>(read_span(scheduler));
}

std::optional<std::vector<topology::GpuId>> Count::place(const Devices& devices,
                                                         const JobView& job) const {
  if (job.gpus > devices.free()) {
    return std::nullopt;
  }
  const bool one_node = in_one_node(span_, devices, job);
  std::vector<Share> shares;
  int missing = job.gpus;
  for (int node = 0; node < devices.cluster().nodes() && missing > 0; ++node) {
    const int taken = std::min(devices.free_in(node), missing);
    if (taken > 0 && (!one_node || taken == job.gpus)) {
      shares.push_back({node, taken});
      missing -= taken;
    }
  }
  if (missing > 0) {
    return std::nullopt;
  }
  return gpus_of(devices, std::move(shares));
}

}  // namespace trainyard::scheduling
