#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

#include "collective/algorithms.hpp"
#include "collective/plan.hpp"
#include "collective/routes.hpp"

namespace trainyard::collective {
namespace {

/// Groups whose links are remembered. Beyond it all are forgotten: a job asks for few.
constexpr std::size_t kRememberedGroups = 1024;

void add_flows(const Shape& shape, double share, double bytes, Plan& plan) {
  plan.flows = shape.flows;
  for (std::size_t f = 0; f < plan.flows.size(); ++f) {
    plan.flows[f].size = plan.flows[f].size * bytes;
    if (shape.below_links[f] || share < 1.0) {
      plan.flows[f].cap = shape.rates[f] * share;
    }
  }
}

}  // namespace

struct Planner::Cache {
  explicit Cache(const topology::Cluster& cluster) : router{cluster} {}

  RingRouter router;
  std::map<std::pair<workload::CollectiveOp, std::vector<topology::GpuId>>, std::vector<Shape>>
      shapes{};
};

Planner::Planner(const topology::Cluster& cluster, Software software)
    : Planner{cluster, std::move(software), Constants::load()} {}

Planner::Planner(const topology::Cluster& cluster, Software software, Constants constants)
    : cluster_{cluster},
      software_{std::move(software)},
      constants_{std::move(constants)},
      cache_{std::make_unique<Cache>(cluster)} {}

Planner::~Planner() = default;

const std::vector<Shape>& Planner::shapes(const Request& request) {
  if (cache_->shapes.size() >= kRememberedGroups) {
    cache_->shapes.clear();
  }
  const auto key = std::make_pair(request.op, request.group);
  auto known = cache_->shapes.find(key);
  if (known == cache_->shapes.end()) {
    // Found before they are kept: a group that cannot communicate throws.
    const Context context{cluster_, constants_, software_, cache_->router};
    std::vector<Shape> found;
    for (const Algorithm& algorithm : algorithms()) {
      if (auto shape = algorithm.make(context, request)) {
        found.push_back(std::move(*shape));
      }
    }
    const auto wanted = std::find_if(found.begin(), found.end(), [&](const Shape& shape) {
      return shape.algorithm == software_.algorithm;
    });
    if (wanted != found.end()) {
      found = {std::move(*wanted)};
    }
    known = cache_->shapes.emplace(key, std::move(found)).first;
  }
  return known->second;
}

Plan Planner::plan(const Request& request) {
  assert(!request.group.empty());
  Plan plan;
  plan.algorithm = "none";
  if (request.group.size() == 1) {
    return plan;
  }
  const double bytes = request.op == workload::CollectiveOp::barrier ? 0.0 : request.bytes.si();
  const std::vector<Shape>& candidates = shapes(request);
  assert(!candidates.empty());
  const Shape* best = &candidates.front();
  Choice chosen = fastest_protocol(constants_, *best, software_, bytes);
  for (const Shape& shape : candidates) {
    const Choice choice = fastest_protocol(constants_, shape, software_, bytes);
    if (choice.time < chosen.time) {
      best = &shape;
      chosen = choice;
    }
  }
  plan.protocol = constants_.protocols[chosen.protocol].name;
  plan.latency =
      constants_.start_of(software_, cluster_.gpu_kind(request.group.front()).architecture,
                          request.group.size()) +
      latency(constants_, *best, software_, chosen.protocol);
  if (bytes > 0.0) {
    plan.algorithm = best->algorithm;
    add_flows(*best, speed(constants_, *best, chosen.protocol, bytes), bytes, plan);
  }
  return plan;
}

}  // namespace trainyard::collective
