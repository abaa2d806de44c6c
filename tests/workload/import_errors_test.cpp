#include <catch2/catch.hpp>

#include "input/error.hpp"
#include "profile_builder.hpp"
#include "support/shared.hpp"

using namespace trainyard;
using test::ProfileBuilder;

namespace {

std::string error_of(const std::vector<std::string>& paths) {
  try {
    (void)workload::import_kineto(paths, "x");
  } catch (const input::InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string rank_text(int rank) {
  return ProfileBuilder{}
      .head(fmt::format(R"("distributedInfo":{{"rank":{}}},)", rank))
      .kernel(1, 2, 3)
      .text();
}

}  // namespace

TEST_CASE("files that cannot be profiles name themselves", "[import]") {
  const test::TemporaryFolder folder;
  const auto missing = (folder.path() / "none.json").string();
  CHECK_THAT(error_of({missing}), Catch::StartsWith(missing + ": error: "));
  const auto empty = folder.write("empty.json", "").string();
  CHECK_THAT(error_of({empty}), Catch::Contains("the file is empty"));
  const auto junk = folder.write("junk.json", std::string("\x7f"
                                                          "ELF\x02\x01\x01\x00\x00",
                                                          9));
  CHECK_THAT(error_of({junk.string()}), Catch::StartsWith(junk.string() + ":"));
  const auto text = folder.write("text.json", "hello");
  CHECK_THAT(error_of({text.string()}), Catch::Contains(":1:1: error: "));
  const auto database = folder.write("report.sqlite", "SQLite format 3").string();
  CHECK_THAT(error_of({database}), Catch::Contains("not a profile of a known format"));
  CHECK_THAT(error_of({}), Catch::Contains("no profile to import"));
}

TEST_CASE("a profile without GPU events is an error", "[import]") {
  const test::TemporaryFolder folder;
  const auto path = folder.write("cpu.json", ProfileBuilder{}.step(1, 0, 5).text()).string();
  CHECK_THAT(error_of({path}), Catch::StartsWith(path + ": error: the profile has no GPU events"));
}

TEST_CASE("two files of one rank are an error that names both", "[import]") {
  const test::TemporaryFolder folder;
  const auto a = folder.write("a.json", rank_text(2)).string();
  const auto b = folder.write("b.json", rank_text(2)).string();
  CHECK_THAT(
      error_of({a, b}),
      Catch::StartsWith(b + ": error: a second profile of rank 2, expected one file a rank"));
  CHECK_THAT(error_of({a, b}), Catch::Contains(a));
}

TEST_CASE("a folder stands for its profiles", "[import]") {
  const test::TemporaryFolder folder;
  folder.write("set/b.json", rank_text(1));
  folder.write("set/a.json", rank_text(0));
  folder.write("set/notes.txt", "not a profile");
  const auto workload = workload::import_kineto({(folder.path() / "set").string()}, "x");
  CHECK(workload.timelines.size() == 2);
  const auto empty = folder.write("other/notes.txt", "").parent_path().string();
  CHECK_THAT(error_of({empty}), Catch::StartsWith(empty + ": error: the folder holds no profile"));
}

TEST_CASE("ranks come from the profile, else from the file's name, else from the order",
          "[import]") {
  const test::TemporaryFolder folder;
  const std::string plain = ProfileBuilder{}.kernel(1, 2, 3).text();
  const auto ranks = [](const std::vector<std::string>& paths) {
    std::vector<int> found;
    for (const auto& timeline : workload::import_kineto(paths, "x").timelines) {
      found.push_back(timeline.rank);
    }
    return found;
  };
  const auto stated = folder.write("worker9.json", rank_text(1)).string();
  const auto named = folder.write("trace_rank-4.json", plain).string();
  const auto other = folder.write("plain.json", plain).string();
  CHECK(ranks({named, stated}) == std::vector<int>{1, 4});
  CHECK(ranks({other, stated}) == std::vector<int>{0, 1});
  CHECK(ranks({named}) == std::vector<int>{0});
}

TEST_CASE("the world is as large as the profile says, or the ranks need", "[import]") {
  const test::TemporaryFolder folder;
  const auto third = folder.write("c.json", rank_text(2)).string();
  CHECK(workload::import_kineto({third}, "x").world_size == 3);
  const auto of_eight =
      folder.write("d.json", ProfileBuilder{}
                                 .head(R"("distributedInfo":{"rank":2,"world_size":8},)")
                                 .kernel(1, 2, 3)
                                 .text());
  CHECK(workload::import_kineto({of_eight.string()}, "x").world_size == 8);
}

TEST_CASE("clocks of the ranks are joined by their base times", "[import]") {
  const test::TemporaryFolder folder;
  const auto with_base = [](int rank, std::string_view base, int start) {
    return ProfileBuilder{}
        .head(
            fmt::format(R"("distributedInfo":{{"rank":{}}},"baseTimeNanoseconds":{},)", rank, base))
        .kernel(start, 2, 3)
        .text();
  };
  const auto a = folder.write("a.json", with_base(0, "1700000000000000000", 50)).string();
  const auto b = folder.write("b.json", with_base(1, "1700000000000020000", 40)).string();
  const auto workload = workload::import_kineto({a, b}, "x");
  // a: 50 us; b: 20 + 40 us
  CHECK(workload.timelines.at(0).start == units::Nanoseconds{0});
  CHECK(workload.timelines.at(1).start == units::Nanoseconds{10'000});
}

TEST_CASE("damaged copies of real profiles", "[import][shared]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  const auto derived = *shared / "profiles" / "derived";
  // gzip layer intact, JSON cut after 60 % of its bytes
  CHECK_THAT(error_of({(derived / "truncated_tail.json.gz").string()}),
             Catch::Contains("the JSON text is cut: it ends at byte "));
  const auto path = (*shared / "profiles" / "kineto" / "event_sync_a100.json.gz").string();
  const auto base = workload::import_kineto({path}, "x");
  const auto members =
      workload::import_kineto({(derived / "gz_multimember.json.gz").string()}, "x");
  CHECK(members.timelines.at(0).ops.size() == base.timelines.at(0).ops.size());
  const auto infinite = workload::import_kineto({(derived / "inf_bandwidth.json").string()}, "x");
  CHECK(infinite.timelines.at(0).ops.size() == base.timelines.at(0).ops.size());
  CHECK(std::any_of(infinite.skipped.begin(), infinite.skipped.end(), [](const auto& skipped) {
    return skipped.reason == "numbers written as bare inf or nan" && skipped.count == 1;
  }));
  const test::TemporaryFolder folder;
  std::ifstream in{path, std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
  const auto cut = folder.write("cut.json.gz", bytes.substr(0, bytes.size() / 2)).string();
  CHECK_THAT(error_of({cut}), Catch::Contains("the gzip member is cut or corrupt"));
}
