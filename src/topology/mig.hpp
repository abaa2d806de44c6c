#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "input/section.hpp"
#include "topology/catalog.hpp"
#include "units/quantity.hpp"

namespace trainyard::topology {

/// A size of MIG instance. @source NVIDIA's MIG user guide, supported profiles
struct MigProfile {
  std::string name{};  ///< "1g.5gb"
  int compute_slices = 0;
  int sms = 0;            ///< streaming multiprocessors
  int memory_slices = 0;  ///< length of its run of memory slices
  units::Bytes memory{};
  std::vector<int> starts{};  ///< memory slices where the run may begin, ascending
};

/// A MIG instance on a GPU. Instances have no peer traffic with each other nor over NVLink, whether
/// they sit on one GPU or on two: between them everything goes through host memory.
struct MigInstance {
  std::string profile{};
  int start = 0;  ///< memory slice

  bool operator==(const MigInstance&) const = default;
};

/// What topologies/catalog/mig.toml says of GPUs that can be split.
class MigTable {
 public:
  [[nodiscard]] static MigTable load();
  /// @throws InputError: a GPU that is not in the catalogue or comes twice, a run that leaves the
  ///         GPU, starts that do not ascend, ...
  [[nodiscard]] static MigTable parse(const input::Document& document, const Catalog& catalog);

  /// In file order; empty: the GPU cannot be split.
  [[nodiscard]] const std::vector<MigProfile>& profiles(const GpuKind& gpu) const;
  /// @throws InputError at `place`: not a profile of this GPU, with the nearest that is
  [[nodiscard]] const MigProfile& profile(const GpuKind& gpu, std::string_view name,
                                          const input::Place& place) const;
  /// Legal starts of one more instance beside `existing`, ascending; empty: it does not fit.
  /// @throws InputError at `place`: an unknown profile, of `existing` too
  [[nodiscard]] std::vector<int> can_place(const GpuKind& gpu,
                                           const std::vector<MigInstance>& existing,
                                           std::string_view profile,
                                           const input::Place& place) const;

 private:
  std::vector<std::pair<std::string, std::vector<MigProfile>>> by_gpu_{};
};

}  // namespace trainyard::topology
