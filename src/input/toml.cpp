// The only file that includes toml++. It must link the shared library (TOML_HEADER_ONLY=0): header
// only, version 3.3.0 stops with an assertion on the input "[".
#include <fmt/core.h>
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>
#include <tuple>

#include "input/node.hpp"

namespace trainyard::input {

namespace {

using Node = Value::Node;

/// Turns a toml++ tree into ours. With a fixed place every node gets that one (for --set).
class Converter {
 public:
  Converter(std::string_view file, const Place* fixed) : file_{file}, fixed_{fixed} {}

  [[nodiscard]] std::shared_ptr<const Node> convert(const toml::node& from, const Place& parent,
                                                    std::string path, bool element) const {
    auto node = std::make_shared<Node>();
    node->place = place(from.source(), parent);
    node->path = std::move(path);
    node->element = element;
    fill(*node, from);
    return node;
  }

 private:
  [[nodiscard]] Place place(const toml::source_region& region, const Place& otherwise) const {
    if (fixed_ != nullptr) {
      return *fixed_;
    }
    if (!region.begin) {
      return otherwise;  // a table that only a longer header implies
    }
    return Place{std::string{file_}, static_cast<int>(region.begin.line),
                 static_cast<int>(region.begin.column)};
  }

  void fill(Node& node, const toml::node& from) const {
    if (const auto* text = from.as_string()) {
      node.content = text->get();
    } else if (const auto* integer = from.as_integer()) {
      node.content = integer->get();
    } else if (const auto* number = from.as_floating_point()) {
      node.content = number->get();
    } else if (const auto* boolean = from.as_boolean()) {
      node.content = boolean->get();
    } else if (const auto* array = from.as_array()) {
      fill_array(node, *array);
    } else if (const auto* table = from.as_table()) {
      fill_table(node, *table);
    } else {
      fill_date(node, from);
    }
  }

  static void fill_date(Node& node, const toml::node& from) {
    std::ostringstream text;
    if (const auto* date = from.as_date()) {
      text << date->get();
    } else if (const auto* time = from.as_time()) {
      text << time->get();
    } else if (const auto* both = from.as_date_time()) {
      text << both->get();
    }
    node.content = Node::Date{text.str()};
  }

  void fill_array(Node& node, const toml::array& array) const {
    Node::Array elements;
    elements.reserve(array.size());
    node.inlined = array.empty() || !array.is_homogeneous(toml::node_type::table);
    for (const toml::node& element : array) {
      const auto* table = element.as_table();
      node.inlined = node.inlined || (table != nullptr && table->is_inline());
      elements.push_back(convert(element, node.place,
                                 join_path(node.path, std::to_string(elements.size())), true));
    }
    node.content = std::move(elements);
  }

  void fill_table(Node& node, const toml::table& table) const {
    node.inlined = table.is_inline();
    Node::Table entries;
    for (const auto& [key, value] : table) {
      entries.push_back({std::string{key.str()}, place(key.source(), node.place),
                         convert(value, node.place, join_path(node.path, key.str()), false)});
    }
    // toml++ sorts by name; people and policies count on the order of the file.
    std::ranges::stable_sort(entries, {}, [](const Node::Entry& entry) {
      return std::tuple{entry.place.line, entry.place.column};
    });
    node.content = std::move(entries);
  }

  std::string_view file_;
  const Place* fixed_;
};

}  // namespace

std::shared_ptr<const Node> read_toml(std::string_view text, std::string_view name) {
  try {
    const toml::table table = toml::parse(text, name);
    return Converter{name, nullptr}.convert(table, Place{std::string{name}, 1, 1}, "", false);
  } catch (const toml::parse_error& error) {
    const auto& begin = error.source().begin;
    throw InputError{
        Place{std::string{name}, static_cast<int>(begin.line), static_cast<int>(begin.column)},
        error.description()};
  }
}

std::shared_ptr<const Node> read_toml_value(std::string_view text, const Place& place,
                                            std::string_view path) {
  try {
    const toml::table table = toml::parse(fmt::format("v = {}", text), std::string_view{});
    // More than one key: the text held a line break and went on.
    if (table.size() != 1) {
      return nullptr;
    }
    return Converter{place.file, &place}.convert(table.begin()->second, place, std::string{path},
                                                 false);
  } catch (const toml::parse_error&) {
    return nullptr;
  }
}

}  // namespace trainyard::input
