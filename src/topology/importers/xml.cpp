// The only file that includes pugixml.
#include "topology/importers/xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <pugixml.hpp>

namespace trainyard::topology::importers {
namespace {

constexpr int kDeepest = 40;
constexpr int kMostElements = 100000;

class Converter {
 public:
  Converter(std::string_view text, const std::string& file) : text_{text}, file_{file} {}

  Element convert(const pugi::xml_node& node, int depth) {
    Element element;
    element.name = node.name();
    element.place = place_of(node.offset_debug());
    if (depth > kDeepest) {
      element.fail(fmt::format("is nested deeper than {} elements", kDeepest));
    }
    if (++elements_ > kMostElements) {
      element.fail(fmt::format("is one of more than {} elements", kMostElements));
    }
    for (const pugi::xml_attribute& attribute : node.attributes()) {
      add(element, attribute);
    }
    for (const pugi::xml_node& child : node.children()) {
      if (child.type() == pugi::node_element) {
        element.children.push_back(convert(child, depth + 1));
      }
    }
    return element;
  }

  /// Elements come in the order of the file, so each line break is counted once.
  input::Place place_of(std::ptrdiff_t offset) {
    const auto end =
        std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0)), text_.size());
    for (; at_ < end; ++at_) {
      if (text_[at_] == '\n') {
        ++line_;
        line_begin_ = at_ + 1;
      }
    }
    return {file_, line_, static_cast<int>(end - line_begin_) + 1};
  }

 private:
  static void add(Element& element, const pugi::xml_attribute& attribute) {
    for (const auto& [name, value] : element.attributes) {
      if (name == attribute.name()) {
        element.fail(fmt::format("has the attribute '{}' twice", name));
      }
    }
    element.attributes.emplace_back(attribute.name(), attribute.value());
  }

  std::string_view text_;
  const std::string& file_;
  int elements_ = 0;
  std::size_t at_ = 0;  ///< up to here line breaks are counted
  std::size_t line_begin_ = 0;
  int line_ = 1;
};

}  // namespace

std::string Element::text(std::string_view attribute) const {
  for (const auto& [key, value] : attributes) {
    if (key == attribute) {
      return value;
    }
  }
  return "";
}

std::optional<std::int64_t> Element::integer(std::string_view attribute, std::int64_t low,
                                             std::int64_t high) const {
  const std::string value = text(attribute);
  if (value.empty()) {
    return std::nullopt;
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size() || number < low || number > high) {
    fail(fmt::format("'{}' must be an integer from {} to {}, got \"{}\"", attribute, low, high,
                     value));
  }
  return number;
}

const Element* Element::child(std::string_view wanted) const {
  const auto found = std::find_if(children.begin(), children.end(),
                                  [&](const Element& each) { return each.name == wanted; });
  return found == children.end() ? nullptr : &*found;
}

void Element::fail(std::string_view what) const {
  throw input::InputError{place, fmt::format("<{}>: {}", name, what)};
}

Element parse_xml(std::string_view text, const std::string& file) {
  pugi::xml_document document;
  const pugi::xml_parse_result result =
      document.load_buffer(text.data(), text.size(), pugi::parse_default, pugi::encoding_utf8);
  Converter converter{text, file};
  if (!result) {
    throw input::InputError{
        converter.place_of(result.offset),
        fmt::format("is no whole XML document ({}): is it cut off?", result.description())};
  }
  const pugi::xml_node root = document.document_element();
  for (const pugi::xml_node& other : document.children()) {
    if (other.type() == pugi::node_element && other != root) {
      throw input::InputError{
          converter.place_of(other.offset_debug()),
          fmt::format("<{}> is a second root element, expected one", other.name())};
    }
  }
  return converter.convert(root, 1);
}

}  // namespace trainyard::topology::importers
