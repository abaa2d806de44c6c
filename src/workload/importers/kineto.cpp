#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "input/error.hpp"
#include "workload/import.hpp"
#include "workload/importers/inflate.hpp"
#include "workload/importers/kineto_collectives.hpp"
#include "workload/importers/kineto_events.hpp"
#include "workload/importers/kineto_graph.hpp"
#include "workload/importers/nsys_pairs.hpp"
#include "workload/importers/recording.hpp"

namespace trainyard::workload {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWithoutLaunch =
    "GPU operations without a launch record (kept, in stream order)";
// Times further apart than this are no times of one run, and sums of them could leave 64 bits.
constexpr std::int64_t kYear = 365LL * 24 * 3600 * 1'000'000'000;
constexpr const char* kSeveralGpus = "further GPUs of one process (kept as streams of one rank)";

bool is_profile_name(const fs::path& path) {
  const std::string name = path.filename().string();
  static constexpr std::array<std::string_view, 5> kEndings{".json", ".json.gz", ".sqlite", ".nvvp",
                                                            ".csv"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

// A folder stands for the profiles in it, in the order of their names.
std::vector<std::string> expand(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (const fs::directory_entry& entry : fs::directory_iterator{path}) {
      if (entry.is_regular_file() && is_profile_name(entry.path())) {
        inside.push_back(entry.path().string());
      }
    }
    if (inside.empty()) {
      throw input::InputError{{path, 0, 0},
                              "the folder holds no profile, expected *.json, *.json.gz, *.sqlite, "
                              "*.nvvp or *.csv files"};
    }
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  if (files.empty()) {
    throw input::InputError{{}, "no profile to import, expected at least one path"};
  }
  return files;
}

// "worker3", "rank-12", "rank_0": what tools put into file names.
std::optional<int> rank_in_name(const std::string& path) {
  std::string name = fs::path{path}.filename().string();
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  for (const std::string_view word : {"rank", "worker"}) {
    for (std::size_t at = name.find(word); at != std::string::npos; at = name.find(word, at + 1)) {
      std::size_t digits = at + word.size();
      digits += digits < name.size() && std::string_view{"-_ "}.find(name[digits]) < 3 ? 1 : 0;
      int rank = 0;
      const char* first = name.data() + digits;
      const auto [end, error] = std::from_chars(first, name.data() + name.size(), rank);
      if (error == std::errc{} && rank >= 0 && rank < 1'000'000) {
        return rank;
      }
    }
  }
  return std::nullopt;
}

void check_has_gpu_events(const Recording& loaded) {
  if (loaded.file.gpu.empty()) {
    throw input::InputError{{loaded.path, 0, 0},
                            "the profile has no GPU events, expected kernels, copies or fills "
                            "(was the profiler run with CUDA activities?)"};
  }
}

void check_span(const Recording& loaded) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  const auto add = [&](std::int64_t start, std::int64_t end) {
    first = std::min(first, start);
    last = std::max(last, end);
  };
  for (const GpuEvent& event : loaded.file.gpu) {
    add(event.start, event.start + event.duration);
  }
  for (const HostCall& call : loaded.file.calls) {
    add(call.start, call.end);
  }
  for (const StepRange& step : loaded.file.steps) {
    add(step.start, step.end);
  }
  if (last > first + kYear) {
    throw input::InputError{{loaded.path, 0, 0},
                            fmt::format("the profile spans more than a year, from {} to {} us: "
                                        "some of its time stamps are wrong",
                                        first / 1'000, last / 1'000)};
  }
}

void check_formats(const std::vector<Recording>& files) {
  for (const Recording& file : files) {
    if (file.format != files.front().format) {
      throw input::InputError{
          {file.path, 0, 0},
          fmt::format("the format is {}, expected profiles of one format; {} is {}", file.format,
                      files.front().path, files.front().format)};
    }
  }
}

// The file holds no other rank.
bool alone(const std::vector<Recording>& files, std::size_t index) {
  return (index == 0 || files[index - 1].path != files[index].path) &&
         (index + 1 == files.size() || files[index + 1].path != files[index].path);
}

// The rank that the profile states, else the number in the file's name, else the position.
void assign_ranks(std::vector<Recording>& files) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    KinetoFile& file = files[i].file;
    if (file.rank < 0 && files.size() > 1) {
      const auto named = alone(files, i) ? rank_in_name(files[i].path) : std::nullopt;
      file.rank = named.value_or(static_cast<int>(i));
    }
    file.rank = std::max(file.rank, 0);
  }
  std::stable_sort(files.begin(), files.end(), [](const Recording& a, const Recording& b) {
    return a.file.rank < b.file.rank;
  });
  for (std::size_t i = 1; i < files.size(); ++i) {
    if (files[i].file.rank == files[i - 1].file.rank) {
      throw input::InputError{{files[i].path, 0, 0},
                              fmt::format("a second profile of rank {}, expected one file a rank; "
                                          "the first is {}",
                                          files[i].file.rank, files[i - 1].path)};
    }
  }
}

// One more than the largest rank that the profile's groups and messages name.
int named_ranks(const KinetoFile& file) {
  int count = 0;
  const auto add = [&](std::int64_t rank) {
    if (rank < 1 << 24) {  // more than any job has; others are refused when groups are matched
      count = std::max(count, static_cast<int>(rank) + 1);
    }
  };
  for (const ProcessGroup& group : file.groups) {
    std::for_each(group.ranks.begin(), group.ranks.end(), add);
  }
  for (const CommunicationInfo& info : file.communication) {
    const std::vector<int> listed = parse_ranks(info.ranks);
    std::for_each(listed.begin(), listed.end(), add);
    add(last_rank(info));
    add(std::max(info.source, info.destination));
  }
  return count;
}

