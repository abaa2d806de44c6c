#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collective/constants.hpp"
#include "topology/cluster.hpp"
#include "units/quantity.hpp"
#include "workload/step.hpp"

namespace trainyard::collective {

/// One stream of bytes that a collective keeps moving: it crosses all `links` at one rate.
struct Flow {
  std::vector<topology::LinkId> links{};  ///< directed; a link twice counts twice
  units::Bytes size{};                    ///< on each link
  units::BytesPerSecond cap{};            ///< limit that no link shows (protocol); 0: none
};

/// How a collective runs on given GPUs: what it puts on which links.
struct Plan {
  std::string algorithm{};    ///< a row of algorithms(); "none": one rank, or no bytes known
  std::string protocol{};     ///< "ll", "ll128", "simple"
  units::Seconds latency{};   ///< launch and hops, paid once
  std::vector<Flow> flows{};  ///< empty: the latency is all
};

struct Shape;

struct Request {
  workload::CollectiveOp op = workload::CollectiveOp::all_reduce;
  units::Bytes bytes{};                  ///< as workload::Collective::bytes
  std::vector<topology::GpuId> group{};  ///< GPUs in rank order, distinct
};

/// Plans collectives on one cluster; remembers what groups looked like.
///
/// Each call takes the algorithm and protocol that end first when alone, out of the rows of
/// algorithms(): ring (all_reduce 2(n-1)/n x bytes on every ring link; all_gather and
/// reduce_scatter (n-1)/n; broadcast and reduce 1), double binary tree, NVSwitch reduction,
/// pairwise (all_to_all bytes/n per pair, send_recv, gather, scatter). Rings and chains are found
/// on the real link graph: inside a node edge-disjoint cycles over NVLink (each direction is a ring
/// of its own), one ring per GPU port set through NVSwitch, relay over a member where no cycle
/// exists, PCIe otherwise; between nodes one a rail, in and out by its NIC.
/// @source NCCL's published behaviour; figures in topologies/catalog/collectives.toml
class Planner {
 public:
  explicit Planner(const topology::Cluster& cluster, Software software = {});
  Planner(const topology::Cluster& cluster, Software software, Constants constants);
  ~Planner();
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;
  [[nodiscard]] Plan plan(const Request& request);

 private:
  struct Cache;
  [[nodiscard]] const std::vector<Shape>& shapes(const Request& request);

  const topology::Cluster& cluster_;
  Software software_;
  Constants constants_;
  std::unique_ptr<Cache> cache_;
};

/// Rates of flows that run together and alone on the cluster: max-min over all their links and
/// caps.
[[nodiscard]] std::vector<units::BytesPerSecond> rates_alone(const std::vector<Flow>& flows,
                                                             const topology::Cluster& cluster);

/// Time of a plan with nothing else on its links: latency + the last flow's end. Flows that end
/// early leave their share to the others.
[[nodiscard]] units::Seconds time_alone(const Plan& plan, const topology::Cluster& cluster);

/// Rings inside one node over NVLink: each a cyclic order of positions in `group` (all in one
/// node). Edge-disjoint: no link of the graph (counted per direction) is used twice. Empty: no
/// cycle exists.
[[nodiscard]] std::vector<std::vector<int>> nvlink_rings(const topology::Cluster& cluster,
                                                         const std::vector<topology::GpuId>& group);

}  // namespace trainyard::collective
