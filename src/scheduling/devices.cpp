#include "scheduling/devices.hpp"

#include <algorithm>
#include <cassert>

namespace trainyard::scheduling {

Devices::Devices(const topology::Cluster& cluster)
    : cluster_{&cluster},
      is_free_(static_cast<std::size_t>(cluster.gpus()), true),
      free_{cluster.gpus()} {
  free_in_.reserve(static_cast<std::size_t>(cluster.nodes()));
  for (int node = 0; node < cluster.nodes(); ++node) {
    free_in_.push_back(cluster.gpus_in(node));
    largest_node_ = std::max(largest_node_, cluster.gpus_in(node));
  }
}

std::vector<topology::GpuId> Devices::free_gpus(int node) const {
  std::vector<topology::GpuId> gpus;
  const topology::GpuId first = cluster_->first_gpu(node);
  for (topology::GpuId gpu = first; gpu < first + cluster_->gpus_in(node); ++gpu) {
    if (is_free(gpu)) {
      gpus.push_back(gpu);
    }
  }
  return gpus;
}

void Devices::take(const std::vector<topology::GpuId>& gpus) {
  for (const topology::GpuId gpu : gpus) {
    assert(is_free(gpu));
    is_free_[static_cast<std::size_t>(gpu)] = false;
    --free_in_[static_cast<std::size_t>(cluster_->node_of(gpu))];
  }
  free_ -= static_cast<int>(gpus.size());
}

void Devices::give_back(const std::vector<topology::GpuId>& gpus) {
  for (const topology::GpuId gpu : gpus) {
    assert(!is_free(gpu));
    is_free_[static_cast<std::size_t>(gpu)] = true;
    ++free_in_[static_cast<std::size_t>(cluster_->node_of(gpu))];
  }
  free_ += static_cast<int>(gpus.size());
}

}  // namespace trainyard::scheduling
