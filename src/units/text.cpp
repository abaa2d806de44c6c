#include "units/text.hpp"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <system_error>

namespace trainyard::units {

namespace {

/// A unit is `factor / divisor` SI units. Both are whole numbers: dividing by 1e6 rounds once,
/// multiplying by 1e-6 would round twice and "1.3 us" would differ from the literal 1.3e-6.
struct Unit {
  std::string_view name{};
  double factor = 1.0;
  double divisor = 1.0;
};

constexpr std::array kSizeUnits{
    Unit{"B", 1, 1},
    Unit{"KB", 1e3, 1},
    Unit{"kB", 1e3, 1},
    Unit{"MB", 1e6, 1},
    Unit{"GB", 1e9, 1},
    Unit{"TB", 1e12, 1},
    Unit{"PB", 1e15, 1},
    Unit{"KiB", 1024.0, 1},
    Unit{"MiB", 1048576.0, 1},
    Unit{"GiB", 1073741824.0, 1},
    Unit{"TiB", 1099511627776.0, 1},
    Unit{"PiB", 1125899906842624.0, 1},
    Unit{"b", 1, 8},
    Unit{"Kb", 1e3, 8},
    Unit{"kb", 1e3, 8},
    Unit{"Mb", 1e6, 8},
    Unit{"Gb", 1e9, 8},
    Unit{"Tb", 1e12, 8},
};

constexpr std::array kTimeUnits{
    Unit{"ns", 1, 1e9},      Unit{"us", 1, 1e6},       Unit{"ms", 1, 1e3},
    Unit{"s", 1, 1},         Unit{"min", 60, 1},       Unit{"h", 3600, 1},
    Unit{"d", 86400, 1},     Unit{"day", 86400, 1},    Unit{"days", 86400, 1},
    Unit{"week", 604800, 1}, Unit{"weeks", 604800, 1}, Unit{"y", 31536000, 1},
};

struct Amount {
  double number = 0.0;
  std::string_view unit{};
};

/// Splits "25 GB/s" into 25 and "GB/s".
std::optional<Amount> split(std::string_view text) {
  double number = 0.0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || !std::isfinite(number)) {
    return std::nullopt;
  }
  std::string_view unit{rest, static_cast<std::size_t>(end - rest)};
  const auto start = unit.find_first_not_of(' ');
  unit.remove_prefix(start == std::string_view::npos ? unit.size() : start);
  return Amount{number, unit};
}

std::optional<double> convert(const Amount& amount, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    if (unit.name == amount.unit) {
      const double value = amount.number * unit.factor / unit.divisor;
      return std::isfinite(value) ? std::optional{value} : std::nullopt;
    }
  }
  return std::nullopt;
}

/// A rung of a ladder of units for people, smallest first.
struct Rung {
  std::string_view name{};
  double size = 1.0;
};

constexpr std::array kDecimalSizes{Rung{"B", 1},    Rung{"KB", 1e3},  Rung{"MB", 1e6},
                                   Rung{"GB", 1e9}, Rung{"TB", 1e12}, Rung{"PB", 1e15}};
constexpr std::array kBinarySizes{Rung{"KiB", 1024.0}, Rung{"MiB", 1048576.0},
                                  Rung{"GiB", 1073741824.0}, Rung{"TiB", 1099511627776.0},
                                  Rung{"PiB", 1125899906842624.0}};
constexpr std::array kTimes{Rung{"ns", 1e-9}, Rung{"us", 1e-6},  Rung{"ms", 1e-3},  Rung{"s", 1},
                            Rung{"min", 60},  Rung{"h", 3600.0}, Rung{"d", 86400.0}};

/// Three significant digits, the whole part always in full: 1.30, 31.5, 250, 1234.
std::string three_digits(double value) {
  if (std::abs(value) < 9.995) {
    return fmt::format("{:.2f}", value);
  }
  return fmt::format("{:.{}f}", value, std::abs(value) < 99.95 ? 1 : 0);
}

std::string without_trailing_zeros(std::string digits) {
  if (digits.find('.') != std::string::npos) {
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') {
      digits.pop_back();
    }
  }
  return digits;
}

/// The largest unit in which the value is at least 1 after rounding, so 999.99 MB is "1 GB". Half
/// of the last of three digits decides.
Rung fitting(double value, std::span<const Rung> ladder) {
  Rung best = ladder.front();
  for (const Rung& rung : ladder) {
    if (std::abs(value) >= rung.size * 0.9995) {
      best = rung;
    }
  }
  return best;
}

