// Planning all-reduces: a group seen before (what a running simulation asks for) and a first look.
#include <benchmark/benchmark.h>

#include <numeric>

#include "collective/plan.hpp"
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

}  // namespace
