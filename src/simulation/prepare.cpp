#include "simulation/prepare.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

namespace trainyard::simulation {
namespace {

/// The stream on which the first recorded rank that takes part issues each collective.
std::vector<int> lanes(const workload::Workload& workload) {
  std::vector<int> lane(workload.collectives.size(), -1);
  for (const auto& timeline : workload.timelines) {
    for (const auto& op : timeline.ops) {
      if (op.kind == workload::OpKind::collective &&
          lane[static_cast<std::size_t>(op.collective)] < 0) {
        lane[static_cast<std::size_t>(op.collective)] = op.stream;
      }
    }
  }
  return lane;
}

/// Of each collective, how long it lasted on the recorded rank that arrived last.
std::vector<std::int64_t> shortest_recorded(const workload::Workload& workload) {
  std::vector<std::int64_t> shortest(workload.collectives.size(),
                                     std::numeric_limits<std::int64_t>::max());
  for (const auto& timeline : workload.timelines) {
    for (const auto& op : timeline.ops) {
      if (op.kind == workload::OpKind::collective) {
        auto& value = shortest[static_cast<std::size_t>(op.collective)];
        value = std::min(value, op.recorded.count());
      }
    }
  }
  return shortest;
}

bool all_present(const workload::Workload& workload, const workload::Group& group) {
  return std::all_of(group.ranks.begin(), group.ranks.end(), [&](int rank) {
    return std::any_of(workload.timelines.begin(), workload.timelines.end(),
                       [&](const auto& timeline) { return timeline.rank == rank; });
  });
}

}  // namespace

std::vector<std::int64_t> reference_times(const workload::Workload& workload) {
  if (workload.collectives.empty()) {
    return {};
  }
  const topology::Catalog catalog = topology::Catalog::load();
  const topology::GpuKind* gpu = catalog.find_gpu(workload.gpu);
  if (gpu == nullptr || gpu->usual_node.empty()) {
    return {};
  }
  const int in_node = topology::load_cluster(gpu->usual_node).gpus();
  const int nodes = (workload.world_size + in_node - 1) / in_node;
  const auto cluster = topology::load_cluster(gpu->usual_node, {nodes, {}});
  collective::Planner planner{cluster};
  std::vector<topology::GpuId> gpus(static_cast<std::size_t>(workload.world_size));
  std::iota(gpus.begin(), gpus.end(), 0);
  std::vector<std::int64_t> times;
  for (const auto& planned : plan_collectives(workload, gpus, planner, cluster)) {
    times.push_back(planned.alone.count());
  }
  return times;
}

Program prepare(const workload::Workload& workload, const std::vector<std::int64_t>& reference) {
  Program program = compile(workload);
  if (reference.empty()) {
    return program;
  }
  const auto recorded = shortest_recorded(workload);
  for (std::size_t k = 0; k < workload.collectives.size(); ++k) {
    const auto& group = workload.groups[static_cast<std::size_t>(workload.collectives[k].group)];
    if (recorded[k] != std::numeric_limits<std::int64_t>::max() && !all_present(workload, group)) {
      program.absent_wait[k] = std::max<std::int64_t>(recorded[k] - reference[k], 0);
    }
  }
  return program;
}

std::vector<topology::GpuId> group_gpus(const workload::Workload& workload, int group,
                                        const std::vector<topology::GpuId>& gpus) {
  const auto& ranks = workload.groups[static_cast<std::size_t>(group)].ranks;
  if (static_cast<int>(ranks.size()) == workload.world_size) {
    return gpus;
  }
  std::vector<topology::GpuId> result;
  result.reserve(ranks.size());
  for (const int rank : ranks) {
    result.push_back(gpus[static_cast<std::size_t>(rank)]);
  }
  return result;
}

std::vector<PlannedCollective> plan_collectives(const workload::Workload& workload,
                                                const std::vector<topology::GpuId>& gpus,
                                                collective::Planner& planner,
                                                const topology::Cluster& cluster) {
  const std::vector<int> lane = lanes(workload);
  std::vector<PlannedCollective> planned;
  for (std::size_t k = 0; k < workload.collectives.size(); ++k) {
    const auto& wanted = workload.collectives[k];
    PlannedCollective& result = planned.emplace_back();
    result.plan = planner.plan({wanted.op, wanted.bytes.value_or(units::Bytes{}),
                                group_gpus(workload, wanted.group, gpus)});
    result.alone = units::to_nanoseconds(collective::time_alone(result.plan, cluster));
    result.lane = lane[k];
  }
  return planned;
}

bool overlaps_collectives(const workload::Workload& workload) {
  std::vector<int> used = lanes(workload);
  used.erase(std::remove(used.begin(), used.end(), -1), used.end());
  return std::adjacent_find(used.begin(), used.end(), std::not_equal_to<>{}) != used.end();
}

}  // namespace trainyard::simulation
