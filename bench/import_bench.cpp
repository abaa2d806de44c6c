// Kineto import in bytes of inflated JSON a second, after inflation and with it. The profile is
// made here: kernels with their launches, in the shape and size of a real one (about 60 MB of
// text).
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <zlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "workload/import.hpp"

namespace {

using trainyard::workload::import_kineto;

constexpr int kKernels = 60000;

/// One launch call, its CPU operator and its kernel.
void add_kernel(std::string& text, int i) {
  const double launch = 1000.0 + i * 12.5;
  fmt::format_to(std::back_inserter(text),
                 R"({{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 7, "tid": 8, )"
                 R"("ts": {:.3f}, "dur": 9.100, "args": {{"External id": {}, "Ev Idx": {}, )"
                 R"("Input Dims": [[128, 1024], [128, 1024], []], "Input type": ["float", )"
                 R"("float", "Scalar"], "Concrete Inputs": ["", "", "1"]}}}},)"
                 "\n",
                 launch - 4.0, i, i);
  fmt::format_to(std::back_inserter(text),
                 R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, )"
                 R"("tid": 8, "ts": {:.3f}, "dur": 4.250, "args": {{"External id": {}, )"
                 R"("cbid": 211, "correlation": {}}}}},)"
                 "\n",
                 launch, i, i);
  fmt::format_to(
      std::back_inserter(text),
      R"({{"ph": "X", "cat": "kernel", "name": "void at::native::vectorized_elementwise_kernel)"
      R"(<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >", )"
      R"("pid": 0, "tid": 7, "ts": {:.3f}, "dur": 7.000, "args": {{"External id": {}, )"
      R"("queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": {}, )"
      R"("registers per thread": 32, "shared memory": 0, "blocks per SM": 1.6, )"
      R"("warps per SM": 6.4, "grid": [128, 1, 1], "block": [128, 1, 1], )"
      R"("est. achieved occupancy %": 10}}}}{})"
      "\n",
      launch + 6.0, i, i, i + 1 < kKernels ? "," : "");
}

const std::string& profile_text() {
  static const std::string kText = [] {
    std::string text =
        R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Tesla V100-SXM2-32GB"}],)"
        "\n\"traceEvents\": [\n";
    for (int i = 0; i < kKernels; ++i) {
      add_kernel(text, i);
    }
    return text + "]}\n";
  }();
  return kText;
}

std::string profile_path(const std::string& name) {
  return (std::filesystem::temp_directory_path() / name).string();
}

void run(benchmark::State& state, const std::string& path) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(import_kineto({path}, "bench"));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(profile_text().size()));
  std::filesystem::remove(path);
}

void import_json(benchmark::State& state) {
  const std::string path = profile_path("trainyard-bench.json");
  std::ofstream{path} << profile_text();
  run(state, path);
}
BENCHMARK(import_json)->Unit(benchmark::kMillisecond);

void import_json_gz(benchmark::State& state) {
  const std::string path = profile_path("trainyard-bench.json.gz");
  gzFile file = gzopen(path.c_str(), "wb6");
  gzwrite(file, profile_text().data(), static_cast<unsigned>(profile_text().size()));
  gzclose(file);
  run(state, path);
}
BENCHMARK(import_json_gz)->Unit(benchmark::kMillisecond);

}  // namespace
