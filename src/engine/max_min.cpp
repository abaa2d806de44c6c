#include "engine/max_min.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace trainyard::engine {
namespace {

/// What rounding leaves of a full resource.
constexpr double kFull = 1.0 + 1e-12;

/// The state of progressive filling: flows that still grow, and what is left of the resources.
class Filling {
 public:
  Filling(std::vector<Sharer>& flows, const std::vector<double>& capacity) {
    growing_.reserve(flows.size());
    for (Sharer& flow : flows) {
      growing_.push_back(&flow);
      for (const std::uint32_t resource : *flow.resources) {
        Load& load = loads_[resource];
        load.left = capacity[resource];
        load.weight += flow.weight;
      }
    }
  }

  [[nodiscard]] bool done() const { return growing_.empty(); }

  /// Rate per weight at which the next resource is full or the next flow at its cap.
  [[nodiscard]] double next_level() const {
    double level = std::numeric_limits<double>::infinity();
    for (const auto& [resource, load] : loads_) {
      if (load.weight > 1e-9) {
        level = std::min(level, std::max(load.left, 0.0) / load.weight);
      }
    }
    for (const Sharer* flow : growing_) {
      if (flow->cap > 0.0) {
        level = std::min(level, flow->cap / flow->weight);
      }
    }
    return level;
  }

  void stop_at(double level) {
    // All are judged before the first of them takes its share.
    const auto rest = std::stable_partition(
        growing_.begin(), growing_.end(), [&](const Sharer* flow) { return stops(*flow, level); });
    std::for_each(growing_.begin(), rest, [&](Sharer* flow) { stop(*flow, level); });
    growing_.erase(growing_.begin(), rest);
  }

 private:
  struct Load {
    double left = 0.0;
    double weight = 0.0;  ///< of the flows that still grow
  };

  [[nodiscard]] bool stops(const Sharer& flow, double level) const {
    if (flow.cap > 0.0 && flow.cap <= level * flow.weight * kFull) {
      return true;
    }
    return std::any_of(flow.resources->begin(), flow.resources->end(), [&](std::uint32_t resource) {
      const Load& load = loads_.at(resource);
      return load.left <= level * load.weight * kFull;
    });
  }

  void stop(Sharer& flow, double level) {
    flow.rate = level * flow.weight;
    for (const std::uint32_t resource : *flow.resources) {
      Load& load = loads_.at(resource);
      load.left -= flow.rate;
      load.weight -= flow.weight;
    }
  }

  std::map<std::uint32_t, Load> loads_{};
  std::vector<Sharer*> growing_{};
};

}  // namespace

void share_max_min(std::vector<Sharer>& flows, const std::vector<double>& capacity) {
  Filling filling{flows, capacity};
  while (!filling.done()) {
    filling.stop_at(filling.next_level());
  }
}

}  // namespace trainyard::engine
