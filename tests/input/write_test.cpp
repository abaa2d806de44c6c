#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <string>

#include "input/error.hpp"
#include "input/files.hpp"
#include "support/temporary_folder.hpp"

using namespace trainyard;
using namespace trainyard::input;
namespace fs = std::filesystem;

namespace {

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator{folder}, fs::directory_iterator{}));
}

/// Writes 64 KiB in a child whose files may have only 4 KiB, as on a full disk. The limit cannot be
/// lifted again, hence the child. Its exit code is 7 when the error is the expected one.
int write_beyond_limit(const fs::path& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      write_file_atomically(path, std::string(65536, 'x'));
    } catch (const RunError& error) {
      ::_exit(std::string{error.what()} == "cannot write " + path.string() + ": File too large"
                  ? 7
                  : 8);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a file is written whole and nothing else is left", "[write]") {
  const test::TemporaryFolder folder;
  const std::string bytes{"a\0b\r\n", 5};
  write_file_atomically(folder.path() / "out.bin", bytes);
  CHECK(folder.read("out.bin") == bytes);
  CHECK(files_in(folder.path()) == 1);
  write_file_atomically(folder.path() / "empty", "");
  CHECK(fs::file_size(folder.path() / "empty") == 0);
}

TEST_CASE("an existing file is replaced", "[write]") {
  const test::TemporaryFolder folder;
  const auto path = folder.write("out.txt", "a long old text");
  write_file_atomically(path, "new");
  CHECK(folder.read("out.txt") == "new");
}

TEST_CASE("a link stays a link to the new text", "[write]") {
  const test::TemporaryFolder folder;
  folder.write("real.txt", "old");
  fs::create_symlink("real.txt", folder.path() / "link.txt");
  write_file_atomically(folder.path() / "link.txt", "new");
  CHECK(fs::is_symlink(folder.path() / "link.txt"));
  CHECK(folder.read("real.txt") == "new");
}

TEST_CASE("a full disk leaves the old file and no other", "[write]") {
  const test::TemporaryFolder folder;
  const auto path = folder.write("out.txt", "old");
  CHECK(write_beyond_limit(path) == 7);
  CHECK(folder.read("out.txt") == "old");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a full device is an error and stays a device", "[write]") {
  REQUIRE_THROWS_WITH(write_file_atomically("/dev/full", "text"),
                      "cannot write /dev/full: No space left on device");
  CHECK(fs::is_character_file("/dev/full"));
  CHECK_NOTHROW(write_file_atomically("/dev/null", "text"));
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("a folder that is missing or in the way is an error", "[write]") {
  const test::TemporaryFolder folder;
  const std::string missing = (folder.path() / "none" / "out.txt").string();
  REQUIRE_THROWS_WITH(write_file_atomically(missing, "text"),
                      "cannot write " + missing + ": No such file or directory");
  const auto inside = folder.write("way/inside", "");
  const std::string way = inside.parent_path().string();
  REQUIRE_THROWS_WITH(write_file_atomically(way, "text"), Catch::StartsWith("cannot write " + way));
  CHECK(files_in(folder.path()) == 1);
}
