// Every recorded profile of the shared set: replayed exactly, with the statistics that an
// independent script computed (reference-values.csv).
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <tuple>

#include "graph_support.hpp"
#include "input/csv.hpp"
#include "support/shared.hpp"
#include "workload/import.hpp"
#include "workload/importers/kineto_events.hpp"

using namespace trainyard;
using units::Nanoseconds;
using workload::DeviceStatistics;

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> profiles(const fs::path& shared) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator{shared / "profiles" / "kineto"}) {
    found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// (stream, start, end) of GPU events, sorted; times since the earliest kept instant.
using Recorded = std::vector<std::tuple<std::string, std::int64_t, std::int64_t>>;

Recorded recorded(const std::string& path) {
  auto text = workload::read_inflated(path);
  const auto file = workload::parse_kineto(text, path);
  Recorded events;
  for (const auto& event : file.gpu) {
    events.emplace_back(fmt::format("gpu{}:{}", event.device, event.stream), event.start,
                        event.start + event.duration);
  }
  std::sort(events.begin(), events.end());
  return events;
}

Recorded replayed(const workload::Timeline& timeline) {
  const auto times = workload::recorded_times(timeline);
  Recorded events;
  for (std::size_t i = 0; i < timeline.ops.size(); ++i) {
    const auto& stream = timeline.streams.at(static_cast<std::size_t>(timeline.ops[i].stream));
    if (!stream.host) {
      events.emplace_back(stream.name, times.start[i].count(), times.end[i].count());
    }
  }
  std::sort(events.begin(), events.end());
  return events;
}

std::int64_t first_start(const Recorded& events) {
  std::int64_t first = std::get<1>(events.front());
  for (const auto& event : events) {
    first = std::min(first, std::get<1>(event));
  }
  return first;
}

double ms(Nanoseconds time) {
  return static_cast<double>(time.count()) / 1e6;
}

/// Six significant digits are printed. The reference computed in microseconds as doubles: epoch
/// times with fractions are off by up to 0.25 us an event there.
Approx printed(double value) {
  return Approx(value).epsilon(6e-6).margin(6e-5);
}

void check_row(const input::CsvRow& row, const DeviceStatistics& device) {
  CHECK(device.device == row.integer("device"));
  CHECK(device.n_kernels == row.integer("n_kernels"));
  CHECK(device.n_comm == row.integer("n_comm"));
  CHECK(device.n_memcpy == row.integer("n_memcpy"));
  CHECK(device.memcpy_bytes == row.integer("memcpy_bytes"));
  CHECK(device.n_memset == row.integer("n_memset"));
  CHECK(device.memset_bytes == row.integer("memset_bytes"));
  CHECK(device.n_steps == row.integer("n_steps"));
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

/// "4=222.442;5=219.727": number and ms of each step.
std::vector<double> step_times(const std::string& text) {
  std::vector<double> times;
  for (std::size_t at = text.find('='); at != std::string::npos; at = text.find('=', at + 1)) {
    times.push_back(std::stod(text.substr(at + 1)));
  }
  return times;
}

std::map<std::string, std::string> launches_missing(const workload::Workload& workload) {
  std::map<std::string, std::string> found;
  for (const auto& skipped : workload.skipped) {
    found[skipped.reason] = std::to_string(skipped.count);
  }
  return found;
}

}  // namespace

TEST_CASE("a replay gives every GPU start and end as recorded", "[profiles][shared]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  for (const auto& path : profiles(*shared)) {
    INFO(path.filename().string());
    const auto workload = workload::import_kineto({path.string()}, "x");
    REQUIRE(workload.timelines.size() == 1);
    Recorded expected = recorded(path.string());
    const Recorded actual = replayed(workload.timelines.front());
    // Only differences of times are in a timeline: line up the first start.
    const std::int64_t shift = first_start(expected) - first_start(actual);
    for (auto& [stream, start, end] : expected) {
      start -= shift;
      end -= shift;
    }
    CHECK(actual == expected);
  }
}

