#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace trainyard::workload {

/// A JSON number in microseconds as whole nanoseconds, without going through a double: 16 integer
/// digits and three decimals do not fit one. Digits below a nanosecond are rounded to the nearest.
/// nullopt: no number ("nan", "inf", text), or beyond +-4e18 ns.
[[nodiscard]] std::optional<std::int64_t> microseconds_to_nanoseconds(std::string_view text);

/// A JSON number times 10^power, rounded to the nearest whole number; nullopt as above.
[[nodiscard]] std::optional<std::int64_t> scaled_number(std::string_view text, int power);

/// A whole JSON number; a fraction of zeros ("12.0") counts as whole. nullopt for anything else.
[[nodiscard]] std::optional<std::int64_t> whole_number(std::string_view text);

}  // namespace trainyard::workload
