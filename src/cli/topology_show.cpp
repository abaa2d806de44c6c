// `trainyard topology show`: devices, links by kind, fabric and bisections.
#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.hpp"
#include "cli/topology_text.hpp"
#include "topology/summary.hpp"
#include "units/text.hpp"

namespace trainyard::cli {
namespace {

using topology::Cluster;
using units::to_text;

void print_devices(const std::vector<topology::DeviceGroup>& groups, std::ostream& out) {
  for (const auto& group : groups) {
    const std::string names =
        group.count == 1 ? group.first : fmt::format("{} .. {}", group.first, group.last);
    out << fmt::format("  {:>5} {:<12} {}{}{}\n", group.count, group.kind, names,
                       group.detail.empty() ? "" : ", ", group.detail);
  }
}

void print_links(const std::vector<topology::LinkGroup>& groups, std::string_view what,
                 std::ostream& out) {
  for (const auto& group : groups) {
    out << fmt::format("  {:>5} {:<17} {} {:>3}, {} each way, {} for bulk, {} a hop\n", group.links,
                       group.kind, what, group.bundles, to_text(group.raw),
                       to_text(group.effective), to_text(group.latency));
  }
}

void print_node(const Cluster& cluster, int node, std::ostream& out) {
  const auto& gpu = cluster.gpu_kind(cluster.first_gpu(node));
  out << fmt::format("\nnode {}\n", cluster.node_type(node));
  print_devices(topology::devices_of(cluster, node), out);
  out << fmt::format("  {} has {} at {} and {} x {}\n", gpu.name, to_text(gpu.memory),
                     to_text(gpu.memory_bandwidth), gpu.nvlink_links,
                     gpu.nvlink.empty() ? "NVLink" : gpu.nvlink);
  out << "links\n";
  print_links(topology::links_of(cluster, node), "between pairs", out);
  const auto bisection = topology::nvlink_bisection(cluster, node);
  if (bisection.si() > 0.0) {
    out << fmt::format("NVLink between halves of the GPUs: {} each way\n", to_text(bisection));
  }
}

void print_fabric(const Cluster& cluster, std::ostream& out) {
  const auto fabric = topology::fabric_of(cluster);
  out << fmt::format("\nfabric {}, {} routing, at most {} on a way\n", fabric.kind, fabric.routing,
                     counted(static_cast<std::size_t>(fabric.most_hops), "switch"));
  print_devices(fabric.switches, out);
  out << "links\n";
  print_links(topology::cables_of(cluster), "to NICs      ", out);
  print_links(topology::trunks_of(cluster), "between pairs", out);
  const auto bisection = topology::fabric_bisection(cluster);
  const auto demand = topology::fabric_demand(cluster);
  out << fmt::format(
      "network between halves of the nodes: {} each way, {:.0f} % of what half the "
      "NICs send\n",
      to_text(bisection), 100.0 * (bisection / demand));
}

int run(const Arguments& arguments, Streams& streams) {
  const Cluster cluster = topology_argument(arguments);
  streams.out << fmt::format("{}: {}, {}, {}\n", cluster.name(),
                             counted(static_cast<std::size_t>(cluster.nodes()), "node"),
                             gpu_text(cluster), counted(nic_count(cluster), "NIC"));
  for (const int node : topology::nodes_by_type(cluster)) {
    print_node(cluster, node, streams.out);
  }
  if (cluster.nodes() > 1) {
    print_fabric(cluster, streams.out);
  }
  return 0;
}

}  // namespace

CommandSpec topology_show_command() {
  CommandSpec spec;
  spec.name = "topology show";
  spec.summary = "Show a topology's devices, links and bisections";
  spec.details =
      "Rates are per direction and for one link: raw, and what bulk transfers reach of it.";
  spec.example = "trainyard topology show dgx-2";
  spec.options = {topology_option()};
  spec.run = &run;
  return spec;
}

}  // namespace trainyard::cli
