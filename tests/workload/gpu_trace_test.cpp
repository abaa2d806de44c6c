// The CSV report cuda_gpu_trace of nsys stats, in the spellings of its versions.
#include "workload/importers/gpu_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <tuple>

#include "graph_support.hpp"
#include "input/error.hpp"
#include "support/temporary_folder.hpp"
#include "workload/import.hpp"

using namespace trainyard;
using Catch::Contains;
using Catch::EndsWith;
using test::TimelineView;
using workload::OpKind;
using workload::Workload;

namespace {

constexpr const char* kOlder =
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem "
    "(MB),Bytes (MB),Throughput (MBps),SrcMemKd,DstMemKd,Device,Ctx,Strm,Name\n";
constexpr const char* kNewer =
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem "
    "(MB),Bytes (MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n";
constexpr const char* kShort = "Start (ns),Duration (ns),Device,Strm,Name\n";

Workload import(const std::string& text) {
  const test::TemporaryFolder folder;
  return workload::import_profiles({folder.write("trace.csv", text).string()}, "test");
}

/// What importing the text says, without the path that it begins with.
std::string error_of(const std::string& text) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("trace.csv", text).string();
  try {
    (void)workload::import_profiles({path}, "test");
  } catch (const input::InputError& error) {
    const std::string what = error.what();
    REQUIRE(what.starts_with(path + ":"));
    return what.substr(path.size() + 1);
  }
  return {};
}

}  // namespace

