#include "collective/bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace trainyard::collective {
namespace {

using workload::CollectiveOp;

/// Bytes of the call that members inside must exchange with those outside, one way, for one byte of
/// the call. `inside` of `ranks` members; `first`: rank 0 is one of them.
double crossing(CollectiveOp op, double inside, double ranks, bool first) {
  const double outside = ranks - inside;
  if (outside <= 0.0) {
    return 0.0;
  }
  switch (op) {
    case CollectiveOp::all_gather:
    case CollectiveOp::reduce_scatter:
      return outside / ranks;
    case CollectiveOp::all_to_all:
      return inside * outside / ranks;
    case CollectiveOp::gather:
    case CollectiveOp::scatter:
      return first ? outside / ranks : inside / ranks;
    case CollectiveOp::barrier:
      return 0.0;
    default:
      return 1.0;  // all_reduce, broadcast, reduce, send_recv
  }
}

/// Raw rate of all ports of a GPU, one way.
double port_rate(const topology::Cluster& cluster, topology::GpuId gpu) {
  const auto raw = [&](topology::LinkId link) {
    const auto bundled = cluster.bundled(link);
    return bundled.kind->bandwidth.si() * bundled.count;
  };
  const int node = cluster.node_of(gpu);
  const topology::GpuId first = cluster.first_gpu(node);
  double rate = 0.0;
  std::set<topology::LinkId> host_ports;
  for (topology::GpuId other = first; other < first + cluster.gpus_in(node); ++other) {
    if (other != gpu) {
      if (const auto link = cluster.nvlink(gpu, other)) {
        rate += raw(*link);
      }
      const auto host = cluster.pcie_path(gpu, other);
      if (!host.links.empty()) {
        host_ports.insert(host.links.front());
      }
    }
  }
  const int nic = cluster.nic_of(gpu);
  if (nic >= 0) {
    const auto path = cluster.gpu_to_nic(gpu, nic);
    if (!path.links.empty()) {
      host_ports.insert(path.links.front());
    }
  }
  for (const topology::LinkId link : host_ports) {
    rate += raw(link);
  }
  const auto port = cluster.nvswitch_port(gpu, true);
  return port ? rate + raw(*port) : rate;
}

double cable_rate(const topology::Cluster& cluster, int node) {
  double rate = 0.0;
  for (const topology::Nic& nic : cluster.nics(node)) {
    if (nic.to_fabric >= 0) {
      const auto bundled = cluster.bundled(nic.to_fabric);
      rate += bundled.kind->bandwidth.si() * bundled.count;
    }
  }
  return rate;
}

}  // namespace

units::Seconds lower_bound(const topology::Cluster& cluster, const Request& request) {
  const auto ranks = static_cast<double>(request.group.size());
  std::map<int, double> members;
  for (const topology::GpuId gpu : request.group) {
    members[cluster.node_of(gpu)] += 1.0;
  }
  double longest = 0.0;
  const auto consider = [&](double bytes, double rate) {
    if (rate > 0.0) {
      longest = std::max(longest, bytes * request.bytes.si() / rate);
    }
  };
  for (const topology::GpuId gpu : request.group) {
    const bool first = gpu == request.group.front();
    if (request.op != CollectiveOp::send_recv || request.group.size() > 2 || first) {
      consider(crossing(request.op, 1.0, ranks, first), port_rate(cluster, gpu));
    }
  }
  for (const auto& [node, count] : members) {
    const bool first = node == cluster.node_of(request.group.front());
    consider(crossing(request.op, count, ranks, first), cable_rate(cluster, node));
  }
  return units::Seconds{longest};
}

void check_request(const topology::Cluster& cluster, const Request& request,
                   const input::Place& place) {
  const auto fail = [&](const std::string& what) { throw input::InputError{place, what}; };
  constexpr double kMostBytes = 1152921504606846976.0;  // 2^60
  if (request.group.empty()) {
    fail("a collective needs at least one GPU");
  }
  std::set<topology::GpuId> seen;
  for (const topology::GpuId gpu : request.group) {
    if (gpu < 0 || gpu >= cluster.gpus()) {
      fail(fmt::format("GPU {} is not in the cluster: it has GPUs 0 to {}", gpu,
                       cluster.gpus() - 1));
    }
    if (!seen.insert(gpu).second) {
      fail(fmt::format("GPU {} is in the group twice", gpu));
    }
  }
  if (!(request.bytes.si() >= 0.0 && request.bytes.si() <= kMostBytes)) {
    fail(fmt::format("a collective moves 0 to 2^60 bytes, got {}", request.bytes.si()));
  }
}

}  // namespace trainyard::collective
