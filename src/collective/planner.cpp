#include <algorithm>
#include <cassert>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "collective/constants.hpp"
#include "collective/pairwise.hpp"
#include "collective/plan.hpp"
#include "collective/routes.hpp"

namespace trainyard::collective {
namespace {

using workload::CollectiveOp;

/// Groups whose links are remembered. Beyond it all are forgotten: a job asks for few.
constexpr std::size_t kRememberedGroups = 1024;

bool is_pairwise(CollectiveOp op) {
  return op == CollectiveOp::all_to_all || op == CollectiveOp::send_recv ||
         op == CollectiveOp::gather || op == CollectiveOp::scatter;
}

bool reduces_and_gathers(CollectiveOp op) {
  return op == CollectiveOp::all_reduce || op == CollectiveOp::barrier;
}

/// What a group's plans have in common: one byte of the call, and latency in hops.
struct Shape {
  std::vector<Flow> flows{};                   ///< size: per byte of the call; no cap
  std::vector<units::BytesPerSecond> rates{};  ///< that Simple reaches, all flows together
  std::vector<bool> below_links{};             ///< the rate is lower than what the links allow
  units::Seconds unit_time{};                  ///< of one byte of the call, Simple
  HopClass inside = HopClass::nvlink;
  int inside_steps = 0;
  int network_steps = 0;
  units::Seconds extra_latency{};
  bool ll128 = false;
};

bool all_keep_128_byte_stores(const topology::Cluster& cluster,
                              const std::vector<topology::GpuId>& group) {
  return std::all_of(group.begin(), group.end(), [&](topology::GpuId gpu) {
    return keeps_128_byte_stores(cluster.gpu_kind(gpu).architecture);
  });
}

/// Bytes on each link of a ring for one byte of the call, were it the only ring.
double ring_bytes(CollectiveOp op, std::size_t ranks) {
  const auto n = static_cast<double>(ranks);
  switch (op) {
    case CollectiveOp::all_reduce:
    case CollectiveOp::barrier:
      return 2.0 * (n - 1.0) / n;
    case CollectiveOp::all_gather:
    case CollectiveOp::reduce_scatter:
      return (n - 1.0) / n;
    default:
      return 1.0;  // broadcast, reduce
  }
}

Shape ring_shape(const topology::Cluster& cluster, RingRouter& router, const Request& request) {
  const RingRoutes routes = router.route(request.group);
  Shape shape;
  const double part =
      ring_bytes(request.op, request.group.size()) / static_cast<double>(routes.rings.size());
  for (const auto& ring : routes.rings) {
    Flow flow;
    flow.size = units::Bytes{part};
    for (const Hop& hop : ring) {
      flow.links.insert(flow.links.end(), hop.begin(), hop.end());
    }
    if (!flow.links.empty()) {  // a cluster without described links moves bytes in no time
      shape.flows.push_back(std::move(flow));
    }
  }
  shape.rates = rates_alone(shape.flows, cluster);
  shape.below_links.assign(shape.flows.size(), routes.switched_pair);
  for (auto& rate : shape.rates) {
    rate = routes.switched_pair ? rate * kSwitchedPairShare : rate;
    shape.unit_time = std::max(shape.unit_time, units::Bytes{part} / rate);
  }
  const int rounds = reduces_and_gathers(request.op) ? 2 : 1;
  const int steps = rounds * (static_cast<int>(request.group.size()) - 1);
  shape.inside = routes.inside;
  shape.network_steps = routes.nodes > 1 ? rounds * (routes.nodes - 1) : 0;
  shape.inside_steps = steps - shape.network_steps;
  shape.ll128 =
      routes.inside == HopClass::nvlink && all_keep_128_byte_stores(cluster, request.group);
  return shape;
}

double bytes_per_message(CollectiveOp op, std::size_t ranks) {
  return op == CollectiveOp::send_recv ? 1.0 : 1.0 / static_cast<double>(ranks);
}

/// All flows end together: a lightly loaded link is busy all the time at a low rate, as it is when
/// every rank goes through its peers one after another.
Shape pairwise_shape(const topology::Cluster& cluster, const Request& request) {
  Shape shape;
  const double message = bytes_per_message(request.op, request.group.size());
  std::vector<units::Seconds> times;
  for (auto& load : pairwise_loads(cluster, request.op, request.group)) {
    const units::Bytes size{load.messages * message};
    shape.flows.push_back({std::move(load.links), size, {}});
    times.push_back(size / rates_alone({shape.flows.back()}, cluster).front());
    shape.unit_time = std::max(shape.unit_time, times.back());
  }
  for (std::size_t f = 0; f < times.size(); ++f) {
    shape.rates.push_back(shape.flows[f].size / shape.unit_time);
    shape.below_links.push_back(times[f] < shape.unit_time);
  }
  std::set<int> nodes;
  for (const topology::GpuId gpu : request.group) {
    nodes.insert(cluster.node_of(gpu));
  }
  shape.network_steps = nodes.size() > 1 ? 1 : 0;
  shape.extra_latency = peer_latency() * peers(request.op, request.group.size());
  return shape;
}

units::Seconds latency(const Shape& shape, const Protocol& protocol) {
  const units::Seconds inside =
      shape.inside == HopClass::nvlink ? protocol.nvlink_hop : protocol.pcie_hop;
  return protocol.base + inside * shape.inside_steps + protocol.network_hop * shape.network_steps +
         shape.extra_latency;
}

units::Seconds time(const Shape& shape, const Protocol& protocol, double bytes) {
  return latency(shape, protocol) + shape.unit_time * (bytes / protocol.bandwidth_share);
}

const Protocol& fastest_protocol(const Shape& shape, double bytes) {
  const auto& all = protocols();
  const Protocol* best = &all[kLl];
  for (const std::size_t candidate : {kLl128, kSimple}) {
    if ((candidate != kLl128 || shape.ll128) &&
        time(shape, all[candidate], bytes) < time(shape, *best, bytes)) {
      best = &all[candidate];
    }
  }
  return *best;
}

void add_flows(const Shape& shape, const Protocol& protocol, double bytes, Plan& plan) {
  plan.flows = shape.flows;
  for (std::size_t f = 0; f < plan.flows.size(); ++f) {
    plan.flows[f].size = plan.flows[f].size * bytes;
    if (shape.below_links[f] || protocol.bandwidth_share < 1.0) {
      plan.flows[f].cap = shape.rates[f] * protocol.bandwidth_share;
    }
  }
}

}  // namespace

struct Planner::Cache {
  explicit Cache(const topology::Cluster& cluster) : router{cluster} {}

