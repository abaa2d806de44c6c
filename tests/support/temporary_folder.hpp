#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

namespace trainyard::test {

/// A new empty folder that goes away with this object. Test programs run side by side, so each
/// needs its own.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "trainyard-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::system_error{errno, std::generic_category(), "mkdtemp"};
    }
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Writes a file, making the folders on the way; returns its path.
  std::filesystem::path write(std::string_view name, std::string_view text) const {
    const auto path = path_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path, std::ios::binary} << text;
    return path;
  }

  [[nodiscard]] std::string read(std::string_view name) const {
    std::ifstream in{path_ / name, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }

 private:
  std::filesystem::path path_{};
};

}  // namespace trainyard::test
