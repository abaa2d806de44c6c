#pragma once

#include <string>
#include <vector>

#include "topology/cluster.hpp"

namespace trainyard::topology {

// What people want to know of a cluster: counts and totals, derived from it. Figures of links are
// raw and per direction.

/// Like devices of a node: "gpu{0..7}".
struct DeviceGroup {
  std::string kind{};  ///< as the table of the file is called: "gpu", "pcie_switch"
  int count = 0;
  std::string first{};
  std::string last{};
  std::string detail{};  ///< GPU model, link of a NIC, capacity of a volume; else ""
};
[[nodiscard]] std::vector<DeviceGroup> devices_of(const Cluster& cluster, int node);

/// Like links: of one kind, equally fast.
struct LinkGroup {
  std::string kind{};
  Medium medium = Medium::pcie;
  int bundles = 0;  ///< pairs of neighbours
  int links = 0;    ///< links in all of them
  units::BytesPerSecond raw{};
  units::BytesPerSecond effective{};
  units::Seconds latency{};
};
[[nodiscard]] std::vector<LinkGroup> links_of(const Cluster& cluster, int node);
/// Between switches; the cables to the NICs are another row each.
[[nodiscard]] std::vector<LinkGroup> trunks_of(const Cluster& cluster);
[[nodiscard]] std::vector<LinkGroup> cables_of(const Cluster& cluster);

struct FabricSummary {
  std::string kind{};     ///< "" without a fabric
  std::string routing{};  ///< "static", "ecmp", "adaptive"
  std::vector<DeviceGroup> switches{};
  int most_hops = 0;  ///< switches on the longest way between two NICs
};
[[nodiscard]] FabricSummary fabric_of(const Cluster& cluster);

/// NVLink bandwidth between two halves of a node's GPUs, per direction: the least over all ways to
/// halve up to 16 GPUs, the first half against the second in file order beyond. 0 without NVLink.
[[nodiscard]] units::BytesPerSecond nvlink_bisection(const Cluster& cluster, int node);
/// Network bandwidth between the first half of the nodes and the second, per direction.
[[nodiscard]] units::BytesPerSecond fabric_bisection(const Cluster& cluster);
/// What the NICs of the smaller half could send at most.
[[nodiscard]] units::BytesPerSecond fabric_demand(const Cluster& cluster);

/// First node of each node type, in order.
[[nodiscard]] std::vector<int> nodes_by_type(const Cluster& cluster);

/// "PIX" .. "SYS" between a GPU and a NIC of its node, and between two NICs of a node.
[[nodiscard]] std::string nic_class(const Cluster& cluster, GpuId gpu, int nic);
[[nodiscard]] std::string nic_pair_class(const Cluster& cluster, int node, int a, int b);

/// What is legal but looks wrong: devices without a link, more NVLinks than the GPU has, a NIC
/// that its PCIe link cannot fill, consumer cards in a cluster.
[[nodiscard]] std::vector<std::string> warnings_of(const Cluster& cluster);

}  // namespace trainyard::topology
