#include "simulation/unsupported.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard::simulation {
namespace {

/// A key as the user would write it: [table], [[tables]] or 'key'.
std::string spelling(const input::Section& section, std::string_view key,
                     const input::Value& value) {
  const std::string path =
      section.name().empty() ? std::string{key} : fmt::format("{}.{}", section.name(), key);
  if (value.is_section()) {
    return fmt::format("[{}]", path);
  }
  if (value.is_array() && std::ranges::all_of(value.array(), &input::Value::is_section)) {
    return fmt::format("[[{}]]", path);
  }
  return fmt::format("'{}'", key);
}

}  // namespace

void refuse_unsupported(const input::Section& section, const std::vector<std::string_view>& keys) {
  for (const std::string_view key : keys) {
    if (const auto value = section.find(key)) {
      throw input::InputError{value->place(), fmt::format("{} is not supported by this version",
                                                          spelling(section, key, *value))};
    }
  }
}

}  // namespace trainyard::simulation