  RingRouter router;
  std::map<std::pair<CollectiveOp, std::vector<topology::GpuId>>, Shape> shapes{};
};

Planner::Planner(const topology::Cluster& cluster)
    : cluster_{cluster}, cache_{std::make_unique<Cache>(cluster)} {}

Planner::~Planner() = default;

Plan Planner::plan(const Request& request) {
  assert(!request.group.empty());
  Plan plan;
  plan.algorithm = "none";
  if (request.group.size() == 1) {
    return plan;
  }
  if (cache_->shapes.size() >= kRememberedGroups) {
    cache_->shapes.clear();
  }
  const auto key = std::make_pair(request.op, request.group);
  auto known = cache_->shapes.find(key);
  if (known == cache_->shapes.end()) {
    // Found before it is kept: a group that cannot communicate throws.
    Shape found = is_pairwise(request.op) ? pairwise_shape(cluster_, request)
                                          : ring_shape(cluster_, cache_->router, request);
    known = cache_->shapes.emplace(key, std::move(found)).first;
  }
  const Shape& shape = known->second;
  const double bytes = request.op == CollectiveOp::barrier ? 0.0 : request.bytes.si();
  const Protocol& protocol = fastest_protocol(shape, bytes);
  plan.protocol = protocol.name;
  plan.latency = latency(shape, protocol);
  if (bytes > 0.0) {
    plan.algorithm = is_pairwise(request.op) ? "pairwise" : "ring";
    add_flows(shape, protocol, bytes, plan);
  }
  return plan;
}

}  // namespace trainyard::collective
