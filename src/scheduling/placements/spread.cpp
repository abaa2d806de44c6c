#include "scheduling/placements/spread.hpp"

#include <algorithm>

namespace trainyard::scheduling {
namespace {

int emptiest(const Devices& devices) {
  int best = 0;
  for (int node = 1; node < devices.cluster().nodes(); ++node) {
    best = devices.free_in(node) > devices.free_in(best) ? node : best;
  }
  return best;
}

std::vector<Share> emptiest_nodes(const Devices& devices, int gpus) {
  std::vector<Share> shares;
  for (const int node : emptiest_first(devices)) {
    const int taken = std::min(devices.free_in(node), gpus);
    if (taken == 0) {
      break;
    }
    shares.push_back({node, taken});
    gpus -= taken;
  }
  return shares;
}

}  // namespace

std::unique_ptr<Placement> Spread::make(const input::Section& scheduler) {
  return std::make_unique<Spread>(read_span(scheduler));
}

std::optional<std::vector<topology::GpuId>> Spread::place(const Devices& devices,
                                                          const JobView& job) const {
  if (job.gpus > devices.free()) {
    return std::nullopt;
  }
  if (const int node = emptiest(devices); devices.free_in(node) >= job.gpus) {
    return gpus_of(devices, {{node, job.gpus}});
  }
  if (in_one_node(span_, devices, job)) {
    return std::nullopt;
  }
  return gpus_of(devices, emptiest_nodes(devices, job.gpus));
}

}  // namespace trainyard::scheduling
