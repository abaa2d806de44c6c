#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "workload/import.hpp"
#include "workload/importers/inflate.hpp"
#include "workload/importers/kineto_events.hpp"

namespace trainyard::workload {

/// Texts that stay where they are while more are added.
using TextStore = std::deque<std::string>;

/// One rank of a job as some profiler recorded it. Every format becomes this; graphs, collectives
/// and statistics know no other. A file of several processes gives several recordings.
struct Recording {
  std::string path{};
  std::string_view format{};           ///< Workload::framework
  PaddedText text{};                   ///< `file` may point into it
  std::shared_ptr<TextStore> store{};  ///< or into this, which the ranks of one file share
  KinetoFile file{};
};

/// A text as it may stand in a workload file, which is UTF-8: of any other every byte above 127
/// reads as "?", and that is counted in `skipped` of the file.
[[nodiscard]] std::string valid_text(std::string_view text, KinetoFile& file);

/// Reads one profile in the format that its content shows.
/// @param wanted  automatic, or the only format to accept
/// @throws InputError: unreadable, damaged, another format than wanted
[[nodiscard]] std::vector<Recording> read_profile(const std::string& path, ProfileFormat wanted);

}  // namespace trainyard::workload
