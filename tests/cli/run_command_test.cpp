// `trainyard run` and `predict` as a user calls them, SimGrid included: a process of its own each.
#include <sys/wait.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>

#include "input/files.hpp"
#include "support/temporary_folder.hpp"

using namespace trainyard;
namespace fs = std::filesystem;

namespace {

struct Ran {
  int code = -1;
  std::string text{};  ///< stdout and stderr
};

Ran trainyard_program(const std::string& arguments) {
  const std::string command =
      std::string{TRAINYARD_BINARY_DIR} + "/trainyard " + arguments + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  Ran ran;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) {
    ran.text += static_cast<char>(c);
  }
  const int status = pclose(pipe);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

std::string quickstart(const std::string& name) {
  return std::string{TRAINYARD_SOURCE_DIR} + "/sim/" + name + ".toml";
}

}  // namespace

TEST_CASE("both quickstarts run and two runs are equal to the byte", "[run]") {
  const test::TemporaryFolder temporary;
  for (const char* name : {"quickstart", "quickstart-dgx1"}) {
    const fs::path first = temporary.path() / (std::string{name} + "-1");
    const fs::path second = temporary.path() / (std::string{name} + "-2");
    const Ran ran = trainyard_program("run " + quickstart(name) + " --out " + first.string());
    INFO(ran.text);
    REQUIRE(ran.code == 0);
    CHECK(ran.text.find("makespan") != std::string::npos);
    REQUIRE(trainyard_program("run " + quickstart(name) + " --out " + second.string()).code == 0);
    for (const auto& entry : fs::directory_iterator{first}) {
      INFO(entry.path().string());
      CHECK(input::read_file(entry.path()) == input::read_file(second / entry.path().filename()));
    }
  }
}

TEST_CASE("sampled and full detail agree on the quickstart", "[run]") {
  const auto makespan = [](const std::string& detail) {
    const test::TemporaryFolder temporary;
    const Ran ran =
        trainyard_program("run " + quickstart("quickstart") + " --format json --detail " + detail +
                          " --out " + (temporary.path() / "out").string());
    REQUIRE(ran.code == 0);
    const auto at = ran.text.find("\"makespan_s\": ");
    return std::stod(ran.text.substr(at + 14));
  };
  CHECK(makespan("sampled") == Approx(makespan("full")).epsilon(0.005));
}

TEST_CASE("an existing results folder is refused before anything is simulated", "[run]") {
  const test::TemporaryFolder temporary;
  const std::string out = (temporary.path() / "out").string();
  REQUIRE(trainyard_program("run " + quickstart("quickstart") + " --out " + out).code == 0);
  const Ran again = trainyard_program("run " + quickstart("quickstart") + " --out " + out);
  CHECK(again.code == 2);
  CHECK(again.text.find("error: exists already") != std::string::npos);
  CHECK(trainyard_program("run " + quickstart("quickstart") + " --force --out " + out).code == 0);
}

TEST_CASE("wrong input is one line and exit 2", "[run]") {
  const Ran missing = trainyard_program("run no-such-scenario.toml");
  CHECK(missing.code == 2);
  CHECK(std::count(missing.text.begin(), missing.text.end(), '\n') == 1);
  const Ran larger =
      trainyard_program("predict --topology dgx-1-v100 --workload dlrm-v100x8 --gpus 9");
  CHECK(larger.code == 2);
  CHECK(larger.text.find("wants 9 GPUs") != std::string::npos);
  CHECK(trainyard_program("predict --topology dgx-1-v100 --workload dlrm-v100x8 --what-if gpu=x")
            .code == 2);
}
