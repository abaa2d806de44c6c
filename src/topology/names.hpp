#pragma once

#include <string>
#include <vector>

#include "input/section.hpp"

namespace trainyard::topology {

/// Expands one name: "gpu{0..7}" (a range, ends included), "gpu{1,3}" (a list), "plx0" (itself).
/// Only one pair of braces. @throws InputError at the value: open braces, a range that runs
/// backwards, more than 10,000 names
[[nodiscard]] std::vector<std::string> expand_name(const input::Value& value);

}  // namespace trainyard::topology
