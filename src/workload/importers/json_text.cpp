#include "workload/importers/json_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace trainyard::workload {
namespace {

void append_utf8(std::string& out, unsigned code) {
  const auto put = [&](unsigned byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80U) {
    put(code);
  } else if (code < 0x800U) {
    put(0xC0U | (code >> 6U));
    put(0x80U | (code & 0x3FU));
  } else if (code < 0x10000U) {
    put(0xE0U | (code >> 12U));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  } else {
    put(0xF0U | (code >> 18U));
    put(0x80U | ((code >> 12U) & 0x3FU));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  }
}

std::optional<unsigned> hex4(std::string_view text) {
  unsigned code = 0;
  if (text.size() < 4) {
    return std::nullopt;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + 4, code, 16);
  if (error != std::errc{} || end != text.data() + 4) {
    return std::nullopt;
  }
  return code;
}

// Reads "XXXX" or a surrogate pair "D8xx\uDCxx" behind "\u"; the number of characters taken.
std::size_t append_unicode(std::string& out, std::string_view rest) {
  const auto high = hex4(rest);
  if (!high) {
    return 0;
  }
  if (*high >= 0xD800U && *high < 0xDC00U && rest.substr(4, 2) == "\\u") {
    const auto low = hex4(rest.substr(6));
    if (low && *low >= 0xDC00U && *low < 0xE000U) {
      append_utf8(out, 0x10000U + ((*high - 0xD800U) << 10U) + (*low - 0xDC00U));
      return 10;
    }
  }
  append_utf8(out, *high >= 0xD800U && *high < 0xE000U ? 0xFFFDU : *high);
  return 4;
}

}  // namespace

std::string_view bare(std::string_view token) {
  const std::size_t last = token.find_last_not_of(" \t\r\n");
  token = token.substr(0, last == std::string_view::npos ? 0 : last + 1);
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"') {
    return token.substr(1, token.size() - 2);
  }
  return token;
}

std::string unescape(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 == raw.size()) {
      out.push_back(raw[i]);
      continue;
    }
    const char c = raw[++i];
    static constexpr std::string_view kCodes = "\"\\/bfnrt";
    static constexpr std::string_view kBytes = "\"\\/\b\f\n\r\t";
    if (const std::size_t at = kCodes.find(c); at != std::string_view::npos) {
      out.push_back(kBytes[at]);
    } else if (c == 'u') {
      const std::size_t taken = append_unicode(out, raw.substr(i + 1));
      out += taken == 0 ? "\\u" : "";
      i += taken;
    } else {
      out.push_back('\\');
      out.push_back(c);
    }
  }
  return out;
}

std::string quote(std::string_view text) {
  std::string out{"\""};
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20U) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
  return out;
}

}  // namespace trainyard::workload
