#pragma once

#include <array>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "collective/chains.hpp"
#include "collective/constants.hpp"
#include "collective/plan.hpp"
#include "topology/cluster.hpp"

namespace trainyard::collective {

/// Links between two neighbours of a ring, in order.
using Hop = std::vector<topology::LinkId>;

/// The rings that a group's collectives use, each with an equal part of the bytes.
struct RingRoutes {
  std::vector<std::vector<Hop>> rings{};
  HopClass inside = HopClass::nvlink;  ///< slowest hop inside a node
  int nodes = 1;
  bool staged = false;         ///< some hop inside a node goes through host memory
  bool switched_pair = false;  ///< two GPUs on NVSwitch: kSwitchedPairShare
};

/// The double binary trees between nodes: two a rail, each with an equal part of the bytes.
struct TreeRoutes {
  /// Links that one tree's part crosses, up and down; one that it crosses twice stands there twice.
  std::vector<std::vector<topology::LinkId>> trees{};
  HopClass inside = HopClass::nvlink;  ///< slowest hop inside a node
  bool staged = false;                 ///< some hop inside a node goes through host memory
  int nodes = 1;
  int fewest_in_node = 0;
  int most_in_node = 0;
};

/// A flow for each tree, for one byte of the call.
void add_tree_flows(const TreeRoutes& routes, std::vector<Flow>& flows);

/// Parents in two binary trees over 0 .. count-1, -1 at the root; inner nodes of one are leaves of
/// the other (but for one node of an odd count).
[[nodiscard]] std::array<std::vector<int>, 2> double_tree(int count);

/// Finds rings and trees; remembers what it found by node type and local GPUs.
class RingRouter {
 public:
  explicit RingRouter(const topology::Cluster& cluster) : cluster_{cluster} {}

  /// @param group  at least 2 GPUs, distinct
  /// @throws input::InputError when the group spans nodes of which one has no NIC
  [[nodiscard]] RingRoutes route(const std::vector<topology::GpuId>& group);
  /// @param group  over at least two nodes; throws as route does
  /// @param with_chains  the bytes also run along a chain over the members of each node
  [[nodiscard]] TreeRoutes tree(const std::vector<topology::GpuId>& group, bool with_chains);

  [[nodiscard]] bool in_one_node(const std::vector<topology::GpuId>& group) const;
  /// Cable of the NIC nearest to a GPU; null: it has none.
  [[nodiscard]] const topology::LinkKind* cable(topology::GpuId gpu) const;

 private:
  struct NodeGroup {
    int node = 0;
    std::vector<int> members{};  ///< local, ascending
  };
  /// Where a rail leaves a node.
  struct End {
    int node = 0;
    int nic = 0;
    topology::GpuId gpu = 0;
  };
  struct LocalRings {
    std::vector<Walk> walks{};
    HopClass hops = HopClass::nvlink;
    bool staged = false;
  };
  struct LocalChains {
    std::vector<Chain> chains{};
    /// Links of each chain both ways, counted from the node's first one.
    std::vector<std::vector<topology::LinkId>> both_ways{};
    HopClass hops = HopClass::nvlink;
    bool staged = false;
  };

  [[nodiscard]] std::vector<NodeGroup> by_node(const std::vector<topology::GpuId>& group) const;
  const std::vector<int>& near_nics(const NodeGroup& group);
  [[nodiscard]] std::vector<std::vector<int>> rails(const std::vector<NodeGroup>& nodes);
  const LocalRings& local_rings(const NodeGroup& group);
  /// @param tree  tree_chains instead of node_chains
  const LocalChains& local_chains(const NodeGroup& group, const std::vector<int>& nics, bool tree);
  [[nodiscard]] bool switched(const NodeGroup& group) const;
  [[nodiscard]] Hop hop(int node, int from, int to) const;
  /// GPUs of consumer kinds, and those that meet above a PCIe switch, copy through host memory.
  [[nodiscard]] bool is_staged(int node, const Walk& walk) const;
  [[nodiscard]] HopClass slowest(int node, const Walk& walk) const;
  [[nodiscard]] RingRoutes inside_node(const NodeGroup& group);
  [[nodiscard]] RingRoutes between_nodes(const std::vector<NodeGroup>& nodes);
  void add_chain(int node, const Chain& chain, std::vector<Hop>& ring) const;
  [[nodiscard]] std::vector<topology::LinkId> both_ways(int node, const Chain& chain) const;
  void add_edge(const End& from, const End& to, std::vector<topology::LinkId>& links);
  [[nodiscard]] Hop out_of_node(int node, const Chain& chain) const;

  const topology::Cluster& cluster_;
  std::map<std::pair<std::string, std::vector<int>>, LocalRings> rings_{};
  std::map<std::pair<std::string, std::vector<int>>, std::vector<int>> near_nics_{};
  std::map<std::tuple<std::string, std::vector<int>, std::vector<int>, bool>, LocalChains>
      chains_{};
};

}  // namespace trainyard::collective
