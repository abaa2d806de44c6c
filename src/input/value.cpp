#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <string>

#include "input/node.hpp"
#include "units/text.hpp"

namespace trainyard::input {

namespace {

using Node = Value::Node;

/// Long texts are cut: an error is one line.
std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  if (text.size() > kLongest) {
    return fmt::format("\"{}...\"", text.substr(0, kLongest));
  }
  return fmt::format("\"{}\"", text);
}

std::string number_text(double value) {
  return std::isfinite(value) ? units::to_decimal(value) : fmt::format("{}", value);
}

/// "from 1 to 8", "of at least 1": what is wanted of a number with bounds.
std::string range_text(const std::string& low, const std::string& high, bool bounded) {
  return bounded ? fmt::format("from {} to {}", low, high) : fmt::format("of at least {}", low);
}

}  // namespace

std::string join_path(std::string_view parent, std::string_view key) {
  return parent.empty() ? std::string{key} : fmt::format("{}.{}", parent, key);
}

std::string float_text(double value) {
  const std::string digits = number_text(value);
  const bool looks_whole = std::isfinite(value) && digits.find_first_of(".e") == std::string::npos;
  return looks_whole ? digits + ".0" : digits;
}

std::string describe(const Node& node) {
  struct Describe {
    std::string operator()(const std::string& text) const { return quoted(text); }
    std::string operator()(std::int64_t integer) const { return fmt::format("{}", integer); }
    std::string operator()(double number) const { return float_text(number); }
    std::string operator()(bool boolean) const { return boolean ? "true" : "false"; }
    std::string operator()(const Node::Date& date) const { return "the date " + date.text; }
    std::string operator()(const Node::Array& /*elements*/) const { return "an array"; }
    std::string operator()(const Node::Table& /*entries*/) const { return "a table"; }
  };
  return std::visit(Describe{}, node.content);
}

Value::Value(std::shared_ptr<const Node> node, std::string key)
    : node_{std::move(node)}, key_{std::move(key)} {}

const Place& Value::place() const {
  return node_->place;
}

void Value::fail(std::string_view what) const {
  throw InputError{place(), fmt::format("'{}' {}", key_, what)};
}

std::string Value::text() const {
  if (const auto* text = std::get_if<std::string>(&node_->content)) {
    return *text;
  }
  fail(fmt::format("must be text in quotes, got {}", describe(*node_)));
}

std::int64_t Value::integer() const {
  if (const auto* integer = std::get_if<std::int64_t>(&node_->content)) {
    return *integer;
  }
  fail(fmt::format("must be an integer, got {}", describe(*node_)));
}

std::int64_t Value::integer_in(std::int64_t low, std::int64_t high) const {
  const auto* integer = std::get_if<std::int64_t>(&node_->content);
  if (integer != nullptr && *integer >= low && *integer <= high) {
    return *integer;
  }
  const bool bounded = high != std::numeric_limits<std::int64_t>::max();
  fail(fmt::format("must be an integer {}, got {}",
                   range_text(std::to_string(low), std::to_string(high), bounded),
                   describe(*node_)));
}

double Value::number() const {
  if (const auto* integer = std::get_if<std::int64_t>(&node_->content)) {
    return static_cast<double>(*integer);
  }
  const auto* number = std::get_if<double>(&node_->content);
  if (number != nullptr && std::isfinite(*number)) {
    return *number;
  }
  fail(fmt::format("must be a number, got {}", describe(*node_)));
}

double Value::number_in(double low, double high) const {
  if (is_number()) {
    const double value = number();
    if (value >= low && value <= high) {
      return value;
    }
  }
  const bool bounded = high < std::numeric_limits<double>::max();
  fail(fmt::format("must be a number {}, got {}",
                   range_text(number_text(low), number_text(high), bounded), describe(*node_)));
}

bool Value::boolean() const {
  if (const auto* boolean = std::get_if<bool>(&node_->content)) {
    return *boolean;
  }
  fail(fmt::format("must be true or false, got {}", describe(*node_)));
}

std::vector<Value> Value::array() const {
  const auto* elements = std::get_if<Node::Array>(&node_->content);
  if (elements == nullptr) {
    fail(fmt::format("must be an array, got {}", describe(*node_)));
  }
  std::vector<Value> values;
  values.reserve(elements->size());
  for (const auto& element : *elements) {
    values.emplace_back(element, fmt::format("{}[{}]", key_, values.size()));
  }
  return values;
}

Section Value::section() const {
  return Section{*this};
}

bool Value::is_text() const {
  return std::holds_alternative<std::string>(node_->content);
}

bool Value::is_number() const {
  return std::holds_alternative<std::int64_t>(node_->content) ||
         std::holds_alternative<double>(node_->content);
}

bool Value::is_array() const {
  return std::holds_alternative<Node::Array>(node_->content);
}

bool Value::is_section() const {
  return std::holds_alternative<Node::Table>(node_->content);
}

units::Bytes Value::bytes() const {
  const auto size = is_text() ? units::parse_bytes(text()) : std::nullopt;
  if (!size) {
    fail(fmt::format("must be {}, got {}", units::bytes_spellings(), describe(*node_)));
  }
  if (size->si() < 0.0) {
    fail(fmt::format("must be a size of at least 0, got {}", describe(*node_)));
  }
  return *size;
}

units::BytesPerSecond Value::bandwidth() const {
  const auto rate = is_text() ? units::parse_bandwidth(text()) : std::nullopt;
  if (!rate || !(rate->si() > 0.0)) {
    fail(fmt::format("must be {}, got {}", units::bandwidth_spellings(), describe(*node_)));
  }
  return *rate;
}

units::Seconds Value::seconds() const {
  const auto time = is_text() ? units::parse_seconds(text()) : std::nullopt;
  if (!time) {
    fail(fmt::format("must be {}, got {}", units::seconds_spellings(), describe(*node_)));
  }
  if (time->si() < 0.0) {
    fail(fmt::format("must be a time of at least 0, got {}", describe(*node_)));
  }
  return *time;
}

units::Nanoseconds Value::nanoseconds() const {
  // 64 bits of nanoseconds end at 292 years; the rest is room for sums.
  constexpr units::Seconds kLongest{200.0 * 365.0 * 86400.0};
  const units::Seconds time = seconds();
  if (time > kLongest) {
    fail(fmt::format("must be at most 200 y, got {}", describe(*node_)));
  }
  return units::to_nanoseconds(time);
}

}  // namespace trainyard::input
