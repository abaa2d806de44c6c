#include "engine/max_min.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace trainyard::engine {
namespace {

/// What rounding leaves of a full resource.
constexpr double kFull = 1.0 + 1e-12;

struct Load {
  double left = 0.0;
  double weight = 0.0;  ///< of the flows that still grow
};

}  // namespace

void share_max_min(std::vector<Sharer>& flows, const std::vector<double>& capacity) {
  std::map<std::uint32_t, Load> loads;
  for (const Sharer& flow : flows) {
    for (const std::uint32_t resource : *flow.resources) {
      Load& load = loads[resource];
      load.left = capacity[resource];
      load.weight += flow.weight;
    }
  }
  std::vector<Sharer*> growing;
  for (Sharer& flow : flows) {
    growing.push_back(&flow);
  }
  while (!growing.empty()) {
    double level = std::numeric_limits<double>::infinity();
    for (const auto& [resource, load] : loads) {
      if (load.weight > 1e-9) {
        level = std::min(level, std::max(load.left, 0.0) / load.weight);
      }
    }
    for (const Sharer* flow : growing) {
      if (flow->cap > 0.0) {
        level = std::min(level, flow->cap / flow->weight);
      }
    }
    const auto stops = [&](const Sharer* flow) {
      if (flow->cap > 0.0 && flow->cap <= level * flow->weight * kFull) {
        return true;
      }
      return std::any_of(flow->resources->begin(), flow->resources->end(),
                         [&](std::uint32_t resource) {
                           const Load& load = loads.at(resource);
                           return load.left <= level * load.weight * kFull;
                         });
    };
    const auto rest = std::stable_partition(growing.begin(), growing.end(), stops);
    const std::vector<Sharer*> stopped{growing.begin(), rest};
    growing.erase(growing.begin(), rest);
    for (Sharer* flow : stopped) {
      flow->rate = level * flow->weight;
      for (const std::uint32_t resource : *flow->resources) {
        loads.at(resource).left -= flow->rate;
        loads.at(resource).weight -= flow->weight;
      }
    }
  }
}

}  // namespace trainyard::engine
