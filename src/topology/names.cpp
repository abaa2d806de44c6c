#include "topology/names.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace trainyard::topology {
namespace {

constexpr int kMostNames = 10000;

std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) {
    return std::nullopt;
  }
  return value;
}

/// Between the braces: "0..7" or "1,3".
std::vector<std::string> expand_braces(const input::Value& value, std::string_view inside) {
  std::vector<std::string> result;
  const auto dots = inside.find("..");
  if (dots != std::string_view::npos) {
    const auto first = whole_number(inside.substr(0, dots));
    const auto last = whole_number(inside.substr(dots + 2));
    if (!first || !last || *last < *first || *last - *first >= kMostNames) {
      value.fail(fmt::format("must have a range such as {{0..7}}, got \"{}\"", value.text()));
    }
    for (int i = *first; i <= *last; ++i) {
      result.push_back(std::to_string(i));
    }
    return result;
  }
  std::size_t begin = 0;
  while (begin <= inside.size()) {
    const std::size_t end = std::min(inside.find(',', begin), inside.size());
    if (end == begin) {
      value.fail(fmt::format("must have a list such as {{1,3}}, got \"{}\"", value.text()));
    }
    result.emplace_back(inside.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

}  // namespace

std::vector<std::string> expand_name(const input::Value& value) {
  const std::string text = value.text();
  const auto open = text.find('{');
  const auto close = text.find('}');
  if (text.empty()) {
    value.fail("must not be empty");
  }
  if (open == std::string::npos && close == std::string::npos) {
    return {text};
  }
  if (open == std::string::npos || close == std::string::npos || close < open ||
      text.find('{', open + 1) != std::string::npos ||
      text.find('}', close + 1) != std::string::npos) {
    value.fail(fmt::format("must have one pair of braces such as gpu{{0..7}}, got \"{}\"", text));
  }
  std::vector<std::string> names;
  const std::string_view inside = std::string_view{text}.substr(open + 1, close - open - 1);
  for (const std::string& part : expand_braces(value, inside)) {
    names.push_back(text.substr(0, open) + part + text.substr(close + 1));
  }
  return names;
}

}  // namespace trainyard::topology
