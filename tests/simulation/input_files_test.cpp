#include "simulation/input_files.hpp"

#include <catch2/catch.hpp>

#include "input/files.hpp"
#include "support/temporary_folder.hpp"

namespace trainyard {
namespace {

using simulation::InputFiles;

TEST_CASE("a file beside the scenario comes first, with or without its ending", "[input-files]") {
  const test::TemporaryFolder folder;
  folder.write("dlrm-v100x8.json", "{}");
  folder.write("plain", "x");
  const InputFiles files{folder.path().string()};
  CHECK(files.find("plain", {}, {}, {}) == folder.path() / "plain");
  CHECK(files.find("dlrm-v100x8", {}, {"workloads"}, {".json"}) ==
        folder.path() / "dlrm-v100x8.json");
  CHECK(files.find((folder.path() / "plain").string(), {}, {}, {}) == folder.path() / "plain");
}

TEST_CASE("what does not lie beside the scenario is found where things ship", "[input-files]") {
  const test::TemporaryFolder folder;
  const InputFiles files{folder.path().string()};
  CHECK(files.find("dlrm-v100x8", {}, {"workloads"}, {".json"}) ==
        input::data_folder() / "workloads" / "dlrm-v100x8.json");
  const input::Place place{"s.toml", 3, 4};
  CHECK_THROWS_WITH(files.find("dlrm-v100x9", place, {"workloads"}, {".json"}),
                    "s.toml:3:4: error: \"dlrm-v100x9\" is neither a file nor a name that ships, "
                    "did you mean \"dlrm-v100x8\"?");
  CHECK_THROWS_WITH(files.find("jobs.csv", place, {}, {}),
                    "s.toml:3:4: error: no such file: \"jobs.csv\"");
}

TEST_CASE("recorded names do not depend on where things lie", "[input-files]") {
  const test::TemporaryFolder folder;
  const auto path = folder.write("jobs.csv", "abc");
  InputFiles files{folder.path().string()};
  files.record(path, "jobs.csv");
  files.record(path, "jobs.csv");
  files.record(path, path.string());  // an absolute name: the last part of it, already there
  const auto shipped = input::data_folder() / "workloads" / "dlrm-v100x8.json";
  files.record(shipped, "dlrm-v100x8");
  REQUIRE(files.recorded().size() == 2);
  CHECK(files.recorded()[0].name == "jobs.csv");
  // FIPS 180-2, appendix B.1
  CHECK(files.recorded()[0].sha256 ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(files.recorded()[1].name == "workloads/dlrm-v100x8.json");
}

}  // namespace
}  // namespace trainyard
