#include "simulation/input_files.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "input/files.hpp"

namespace trainyard::simulation {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

std::string public_name(const fs::path& path, std::string_view written) {
  const fs::path inside = path.lexically_relative(input::data_folder());
  if (!inside.empty() && *inside.begin() != "..") {
    return inside.generic_string();
  }
  const fs::path name{written};
  return name.is_absolute() ? name.filename().string() : std::string{written};
}

}  // namespace

fs::path InputFiles::find(std::string_view name, const input::Place& place,
                          const std::vector<std::string>& folders,
                          const std::vector<std::string>& extensions) const {
  fs::path beside = fs::path{folder_} / name;
  if (is_file(beside)) {
    return beside;
  }
  for (const std::string& extension : extensions) {
    if (fs::path path = beside.string() + extension; is_file(path)) {
      return path;
    }
  }
  if (!folders.empty()) {
    return input::find_data(name, folders, extensions, place);
  }
  if (!is_file(name)) {
    throw input::InputError{place, fmt::format("no such file: \"{}\"", name)};
  }
  return name;
}

void InputFiles::record(const fs::path& path, std::string_view written) {
  const InputFile file{public_name(path, written), input::sha256(input::read_file(path))};
  const auto known = std::ranges::find_if(recorded_, [&](const InputFile& other) {
    return other.name == file.name && other.sha256 == file.sha256;
  });
  if (known == recorded_.end()) {
    recorded_.push_back(file);
  }
}

}  // namespace trainyard::simulation
