// `trainyard collective`: the table that nccl-tests prints, predicted.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "collective/bound.hpp"
#include "collective/msccl.hpp"
#include "collective/operation.hpp"
#include "collective/plan.hpp"
#include "units/text.hpp"

namespace trainyard::cli {
namespace {

const input::Place kCommandLine{"command line"};

struct Line {
  double bytes = 0.0;
  double time_us = 0.0;
  double algbw = 0.0;  ///< GB/s
  double busbw = 0.0;  ///< GB/s
  double bound_us = 0.0;
  double latency_us = 0.0;
  collective::Plan plan{};
};

/// "8", "1MiB", "64 MB" and nccl-tests' "8M", "8G" (binary).
double size_of(const Arguments& arguments, const std::string& name) {
  const std::string text = arguments.text(name);
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isdigit(c) != 0;
  });
  std::string with_unit = digits ? text + " B" : text;
  if (!text.empty() && std::string_view{"KMGT"}.find(text.back()) != std::string_view::npos) {
    with_unit += "iB";
  }
  const auto bytes = units::parse_bytes(with_unit);
  constexpr double kMost = 1125899906842624.0;  // 1 PiB
  if (!bytes || bytes->si() < 1.0 || bytes->si() > kMost) {
    arguments.fail(name, fmt::format("must be a size from 1 B to 1 PiB, such as 8, 64MB or 8GiB, "
                                     "got \"{}\"",
                                     text));
  }
  return bytes->si();
}

topology::Cluster cluster_of(const Arguments& arguments) {
  topology::ClusterOptions options;
  if (arguments.has("--nodes")) {
    options.nodes = static_cast<int>(arguments.integer("--nodes", 1, 1000000));
  }
  if (arguments.has("--nics")) {
    options.nics = static_cast<int>(arguments.integer("--nics", 1, 1000));
  }
  return topology::load_cluster(arguments.text("--topology"), options, kCommandLine);
}

/// With --nodes the GPUs are spread evenly over them, the first ones of each; else the first ones.
std::vector<topology::GpuId> group_of(const Arguments& arguments,
                                      const topology::Cluster& cluster) {
  const int nodes = arguments.has("--nodes") ? cluster.nodes() : 1;
  const std::int64_t gpus =
      arguments.has("--gpus") ? arguments.integer("--gpus", 1, 100000000) : cluster.gpus();
  if (gpus > cluster.gpus()) {
    arguments.fail("--gpus", fmt::format("must be at most {}, the GPUs of topology \"{}\", got {}",
                                         cluster.gpus(), cluster.name(), gpus));
  }
  if (gpus % nodes != 0 || (nodes > 1 && gpus / nodes > cluster.gpus_in(0))) {
    arguments.fail("--gpus", fmt::format("must spread evenly over {} nodes, got {}", nodes, gpus));
  }
  std::vector<topology::GpuId> group;
  for (int node = 0; node < nodes; ++node) {
    for (int gpu = 0; gpu < gpus / nodes; ++gpu) {
      group.push_back((nodes > 1 ? cluster.first_gpu(node) : 0) + gpu);
    }
  }
  return group;
}

std::vector<Line> lines_of(const Arguments& arguments, const topology::Cluster& cluster,
                           workload::CollectiveOp op, const std::vector<topology::GpuId>& group) {
  const double least = size_of(arguments, "--min");
  const double most = size_of(arguments, "--max");
  if (least > most) {
    arguments.fail("--min", "must not be more than --max");
  }
  collective::Software software;
  software.call_to_call = true;
  software.algorithm = arguments.text("--algorithm");
  std::optional<collective::MscclAlgorithm> own;
  if (arguments.has("--msccl")) {
    own = collective::read_msccl(arguments.text("--msccl"));
    if (own->op != op) {
      arguments.fail("--msccl", "is an algorithm for another collective than --op");
    }
  }
  const auto constants = collective::Constants::load();
  collective::Planner planner{cluster, software};
  std::vector<Line> lines;
  for (double bytes = least; bytes <= most; bytes *= 2.0) {
    const collective::Request request{op, units::Bytes{bytes}, group};
    collective::check_request(cluster, request, kCommandLine);
    Line line;
    line.bytes = bytes;
    line.plan = own ? collective::msccl_plan(cluster, *own, request.bytes, group, constants,
                                             software, kCommandLine)
                    : planner.plan(request);
    const double seconds = collective::time_alone(line.plan, cluster).si();
    line.time_us = seconds * 1e6;
    line.algbw = seconds > 0.0 ? bytes / seconds * 1e-9 : 0.0;
    line.busbw = line.algbw * collective::bus_factor(op, group.size());
    line.latency_us = line.plan.latency.si() * 1e6;
    line.bound_us = collective::lower_bound(cluster, request).si() * 1e6;
    lines.push_back(std::move(line));
  }
  return lines;
}

