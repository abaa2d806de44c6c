#include "simulation/link_loads.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace trainyard::simulation {
namespace {

/// Do two plans differ in nothing but the length of their flows?
bool same_shape(const collective::Plan& a, const collective::Plan& b) {
  if (a.flows.size() != b.flows.size()) {
    return false;
  }
  for (std::size_t f = 0; f < a.flows.size(); ++f) {
    const double ratio = a.flows[f].size.si() * b.flows[0].size.si();
    const double other = b.flows[f].size.si() * a.flows[0].size.si();
    if (a.flows[f].links != b.flows[f].links || a.flows[f].cap != b.flows[f].cap ||
        std::abs(ratio - other) > 1e-9 * ratio) {
      return false;
    }
  }
  return true;
}

/// Numbers the links that some collectives cross, by ascending id. Tables over the range of the
/// ids: large collectives cross most links of it, and maps would be most of their cost.
class Numbering {
 public:
  explicit Numbering(const std::vector<PlannedCollective>& collectives) {
    topology::LinkId end = 0;
    first_ = std::numeric_limits<topology::LinkId>::max();
    const auto each_link = [&collectives](const auto& call) {
      for (const PlannedCollective& planned : collectives) {
        for (const auto& flow : planned.plan.flows) {
          std::for_each(flow.links.begin(), flow.links.end(), call);
        }
      }
    };
    each_link([&](topology::LinkId link) {
      first_ = std::min(first_, link);
      end = std::max(end, link + 1);
    });
    numbers_.resize(end > 0 ? static_cast<std::size_t>(end - first_) : 0, -1);
    each_link(
        [this](topology::LinkId link) { numbers_[static_cast<std::size_t>(link - first_)] = 0; });
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      if (numbers_[i] == 0) {
        numbers_[i] = static_cast<std::int32_t>(ids_.size());
        ids_.push_back(first_ + static_cast<topology::LinkId>(i));
      }
    }
  }

  [[nodiscard]] const std::vector<topology::LinkId>& ids() const { return ids_; }
  [[nodiscard]] std::size_t number(topology::LinkId link) const {
    return static_cast<std::size_t>(numbers_[static_cast<std::size_t>(link - first_)]);
  }

 private:
  topology::LinkId first_ = 0;
  std::vector<std::int32_t> numbers_{};  ///< -1: not crossed
  std::vector<topology::LinkId> ids_{};
};

/// What flows that run alone put on each link, in bytes/s.
std::vector<double> rates_on(const Numbering& links, const std::vector<collective::Flow>& flows,
                             const topology::Cluster& cluster) {
  std::vector<double> sums(links.ids().size(), 0.0);
  const auto rates = collective::rates_alone(flows, cluster);
  for (std::size_t f = 0; f < flows.size(); ++f) {
    for (const topology::LinkId link : flows[f].links) {
      sums[links.number(link)] += rates[f].si();
    }
  }
  return sums;
}

void raise(std::vector<double>& peaks, const std::vector<double>& rates) {
  std::transform(peaks.begin(), peaks.end(), rates.begin(), peaks.begin(),
                 [](double peak, double rate) { return std::max(peak, rate); });
}

}  // namespace

SharedLinks shared_links(const topology::Cluster& cluster, bool private_too) {
  SharedLinks shared;
  shared.resource_of.assign(static_cast<std::size_t>(cluster.links()), -1);
  const auto add = [&](topology::LinkId id) {
    shared.resource_of[static_cast<std::size_t>(id)] =
        static_cast<std::int32_t>(shared.resources.size());
    shared.resources.push_back({"", cluster.bandwidth(id)});
  };
  if (private_too) {
    for (topology::LinkId id = 0; id < cluster.links(); ++id) {
      add(id);
    }
  } else {
    for (const topology::LinkId id : cluster.shareable_links()) {
      add(id);
    }
  }
  return shared;
}

std::vector<int> plan_shapes(const std::vector<PlannedCollective>& collectives) {
  std::vector<int> shape_of;
  std::vector<std::size_t> firsts;
  for (const auto& planned : collectives) {
    const auto known = std::find_if(firsts.begin(), firsts.end(), [&](std::size_t first) {
      return same_shape(collectives[first].plan, planned.plan);
    });
    shape_of.push_back(static_cast<int>(known - firsts.begin()));
    if (known == firsts.end()) {
      firsts.push_back(shape_of.size() - 1);
    }
  }
  return shape_of;
}

std::vector<LinkLoad> link_loads(const std::vector<PlannedCollective>& collectives,
                                 const topology::Cluster& cluster) {
  const Numbering links{collectives};
  std::vector<LinkLoad> loads;
  for (const topology::LinkId link : links.ids()) {
    loads.push_back({link, 0.0, 0.0});
  }
  const std::vector<int> shape_of = plan_shapes(collectives);
  std::set<std::pair<int, int>> known;  // shapes by lane: their rates do not depend on the size
  std::map<int, std::vector<double>> lane_peaks;
  for (std::size_t i = 0; i < collectives.size(); ++i) {
    const auto& flows = collectives[i].plan.flows;
    for (const auto& flow : flows) {
      for (const topology::LinkId link : flow.links) {
        loads[links.number(link)].bytes += flow.size.si();
      }
    }
    if (known.emplace(collectives[i].lane, shape_of[i]).second) {
      auto& peaks = lane_peaks[collectives[i].lane];
      peaks.resize(loads.size());
      raise(peaks, rates_on(links, flows, cluster));
    }
  }
  for (const auto& [lane, peaks] : lane_peaks) {
    for (std::size_t i = 0; i < loads.size(); ++i) {
      loads[i].peak += peaks[i];
    }
  }
  return loads;
}

}  // namespace trainyard::simulation
