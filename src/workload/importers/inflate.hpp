#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace trainyard::workload {

/// Bytes behind a text that simdjson may read (not use).
inline constexpr std::size_t kJsonPadding = 64;

/// A text with at least `kJsonPadding` zero bytes behind it. Its memory is not cleared first:
/// profiles have hundreds of megabytes.
class PaddedText {
 public:
  PaddedText() = default;
  explicit PaddedText(std::string_view text);
  /// Room for `capacity` bytes of text, of which none is used yet.
  [[nodiscard]] static PaddedText with_capacity(std::size_t capacity);

  [[nodiscard]] std::string_view text() const { return {data_.get(), size_}; }
  [[nodiscard]] char* data() { return data_.get(); }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  /// The first `size` bytes are the text. Precondition: size <= capacity().
  void set_size(std::size_t size);

 private:
  struct Free {
    void operator()(char* memory) const;
  };
  std::unique_ptr<char, Free> data_{};
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// Inflates gzip data of one or several members (told by its magic bytes, not by a name); anything
/// else is returned as it is.
/// @param name  what errors call it (a path)
/// @throws InputError when a member is cut or corrupt, or is followed by something else
[[nodiscard]] PaddedText inflate(PaddedText bytes, std::string_view name);

/// Reads a file and inflates it. @throws InputError: missing, unreadable, empty, cut gzip.
[[nodiscard]] PaddedText read_inflated(const std::string& path);

}  // namespace trainyard::workload
