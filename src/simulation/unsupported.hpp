#pragma once

#include <string_view>
#include <vector>

#include "input/section.hpp"

namespace trainyard::simulation {

/// Refuses keys of the scenario format that this version does not act on: ignoring one would give
/// a wrong result quietly. @throws InputError at the first of them that is there
void refuse_unsupported(const input::Section& section, const std::vector<std::string_view>& keys);

}  // namespace trainyard::simulation
