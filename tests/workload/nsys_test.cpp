// SQLite exports of Nsight Systems, made by hand.
#include <catch2/catch.hpp>
#include <string>

#include "graph_support.hpp"
#include "input/error.hpp"
#include "nsys_builder.hpp"
#include "workload/importers/recording.hpp"

using namespace trainyard;
using Catch::Contains;
using Catch::StartsWith;
using test::NsysBuilder;
using test::TimelineView;
using workload::OpKind;
using workload::Workload;

namespace {

std::int64_t skipped(const Workload& workload, const std::string& reason) {
  for (const auto& skipped : workload.skipped) {
    if (skipped.reason.find(reason) != std::string::npos) {
      return skipped.count;
    }
  }
  return 0;
}

std::string error_of(const NsysBuilder& builder) {
  const test::TemporaryFolder folder;
  const std::string path = builder.write(folder);
  try {
    (void)workload::import_profiles({path}, "x");
  } catch (const input::InputError& error) {
    const std::string text = error.what();
    REQUIRE(text.starts_with(path + ": error: "));
    return text.substr((path + ": error: ").size());
  }
  return {};
}

}  // namespace

TEST_CASE("nsys: kernels, copies and fills become operations of their stream") {
  NsysBuilder builder;
  builder.call("cudaMemcpyAsync_v3020", 1'000, 1'500, 1)
      .call("cudaLaunchKernel_v7000", 2'000, 2'400, 2)
      .call("cudaMemsetAsync_v3020", 3'000, 3'100, 3)
      .copy({.start = 1'800, .end = 2'800, .correlation = 1}, 1, 4096)
      .kernel({.start = 3'000, .end = 7'000, .correlation = 2}, "void at::reduce_kernel<1>(Op)")
      .fill({.start = 7'500, .end = 7'600, .correlation = 3}, 64);
  const Workload workload = builder.import();
  CHECK(workload.framework == "nsys");
  CHECK(workload.skipped.empty());
  REQUIRE(workload.timelines.size() == 1);
  const TimelineView view{workload.timelines[0]};
  REQUIRE(view.on("gpu0:7").size() == 3);
  const auto& copy = view.op("gpu0:7", 0);
  CHECK(copy.kind == OpKind::copy);
  CHECK(copy.copy == workload::CopyKind::h2d);
  CHECK(copy.bytes == units::Bytes{4096.0});
  const auto& kernel = view.op("gpu0:7", 1);
  CHECK(kernel.kind == OpKind::compute);
  CHECK(workload.names.at(static_cast<std::size_t>(kernel.name)) == "at::reduce_kernel");
  CHECK(kernel.duration.count() == 4'000);
  // After the copy (end 2.8) and its launch (2.0): the copy is later, the gap is 0.2 us.
  CHECK(kernel.gap.count() == 200);
  CHECK(view.op("gpu0:7", 2).kind == OpKind::fill);
  // The window starts with the first call at 1 us.
  CHECK(view.start_us(view.at("gpu0:7", 0)) == Approx(0.8));
  CHECK(view.end_us(view.at("gpu0:7", 2)) == Approx(6.6));
  CHECK(view.on("host:0").size() == 3);
}

TEST_CASE("nsys: correlation ids count within their process") {
  NsysBuilder builder;
  for (const std::int64_t pid : {300, 100}) {
    builder.call("cudaLaunchKernel_v7000", 1'000 + pid, 1'200 + pid, 5, pid, pid)
        .kernel({.start = 2'000 + pid,
                 .end = 3'000 + pid,
                 .correlation = 5,
                 .pid = pid,
                 .device = pid == 100 ? 0 : 1});
  }
  const Workload workload = builder.import();
  REQUIRE(workload.timelines.size() == 2);
  CHECK(workload.world_size == 2);
  // By process: pid 100 is rank 0. The clock is shared: process 300 starts 0.2 us later.
  CHECK(workload.timelines[0].start.count() == 0);
  CHECK(workload.timelines[1].start.count() == 200);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const TimelineView view{workload.timelines[rank]};
    const std::string stream = rank == 0 ? "gpu0:7" : "gpu1:7";
    REQUIRE(view.on("host:0").size() == 1);
    CHECK(view.lag(view.at(stream, 0), view.at("host:0", 0)) == Approx(1.0));
  }
}

