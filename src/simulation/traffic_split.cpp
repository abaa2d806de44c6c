#include "simulation/traffic_split.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "collective/link_table.hpp"
#include "simulation/folding.hpp"

namespace trainyard::simulation {
namespace {

/// Numbers what flows must have in common to be folded: plan, size and cap.
class Kinds {
 public:
  int number(std::size_t plan, double size, double cap) {
    return known_.emplace(std::tuple{plan, size, cap}, static_cast<int>(known_.size()))
        .first->second;
  }

 private:
  std::map<std::tuple<std::size_t, double, double>, int> known_{};
};

using Contended = std::function<bool(topology::LinkId)>;

/// Rate that the uncontended links leave to each flow: they are shared with the plan's own flows
/// only.
std::vector<double> private_caps(const collective::Plan& plan, const topology::Cluster& cluster,
                                 const Contended& contended) {
  collective::LinkTable<int> crossings{plan.flows, 0};
  for (const auto& flow : plan.flows) {
    for (const topology::LinkId link : flow.links) {
      ++crossings[link];
    }
  }
  std::vector<double> caps;
  for (const auto& flow : plan.flows) {
    double cap = flow.cap.si();
    for (const topology::LinkId link : flow.links) {
      if (!contended(link)) {
        const double share = cluster.bandwidth(link).si() / crossings[link];
        cap = cap > 0.0 ? std::min(cap, share) : share;
      }
    }
    caps.push_back(cap);
  }
  return caps;
}

/// All flows of all plans in a row, as folding takes them.
struct Row {
  struct Origin {
    std::size_t plan = 0;
    FlowSplit flow{};
  };
  std::vector<Origin> origins{};
  std::vector<FoldableFlow> flows{};
  std::vector<topology::LinkId> links{};  ///< contended, each once, ascending
};

Row in_a_row(const std::vector<const collective::Plan*>& plans, const topology::Cluster& cluster,
             const Contended& contended) {
  Row row;
  Kinds kinds;
  for (std::size_t p = 0; p < plans.size(); ++p) {
    const auto caps = private_caps(*plans[p], cluster, contended);
    for (std::size_t f = 0; f < caps.size(); ++f) {
      const collective::Flow& planned = plans[p]->flows[f];
      FoldableFlow& flow = row.flows.emplace_back();
      flow.kind = kinds.number(p, planned.size.si(), caps[f]);
      std::copy_if(planned.links.begin(), planned.links.end(), std::back_inserter(flow.links),
                   contended);
      row.links.insert(row.links.end(), flow.links.begin(), flow.links.end());
      row.origins.push_back({p, {f, {}, caps[f]}});
    }
  }
  std::sort(row.links.begin(), row.links.end());
  row.links.erase(std::unique(row.links.begin(), row.links.end()), row.links.end());
  return row;
}

}  // namespace

std::vector<PlanSplit> split_plans(const std::vector<const collective::Plan*>& plans,
                                   const topology::Cluster& cluster, const SharedLinks& shared,
                                   const Contended& contended) {
  Row row = in_a_row(plans, cluster, contended);
  std::vector<double> capacity;
  for (const topology::LinkId link : row.links) {
    capacity.push_back(cluster.bandwidth(link).si());
  }
  const Folding folding = fold(row.flows, row.links, capacity);
  std::vector<PlanSplit> splits(plans.size());
  std::vector<std::size_t> part_of_class(folding.classes.size());
  for (std::size_t f = 0; f < row.flows.size(); ++f) {
    const auto cell = static_cast<std::size_t>(folding.class_of[f]);
    Row::Origin& origin = row.origins[f];
    PlanSplit& split = splits[origin.plan];
    if (folding.classes[cell].representative == f) {
      part_of_class[cell] = split.flows.size();
      for (const topology::LinkId link : folding.classes[cell].links) {
        origin.flow.resources.push_back(
            static_cast<engine::ResourceId>(shared.resource_of[static_cast<std::size_t>(link)]));
        split.contended = true;
      }
      split.flows.push_back(std::move(origin.flow));
    }
    split.part_of.push_back(part_of_class[cell]);
  }
  return splits;
}

}  // namespace trainyard::simulation
