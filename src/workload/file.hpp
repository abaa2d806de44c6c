#pragma once

#include <string>

#include "workload/step.hpp"

namespace trainyard::workload {

/// Reads a workload file (JSON, format "trainyard-workload", version 1; .gz accepted by content).
/// @throws InputError at file:line:column: not JSON, wrong type, index out of range, a dependency
/// that
///         points forwards, negative or non-finite numbers, a group larger than the world, ...
[[nodiscard]] Workload read_workload(const std::string& path);
[[nodiscard]] Workload parse_workload(std::string_view text, std::string_view name);

/// The file's text: stable key order, one operation a line, integers in nanoseconds and bytes.
[[nodiscard]] std::string to_json(const Workload& workload);

}  // namespace trainyard::workload
