#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <optional>

namespace trainyard::test {

/// The folder with recorded profiles and published measurements, which is not part of this
/// repository: TRAINYARD_SHARED, else `shared` beside the source tree. Absent: says so; the test
/// returns.
inline std::optional<std::filesystem::path> shared_folder() {
  const char* named = std::getenv("TRAINYARD_SHARED");
  const std::filesystem::path folder =
      named != nullptr ? std::filesystem::path{named}
                       : std::filesystem::path{TRAINYARD_SOURCE_DIR} / ".." / "shared";
  if (std::filesystem::is_directory(folder)) {
    return folder.lexically_normal();
  }
  WARN("skipped: shared data absent");
  return std::nullopt;
}

}  // namespace trainyard::test
