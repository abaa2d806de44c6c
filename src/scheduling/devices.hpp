#pragma once

#include <vector>

#include "topology/cluster.hpp"

namespace trainyard::scheduling {

/// Which GPUs of a cluster are free. Cheap to copy (a trial works on a copy).
class Devices {
 public:
  explicit Devices(const topology::Cluster& cluster);  ///< all free; keeps a pointer

  [[nodiscard]] const topology::Cluster& cluster() const { return *cluster_; }
  [[nodiscard]] int free() const { return free_; }
  [[nodiscard]] int free_in(int node) const { return free_in_[static_cast<std::size_t>(node)]; }
  [[nodiscard]] bool is_free(topology::GpuId gpu) const {
    return is_free_[static_cast<std::size_t>(gpu)];
  }
  /// GPUs of the largest node, held ones included: the most that can sit in one node.
  [[nodiscard]] int largest_node() const { return largest_node_; }
  /// Free GPUs of a node, ascending.
  [[nodiscard]] std::vector<topology::GpuId> free_gpus(int node) const;
  /// Precondition: all free / all held.
  void take(const std::vector<topology::GpuId>& gpus);
  void give_back(const std::vector<topology::GpuId>& gpus);

 private:
  const topology::Cluster* cluster_;
  std::vector<bool> is_free_;
  std::vector<int> free_in_;
  int free_ = 0;
  int largest_node_ = 0;
};

}  // namespace trainyard::scheduling
