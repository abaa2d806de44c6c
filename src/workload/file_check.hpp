#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "workload/step.hpp"

namespace trainyard::workload {

/// Where the parts of a workload stand in its file: byte offsets.
struct FileOffsets {
  struct TimelineOffsets {
    std::size_t self = 0;
    std::vector<std::size_t> steps{};
    std::vector<std::size_t> ops{};
  };
  std::vector<std::size_t> groups{};
  std::vector<std::size_t> collectives{};
  std::vector<TimelineOffsets> timelines{};
};

/// Reports a mistake at an offset; does not return.
using FailAt = std::function<void(std::size_t offset, std::string_view what)>;

/// Checks what cannot be seen from one value alone: indices, order of dependencies, groups and
/// ranks against the world, times that add up to more than 64 bits of nanoseconds.
void check_workload(const Workload& workload, const FileOffsets& offsets, const FailAt& fail);

}  // namespace trainyard::workload
