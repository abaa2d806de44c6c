#include "results/folder.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>
#include <functional>

#include "input/error.hpp"
#include "input/files.hpp"
#include "support/temporary_folder.hpp"

using namespace trainyard;
using namespace trainyard::results;
namespace fs = std::filesystem;

namespace {

const Files kFiles{{"summary.json", "{}\n"}, {"jobs.csv", "job_id\n"}};

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator{folder}, fs::directory_iterator{}));
}

/// Exit code of work in a forked child.
int in_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(work());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a folder is written whole, with its parents", "[folder]") {
  const test::TemporaryFolder temporary;
  const fs::path folder = temporary.path() / "deep" / "results";
  write_folder(folder, kFiles, false);
  CHECK(input::read_file(folder / "jobs.csv") == "job_id\n");
  CHECK(entries(folder.parent_path()) == 1);
}

TEST_CASE("what exists is refused, with its reason", "[folder]") {
  const test::TemporaryFolder temporary;
  const fs::path folder = temporary.path() / "out";
  write_folder(folder, kFiles, false);
  CHECK_THROWS_WITH(check_output(folder, false), Catch::Contains("exists already"));
  CHECK_NOTHROW(check_output(folder, true));
  std::ofstream{temporary.path() / "file"} << "x";
  CHECK_THROWS_WITH(check_output(temporary.path() / "file", true), Catch::Contains("is a file"));
  const fs::path other = temporary.path() / "mine";
  fs::create_directory(other);
  std::ofstream{other / "thesis.tex"} << "x";
  CHECK_THROWS_WITH(check_output(other, true), Catch::Contains("is no results folder"));
}

TEST_CASE("force replaces the old folder when the new one is whole", "[folder]") {
  const test::TemporaryFolder temporary;
  const fs::path folder = temporary.path() / "out";
  write_folder(folder, {{"summary.json", "old"}, {"queues.csv", "old"}}, false);
  write_folder(folder, kFiles, true);
  CHECK(input::read_file(folder / "summary.json") == "{}\n");
  CHECK_FALSE(fs::exists(folder / "queues.csv"));
  CHECK(entries(temporary.path()) == 1);
}

TEST_CASE("a full disk leaves the old folder and nothing else", "[folder]") {
  const test::TemporaryFolder temporary;
  const fs::path folder = temporary.path() / "out";
  write_folder(folder, kFiles, false);
  const int code = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      write_folder(folder, {{"summary.json", std::string(100000, 'x')}}, true);
    } catch (const input::RunError&) {
      return 1;
    }
    return 0;
  });
  CHECK(code == 1);
  CHECK(input::read_file(folder / "summary.json") == "{}\n");
  CHECK(entries(temporary.path()) == 1);
}

TEST_CASE("killed at any instant, the old or the new folder is there whole", "[folder]") {
  const test::TemporaryFolder temporary;
  const fs::path folder = temporary.path() / "out";
  const Files first{{"summary.json", std::string(200000, 'a')}, {"jobs.csv", "a"}};
  const Files second{{"summary.json", std::string(200000, 'b')}, {"jobs.csv", "b"}};
  write_folder(folder, first, false);
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      for (;;) {
        write_folder(folder, second, true);
        write_folder(folder, first, true);
      }
    }
    usleep(static_cast<useconds_t>(1000 + 700 * round));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    REQUIRE(fs::exists(folder));
    const std::string jobs = input::read_file(folder / "jobs.csv");
    CHECK(input::read_file(folder / "summary.json") == std::string(200000, jobs[0]));
  }
}
