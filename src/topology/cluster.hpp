#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "topology/catalog.hpp"

namespace trainyard::topology {

/// A GPU of the cluster: 0 .. gpus()-1, node by node, inside a node in file order.
using GpuId = int;
/// One direction of one (bundle of parallel) link(s) of the cluster. Node-local ids are computed,
/// not stored: a node type is one template for all its instances.
using LinkId = std::int32_t;

/// What is known of a directed link. Parallel links and the links to the parallel switches of one
/// plane (the NVSwitches of a board) are one bundle: their traffic is striped over all of them.
struct Link {
  std::string name{};  ///< "node3/gpu0->gpu1", "leaf2->spine0"
  std::string kind{};  ///< catalogue name
  Medium medium = Medium::pcie;
  int count = 1;                      ///< parallel links in the bundle
  units::BytesPerSecond bandwidth{};  ///< effective, of the whole bundle, per direction
  units::BytesPerSecond raw{};        ///< the same before the bulk efficiency
  units::Seconds latency{};
  int node = -1;  ///< -1: fabric
  /// False: flows of two jobs can never meet on it alone. Only holders of one GPU can use it (its
  /// NVLink ports, its own PCIe port), or all that crosses it crosses a NIC's slower cable too.
  bool shareable = true;
};

/// A route: directed links in order, and the sum of their latencies.
struct Path {
  std::vector<LinkId> links{};
  units::Seconds latency{};
};

struct Nic {
  int index = 0;  ///< inside the node, file order; same index = same rail
  std::string name{};
  LinkId to_fabric = -1;  ///< cable NIC -> leaf, -1 when the node stands alone
  LinkId from_fabric = -1;
};

/// Nodes and fabric. Immutable after it is built. Knows nothing of SimGrid.
class Cluster {
 public:
  class Implementation;  ///< node types and fabric: cluster_implementation.hpp
  explicit Cluster(std::shared_ptr<const Implementation> implementation);

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] int nodes() const;
  [[nodiscard]] int gpus() const;
  [[nodiscard]] int node_of(GpuId gpu) const;
  [[nodiscard]] int first_gpu(int node) const;
  [[nodiscard]] int gpus_in(int node) const;
  [[nodiscard]] const GpuKind& gpu_kind(GpuId gpu) const;
  [[nodiscard]] const std::string& node_type(int node) const;
  [[nodiscard]] std::string gpu_name(GpuId gpu) const;  ///< "node3/gpu1"; "gpu1" in a lone node

  /// Ids of a node's own links begin here; nodes of one type number theirs alike.
  [[nodiscard]] LinkId first_link(int node) const;
  [[nodiscard]] LinkId links() const;  ///< ids are 0 .. links()-1
  [[nodiscard]] Link link(LinkId id) const;
  /// Kind and number of the parallel links behind an id; the kind lives as long as the cluster.
  struct Bundled {
    const LinkKind* kind = nullptr;
    int count = 1;
  };
  [[nodiscard]] Bundled bundled(LinkId id) const;
  /// Link::bandwidth, without naming the link.
  [[nodiscard]] units::BytesPerSecond bandwidth(LinkId id) const;
  /// Ids with Link::shareable, ascending: what a platform has to hold.
  [[nodiscard]] std::vector<LinkId> shareable_links() const;

  /// Inside a node, by the hardware's preference: NVLink, NVSwitch, relay over one GPU's NVLink
  /// when the GPUs have NVLink at all, PCIe. Between nodes: over the NIC on the destination's rail,
  /// by NVLink to that rail's GPU first when that is nearer. `salt` picks among equal fabric paths
  /// (ecmp: hash of the NICs and the salt; static: by destination; the same every time).
  [[nodiscard]] Path path(GpuId from, GpuId to, std::uint64_t salt = 0) const;
  /// The direct NVLink bundle between two GPUs of a node, if there is one.
  [[nodiscard]] std::optional<LinkId> nvlink(GpuId from, GpuId to) const;
  /// The bundle from a GPU into its NVSwitch plane and back, if the node has NVSwitches.
  [[nodiscard]] std::optional<LinkId> nvswitch_port(GpuId gpu, bool out) const;
  [[nodiscard]] Path pcie_path(GpuId from, GpuId to) const;  ///< inside a node, without NVLink