/// The link that is busiest for its bandwidth; -1: none is used.
topology::LinkId limiting_link(const topology::Cluster& cluster, const collective::Plan& plan) {
  std::map<topology::LinkId, double> bytes;
  for (const auto& flow : plan.flows) {
    for (const topology::LinkId link : flow.links) {
      bytes[link] += flow.size.si();
    }
  }
  topology::LinkId limiting = -1;
  double longest = 0.0;
  for (const auto& [link, load] : bytes) {
    const double time = load / cluster.bandwidth(link).si();
    if (time > longest * (1.0 + 1e-9)) {
      longest = time;
      limiting = link;
    }
  }
  return limiting;
}

void explain_flows(const topology::Cluster& cluster, const collective::Plan& plan,
                   std::ostream& out) {
  out << fmt::format("\n{} {}: {} flows\n", plan.algorithm, plan.protocol, plan.flows.size());
  constexpr std::size_t kShownFlows = 16;
  constexpr std::size_t kShownLinks = 40;
  for (std::size_t f = 0; f < std::min(plan.flows.size(), kShownFlows); ++f) {
    const auto& flow = plan.flows[f];
    out << fmt::format("  {} over {} links{}:", units::to_text(flow.size), flow.links.size(),
                       flow.cap.si() > 0.0 ? ", at most " + units::to_text(flow.cap) : "");
    for (std::size_t i = 0; i < std::min(flow.links.size(), kShownLinks); ++i) {
      out << ' ' << cluster.link(flow.links[i]).name;
    }
    out << (flow.links.size() > kShownLinks ? " ...\n" : "\n");
  }
  const auto limiting = limiting_link(cluster, plan);
  if (limiting >= 0) {
    const auto link = cluster.link(limiting);
    out << fmt::format("limiting link: {} ({} x {}, {})\n", link.name, link.count, link.kind,
                       units::to_text(link.bandwidth));
  }
}

void print_text(const std::vector<Line>& lines, const topology::Cluster& cluster, bool explain,
                std::ostream& out) {
  out << fmt::format("{:>14} {:>14} {:>7} {:>12} {:>9} {:>9}  {:<10} {:<8}", "size (B)", "count",
                     "type", "time (us)", "algbw", "busbw", "algorithm", "protocol");
  out << (explain ? fmt::format(" {:>12} {:>12}\n", "latency (us)", "bound (us)") : "\n");
  for (const Line& line : lines) {
    out << fmt::format("{:>14.0f} {:>14.0f} {:>7} {:>12.2f} {:>9.2f} {:>9.2f}  {:<10} {:<8}",
                       line.bytes, std::max(1.0, line.bytes / 4.0), "float", line.time_us,
                       line.algbw, line.busbw, line.plan.algorithm, line.plan.protocol);
    out << (explain ? fmt::format(" {:>12.2f} {:>12.2f}\n", line.latency_us, line.bound_us) : "\n");
  }
  out << "algbw, busbw: GB/s (1e9), as nccl-tests defines them\n";
  if (explain) {
    out << "bound: the bytes over the narrowest cut; latency comes on top\n";
    explain_flows(cluster, lines.back().plan, out);
  }
}

