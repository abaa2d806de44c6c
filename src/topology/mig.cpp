#include "topology/mig.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "input/files.hpp"

namespace trainyard::topology {
namespace {

constexpr int kMostSlices = 64;

int count_of(const input::Section& section, const char* key, int most) {
  return static_cast<int>(section.require(key).integer_in(1, most));
}

std::vector<int> read_starts(const input::Value& value, int last) {
  std::vector<int> starts;
  for (const input::Value& start : value.array()) {
    starts.push_back(static_cast<int>(start.integer_in(0, last)));
    if (starts.size() > 1 && starts.back() <= starts[starts.size() - 2]) {
      start.fail("must be larger than the start before it");
    }
  }
  return starts;
}

MigProfile read_profile(const input::Section& section, int memory_slices) {
  MigProfile profile;
  profile.name = section.require("name").text();
  profile.compute_slices = count_of(section, "compute_slices", kMostSlices);
  profile.sms = count_of(section, "sms", 10000);
  profile.memory_slices = count_of(section, "memory_slices", memory_slices);
  profile.memory = section.require("memory").bytes();
  profile.starts = read_starts(section.require("starts"), memory_slices - profile.memory_slices);
  section.reject_unknown();
  return profile;
}

std::vector<MigProfile> read_profiles(const input::Section& section) {
  const int memory_slices = count_of(section, "memory_slices", kMostSlices);
  std::vector<MigProfile> profiles;
  for (const input::Value& value : section.require("profiles").array()) {
    MigProfile profile = read_profile(value.section(), memory_slices);
    const bool known = std::any_of(profiles.begin(), profiles.end(), [&](const MigProfile& other) {
      return other.name == profile.name;
    });
    if (known) {
      value.fail(fmt::format("\"{}\" is there twice", profile.name));
    }
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

/// Whether two runs of memory slices share one.
bool overlap(int start, int length, int other_start, int other_length) {
  return start < other_start + other_length && other_start < start + length;
}

}  // namespace

MigTable MigTable::parse(const input::Document& document, const Catalog& catalog) {
  MigTable table;
  const input::Section root = document.root();
  for (const input::Section& section : root.sections("mig")) {
    const auto profiles = read_profiles(section);
    for (const input::Value& name : section.require("gpus").array()) {
      const GpuKind& gpu = catalog.gpu(name.text(), name.place());
      if (!table.profiles(gpu).empty()) {
        name.fail(fmt::format("\"{}\" has profiles already", gpu.name));
      }
      table.by_gpu_.emplace_back(gpu.name, profiles);
    }
    section.reject_unknown();
  }
  root.reject_unknown();
  return table;
}

MigTable MigTable::load() {
  const auto file = input::data_folder() / "topologies" / "catalog" / "mig.toml";
  return parse(input::Document::parse_file(file.string()), Catalog::load());
}

const std::vector<MigProfile>& MigTable::profiles(const GpuKind& gpu) const {
  static const std::vector<MigProfile> none;
  const auto found = std::find_if(by_gpu_.begin(), by_gpu_.end(),
                                  [&](const auto& entry) { return entry.first == gpu.name; });
  return found == by_gpu_.end() ? none : found->second;
}

const MigProfile& MigTable::profile(const GpuKind& gpu, std::string_view name,
                                    const input::Place& place) const {
  std::vector<std::string> known;
  for (const MigProfile& profile : profiles(gpu)) {
    if (profile.name == name) {
      return profile;
    }
    known.push_back(profile.name);
  }
  if (known.empty() && gpu.mig_instances > 0) {
    throw input::InputError{place, fmt::format("the MIG profiles of a {} are not known", gpu.name)};
  }
  if (known.empty()) {
    throw input::InputError{place, fmt::format("a {} cannot be split by MIG", gpu.name)};
  }
  throw input::InputError{place, fmt::format("\"{}\" is no MIG profile of a {}{}", name, gpu.name,
                                             input::suggestion(name, known))};
}

std::vector<int> MigTable::can_place(const GpuKind& gpu, const std::vector<MigInstance>& existing,
                                     std::string_view profile, const input::Place& place) const {
  const MigProfile& wanted = this->profile(gpu, profile, place);
  std::vector<std::pair<int, int>> taken;
  taken.reserve(existing.size());
  for (const MigInstance& instance : existing) {
    taken.emplace_back(instance.start, this->profile(gpu, instance.profile, place).memory_slices);
  }
  std::vector<int> starts;
  std::copy_if(wanted.starts.begin(), wanted.starts.end(), std::back_inserter(starts),
               [&](int start) {
                 return std::none_of(taken.begin(), taken.end(), [&](const auto& run) {
                   return overlap(start, wanted.memory_slices, run.first, run.second);
                 });
               });
  return starts;
}

}  // namespace trainyard::topology
