#include "collective/support.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <numeric>

namespace trainyard::test {

std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

std::vector<int> first_gpus(int count) {
  std::vector<int> gpus(static_cast<std::size_t>(count));
  std::iota(gpus.begin(), gpus.end(), 0);
  return gpus;
}

std::vector<int> bits(unsigned mask) {
  std::vector<int> set;
  for (int bit = 0; bit < 32; ++bit) {
    if ((mask >> static_cast<unsigned>(bit) & 1U) != 0) {
      set.push_back(bit);
    }
  }
  return set;
}

std::vector<int> sample(Random& random, int bound, int count) {
  std::vector<int> all = first_gpus(bound);
  for (int i = 0; i < count; ++i) {
    const int other = i + random.below(bound - i);
    std::swap(all[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(other)]);
  }
  all.resize(static_cast<std::size_t>(count));
  return all;
}

collective::LinkGraph cube_mesh() {
  collective::LinkGraph graph{8};
  static constexpr std::array<std::array<int, 3>, 16> kPairs{{{0, 1, 1},
                                                              {0, 2, 1},
                                                              {0, 3, 2},
                                                              {0, 4, 2},
                                                              {1, 2, 2},
                                                              {1, 3, 1},
                                                              {1, 5, 2},
                                                              {2, 3, 2},
                                                              {2, 6, 1},
                                                              {3, 7, 1},
                                                              {4, 5, 1},
                                                              {4, 6, 1},
                                                              {4, 7, 2},
                                                              {5, 6, 2},
                                                              {5, 7, 1},
                                                              {6, 7, 2}}};
  for (const auto& [a, b, links] : kPairs) {
    graph.set_pair(a, b, links);
  }
  return graph;
}

topology::Cluster nodes_of(const std::string& type, int count) {
  return topology::load_cluster(type, {count, {}});
}

std::map<topology::LinkId, double> bytes_by_link(const collective::Plan& plan) {
  std::map<topology::LinkId, double> bytes;
  for (const auto& flow : plan.flows) {
    for (const topology::LinkId link : flow.links) {
      bytes[link] += flow.size.si();
    }
  }
  return bytes;
}

topology::LinkId link_named(const topology::Cluster& cluster, const std::string& name) {
  for (topology::LinkId id = 0; id < cluster.links(); ++id) {
    if (cluster.link(id).name == name) {
      return id;
    }
  }
  FAIL("no link named " << name);
  return -1;
}

collective::Plan plan_of(const topology::Cluster& cluster, workload::CollectiveOp op, double bytes,
                         const std::vector<topology::GpuId>& group) {
  return collective::Planner{cluster}.plan({op, units::Bytes{bytes}, group});
}

collective::Constants round_constants() {
  return collective::Constants::parse(input::Document::parse(
      R"([collective.start]
each = "10 us"
one_process = "1 us"
one_process_gpu = "4 us"
[[collective.protocol]]
name = "ll"
nvlink_hop = "1 us"
pcie_hop = "2 us"
bandwidth = 0.5
[[collective.protocol]]
name = "ll128"
nvlink_hop = "2 us"
pcie_hop = "4 us"
bandwidth = 0.8
tree_fill = 2.0
[[collective.protocol]]
name = "simple"
nvlink_hop = "3 us"
pcie_hop = "6 us"
once_before_2_12 = "20 us"
once = "0 us"
tree_fill = 10.0
ring_fill = 4.0
[[collective.transport]]
name = "infiniband"
hop = "5 us"
ll128 = true
lone_share = 0.5
[[collective.generation]]
architecture = "volta"
ll128 = true
network_ll = "20 GB/s"
[[collective.generation]]
architecture = "ampere"
ll128 = true
network_ll = "20 GB/s"
[[collective.generation]]
architecture = "hopper"
start = 0.5
ll128 = true
switch_reduction = 0.5
network_ll = "20 GB/s"
[collective.algorithm]
switched_pair = 0.8
one_phase = 1.0
tree = 1.0
both_ways = 1.0
send_recv = 0.5
staged = 0.5
switch_reduction = "40 us"
sharp = "30 us"
peer = "0.3 us"
network_peer = "5 us"
[collective.slice]
part = "1 us"
)",
      "round.toml"));
}

collective::Plan round_plan(const topology::Cluster& cluster, workload::CollectiveOp op,
                            double bytes, const std::vector<topology::GpuId>& group,
                            const collective::Software& software) {
  return collective::Planner{cluster, software, round_constants()}.plan(
      {op, units::Bytes{bytes}, group});
}

collective::Plan ring_of(const topology::Cluster& cluster, workload::CollectiveOp op, double bytes,
                         const std::vector<topology::GpuId>& group) {
  return round_plan(cluster, op, bytes, group, {.algorithm = "ring"});
}

double transfer_time(const topology::Cluster& cluster, const collective::Plan& plan) {
  return (collective::time_alone(plan, cluster) - plan.latency).si();
}

}  // namespace trainyard::test
