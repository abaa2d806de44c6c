#include "topology/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "topology/cluster_implementation.hpp"

namespace trainyard::topology {
namespace {

void append(Path& path, const Path& more) {
  path.links.insert(path.links.end(), more.links.begin(), more.links.end());
  path.latency += more.latency;
}

Link described(const LinkKind& kind, int count) {
  Link link;
  link.kind = kind.name;
  link.medium = kind.medium;
  link.count = count;
  link.raw = kind.bandwidth * count;
  link.bandwidth = link.raw * kind.efficiency;
  link.latency = kind.latency;
  return link;
}

}  // namespace

// ---- Numbering --------------------------------------------------------------------------------

void Cluster::Implementation::add_node(const std::shared_ptr<const NodeType>& type) {
  if (types.empty() || types.back() != type) {
    types.push_back(type);
  }
  Instance instance{type.get(), static_cast<int>(node_of_gpu.size()), links, 0};
  if (!nodes.empty()) {
    instance.first_port = nodes.back().first_port + nodes.back().type->nics();
  }
  node_of_gpu.insert(node_of_gpu.end(), static_cast<std::size_t>(type->gpus()),
                     static_cast<int>(nodes.size()));
  links += 2 * static_cast<LinkId>(type->bundles().size());
  auto& own = nics.emplace_back();
  for (int i = 0; i < type->nics(); ++i) {
    own.push_back({i, type->nic(i).name, -1, -1});
  }
  nodes.push_back(instance);
}

void Cluster::Implementation::set_fabric(Fabric made) {
  fabric = std::move(made);
  has_fabric = true;
  fabric_links = links;
  links += fabric.directed_links();
  server_links = links;
  links += 2 * static_cast<LinkId>(servers.size());
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    for (Nic& nic : nics[n]) {
      nic.to_fabric = fabric_links + 2 * (nodes[n].first_port + nic.index);
      nic.from_fabric = nic.to_fabric + 1;
    }
  }
}

int Cluster::Implementation::node_ports() const {
  return nodes.empty() ? 0 : nodes.back().first_port + nodes.back().type->nics();
}

int Cluster::Implementation::local(GpuId gpu) const {
  return gpu - node(node_of_gpu[static_cast<std::size_t>(gpu)]).first_gpu;
}

std::string Cluster::Implementation::node_prefix(int index) const {
  return nodes.size() == 1 ? "" : fmt::format("node{}/", index);
}

Path Cluster::Implementation::global(int index, const LocalPath& local) const {
  const Instance& instance = node(index);
  Path path;
  for (const int link : local) {
    path.links.push_back(instance.first_link + link);
    path.latency += instance.type->bundles()[static_cast<std::size_t>(link / 2)].kind.latency;
  }
  return path;
}

Link Cluster::Implementation::local_link(int index, int local) const {
  const NodeType& type = *node(index).type;
  const Bundle& bundle = type.bundles()[static_cast<std::size_t>(local / 2)];
  Link link = described(bundle.kind, bundle.count);
  const int from = local % 2 == 0 ? bundle.a : bundle.b;
  const int to = local % 2 == 0 ? bundle.b : bundle.a;
  link.name =
      fmt::format("{}{}->{}", node_prefix(index), type.vertices()[static_cast<std::size_t>(from)],
                  type.vertices()[static_cast<std::size_t>(to)]);
  link.node = index;
  link.shareable = !type.is_private(local / 2);
  return link;
}

std::string Cluster::Implementation::port_name(int port) const {
  if (port >= node_ports()) {
    return servers[static_cast<std::size_t>(port - node_ports())].name;
  }
  const auto after = std::upper_bound(
      nodes.begin(), nodes.end(), port,
      [](int wanted, const Instance& instance) { return wanted < instance.first_port; });
  const int index = static_cast<int>(after - nodes.begin()) - 1;
  return node_prefix(index) + node(index).type->nic(port - node(index).first_port).name;
}

Link Cluster::Implementation::server_link(int local) const {
  const StorageServer& server = servers[static_cast<std::size_t>(local / 2)];
  Link link = described(server.drives, 1);
  link.name = local % 2 == 0 ? server.name + "/drives->" + server.name
                             : server.name + "->" + server.name + "/drives";
  return link;
}

