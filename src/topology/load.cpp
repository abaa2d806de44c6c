// From files to a Cluster.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "input/files.hpp"
#include "topology/cluster_implementation.hpp"
#include "topology/fabric_kinds.hpp"

namespace trainyard::topology {
namespace {

constexpr int kMostNodes = 100000;
constexpr std::int64_t kMostParts = 50'000'000;

/// A node file has GPUs, a cluster file has nodes.
bool is_node_file(const input::Section& root) {
  const bool has_gpus = root.has("gpu");
  const bool has_nodes = root.has("node");
  if (has_gpus == has_nodes) {
    root.fail(has_gpus ? "has [[gpu]] (a node) and [[node]] (a cluster): it can only be one"
                       : "has neither [[gpu]] (a node) nor [[node]] (a cluster)");
  }
  return has_gpus;
}

using Types = std::vector<std::pair<std::shared_ptr<const NodeType>, int>>;

/// The node types of a cluster file and how many of each.
Types read_types(const input::Section& root, const std::shared_ptr<const Catalog>& catalog,
                 const ClusterOptions& options) {
  Types types;
  for (const input::Section& section : root.sections("node")) {
    const input::Value type = section.require("type");
    const auto file = input::find_data(type.text(), {"topologies/nodes"}, {".toml"}, type.place());
    const auto document = input::Document::parse_file(file.string());
    if (!is_node_file(document.root())) {
      type.fail(fmt::format("\"{}\" is a cluster, not a node", type.text()));
    }
    const auto count = section.find("count");
    int nodes = count ? static_cast<int>(count->integer_in(1, kMostNodes)) : 1;
    if (types.empty() && options.nodes) {
      nodes = *options.nodes;
    }
    section.reject_unknown();
    types.emplace_back(NodeType::parse(document, catalog, options.nics), nodes);
  }
  return types;
}

std::vector<NodePorts> ports_of(const Cluster::Implementation& made) {
  std::vector<NodePorts> ports;
  for (std::size_t n = 0; n < made.nodes.size(); ++n) {
    NodePorts& node = ports.emplace_back();
    node.name = fmt::format("node{}", n);
    for (int i = 0; i < made.nodes[n].type->nics(); ++i) {
      node.nics.push_back(made.nodes[n].type->nic(i).name);
      node.cables.push_back(*made.nodes[n].type->nic(i).cable);
    }
  }
  for (const StorageServer& server : made.servers) {
    ports.push_back({server.name, {"port"}, {server.cable}, true});
  }
  return ports;
}

void check_size(const Types& types, const input::Section& root) {
  std::int64_t nodes = 0;
  std::int64_t parts = 0;
  for (const auto& [type, count] : types) {
    nodes += count;
    parts += count * static_cast<std::int64_t>(type->bundles().size() + type->devices().size());
    if (type->nics() == 0 && (types.size() > 1 || count > 1)) {
      root.fail(
          fmt::format("node \"{}\" has no [[nic]]: it cannot be one of several", type->name()));
    }
  }
  if (nodes > kMostNodes || parts > kMostParts) {
    root.fail(fmt::format("{} nodes of {} devices and links are too many: at most {} and {}", nodes,
                          parts, kMostNodes, kMostParts));
  }
}

void check_options(const ClusterOptions& options, const input::Section& root) {
  if (options.nodes && (*options.nodes < 1 || *options.nodes > kMostNodes)) {
    root.fail(
        fmt::format("asked for {} nodes: from 1 to {} are possible", *options.nodes, kMostNodes));
  }
  if (options.nics && *options.nics < 0) {
    root.fail(fmt::format("asked for {} NICs of each node", *options.nics));
  }
}

std::shared_ptr<Cluster::Implementation> instantiate(const std::string& name, const Types& types) {
  auto made = std::make_shared<Cluster::Implementation>();
  made->name = name;
  for (const auto& [type, count] : types) {
    for (int i = 0; i < count; ++i) {
      made->add_node(type);
    }
  }
  return made;
}

void connect(Cluster::Implementation& made, Fabric fabric, const input::Section& root) {
  if (!fabric.finish()) {
    root.fail("the fabric falls apart: some nodes cannot reach each other");
  }
  made.set_fabric(std::move(fabric));
}

Cluster make_cluster_file(const input::Section& root, const std::shared_ptr<const Catalog>& catalog,
                          const ClusterOptions& options) {
  const std::string name = root.require("name").text();
  const Types types = read_types(root, catalog, options);
  check_size(types, root);
  auto made = instantiate(name, types);
  made->servers = read_storage_servers(root, *catalog);
  const auto fabric = root.section("fabric");
  root.reject_unknown();
  if (!fabric && made->nodes.size() > 1) {
    root.fail("several nodes need a [fabric]");
  }
  if (!fabric && !made->servers.empty()) {
    root.fail("a [[storage_server]] needs a [fabric]");
  }
  if (fabric) {
    connect(*made, make_fabric(*fabric, ports_of(*made), *catalog), root);
  }
  return Cluster{made};
}

Cluster make_node_file(const input::Document& document,
                       const std::shared_ptr<const Catalog>& catalog,
                       const ClusterOptions& options) {
  const Types types{{NodeType::parse(document, catalog, options.nics), options.nodes.value_or(1)}};
  check_size(types, document.root());
  auto made = instantiate(types[0].first->name(), types);
  if (made->nodes.size() > 1) {
    connect(*made, single_switch(ports_of(*made)), document.root());
  }
  return Cluster{made};
}

}  // namespace

Cluster parse_cluster(const input::Document& document, const Catalog& catalog,
                      const ClusterOptions& options) {
  check_options(options, document.root());
  const auto shared = std::make_shared<const Catalog>(catalog);
  const input::Section root = document.root();
  return is_node_file(root) ? make_node_file(document, shared, options)
                            : make_cluster_file(root, shared, options);
}

Cluster load_cluster(std::string_view name, const ClusterOptions& options,
                     const input::Place& place) {
  const auto file =
      input::find_data(name, {"topologies/nodes", "topologies/clusters"}, {".toml"}, place);
  return parse_cluster(input::Document::parse_file(file.string()), Catalog::load(), options);
}

Cluster flat_cluster(int nodes, int gpus_per_node) {
  auto made = std::make_shared<Cluster::Implementation>();
  made->name = "flat";
  made->flat_nodes = nodes;
  made->flat_gpus_per_node = gpus_per_node;
  made->flat_gpu.name = "gpu";
  return Cluster{made};
}

}  // namespace trainyard::topology
