#pragma once

#include <vector>

#include "topology/cluster.hpp"

namespace trainyard::collective {

/// Direct NVLinks between the GPUs of one node, counted per direction, and how many of them are
/// still unused. GPUs are local: 0 is the first of the node.
class LinkGraph {
 public:
  explicit LinkGraph(int gpus);
  /// Of a node of the cluster.
  LinkGraph(const topology::Cluster& cluster, int node);

  [[nodiscard]] int gpus() const { return gpus_; }
  [[nodiscard]] int free(int from, int to) const { return free_[index(from, to)]; }
  /// Takes (or with -1 gives back) one link in one direction.
  void take(int from, int to, int links = 1) { free_[index(from, to)] -= links; }
  /// One link, both directions.
  void take_pair(int a, int b, int links = 1);
  void set_pair(int a, int b, int links);
  [[nodiscard]] bool empty() const;

 private:
  [[nodiscard]] std::size_t index(int from, int to) const {
    return static_cast<std::size_t>(from) * static_cast<std::size_t>(gpus_) +
           static_cast<std::size_t>(to);
  }

  int gpus_ = 0;
  std::vector<int> free_{};
};

}  // namespace trainyard::collective
