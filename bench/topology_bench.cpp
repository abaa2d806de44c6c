// Routes, and the platform of 2,048 DGX A100: cluster, shareable links and SimGrid's copy of them.
#include <benchmark/benchmark.h>

#include "child.hpp"
#include "engine/network.hpp"
#include "simulation/link_loads.hpp"
#include "topology/cluster.hpp"

namespace {

using namespace trainyard;

/// 16,384 NICs are more than three tiers of 40 ports hold (16,000): switches of 64 ports.
constexpr const char* kLarge = R"(
name = "dgx-a100-2048"
[[node]]
type = "dgx-a100-40gb"
count = 2048
[fabric]
kind = "rail-fat-tree"
link = "ib-hdr"
leaf_ports = 64
)";

topology::Cluster large_cluster() {
  return topology::parse_cluster(input::Document::parse(kLarge, "dgx-a100-2048"),
                                 topology::Catalog::load());
}

void look_up(benchmark::State& state, const topology::Cluster& cluster) {
  int from = 0;
  for (auto _ : state) {
    const int to = (from * 7 + 13) % cluster.gpus();
    benchmark::DoNotOptimize(cluster.path(from, to, static_cast<std::uint64_t>(from)));
    from = (from + 1) % cluster.gpus();
  }
}

void route_lookup(benchmark::State& state) {
  look_up(state, topology::load_cluster("superpod-a100-1su"));
}
BENCHMARK(route_lookup);

void route_lookup_three_tiers(benchmark::State& state) {
  look_up(state, large_cluster());
}
BENCHMARK(route_lookup_three_tiers);

void cluster_2048_dgx_a100(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(large_cluster());
  }
}
BENCHMARK(cluster_2048_dgx_a100)->Unit(benchmark::kMillisecond);

int make_platform() {
  const auto cluster = large_cluster();
  const auto links = simulation::shared_links(cluster, false);
  const auto network = engine::make_simgrid_network(links.resources);
  return network->events() == 0 ? 0 : 1;
}
const bench::Named kMakePlatform{"platform_2048_dgx_a100", make_platform};

void platform_2048_dgx_a100(benchmark::State& state) {
  for (auto _ : state) {
    const bench::Measured result = bench::in_new_process("platform_2048_dgx_a100");
    if (!result.good) {
      state.SkipWithError("the platform was not made");
      break;
    }
    state.SetIterationTime(result.cpu);
    state.counters["peak_MB"] = result.megabytes;
  }
}
BENCHMARK(platform_2048_dgx_a100)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
