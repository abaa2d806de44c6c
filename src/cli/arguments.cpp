#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <utility>

#include "cli/command.hpp"
#include "input/error.hpp"

namespace trainyard::cli {

Arguments::Arguments(std::vector<Option> options, Values given)
    : options_{std::move(options)}, given_{std::move(given)} {
  for (const Option& option : options_) {
    check(option);
  }
}

void Arguments::check(const Option& option) const {
  const auto& values = given(option.name);
  if (values.empty() && option.required) {
    throw input::InputError{input::Place{"command line"}, "missing " + option.name};
  }
  if (values.size() > 1 && !option.repeated) {
    fail(option.name, "is given more than once");
  }
  for (const std::string& value : values) {
    if (!option.choices.empty() &&
        std::ranges::find(option.choices, value) == option.choices.end()) {
      fail(option.name,
           fmt::format("must be one of {}, got \"{}\"{}", fmt::join(option.choices, ", "), value,
                       input::suggestion(value, option.choices)));
    }
  }
}

const Option& Arguments::option(std::string_view name) const {
  const auto at = std::ranges::find(options_, name, &Option::name);
  if (at == options_.end()) {
    throw std::logic_error{fmt::format("the command does not declare {}", name)};
  }
  return *at;
}

const std::vector<std::string>& Arguments::given(std::string_view name) const {
  static const std::vector<std::string> none;
  const auto at = given_.find(option(name).name);
  return at == given_.end() ? none : at->second;
}

bool Arguments::has(std::string_view name) const {
  return !given(name).empty();
}

std::string Arguments::text(std::string_view name) const {
  const auto& values = given(name);
  return values.empty() ? option(name).default_value : values.back();
}

std::vector<std::string> Arguments::all(std::string_view name) const {
  return given(name);
}

std::int64_t Arguments::integer(std::string_view name, std::int64_t low, std::int64_t high) const {
  const std::string value = text(name);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc{} && end == value.data() + value.size() && number >= low &&
      number <= high) {
    return number;
  }
  const std::string range = high == std::numeric_limits<std::int64_t>::max()
                                ? fmt::format("of at least {}", low)
                                : fmt::format("from {} to {}", low, high);
  fail(name, fmt::format("must be an integer {}, got \"{}\"", range, value));
}

void Arguments::fail(std::string_view name, std::string_view what) const {
  throw input::InputError{input::Place{"command line"},
                          fmt::format("{} {}", option(name).name, what)};
}

}  // namespace trainyard::cli
