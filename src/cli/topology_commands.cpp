// `trainyard topology list|check|show|matrix`.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "input/files.hpp"
#include "topology/cluster.hpp"
#include "units/text.hpp"

namespace trainyard::cli {
namespace {

using topology::Cluster;

const input::Place kCommandLine{"command line"};

constexpr int kWidestMatrix = 32;

Cluster load(const Arguments& arguments) {
  return topology::load_cluster(arguments.text("T"), {}, kCommandLine);
}

/// GPU kinds of a cluster and how many of each, in order of appearance.
std::vector<std::pair<std::string, int>> gpu_kinds(const Cluster& cluster) {
  std::vector<std::pair<std::string, int>> kinds;
  for (int gpu = 0; gpu < cluster.gpus(); ++gpu) {
    const std::string& name = cluster.gpu_kind(gpu).name;
    if (kinds.empty() || kinds.back().first != name) {
      kinds.emplace_back(name, 0);
    }
    ++kinds.back().second;
  }
  return kinds;
}

std::string gpu_text(const Cluster& cluster) {
  std::string text;
  for (const auto& [name, count] : gpu_kinds(cluster)) {
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", count, name);
  }
  return text;
}

// ---- list -------------------------------------------------------------------------------------

int list(const Arguments& /*arguments*/, Streams& streams) {
  streams.out << fmt::format("{:<22} {:<8} {:>6} {:>6} {:>6}  {}\n", "name", "kind", "nodes",
                             "GPUs", "NICs", "GPU");
  for (const char* folder : {"topologies/nodes", "topologies/clusters"}) {
    const bool node = std::string_view{folder}.find("nodes") != std::string_view::npos;
    for (const std::string& name : input::shipped_names(folder, ".toml")) {
      const Cluster cluster = topology::load_cluster(name, {}, kCommandLine);
      streams.out << fmt::format("{:<22} {:<8} {:>6} {:>6} {:>6}  {}\n", name,
                                 node ? "node" : "cluster", cluster.nodes(), cluster.gpus(),
                                 cluster.nics(0).size() * static_cast<std::size_t>(cluster.nodes()),
                                 gpu_text(cluster));
    }
  }
  return 0;
}

// ---- check ------------------------------------------------------------------------------------

int check(const Arguments& arguments, Streams& streams) {
  const Cluster cluster = load(arguments);
  streams.out << fmt::format("{}: {} node(s), {} GPUs ({}), {} directed links: no errors\n",
                             cluster.name(), cluster.nodes(), cluster.gpus(), gpu_text(cluster),
                             cluster.links());
  std::set<std::string> warned;
  for (int node = 0; node < cluster.nodes(); ++node) {
    const auto& gpu = cluster.gpu_kind(cluster.first_gpu(node));
    if (!gpu.data_center && cluster.nodes() > 1 && warned.insert(gpu.name).second) {
      streams.out << fmt::format(
          "warning: {} is a consumer card: its driver's licence excludes data centres\n", gpu.name);
    }
  }
  return 0;
}

// ---- show -------------------------------------------------------------------------------------

/// Links by kind, of one node (or of the fabric: -1).
void show_links(const Cluster& cluster, int node, std::ostream& out) {
  struct Total {
    int bundles = 0;
    int links = 0;
    topology::Link one{};
  };
  std::map<std::string, Total> totals;
  for (topology::LinkId id = 0; id < cluster.links(); id += 2) {
    const topology::Link link = cluster.link(id);
    if (link.node == node) {
      Total& total = totals[link.kind];
      ++total.bundles;
      total.links += link.count;
      total.one = link;
    }
  }
  for (const auto& [kind, total] : totals) {
    const double count = total.one.count;
    out << fmt::format("  {:<18} {:>6} links, each {} per direction ({} effective), {} latency\n",
                       kind, total.links, units::to_text(total.one.raw / count),
                       units::to_text(total.one.bandwidth / count),
                       units::to_text(total.one.latency));
  }
}

void show_node(const Cluster& cluster, int node, std::ostream& out) {
  const int first = cluster.first_gpu(node);
  const auto& gpu = cluster.gpu_kind(first);
  out << fmt::format("node type {}\n  {} x {} ({}, {})\n", cluster.node_type(node),
                     cluster.gpus_in(node), gpu.name, units::to_text(gpu.memory),
                     units::to_text(gpu.memory_bandwidth));
  for (const auto& nic : cluster.nics(node)) {
    out << fmt::format("  NIC {}{}\n", nic.name,
                       nic.to_fabric < 0 ? ""
                                         : ", " + units::to_text(cluster.link(nic.to_fabric).raw) +
                                               " per direction");
  }
  show_links(cluster, node, out);
}

int show(const Arguments& arguments, Streams& streams) {
  const Cluster cluster = load(arguments);
  streams.out << fmt::format("{}: {} node(s), {} GPUs\n", cluster.name(), cluster.nodes(),
                             cluster.gpus());
  std::set<std::string> shown;
  for (int node = 0; node < cluster.nodes(); ++node) {
    if (shown.insert(cluster.node_type(node)).second) {
      show_node(cluster, node, streams.out);
    }
  }
  if (cluster.nodes() > 1) {
    streams.out << "fabric\n";
    show_links(cluster, -1, streams.out);
    const int last = cluster.gpus() - 1;
    streams.out << fmt::format("  {} to {}: {} switches, {}\n", cluster.gpu_name(0),
                               cluster.gpu_name(last), cluster.switch_hops(0, last),
                               units::to_text(cluster.path(0, last).latency));
  }
  return 0;
}

// ---- matrix -----------------------------------------------------------------------------------

/// Least effective rate on the way, GB/s.
std::string bandwidth_text(const Cluster& cluster, int a, int b) {
  double least = 0.0;
  for (const topology::LinkId id : cluster.path(a, b).links) {
    const double rate = cluster.link(id).bandwidth.si();
    least = least == 0.0 ? rate : std::min(least, rate);
  }
  return least == 0.0 ? "-" : fmt::format("{:.1f}", least * 1e-9);
}

std::string entry(const Cluster& cluster, const std::string& what, int a, int b) {
  if (a == b) {
    return "X";
  }
  if (what == "class") {
    return cluster.pair_class(a, b);
  }
  return what == "bandwidth" ? bandwidth_text(cluster, a, b)
                             : std::to_string(cluster.path(a, b).links.size());
}

int matrix(const Arguments& arguments, Streams& streams) {
  const Cluster cluster = load(arguments);
  const std::string what = arguments.text("--what");
  const int shown = std::min(cluster.gpus(), std::max(kWidestMatrix, cluster.gpus_in(0)));
  streams.out << fmt::format("{:<14}", "");
  for (int b = 0; b < shown; ++b) {
    streams.out << fmt::format("{:>13}", cluster.gpu_name(b));
  }
  streams.out << '\n';
  for (int a = 0; a < shown; ++a) {
    streams.out << fmt::format("{:<14}", cluster.gpu_name(a));
    for (int b = 0; b < shown; ++b) {
      streams.out << fmt::format("{:>13}", entry(cluster, what, a, b));
    }
    streams.out << '\n';
  }
  if (shown < cluster.gpus()) {
    streams.out << fmt::format("the first {} of {} GPUs\n", shown, cluster.gpus());
  }
  if (what == "class") {
    streams.out
        << "NV#: # NVLinks; PIX: one PCIe switch; PXB: several; PHB: host bridge; NODE: host\n"
           "bridges of one socket; SYS: between sockets; NET: another node\n";
  } else {
    streams.out << (what == "bandwidth" ? "GB/s, effective, the narrowest link of the way\n"
                                        : "links on the way\n");
  }
  return 0;
}

Option topology_name() {
  return {.name = "T", .help = "node or cluster file, or a shipped name", .required = true};
}

}  // namespace

CommandSpec topology_list_command() {
  return {.name = "topology list",
          .summary = "List the machines and clusters that ship",
          .example = "trainyard topology list",
          .run = &list};
}

CommandSpec topology_check_command() {
  return {.name = "topology check",
          .summary = "Check a topology file",
          .example = "trainyard topology check dgx-a100-40gb",
          .options = {topology_name()},
          .run = &check};
}

CommandSpec topology_show_command() {
  return {.name = "topology show",
          .summary = "Show a topology's devices and links",
          .example = "trainyard topology show dgx-2",
          .options = {topology_name()},
          .run = &show};
}

CommandSpec topology_matrix_command() {
  return {.name = "topology matrix",
          .summary = "Show how GPU pairs are connected",
          .example = "trainyard topology matrix dgx-1-v100 --what class",
          .options = {topology_name(),
                      {.name = "--what",
                       .help = "link class, bandwidth or hops of each pair",
                       .default_value = "class",
                       .choices = {"class", "bandwidth", "hops"}}},
          .run = &matrix};
}

}  // namespace trainyard::cli
