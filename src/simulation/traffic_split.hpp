#pragma once

#include <functional>
#include <vector>

#include "collective/plan.hpp"
#include "engine/network.hpp"
#include "simulation/link_loads.hpp"
#include "topology/cluster.hpp"

namespace trainyard::simulation {

/// Flows of a plan that run alike, as one: what the back end arbitrates and what only limits it.
struct FlowSplit {
  std::size_t flow = 0;  ///< the first of them in the plan
  std::vector<engine::ResourceId> resources{};
  double cap = 0.0;  ///< bytes/s, from the uncontended links and the plan
};

/// A plan as the back end sees it while the set of contended links stays.
struct PlanSplit {
  bool contended = false;
  std::vector<FlowSplit> flows{};
  std::vector<std::size_t> part_of{};  ///< by flow of the plan: index into `flows`
};

/// Splits the links of plans that may run at the same time into those the back end arbitrates (the
/// contended ones) and those that only limit a flow, and folds flows of a plan that run alike.
/// @param contended  asked for every link of the plans, more than once
/// @return by plan, in the order given
[[nodiscard]] std::vector<PlanSplit> split_plans(
    const std::vector<const collective::Plan*>& plans, const topology::Cluster& cluster,
    const SharedLinks& shared, const std::function<bool(topology::LinkId)>& contended);

}  // namespace trainyard::simulation
