#include <benchmark/benchmark.h>

#include "child.hpp"

int main(int count, char** arguments) {
  if (trainyard::bench::ran_as_new_process(count, arguments)) {
    return 0;
  }
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) {
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
