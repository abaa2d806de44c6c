#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "topology/cluster.hpp"

namespace trainyard::test {

/// GPUs "card" (2 NVLinks) and "game-card" (none, no data centre, no peer access); links "nv" 25
/// GB/s at 0.8, "c2c" 100 GB/s (NVLink to a CPU), "pci" 16 GB/s, "qpi" 20 GB/s at 0.5, "ib" 10 GB/s
/// at 0.9, "ib-slow" 5 GB/s, "disk" 2 GB/s. Latencies in us: nv 0.7, pci 0.2, qpi 0.3, ib and
/// ib-slow 1.
[[nodiscard]] const topology::Catalog& small_catalog();

/// A node or cluster of the small catalogue.
[[nodiscard]] topology::Cluster parse(std::string_view text,
                                      const topology::ClusterOptions& options = {});

/// A cluster of `nodes` nodes of `nics` NICs ("ib") and as many GPUs each on the fabric that the
/// lines of `fabric` describe. Written to a file, since a cluster file names its node files.
[[nodiscard]] topology::Cluster on_fabric(int nodes, int nics, std::string_view fabric);

/// What parsing `text` as node.toml throws; "no error" if it does not.
[[nodiscard]] std::string error_of(std::string_view text);
/// The same for `on_fabric`, without the folder.
[[nodiscard]] std::string fabric_error(int nodes, int nics, std::string_view fabric);

[[nodiscard]] std::vector<std::string> names_of(const topology::Cluster& cluster,
                                                const topology::Path& path);
[[nodiscard]] topology::LinkId link_named(const topology::Cluster& cluster, std::string_view name);

/// The links join end to start, from `from` to `to` (as in link names), none twice.
[[nodiscard]] bool is_walk(const topology::Cluster& cluster, const topology::Path& path,
                           const std::string& from, const std::string& to);

/// Numbers that are the same everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_{seed} {}
  [[nodiscard]] int in(int low, int high);

 private:
  std::uint64_t state_;
};

}  // namespace trainyard::test
