#include <algorithm>
#include <functional>
#include <numeric>

#include "collective/algorithms.hpp"
#include "collective/routes.hpp"

namespace trainyard::collective {
namespace {

using workload::CollectiveOp;

/// GPU of each node of the torus, in the order of the nodes; empty: the group is not one of each.
std::vector<topology::GpuId> one_of_each(const topology::Cluster& cluster,
                                         std::vector<topology::GpuId> group) {
  std::sort(group.begin(), group.end());
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (cluster.node_of(group[i]) != static_cast<int>(i)) {
      return {};
    }
  }
  return static_cast<int>(group.size()) == cluster.nodes() ? group : std::vector<topology::GpuId>{};
}

/// Node one step on along a dimension.
int neighbour(const std::vector<int>& sides, std::size_t dimension, int node, int step) {
  int stride = 1;
  for (std::size_t d = dimension + 1; d < sides.size(); ++d) {
    stride *= sides[d];
  }
  const int at = node / stride % sides[dimension];
  const int next = (at + step + sides[dimension]) % sides[dimension];
  return node + (next - at) * stride;
}

/// Bytes on each link of a dimension and direction, for one byte of the call and one phase. The
/// call is cut into a part for each dimension and direction; each goes along its own dimension
/// first, then, scattered, along the others in turn.
double link_bytes(const std::vector<int>& sides, std::size_t dimension) {
  const std::size_t dimensions = sides.size();
  const double part = 1.0 / (2.0 * static_cast<double>(dimensions));
  double bytes = 0.0;
  for (std::size_t first = 0; first < dimensions; ++first) {
    double left = part;
    std::size_t at = first;
    for (; at != dimension; at = (at + 1) % dimensions) {
      left /= sides[at];
    }
    bytes += left * (sides[dimension] - 1) / sides[dimension];
  }
  return bytes;
}

Flow ring_flow(const topology::Cluster& cluster, const std::vector<topology::GpuId>& gpus,
               const std::vector<int>& sides, std::size_t dimension, int step) {
  Flow flow;
  const auto append = [&](const topology::Path& path) {
    flow.links.insert(flow.links.end(), path.links.begin(), path.links.end());
  };
  for (std::size_t node = 0; node < gpus.size(); ++node) {
    const int from = static_cast<int>(node);
    const int to = neighbour(sides, dimension, from, step);
    const int nics = static_cast<int>(cluster.nics(from).size());
    const int nic = static_cast<int>(2 * dimension + (step > 0 ? 0 : 1)) % nics;
    append(cluster.gpu_to_nic(gpus[node], nic));
    append(cluster.nic_to_nic(from, nic, to, nic));
    append(cluster.nic_to_gpu(nic, gpus[static_cast<std::size_t>(to)]));
  }
  return flow;
}

bool is_regular(CollectiveOp op) {
  return op == CollectiveOp::all_reduce || op == CollectiveOp::all_gather ||
         op == CollectiveOp::reduce_scatter;
}

}  // namespace

std::optional<Shape> torus(const Context& context, const Request& request) {
  const topology::Cluster& cluster = context.cluster;
  const std::vector<int>& sides = cluster.torus_shape();
  if (sides.empty() || !is_regular(request.op)) {
    return std::nullopt;
  }
  const auto gpus = one_of_each(cluster, request.group);
  if (gpus.empty() || cluster.nics(0).empty()) {
    return std::nullopt;
  }
  Shape shape;
  shape.algorithm = "torus";
  shape.ll = false;
  shape.fences = false;
  shape.parts = 0.0;
  const double phases = request.op == CollectiveOp::all_reduce ? 2.0 : 1.0;
  int steps = 0;
  for (std::size_t dimension = 0; dimension < sides.size(); ++dimension) {
    steps += sides[dimension] - 1;
    for (const int step : {1, -1}) {
      Flow flow = ring_flow(cluster, gpus, sides, dimension, step);
      flow.size = units::Bytes{phases * link_bytes(sides, dimension)};
      if (flow.size.si() > 0.0) {
        shape.flows.push_back(std::move(flow));
      }
    }
  }
  set_rates(context, 1.0, shape);
  const auto* cable = context.router.cable(request.group.front());
  shape.network_hop = context.constants.transport(cable == nullptr ? "" : cable->transport).hop;
  shape.network_hops = phases * steps;
  return shape;
}

}  // namespace trainyard::collective
