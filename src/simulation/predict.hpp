#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulation/traffic.hpp"
#include "topology/cluster.hpp"
#include "workload/step.hpp"

namespace trainyard::simulation {

struct PredictedRank {
  int rank = 0;
  units::Nanoseconds step{};  ///< median of its marked steps; the whole window without marks
  units::Nanoseconds span{};  ///< first start to last end of GPU work in the recorded window
};

/// One collective call of the recorded window as replayed.
struct PredictedCollective {
  int collective = 0;  ///< index into Workload::collectives
  std::string algorithm{};
  std::string protocol{};
  units::Nanoseconds transfer{};     ///< our model, alone on its links
  units::Nanoseconds absent_wait{};  ///< recorded minus modelled: for ranks that were not recorded
  std::vector<units::Nanoseconds> duration{};  ///< by recorded rank, waiting included
  std::vector<units::Nanoseconds> recorded{};  ///< by recorded rank
};

/// Replay of everything that was recorded, once, on given GPUs. Times are means per step and rank.
struct Prediction {
  units::Nanoseconds step{};  ///< median step; without skew of the ranks' clocks see ranks
  units::Nanoseconds
      makespan{};  ///< first mark to last mark over all ranks (their clock skew included)
  units::Nanoseconds recorded_step{};  ///< the same quantity as `step`, as recorded
  units::Nanoseconds compute{};        ///< kernels, copies and fills
  units::Nanoseconds exposed_communication{};
  units::Nanoseconds idle{};         ///< GPU idle: launch-bound or waiting for input
  units::Nanoseconds steady_step{};  ///< pace of the repeated representative step, ranks aligned
  std::optional<double> samples_per_second{};
  std::string bottleneck_link{};  ///< busiest link while it is used; "" without communication
  std::vector<PredictedRank> ranks{};
  std::vector<PredictedCollective> collectives{};
  std::vector<std::string> notes{};  ///< what was assumed
};

struct PredictOptions {
  bool aligned = false;  ///< start all ranks at the same instant: drop the recorded clock skew
};

/// @param gpus  rank r runs on gpus[r]
[[nodiscard]] Prediction predict(const workload::Workload& workload,
                                 const topology::Cluster& cluster,
                                 const std::vector<topology::GpuId>& gpus,
                                 const PredictOptions& options = {});

}  // namespace trainyard::simulation
