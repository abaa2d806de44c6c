#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "input/error.hpp"
#include "units/nanoseconds.hpp"
#include "units/quantity.hpp"

namespace trainyard::input {

class Section;

/// One value of a TOML document with its place. Typed access throws InputError at that place.
class Value {
 public:
  struct Node;  ///< our own tree: no toml++ type leaves toml.cpp
  Value(std::shared_ptr<const Node> node, std::string key);

  [[nodiscard]] const Place& place() const;
  [[nodiscard]] const std::string& key() const { return key_; }  ///< as written, for messages

  [[nodiscard]] std::string text() const;      ///< a string; anything else is an error
  [[nodiscard]] std::int64_t integer() const;  ///< an integer
  [[nodiscard]] std::int64_t integer_in(std::int64_t low, std::int64_t high) const;
  [[nodiscard]] double number() const;  ///< finite; integers count
  [[nodiscard]] double number_in(double low, double high) const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::vector<Value> array() const;
  [[nodiscard]] Section section() const;  ///< a (possibly inline) table
  [[nodiscard]] bool is_text() const;
  [[nodiscard]] bool is_number() const;
  [[nodiscard]] bool is_array() const;
  [[nodiscard]] bool is_section() const;

  /// Quantities are text with a unit; a bare number is an error that shows the accepted spellings.
  [[nodiscard]] units::Bytes bytes() const;               ///< >= 0
  [[nodiscard]] units::BytesPerSecond bandwidth() const;  ///< > 0
  [[nodiscard]] units::Seconds seconds() const;           ///< >= 0
  [[nodiscard]] units::Nanoseconds nanoseconds() const;   ///< >= 0, at most 200 years
  /// @throws InputError at this place: `'key' <what>`, e.g. fail("must be a known GPU, got \"x\"").
  [[noreturn]] void fail(std::string_view what) const;

 private:
  friend class Section;
  std::shared_ptr<const Node> node_;
  std::string key_;
};

/// A table of a TOML document. Every key that is asked for (present or not) becomes a known key;
/// `reject_unknown` then refuses the others and suggests the nearest known one. Cheap to copy:
/// copies share the record of known keys.
class Section {
 public:
  explicit Section(Value table);

  [[nodiscard]] const Place& place() const;
  [[nodiscard]] const std::string& name() const;  ///< dotted path of the table, "" at the top
  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] std::optional<Value> find(std::string_view key) const;
  [[nodiscard]] Value require(std::string_view key) const;  ///< missing: an error at the section
  /// Sub-tables. `section` returns nullopt when absent; `sections` reads [[key]] in file order.
  [[nodiscard]] std::optional<Section> section(std::string_view key) const;
  [[nodiscard]] std::vector<Section> sections(std::string_view key) const;
  [[nodiscard]] std::vector<Value> entries() const;  ///< all values in file order; all become known
  void reject_unknown() const;
  [[noreturn]] void fail(std::string_view what) const;

 private:
  Value table_;
  std::shared_ptr<std::vector<std::string>> known_;
};

/// A parsed TOML file. Copies share the tree; `with` makes a changed copy (for --set and sweeps).
class Document {
 public:
  [[nodiscard]] static Document parse(std::string_view text, std::string_view name);
  /// @throws InputError for a missing, unreadable or non-UTF-8 file ("FILE: error: cannot open:
  /// ...").
  [[nodiscard]] static Document parse_file(const std::string& path);

  [[nodiscard]] Section root() const;
  /// A copy in which the dotted key ("scheduler.policy", "job.0.gpus") has the TOML value `value`
  /// (bare words that are no TOML value count as text). Places of errors in it read `--set
  /// KEY=VALUE`.
  [[nodiscard]] Document with(std::string_view dotted_key, std::string_view value) const;
  /// Canonical TOML text: keys in file order, one a line. Parses back to the same document.
  [[nodiscard]] std::string to_toml() const;

 private:
  std::shared_ptr<const Value::Node> root_;
};

}  // namespace trainyard::input
