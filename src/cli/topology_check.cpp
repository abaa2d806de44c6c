// `trainyard topology check`: reads a topology, routes in it, and says what looks wrong.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "cli/commands.hpp"
#include "cli/topology_text.hpp"
#include "topology/summary.hpp"

namespace trainyard::cli {
namespace {

/// Routes from the first GPU of each node, spread over all others: enough to meet every rail, few
/// enough for a cluster of thousands of nodes.
std::size_t routes_between_nodes(const topology::Cluster& cluster) {
  constexpr std::int64_t kAboutRoutes = 200000;
  const std::int64_t pairs = std::int64_t{cluster.nodes()} * cluster.gpus();
  // Odd, so that all GPUs of nodes with an even number of them have their turn.
  const int step = static_cast<int>(std::max<std::int64_t>(9, pairs / kAboutRoutes) | 1);
  std::size_t found = 0;
  for (int node = 0; node < cluster.nodes(); ++node) {
    const topology::GpuId from = cluster.first_gpu(node);
    for (topology::GpuId to = node % step; to < cluster.gpus(); to += step) {
      const bool elsewhere = cluster.node_of(to) != node;
      found += elsewhere && !cluster.path(from, to).links.empty() ? 1 : 0;
    }
  }
  return found;
}

std::size_t routes_in_nodes(const topology::Cluster& cluster) {
  std::size_t found = 0;
  for (const int node : topology::nodes_by_type(cluster)) {
    const topology::GpuId first = cluster.first_gpu(node);
    for (topology::GpuId from = first; from < first + cluster.gpus_in(node); ++from) {
      for (topology::GpuId to = first; to < first + cluster.gpus_in(node); ++to) {
        found += cluster.path(from, to).links.empty() ? 0 : 1;
      }
    }
  }
  return found;
}

int run(const Arguments& arguments, Streams& streams) {
  const auto cluster = topology_argument(arguments);
  const auto types = topology::nodes_by_type(cluster);
  streams.out << fmt::format(
      "{}\n"
      "  keys, names, kinds and figures: valid\n"
      "  {}, {}, {}\n"
      "  inside a node: {} of {} found\n",
      cluster.name(), counted(static_cast<std::size_t>(cluster.nodes()), "node"), gpu_text(cluster),
      counted(nic_count(cluster), "NIC"), counted(routes_in_nodes(cluster), "route"),
      counted(types.size(), "node type"));
  if (cluster.nodes() > 1) {
    const auto fabric = topology::fabric_of(cluster);
    streams.out << fmt::format(
        "  between nodes: every NIC reaches every other over at most {}, {} tried\n",
        counted(static_cast<std::size_t>(fabric.most_hops), "switch"),
        counted(routes_between_nodes(cluster), "route"));
  }
  const auto warnings = topology::warnings_of(cluster);
  for (const std::string& warning : warnings) {
    streams.out << "warning: " << warning << '\n';
  }
  streams.out << fmt::format("{}: no errors, {}\n", cluster.name(),
                             counted(warnings.size(), "warning"));
  return 0;
}

}  // namespace

CommandSpec topology_check_command() {
  CommandSpec spec;
  spec.name = "topology check";
  spec.summary = "Check a topology file and say what looks wrong";
  spec.details =
      "An error is exit 2: an unknown key or kind, a link to nowhere, a bandwidth that is none, a\n"
      "name that comes twice, a GPU that cannot reach another. What is legal but looks wrong is a\n"
      "warning: a device without a link, more NVLinks than the GPU has, a NIC that its PCIe link\n"
      "cannot fill, a consumer card in a cluster.";
  spec.example = "trainyard topology check superpod-a100-1su";
  spec.options = {topology_option()};
  spec.run = &run;
  return spec;
}

}  // namespace trainyard::cli
