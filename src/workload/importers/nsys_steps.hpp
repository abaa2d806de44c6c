#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workload/importers/nsys_process.hpp"

namespace trainyard::workload {

/// The text of a range without what differs from call to call: lower case, every number "#".
[[nodiscard]] std::string range_class(std::string_view text);

/// A class that names a step by itself: "step #", "train_iteration: #", "profilerstep##", "step".
[[nodiscard]] bool names_step(std::string_view range_class);

/// The NVTX ranges of one process that are its steps. Ranges of one thread and class (outermost
/// ones where they nest) that occur at least twice:
///   * of a class that names steps, the one that covers the most time;
///   * else of those that contain at least four fifths of all launches, the one of longest ranges;
///   * else none.
/// @param launches  starts of the calls that launched GPU work, sorted
[[nodiscard]] std::vector<StepRange> find_nvtx_steps(const std::vector<NvtxRange>& ranges,
                                                     const std::vector<std::int64_t>& launches);

}  // namespace trainyard::workload