void print_csv(const std::vector<Line>& lines, std::ostream& out) {
  out << "bytes,time_us,algbw_gb_per_s,busbw_gb_per_s,algorithm,protocol\n";
  for (const Line& line : lines) {
    out << fmt::format("{:.0f},{:.3f},{:.5g},{:.5g},{},{}\n", line.bytes, line.time_us, line.algbw,
                       line.busbw, line.plan.algorithm, line.plan.protocol);
  }
}

void print_json(const std::vector<Line>& lines, const topology::Cluster& cluster, bool explain,
                std::ostream& out) {
  nlohmann::ordered_json document;
  document["rows"] = nlohmann::ordered_json::array();
  for (const Line& line : lines) {
    nlohmann::ordered_json entry{{"bytes", line.bytes},
                                 {"time_us", line.time_us},
                                 {"algbw_gb_per_s", line.algbw},
                                 {"busbw_gb_per_s", line.busbw},
                                 {"algorithm", line.plan.algorithm},
                                 {"protocol", line.plan.protocol}};
    if (explain) {
      const auto limiting = limiting_link(cluster, line.plan);
      entry["latency_us"] = line.latency_us;
      entry["bound_us"] = line.bound_us;
      entry["flows"] = line.plan.flows.size();
      entry["limiting_link"] = limiting < 0 ? "" : cluster.link(limiting).name;
    }
    document["rows"].push_back(std::move(entry));
  }
  out << document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

int run(const Arguments& arguments, Streams& streams) {
  const auto op = collective::parse_op(arguments.text("--op"));
  if (!op) {
    arguments.fail("--op", collective::unknown_op(arguments.text("--op")));
  }
  const auto cluster = cluster_of(arguments);
  const auto lines = lines_of(arguments, cluster, *op, group_of(arguments, cluster));
  const bool explain = arguments.has("--explain");
  const std::string format = arguments.text("--format");
  if (format == "json") {
    print_json(lines, cluster, explain, streams.out);
  } else if (format == "csv") {
    print_csv(lines, streams.out);
  } else {
    print_text(lines, cluster, explain, streams.out);
  }
  return 0;
}

}  // namespace

CommandSpec collective_command() {
  CommandSpec spec;
  spec.name = "collective";
  spec.summary = "Time and bandwidth of a collective over sizes, as nccl-tests prints them";
  spec.details =
      "Sizes double from --min to --max. One process per GPU, nothing else on the network. With\n"
      "--nodes the GPUs are spread evenly over the nodes.";
  spec.example = "trainyard collective --topology dgx-a100-40gb --op all_reduce --nodes 2";
  spec.options = {
      {.name = "--topology", .value_name = "T", .help = "node or cluster file", .required = true},
      {.name = "--op",
       .value_name = "OP",
       .help = "all_reduce, all_gather, reduce_scatter, broadcast, reduce, alltoall, sendrecv, "
               "gather, scatter, barrier",
       .default_value = "all_reduce"},
      {.name = "--gpus", .value_name = "N", .help = "GPUs of the group (default: all)"},
      {.name = "--nodes", .value_name = "N", .help = "nodes"},
      {.name = "--nics", .value_name = "K", .help = "use only the first K NICs of each node"},
      {.name = "--min", .value_name = "SIZE", .help = "first size", .default_value = "8"},
      {.name = "--max", .value_name = "SIZE", .help = "last size", .default_value = "8GiB"},
      {.name = "--algorithm",
       .value_name = "A",
       .help = "only this one where it can run the call (as NCCL_ALGO)",
       .choices = {"ring", "tree", "nvls", "nvls-tree", "sharp", "torus", "pairwise"}},
      {.name = "--msccl", .value_name = "FILE.xml", .help = "an algorithm in MSCCL's XML"},
      {.name = "--explain", .help = "latency, lower bound, flows, limiting link", .flag = true},
      {.name = "--format",
       .value_name = "F",
       .help = "text, csv or json",
       .default_value = "text",
       .choices = {"text", "csv", "json"}},
  };
  spec.run = &run;
  return spec;
}

}  // namespace trainyard::cli
