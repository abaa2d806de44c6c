#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "input/error.hpp"
#include "simulation/scenario.hpp"

namespace trainyard::simulation {

/// The files a scenario names: finds them and keeps the digest of each.
class InputFiles {
 public:
  /// @param folder  of the scenario, "" for the current one
  explicit InputFiles(std::string folder) : folder_{std::move(folder)} {}

  /// Beside the scenario, then as a path, then in the data folder's `folders`, with each extension.
  /// @throws InputError at `place` when there is none
  [[nodiscard]] std::filesystem::path find(std::string_view name, const input::Place& place,
                                           const std::vector<std::string>& folders,
                                           const std::vector<std::string>& extensions) const;
  /// Adds a file to the inputs, once. A file that ships is called by its path in the data folder,
  /// any other as it was written, so that results do not depend on where things lie.
  void record(const std::filesystem::path& path, std::string_view written);

  [[nodiscard]] const std::vector<InputFile>& recorded() const { return recorded_; }

 private:
  std::string folder_;
  std::vector<InputFile> recorded_{};
};

}  // namespace trainyard::simulation
