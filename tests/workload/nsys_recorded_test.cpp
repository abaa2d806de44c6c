// The recorded Nsight Systems files of the shared set: replayed exactly, with the statistics that
// an independent script computed (reference-values.csv).
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <tuple>

#include "graph_support.hpp"
#include "input/csv.hpp"
#include "support/shared.hpp"
#include "support/temporary_folder.hpp"
#include "workload/import.hpp"
#include "workload/importers/sqlite.hpp"

using namespace trainyard;
using units::Nanoseconds;
using workload::DeviceStatistics;

namespace {

namespace fs = std::filesystem;

constexpr const char* kTwoGpus = "nsys/h100x2_seqpar_before.sqlite";
constexpr const char* kResnet = "nsys/resnet18_trt_3090_2023.sqlite";

workload::Workload import(const fs::path& path) {
  return workload::import_profiles({path.string()}, "x");
}

double ms(Nanoseconds time) {
  return static_cast<double>(time.count()) / 1e6;
}

/// Six significant digits are printed.
Approx printed(double value) {
  return Approx(value).epsilon(6e-6);
}

void check_times(const input::CsvRow& row, const DeviceStatistics& device) {
  CHECK(ms(device.kernel) == printed(row.number("kernel_ms")));
  CHECK(ms(device.comm_kernel) == printed(row.number("comm_kernel_ms")));
  CHECK(ms(device.memcpy) == printed(row.number("memcpy_ms")));
  CHECK(ms(device.gpu_span) == printed(row.number("gpu_span_ms")));
  CHECK(ms(device.busy) == printed(row.number("busy_ms")));
  CHECK(ms(device.idle) == printed(row.number("idle_ms")));
  CHECK(ms(device.compute_union) == printed(row.number("compute_union_ms")));
  CHECK(ms(device.comm_union) == printed(row.number("comm_union_ms")));
  CHECK(ms(device.overlap) == printed(row.number("overlap_ms")));
  CHECK(ms(device.exposed_comm) == printed(row.number("exposed_comm_ms")));
}

void check_counts(const input::CsvRow& row, const DeviceStatistics& device) {
  CHECK(device.n_kernels == row.integer("n_kernels"));
  CHECK(device.n_comm == row.integer("n_comm"));
  CHECK(device.n_memcpy == row.integer("n_memcpy"));
  CHECK(device.n_memset == row.integer("n_memset"));
  CHECK(device.n_steps == row.integer("n_steps"));
}

const DeviceStatistics& of_device(const std::vector<DeviceStatistics>& all, std::int64_t device) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.device == device; });
  REQUIRE(found != all.end());
  return *found;
}

/// (device, stream, start, end) of GPU work, sorted.
using Recorded = std::vector<std::tuple<std::string, std::int64_t, std::int64_t>>;

Recorded recorded(const fs::path& path) {
  const workload::Sqlite database{path.string()};
  Recorded events;
  for (const char* kind : {"KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE"}) {
    auto rows = database.select(fmt::format("CUPTI_ACTIVITY_KIND_{}", kind),
                                {"deviceId", "streamId", "start", "end"});
    while (rows.next()) {
      events.emplace_back(fmt::format("gpu{}:{}", rows.needed(0), rows.needed(1)), rows.needed(2),
                          rows.needed(3));
    }
  }
  std::sort(events.begin(), events.end());
  return events;
}

Recorded replayed(const workload::Workload& workload) {
  Recorded events;
  for (const auto& timeline : workload.timelines) {
    const auto times = workload::recorded_times(timeline);
    for (std::size_t i = 0; i < timeline.ops.size(); ++i) {
      const auto& stream = timeline.streams.at(static_cast<std::size_t>(timeline.ops[i].stream));
      if (!stream.host) {
        events.emplace_back(stream.name, (timeline.start + times.start[i]).count(),
                            (timeline.start + times.end[i]).count());
      }
    }
  }
  std::sort(events.begin(), events.end());
  return events;
}

/// Only differences of times are in a workload: the first start becomes 0.
Recorded from_zero(Recorded events) {
  std::int64_t first = std::get<1>(events.front());
  for (const auto& event : events) {
    first = std::min(first, std::get<1>(event));
  }
  for (auto& [stream, start, end] : events) {
    start -= first;
    end -= first;
  }
  return events;
}

