#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "units/nanoseconds.hpp"
#include "units/quantity.hpp"

namespace trainyard::units {

/// Text to quantity and back. A number and a unit, blank between them optional: "25 GB/s", "1.3us".
/// Each parser returns nullopt for anything else: no unit, an unknown unit, trailing text, inf,
/// NaN. Sign and range are the caller's business.

/// B, KB..PB (powers of 1000), KiB..PiB (powers of 1024), and bits: b, Kb, Mb, Gb, Tb.
[[nodiscard]] std::optional<Bytes> parse_bytes(std::string_view text);
/// ns, us, ms, s, min, h, day(s), d, week(s), y (365 days).
[[nodiscard]] std::optional<Seconds> parse_seconds(std::string_view text);
/// A size per second: "25 GB/s", "200 Gb/s".
[[nodiscard]] std::optional<BytesPerSecond> parse_bandwidth(std::string_view text);

/// The accepted spellings, for error messages: `a size such as "40 GB" or "16 GiB"`.
[[nodiscard]] std::string_view bytes_spellings();
[[nodiscard]] std::string_view seconds_spellings();
[[nodiscard]] std::string_view bandwidth_spellings();

/// For people, three or four significant digits and a fitting unit: "31.5 MB", "1.30 us", "25
/// GB/s".
[[nodiscard]] std::string to_text(Bytes size);
[[nodiscard]] std::string to_text(Seconds time);
[[nodiscard]] std::string to_text(Nanoseconds time);
[[nodiscard]] std::string to_text(BytesPerSecond rate);

/// For files: the shortest decimal that reads back as the same double; integers without ".0".
/// Independent of locale. Never "inf" or "nan": @throws std::invalid_argument for those.
[[nodiscard]] std::string to_decimal(double value);
/// Whole nanoseconds as decimal seconds, exact: 1500000000 -> "1.5".
[[nodiscard]] std::string to_decimal_seconds(Nanoseconds time);

}  // namespace trainyard::units
