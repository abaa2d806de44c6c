// Which format a profile has is told by what it holds, not by its name.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "nsys_builder.hpp"
#include "profile_builder.hpp"
#include "workload/importers/decimal.hpp"
#include "workload/importers/recording.hpp"

using namespace trainyard;
using Catch::Contains;
using test::NsysBuilder;
using workload::import_profiles;
using workload::ProfileFormat;

namespace {

constexpr const char* kTable = "Start (ns),Duration (ns),Strm,Name\n0,10,7,k\n";

std::string kineto_text() {
  return test::ProfileBuilder{}.call("cudaLaunchKernel", 0, 5, 1).kernel(10, 5, 1).text();
}

}  // namespace

TEST_CASE("formats: content decides, whatever the name") {
  const test::TemporaryFolder folder;
  const NsysBuilder builder = NsysBuilder{}.kernel({.start = 1, .end = 2});
  CHECK(import_profiles({builder.write(folder, "a.json")}, "x").framework == "nsys");
  CHECK(import_profiles({folder.write("b.sqlite", kTable).string()}, "x").framework == "nsys");
  CHECK(import_profiles({folder.write("c.csv", kineto_text()).string()}, "x").framework ==
        "kineto");
}

TEST_CASE("formats: one that is asked for has to be there") {
  const test::TemporaryFolder folder;
  const std::string kineto = folder.write("k.json", kineto_text()).string();
  const std::string table = folder.write("t.csv", kTable).string();
  const std::string database =
      NsysBuilder{}.kernel({.start = 1, .end = 2}).write(folder, "d.sqlite");
  CHECK(import_profiles({kineto}, "x", ProfileFormat::kineto).timelines.size() == 1);
  CHECK(import_profiles({table}, "x", ProfileFormat::nsys).timelines.size() == 1);
  CHECK(import_profiles({database}, "x", ProfileFormat::nsys).timelines.size() == 1);
  CHECK_THROWS_WITH(import_profiles({kineto}, "x", ProfileFormat::nsys),
                    kineto + ": error: is no profile in the format nsys, expected one");
  CHECK_THROWS_WITH(import_profiles({database}, "x", ProfileFormat::kineto),
                    database + ": error: is no profile in the format kineto, expected one");
}

TEST_CASE("formats: one job has profiles of one format") {
  const test::TemporaryFolder folder;
  const std::string kineto = folder.write("k.json", kineto_text()).string();
  const std::string table = folder.write("t.csv", kTable).string();
  CHECK_THROWS_WITH(import_profiles({kineto, table}, "x"),
                    Contains("the format is nsys, expected profiles of one format"));
}

TEST_CASE("formats: a folder holds exports, too") {
  const test::TemporaryFolder folder;
  (void)folder.write("set/notes.txt", "x");
  (void)folder.write("set/rank1.csv", kTable);
  (void)folder.write("set/rank0.csv", "Start (ns),Duration (ns),Strm,Name\n0,20,7,k\n");
  const auto workload = import_profiles({(folder.path() / "set").string()}, "x");
  REQUIRE(workload.timelines.size() == 2);
  CHECK(workload.timelines[0].ops[0].duration.count() == 20);
  CHECK(workload.timelines[1].ops[0].duration.count() == 10);
}

TEST_CASE("formats: several ranks of each of several files") {
  const test::TemporaryFolder folder;
  std::vector<std::string> paths;
  for (const char* name : {"rank7.sqlite", "rank3.sqlite"}) {
    NsysBuilder builder;
    builder.kernel({.start = 1, .end = 2, .pid = 100}).kernel({.start = 1, .end = 2, .pid = 101});
    paths.push_back(builder.write(folder, name));
  }
  // The names would say one rank a file; there are two in each.
  const auto workload = import_profiles(paths, "x");
  REQUIRE(workload.timelines.size() == 4);
  CHECK(workload.world_size == 4);
  for (int rank = 0; rank < 4; ++rank) {
    CHECK(workload.timelines[static_cast<std::size_t>(rank)].rank == rank);
  }
}

TEST_CASE("formats: names") {
  CHECK(workload::to_text(ProfileFormat::automatic) == std::string{"auto"});
  CHECK(workload::to_text(ProfileFormat::kineto) == std::string{"kineto"});
  CHECK(workload::to_text(ProfileFormat::nsys) == std::string{"nsys"});
  CHECK(workload::to_text(ProfileFormat::nvprof) == std::string{"nvprof"});
}

TEST_CASE("numbers are scaled without passing through a double") {
  CHECK(workload::scaled_number("60111513113", 0) == 60'111'513'113);
  CHECK(workload::scaled_number("1234567890123456.789", 3) == 1'234'567'890'123'456'789);
  CHECK(workload::scaled_number("0.0015", 6) == 1'500);
  CHECK(workload::scaled_number("1.5", 0) == 2);
  CHECK_FALSE(workload::scaled_number("", 0));
  CHECK_FALSE(workload::scaled_number("1,5", 0));
  CHECK_FALSE(workload::scaled_number("9", 18));
}