Link Cluster::Implementation::fabric_link(int local) const {
  if (local < 2 * fabric.ports()) {
    const int port = local / 2;
    const std::string nic = port_name(port);
    const std::string& leaf = fabric.switch_name(fabric.switch_of(port));
    Link link = described(fabric.cable(port), 1);
    link.name = local % 2 == 0 ? nic + "->" + leaf : leaf + "->" + nic;
    return link;
  }
  const int directed = local - 2 * fabric.ports();
  const SwitchLink& both = fabric.links()[static_cast<std::size_t>(directed / 2)];
  Link link = described(both.kind, both.count);
  const int from = directed % 2 == 0 ? both.a : both.b;
  const int to = directed % 2 == 0 ? both.b : both.a;
  link.name = fabric.switch_name(from) + "->" + fabric.switch_name(to);
  return link;
}

// ---- Nodes and GPUs ---------------------------------------------------------------------------

Cluster::Cluster(std::shared_ptr<const Implementation> implementation)
    : implementation_{std::move(implementation)} {}

const std::string& Cluster::name() const {
  return implementation_->name;
}

int Cluster::nodes() const {
  return implementation_->flat_nodes + static_cast<int>(implementation_->nodes.size());
}

int Cluster::gpus() const {
  return implementation_->flat_nodes * implementation_->flat_gpus_per_node +
         static_cast<int>(implementation_->node_of_gpu.size());
}

int Cluster::node_of(GpuId gpu) const {
  return implementation_->flat_nodes > 0
             ? gpu / implementation_->flat_gpus_per_node
             : implementation_->node_of_gpu[static_cast<std::size_t>(gpu)];
}

int Cluster::first_gpu(int node) const {
  return implementation_->flat_nodes > 0 ? node * implementation_->flat_gpus_per_node
                                         : implementation_->node(node).first_gpu;
}

int Cluster::gpus_in(int node) const {
  return implementation_->flat_nodes > 0 ? implementation_->flat_gpus_per_node
                                         : implementation_->node(node).type->gpus();
}

const GpuKind& Cluster::gpu_kind(GpuId gpu) const {
  if (implementation_->flat_nodes > 0) {
    return implementation_->flat_gpu;
  }
  return *implementation_->node(node_of(gpu)).type->gpu(implementation_->local(gpu)).gpu;
}

const std::string& Cluster::node_type(int node) const {
  return implementation_->flat_nodes > 0 ? implementation_->name
                                         : implementation_->node(node).type->name();
}

std::string Cluster::gpu_name(GpuId gpu) const {
  const int node = node_of(gpu);
  if (implementation_->flat_nodes > 0) {
    return fmt::format("node{}/gpu{}", node, gpu - first_gpu(node));
  }
  return implementation_->node_prefix(node) +
         implementation_->node(node).type->gpu(implementation_->local(gpu)).name;
}

// ---- Links ------------------------------------------------------------------------------------

LinkId Cluster::links() const {
  return implementation_->links;
}

Link Cluster::link(LinkId id) const {
  const auto& nodes = implementation_->nodes;
  if (implementation_->has_fabric && id >= implementation_->server_links) {
    return implementation_->server_link(id - implementation_->server_links);
  }
  if (implementation_->has_fabric && id >= implementation_->fabric_links) {
    return implementation_->fabric_link(id - implementation_->fabric_links);
  }
  const auto after = std::upper_bound(
      nodes.begin(), nodes.end(), id,
      [](LinkId wanted, const auto& instance) { return wanted < instance.first_link; });
  const int node = static_cast<int>(after - nodes.begin()) - 1;
  return implementation_->local_link(node, id - implementation_->node(node).first_link);
}

std::vector<LinkId> Cluster::shareable_links() const {
  std::vector<LinkId> result;
  for (const auto& node : implementation_->nodes) {
    for (int bundle = 0; bundle < static_cast<int>(node.type->bundles().size()); ++bundle) {
      if (!node.type->is_private(bundle)) {
        result.push_back(node.first_link + 2 * bundle);
        result.push_back(node.first_link + 2 * bundle + 1);
      }
    }
  }
  for (LinkId id = implementation_->has_fabric ? implementation_->fabric_links : links();
       id < links(); ++id) {
    result.push_back(id);
  }
  return result;
}

// ---- Routes -----------------------------------------------------------------------------------

std::optional<LinkId> Cluster::nvlink(GpuId from, GpuId to) const {
  const int node = node_of(from);
  if (implementation_->nodes.empty() || node != node_of(to)) {
    return std::nullopt;
  }
  const auto& instance = implementation_->node(node);
  const auto local =
      instance.type->nvlink(implementation_->local(from), implementation_->local(to));
  return local ? std::optional<LinkId>{instance.first_link + *local} : std::nullopt;
}

