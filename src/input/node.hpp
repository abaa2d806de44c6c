#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "input/section.hpp"

namespace trainyard::input {

/// One node of a TOML tree. Never changed once it is shared: Document::with copies the path to the
/// changed value and shares everything else. Private to this module.
struct Value::Node {
  struct Date {
    std::string text{};
  };
  using Array = std::vector<std::shared_ptr<const Node>>;
  struct Entry {
    std::string key{};
    Place place{};  ///< of the key; the value has its own
    std::shared_ptr<const Node> node{};
  };
  using Table = std::vector<Entry>;  ///< in file order

  Place place{};
  std::string path{};    ///< dotted, "" at the top; elements of arrays by index: "job.0"
  bool element = false;  ///< of an array: shown as [[job]]
  bool inlined = false;  ///< written as { ... } or [ ... ]: to_toml keeps it so
  std::variant<std::string, std::int64_t, double, bool, Date, Array, Table> content{};
};

/// "25", "\"text\"", "a table": what an error message says was found.
[[nodiscard]] std::string describe(const Value::Node& node);

/// A float as TOML writes it. Whole ones keep ".0": 2.0 must neither read back as an integer nor be
/// reported as "must be an integer, got 2".
[[nodiscard]] std::string float_text(double value);

/// "a" and "b" to "a.b".
[[nodiscard]] std::string join_path(std::string_view parent, std::string_view key);

/// The only two functions that see toml++. Syntax errors become InputError.
[[nodiscard]] std::shared_ptr<const Value::Node> read_toml(std::string_view text,
                                                           std::string_view name);
/// One TOML value, all of its nodes at `place`; null when `text` is none.
[[nodiscard]] std::shared_ptr<const Value::Node> read_toml_value(std::string_view text,
                                                                 const Place& place,
                                                                 std::string_view path);

}  // namespace trainyard::input
