#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "input/error.hpp"

namespace trainyard::topology::importers {

/// An XML element with its attributes and child elements; text between them is not kept.
struct Element {
  std::string name{};
  input::Place place{};
  std::vector<std::pair<std::string, std::string>> attributes{};
  std::vector<Element> children{};

  /// "" when it is absent.
  [[nodiscard]] std::string text(std::string_view attribute) const;
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view attribute, std::int64_t low,
                                                    std::int64_t high) const;
  [[nodiscard]] const Element* child(std::string_view wanted) const;
  /// `<name>: what`, at the element's place.
  [[noreturn]] void fail(std::string_view what) const;
};

/// The one root element. No DTD is read and no entity but XML's own five is expanded.
/// @throws InputError: not well-formed, several roots, deeper than 40 or more than 100,000 elements
[[nodiscard]] Element parse_xml(std::string_view text, const std::string& file);

}  // namespace trainyard::topology::importers
