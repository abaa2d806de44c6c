#include "workload/importers/decimal.hpp"

#include <charconv>

namespace trainyard::workload {
namespace {

constexpr std::int64_t kLargest = 4'000'000'000'000'000'000;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

struct Decimal {
  bool negative = false;
  std::string_view whole{};
  std::string_view fraction{};
  int exponent = 0;
};

std::string_view take_digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) {
    ++count;
  }
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

std::optional<int> take_exponent(std::string_view text) {
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
  }
  int exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (error != std::errc{} || end != text.data() + text.size() || exponent < -40 || exponent > 40) {
    return std::nullopt;
  }
  return exponent;
}

std::optional<Decimal> split(std::string_view text) {
  Decimal decimal;
  if (!text.empty() && text.front() == '-') {
    decimal.negative = true;
    text.remove_prefix(1);
  }
  decimal.whole = take_digits(text);
  if (decimal.whole.empty()) {
    return std::nullopt;
  }
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    decimal.fraction = take_digits(text);
  }
  if (!text.empty() && (text.front() == 'e' || text.front() == 'E')) {
    const auto exponent = take_exponent(text.substr(1));
    if (!exponent) {
      return std::nullopt;
    }
    decimal.exponent = *exponent;
    text = {};
  }
  if (!text.empty()) {
    return std::nullopt;
  }
  return decimal;
}

// The decimal times 10^shift, rounded half up.
std::optional<std::int64_t> scaled(const Decimal& decimal, int shift) {
  const int point = static_cast<int>(decimal.whole.size()) + decimal.exponent + shift;
  const int digits = static_cast<int>(decimal.whole.size() + decimal.fraction.size());
  const auto digit = [&](int index) {
    if (index < 0 || index >= digits) {
      return 0;
    }
    const auto at = static_cast<std::size_t>(index);
    const char c =
        at < decimal.whole.size() ? decimal.whole[at] : decimal.fraction[at - decimal.whole.size()];
    return c - '0';
  };
  std::int64_t value = 0;
  for (int index = 0; index < point; ++index) {
    if (value > kLargest / 10) {
      return std::nullopt;
    }
    value = value * 10 + digit(index);
  }
  value += digit(point) >= 5 ? 1 : 0;
  if (value > kLargest) {
    return std::nullopt;
  }
  return decimal.negative ? -value : value;
}

}  // namespace

std::optional<std::int64_t> scaled_number(std::string_view text, int power) {
  const auto decimal = split(text);
  return decimal ? scaled(*decimal, power) : std::nullopt;
}

std::optional<std::int64_t> microseconds_to_nanoseconds(std::string_view text) {
  return scaled_number(text, 3);
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  const auto decimal = split(text);
  if (!decimal || decimal->exponent != 0 ||
      decimal->fraction.find_first_not_of('0') != std::string_view::npos) {
    return std::nullopt;
  }
  return scaled(*decimal, 0);
}

}  // namespace trainyard::workload
