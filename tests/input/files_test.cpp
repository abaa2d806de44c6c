#include "input/files.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "input/error.hpp"
#include "support/temporary_folder.hpp"

using namespace trainyard;
using namespace trainyard::input;

namespace {

/// Sets TRAINYARD_DATA for a test and puts the old value back.
class DataVariable {
 public:
  explicit DataVariable(const std::string& value) {
    if (const char* old = std::getenv(kName)) {
      old_ = old;
    }
    ::setenv(kName, value.c_str(), 1);
  }
  DataVariable(const DataVariable&) = delete;
  DataVariable& operator=(const DataVariable&) = delete;
  ~DataVariable() {
    if (old_.empty()) {
      ::unsetenv(kName);
    } else {
      ::setenv(kName, old_.c_str(), 1);
    }
  }

 private:
  static constexpr const char* kName = "TRAINYARD_DATA";
  std::string old_{};
};

const Place kPlace{"t.toml", 2, 12};
const std::vector<std::string> kFolders{"topologies/nodes", "topologies/clusters"};

}  // namespace

TEST_CASE("a file is read as bytes", "[files]") {
  const test::TemporaryFolder folder;
  const std::string bytes{"a\r\n\0\xff", 5};
  CHECK(read_file(folder.write("x.bin", bytes)) == bytes);
  CHECK(read_file(folder.write("empty", "")).empty());
  const std::string large(300'000, 'x');  // more than one read
  CHECK(read_file(folder.write("large", large)) == large);
}

TEST_CASE("a file that cannot be read is an input error", "[files]") {
  const test::TemporaryFolder folder;
  const std::string missing = (folder.path() / "none").string();
  CHECK_THROWS_WITH(read_file(missing),
                    missing + ": error: cannot open: No such file or directory");
  const std::string itself = folder.path().string();
  CHECK_THROWS_WITH(read_file(itself), itself + ": error: cannot read: Is a directory");
}

TEST_CASE("the data folder is the one that is named", "[files]") {
  const test::TemporaryFolder folder;
  const DataVariable variable{folder.path().string()};
  CHECK(data_folder() == folder.path());
}

TEST_CASE("a data folder that is not there is refused", "[files]") {
  const DataVariable variable{"/nowhere/at/all"};
  CHECK_THROWS_WITH(data_folder(), "TRAINYARD_DATA: error: no such folder: /nowhere/at/all");
}

TEST_CASE("without a name the data folder is the source tree", "[files]") {
  const DataVariable variable{""};
  CHECK(data_folder() == std::filesystem::path{TRAINYARD_SOURCE_DIR});
}

TEST_CASE("names are looked up like paths first, then in what ships", "[files]") {
  const test::TemporaryFolder data;
  const auto node = data.write("topologies/nodes/dgx.toml", "");
  const auto cluster = data.write("topologies/clusters/pod.toml", "");
  const auto own = data.write("own/dgx.toml", "");
  const DataVariable variable{data.path().string()};
  const auto find = [](const std::string& name) {
    return find_data(name, kFolders, {".toml"}, kPlace);
  };
  CHECK(find(own.string()) == own);
  CHECK(find("dgx") == node);
  CHECK(find("dgx.toml") == node);
  CHECK(find("pod") == cluster);
  // A folder is only found when nothing that ships has the name.
  CHECK(find((data.path() / "own").string()) == data.path() / "own");
}

TEST_CASE("earlier folders and extensions win", "[files]") {
  const test::TemporaryFolder data;
  const auto first = data.write("topologies/nodes/x.a", "");
  data.write("topologies/nodes/x.b", "");
  data.write("topologies/clusters/x.a", "");
  const DataVariable variable{data.path().string()};
  CHECK(find_data("x", kFolders, {".a", ".b"}, kPlace) == first);
}

TEST_CASE("a name that is nowhere is refused with the nearest that ships", "[files]") {
  const test::TemporaryFolder data;
  data.write("topologies/nodes/dgx-a100-40gb.toml", "");
  data.write("topologies/nodes/dgx-1-v100.toml", "");
  const DataVariable variable{data.path().string()};
  CHECK_THROWS_WITH(find_data("dgx-a100-40g", kFolders, {".toml"}, kPlace),
                    "t.toml:2:12: error: \"dgx-a100-40g\" is neither a file nor a name that "
                    "ships, did you mean \"dgx-a100-40gb\"?");
  CHECK_THROWS_WITH(find_data("laptop", kFolders, {".toml"}, kPlace),
                    "t.toml:2:12: error: \"laptop\" is neither a file nor a name that ships "
                    "(known: dgx-1-v100, dgx-a100-40gb)");
  CHECK_THROWS_WITH(find_data("", kFolders, {".toml"}, kPlace),
                    Catch::StartsWith("t.toml:2:12: error: \"\" is neither a file"));
}

TEST_CASE("shipped names are sorted and without extension", "[files]") {
  const test::TemporaryFolder data;
  data.write("sim/b.toml", "");
  data.write("sim/a.toml", "");
  data.write("sim/notes.md", "");
  data.write("sim/.toml", "");
  data.write("sim/folder.toml/x", "");
  const DataVariable variable{data.path().string()};
  CHECK(shipped_names("sim", ".toml") == std::vector<std::string>{"a", "b"});
  CHECK(shipped_names("nothing", ".toml").empty());
}
