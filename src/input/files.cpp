#include "input/files.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "input/error.hpp"

namespace trainyard::input {

namespace fs = std::filesystem;

namespace {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_{number} {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool valid() const { return number_ >= 0; }
  /// False when the system reports a late write error.
  bool close() {
    const bool good = number_ < 0 || ::close(number_) == 0;
    number_ = -1;
    return good;
  }

 private:
  int number_;
};

std::string error_text() {
  return std::strerror(errno);
}

[[noreturn]] void cannot_write(const fs::path& path) {
  throw RunError{fmt::format("cannot write {}: {}", path.string(), error_text())};
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Devices and pipes (-o /dev/stdout) are written in place: a rename would replace the device.
void write_in_place(const fs::path& path, std::string_view bytes) {
  Descriptor file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
  if (!file.valid() || !write_all(file.get(), bytes) || !file.close()) {
    cannot_write(path);
  }
}

/// The file a link points to, so that the link stays one.
fs::path behind_links(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_symlink(path, ignored)) {
    return path;
  }
  const fs::path target = fs::weakly_canonical(path, ignored);
  return ignored ? path : target;
}

/// After the rename the folder must reach the disk too. Not every file system can do this, and the
/// data is whole either way.
void sync_folder(const fs::path& folder) {
  const Descriptor descriptor{
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (descriptor.valid()) {
    static_cast<void>(::fsync(descriptor.get()));
  }
}

fs::path program_folder() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

}  // namespace

std::string read_file(const fs::path& path) {
  const Place place{path.string()};
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file.valid()) {
    throw InputError{place, fmt::format("cannot open: {}", error_text())};
  }
  std::string text;
  std::array<char, 1U << 16U> part{};
  while (true) {
    const auto count = ::read(file.get(), part.data(), part.size());
    if (count == 0) {
      return text;
    }
    if (count > 0) {
      text.append(part.data(), static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      throw InputError{place, fmt::format("cannot read: {}", error_text())};
    }
  }
}

fs::path data_folder() {
  if (const char* named = std::getenv("TRAINYARD_DATA"); named != nullptr && *named != '\0') {
    std::error_code ignored;
    if (!fs::is_directory(named, ignored)) {
      throw InputError{Place{"TRAINYARD_DATA"}, fmt::format("no such folder: {}", named)};
    }
    return named;
  }
  fs::path source{TRAINYARD_SOURCE_DATA};
  std::error_code ignored;
  if (fs::is_directory(source / "topologies", ignored)) {
    return source;
  }
  return program_folder() / ".." / "share" / "trainyard";
}

fs::path find_data(std::string_view name, const std::vector<std::string>& folders,
                   const std::vector<std::string>& extensions, const Place& place) {
  if (!name.empty() && is_file(name)) {
    return name;
  }
  const fs::path data = data_folder();
  std::vector<std::string> known;
  for (const std::string& folder : folders) {
    if (!name.empty() && is_file(data / folder / name)) {
      return data / folder / name;
    }
    for (const std::string& extension : extensions) {
      fs::path path = data / folder / (std::string{name} + extension);
      if (is_file(path)) {
        return path;
      }
      const auto names = shipped_names(folder, extension);
      known.insert(known.end(), names.begin(), names.end());
    }
  }
  // Last, so that a folder of the same name does not hide what ships.
  if (std::error_code ignored; !name.empty() && fs::exists(name, ignored)) {
    return name;
  }
  throw InputError{place, fmt::format("\"{}\" is neither a file nor a name that ships{}", name,
                                      suggestion(name, known))};
}

std::vector<std::string> shipped_names(std::string_view folder, std::string_view extension) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator{data_folder() / folder, ignored}) {
    std::string name = entry.path().filename().string();
    if (name.size() > extension.size() && name.ends_with(extension) && is_file(entry.path())) {
      name.resize(name.size() - extension.size());
      names.push_back(std::move(name));
    }
  }
  std::ranges::sort(names);
  return names;
}

void write_file_atomically(const fs::path& path, std::string_view bytes) {
  const fs::path target = behind_links(path);
  std::error_code ignored;
  const auto status = fs::status(target, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) {
    return write_in_place(target, bytes);
  }
  const fs::path temporary =
      target.parent_path() / fmt::format(".{}.{}.partial", target.filename().string(), ::getpid());
  Descriptor file{::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
  if (!file.valid()) {
    cannot_write(path);
  }
  if (!write_all(file.get(), bytes) || ::fsync(file.get()) != 0 || !file.close() ||
      ::rename(temporary.c_str(), target.c_str()) != 0) {
    const int reason = errno;  // removing the file may change it
    fs::remove(temporary, ignored);
    errno = reason;
    cannot_write(path);
  }
  sync_folder(target.parent_path());
}

}  // namespace trainyard::input
