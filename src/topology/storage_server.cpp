// Storage servers: a port of the fabric each, and drives behind it that all readers share.
#include "topology/storage_server.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "topology/cluster_implementation.hpp"
#include "topology/fabric_kinds.hpp"
#include "topology/names.hpp"

namespace trainyard::topology {
namespace {

constexpr std::size_t kMostServers = 10000;

void add_fabric_way(const Cluster::Implementation& made, Path& path, int from, int to,
                    std::uint64_t salt) {
  for (const int local : made.fabric.route(from, to, salt)) {
    path.links.push_back(made.fabric_links + local);
    path.latency += made.fabric.kind(local).latency;
  }
}

}  // namespace

std::vector<StorageServer> read_storage_servers(const input::Section& root,
                                                const Catalog& catalog) {
  std::vector<StorageServer> servers;
  for (const input::Section& section : root.sections("storage_server")) {
    const input::Value name = section.require("name");
    StorageServer server{.cable = network_link(section.require("link"), catalog)};
    server.drives.name = "storage-server";
    server.drives.medium = Medium::storage;
    server.drives.bandwidth = section.require("bandwidth").bandwidth();
    section.reject_unknown();
    for (const std::string& one : expand_name(name)) {
      const bool known = std::any_of(servers.begin(), servers.end(),
                                     [&](const auto& other) { return other.name == one; });
      if (known || servers.size() == kMostServers) {
        name.fail(known ? fmt::format("\"{}\" is the name of another storage server", one)
                        : fmt::format("makes more than {} storage servers", kMostServers));
      }
      server.name = one;
      servers.push_back(server);
    }
  }
  return servers;
}

int Cluster::storage_servers() const {
  return static_cast<int>(implementation_->servers.size());
}

const std::string& Cluster::storage_server_name(int server) const {
  return implementation_->servers[static_cast<std::size_t>(server)].name;
}

Path Cluster::storage_path(int server, int node, int nic, std::uint64_t salt) const {
  const Implementation& made = *implementation_;
  Path path{{made.server_links + 2 * server}, {}};
  add_fabric_way(made, path, made.node_ports() + server, made.node(node).first_port + nic, salt);
  return path;
}

Path Cluster::to_storage_path(int node, int nic, int server, std::uint64_t salt) const {
  const Implementation& made = *implementation_;
  Path path;
  add_fabric_way(made, path, made.node(node).first_port + nic, made.node_ports() + server, salt);
  path.links.push_back(made.server_links + 2 * server + 1);
  return path;
}

bool Cluster::in_network_reduction() const {
  return implementation_->fabric.in_network_reduction();
}

}  // namespace trainyard::topology
