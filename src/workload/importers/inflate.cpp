#include "workload/importers/inflate.hpp"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "input/error.hpp"
#include "input/files.hpp"

namespace trainyard::workload {
namespace {

struct FreeDecompressor {
  void operator()(libdeflate_decompressor* decompressor) const {
    libdeflate_free_decompressor(decompressor);
  }
};
using Decompressor = std::unique_ptr<libdeflate_decompressor, FreeDecompressor>;

bool is_gzip(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

// The last four bytes of a gzip file are the size of its last member modulo 2^32. A wrong value
// costs a second try, so it is bounded by what deflate can reach (1032 : 1).
std::size_t guess_size(std::string_view bytes) {
  if (bytes.size() < 18) {
    return 64;
  }
  std::size_t size = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    size |= static_cast<std::size_t>(static_cast<unsigned char>(bytes[bytes.size() - 4 + i]))
            << (8 * i);
  }
  return std::clamp<std::size_t>(size, 64, bytes.size() * 1032);
}

[[noreturn]] void fail(std::string_view name, std::size_t at, std::string_view what) {
  throw input::InputError{
      {std::string{name}, 0, 0},
      fmt::format("{} at byte {} of the file, expected whole gzip members", what, at)};
}

}  // namespace

PaddedText pad(std::string text) {
  text.resize(text.size() + kJsonPadding, '\0');
  return PaddedText{std::move(text)};
}

PaddedText inflate(std::string bytes, std::string_view name) {
  if (!is_gzip(bytes)) {
    return pad(std::move(bytes));
  }
  const Decompressor decompressor{libdeflate_alloc_decompressor()};
  const std::string_view all{bytes};
  std::string out(guess_size(all) + kJsonPadding, '\0');
  std::size_t in_used = 0;
  std::size_t out_used = 0;
  while (in_used < all.size()) {
    if (!is_gzip(all.substr(in_used))) {
      if (all.find_first_not_of('\0', in_used) == std::string_view::npos) {
        break;  // zero padding behind the last member, as tar and tape blocks leave it
      }
      fail(name, in_used, "the gzip data is followed by other bytes");
    }
    std::size_t taken = 0;
    std::size_t made = 0;
    const libdeflate_result result = libdeflate_gzip_decompress_ex(
        decompressor.get(), all.data() + in_used, all.size() - in_used, out.data() + out_used,
        out.size() - out_used, &taken, &made);
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE) {
      out.resize(out.size() * 2, '\0');
      continue;
    }
    if (result != LIBDEFLATE_SUCCESS) {
      fail(name, in_used, "the gzip member is cut or corrupt: it starts");
    }
    in_used += taken;
    out_used += made;
  }
  out.resize(out_used + kJsonPadding);
  std::fill(out.end() - static_cast<std::ptrdiff_t>(kJsonPadding), out.end(), '\0');
  return PaddedText{std::move(out)};
}

PaddedText read_inflated(const std::string& path) {
  PaddedText padded = inflate(input::read_file(path), path);
  if (padded.text().find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw input::InputError{{path, 0, 0}, "the file is empty, expected JSON or gzipped JSON"};
  }
  return padded;
}

}  // namespace trainyard::workload
