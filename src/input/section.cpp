#include "input/section.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "input/node.hpp"

namespace trainyard::input {

namespace {

using Node = Value::Node;

/// How the table's header looks in the file; " in [a.b]", nothing for the top.
std::string in_header(const Node& node) {
  if (node.path.empty()) {
    return "";
  }
  if (node.element) {
    return fmt::format(" in [[{}]]", node.path.substr(0, node.path.rfind('.')));
  }
  return fmt::format(" in [{}]", node.path);
}

const Node::Table& table_of(const Node& node) {
  return std::get<Node::Table>(node.content);
}

}  // namespace

Section::Section(Value table)
    : table_{std::move(table)}, known_{std::make_shared<std::vector<std::string>>()} {
  if (!table_.is_section()) {
    table_.fail(fmt::format("must be a table, got {}", describe(*table_.node_)));
  }
}

const Place& Section::place() const {
  return table_.place();
}

const std::string& Section::name() const {
  return table_.node_->path;
}

std::optional<Value> Section::find(std::string_view key) const {
  if (std::ranges::find(*known_, key) == known_->end()) {
    known_->emplace_back(key);
  }
  const Node::Table& entries = table_of(*table_.node_);
  const auto entry = std::ranges::find(entries, key, &Node::Entry::key);
  return entry == entries.end() ? std::nullopt : std::optional{Value{entry->node, entry->key}};
}

bool Section::has(std::string_view key) const {
  return find(key).has_value();
}

Value Section::require(std::string_view key) const {
  if (auto value = find(key)) {
    return *std::move(value);
  }
  fail(fmt::format("missing key '{}'{}", key, in_header(*table_.node_)));
}

std::optional<Section> Section::section(std::string_view key) const {
  const auto value = find(key);
  return value ? std::optional{value->section()} : std::nullopt;
}

std::vector<Section> Section::sections(std::string_view key) const {
  const auto value = find(key);
  if (!value) {
    return {};
  }
  if (!value->is_array()) {
    value->fail(fmt::format("must be an array of tables, [[{}]], got {}", join_path(name(), key),
                            describe(*value->node_)));
  }
  std::vector<Section> tables;
  for (const Value& element : value->array()) {
    tables.push_back(element.section());
  }
  return tables;
}

std::vector<Value> Section::entries() const {
  std::vector<Value> values;
  for (const Node::Entry& entry : table_of(*table_.node_)) {
    values.push_back(*find(entry.key));
  }
  return values;
}

void Section::reject_unknown() const {
  for (const Node::Entry& entry : table_of(*table_.node_)) {
    if (std::ranges::find(*known_, entry.key) == known_->end()) {
      throw InputError{entry.place,
                       fmt::format("unknown key '{}'{}{}", entry.key, in_header(*table_.node_),
                                   suggestion(entry.key, *known_))};
    }
  }
}

void Section::fail(std::string_view what) const {
  throw InputError{place(), what};
}

}  // namespace trainyard::input
