#include "topology/importers/nccl_nvlink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace trainyard::topology::importers {
namespace {

class NvlinkFinder {
 public:
  explicit NvlinkFinder(const NcclSystem& system) : system_{system} {
    for (std::size_t i = 0; i < system.gpus.size(); ++i) {
      gpu_of_[system.gpus[i].bus] = i;
    }
  }

  NvlinkParts find() {
    for (std::size_t i = 0; i < system_.gpus.size(); ++i) {
      if (const Element* gpu = system_.gpus[i].element->child("gpu"); gpu != nullptr) {
        read_gpu(i, *gpu);
      }
    }
    name_direct();
    name_switched();
    return std::move(parts_);
  }

 private:
  void read_gpu(std::size_t gpu, const Element& details) {
    for (const Element& child : details.children) {
      if (child.name == "nvlink") {
        read_nvlink(gpu, child);
      } else {
        parts_.left_out.push_back(fmt::format("<{}> of {} was left out: not understood", child.name,
                                              system_.gpus[gpu].name));
      }
    }
  }

  void read_nvlink(std::size_t gpu, const Element& link) {
    const auto count = link.integer("count", 1, 1000);
    std::string target = link.text("target");
    std::transform(target.begin(), target.end(), target.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    const std::string kind = link.text("tclass");
    if (!count || target.empty()) {
      link.fail("needs a 'target' (a bus id) and a 'count'");
    }
    const int links = static_cast<int>(*count);
    if (kind.starts_with("0x03")) {
      read_direct(gpu, target, links, link);
    } else if (kind.starts_with("0x068001")) {
      const auto cpu = static_cast<std::size_t>(system_.gpus[gpu].cpu);
      parts_.to_cpu.push_back({system_.gpus[gpu].name, system_.cpus[cpu].name, links});
    } else if (kind.starts_with("0x0680")) {
      if (!ports_.emplace(std::pair{gpu, target}, links).second) {
        link.fail(fmt::format("lists NVSwitch {} twice for one GPU", target));
      }
    } else {
      link.fail(
          fmt::format("'tclass' must be 0x03.. (GPU), 0x068000 (NVSwitch) or 0x068001 (CPU), "
                      "got \"{}\"",
                      kind));
    }
  }

  void read_direct(std::size_t gpu, const std::string& target, int links, const Element& link) {
    const auto other = gpu_of_.find(target);
    if (other == gpu_of_.end() || other->second == gpu) {
      parts_.left_out.push_back(fmt::format(
          "{} NVLinks of {} were left out: they lead to {}, {}", links, system_.gpus[gpu].name,
          target, other == gpu_of_.end() ? "which the file does not have" : "the GPU itself"));
      return;
    }
    if (!direct_.emplace(std::pair{gpu, other->second}, std::pair{links, &link}).second) {
      link.fail(fmt::format("lists {} twice for one GPU", target));
    }
  }

  /// Each link stands in the file at both of its ends.
  void name_direct() {
    for (const auto& [ends, found] : direct_) {
      const auto [a, b] = ends;
      const auto back = direct_.find({b, a});
      if (back != direct_.end() && back->second.first != found.first) {
        found.second->fail(fmt::format("{} has {} NVLinks to {}, which has {} back",
                                       system_.gpus[a].name, found.first, system_.gpus[b].name,
                                       back->second.first));
      }
      if (a < b || back == direct_.end()) {
        parts_.direct.push_back(
            {system_.gpus[std::min(a, b)].name, system_.gpus[std::max(a, b)].name, found.first});
      }
    }
  }

  void name_switched() {
    std::set<std::string> buses;
    for (const auto& [ends, count] : ports_) {
      buses.insert(ends.second);
    }
    parts_.switches = {buses.begin(), buses.end()};
    for (const auto& [ends, count] : ports_) {
      const auto at = std::lower_bound(parts_.switches.begin(), parts_.switches.end(), ends.second);
      parts_.switched.push_back({system_.gpus[ends.first].name,
                                 fmt::format("nvswitch{}", at - parts_.switches.begin()), count});
    }
    parts_.boards = count_boards() > 1;
  }

  /// Groups of switches that GPUs join.
  [[nodiscard]] std::size_t count_boards() const {
    std::map<std::string, std::string> group;
    for (const std::string& bus : parts_.switches) {
      group[bus] = bus;
    }
    std::map<std::size_t, std::string> first;
    for (const auto& [ends, count] : ports_) {
      const std::string from = group[ends.second];
      const std::string to = group[first.emplace(ends.first, ends.second).first->second];
      for (auto& [bus, name] : group) {
        name = name == from ? to : name;
      }
    }
    std::set<std::string> names;
    for (const auto& [bus, name] : group) {
      names.insert(name);
    }
    return names.size();
  }

  const NcclSystem& system_;
  std::map<std::string, std::size_t> gpu_of_{};
  std::map<std::pair<std::size_t, std::string>, int> ports_{};
  std::map<std::pair<std::size_t, std::size_t>, std::pair<int, const Element*>> direct_{};
  NvlinkParts parts_{};
};

}  // namespace

NvlinkParts find_nvlinks(const NcclSystem& system) {
  return NvlinkFinder{system}.find();
}

}  // namespace trainyard::topology::importers
