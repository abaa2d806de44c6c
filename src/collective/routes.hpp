#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "collective/chains.hpp"
#include "collective/constants.hpp"
#include "topology/cluster.hpp"

namespace trainyard::collective {

/// Links between two neighbours of a ring, in order.
using Hop = std::vector<topology::LinkId>;

/// The rings that a group's collectives use, each with an equal part of the bytes.
struct RingRoutes {
  std::vector<std::vector<Hop>> rings{};
  HopClass inside = HopClass::nvlink;  ///< slowest hop inside a node
  int nodes = 1;
  bool switched_pair = false;  ///< two GPUs on NVSwitch: kSwitchedPairShare
};

/// Finds rings; remembers what it found by node type and local GPUs.
class RingRouter {
 public:
  explicit RingRouter(const topology::Cluster& cluster) : cluster_{cluster} {}

  /// @param group  at least 2 GPUs, distinct
  /// @throws input::InputError when the group spans nodes of which one has no NIC
  [[nodiscard]] RingRoutes route(const std::vector<topology::GpuId>& group);

 private:
  struct NodeGroup {
    int node = 0;
    std::vector<int> members{};  ///< local, ascending
  };
  struct LocalRings {
    std::vector<Walk> walks{};
    HopClass hops = HopClass::nvlink;
  };
  struct LocalChains {
    std::vector<Chain> chains{};
    HopClass hops = HopClass::nvlink;
  };

  [[nodiscard]] std::vector<NodeGroup> by_node(const std::vector<topology::GpuId>& group) const;
  [[nodiscard]] std::vector<std::vector<int>> rails(const std::vector<NodeGroup>& nodes) const;
  const LocalRings& local_rings(const NodeGroup& group);
  const LocalChains& local_chains(const NodeGroup& group, const std::vector<int>& nics);
  [[nodiscard]] bool switched(const NodeGroup& group) const;
  [[nodiscard]] Hop hop(int node, int from, int to) const;
  [[nodiscard]] HopClass slowest(int node, const Walk& walk) const;
  [[nodiscard]] RingRoutes inside_node(const NodeGroup& group);
  [[nodiscard]] RingRoutes between_nodes(const std::vector<NodeGroup>& nodes);
  void add_chain(int node, const Chain& chain, std::vector<Hop>& ring) const;
  [[nodiscard]] Hop out_of_node(int node, const Chain& chain) const;

  const topology::Cluster& cluster_;
  std::map<std::pair<std::string, std::vector<int>>, LocalRings> rings_{};
  std::map<std::tuple<std::string, std::vector<int>, std::vector<int>>, LocalChains> chains_{};
};

}  // namespace trainyard::collective
