#include "workload/importers/inflate.hpp"

#include <fmt/format.h>
#include <libdeflate.h>
#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
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

// Large buffers ask for huge pages: on a virtual machine a fault on every 4 KiB page costs more
// than parsing what is on it (63 MB: 15,000 faults, 0.13 s).
char* allocate(std::size_t size) {
  constexpr std::size_t kHugePage = 2U << 20U;
  void* memory = nullptr;
  if (size < 2 * kHugePage) {
    memory = std::malloc(size);
  } else {
    const std::size_t rounded = (size + kHugePage - 1) / kHugePage * kHugePage;
    memory = std::aligned_alloc(kHugePage, rounded);
    if (memory != nullptr) {
      ::madvise(memory, rounded, MADV_HUGEPAGE);  // a hint: without them it is only slower
    }
  }
  if (memory == nullptr) {
    throw std::bad_alloc{};
  }
  return static_cast<char*>(memory);
}

}  // namespace

void PaddedText::Free::operator()(char* memory) const {
  std::free(memory);
}

PaddedText::PaddedText(std::string_view text) {
  *this = with_capacity(text.size());
  std::copy(text.begin(), text.end(), data_.get());
  set_size(text.size());
}

PaddedText PaddedText::with_capacity(std::size_t capacity) {
  PaddedText result;
  result.data_.reset(allocate(capacity + kJsonPadding));
  result.capacity_ = capacity;
  result.set_size(0);
  return result;
}

void PaddedText::set_size(std::size_t size) {
  assert(size <= capacity_);
  size_ = size;
  std::fill_n(data_.get() + size, kJsonPadding, '\0');
}

PaddedText inflate(PaddedText bytes, std::string_view name) {
  const std::string_view all = bytes.text();
  if (!is_gzip(all)) {
    return bytes;
  }
  const Decompressor decompressor{libdeflate_alloc_decompressor()};
  PaddedText out = PaddedText::with_capacity(guess_size(all));
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
        out.capacity() - out_used, &taken, &made);
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE) {
      PaddedText larger = PaddedText::with_capacity(out.capacity() * 2);
      std::copy_n(out.data(), out_used, larger.data());
      out = std::move(larger);
      continue;
    }
    if (result != LIBDEFLATE_SUCCESS) {
      fail(name, in_used, "the gzip member is cut or corrupt: it starts");
    }
    in_used += taken;
    out_used += made;
  }
  out.set_size(out_used);
  return out;
}

namespace {

// Straight into its place; what is no regular file, or fails, goes the general way.
PaddedText read_bytes(const std::string& path) {
  std::error_code failed;
  if (std::filesystem::is_regular_file(path, failed)) {
    const auto size = std::filesystem::file_size(path, failed);
    std::ifstream in{path, std::ios::binary};
    if (!failed && in) {
      PaddedText bytes = PaddedText::with_capacity(size);
      in.read(bytes.data(), static_cast<std::streamsize>(size));
      if (in.gcount() == static_cast<std::streamsize>(size)) {
        bytes.set_size(size);
        return bytes;
      }
    }
  }
  return PaddedText{input::read_file(path)};
}

}  // namespace

PaddedText read_inflated(const std::string& path) {
  PaddedText padded = inflate(read_bytes(path), path);
  if (padded.text().find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw input::InputError{{path, 0, 0}, "the file is empty, expected JSON or gzipped JSON"};
  }
  return padded;
}

}  // namespace trainyard::workload
