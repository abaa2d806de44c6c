#include "collective/pairwise.hpp"

#include <algorithm>
#include <cassert>
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

std::vector<EqualLoad> message_loads(const topology::Cluster& cluster,
                                     const std::vector<topology::GpuId>& group,
                                     const std::vector<Messages>& messages) {
  std::vector<std::pair<topology::LinkId, int>> crossed;
  for (const Messages& message : messages) {
    for (const topology::LinkId link : cluster.path(group[message.from], group[message.to]).links) {
      crossed.emplace_back(link, message.count);
    }
  }
  std::sort(crossed.begin(), crossed.end());
  std::map<int, std::vector<topology::LinkId>, std::greater<>> links_by_messages;
  for (auto at = crossed.begin(); at != crossed.end();) {
    const topology::LinkId link = at->first;
    int count = 0;
    for (; at != crossed.end() && at->first == link; ++at) {
      count += at->second;
    }
    links_by_messages[count].push_back(link);
  }
  std::vector<EqualLoad> loads;
  loads.reserve(links_by_messages.size());
  for (auto& [count, links] : links_by_messages) {
    loads.push_back({count, std::move(links)});
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