/// 64 MiB is exact where "67.1 MB" is not; 500 MB stays decimal although it may be whole KiB.
std::optional<std::string> exact_binary(double size) {
  for (const Rung& rung : kBinarySizes) {
    const double count = size / rung.size;
    if (count >= 1.0 && count < 1024.0 && count == std::floor(count)) {
      return fmt::format("{:.0f} {}", count, rung.name);
    }
  }
  return std::nullopt;
}

std::string size_text(double size) {
  const Rung rung = fitting(size, kDecimalSizes);
  const std::string digits = without_trailing_zeros(three_digits(size / rung.size));
  double shown = 0.0;
  std::from_chars(digits.data(), digits.data() + digits.size(), shown);
  if (shown * rung.size != size) {
    if (const auto binary = exact_binary(size)) {
      return *binary;
    }
  }
  return fmt::format("{} {}", digits, rung.name);
}

}  // namespace

std::optional<Bytes> parse_bytes(std::string_view text) {
  const auto amount = split(text);
  const auto value = amount ? convert(*amount, kSizeUnits) : std::nullopt;
  return value ? std::optional{Bytes{*value}} : std::nullopt;
}

std::optional<Seconds> parse_seconds(std::string_view text) {
  const auto amount = split(text);
  const auto value = amount ? convert(*amount, kTimeUnits) : std::nullopt;
  return value ? std::optional{Seconds{*value}} : std::nullopt;
}

std::optional<BytesPerSecond> parse_bandwidth(std::string_view text) {
  if (!text.ends_with("/s")) {
    return std::nullopt;
  }
  text.remove_suffix(2);
  const auto size = parse_bytes(text);
  return size ? std::optional{BytesPerSecond{size->si()}} : std::nullopt;
}

std::string_view bytes_spellings() {
  return R"(a size such as "40 GB" or "16 GiB")";
}

std::string_view seconds_spellings() {
  return R"(a time such as "1.3 us" or "90 min")";
}

std::string_view bandwidth_spellings() {
  return R"(a bandwidth above 0 such as "25 GB/s")";
}

std::string to_text(Bytes size) {
  return size_text(size.si());
}

std::string to_text(Seconds time) {
  if (time.si() == 0.0) {
    return "0 s";
  }
  const Rung rung = fitting(time.si(), kTimes);
  return fmt::format("{} {}", three_digits(time.si() / rung.size), rung.name);
}

std::string to_text(Nanoseconds time) {
  if (time == kForever) {
    return "forever";
  }
  if (time.count() != 0 && std::abs(time.count()) < 1000) {
    return fmt::format("{} ns", time.count());
  }
  return to_text(time.seconds());
}

std::string to_text(BytesPerSecond rate) {
  const Rung rung = fitting(rate.si(), kDecimalSizes);
  return fmt::format("{} {}/s", without_trailing_zeros(three_digits(rate.si() / rung.size)),
                     rung.name);
}

std::string to_decimal(double value) {
  if (!std::isfinite(value)) {
    throw std::invalid_argument{"a number for a file must be finite"};
  }
  const double magnitude = std::abs(value);
  if (magnitude == 0.0) {
    return "0";
  }
  // Left to itself to_chars writes 100000 as "1e+05", which reads badly in a table.
  const bool plain = magnitude >= 1e-7 && magnitude < 1e17;
  std::array<char, 64> digits{};
  const auto [end, error] =
      std::to_chars(digits.data(), digits.data() + digits.size(), value,
                    plain ? std::chars_format::fixed : std::chars_format::scientific);
  if (error != std::errc{}) {
    throw std::invalid_argument{"a number for a file is too long"};
  }
  return {digits.data(), end};
}

std::string to_decimal_seconds(Nanoseconds time) {
  constexpr std::uint64_t kPerSecond = 1'000'000'000;
  // Unsigned, because the smallest int64 has no positive counterpart.
  const auto bits = static_cast<std::uint64_t>(time.count());
  const std::uint64_t magnitude = time.count() < 0 ? 0 - bits : bits;
  const std::string digits =
      fmt::format("{}.{:09}", magnitude / kPerSecond, magnitude % kPerSecond);
  return (time.count() < 0 ? "-" : "") + without_trailing_zeros(digits);
}

}  // namespace trainyard::units