TEST_CASE("nsys: each GPU of one process is a rank with its own launches") {
  NsysBuilder builder;
  builder.call("cudaLaunchKernel", 0, 10, 1)
      .call("cudaLaunchKernel", 20, 30, 2)
      .call("cudaDeviceSynchronize", 40, 500, 3)
      .kernel({.start = 100, .end = 200, .correlation = 1, .device = 0})
      .kernel({.start = 120, .end = 400, .correlation = 2, .device = 1});
  const Workload workload = builder.import();
  REQUIRE(workload.timelines.size() == 2);
  const auto statistics = workload::statistics(workload);
  REQUIRE(statistics.size() == 2);
  CHECK(statistics[1].device == 1);
  CHECK(statistics[1].kernel.count() == 280);
  const TimelineView second{workload.timelines[1]};
  // Launch at 20, the call at 40, its return: three instants on its host thread.
  CHECK(second.on("host:0").size() == 3);
}

TEST_CASE("nsys: nodes of a graph share the launch of the graph") {
  NsysBuilder builder;
  builder.call("cudaGraphLaunch_v10000", 0, 50, 9)
      .kernel({.start = 100, .end = 200, .correlation = 9, .node = "1"})
      .kernel({.start = 210, .end = 300, .correlation = 9, .node = "2"})
      .graph({.start = 100, .end = 300, .correlation = 9});
  const Workload workload = builder.import();
  const TimelineView view{workload.timelines[0]};
  // The trace of the graph as a whole is the same work again.
  CHECK(view.on("gpu0:7").size() == 2);
  CHECK(skipped(workload, "launch record") == 0);
  CHECK(workload::statistics(workload)[0].busy.count() == 190);
}

