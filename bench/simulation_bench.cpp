// 200 jobs of 100,000 steps on 128 nodes with shared links, on SimGrid, in CPU time.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "input/files.hpp"
#include "simulation/run.hpp"

namespace {

using namespace trainyard;

void many_jobs(benchmark::State& state) {
  const auto path = input::data_folder() / "sim" / "many-jobs.toml";
  for (auto _ : state) {
    const pid_t child = fork();
    if (child == 0) {
      const auto scenario = simulation::load_scenario(path.string(), {});
      const auto outcome = simulation::run(scenario);
      _exit(outcome.jobs.size() == 200 ? 0 : 1);
    }
    int status = 0;
    rusage usage{};
    wait4(child, &status, 0, &usage);
    if (status != 0) {
      state.SkipWithError("the run failed");
    }
    state.SetIterationTime(
        static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
        1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec));
  }
}
BENCHMARK(many_jobs)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
