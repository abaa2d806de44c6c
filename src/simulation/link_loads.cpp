#include "simulation/link_loads.hpp"

#include <algorithm>
#include <map>

namespace trainyard::simulation {

SharedLinks shared_links(const topology::Cluster& cluster, bool private_too) {
  SharedLinks shared;
  shared.resource_of.assign(static_cast<std::size_t>(cluster.links()), -1);
  const auto add = [&](topology::LinkId id) {
    const topology::Link link = cluster.link(id);
    shared.resource_of[static_cast<std::size_t>(id)] =
        static_cast<std::int32_t>(shared.resources.size());
    shared.resources.push_back({"", link.bandwidth});
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

std::vector<LinkLoad> link_loads(const std::vector<PlannedCollective>& collectives,
                                 const topology::Cluster& cluster) {
  std::map<topology::LinkId, LinkLoad> loads;
  std::map<topology::LinkId, std::map<int, double>> lane_peaks;
  for (const PlannedCollective& planned : collectives) {
    const auto rates = collective::rates_alone(planned.plan.flows, cluster);
    std::map<topology::LinkId, double> now;
    for (std::size_t f = 0; f < rates.size(); ++f) {
      for (const topology::LinkId link : planned.plan.flows[f].links) {
        now[link] += rates[f].si();
        loads[link].bytes += planned.plan.flows[f].size.si();
      }
    }
    for (const auto& [link, rate] : now) {
      double& peak = lane_peaks[link][planned.lane];
      peak = std::max(peak, rate);
    }
  }
  std::vector<LinkLoad> result;
  for (auto& [link, load] : loads) {
    load.link = link;
    for (const auto& [lane, peak] : lane_peaks[link]) {
      load.peak += peak;
    }
    result.push_back(load);
  }
  return result;
}

}  // namespace trainyard::simulation
