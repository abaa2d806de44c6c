// What must not change an import of Nsight Systems, and what must change it in a known way: on the
// recorded exports.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "sqlite_support.hpp"
#include "support/shared.hpp"
#include "workload/file.hpp"
#include "workload/import.hpp"
#include "workload/importers/sqlite.hpp"

using namespace trainyard;

namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 4> kGpuTables{
    "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"};
constexpr std::array<const char*, 7> kTimedTables{
    "CUPTI_ACTIVITY_KIND_KERNEL",         "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",         "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    "CUPTI_ACTIVITY_KIND_RUNTIME",        "NVTX_EVENTS",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"};

/// A copy of a recorded export that may be changed.
class Copy {
 public:
  explicit Copy(const fs::path& original) : path_{(folder_.path() / "copy.sqlite").string()} {
    fs::copy_file(original, path_);
    fs::permissions(path_, fs::perms::owner_write, fs::perm_options::add);
  }

  /// Runs SQL in which "{}" is the table, for each of `tables` that the export has.
  template <typename Tables>
  void change(const Tables& tables, const std::string& sql) const {
    const auto present = workload::Sqlite{path_}.tables();
    for (const char* table : tables) {
      if (std::find(present.begin(), present.end(), table) != present.end()) {
        test::run_sql(path_, fmt::format(fmt::runtime(sql), table));
      }
    }
  }

  [[nodiscard]] workload::Workload import() const {
    return workload::import_profiles({path_}, "x");
  }
  [[nodiscard]] std::string text() const { return workload::to_json(import()); }

 private:
  test::TemporaryFolder folder_{};
  std::string path_;
};

std::vector<fs::path> exports(const fs::path& shared) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator{shared / "profiles" / "nsys"}) {
    found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

TEST_CASE("nsys metamorphic: the order of rows says nothing", "[profiles][shared]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  for (const auto& path : exports(*shared)) {
    INFO(path.filename().string());
    const Copy copy{path};
    const std::string before = copy.text();
    copy.change(kTimedTables,
                "CREATE TABLE other AS SELECT * FROM {0} ORDER BY start * 7919 % 10007, start DESC;"
                "DROP TABLE {0}; ALTER TABLE other RENAME TO {0};");
    CHECK(copy.text() == before);
  }
}

TEST_CASE("nsys metamorphic: unknown columns and tables say nothing", "[profiles][shared]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  for (const auto& path : exports(*shared)) {
    INFO(path.filename().string());
    const Copy copy{path};
    const std::string before = copy.text();
    // The known columns behind a new one: their numbers change, too.
    copy.change(kGpuTables,
                "CREATE TABLE other AS SELECT 'new' AS brandNew, * FROM {0};"
                "DROP TABLE {0}; ALTER TABLE other RENAME TO {0};"
                "CREATE TABLE NEW_{0} AS SELECT * FROM {0};");
    CHECK(copy.text() == before);
  }
}

TEST_CASE("nsys metamorphic: numbers of texts and processes are only names", "[profiles][shared]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  for (const auto& path : exports(*shared)) {
    INFO(path.filename().string());
    const Copy copy{path};
    const std::string before = copy.text();
    const std::vector<const char*> kernels{"CUPTI_ACTIVITY_KIND_KERNEL"};
    const std::vector<const char*> runtime{"CUPTI_ACTIVITY_KIND_RUNTIME"};
    const std::vector<const char*> nvtx{"NVTX_EVENTS"};
    const std::vector<const char*> of_process{
        "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET",
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"};
    copy.change(std::vector<const char*>{"StringIds"},
                "CREATE TABLE other AS SELECT id + 100000 AS id, value FROM {0};"
                "DROP TABLE {0}; ALTER TABLE other RENAME TO {0};");
    copy.change(kernels,
                "UPDATE {0} SET demangledName = demangledName + 100000, shortName = shortName + "
                "100000, mangledName = mangledName + 100000;");
    copy.change(runtime, "UPDATE {0} SET nameId = nameId + 100000;");
    copy.change(nvtx, "UPDATE {0} SET textId = textId + 100000;");
    // pid + 3: 3 << 24
    copy.change(of_process, "UPDATE {0} SET globalPid = globalPid + 50331648;");
    copy.change(runtime, "UPDATE {0} SET globalTid = globalTid + 50331648;");
    copy.change(nvtx, "UPDATE {0} SET globalTid = globalTid + 50331648;");
    CHECK(copy.text() == before);
  }
}

TEST_CASE("nsys metamorphic: only differences of times count", "[profiles][shared]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  for (const auto& path : exports(*shared)) {
    INFO(path.filename().string());
    const Copy copy{path};
    const std::string before = copy.text();
    copy.change(kTimedTables,
                R"(UPDATE {0} SET start = start + 123456789, "end" = "end" + 123456789;)");
    CHECK(copy.text() == before);
  }
}

TEST_CASE("nsys metamorphic: times twice as long give statistics twice as long",
          "[profiles][shared]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  for (const auto& path : exports(*shared)) {
    INFO(path.filename().string());
    const Copy copy{path};
    const auto before = workload::statistics(copy.import());
    copy.change(kTimedTables, R"(UPDATE {0} SET start = start * 2, "end" = "end" * 2;)");
    const auto after = workload::statistics(copy.import());
    REQUIRE(after.size() == before.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
      CHECK(after[i].n_kernels == before[i].n_kernels);
      CHECK(after[i].kernel == before[i].kernel + before[i].kernel);
      CHECK(after[i].busy == before[i].busy + before[i].busy);
      CHECK(after[i].gpu_span == before[i].gpu_span + before[i].gpu_span);
      CHECK(after[i].exposed_comm == before[i].exposed_comm + before[i].exposed_comm);
    }
  }
}

TEST_CASE("nsys metamorphic: without a host side the GPU's times stay", "[profiles][shared]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  for (const auto& path : exports(*shared)) {
    INFO(path.filename().string());
    const Copy copy{path};
    const auto before = workload::statistics(copy.import());
    copy.change(std::vector<const char*>{"CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS",
                                         "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "TARGET_INFO_GPU"},
                "DROP TABLE {0};");
    const auto after = workload::statistics(copy.import());
    REQUIRE(after.size() == before.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
      CHECK(after[i].busy == before[i].busy);
      CHECK(after[i].gpu_span == before[i].gpu_span);
      CHECK(after[i].overlap == before[i].overlap);
    }
  }
}
