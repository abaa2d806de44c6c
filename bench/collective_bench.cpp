// Planning all-reduces: a group seen before (what a running simulation asks for) and a first look.
// Moving the bytes of two all-reduces that meet on every NIC.
#include <benchmark/benchmark.h>

#include <array>
#include <memory>
#include <numeric>
#include <vector>

#include "child.hpp"
#include "collective/plan.hpp"
#include "engine/network.hpp"
#include "simulation/traffic.hpp"
#include "topology/cluster.hpp"

namespace {

using trainyard::collective::Planner;
using trainyard::collective::Request;

trainyard::topology::Cluster nodes_for(const char* type, int gpus) {
  const int in_node = trainyard::topology::load_cluster(type).gpus();
  return trainyard::topology::load_cluster(type, {(gpus + in_node - 1) / in_node, {}});
}

Request all_reduce(int gpus) {
  Request request{trainyard::workload::CollectiveOp::all_reduce, trainyard::units::Bytes{25e6},
                  std::vector<int>(static_cast<std::size_t>(gpus))};
  std::iota(request.group.begin(), request.group.end(), 0);
  return request;
}

void plan_known_group(benchmark::State& state, const char* type) {
  const int gpus = static_cast<int>(state.range(0));
  const auto cluster = nodes_for(type, gpus);
  Planner planner{cluster};
  const Request request = all_reduce(gpus);
  for (auto _ : state) {
    benchmark::DoNotOptimize(planner.plan(request));
  }
  state.counters["flows"] = static_cast<double>(planner.plan(request).flows.size());
}

void plan_new_group(benchmark::State& state, const char* type) {
  const int gpus = static_cast<int>(state.range(0));
  const auto cluster = nodes_for(type, gpus);
  const Request request = all_reduce(gpus);
  for (auto _ : state) {
    Planner planner{cluster};
    benchmark::DoNotOptimize(planner.plan(request));
  }
}

BENCHMARK_CAPTURE(plan_known_group, dgx_1, "dgx-1-v100")->Arg(8)->Arg(64);
BENCHMARK_CAPTURE(plan_known_group, dgx_a100, "dgx-a100-40gb")->Arg(8)->Arg(64);
BENCHMARK_CAPTURE(plan_new_group, dgx_1, "dgx-1-v100")->Arg(8)->Arg(64);
BENCHMARK_CAPTURE(plan_new_group, dgx_a100, "dgx-a100-40gb")->Arg(8)->Arg(64);

using namespace trainyard;

/// Two jobs on all nodes, one on the even GPUs and one on the odd ones: two GPUs share a NIC, so
/// the jobs meet on every NIC. Both start an all-reduce of 1 GiB at once.
class Meeting final : public engine::Handler {
 public:
  explicit Meeting(int gpus) : cluster_{nodes_for("dgx-1-v100", gpus)}, planner_{cluster_} {
    for (int job = 0; job < 2; ++job) {
      requests_[static_cast<std::size_t>(job)] = {
          workload::CollectiveOp::all_reduce, units::Bytes{1073741824.0}, {}};
      for (int gpu = job; gpu < gpus; gpu += 2) {
        requests_[static_cast<std::size_t>(job)].group.push_back(gpu);
      }
    }
    links_ = simulation::shared_links(cluster_, false);
  }

  /// What a job knows of its collectives before it begins.
  void plan() {
    for (const Request& request : requests_) {
      auto& planned = planned_.emplace_back();
      planned.plan = planner_.plan(request);
      planned.alone = units::to_nanoseconds(collective::time_alone(planned.plan, cluster_));
    }
  }
  /// Moves both jobs' bytes. Reports how long that took against alone.
  double move(engine::Network& network) {
    simulation::Traffic traffic{cluster_, network, links_};
    for (int job = 0; job < 2; ++job) {
      static_cast<void>(traffic.join(job, {planned_[static_cast<std::size_t>(job)]}));
    }
    for (int job = 0; job < 2; ++job) {
      traffic.start(job, 0, units::Nanoseconds{0}, {}, *this, 0);
    }
    network.run();
    return static_cast<double>(network.now().count()) /
           static_cast<double>(planned_.back().alone.count());
  }
  [[nodiscard]] const std::vector<engine::Resource>& resources() const { return links_.resources; }

  void fire(std::uint64_t /*token*/) override {}

 private:
  topology::Cluster cluster_;
  Planner planner_;
  std::array<Request, 2> requests_{};
  simulation::SharedLinks links_{};
  std::vector<simulation::PlannedCollective> planned_{};
};

using Maker = std::unique_ptr<engine::Network> (*)(const std::vector<engine::Resource>&);

enum class Planning { before, counted };

/// Not counted: the cluster and its copy in the network, which a run makes once.
void contended_all_reduce(benchmark::State& state, Maker make, Planning planning) {
  const int gpus = static_cast<int>(state.range(0));
  bench::Measured result;
  for (auto _ : state) {
    result = bench::in_child([&] {
      Meeting meeting{gpus};
      const auto network = make(meeting.resources());
      double begin = bench::cpu_now();
      meeting.plan();
      if (planning == Planning::before) {
        begin = bench::cpu_now();
      }
      const double stretch = meeting.move(*network);
      return bench::Measured{bench::cpu_now() - begin, 0.0, stretch};
    });
    if (!result.good) {
      state.SkipWithError("the child died");
      break;
    }
    state.SetIterationTime(result.cpu);
  }
  state.counters["stretch"] = result.extra;
}

void sizes(benchmark::internal::Benchmark* each) {
  each->Arg(8)->Arg(64)->Arg(512)->Arg(4096)->Arg(16384)->UseManualTime()->Iterations(3)->Unit(
      benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(contended_all_reduce, fluid, engine::make_fluid_network, Planning::before)
    ->Apply(sizes);
BENCHMARK_CAPTURE(contended_all_reduce, simgrid, engine::make_simgrid_network, Planning::before)
    ->Apply(sizes);
BENCHMARK_CAPTURE(contended_all_reduce, fluid_and_plan, engine::make_fluid_network,
                  Planning::counted)
    ->Apply(sizes);
BENCHMARK_CAPTURE(contended_all_reduce, simgrid_and_plan, engine::make_simgrid_network,
                  Planning::counted)
    ->Apply(sizes);

}  // namespace