  [[nodiscard]] const std::vector<Nic>& nics(int node) const;
  [[nodiscard]] int nic_of(GpuId gpu) const;  ///< index of the NIC nearest to the GPU; -1: none
  /// GPU to NIC (or back) inside the node, PCIe only, cable not included.
  [[nodiscard]] Path gpu_to_nic(GpuId gpu, int nic) const;
  [[nodiscard]] Path nic_to_gpu(int nic, GpuId gpu) const;
  /// NIC to NIC over the fabric, both cables included. Same node: over the leaf, as hardware would.
  [[nodiscard]] Path nic_to_nic(int from_node, int from_nic, int to_node, int to_nic,
                                std::uint64_t salt = 0) const;

  /// Pair class inside a node as `nvidia-smi topo -m` names it: "NV2", "PIX", "PXB", "PHB", "NODE",
  /// "SYS", "X" for the same GPU; "NET" between nodes. "NVB": nothing but NVLink through a GPU.
  [[nodiscard]] std::string pair_class(GpuId a, GpuId b) const;
  /// Fabric switches crossed between two nodes' GPUs; 0 inside a node.
  [[nodiscard]] int switch_hops(GpuId a, GpuId b) const;
  /// Leaf switch of a node's first NIC (-1: none): what "one switch" and "fewest hops" look at.
  [[nodiscard]] int leaf_of(int node) const;

  /// Sides of a torus fabric, empty for any other. Node i stands at the coordinates of i in
  /// row-major order: i = (x0 * sides[1] + x1) * sides[2] + x2.
  [[nodiscard]] const std::vector<int>& torus_shape() const;

  /// Hosts that serve files over the fabric.
  [[nodiscard]] int storage_servers() const;
  [[nodiscard]] const std::string& storage_server_name(int server) const;
  /// From a server's drives to a NIC of a node: the drives' link, which all readers of the server
  /// share, and the way over the fabric.
  [[nodiscard]] Path storage_path(int server, int node, int nic = 0, std::uint64_t salt = 0) const;
  /// The other way: writing has the drives' bandwidth for itself.
  [[nodiscard]] Path to_storage_path(int node, int nic, int server, std::uint64_t salt = 0) const;
  /// The switches can add up what passes through them (SHARP).
  [[nodiscard]] bool in_network_reduction() const;

  /// For the other files of this module.
  [[nodiscard]] const Implementation& implementation() const { return *implementation_; }

 private:
  std::shared_ptr<const Implementation> implementation_;
};

struct ClusterOptions {
  std::optional<int> nodes{};  ///< replaces the count of the first [[node]]; of a node file: N
                               ///< nodes on one non-blocking switch
  std::optional<int> nics{};   ///< use only the first K NICs of each node
};

/// Reads a node or cluster file found by name or path. A lone node file makes a cluster of one node
/// (or `options.nodes` nodes on one non-blocking switch of their NICs' speed).
/// @throws InputError: missing, unknown GPU or link kind, link to nowhere, zero, negative or NaN
///         bandwidth, duplicate names, disconnected graph, more nodes than the fabric has ports,
///         ...
[[nodiscard]] Cluster load_cluster(std::string_view name, const ClusterOptions& options = {},
                                   const input::Place& place = {"command line"});
[[nodiscard]] Cluster parse_cluster(const input::Document& document, const Catalog& catalog,
                                    const ClusterOptions& options = {});
/// `flat_gpus = 16`, or `nodes x gpus_per_node`: GPUs of no stated kind and no network, for traces
/// that run at recorded speed.
[[nodiscard]] Cluster flat_cluster(int nodes, int gpus_per_node);

}  // namespace trainyard::topology
