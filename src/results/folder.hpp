#pragma once

#include <filesystem>

#include "results/files.hpp"

namespace trainyard::results {

/// Refuses an output folder before any work is done. @throws input::InputError: it exists and
/// `force` is not given; it is a file; with `force`, it is no results folder (it has no
/// summary.json) and not empty
void check_output(const std::filesystem::path& folder, bool force);

/// Writes the folder beside its place and moves it there when it is whole. With `force` the old one
/// stays until then. @throws input::RunError when anything fails (disk full included): nothing is
/// left behind, nothing was overwritten
void write_folder(const std::filesystem::path& folder, const Files& files, bool force);

}  // namespace trainyard::results
