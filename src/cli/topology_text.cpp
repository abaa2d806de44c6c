#include "cli/topology_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace trainyard::cli {

using topology::Cluster;

Option topology_option() {
  return {.name = "T", .help = "node or cluster file, or a shipped name", .required = true};
}

Cluster topology_argument(const Arguments& arguments) {
  return topology::load_cluster(arguments.text("T"), {}, input::Place{"command line"});
}

std::string gpu_text(const Cluster& cluster) {
  std::vector<std::pair<std::string, int>> kinds;
  for (topology::GpuId gpu = 0; gpu < cluster.gpus(); ++gpu) {
    const std::string& name = cluster.gpu_kind(gpu).name;
    const auto known = std::find_if(kinds.begin(), kinds.end(),
                                    [&](const auto& kind) { return kind.first == name; });
    ++(known != kinds.end() ? *known : kinds.emplace_back(name, 0)).second;
  }
  std::string text;
  for (const auto& [name, count] : kinds) {
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", count, name);
  }
  return text;
}

std::string counted(std::size_t count, std::string_view what) {
  const bool hisses = what.ends_with("ch");
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : (hisses ? "es" : "s"));
}

std::size_t nic_count(const Cluster& cluster) {
  std::size_t count = 0;
  for (int node = 0; node < cluster.nodes(); ++node) {
    count += cluster.nics(node).size();
  }
  return count;
}

void check_new_file(const std::filesystem::path& target, bool force) {
  if (std::filesystem::is_directory(target)) {
    throw input::InputError{{target.string()}, "is a folder, expected a file to write"};
  }
  if (std::filesystem::is_regular_file(target) && !force) {
    throw input::InputError{{target.string()},
                            "the file exists, expected a new name (or --force to replace it)"};
  }
  const auto folder = target.parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder)) {
    throw input::InputError{{target.string()},
                            fmt::format("the folder {} does not exist", folder.string())};
  }
}

}  // namespace trainyard::cli
