#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <span>

#include "input/files.hpp"
#include "input/node.hpp"

namespace trainyard::input {

namespace {

using Node = Value::Node;
using NodePointer = std::shared_ptr<const Node>;

/// "a.\"b.c\".0" to a, b.c, 0.
std::vector<std::string> split_key(std::string_view dotted, const Place& place) {
  std::vector<std::string> parts{""};
  bool quoted = false;
  for (const char c : dotted) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == '.' && !quoted) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (quoted || std::ranges::any_of(parts, &std::string::empty)) {
    throw InputError{place, R"(the key must be like "scheduler.policy" or "job.0.gpus")"};
  }
  return parts;
}

/// Text that starts like a quoted string, an array or a table but is no TOML is a slip; anything
/// else that is no TOML value (25 GB/s, easy-backfill) is meant as text.
NodePointer value_node(std::string_view value, const Place& place, std::string_view path) {
  if (auto node = read_toml_value(value, place, path)) {
    return node;
  }
  if (!value.empty() && std::string_view{"\"'[{"}.find(value.front()) != std::string_view::npos) {
    throw InputError{place, "the value is neither a TOML value nor a bare word"};
  }
  auto node = std::make_shared<Node>();
  node->place = place;
  node->path = path;
  node->content = std::string{value};
  return node;
}

/// Sets one value: walks down the dotted key and copies each table on the way.
class Setter {
 public:
  Setter(std::vector<std::string> parts, std::string_view value, Place place)
      : parts_{std::move(parts)}, value_{value}, place_{std::move(place)} {}

  /// The new version of `old` (null: absent), which stands at the first `depth` parts of the key.
  [[nodiscard]] NodePointer apply(const NodePointer& old, std::size_t depth,
                                  const std::string& path) const {
    if (depth == parts_.size()) {
      return value_node(value_, place_, path);
    }
    auto node = old ? std::make_shared<Node>(*old) : empty_table(path);
    if (auto* table = std::get_if<Node::Table>(&node->content)) {
      set_in(*table, depth, path);
    } else if (auto* array = std::get_if<Node::Array>(&node->content)) {
      node->inlined = set_in(*array, depth, path) || node->inlined;
    } else {
      throw InputError{place_, fmt::format("'{}' is {}, not a table", path, describe(*node))};
    }
    return node;
  }

 private:
  [[nodiscard]] std::shared_ptr<Node> empty_table(const std::string& path) const {
    auto node = std::make_shared<Node>();
    node->place = place_;
    node->path = path;
    node->content = Node::Table{};
    return node;
  }

  void set_in(Node::Table& table, std::size_t depth, const std::string& path) const {
    const std::string& key = parts_[depth];
    auto entry = std::ranges::find(table, key, &Node::Entry::key);
    if (entry == table.end()) {
      entry = table.insert(table.end(), {key, place_, nullptr});
    }
    entry->node = apply(entry->node, depth + 1, join_path(path, key));
  }

  /// True when the new element cannot stand under a [[header]], so the array must be inline.
  bool set_in(Node::Array& array, std::size_t depth, const std::string& path) const {
    const std::string& key = parts_[depth];
    std::size_t index = array.size();
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
    if (error != std::errc{} || end != key.data() + key.size() || index >= array.size()) {
      throw InputError{place_, fmt::format("'{}' is an array of {}: '{}' must be an index below it",
                                           path, array.size(), key)};
    }
    auto element = std::make_shared<Node>(*apply(array[index], depth + 1, join_path(path, key)));
    element->element = true;
    array[index] = element;
    return element->inlined || !std::holds_alternative<Node::Table>(element->content);
  }

  std::vector<std::string> parts_;
  std::string_view value_;
  Place place_;
};

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (std::iscntrl(static_cast<unsigned char>(c)) != 0) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string toml_key(std::string_view key) {
  const bool bare = !key.empty() && std::ranges::all_of(key, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
  });
  return bare ? std::string{key} : toml_string(key);
}

std::string inline_text(const Node& node);

struct InlineText {
  std::string operator()(const std::string& text) const { return toml_string(text); }
  std::string operator()(std::int64_t integer) const { return std::to_string(integer); }
  std::string operator()(double number) const { return float_text(number); }
  std::string operator()(bool boolean) const { return boolean ? "true" : "false"; }
  std::string operator()(const Node::Date& date) const { return date.text; }
  std::string operator()(const Node::Array& elements) const {
    std::string out;
    for (const NodePointer& element : elements) {
      out += (out.empty() ? "" : ", ") + inline_text(*element);
    }
    return "[" + out + "]";
  }
  std::string operator()(const Node::Table& entries) const {
    std::string out;
    for (const Node::Entry& entry : entries) {
      out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", toml_key(entry.key),
                         inline_text(*entry.node));
    }
    return out.empty() ? "{}" : "{ " + out + " }";
  }
};

std::string inline_text(const Node& node) {
  return std::visit(InlineText{}, node.content);
}

/// Whether the node gets a [header] or [[headers]] of its own.
bool has_header(const Node& node) {
  return !node.inlined && (std::holds_alternative<Node::Table>(node.content) ||
                           std::holds_alternative<Node::Array>(node.content));
}

/// Plain keys first: after a [header] TOML has no way back to the table above.
void write_table(std::string& out, const Node::Table& entries, const std::string& path) {
  for (const Node::Entry& entry : entries) {
    if (!has_header(*entry.node)) {
      out += fmt::format("{} = {}\n", toml_key(entry.key), inline_text(*entry.node));
    }
  }
  for (const Node::Entry& entry : entries) {
    if (!has_header(*entry.node)) {
      continue;
    }
    const std::string header = join_path(path, toml_key(entry.key));
    if (const auto* table = std::get_if<Node::Table>(&entry.node->content)) {
      out += fmt::format("\n[{}]\n", header);
      write_table(out, *table, header);
      continue;
    }
    for (const NodePointer& element : std::get<Node::Array>(entry.node->content)) {
      out += fmt::format("\n[[{}]]\n", header);
      write_table(out, std::get<Node::Table>(element->content), header);
    }
  }
}

}  // namespace

Document Document::parse(std::string_view text, std::string_view name) {
  Document document;
  document.root_ = read_toml(text, name);
  return document;
}

Document Document::parse_file(const std::string& path) {
  return parse(read_file(path), path);
}

Section Document::root() const {
  return Section{Value{root_, ""}};
}

Document Document::with(std::string_view dotted_key, std::string_view value) const {
  const Place place{fmt::format("--set {}={}", dotted_key, value)};
  Document changed;
  changed.root_ = Setter{split_key(dotted_key, place), value, place}.apply(root_, 0, "");
  return changed;
}

std::string Document::to_toml() const {
  std::string out;
  write_table(out, std::get<Node::Table>(root_->content), "");
  return out.starts_with('\n') ? out.substr(1) : out;
}

}  // namespace trainyard::input
