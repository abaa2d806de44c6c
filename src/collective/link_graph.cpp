#include "collective/link_graph.hpp"

#include <algorithm>

namespace trainyard::collective {

LinkGraph::LinkGraph(int gpus)
    : gpus_{gpus}, free_(static_cast<std::size_t>(gpus) * static_cast<std::size_t>(gpus), 0) {}

LinkGraph::LinkGraph(const topology::Cluster& cluster, int node)
    : LinkGraph{cluster.gpus_in(node)} {
  const topology::GpuId first = cluster.first_gpu(node);
  for (int from = 0; from < gpus_; ++from) {
    for (int to = 0; to < gpus_; ++to) {
      if (from != to) {
        const auto link = cluster.nvlink(first + from, first + to);
        free_[index(from, to)] = link ? cluster.link(*link).count : 0;
      }
    }
  }
}

void LinkGraph::take_pair(int a, int b, int links) {
  take(a, b, links);
  take(b, a, links);
}

void LinkGraph::set_pair(int a, int b, int links) {
  free_[index(a, b)] = links;
  free_[index(b, a)] = links;
}

bool LinkGraph::empty() const {
  return std::all_of(free_.begin(), free_.end(), [](int links) { return links == 0; });
}

}  // namespace trainyard::collective
