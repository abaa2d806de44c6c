#include "topology/importers/draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "units/text.hpp"

namespace trainyard::topology::importers {
namespace {

constexpr std::size_t kColumns = 100;

/// The tables of a node file in the order in which they are written.
constexpr std::array<std::pair<DeviceKind, std::string_view>, 6> kTables{
    {{DeviceKind::gpu, "gpu"},
     {DeviceKind::nvswitch, "nvswitch"},
     {DeviceKind::pcie_switch, "pcie_switch"},
     {DeviceKind::pcie_root, "pcie_root"},
     {DeviceKind::cpu, "cpu"},
     {DeviceKind::nic, "nic"}}};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// "gpu12" to "gpu" and "12"; no number when it has leading zeros, which a range would lose.
std::pair<std::string, std::string> split_number(const std::string& name) {
  std::size_t begin = name.size();
  while (begin > 0 && is_digit(name[begin - 1])) {
    --begin;
  }
  const std::string digits = name.substr(begin);
  const bool plain = digits.size() < 9 && (digits.size() <= 1 || digits[0] != '0');
  return plain ? std::pair{name.substr(0, begin), digits} : std::pair{name, std::string{}};
}

std::string pattern_of(const std::string& stem, const std::vector<std::string>& numbers) {
  if (numbers.size() == 1) {
    return stem + numbers[0];
  }
  bool is_range = true;
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    is_range = is_range && std::stol(numbers[i]) == std::stol(numbers[i - 1]) + 1;
  }
  return is_range ? fmt::format("{}{{{}..{}}}", stem, numbers.front(), numbers.back())
                  : fmt::format("{}{{{}}}", stem, fmt::join(numbers, ","));
}

/// Links of one kind, each of `a` with each of `b`.
struct LinkTable {
  std::vector<std::string> a{};
  std::vector<std::string> b{};
  DraftLink like{};
};

bool is_like(const DraftLink& one, const DraftLink& other) {
  return one.kind == other.kind && one.count == other.count && one.bandwidth == other.bandwidth;
}

/// First the neighbours of one device together, then devices with the same neighbours.
std::vector<LinkTable> tables_of(const std::vector<DraftLink>& links) {
  std::vector<LinkTable> stars;
  for (const DraftLink& link : links) {
    const auto star = std::find_if(stars.begin(), stars.end(), [&](const LinkTable& table) {
      return table.a[0] == link.a && is_like(table.like, link);
    });
    if (star == stars.end()) {
      stars.push_back({{link.a}, {link.b}, link});
    } else {
      star->b.push_back(link.b);
    }
  }
  std::vector<LinkTable> tables;
  for (LinkTable& star : stars) {
    const auto same = std::find_if(tables.begin(), tables.end(), [&](const LinkTable& table) {
      return table.b == star.b && is_like(table.like, star.like);
    });
    if (same == tables.end()) {
      tables.push_back(std::move(star));
    } else {
      same->a.push_back(star.a[0]);
    }
  }
  return tables;
}

std::string link_text(const std::string& a, const std::string& b, const DraftLink& like) {
  std::string text = fmt::format("\n[[link]]\nbetween = [{}, {}]\nkind = {}\n", in_quotes(a),
                                 in_quotes(b), in_quotes(like.kind));
  if (like.count != 1) {
    text += fmt::format("count = {}\n", like.count);
  }
  if (like.bandwidth) {
    text += fmt::format("bandwidth = \"{} GB/s\"\n", units::to_decimal(like.bandwidth->si() / 1e9));
  }
  return text;
}

/// Devices of one table, as alike as one [[...]] needs them.
using Group = std::vector<const DraftDevice*>;

std::string device_text(std::string_view table, const Group& group) {
  std::vector<std::string> names;
  std::string remarks;
  for (const DraftDevice* device : group) {
    names.push_back(device->name);
    remarks += (remarks.empty() ? "" : " ") + device->remark;
  }
  const DraftDevice& like = *group[0];
  std::string text;
  for (const std::string& pattern : patterns_of(names)) {
    text += fmt::format("\n{}[[{}]]\nname = {}\n", text.empty() ? comment(remarks) : "", table,
                        in_quotes(pattern));
    if (!like.detail.empty()) {
      text += fmt::format("{} = {}\n", like.kind == DeviceKind::gpu ? "model" : "link",
                          in_quotes(like.detail));
    }
    if (!like.plane.empty()) {
      text += fmt::format("plane = {}\n", in_quotes(like.plane));
    }
  }
  return text;
}

std::string devices_text(const NodeDraft& draft, DeviceKind kind, std::string_view table) {
  std::string text;
  Group group;
  for (const DraftDevice& device : draft.devices) {
    if (device.kind != kind) {
      continue;
    }
    if (!group.empty() && (group[0]->detail != device.detail || group[0]->plane != device.plane)) {
      text += device_text(table, group);
      group.clear();
    }
    group.push_back(&device);
  }
  return group.empty() ? text : text + device_text(table, group);
}

}  // namespace

std::vector<std::string> patterns_of(const std::vector<std::string>& names) {
  std::vector<std::string> patterns;
  std::string stem;
  std::vector<std::string> numbers;
  const auto flush = [&] {
    if (!numbers.empty()) {
      patterns.push_back(pattern_of(stem, numbers));
      numbers.clear();
    }
  };
  for (const std::string& name : names) {
    const auto [front, number] = split_number(name);
    if (front != stem || number.empty()) {
      flush();
      stem = front;
    }
    if (number.empty()) {
      patterns.push_back(name);
    } else {
      numbers.push_back(number);
    }
  }
  flush();
  return patterns;
}

std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string comment(std::string_view text) {
  std::string lines;
  std::string line = "#";
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    std::string word{text.substr(begin, end - begin)};
    std::replace_if(
        word.begin(), word.end(),
        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
    begin = end + 1;
    if (word.empty()) {
      continue;
    }
    if (line.size() + 1 + word.size() > kColumns && line.size() > 1) {
      lines += line + '\n';
      line = "#";
    }
    line += ' ' + word;
  }
  return line.size() > 1 ? lines + line + '\n' : lines;
}

std::string plain_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool keep = is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                      c == '-' || c == '.' || c == ':';
    if (keep) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (!name.empty() && name.back() == '-') {
    name.pop_back();
  }
  return name;
}

std::string to_toml(const NodeDraft& draft) {
  std::string text;
  for (const std::string& remark : draft.remarks) {
    text += comment(remark);
  }
  text += fmt::format("name = {}\n", in_quotes(draft.name));
  for (const auto& [kind, table] : kTables) {
    text += devices_text(draft, kind, table);
  }
  for (const LinkTable& table : tables_of(draft.links)) {
    for (const std::string& a : patterns_of(table.a)) {
      for (const std::string& b : patterns_of(table.b)) {
        text += link_text(a, b, table.like);
      }
    }
  }
  return text;
}

}  // namespace trainyard::topology::importers
