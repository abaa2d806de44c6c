#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workload/importers/recording.hpp"

namespace trainyard::workload {

/// Where the table of a GPU trace begins in `text` (the header line of `nsys stats --report
/// cuda_gpu_trace --format csv`, behind what the tool printed before); npos if there is none.
/// Versions spell units and columns differently: "Start (ns)", "Start(nsec)", "Bytes (MB)".
[[nodiscard]] std::size_t find_gpu_trace(std::string_view text);

/// The text is the table of a report that sums over the run: it has no timeline.
[[nodiscard]] bool is_summary_report(std::string_view text);

/// Reads such a table: one recording for each GPU. There is no host side, so streams alone order
/// the operations and what lies between them is idle time of the recording.
/// @param header  as `find_gpu_trace` gave it
/// @throws InputError at FILE:LINE: missing columns, units unknown, a row that is cut, no number
[[nodiscard]] std::vector<Recording> read_gpu_trace(PaddedText text, std::size_t header,
                                                    const std::string& path);

}  // namespace trainyard::workload