std::int64_t without_launch(const workload::Workload& workload) {
  for (const auto& skipped : workload.skipped) {
    if (skipped.reason.starts_with("GPU operations without a launch record")) {
      return skipped.count;
    }
  }
  return 0;
}

}  // namespace

TEST_CASE("nsys files: statistics equal the reference values", "[profiles][shared]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  const auto csv = input::Csv::parse_file((*shared / "profiles" / "reference-values.csv").string());
  int checked = 0;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    const auto row = csv.row(i);
    if (row.text("format") != "nsys-sqlite") {
      continue;
    }
    INFO(row.text("file") << " device " << row.text("device"));
    const auto workload = import(*shared / "profiles" / row.text("file"));
    const auto all = workload::statistics(workload);
    const auto& device = of_device(all, row.integer("device"));
    check_counts(row, device);
    check_times(row, device);
    CHECK(device.memcpy_bytes == row.integer("memcpy_bytes"));
    CHECK(device.memset_bytes == row.integer("memset_bytes"));
    CHECK(workload.gpu == row.text("gpu"));
    ++checked;
  }
  CHECK(checked == 4);
}

TEST_CASE("nsys files: a replay gives every GPU start and end as recorded", "[profiles][shared]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  for (const auto& entry : fs::directory_iterator{*shared / "profiles" / "nsys"}) {
    INFO(entry.path().filename().string());
    CHECK(from_zero(replayed(import(entry.path()))) == from_zero(recorded(entry.path())));
  }
}

TEST_CASE("nsys files: the CSV reports of two exports say the same", "[profiles][shared]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  const auto csv = input::Csv::parse_file((*shared / "profiles" / "reference-values.csv").string());
  for (const auto& [report, base] : {std::pair{"h100x2_seqpar_before_cuda_gpu_trace.csv", kTwoGpus},
                                     std::pair{"resnet18_trt_3090_cuda_gpu_trace.csv", kResnet}}) {
    const auto path = *shared / "profiles" / "derived" / report;
    const auto workload = import(path);
    const auto all = workload::statistics(workload);
    for (std::size_t i = 0; i < csv.size(); ++i) {
      const auto row = csv.row(i);
      if (row.text("file") != base) {
        continue;
      }
      INFO(report << " device " << row.text("device"));
      const auto& device = of_device(all, row.integer("device"));
      check_counts(row, device);
      check_times(row, device);
      // A thousandth of a MB is printed: half of it a copy may be lost.
      CHECK(
          static_cast<double>(device.memcpy_bytes) ==
          Approx(row.number("memcpy_bytes")).margin(500.0 * static_cast<double>(device.n_memcpy)));
    }
    CHECK(from_zero(replayed(workload)) == from_zero(recorded(*shared / "profiles" / base)));
  }
}

TEST_CASE("nsys files: launches are found within their process", "[profiles][shared]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  // n_gpu_without_launch of the two devices: 16 and 15.
  const auto workload = import(*shared / "profiles" / kTwoGpus);
  CHECK(without_launch(workload) == 31);
  CHECK(workload.world_size == 2);
  REQUIRE(workload.groups.size() == 1);
  CHECK(workload.groups[0].ranks == std::vector<int>{0, 1});
  CHECK(workload.collectives.size() == 33);
  CHECK(std::all_of(workload.collectives.begin(), workload.collectives.end(), [](const auto& call) {
    return call.op == workload::CollectiveOp::send_recv && !call.bytes;
  }));
  CHECK(without_launch(import(*shared / "profiles" / kResnet)) == 0);
}

TEST_CASE("nsys files: cut ones end in one line", "[profiles][shared]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  const test::TemporaryFolder folder;
  std::ifstream in{*shared / "profiles" / kResnet, std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
  for (const std::size_t percent : {1U, 10U, 50U, 90U, 99U}) {
    INFO(percent << " %");
    const std::string cut =
        folder.write("cut.sqlite", bytes.substr(0, bytes.size() * percent / 100)).string();
    CHECK_THROWS_WITH(import(cut), Catch::StartsWith(cut + ": error: ") &&
                                       Catch::Contains("expected a whole file"));
  }
}
