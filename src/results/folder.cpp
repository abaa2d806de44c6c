#include "results/folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "input/error.hpp"

namespace trainyard::results {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const char* what) {
  throw input::RunError{fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(errno))};
}

/// Writes a new file to the disk itself.
void write_new(const fs::path& path, const std::string& bytes) {
  constexpr int kMode = 0644;
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
  if (file < 0) {
    fail(path, "create");
  }
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t count = write(file, bytes.data() + written, bytes.size() - written);
    if (count < 0 && errno != EINTR) {
      const int reason = errno;
      close(file);
      errno = reason;
      fail(path, "write");
    }
    written += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  const bool synced = fsync(file) == 0;
  if (close(file) != 0 || !synced) {
    fail(path, "write");
  }
}

/// A folder beside the target that goes away unless it is moved there.
class Draft {
 public:
  explicit Draft(const fs::path& target)
      : path_{target.parent_path() /
              fmt::format(".{}.partial-{}", target.filename().string(), getpid())} {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    std::error_code error;
    fs::create_directories(path_, error);
    if (error) {
      throw input::RunError{fmt::format("cannot create {}: {}", path_.string(), error.message())};
    }
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void rename_or_fail(const fs::path& from, const fs::path& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) {
    fail(to, "write");
  }
}

/// Exchanges two folders in one step; in two where the file system cannot.
void swap(const fs::path& fresh, const fs::path& target) {
  if (renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) {
    return;
  }
  const fs::path aside = fresh.string() + ".old";
  rename_or_fail(target, aside);
  if (std::rename(fresh.c_str(), target.c_str()) != 0) {
    const int reason = errno;
    rename_or_fail(aside, target);
    errno = reason;
    fail(target, "write");
  }
  rename_or_fail(aside, fresh);
}

/// "results/a/" names the folder "results/a".
fs::path without_slash(const fs::path& folder) {
  const fs::path whole = fs::absolute(folder).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

}  // namespace

void check_output(const fs::path& folder, bool force) {
  const input::Place place{folder.string()};
  std::error_code error;
  const auto status = fs::status(folder, error);
  if (!fs::exists(status)) {
    return;
  }
  if (!fs::is_directory(status)) {
    throw input::InputError{place, "is a file; the results need a folder"};
  }
  if (!force) {
    throw input::InputError{place, "exists already; --force replaces it, --out names another"};
  }
  if (!fs::exists(folder / "summary.json") && !fs::is_empty(folder, error)) {
    throw input::InputError{
        place, "is no results folder (it has no summary.json): --force does not replace it"};
  }
}

void write_folder(const fs::path& folder, const Files& files, bool force) {
  const fs::path target = without_slash(folder);
  const Draft draft{target};
  for (const auto& [name, bytes] : files) {
    write_new(draft.path() / name, bytes);
  }
  if (force && fs::exists(target)) {
    swap(draft.path(), target);  // the draft is now the old folder, and goes away
    return;
  }
  rename_or_fail(draft.path(), target);
}

}  // namespace trainyard::results
