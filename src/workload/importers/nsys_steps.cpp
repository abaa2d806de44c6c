#include "workload/importers/nsys_steps.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

namespace trainyard::workload {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) {
  return c >= 'a' && c <= 'z';
}

// The words and "#" of a class, in order.
std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> found;
  while (!text.empty()) {
    std::size_t length = 0;
    while (length < text.size() && is_letter(text[length])) {
      ++length;
    }
    if (length > 0) {
      found.push_back(text.substr(0, length));
    } else {
      length = 1;
      if (text.front() == '#') {
        found.push_back(text.substr(0, 1));
      }
    }
    text.remove_prefix(length);
  }
  return found;
}

bool is_step_word(std::string_view word) {
  static constexpr std::array<std::string_view, 4> kEndings{"step", "iteration", "iter", "batch"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return word.ends_with(ending); });
}

using Ranges = std::vector<const NvtxRange*>;

// By start; ranges inside the one before are left out.
void keep_outermost(Ranges& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const NvtxRange* a, const NvtxRange* b) {
    return std::tuple{a->start, -a->end} < std::tuple{b->start, -b->end};
  });
  Ranges kept;
  for (const NvtxRange* range : ranges) {
    if (kept.empty() || range->start >= kept.back()->end) {
      kept.push_back(range);
    }
  }
  ranges = std::move(kept);
}

std::int64_t total(const Ranges& ranges) {
  std::int64_t sum = 0;
  for (const NvtxRange* range : ranges) {
    sum += range->end - range->start;
  }
  return sum;
}

std::int64_t launches_in(const Ranges& ranges, const std::vector<std::int64_t>& launches) {
  std::int64_t count = 0;
  for (const NvtxRange* range : ranges) {
    count += std::lower_bound(launches.begin(), launches.end(), range->end) -
             std::lower_bound(launches.begin(), launches.end(), range->start);
  }
  return count;
}

}  // namespace

std::string range_class(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (is_digit(c)) {
      if (!result.ends_with('#')) {
        result.push_back('#');
      }
    } else {
      result.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
    }
  }
  return result;
}

bool names_step(std::string_view range_class) {
  std::vector<std::string_view> found = words(range_class);
  const bool numbered = !found.empty() && found.back() == "#";
  while (!found.empty() && found.back() == "#") {
    found.pop_back();
  }
  if (found.empty() || !is_step_word(found.back())) {
    return false;
  }
  // Without a number more words are likely to name a part of the step ("optimizer step").
  const auto plain = [](std::string_view word) {
    return is_step_word(word) || word == "train" || word == "training" || word == "global";
  };
  return numbered || std::all_of(found.begin(), found.end(), plain);
}

std::vector<StepRange> find_nvtx_steps(const std::vector<NvtxRange>& ranges,
                                       const std::vector<std::int64_t>& launches) {
  std::map<std::pair<int, std::string>, Ranges> groups;
  for (const NvtxRange& range : ranges) {
    groups[{range.thread, range_class(range.text)}].push_back(&range);
  }
  const Ranges* best = nullptr;
  std::tuple<bool, std::int64_t> best_key{};
  for (auto& [key, group] : groups) {
    keep_outermost(group);
    const auto count = static_cast<std::int64_t>(group.size());
    const bool named = names_step(key.second);
    const bool covers = !launches.empty() && launches_in(group, launches) * 5 >=
                                                 static_cast<std::int64_t>(launches.size()) * 4;
    const std::tuple value{named, named ? total(group) : total(group) / count};
    if (count >= 2 && (named || covers) && (best == nullptr || value > best_key)) {
      best = &group;
      best_key = value;
    }
  }
  std::vector<StepRange> steps;
  if (best != nullptr) {
    for (const NvtxRange* range : *best) {
      steps.push_back({range->start, range->end, range->thread, std::string{range->text}});
    }
  }
  return steps;
}

}  // namespace trainyard::workload
