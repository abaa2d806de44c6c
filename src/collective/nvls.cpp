#include <algorithm>
#include <cmath>

#include "collective/algorithms.hpp"
#include "collective/routes.hpp"

namespace trainyard::collective {
namespace {

using workload::CollectiveOp;

/// Two GPUs exchange faster without the switch's reduction: NCCL leaves it out for them.
constexpr int kFewestPerNode = 3;

/// Raw rate of a GPU's switch port times what reduction in the switch reaches; 0: it cannot.
double reduction_rate(const Context& context, topology::GpuId gpu) {
  const auto port = context.cluster.nvswitch_port(gpu, true);
  if (!port || context.software.era != Era::current) {
    return 0.0;
  }
  const auto link = context.cluster.bundled(*port);
  return link.kind->bandwidth.si() * link.count *
         context.constants.generation(context.cluster.gpu_kind(gpu).architecture).switch_reduction;
}

/// Every GPU sends its whole buffer into the switch, which returns the whole result.
Flow switch_flow(const Context& context, const std::vector<topology::GpuId>& group) {
  Flow flow;
  flow.size = units::Bytes{1.0};
  for (const topology::GpuId gpu : group) {
    flow.links.push_back(*context.cluster.nvswitch_port(gpu, true));
    flow.links.push_back(*context.cluster.nvswitch_port(gpu, false));
  }
  return flow;
}

/// Slowest reduction_rate of the group; 0: some of it cannot, or a node has too few of it.
double slowest_rate(const Context& context, const std::vector<topology::GpuId>& group) {
  double slowest = reduction_rate(context, group.front());
  for (const topology::GpuId gpu : group) {
    slowest = std::min(slowest, reduction_rate(context, gpu));
  }
  return slowest;
}

void limit_switch_flow(double rate, Shape& shape) {
  shape.rates.front() = units::BytesPerSecond{std::min(shape.rates.front().si(), rate)};
  shape.below_links.front() = true;
  shape.unit_time = std::max(shape.unit_time, units::Seconds{1.0 / rate});
}

Shape switch_shape(const Context& context, const std::vector<topology::GpuId>& group) {
  Shape shape;
  shape.flows.push_back(switch_flow(context, group));
  shape.ll = false;
  shape.fences = false;
  shape.extra = context.constants.switch_reduction;
  return shape;
}

}  // namespace

std::optional<Shape> nvls(const Context& context, const Request& request) {
  if (request.op != CollectiveOp::all_reduce || request.group.size() < kFewestPerNode ||
      !context.router.in_one_node(request.group)) {
    return std::nullopt;
  }
  const double rate = slowest_rate(context, request.group);
  if (rate <= 0.0) {
    return std::nullopt;
  }
  Shape shape = switch_shape(context, request.group);
  shape.algorithm = "nvls";
  shape.parts = static_cast<double>(request.group.size());
  set_rates(context, 1.0, shape);
  limit_switch_flow(rate, shape);
  return shape;
}

std::optional<Shape> nvls_tree(const Context& context, const Request& request) {
  if (request.op != CollectiveOp::all_reduce || context.router.in_one_node(request.group)) {
    return std::nullopt;
  }
  const double rate = slowest_rate(context, request.group);
  if (rate <= 0.0) {
    return std::nullopt;
  }
  const TreeRoutes routes = context.router.tree(request.group, false);
  if (routes.fewest_in_node < kFewestPerNode) {
    return std::nullopt;
  }
  Shape shape = switch_shape(context, request.group);
  shape.algorithm = "nvls-tree";
  add_tree_flows(routes, shape.flows);
  set_rates(context, 1.0, shape);
  limit_switch_flow(rate, shape);
  const auto* cable = context.router.cable(request.group.front());
  shape.network_hop = context.constants.transport(cable->transport).hop;
  shape.network_hops = 2.0 * std::log2(routes.nodes);
  shape.parts = routes.most_in_node;
  shape.fill = Fill::tree;
  return shape;
}

}  // namespace trainyard::collective
