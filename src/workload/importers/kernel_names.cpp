#include "workload/importers/kernel_names.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

namespace trainyard::workload {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

// Lower case without underscores and blanks: one spelling for "AllReduce", "all_reduce" and
// "allreduce".
std::string squeezed(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    if (c == '_' || c == ' ') {
      continue;
    }
    result.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  return result;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return contains(text, part); });
}

bool is_convolution(std::string_view text) {
  for (std::size_t at = text.find("conv"); at != std::string_view::npos;
       at = text.find("conv", at + 1)) {
    if (text.substr(at, 7) != "convert") {
      return true;
    }
  }
  return contains_any(text, {"cudnn", "wgrad", "dgrad", "fprop", "implicit", "winograd"});
}

bool is_memory_bound(std::string_view text) {
  return contains_any(text, {"elementwise", "reduce", "norm", "softmax",   "copy",  "cat",
                             "fill",        "embed",  "adam", "sgd",       "index", "multitensor",
                             "pool",        "bnfw",   "bnbw", "transpose", "scan",  "sort",
                             "triton",      "gemv",   "nchw", "dropout",   "memset"});
}

std::optional<Category> category_in(std::string_view text) {
  if (contains_any(text, {"norm", "bnfw", "bnbw", "nchwto", "nhwcto", "pool"})) {
    return Category::memory_bound;  // cuDNN kernels that only move data
  }
  if (is_convolution(text)) {
    return Category::conv;
  }
  if (contains_any(text, {"gemm", "cutlass", "cublas", "cijk", "nvjet", "matmul"})) {
    return contains(text, "gemv") ? Category::memory_bound : Category::gemm;
  }
  if (is_memory_bound(text)) {
    return Category::memory_bound;
  }
  return std::nullopt;
}

}  // namespace

std::string short_kernel_name(std::string_view name) {
  std::string result;
  int depth = 0;  // inside template arguments
  while (!name.empty()) {
    if (depth == 0 && name.starts_with(kAnonymous)) {
      result += kAnonymous;
      name.remove_prefix(kAnonymous.size());
      continue;
    }
    const char c = name.front();
    name.remove_prefix(1);
    if (c == '<') {
      ++depth;
    } else if (c == '>') {
      depth = std::max(0, depth - 1);
    } else if (c == '(' && depth == 0) {
      break;
    } else if (depth == 0) {
      result.push_back(c);
    }
  }
  // What is left of a demangled template function is "return-type name".
  const std::size_t end = result.find_last_not_of(' ');
  result.resize(end == std::string::npos ? 0 : end + 1);
  for (const std::string_view prefix : {std::string_view{"void "}, std::string_view{"static "}}) {
    if (result.starts_with(prefix)) {
      result.erase(0, prefix.size());
    }
  }
  return result.empty() ? "unnamed" : result;
}

bool is_communication_kernel(std::string_view name) {
  if (contains_any(name, {"nccl", "rccl", "::ep::internode", "nvshmem", "cross_device_reduce"})) {
    return true;
  }
  const std::string text = squeezed(name.substr(0, name.find('(')));
  return contains(text, "allreduce") && contains_any(text, {"oneshot", "1shot", "1stage"});
}

Category kernel_category(std::string_view name) {
  const std::string full = squeezed(name);
  const std::string function = squeezed(short_kernel_name(name));
  if (contains_any(function, {"flash", "fmha", "attention"}) || contains(full, "fmha")) {
    return Category::attention;
  }
  if (const auto found = category_in(function)) {
    // A library's generic kernel says in its template arguments what it computes.
    const bool generic = contains(function, "cutlass");
    return generic && is_convolution(full) ? Category::conv : *found;
  }
  return category_in(full).value_or(Category::other);
}

std::optional<CollectiveOp> collective_in(std::string_view text) {
  // Longer names first: "allgather" contains "gather", "allreduce" contains "reduce".
  static constexpr std::array<std::pair<std::string_view, CollectiveOp>, 11> kNames{{
      {"barrier", CollectiveOp::barrier},
      {"allreduce", CollectiveOp::all_reduce},
      {"crossdevicereduce", CollectiveOp::all_reduce},
      {"allgather", CollectiveOp::all_gather},
      {"reducescatter", CollectiveOp::reduce_scatter},
      {"alltoall", CollectiveOp::all_to_all},
      {"::ep::internode", CollectiveOp::all_to_all},
      {"broadcast", CollectiveOp::broadcast},
      {"gather", CollectiveOp::gather},
      {"scatter", CollectiveOp::scatter},
      {"reduce", CollectiveOp::reduce},
  }};
  const std::string squeezed_text = squeezed(text.substr(0, text.find('(')));
  for (const auto& [word, op] : kNames) {
    if (contains(squeezed_text, word)) {
      return op;
    }
  }
  return std::nullopt;
}

CopyKind copy_kind(std::string_view name) {
  if (contains_any(name, {"HtoD", "HostToDevice", "Host -> Device"})) {
    return CopyKind::h2d;
  }
  if (contains_any(name, {"DtoH", "DeviceToHost", "Device -> Host"})) {
    return CopyKind::d2h;
  }
  if (contains_any(name, {"PtoP", "PeerToPeer"})) {
    return CopyKind::p2p;
  }
  if (contains_any(name, {"DtoD", "DeviceToDevice"})) {
    return CopyKind::d2d;
  }
  return CopyKind::unknown;
}

}  // namespace trainyard::workload