TEST_CASE("dependencies point backwards and lags are not negative", "[profiles][shared]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  for (const auto& path : profiles(*shared)) {
    INFO(path.filename().string());
    const auto workload = workload::import_kineto({path.string()}, "x");
    std::int64_t wrong = 0;
    const auto& ops = workload.timelines.front().ops;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      wrong += ops[i].duration < Nanoseconds{} ? 1 : 0;
      for (const auto& dependency : ops[i].after) {
        const bool backwards = dependency.op >= 0 && dependency.op < static_cast<int>(i);
        wrong += backwards && dependency.lag >= Nanoseconds{} ? 0 : 1;
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("statistics equal the reference values", "[profiles][shared]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  const auto csv = input::Csv::parse_file((*shared / "profiles" / "reference-values.csv").string());
  int checked = 0;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    const auto row = csv.row(i);
    if (row.text("format") != "kineto") {
      continue;
    }
    INFO(row.text("file"));
    const auto path = *shared / "profiles" / row.text("file");
    const auto workload = workload::import_kineto({path.string()}, "x");
    const auto devices = workload::statistics(workload);
    REQUIRE(devices.size() == 1);
    check_row(row, devices.front());
    const auto steps = step_times(row.text("step_ms"));
    REQUIRE(devices.front().step.size() == steps.size());
    for (std::size_t step = 0; step < steps.size(); ++step) {
      CHECK(ms(devices.front().step[step]) == printed(steps[step]));
    }
    const auto missing = launches_missing(workload);
    const auto found =
        missing.find("GPU operations without a launch record (kept, in stream order)");
    CHECK((found == missing.end() ? "0" : found->second) == row.text("n_gpu_without_launch"));
    ++checked;
  }
  CHECK(checked == 26);
}

TEST_CASE("the eight DLRM ranks form one job", "[profiles][shared]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  std::vector<std::string> paths;
  for (int rank = 7; rank >= 0; --rank) {
    paths.push_back(
        (*shared / "profiles" / "kineto" / fmt::format("dlrm_v100x8_rank{}.json.gz", rank))
            .string());
  }
  const auto workload = workload::import_kineto(paths, "dlrm");
  CHECK(workload.world_size == 8);
  REQUIRE(workload.timelines.size() == 8);
  REQUIRE(workload.collectives.size() == 8);
  // read off rank 0's "nccl:" ranges: elements x bytes an element
  const std::vector<double> bytes{6144 * 4.0,   24 * 8.0,   384 * 4.0, 3392 * 4.0,
                                  394241 * 4.0, 6144 * 4.0, 112 * 4.0, 226960 * 4.0};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    CHECK(workload.collectives[i].bytes.value().si() == bytes[i]);
    CHECK(to_text(workload.collectives[i].op) ==
          std::string{i < 4 || i == 5 ? "all_to_all" : "all_reduce"});
  }
  // The eight collectives end within 1 to 7 us of each other (FORMATS.md): the clocks are joined.
  for (int collective = 0; collective < 8; ++collective) {
    Nanoseconds first = units::kForever;
    Nanoseconds last{};
    for (const auto& timeline : workload.timelines) {
      const auto times = workload::recorded_times(timeline);
      for (std::size_t i = 0; i < timeline.ops.size(); ++i) {
        if (timeline.ops[i].collective == collective) {
          first = std::min(first, timeline.start + times.end[i]);
          last = std::max(last, timeline.start + times.end[i]);
        }
      }
    }
    CHECK((last - first).count() <= 7'000);
  }
}

TEST_CASE("the DDP profile has the buckets that HTA reports", "[profiles][shared]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  const auto path = *shared / "profiles" / "kineto" / "resnet_ddp_a100x2_rank0_ncclmeta.json.gz";
  const auto workload = workload::import_kineto({path.string()}, "x");
  CHECK(workload.world_size == 2);
  REQUIRE(workload.collectives.size() == 21);
  REQUIRE(workload.groups.size() == 1);
  CHECK(workload.groups.front().ranks == std::vector<int>{0, 1});
  const auto first =
      std::find_if(workload.collectives.begin(), workload.collectives.end(),
                   [](const auto& call) { return call.op == workload::CollectiveOp::all_reduce; });
  REQUIRE(first != workload.collectives.end());
  CHECK(first->bytes.value().si() == 2'049'000 * 4.0);
  CHECK(std::count_if(workload.collectives.begin(), workload.collectives.end(), [](const auto& c) {
          return c.op == workload::CollectiveOp::broadcast;
        }) == 6);
}