// As stated; without a statement what the files and the groups need.
int world_size(const std::vector<Recording>& files) {
  int size = static_cast<int>(files.size());
  bool stated = false;
  for (const Recording& loaded : files) {
    size = std::max({size, loaded.file.world_size, loaded.file.rank + 1});
    stated = stated || loaded.file.world_size > 0;
  }
  if (!stated) {
    for (const Recording& loaded : files) {
      size = std::max(size, named_ranks(loaded.file));
    }
  }
  return size;
}

// Names of the catalogue for the spellings of drivers; any other name stays as it is.
std::string catalogue_name(const std::string& spelling) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kNames{{
      {"Tesla V100-SXM2-16GB", "v100-sxm2-16gb"},
      {"Tesla V100-SXM2-32GB", "v100-sxm2-32gb"},
      {"Tesla V100-DGXS-32GB", "v100-sxm2-32gb"},  // DGX Station: same GPU, water-cooled
      {"Tesla V100-SXM3-32GB", "v100-sxm3-32gb"},
      {"NVIDIA A100-SXM4-40GB", "a100-sxm4-40gb"},
      {"NVIDIA A100-PG509-200", "a100-sxm4-40gb"},  // OAM board of the 40 GB part
      {"NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb"},
      {"NVIDIA A100-PCIE-40GB", "a100-pcie-40gb"},
      {"NVIDIA A100 80GB PCIe", "a100-pcie-80gb"},
      {"NVIDIA H100 80GB HBM3", "h100-sxm-80gb"},
      {"NVIDIA H200", "h200-sxm-141gb"},
      {"NVIDIA GeForce RTX 2080 Ti", "rtx-2080-ti"},
      {"AMD Instinct MI300X", "mi300x"},
      {"AMD Instinct MI300X VF", "mi300x"},
  }};
  for (const auto& [driver, catalogue] : kNames) {
    if (spelling == driver) {
      return std::string{catalogue};
    }
  }
  return spelling;
}

// ROCm numbers devices that deviceProperties does not list: then the first one that it does.
std::string gpu_name(const KinetoFile& file) {
  const int device =
      std::min_element(file.gpu.begin(), file.gpu.end(), [](const GpuEvent& a, const GpuEvent& b) {
        return a.device < b.device;
      })->device;
  const auto found = file.devices.find(device);
  if (found != file.devices.end()) {
    return catalogue_name(found->second);
  }
  return file.devices.empty() ? std::string{} : catalogue_name(file.devices.begin()->second);
}

std::int64_t further_gpus(const Timeline& timeline) {
  std::vector<std::string> devices;
  for (const Stream& stream : timeline.streams) {
    if (!stream.host) {
      devices.push_back(stream.name.substr(0, stream.name.find(':')));
    }
  }
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return static_cast<std::int64_t>(devices.size()) - 1;
}

void add_skipped(std::vector<RankProfile>& ranks, Workload& workload) {
  std::map<std::string, std::int64_t> all;
  for (const RankProfile& rank : ranks) {
    for (const auto& [reason, count] : rank.file->skipped) {
      all[reason] += count;
    }
    all[kWithoutLaunch] += rank.graph.without_launch;
    all[kSeveralGpus] += further_gpus(rank.graph.timeline);
  }
  for (const auto& [reason, count] : all) {
    if (count > 0) {
      workload.skipped.push_back({reason, count});
    }
  }
}

void align_clocks(std::vector<RankProfile>& ranks) {
  const auto first = std::min_element(ranks.begin(), ranks.end(), [](const auto& a, const auto& b) {
    return a.graph.start < b.graph.start;
  });
  for (RankProfile& rank : ranks) {
    if (rank.graph.start > first->graph.start + kYear) {
      throw input::InputError{{rank.path, 0, 0},
                              fmt::format("the profile starts more than a year after {}, expected "
                                          "the ranks of one run",
                                          first->path)};
    }
    rank.graph.timeline.start = units::Nanoseconds{rank.graph.start - first->graph.start};
  }
}

}  // namespace

Workload import_profiles(const std::vector<std::string>& paths, std::string_view name,
                         ProfileFormat format) {
  std::vector<Recording> files;
  for (const std::string& path : expand(paths)) {
    for (Recording& recording : read_profile(path, format)) {
      check_has_gpu_events(recording);
      check_span(recording);
      files.push_back(std::move(recording));
    }
  }
  check_formats(files);
  assign_ranks(files);
  if (files.front().store) {
    pair_communication(files);  // formats that know no process groups
  }

  Workload workload;
  workload.name = name;
  workload.framework = files.front().format;
  workload.gpu = gpu_name(files.front().file);
  workload.world_size = world_size(files);
  NameTable names;
  std::vector<RankProfile> ranks;
  for (const Recording& loaded : files) {
    ranks.push_back({loaded.path, &loaded.file, build_graph(loaded.file, names)});
    ranks.back().graph.timeline.rank = loaded.file.rank;
  }
  align_clocks(ranks);
  match_collectives(ranks, workload);
  add_skipped(ranks, workload);
  for (RankProfile& rank : ranks) {
    workload.timelines.push_back(std::move(rank.graph.timeline));
  }
  workload.names = names.take();
  return workload;
}

Workload import_kineto(const std::vector<std::string>& paths, std::string_view name) {
  return import_profiles(paths, name, ProfileFormat::kineto);
}

}  // namespace trainyard::workload
