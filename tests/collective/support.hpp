#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collective/link_graph.hpp"
#include "collective/plan.hpp"
#include "topology/cluster.hpp"

namespace trainyard::test {

/// splitmix64: the same sequence everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_{seed} {}
  std::uint64_t next();
  int below(int bound) { return static_cast<int>(next() % static_cast<std::uint64_t>(bound)); }

 private:
  std::uint64_t state_;
};

/// 0, 1, ... count - 1.
[[nodiscard]] std::vector<int> first_gpus(int count);
/// The set bits of `mask`, ascending.
[[nodiscard]] std::vector<int> bits(unsigned mask);
/// `count` different numbers below `bound`, in random order.
[[nodiscard]] std::vector<int> sample(Random& random, int bound, int count);

/// NVLinks of a V100 DGX-1 by pair, as its vendor wires it.
[[nodiscard]] collective::LinkGraph cube_mesh();

/// `count` nodes of a shipped node file on one switch.
[[nodiscard]] topology::Cluster nodes_of(const std::string& type, int count);

[[nodiscard]] std::map<topology::LinkId, double> bytes_by_link(const collective::Plan& plan);

/// Id of the link with that name. Fails the test if there is none.
[[nodiscard]] topology::LinkId link_named(const topology::Cluster& cluster,
                                          const std::string& name);

/// Over rings, whatever would be faster.
[[nodiscard]] collective::Plan ring_of(const topology::Cluster& cluster, workload::CollectiveOp op,
                                       double bytes, const std::vector<topology::GpuId>& group);
[[nodiscard]] collective::Plan plan_of(const topology::Cluster& cluster, workload::CollectiveOp op,
                                       double bytes, const std::vector<topology::GpuId>& group);

/// Round numbers in place of the fitted ones, to derive times from by hand: start 10 us; hops of LL
/// 1 us (PCIe 2), LL128 2 (4), Simple 3 (6); LL reaches 0.5 of Simple, LL128 0.8; fences 20 us
/// before 2.12, then 0; InfiniBand 5 us a hop, its tree fills in 2 (LL128) or 10 hops, rings in 4;
/// LL between nodes at most 20 GB/s; NVLS 0.5 of the port's rate and 40 us; 0.3 us a peer, 5 us one
/// elsewhere; two GPUs on a switch 0.8, one-phase calls 1, trees 1, no slices.
[[nodiscard]] collective::Constants round_constants();

[[nodiscard]] collective::Plan round_plan(const topology::Cluster& cluster,
                                          workload::CollectiveOp op, double bytes,
                                          const std::vector<topology::GpuId>& group,
                                          const collective::Software& software = {});

/// Time for the bytes alone: without latency, in seconds.
[[nodiscard]] double transfer_time(const topology::Cluster& cluster, const collective::Plan& plan);

}  // namespace trainyard::test
