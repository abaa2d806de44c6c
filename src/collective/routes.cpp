#include "collective/routes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "input/error.hpp"

namespace trainyard::collective {
namespace {

void append(Hop& hop, const std::vector<topology::LinkId>& links) {
  hop.insert(hop.end(), links.begin(), links.end());
}

bool contains(const std::vector<int>& values, int value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

/// NICs that every node has first, so that a ring stays on its rail wherever it can.
std::vector<std::vector<int>> common_first(const std::vector<std::vector<int>>& all) {
  std::map<int, std::size_t> nodes_with;
  for (const auto& nics : all) {
    for (const int nic : nics) {
      ++nodes_with[nic];
    }
  }
  std::vector<std::vector<int>> ordered{all};
  for (auto& nics : ordered) {
    std::stable_partition(nics.begin(), nics.end(),
                          [&](int nic) { return nodes_with.at(nic) == all.size(); });
  }
  return ordered;
}

}  // namespace

RingRoutes RingRouter::route(const std::vector<topology::GpuId>& group) {
  assert(group.size() >= 2);
  const auto nodes = by_node(group);
  return nodes.size() == 1 ? inside_node(nodes.front()) : between_nodes(nodes);
}

bool RingRouter::in_one_node(const std::vector<topology::GpuId>& group) const {
  return std::all_of(group.begin(), group.end(), [&](topology::GpuId gpu) {
    return cluster_.node_of(gpu) == cluster_.node_of(group.front());
  });
}

const topology::LinkKind* RingRouter::cable(topology::GpuId gpu) const {
  const int nic = cluster_.nic_of(gpu);
  const auto& nics = cluster_.nics(cluster_.node_of(gpu));
  if (nic < 0 || nics[static_cast<std::size_t>(nic)].to_fabric < 0) {
    return nullptr;
  }
  return cluster_.bundled(nics[static_cast<std::size_t>(nic)].to_fabric).kind;
}

/// Nodes in the order of their first rank, as NCCL numbers them.
std::vector<RingRouter::NodeGroup> RingRouter::by_node(
    const std::vector<topology::GpuId>& group) const {
  std::vector<NodeGroup> nodes;
  std::map<int, std::size_t> index_of;
  for (const topology::GpuId gpu : group) {
    const int node = cluster_.node_of(gpu);
    const auto [entry, is_new] = index_of.emplace(node, nodes.size());
    if (is_new) {
      nodes.push_back({node, {}});
    }
    nodes[entry->second].members.push_back(gpu - cluster_.first_gpu(node));
  }
  for (NodeGroup& node : nodes) {
    std::sort(node.members.begin(), node.members.end());
    assert(std::adjacent_find(node.members.begin(), node.members.end()) == node.members.end());
  }
  return nodes;
}

/// NICs to which some member has no longer way than to any other, ascending.
const std::vector<int>& RingRouter::near_nics(const NodeGroup& group) {
  const auto [entry, is_new] =
      near_nics_.try_emplace({cluster_.node_type(group.node), group.members});
  std::vector<int>& nics = entry->second;
  for (std::size_t m = 0; is_new && m < group.members.size(); ++m) {
    const topology::GpuId gpu = cluster_.first_gpu(group.node) + group.members[m];
    const int nearest = cluster_.nic_of(gpu);
    if (nearest < 0) {
      continue;
    }
    const std::size_t links = cluster_.gpu_to_nic(gpu, nearest).links.size();
    for (const topology::Nic& nic : cluster_.nics(group.node)) {
      if (!contains(nics, nic.index) && cluster_.gpu_to_nic(gpu, nic.index).links.size() == links) {
        nics.push_back(nic.index);
      }
    }
  }
  std::sort(nics.begin(), nics.end());
  return nics;
}

/// NICs of each node by ring: as many rings as the node with the fewest NICs near its members has.
std::vector<std::vector<int>> RingRouter::rails(const std::vector<NodeGroup>& nodes) {
  std::vector<std::vector<int>> near;
  std::size_t count = std::string::npos;
  for (const NodeGroup& node : nodes) {
    const std::vector<int>& nics = near_nics(node);
    if (nics.empty()) {
      throw input::InputError{
          {cluster_.name()},
          fmt::format("a node of type '{}' has no network: a job cannot span nodes there",
                      cluster_.node_type(node.node))};
    }
    count = std::min(count, nics.size());
    near.push_back(nics);
  }
  std::vector<std::vector<int>> result = common_first(near);
  for (auto& nics : result) {
    nics.resize(count);
  }
  return result;
}

bool RingRouter::switched(const NodeGroup& group) const {
  const topology::GpuId gpu = cluster_.first_gpu(group.node) + group.members.front();
  return cluster_.nvswitch_port(gpu, true).has_value();
}

Hop RingRouter::hop(int node, int from, int to) const {
  const topology::GpuId first = cluster_.first_gpu(node);
  if (const auto link = cluster_.nvlink(first + from, first + to)) {
    return {*link};
  }
  if (cluster_.nvswitch_port(first + from, true)) {
    return cluster_.path(first + from, first + to).links;
  }
  // Not over the NVLinks of a third GPU, which may be another job's.
  return cluster_.pcie_path(first + from, first + to).links;
}

HopClass RingRouter::slowest(int node, const Walk& walk) const {
  for (std::size_t i = 0; i + 1 < walk.size(); ++i) {
    for (const topology::LinkId link : hop(node, walk[i], walk[i + 1])) {
      if (cluster_.link(link).medium != topology::Medium::nvlink) {
        return HopClass::pcie;
      }
    }
  }
  return HopClass::nvlink;
}

bool RingRouter::is_staged(int node, const Walk& walk) const {
  const topology::GpuId first = cluster_.first_gpu(node);
  for (std::size_t i = 0; i + 1 < walk.size(); ++i) {
    if (slowest(node, {walk[i], walk[i + 1]}) == HopClass::nvlink) {
      continue;
    }
    const topology::GpuId from = first + walk[i];
    const topology::GpuId to = first + walk[i + 1];
    const std::string pair = cluster_.pair_class(from, to);
    const bool peers = cluster_.gpu_kind(from).peer_access && cluster_.gpu_kind(to).peer_access;
    if (!peers || (pair != "PIX" && pair != "PXB")) {
      return true;
    }
  }
  return false;
}

const RingRouter::LocalRings& RingRouter::local_rings(const NodeGroup& group) {
  const auto [entry, is_new] = rings_.try_emplace({cluster_.node_type(group.node), group.members});
  LocalRings& local = entry->second;
  if (is_new) {
    if (!switched(group)) {
      local.walks = rings_or_relays(LinkGraph{cluster_, group.node}, group.members);
    }
    if (local.walks.empty()) {
      local.walks = {group.members};
    }
    Walk closed = local.walks.front();
    closed.push_back(closed.front());
    local.hops = slowest(group.node, closed);
    local.staged = is_staged(group.node, closed);
  }
  return local;
}

const RingRouter::LocalChains& RingRouter::local_chains(const NodeGroup& group,
                                                        const std::vector<int>& nics, bool tree) {
  const auto [entry, is_new] =
      chains_.try_emplace({cluster_.node_type(group.node), group.members, nics, tree});
  LocalChains& local = entry->second;
  if (is_new) {
    local.chains = tree ? tree_chains(cluster_, group.node, group.members, nics)
                        : node_chains(cluster_, group.node, group.members, nics);
    for (const Chain& chain : local.chains) {
      local.hops = std::max(local.hops, slowest(group.node, chain.walk));
      local.staged = local.staged || is_staged(group.node, chain.walk);
      local.both_ways.push_back(both_ways(group.node, chain));
    }
  }
  return local;
}

RingRoutes RingRouter::inside_node(const NodeGroup& group) {
  const LocalRings& local = local_rings(group);
  RingRoutes routes;
  routes.inside = local.hops;
  routes.staged = local.staged;
  routes.switched_pair = group.members.size() == 2 && switched(group);
  for (const Walk& walk : local.walks) {
    std::vector<Hop>& ring = routes.rings.emplace_back();
    for (std::size_t i = 0; i < walk.size(); ++i) {
      ring.push_back(hop(group.node, walk[i], walk[(i + 1) % walk.size()]));
    }
  }
  return routes;
}

void RingRouter::add_chain(int node, const Chain& chain, std::vector<Hop>& ring) const {
  for (std::size_t i = 0; i + 1 < chain.walk.size(); ++i) {
    ring.push_back(hop(node, chain.walk[i], chain.walk[i + 1]));
  }
}

Hop RingRouter::out_of_node(int node, const Chain& chain) const {
  Hop out;
  int last = chain.walk.back();
  if (chain.leave_by_entry) {
    append(out, hop(node, last, chain.walk.front()));
    last = chain.walk.front();
  }
  append(out, cluster_.gpu_to_nic(cluster_.first_gpu(node) + last, chain.nic).links);
  return out;
}

RingRoutes RingRouter::between_nodes(const std::vector<NodeGroup>& nodes) {
  const auto nics = rails(nodes);
  RingRoutes routes;
  routes.nodes = static_cast<int>(nodes.size());
  std::vector<const LocalChains*> local;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    local.push_back(&local_chains(nodes[i], nics[i], false));
    routes.inside = std::max(routes.inside, local.back()->hops);
    routes.staged = routes.staged || local.back()->staged;
  }
  for (std::size_t rail = 0; rail < nics.front().size(); ++rail) {
    std::vector<Hop>& ring = routes.rings.emplace_back();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::size_t next = (i + 1) % nodes.size();
      const int node = nodes[i].node;
      const int next_node = nodes[next].node;
      const Chain& chain = local[i]->chains[rail];
      const Chain& next_chain = local[next]->chains[rail];
      add_chain(node, chain, ring);
      Hop out = out_of_node(node, chain);
      append(out, cluster_.nic_to_nic(node, chain.nic, next_node, next_chain.nic).links);
      append(out, cluster_
                      .nic_to_gpu(next_chain.nic,
                                  cluster_.first_gpu(next_node) + next_chain.walk.front())
                      .links);
      ring.push_back(std::move(out));
    }
  }
  return routes;
}

}  // namespace trainyard::collective
