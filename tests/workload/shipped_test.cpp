// The workloads that ship: valid, as the manifest says, and what the importer makes of the
// profiles.
#include <catch2/catch.hpp>
#include <filesystem>

#include "graph_support.hpp"
#include "input/files.hpp"
#include "input/section.hpp"
#include "support/shared.hpp"
#include "workload/file.hpp"
#include "workload/import.hpp"

using namespace trainyard;

namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path{TRAINYARD_SOURCE_DIR} / "workloads";

std::vector<input::Section> manifest() {
  return input::Document::parse_file((kFolder / "manifest.toml").string())
      .root()
      .sections("workload");
}

std::string text(const input::Section& entry, std::string_view key) {
  return entry.require(key).text();
}

}  // namespace

TEST_CASE("every shipped workload is in the manifest and as it says", "[shipped]") {
  std::vector<std::string> listed;
  for (const auto& entry : manifest()) {
    const std::string file = text(entry, "file");
    INFO(file);
    listed.push_back(file);
    const std::string bytes = input::read_file(kFolder / file);
    CHECK(input::sha256(bytes) == text(entry, "sha256"));
    CHECK(bytes.size() < 2U << 20U);
    const auto workload = workload::read_workload((kFolder / file).string());
    CHECK(workload.name == text(entry, "name"));
    CHECK(workload.source == text(entry, "source"));
    CHECK(workload.licence == text(entry, "licence"));
    CHECK(to_json(workload) == bytes);
  }
  std::vector<std::string> present;
  for (const auto& entry : fs::directory_iterator{kFolder}) {
    if (entry.path().extension() == ".json") {
      present.push_back(entry.path().filename().string());
    }
  }
  std::sort(listed.begin(), listed.end());
  std::sort(present.begin(), present.end());
  CHECK(listed == present);
}

TEST_CASE("importing the profiles again gives the shipped bytes", "[shipped][shared]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  for (const auto& entry : manifest()) {
    INFO(text(entry, "name"));
    std::vector<std::string> paths;
    for (const auto& profile : entry.require("profiles").array()) {
      paths.push_back((*shared / "profiles" / profile.text()).string());
    }
    auto workload = workload::import_kineto(paths, text(entry, "name"));
    workload.source = text(entry, "source");
    workload.licence = text(entry, "licence");
    CHECK(to_json(workload) == input::read_file(kFolder / text(entry, "file")));
  }
}

TEST_CASE("each shipped workload has a step that stands for all", "[shipped]") {
  for (const auto& entry : manifest()) {
    INFO(text(entry, "name"));
    const auto workload = workload::read_workload((kFolder / text(entry, "file")).string());
    const int step = workload::representative_step(workload);
    REQUIRE(step >= 0);
    const auto cut = workload::only_step(workload, step);
    for (const auto& timeline : cut.timelines) {
      CHECK_FALSE(timeline.ops.empty());
      const auto times = workload::recorded_times(timeline);
      CHECK(step_begin(timeline.steps.at(0), times) == units::Nanoseconds{0});
    }
    CHECK(to_json(workload::parse_workload(to_json(cut), "cut")) == to_json(cut));
  }
}
