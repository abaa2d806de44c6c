#pragma once

#include <string>
#include <string_view>

namespace trainyard::workload {

/// Bytes behind a text that simdjson may read (not use).
inline constexpr std::size_t kJsonPadding = 64;

/// A text with `kJsonPadding` zero bytes behind it.
struct PaddedText {
  std::string buffer{};
  [[nodiscard]] std::string_view text() const {
    return std::string_view{buffer}.substr(0, buffer.size() - kJsonPadding);
  }
};

[[nodiscard]] PaddedText pad(std::string text);

/// Inflates gzip data of one or several members (told by its magic bytes, not by a name); anything
/// else is returned as it is.
/// @param name  what errors call it (a path)
/// @throws InputError when a member is cut or corrupt, or is followed by something else
[[nodiscard]] PaddedText inflate(std::string bytes, std::string_view name);

/// Reads a file and inflates it. @throws InputError: missing, unreadable, empty, cut gzip.
[[nodiscard]] PaddedText read_inflated(const std::string& path);

}  // namespace trainyard::workload
