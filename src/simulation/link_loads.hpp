#pragma once

#include <cstdint>
#include <vector>

#include "collective/plan.hpp"
#include "engine/network.hpp"
#include "topology/cluster.hpp"

namespace trainyard::simulation {

/// A collective of a job's step as it runs on the GPUs the job holds.
struct PlannedCollective {
  collective::Plan plan{};
  units::Nanoseconds alone{};  ///< time with nothing else on its links
  int lane = 0;                ///< collectives of one lane never overlap; those of two lanes may
};

/// What a job puts on a link.
struct LinkLoad {
  topology::LinkId link = -1;
  double peak = 0.0;   ///< bytes/s while its collectives run alone
  double bytes = 0.0;  ///< a step
};

/// Which links the network back end has to hold, and their numbers in it.
struct SharedLinks {
  std::vector<engine::Resource> resources{};
  std::vector<std::int32_t> resource_of{};  ///< by LinkId; -1: not in the back end
};

/// `private_too`: also links only one job can use (needed when a job overlaps its own collectives).
[[nodiscard]] SharedLinks shared_links(const topology::Cluster& cluster, bool private_too);

/// Numbers the shapes of a step's plans, from 0 in order of appearance: plans of one shape differ
/// in nothing but the length of their flows, all by one factor.
[[nodiscard]] std::vector<int> plan_shapes(const std::vector<PlannedCollective>& collectives);

/// Loads of a set of planned collectives, by link id ascending.
[[nodiscard]] std::vector<LinkLoad> link_loads(const std::vector<PlannedCollective>& collectives,
                                               const topology::Cluster& cluster);

}  // namespace trainyard::simulation
