#include <algorithm>
#include <cmath>

#include "collective/algorithms.hpp"
#include "collective/routes.hpp"

namespace trainyard::collective {

std::optional<Shape> tree(const Context& context, const Request& request) {
  if (request.op != workload::CollectiveOp::all_reduce || context.software.era == Era::before_2_5 ||
      context.router.in_one_node(request.group)) {
    return std::nullopt;
  }
  if (!context.cluster.torus_shape().empty()) {
    return std::nullopt;  // an edge of the tree would cross many routers
  }
  const TreeRoutes routes = context.router.tree(request.group, true);
  Shape shape;
  shape.algorithm = "tree";
  shape.inside = routes.inside;
  shape.staged = routes.staged;
  shape.both_ways = true;
  shape.share = context.constants.tree;
  shape.fill = Fill::tree;
  add_tree_flows(routes, shape.flows);
  set_rates(context, 1.0, shape);
  shape.parts = std::max(2, routes.most_in_node);
  shape.inside_hops = 2.0 * (routes.most_in_node - 1);
  shape.network_hops = 2.0 * std::log2(routes.nodes);
  const auto ranks = static_cast<double>(request.group.size());
  const auto* cable = context.router.cable(request.group.front());
  set_protocols(context, request.group, routes.nodes, context.constants.transport(cable->transport),
                2.0 * (ranks - 1.0) / ranks, shape);
  return shape;
}

}  // namespace trainyard::collective
