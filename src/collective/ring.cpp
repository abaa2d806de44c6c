#include <algorithm>

#include "collective/algorithms.hpp"
#include "collective/routes.hpp"

namespace trainyard::collective {
namespace {

using workload::CollectiveOp;

bool reduces_and_gathers(CollectiveOp op) {
  return op == CollectiveOp::all_reduce || op == CollectiveOp::barrier;
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

/// One GPU and one NIC a node reach less of the line than many do.
double lone_share(const RingRoutes& routes, std::size_t ranks, const Transport& transport,
                  double efficiency) {
  const bool lone = routes.nodes > 1 && ranks == static_cast<std::size_t>(routes.nodes);
  return lone ? std::min(1.0, transport.lone_share / efficiency) : 1.0;
}

void add_flows(const RingRoutes& routes, double bytes, Shape& shape) {
  for (const auto& hops : routes.rings) {
    Flow flow;
    flow.size = units::Bytes{bytes / static_cast<double>(routes.rings.size())};
    for (const Hop& hop : hops) {
      flow.links.insert(flow.links.end(), hop.begin(), hop.end());
    }
    if (!flow.links.empty()) {  // a cluster without described links moves bytes in no time
      shape.flows.push_back(std::move(flow));
    }
  }
}

}  // namespace

std::optional<Shape> ring(const Context& context, const Request& request) {
  if (is_pairwise(request.op)) {
    return std::nullopt;
  }
  const Constants& constants = context.constants;
  const RingRoutes routes = context.router.route(request.group);
  const std::size_t ranks = request.group.size();
  const double bytes = ring_bytes(request.op, ranks);
  const auto* cable = routes.nodes > 1 ? context.router.cable(request.group.front()) : nullptr;
  const Transport& transport = constants.transport(cable == nullptr ? "" : cable->transport);
  Shape shape;
  shape.algorithm = "ring";
  shape.inside = routes.inside;
  shape.staged = routes.staged;
  shape.parts = static_cast<double>(ranks);
  add_flows(routes, bytes, shape);
  double share = routes.switched_pair ? constants.switched_pair : 1.0;
  if (cable != nullptr) {
    share *= lone_share(routes, ranks, transport, cable->efficiency);
  }
  set_rates(context, share, shape);
  if (request.op == CollectiveOp::all_gather || request.op == CollectiveOp::reduce_scatter) {
    shape.share = constants.one_phase;
  }
  const double rounds = reduces_and_gathers(request.op) ? 2.0 : 1.0;
  shape.network_hops = routes.nodes > 1 ? rounds * (routes.nodes - 1) : 0.0;
  shape.inside_hops = rounds * static_cast<double>(ranks - 1) - shape.network_hops;
  if (routes.nodes > 1 && reduces_and_gathers(request.op)) {
    shape.fill = Fill::ring;
  }
  set_protocols(context, request.group, routes.nodes, transport, bytes, shape);
  return shape;
}

}  // namespace trainyard::collective
