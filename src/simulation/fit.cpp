#include "simulation/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "units/text.hpp"

namespace trainyard::simulation {

void check_gpu_count(const workload::Workload& workload, int gpus, const input::Place& place) {
  if (gpus == workload.world_size) {
    return;
  }
  const bool all_span = std::all_of(
      workload.groups.begin(), workload.groups.end(), [&](const workload::Group& group) {
        return static_cast<int>(group.ranks.size()) == workload.world_size;
      });
  if (!all_span) {
    throw input::InputError{
        place,
        fmt::format("workload \"{}\" has communicators of part of its {} ranks: it runs on {} "
                    "GPUs, not {}",
                    workload.name, workload.world_size, workload.world_size, gpus)};
  }
}

void check_memory(const workload::Workload& workload, const topology::Cluster& cluster,
                  const input::Place& place) {
  if (workload.memory_per_gpu) {
    check_memory("workload \"" + workload.name + "\"", *workload.memory_per_gpu, cluster, place);
  }
}

void check_memory(std::string_view name, units::Bytes need, const topology::Cluster& cluster,
                  const input::Place& place) {
  for (int node = 0; node < cluster.nodes(); ++node) {
    const topology::GpuKind& gpu = cluster.gpu_kind(cluster.first_gpu(node));
    if (gpu.memory.si() > 0.0 && need > gpu.memory) {
      throw input::InputError{
          place, fmt::format("{} needs {} a GPU, {} has {}", name, units::to_text(need), gpu.name,
                             units::to_text(gpu.memory))};
    }
  }
}

}  // namespace trainyard::simulation
