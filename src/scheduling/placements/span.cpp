#include "scheduling/placements/span.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace trainyard::scheduling {

Span read_span(const input::Section& scheduler) {
  const auto value = scheduler.find("span");
  if (!value || value->text() == "any") {
    return Span::any;
  }
  if (value->text() != "fit-node") {
    value->fail(fmt::format(R"(must be "any" or "fit-node", got "{}")", value->text()));
  }
  return Span::fit_node;
}

bool in_one_node(Span span, const Devices& devices, const JobView& job) {
  return span == Span::fit_node && job.gpus <= devices.largest_node();
}

std::vector<int> emptiest_first(const Devices& devices) {
  std::vector<int> nodes(static_cast<std::size_t>(devices.cluster().nodes()));
  std::iota(nodes.begin(), nodes.end(), 0);
  std::ranges::stable_sort(nodes, std::greater{}, [&](int node) { return devices.free_in(node); });
  return nodes;
}

std::vector<topology::GpuId> gpus_of(const Devices& devices, std::vector<Share> shares) {
  std::ranges::sort(shares, {}, &Share::node);
  std::vector<topology::GpuId> gpus;
  for (const Share& share : shares) {
    const auto free = devices.free_gpus(share.node);
    gpus.insert(gpus.end(), free.begin(), free.begin() + share.gpus);
  }
  return gpus;
}

}  // namespace trainyard::scheduling
