#include "workload/importers/nsys_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "workload/importers/kernel_names.hpp"

namespace trainyard::workload {
namespace {

constexpr const char* kAlone =
    "communication kernels without a partner on other ranks (kept, each as a group of one rank)";

/// A communication kernel. `op` tells operations apart; -1 is sending and receiving.
struct Kernel {
  std::size_t recording = 0;
  std::size_t event = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;
  int op = 0;
};

/// Kernels of several ranks that are one collective; by rank.
struct Cluster {
  std::int64_t first_end = 0;
  std::map<std::size_t, Kernel> members{};
};

class Pairer {
 public:
  explicit Pairer(std::vector<Recording>& recordings) : recordings_{recordings} {}

  void pair() {
    for (std::size_t i = 0; i < recordings_.size(); ++i) {
      collect(i);
    }
    if (kernels_.empty() || same_everywhere()) {
      return;
    }
    for (const Cluster& cluster : clusters()) {
      if (cluster.members.size() > 1 && keeps_order(cluster)) {
        name_group(cluster);
      } else {
        for (const auto& [recording, kernel] : cluster.members) {
          name_alone(kernel);
        }
      }
    }
  }

 private:
  void collect(std::size_t index) {
    const KinetoFile& file = recordings_[index].file;
    std::vector<int> ops(file.names.size(), kNoCommunication);
    for (std::size_t i = 0; i < file.names.size(); ++i) {
      if (is_communication_kernel(file.names[i])) {
        const auto op = collective_in(file.names[i]);
        ops[i] = op ? static_cast<int>(*op) : -1;
      }
    }
    for (std::size_t i = 0; i < file.gpu.size(); ++i) {
      const GpuEvent& event = file.gpu[i];
      const int op = ops[static_cast<std::size_t>(event.name)];
      if (event.work == GpuWork::kernel && op != kNoCommunication) {
        const std::int64_t start = file.base + event.start;
        kernels_.push_back({index, i, start, start + event.duration, op});
      }
    }
  }

  // Operations of each stream, the streams by first use.
  [[nodiscard]] std::vector<std::vector<int>> by_stream(std::size_t recording) const {
    std::vector<Kernel> own;
    std::copy_if(kernels_.begin(), kernels_.end(), std::back_inserter(own),
                 [&](const Kernel& kernel) { return kernel.recording == recording; });
    std::stable_sort(own.begin(), own.end(),
                     [](const Kernel& a, const Kernel& b) { return a.start < b.start; });
    std::map<std::int64_t, std::size_t> numbers;
    std::vector<std::vector<int>> streams;
    for (const Kernel& kernel : own) {
      const std::int64_t stream = recordings_[recording].file.gpu[kernel.event].stream;
      const auto [found, is_new] = numbers.try_emplace(stream, streams.size());
      if (is_new) {
        streams.emplace_back();
      }
      streams[found->second].push_back(kernel.op);
    }
    return streams;
  }

  [[nodiscard]] bool same_everywhere() const {
    const auto first = by_stream(0);
    for (std::size_t i = 1; i < recordings_.size(); ++i) {
      if (by_stream(i) != first) {
        return false;
      }
    }
    return true;
  }

  // In the order of their first ends.
  std::vector<Cluster> clusters() {
    std::sort(kernels_.begin(), kernels_.end(), [](const Kernel& a, const Kernel& b) {
      return std::tuple{a.end, a.recording, a.event} < std::tuple{b.end, b.recording, b.event};
    });
    std::vector<Cluster> all;
    std::map<int, std::vector<std::size_t>> open;  // [op]: clusters that may still grow
    for (const Kernel& kernel : kernels_) {
      auto& candidates = open[kernel.op];
      std::erase_if(candidates, [&](std::size_t cluster) {
        return kernel.end - all[cluster].first_end > kEndsTogether;
      });
      const auto fit = std::find_if(candidates.begin(), candidates.end(), [&](std::size_t cluster) {
        return !all[cluster].members.contains(kernel.recording);
      });
      if (fit != candidates.end()) {
        all[*fit].members.emplace(kernel.recording, kernel);
        continue;
      }
      candidates.push_back(all.size());
      all.push_back({kernel.end, {{kernel.recording, kernel}}});
    }
    return all;
  }

  static std::vector<std::size_t> members(const Cluster& cluster) {
    std::vector<std::size_t> found;
    for (const auto& [recording, kernel] : cluster.members) {
      found.push_back(recording);
    }
    return found;
  }

  // Every member starts it after the group's collective before.
  bool keeps_order(const Cluster& cluster) {
    auto& starts = last_starts_[members(cluster)];
    for (const auto& [recording, kernel] : cluster.members) {
      const auto last = starts.find(recording);
      if (last != starts.end() && last->second >= kernel.start) {
        return false;
      }
    }
    for (const auto& [recording, kernel] : cluster.members) {
      starts[recording] = kernel.start;
    }
    return true;
  }

  void name_group(const Cluster& cluster) {
    std::vector<int> ranks;
    for (const auto& [recording, kernel] : cluster.members) {
      ranks.push_back(recordings_[recording].file.rank);
    }
    const std::string text = fmt::format("[{}]", fmt::join(ranks, ", "));
    for (const auto& [recording, kernel] : cluster.members) {
      state(kernel, "ranks " + text, text);
    }
  }

  void name_alone(const Kernel& kernel) {
    KinetoFile& file = recordings_[kernel.recording].file;
    state(kernel, fmt::format("rank {} alone", file.rank), fmt::format("[{}]", file.rank));
    ++file.skipped[kAlone];
  }

  void state(const Kernel& kernel, const std::string& group, const std::string& ranks) {
    KinetoFile& file = recordings_[kernel.recording].file;
    GpuEvent& event = file.gpu[kernel.event];
    event.communication = static_cast<int>(file.communication.size());
    CommunicationInfo& info = file.communication.emplace_back();
    info.group = text(kernel.recording, group);
    info.ranks = text(kernel.recording, ranks);
  }

  std::string_view text(std::size_t recording, const std::string& wanted) {
    const auto [found, is_new] = texts_.try_emplace({recording, wanted});
    if (is_new) {
      found->second = recordings_[recording].store->emplace_back(wanted);
    }
    return found->second;
  }

  static constexpr int kNoCommunication = -2;

  std::vector<Recording>& recordings_;
  std::vector<Kernel> kernels_{};
  std::map<std::vector<std::size_t>, std::map<std::size_t, std::int64_t>> last_starts_{};
  std::map<std::pair<std::size_t, std::string>, std::string_view> texts_{};
};

}  // namespace

void pair_communication(std::vector<Recording>& recordings) {
  Pairer{recordings}.pair();
}

}  // namespace trainyard::workload
