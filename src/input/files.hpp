#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::input {

/// Whole file as bytes. @throws InputError "FILE: error: ..." when missing, a folder, or
/// unreadable.
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

/// The folder with topologies/, workloads/, sim/: TRAINYARD_DATA if set, else the source tree or
/// the installed share folder, whichever is there.
[[nodiscard]] std::filesystem::path data_folder();

/// A name as the user wrote it: an existing path first, then FOLDER/NAME and FOLDER/NAME+EXTENSION
/// for each of `folders` (relative to the data folder) and each extension.
/// @throws InputError at `place` when nothing is found: lists the nearest shipped names.
[[nodiscard]] std::filesystem::path find_data(std::string_view name,
                                              const std::vector<std::string>& folders,
                                              const std::vector<std::string>& extensions,
                                              const struct Place& place);

/// Names (without extension) that ship in FOLDER, sorted.
[[nodiscard]] std::vector<std::string> shipped_names(std::string_view folder,
                                                     std::string_view extension);

/// SHA-256 as 64 lower-case hex digits.
[[nodiscard]] std::string sha256(std::string_view bytes);

/// Writes to a temporary name beside `path`, syncs and renames: the old file stays until the new
/// one is whole. @throws RunError on any failure (disk full included) and removes the temporary
/// file.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace trainyard::input
