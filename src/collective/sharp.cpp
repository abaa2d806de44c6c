#include <algorithm>
#include <map>
#include <set>

#include "collective/algorithms.hpp"
#include "collective/routes.hpp"

namespace trainyard::collective {
namespace {

using workload::CollectiveOp;

/// Every byte of the rail goes up from each node once and comes down once: the switches add. Their
/// tree is the union of the ways to the first node's leaf.
Flow rail_flow(const topology::Cluster& cluster, const std::vector<int>& nodes, int nic) {
  std::set<topology::LinkId> links;
  const auto& root = cluster.nics(nodes.front())[static_cast<std::size_t>(nic)];
  links.insert({root.to_fabric, root.from_fabric});
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    const auto up = cluster.nic_to_nic(nodes[i], nic, nodes.front(), nic);
    const auto down = cluster.nic_to_nic(nodes.front(), nic, nodes[i], nic);
    links.insert(up.links.begin(), std::prev(up.links.end()));
    links.insert(std::next(down.links.begin()), down.links.end());
  }
  return {{links.begin(), links.end()}, {}, {}};
}

/// Reduce-scatter and all-gather through each node's NVSwitch; nothing where nodes have one member.
Flow inside_flow(const topology::Cluster& cluster, const std::vector<topology::GpuId>& group) {
  Flow flow;
  for (const topology::GpuId gpu : group) {
    for (const bool out : {true, false}) {
      if (const auto port = cluster.nvswitch_port(gpu, out)) {
        flow.links.push_back(*port);
      }
    }
  }
  return flow;
}

}  // namespace

std::optional<Shape> sharp(const Context& context, const Request& request) {
  const topology::Cluster& cluster = context.cluster;
  if (!cluster.in_network_reduction() || request.op != CollectiveOp::all_reduce ||
      context.software.era == Era::before_2_5 || context.router.in_one_node(request.group)) {
    return std::nullopt;
  }
  std::map<int, std::size_t> members;
  for (const topology::GpuId gpu : request.group) {
    ++members[cluster.node_of(gpu)];
  }
  std::vector<int> nodes;
  std::size_t most = 0;
  std::size_t rails = cluster.nics(members.begin()->first).size();
  for (const auto& [node, count] : members) {
    nodes.push_back(node);
    most = std::max(most, count);
    rails = std::min(rails, cluster.nics(node).size());
  }
  const bool switched = cluster.nvswitch_port(request.group.front(), true).has_value();
  if (rails == 0 || (most > 1 && !switched)) {
    return std::nullopt;
  }
  rails = std::min(rails, most == 1 ? std::size_t{1} : rails);
  Shape shape;
  shape.algorithm = "sharp";
  shape.ll = false;
  shape.parts = static_cast<double>(most);
  if (most > 1) {
    Flow inside = inside_flow(cluster, request.group);
    const auto ranks = static_cast<double>(most);
    inside.size = units::Bytes{2.0 * (ranks - 1.0) / ranks};
    shape.flows.push_back(std::move(inside));
  }
  for (std::size_t rail = 0; rail < rails; ++rail) {
    const int nic = most == 1 ? cluster.nic_of(request.group.front()) : static_cast<int>(rail);
    Flow flow = rail_flow(cluster, nodes, nic);
    flow.size = units::Bytes{1.0 / static_cast<double>(rails)};
    shape.flows.push_back(std::move(flow));
  }
  set_rates(context, 1.0, shape);
  shape.inside_hops = most > 1 ? 2.0 : 0.0;
  shape.extra = context.constants.sharp;
  return shape;
}

}  // namespace trainyard::collective
