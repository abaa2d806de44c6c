// `trainyard topology matrix`: how pairs are connected, as `nvidia-smi topo -m` shows it.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "cli/commands.hpp"
#include "cli/topology_text.hpp"
#include "topology/summary.hpp"

namespace trainyard::cli {
namespace {

using topology::Cluster;

/// A larger cluster is shown by one node of each type.
constexpr int kMostGpusInFull = 32;

/// A row or column: a GPU, or NIC `nic` of `node`.
struct End {
  std::string name{};
  int node = 0;
  topology::GpuId gpu = -1;
  int nic = -1;
};

std::vector<End> ends_of(const Cluster& cluster, const std::vector<int>& nodes, bool with_nics) {
  std::vector<End> gpus;
  std::vector<End> nics;
  for (const int node : nodes) {
    const std::string prefix = nodes.size() > 1 ? fmt::format("node{}/", node) : "";
    const topology::GpuId first = cluster.first_gpu(node);
    for (topology::GpuId gpu = first; gpu < first + cluster.gpus_in(node); ++gpu) {
      const std::string name = cluster.gpu_name(gpu);
      gpus.push_back({prefix + name.substr(name.find('/') + 1), node, gpu, -1});
    }
    for (const topology::Nic& nic : cluster.nics(node)) {
      nics.push_back({prefix + nic.name, node, -1, nic.index});
    }
  }
  if (with_nics) {
    gpus.insert(gpus.end(), nics.begin(), nics.end());
  }
  return gpus;
}

std::string class_of(const Cluster& cluster, const End& a, const End& b) {
  if (a.node != b.node) {
    return "NET";
  }
  if (a.gpu >= 0 && b.gpu >= 0) {
    return cluster.pair_class(a.gpu, b.gpu);
  }
  if (a.gpu < 0 && b.gpu < 0) {
    return topology::nic_pair_class(cluster, a.node, a.nic, b.nic);
  }
  return a.gpu >= 0 ? topology::nic_class(cluster, a.gpu, b.nic)
                    : topology::nic_class(cluster, b.gpu, a.nic);
}

/// The narrowest link of the way.
std::string bandwidth_of(const Cluster& cluster, const topology::Path& path) {
  auto least = cluster.link(path.links.front()).bandwidth;
  for (const topology::LinkId link : path.links) {
    least = std::min(least, cluster.link(link).bandwidth);
  }
  return fmt::format("{:.1f}", least.si() / 1e9);
}

std::string cell(const Cluster& cluster, const std::string& what, const End& a, const End& b) {
  if (what == "class") {
    return class_of(cluster, a, b);
  }
  if (a.gpu == b.gpu) {
    return "X";
  }
  const auto path = cluster.path(a.gpu, b.gpu);
  return what == "hops" ? std::to_string(path.links.size()) : bandwidth_of(cluster, path);
}

void print_matrix(const Cluster& cluster, const std::vector<int>& nodes, const std::string& what,
                  std::ostream& out) {
  const auto ends = ends_of(cluster, nodes, what == "class");
  std::size_t widest = 0;
  for (const End& end : ends) {
    widest = std::max(widest, end.name.size());
  }
  out << std::string(widest, ' ');
  for (const End& column : ends) {
    out << fmt::format(" {:>{}}", column.name, std::max<std::size_t>(column.name.size(), 5));
  }
  out << '\n';
  for (const End& row : ends) {
    out << fmt::format("{:<{}}", row.name, widest);
    for (const End& column : ends) {
      out << fmt::format(" {:>{}}", cell(cluster, what, row, column),
                         std::max<std::size_t>(column.name.size(), 5));
    }
    out << '\n';
  }
}

void print_legend(const std::string& what, std::ostream& out) {
  if (what == "class") {
    out << "NV#   # NVLinks, direct or through NVSwitch    PIX   one PCIe switch at most\n"
           "PXB   several PCIe switches                    PHB   a PCIe host bridge (the CPU)\n"
           "NODE  two host bridges of one socket           SYS   the link between sockets\n"
           "NVB   only NVLink through another GPU          NET   another node\n";
  } else if (what == "bandwidth") {
    out << "GB/s each way that one bulk transfer alone reaches: the narrowest link of its way\n";
  } else {
    out << "links on the way\n";
  }
}

void print_fabric(const Cluster& cluster, std::ostream& out) {
  const auto fabric = topology::fabric_of(cluster);
  out << fmt::format("{} nodes on a {} fabric, at most {} on a way\n", cluster.nodes(), fabric.kind,
                     counted(static_cast<std::size_t>(fabric.most_hops), "switch"));
}

int run(const Arguments& arguments, Streams& streams) {
  const Cluster cluster = topology_argument(arguments);
  const std::string what = arguments.text("--what");
  if (cluster.nodes() == 1 || cluster.gpus() <= kMostGpusInFull) {
    std::vector<int> all(static_cast<std::size_t>(cluster.nodes()));
    std::iota(all.begin(), all.end(), 0);
    print_matrix(cluster, all, what, streams.out);
  } else {
    for (const int node : topology::nodes_by_type(cluster)) {
      streams.out << cluster.node_type(node) << '\n';
      print_matrix(cluster, {node}, what, streams.out);
    }
  }
  if (cluster.nodes() > 1) {
    print_fabric(cluster, streams.out);
  }
  print_legend(what, streams.out);
  return 0;
}

}  // namespace

CommandSpec topology_matrix_command() {
  CommandSpec spec;
  spec.name = "topology matrix";
  spec.summary = "Show how pairs of GPUs and NICs are connected";
  spec.details =
      "Classes are named as `nvidia-smi topo -m` names them. A cluster of more than 32 GPUs is\n"
      "shown by one node of each type.";
  spec.example = "trainyard topology matrix dgx-1-v100 --what class";
  spec.options = {topology_option(),
                  {.name = "--what",
                   .value_name = "W",
                   .help = "class, bandwidth or hops of each pair",
                   .default_value = "class",
                   .choices = {"class", "bandwidth", "hops"}}};
  spec.run = &run;
  return spec;
}

}  // namespace trainyard::cli
