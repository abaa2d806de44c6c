#include <algorithm>

#include "collective/routes.hpp"

namespace trainyard::collective {
namespace {

/// Parent in the tree over 0 .. count-1 that follows the numbers' bits: odd numbers are leaves, the
/// lowest set bit is the height. 0 is the root: -1.
int parent_of(int node, int count) {
  if (node == 0) {
    return -1;
  }
  const int height = node & -node;
  const int above = (node ^ height) | (2 * height);
  return above < count ? above : node ^ height;
}

/// The second tree: leaves of the first one are inner nodes here. Even counts are mirrored, odd
/// ones shifted by one.
int second_parent_of(int node, int count) {
  if (count % 2 == 0) {
    const int parent = parent_of(count - 1 - node, count);
    return parent < 0 ? -1 : count - 1 - parent;
  }
  const int parent = parent_of((node + count - 1) % count, count);
  return parent < 0 ? -1 : (parent + 1) % count;
}

void append(std::vector<topology::LinkId>& links, const std::vector<topology::LinkId>& more) {
  links.insert(links.end(), more.begin(), more.end());
}

}  // namespace

std::array<std::vector<int>, 2> double_tree(int count) {
  std::array<std::vector<int>, 2> parents;
  for (int node = 0; node < count; ++node) {
    parents[0].push_back(parent_of(node, count));
    parents[1].push_back(second_parent_of(node, count));
  }
  return parents;
}

void RingRouter::add_edge(const End& from, const End& to, std::vector<topology::LinkId>& links) {
  append(links, cluster_.gpu_to_nic(from.gpu, from.nic).links);
  append(links, cluster_.nic_to_nic(from.node, from.nic, to.node, to.nic).links);
  append(links, cluster_.nic_to_gpu(to.nic, to.gpu).links);
}

/// Both ways: the sum comes up, the result goes down.
std::vector<topology::LinkId> RingRouter::both_ways(int node, const Chain& chain) const {
  std::vector<topology::LinkId> links;
  for (std::size_t i = 0; i + 1 < chain.walk.size(); ++i) {
    append(links, hop(node, chain.walk[i], chain.walk[i + 1]));
    append(links, hop(node, chain.walk[i + 1], chain.walk[i]));
  }
  for (topology::LinkId& link : links) {
    link -= cluster_.first_link(node);
  }
  return links;
}

TreeRoutes RingRouter::tree(const std::vector<topology::GpuId>& group, bool with_chains) {
  const auto nodes = by_node(group);
  const auto nics = rails(nodes);
  TreeRoutes routes;
  routes.nodes = static_cast<int>(nodes.size());
  routes.fewest_in_node = static_cast<int>(nodes.front().members.size());
  std::vector<const LocalChains*> local;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    local.push_back(&local_chains(nodes[i], nics[i], true));
    routes.inside = std::max(routes.inside, local.back()->hops);
    routes.staged = routes.staged || local.back()->staged;
    const int members = static_cast<int>(nodes[i].members.size());
    routes.fewest_in_node = std::min(routes.fewest_in_node, members);
    routes.most_in_node = std::max(routes.most_in_node, members);
  }
  const auto parents = double_tree(routes.nodes);
  for (std::size_t rail = 0; rail < nics.front().size(); ++rail) {
    const auto end = [&](std::size_t i) {
      const Chain& chain = local[i]->chains[rail];
      return End{nodes[i].node, chain.nic, cluster_.first_gpu(nodes[i].node) + chain.walk.front()};
    };
    for (const auto& parent : parents) {
      auto& links = routes.trees.emplace_back();
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (with_chains) {
          for (const topology::LinkId link : local[i]->both_ways[rail]) {
            links.push_back(cluster_.first_link(nodes[i].node) + link);
          }
        }
        if (parent[i] >= 0) {
          const auto above = static_cast<std::size_t>(parent[i]);
          add_edge(end(i), end(above), links);
          add_edge(end(above), end(i), links);
        }
      }
    }
  }
  return routes;
}

void add_tree_flows(const TreeRoutes& routes, std::vector<Flow>& flows) {
  for (const auto& links : routes.trees) {
    flows.push_back({links, units::Bytes{1.0 / static_cast<double>(routes.trees.size())}, {}});
  }
}

}  // namespace trainyard::collective
