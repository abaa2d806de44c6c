#include "collective/pairwise.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <functional>
#include <map>
#include <set>

#include "collective/algorithms.hpp"
#include "collective/routes.hpp"

namespace trainyard::collective {
namespace {

using workload::CollectiveOp;

bool sends(CollectiveOp op, std::size_t from, std::size_t to, std::size_t ranks) {
  switch (op) {
    case CollectiveOp::all_to_all:
      return from != to;
    case CollectiveOp::gather:
      return to == 0 && from != 0;
    case CollectiveOp::scatter:
      return from == 0 && to != 0;
    case CollectiveOp::send_recv:
      return ranks == 2 ? from == 0 && to == 1 : to == (from + 1) % ranks;
    default:
      assert(false);
      return false;
  }
}

}  // namespace

namespace {

using Route = std::vector<topology::LinkId>;

/// Narrowest number of links on the way over a third GPU; 0: it does not join the two.
int relay_width(const topology::Cluster& cluster, topology::GpuId from, topology::GpuId over,
                topology::GpuId to) {
  const auto in = cluster.nvlink(from, over);
  const auto out = cluster.nvlink(over, to);
  return in && out ? std::min(cluster.bundled(*in).count, cluster.bundled(*out).count) : 0;
}

/// Equally good ways, each for an equal part of what is sent.
std::vector<Route> routes_of(const topology::Cluster& cluster,
                             const std::vector<topology::GpuId>& group, topology::GpuId from,
                             topology::GpuId to) {
  const bool apart = cluster.node_of(from) != cluster.node_of(to);
  if (apart || cluster.nvlink(from, to) || cluster.nvswitch_port(from, true)) {
    return {cluster.path(from, to).links};
  }
  int widest = 0;
  std::vector<Route> routes;
  for (const topology::GpuId over : group) {
    if (over == from || over == to || cluster.node_of(over) != cluster.node_of(from)) {
      continue;
    }
    const int width = relay_width(cluster, from, over, to);
    if (width > widest) {
      widest = width;
      routes.clear();
    }
    if (width > 0 && width == widest) {
      routes.push_back({*cluster.nvlink(from, over), *cluster.nvlink(over, to)});
    }
  }
  return routes.empty() ? std::vector<Route>{cluster.pcie_path(from, to).links} : routes;
}

}  // namespace

std::vector<EqualLoad> message_loads(const topology::Cluster& cluster,
                                     const std::vector<topology::GpuId>& group,
                                     const std::vector<Messages>& messages) {
  // Counted in parts of a message, so that sums of thirds are equal when they should be.
  constexpr std::int64_t kParts = 720720;  // divisible by 1 .. 16
  std::vector<std::pair<topology::LinkId, std::int64_t>> crossed;
  for (const Messages& message : messages) {
    const auto routes = routes_of(cluster, group, group[message.from], group[message.to]);
    const std::int64_t part = kParts * message.count / static_cast<std::int64_t>(routes.size());
    for (const Route& route : routes) {
      for (const topology::LinkId link : route) {
        crossed.emplace_back(link, part);
      }
    }
  }
  std::sort(crossed.begin(), crossed.end());
  std::map<std::int64_t, Route, std::greater<>> links_by_parts;
  for (auto at = crossed.begin(); at != crossed.end();) {
    const topology::LinkId link = at->first;
    std::int64_t parts = 0;
    for (; at != crossed.end() && at->first == link; ++at) {
      parts += at->second;
    }
    links_by_parts[parts].push_back(link);
  }
  std::vector<EqualLoad> loads;
  loads.reserve(links_by_parts.size());
  for (auto& [parts, links] : links_by_parts) {
    loads.push_back({static_cast<double>(parts) / kParts, std::move(links)});
  }
  return loads;
}

std::vector<EqualLoad> pairwise_loads(const topology::Cluster& cluster, CollectiveOp op,
                                      const std::vector<topology::GpuId>& group) {
  std::vector<Messages> messages;
  for (std::size_t from = 0; from < group.size(); ++from) {
    for (std::size_t to = 0; to < group.size(); ++to) {
      if (sends(op, from, to, group.size())) {
        messages.push_back({from, to, 1});
      }
    }
  }
  return message_loads(cluster, group, messages);
}

void set_even_rates(const topology::Cluster& cluster, double share, Shape& shape) {
  std::vector<units::Seconds> times;
  for (const Flow& flow : shape.flows) {
    times.push_back(flow.size / (rates_alone({flow}, cluster).front() * share));
    shape.unit_time = std::max(shape.unit_time, times.back());
  }
  for (std::size_t f = 0; f < times.size(); ++f) {
    shape.rates.push_back(shape.flows[f].size / shape.unit_time);
    shape.below_links.push_back(share < 1.0 || times[f] < shape.unit_time);
  }
}

namespace {

/// What the messages of the busiest rank cost before their bytes move, one after another.
units::Seconds message_time(const Context& context, const Request& request) {
  std::map<int, int> ranks_in;
  for (const topology::GpuId gpu : request.group) {
    ++ranks_in[context.cluster.node_of(gpu)];
  }
  const int ranks = static_cast<int>(request.group.size());
  int fewest = ranks;
  for (const auto& [node, count] : ranks_in) {
    fewest = std::min(fewest, count);
  }
  if (request.op == CollectiveOp::send_recv) {
    return ranks_in.size() > 1 ? context.constants.network_peer : context.constants.peer;
  }
  return context.constants.peer * (fewest - 1) + context.constants.network_peer * (ranks - fewest);
}

double bytes_per_message(CollectiveOp op, std::size_t ranks) {
  return op == CollectiveOp::send_recv ? 1.0 : 1.0 / static_cast<double>(ranks);
}

}  // namespace

std::optional<Shape> pairwise(const Context& context, const Request& request) {
  if (!is_pairwise(request.op)) {
    return std::nullopt;
  }
  Shape shape;
  shape.algorithm = "pairwise";
  shape.parts = 0.0;
  const double message = bytes_per_message(request.op, request.group.size());
  for (auto& load : pairwise_loads(context.cluster, request.op, request.group)) {
    shape.flows.push_back({std::move(load.links), units::Bytes{load.messages * message}, {}});
  }
  const bool one_node = context.router.in_one_node(request.group);
  const bool one_peer = request.op == CollectiveOp::send_recv && one_node &&
                        context.cluster.nvswitch_port(request.group.front(), true).has_value();
  set_even_rates(context.cluster, one_peer ? context.constants.send_recv : 1.0, shape);
  shape.extra = message_time(context, request);
  if (!one_node) {
    const auto* cable = context.router.cable(request.group.front());
    const Transport& transport =
        context.constants.transport(cable == nullptr ? "" : cable->transport);
    shape.network_hops = 1.0;
    shape.network_hop = transport.hop;
  }
  return shape;
}

}  // namespace trainyard::collective