TEST_CASE("nsys: a graph traced as a whole is busy time, but no kernel") {
  NsysBuilder builder;
  builder.call("cudaLaunchKernel", 0, 10, 1)
      .call("cudaGraphLaunch", 20, 30, 2)
      .kernel({.start = 100, .end = 150, .correlation = 1})
      .graph({.start = 200, .end = 1'200, .correlation = 2});
  const Workload workload = builder.import();
  const auto statistics = workload::statistics(workload);
  CHECK(statistics[0].n_kernels == 1);
  CHECK(statistics[0].kernel.count() == 50);
  CHECK(statistics[0].compute_union.count() == 50);
  CHECK(statistics[0].busy.count() == 1'050);
  CHECK(statistics[0].gpu_span.count() == 1'100);
  CHECK(skipped(workload, "traced as a whole") == 1);
}

TEST_CASE("nsys: times that were lost are counted, times that cannot be are refused") {
  NsysBuilder lost;
  lost.kernel({.start = 100, .end = 200}).kernel({.start = 0, .end = 0});
  lost.raw("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, deviceId) VALUES (300, 0);");
  const Workload workload = lost.import();
  CHECK(skipped(workload, "time stamp lost") == 1);
  CHECK(workload::statistics(workload)[0].n_kernels == 1);

  NsysBuilder backwards;
  backwards.kernel({.start = 100, .end = 99});
  CHECK(error_of(backwards) ==
        "table CUPTI_ACTIVITY_KIND_KERNEL, row 1: the end 99 is before the start 100");
  NsysBuilder text;
  text.kernel({.start = 100, .end = 200});
  text.raw("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 'soon';");
  CHECK(error_of(text) ==
        "table CUPTI_ACTIVITY_KIND_KERNEL, row 1: column start is text, expected "
        "a whole number");
  NsysBuilder huge;
  huge.kernel({.start = 1, .end = 9'000'000'000'000'000'000});
  CHECK_THAT(error_of(huge), Contains("9000000000000000000 is no time in ns"));
  NsysBuilder device;
  device.kernel({.start = 1, .end = 2, .device = -3});
  CHECK_THAT(error_of(device), Contains("deviceId is -3, expected a small number"));
}

TEST_CASE("nsys: sessions without GPU work and other databases are refused") {
  CHECK_THAT(error_of(NsysBuilder{}), StartsWith("the export has no GPU events"));
  NsysBuilder calls;
  calls.call("cudaLaunchKernel", 0, 10, 1);
  CHECK_THAT(error_of(calls), StartsWith("the export has no GPU events"));
  NsysBuilder column;
  column.raw("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER);");
  CHECK_THAT(error_of(column), StartsWith("table CUPTI_ACTIVITY_KIND_KERNEL has no column end"));

  const test::TemporaryFolder folder;
  const std::string other = test::make_database(folder, "CREATE TABLE songs (title TEXT);");
  CHECK_THROWS_WITH(workload::import_profiles({other}, "x"), Contains("no table of GPU activity"));
  CHECK_THROWS_WITH(workload::import_profiles({other}, "x", workload::ProfileFormat::nsys),
                    Contains("is no profile in the format nsys"));
  const std::string report = folder.write("run.nsys-rep", "x").string();
  CHECK_THROWS_WITH(workload::import_profiles({report}, "x"),
                    Contains("expected its SQLite export"));
}

TEST_CASE("nsys: old exports without process ids and names of processes") {
  const test::TemporaryFolder folder;
  const std::string path = test::make_database(
      folder,
      "CREATE TABLE StringIds (id INTEGER, value TEXT);"
      "INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel'), (2, 'add(int)');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId,"
      " shortName);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (50, 60, 0, 7, 3, 2);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 20, 281474976710757, 3, 1);"
      "CREATE TABLE TARGET_INFO_GPU (id, name);"
      "INSERT INTO TARGET_INFO_GPU VALUES (0, 'Tesla T4'), (1, 'Tesla V100-SXM2-16GB');");
  const Workload workload = workload::import_profiles({path}, "x");
  CHECK(workload.gpu == "Tesla T4");
  CHECK(workload.names == std::vector<std::string>{"add"});
  CHECK(workload.skipped.empty());  // the launch was found
}

TEST_CASE("nsys: names of GPUs go by process where the export says so") {
  NsysBuilder builder;
  builder.kernel({.start = 1, .end = 2, .pid = 100, .device = 0});
  builder.raw(
      "CREATE TABLE TARGET_INFO_GPU (id, name, cuDevice);"
      "INSERT INTO TARGET_INFO_GPU VALUES (0, 'Tesla T4', 0), (1, 'NVIDIA L4', 1);"
      "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid);"
      "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, 99), (1, 0, 100);");
  // Process 100 sees only the second GPU, and calls it 0.
  CHECK(builder.import().gpu == "NVIDIA L4");
}

TEST_CASE("nsys: the session's start puts exports on one clock") {
  const test::TemporaryFolder folder;
  std::vector<std::string> paths;
  for (const std::int64_t node : {0, 1}) {
    NsysBuilder builder;
    builder.kernel({.start = 100, .end = 200});
    builder.raw(
        fmt::format("CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs);"
                    "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES ({});",
                    1'690'709'432'747'674'811 + node * 5'000));
    paths.push_back(builder.write(folder, fmt::format("node{}.sqlite", node)));
  }
  const Workload workload = workload::import_profiles(paths, "x");
  REQUIRE(workload.timelines.size() == 2);
  CHECK(workload.timelines[1].start.count() == 5'000);
}

TEST_CASE("nsys: names that are not UTF-8 are made so") {
  NsysBuilder builder;
  builder.kernel({.start = 1, .end = 2}, "k");
  builder.raw("UPDATE StringIds SET value = CAST(x'6BFF6B' AS TEXT);");
  const Workload workload = builder.import();
  CHECK(workload.names == std::vector<std::string>{"k?k"});
  CHECK(skipped(workload, "not UTF-8") == 1);
}
