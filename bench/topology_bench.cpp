// Routes, and the platform of 2,048 DGX A100: cluster, shareable links and SimGrid's copy of them.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/network.hpp"
#include "simulation/traffic.hpp"
#include "topology/cluster.hpp"

namespace {

using namespace trainyard;

void route_lookup(benchmark::State& state) {
  const auto cluster = topology::load_cluster("superpod-a100-1su");
  int from = 0;
  for (auto _ : state) {
    const int to = (from * 7 + 13) % cluster.gpus();
    benchmark::DoNotOptimize(cluster.path(from, to, static_cast<std::uint64_t>(from)));
    from = (from + 1) % cluster.gpus();
  }
}
BENCHMARK(route_lookup);

/// Runs in a child: SimGrid allows one network a process, and peak memory is the child's.
void platform_2048_dgx_a100(benchmark::State& state) {
  for (auto _ : state) {
    const pid_t child = fork();
    if (child == 0) {
      const auto cluster = topology::load_cluster("superpod-a100-1su", {2048, {}});
      const auto links = simulation::shared_links(cluster, false);
      const auto network = engine::make_simgrid_network(links.resources);
      _exit(network->events() == 0 ? 0 : 1);
    }
    int status = 0;
    rusage usage{};
    wait4(child, &status, 0, &usage);
    state.SetIterationTime(
        static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
        1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec));
    state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) * 1024.0 / 1e6;
  }
}
BENCHMARK(platform_2048_dgx_a100)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
