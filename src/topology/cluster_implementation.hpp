#pragma once

#include <memory>
#include <string>
#include <vector>

#include "topology/cluster.hpp"
#include "topology/fabric.hpp"
#include "topology/node.hpp"
#include "topology/storage_server.hpp"

namespace trainyard::topology {

/// Instances of node types, numbered, and the fabric between them. Ids are sums of offsets.
class Cluster::Implementation {
 public:
  struct Instance {
    const NodeType* type = nullptr;
    int first_gpu = 0;
    LinkId first_link = 0;
    int first_port = 0;  ///< of the fabric
  };

  std::string name{};
  std::vector<std::shared_ptr<const NodeType>> types{};
  std::vector<Instance> nodes{};
  std::vector<std::vector<Nic>> nics{};  ///< by node
  std::vector<int> node_of_gpu{};
  Fabric fabric{};
  bool has_fabric = false;
  LinkId fabric_links = 0;               ///< id of the first
  std::vector<StorageServer> servers{};  ///< on the fabric's ports after those of the nodes
  LinkId server_links = 0;               ///< id of the first: two each, out of its drives first
  LinkId links = 0;
  GpuKind flat_gpu{};  ///< of a cluster without stated hardware
  int flat_gpus_per_node = 0;
  int flat_nodes = 0;

  void add_node(const std::shared_ptr<const NodeType>& type);
  /// After all nodes: numbers the fabric's links.
  void set_fabric(Fabric made);
  /// Ports of the fabric that are cabled to nodes: the first ones.
  [[nodiscard]] int node_ports() const;

  [[nodiscard]] const Instance& node(int index) const {
    return nodes[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] int local(GpuId gpu) const;
  [[nodiscard]] std::string node_prefix(int index) const;
  [[nodiscard]] Path global(int index, const LocalPath& local) const;
  [[nodiscard]] Link local_link(int index, int local) const;
  [[nodiscard]] Link fabric_link(int local) const;
  [[nodiscard]] std::string port_name(int port) const;
  [[nodiscard]] Link server_link(int local) const;
};

}  // namespace trainyard::topology