std::optional<LinkId> Cluster::nvswitch_port(GpuId gpu, bool out) const {
  if (implementation_->nodes.empty()) {
    return std::nullopt;
  }
  const auto& instance = implementation_->node(node_of(gpu));
  const auto local = instance.type->nvswitch_port(implementation_->local(gpu), out);
  return local ? std::optional<LinkId>{instance.first_link + *local} : std::nullopt;
}

Path Cluster::pcie_path(GpuId from, GpuId to) const {
  const int node = node_of(from);
  if (implementation_->nodes.empty()) {
    return {};
  }
  return implementation_->global(
      node, implementation_->node(node).type->pcie_path(implementation_->local(from),
                                                        implementation_->local(to)));
}

const std::vector<Nic>& Cluster::nics(int node) const {
  static const std::vector<Nic> none;
  return implementation_->flat_nodes > 0 ? none
                                         : implementation_->nics[static_cast<std::size_t>(node)];
}

int Cluster::nic_of(GpuId gpu) const {
  return implementation_->flat_nodes > 0
             ? -1
             : implementation_->node(node_of(gpu)).type->nic_of(implementation_->local(gpu));
}

Path Cluster::gpu_to_nic(GpuId gpu, int nic) const {
  const int node = node_of(gpu);
  return implementation_->global(
      node, implementation_->node(node).type->gpu_to_nic(implementation_->local(gpu), nic));
}

Path Cluster::nic_to_gpu(int nic, GpuId gpu) const {
  const int node = node_of(gpu);
  return implementation_->global(
      node, implementation_->node(node).type->nic_to_gpu(nic, implementation_->local(gpu)));
}

Path Cluster::nic_to_nic(int from_node, int from_nic, int to_node, int to_nic,
                         std::uint64_t salt) const {
  const int from = implementation_->node(from_node).first_port + from_nic;
  const int to = implementation_->node(to_node).first_port + to_nic;
  const Fabric& fabric = implementation_->fabric;
  Path path;
  for (const int local : fabric.route(from, to, salt)) {
    path.links.push_back(implementation_->fabric_links + local);
    path.latency += fabric.kind(local).latency;
  }
  return path;
}

Path Cluster::path(GpuId from, GpuId to, std::uint64_t salt) const {
  if (from == to || implementation_->nodes.empty()) {
    return {};
  }
  const int node = node_of(from);
  const NodeType& type = *implementation_->node(node).type;
  const int local = implementation_->local(from);
  if (node == node_of(to)) {
    const LocalPath& fast = type.nvlink_path(local, implementation_->local(to));
    return fast.empty() ? pcie_path(from, to) : implementation_->global(node, fast);
  }
  if (!implementation_->has_fabric || nic_of(from) < 0 || nic_of(to) < 0) {
    return {};
  }
  const Exit& exit = type.exit_to(local, nic_of(to));
  Path path = implementation_->global(node, type.nvlink_path(local, exit.gpu));
  append(path, implementation_->global(node, type.gpu_to_nic(exit.gpu, exit.nic)));
  append(path, nic_to_nic(node, exit.nic, node_of(to), nic_of(to), salt));
  append(path, nic_to_gpu(nic_of(to), to));
  return path;
}

std::string Cluster::pair_class(GpuId a, GpuId b) const {
  if (implementation_->nodes.empty() || node_of(a) != node_of(b)) {
    return a == b ? "X" : "NET";
  }
  return implementation_->node(node_of(a))
      .type->pair_class(implementation_->local(a), implementation_->local(b));
}

int Cluster::switch_hops(GpuId a, GpuId b) const {
  if (!implementation_->has_fabric || node_of(a) == node_of(b) || nic_of(a) < 0 || nic_of(b) < 0) {
    return 0;
  }
  const auto& from = implementation_->node(node_of(a));
  const Exit& exit = from.type->exit_to(implementation_->local(a), nic_of(b));
  return implementation_->fabric.hops(from.first_port + exit.nic,
                                      implementation_->node(node_of(b)).first_port + nic_of(b));
}

const std::vector<int>& Cluster::torus_shape() const {
  return implementation_->fabric.shape();
}

int Cluster::leaf_of(int node) const {
  if (!implementation_->has_fabric || nics(node).empty()) {
    return -1;
  }
  return implementation_->fabric.switch_of(implementation_->node(node).first_port);
}

}  // namespace trainyard::topology