TEST_CASE("gpu trace: rows become operations of their stream") {
  const Workload workload = import(
      std::string{kOlder} +
      "1000,500,4,,,,,,,,,,1.500,12.5,Pageable,Device,Tesla T4 (0),1,7,[CUDA memcpy HtoD]\n"
      "1700,2000,5,1,1,1,64,1,1,8,0.000,0.000,,,,,Tesla T4 (0),1,7,\"void f<int, 3>(T1, T2)\"\n"
      "3700,10,6,,,,,,,,,,0.004,,Device,,Tesla T4 (0),1,13,[CUDA memset]\n");
  CHECK(workload.framework == "nsys");
  CHECK(workload.gpu == "Tesla T4");
  REQUIRE(workload.timelines.size() == 1);
  const TimelineView view{workload.timelines[0]};
  const auto& copy = view.op("gpu0:7", 0);
  CHECK(copy.kind == OpKind::copy);
  CHECK(copy.copy == workload::CopyKind::h2d);
  CHECK(copy.bytes == units::Bytes{1.5e6});
  const auto& kernel = view.op("gpu0:7", 1);
  CHECK(kernel.kind == OpKind::compute);
  CHECK(kernel.duration.count() == 2'000);
  // 1000 + 500 to 1700: nothing says who launched it, so it is a gap.
  CHECK(kernel.gap.count() == 200);
  CHECK(workload.names.at(static_cast<std::size_t>(kernel.name)) == "f");
  CHECK(view.op("gpu0:13", 0).kind == OpKind::fill);
  CHECK(view.op("gpu0:13", 0).bytes == units::Bytes{4e3});
  CHECK(view.start_us(view.at("gpu0:13", 0)) == Approx(2.7));
}

TEST_CASE("gpu trace: the newer layout, behind what the tool prints") {
  const Workload workload = import(
      std::string{"NOTICE: Existing SQLite export found: report.sqlite\n"
                  "        It is assumed file was previously exported from: report.nsys-rep\n"
                  "\n"
                  "Processing [report.sqlite] with [cuda_gpu_trace.py]... \n"} +
      kNewer +
      "100,50,4,,,,,,,,,,8.000,12.5,Device,Device,GPU (1),1,,7,[CUDA memcpy Device-to-Device]\n"
      "100,60,4,1,1,1,1,1,1,8,0.0,0.0,,,,,GPU (0),1,,9,k\r\n");
  // A rank for each GPU: there is no column for the process.
  REQUIRE(workload.timelines.size() == 2);
  CHECK(workload.gpu.empty());
  CHECK(TimelineView{workload.timelines[0]}.op("gpu0:9", 0).duration.count() == 60);
  CHECK(TimelineView{workload.timelines[1]}.op("gpu1:7", 0).copy == workload::CopyKind::d2d);
}

TEST_CASE("gpu trace: units stand in the header") {
  for (const auto& [header, start, duration] :
       {std::tuple{"Start (us),Duration (us)", "1.5", "0.25"},
        std::tuple{"Start(nsec),Duration(nsec)", "1500", "250"},
        std::tuple{"Start (ms),Duration (s)", "0.0015", "0.00000025"},
        std::tuple{"Start (sec),Duration (usec)", "0.0000015", "0.25"}}) {
    INFO(header);
    const Workload workload =
        import(fmt::format("{},Bytes (KiB),Strm,Name\n0,0,,7,a\n{},{},3,7,[CUDA memcpy DtoH]\n",
                           header, start, duration));
    const TimelineView view{workload.timelines[0]};
    CHECK(view.start_us(view.at("gpu0:7", 1)) == Approx(1.5));
    CHECK(view.op("gpu0:7", 1).duration.count() == 250);
    CHECK(view.op("gpu0:7", 1).bytes == units::Bytes{3072.0});
  }
  CHECK(error_of("Start (h),Duration (ns),Strm,Name\n") ==
        "1: error: times in \"h\", expected ns, us, ms or s");
  CHECK(error_of("Start (ns),Duration (ns),Bytes (pt),Strm,Name\n") ==
        "1: error: bytes in \"pt\", expected B, KB, MB or GB");
}

TEST_CASE("gpu trace: quotes in names, and the table's end") {
  const Workload workload = import(std::string{kShort} +
                                   "0,10,GPU (0),7,\"say \"\"hi\"\", you\"\n"
                                   "20,10,GPU (0),7,\"two\nlines\"\n"
                                   "40,10,GPU (0),7,plain\n"
                                   "\n"
                                   "Processing [report.sqlite] with [other.py]...\n"
                                   "Name,Value\n");
  CHECK(workload.names == std::vector<std::string>{"say \"hi\", you", "two\nlines", "plain"});
  REQUIRE(workload.skipped.size() == 2);
  CHECK(workload.skipped[1].reason == "lines behind the table of the report");
}

TEST_CASE("gpu trace: rows that are wrong are refused with their line") {
  const std::string header = kShort;
  CHECK(error_of(header + "0,10,GPU (0),7,a\n5,10,GPU (0)\n") ==
        "3: error: the row has 3 cells, expected 5 as in the header (was the file cut?)");
  CHECK(error_of(header + "0,10,GPU (0),7,\"two\nlines\"\nx,10,GPU (0),7,a\n") ==
        "4: error: Start is \"x\", expected a number");
  CHECK(error_of(header + "0,nan,GPU (0),7,a\n") ==
        "2: error: Duration is \"nan\", expected a number");
  CHECK(error_of(header + "0,-5,GPU (0),7,a\n") == "2: error: Duration is -5, expected 0 or more");
  CHECK(error_of(header + "0,5,GPU (x),7,a\n") ==
        "2: error: Device is \"GPU (x)\", expected a name and a number in brackets");
  CHECK_THAT(error_of(header + "0,5,GPU (0),7,\"a\n1,5,GPU (0),7,b\n"),
             Contains("2: error: a quote is not closed"));
  CHECK_THAT(error_of("Start (ns),Duration (ns),Strm,Name,Bytes (MB)\n0,5,7,[CUDA memset],inf\n"),
             EndsWith("Bytes is \"inf\", expected a number"));
  CHECK_THAT(error_of("Start (ns),Duration (ns),Name\n0,5,a\n"),
             Contains("no column Duration, Strm or Name"));
  // What a cell holds stays in one line.
  CHECK(error_of(header + "\"1\n2\",5,GPU (0),7,a\n") ==
        "2: error: Start is \"1\\u000a2\", expected a number");
  CHECK_THAT(error_of(header), Contains("the report has no rows"));
}

TEST_CASE("gpu trace: a last line without its end is kept and told") {
  const Workload workload = import(std::string{kShort} + "0,10,GPU (0),7,a\n20,10,GPU (0),7,b");
  CHECK(workload::statistics(workload)[0].n_kernels == 2);
  CHECK(std::any_of(workload.skipped.begin(), workload.skipped.end(), [](const auto& skipped) {
    return skipped.reason.starts_with("last line without a line break");
  }));
}

TEST_CASE("gpu trace: told from other text by its header") {
  CHECK(workload::find_gpu_trace(kOlder) == 0);
  CHECK(workload::find_gpu_trace(std::string{"x\n"} + kNewer) == 2);
  CHECK(workload::find_gpu_trace(std::string{"\xef\xbb\xbf"} + kShort) == 3);
  // nvprof has its units in a row of their own.
  CHECK(workload::find_gpu_trace("\"Start\",\"Duration\",\"Grid X\"\ns,ms,\n") ==
        std::string_view::npos);
  CHECK(workload::find_gpu_trace("{\"Start (ns)\": 1}") == std::string_view::npos);
  CHECK(workload::find_gpu_trace("") == std::string_view::npos);
  CHECK_THAT(error_of("Time (%),Total Time (ns),Instances,Avg (ns),Name\n100.0,5,1,5.0,k\n"),
             Contains("a report of sums without a timeline"));
}
