// `trainyard topology list`: what ships.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "cli/commands.hpp"
#include "cli/topology_text.hpp"
#include "input/files.hpp"
#include "topology/summary.hpp"

namespace trainyard::cli {
namespace {

/// "6 x nvlink2" a GPU, "-" without; of the first node.
std::string nvlink_text(const topology::Cluster& cluster) {
  for (const auto& group : topology::links_of(cluster, 0)) {
    if (group.medium == topology::Medium::nvlink) {
      return fmt::format("{} x {}", cluster.gpu_kind(0).nvlink_links, cluster.gpu_kind(0).nvlink);
    }
  }
  return "-";
}

std::string nic_text(const topology::Cluster& cluster) {
  for (const auto& group : topology::devices_of(cluster, 0)) {
    if (group.kind == "nic") {
      return fmt::format("{} x {}", cluster.nics(0).size(), group.detail);
    }
  }
  return "-";
}

int run(const Arguments& /*arguments*/, Streams& streams) {
  const auto row = [&](auto... cells) {
    streams.out << fmt::format("{:<20} {:<8} {:>5} {:>5}  {:<20} {:<12} {}\n", cells...);
  };
  row("name", "kind", "nodes", "GPUs", "GPU", "NVLink", "NICs a node");
  constexpr std::array<std::pair<const char*, const char*>, 2> kFolders{
      {{"topologies/nodes", "node"}, {"topologies/clusters", "cluster"}}};
  for (const auto& [folder, kind] : kFolders) {
    for (const std::string& name : input::shipped_names(folder, ".toml")) {
      const auto cluster = topology::load_cluster(name);
      row(name, kind, cluster.nodes(), cluster.gpus(), cluster.gpu_kind(0).name,
          nvlink_text(cluster), nic_text(cluster));
    }
  }
  return 0;
}

}  // namespace

CommandSpec topology_list_command() {
  CommandSpec spec;
  spec.name = "topology list";
  spec.summary = "List the machines and clusters that ship";
  spec.example = "trainyard topology list";
  spec.run = &run;
  return spec;
}

}  // namespace trainyard::cli
