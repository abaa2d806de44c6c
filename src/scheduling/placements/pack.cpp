#include "scheduling/placements/pack.hpp"

namespace trainyard::scheduling {
namespace {

/// The node with fewest free GPUs that still has `gpus`; -1: none has.
int fullest_that_fits(const Devices& devices, int gpus) {
  int best = -1;
  for (int node = 0; node < devices.cluster().nodes(); ++node) {
    const int free = devices.free_in(node);
    if (free >= gpus && (best < 0 || free < devices.free_in(best))) {
      best = node;
    }
  }
  return best;
}

/// Precondition: no node has `gpus` free, all together have.
std::vector<Share> fewest_nodes(const Devices& devices, int gpus) {
  const std::vector<int> nodes = emptiest_first(devices);
  const auto free = [&](std::size_t at) { return devices.free_in(nodes[at]); };
  std::vector<Share> shares;
  std::size_t next = 0;
  for (; free(next) < gpus; ++next) {
    shares.push_back({nodes[next], free(next)});
    gpus -= free(next);
  }
  std::size_t fullest = next;
  for (std::size_t at = next; at < nodes.size() && free(at) >= gpus; ++at) {
    fullest = free(at) < free(fullest) ? at : fullest;
  }
  shares.push_back({nodes[fullest], gpus});
  return shares;
}

}  // namespace

std::unique_ptr<Placement> Pack::make(const input::Section& scheduler) {
  return std::make_unique<Pack>(read_span(scheduler));
}

std::optional<std::vector<topology::GpuId>> Pack::place(const Devices& devices,
                                                        const JobView& job) const {
  if (job.gpus > devices.free()) {
    return std::nullopt;
  }
  if (const int node = fullest_that_fits(devices, job.gpus); node >= 0) {
    return gpus_of(devices, {{node, job.gpus}});
  }
  if (in_one_node(span_, devices, job)) {
    return std::nullopt;
  }
  return gpus_of(devices, fewest_nodes(devices, job.gpus));
}

}  // namespace trainyard::scheduling
