// The commands that README.md and docs/ show, as a reader would type them.
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "input/files.hpp"
#include "support/shared.hpp"
#include "support/temporary_folder.hpp"

using namespace trainyard;
namespace fs = std::filesystem;

namespace {

const fs::path kSource{TRAINYARD_SOURCE_DIR};

/// Lines of a document that begin with the program's name, indented or in a block, without
/// comments.
std::vector<std::string> commands_in(const fs::path& document) {
  std::vector<std::string> commands;
  std::istringstream text{input::read_file(document)};
  for (std::string line; std::getline(text, line);) {
    const auto begin = line.find_first_not_of(' ');
    if (begin != std::string::npos && line.compare(begin, 10, "trainyard ") == 0) {
      line.resize(std::min(line.size(), line.find("  #")));
      commands.push_back(line.substr(begin + 10));
    }
  }
  return commands;
}

/// The first ```toml block of a document.
std::string toml_in(const fs::path& document) {
  const std::string text = input::read_file(document);
  const auto begin = text.find("```toml\n") + 8;
  return text.substr(begin, text.find("```", begin) - begin);
}

void run_all(const fs::path& document, const test::TemporaryFolder& folder) {
  for (const std::string& command : commands_in(document)) {
    const std::string line = "cd '" + folder.path().string() + "' && '" + TRAINYARD_PROGRAM + "' " +
                             command + " >out.txt 2>err.txt </dev/null";
    const int status = std::system(line.c_str());
    INFO(command << "\n" << folder.read("err.txt"));
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    CHECK_FALSE((folder.read("out.txt").empty() && folder.read("err.txt").empty()));
  }
}

}  // namespace

TEST_CASE("every command that README.md shows runs", "[documents]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;  // two of them read a profile
  }
  const test::TemporaryFolder folder;
  for (const char* rank : {"0", "1"}) {
    fs::copy_file(
        *shared / "profiles/kineto" / (std::string{"dlrm_v100x8_rank"} + rank + ".json.gz"),
        folder.path() / (std::string{"rank"} + rank + ".json.gz"));
  }
  fs::copy(kSource / "sim", folder.path() / "sim");
  folder.write("my.toml", toml_in(kSource / "README.md"));
  REQUIRE(commands_in(kSource / "README.md").size() >= 8);
  run_all(kSource / "README.md", folder);
  const std::string mine = "cd '" + folder.path().string() + "' && '" + TRAINYARD_PROGRAM +
                           "' run my.toml >out.txt 2>err.txt";
  CHECK(std::system(mine.c_str()) == 0);
  CHECK(fs::exists(folder.path() / "results/two-jobs/summary.json"));
}

TEST_CASE("README.md shows what the quickstart prints", "[documents]") {
  const std::string text = input::read_file(kSource / "README.md");
  const auto begin = text.find("```\n", text.find("The first prints:")) + 4;
  const std::string shown = text.substr(begin, text.find("```", begin) - begin);
  const test::TemporaryFolder folder;
  fs::copy(kSource / "sim", folder.path() / "sim");
  const std::string run = std::string{"'"} + TRAINYARD_PROGRAM + "' run sim/";
  const std::string line = "cd '" + folder.path().string() + "' && { " + run +
                           "quickstart.toml; echo; " + run + "quickstart-dgx1.toml; } >out.txt";
  REQUIRE(std::system(line.c_str()) == 0);
  CHECK(folder.read("out.txt") == shown);
}

TEST_CASE("every command that docs/collectives.md shows runs", "[documents]") {
  const test::TemporaryFolder folder;
  folder.write("my-cluster.csv",
               "topology,nodes,gpus,collective,bytes,time_us\n"
               "dgx-a100-40gb,2,16,all_reduce,1073741824,11085\n");
  // Each of eight ranks sends its chunk to all others.
  std::string xml = "<algo name=\"direct\" coll=\"allgather\" nchunksperloop=\"8\" ngpus=\"8\">";
  for (int gpu = 0; gpu < 8; ++gpu) {
    xml += "<gpu id=\"" + std::to_string(gpu) + "\">";
    for (int peer = 0, block = 0; peer < 8; ++peer) {
      if (peer != gpu) {
        for (const bool send : {true, false}) {
          xml += "<tb id=\"" + std::to_string(block++) + "\" send=\"" +
                 std::to_string(send ? peer : -1) + "\" recv=\"" +
                 std::to_string(send ? -1 : peer) + "\"><step type=\"" + (send ? "s" : "r") +
                 "\"/></tb>";
        }
      }
    }
    xml += "</gpu>";
  }
  folder.write("my-algorithm.xml", xml + "</algo>");
  REQUIRE(commands_in(kSource / "docs/collectives.md").size() == 4);
  run_all(kSource / "docs/collectives.md", folder);
}
