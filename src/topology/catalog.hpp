#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "input/section.hpp"
#include "units/quantity.hpp"

namespace trainyard::topology {

/// What a link is made of; decides which paths may use it and how a pair's class is named.
enum class Medium { nvlink, pcie, socket, network, storage };

/// A kind of link from topologies/catalog/links.toml. Figures are per direction and for one link.
struct LinkKind {
  std::string name{};
  Medium medium = Medium::pcie;
  units::BytesPerSecond bandwidth{};  ///< raw
  double efficiency = 1.0;            ///< share of raw that bulk transfers reach, in (0, 1]
  units::Seconds latency{};           ///< one hop
  /// What carries the messages, of medium network only: "infiniband", "roce", "efa", "tcpxo",
  /// "tcp", "slingshot" or "ici". Constants of collectives are keyed by it.
  std::string transport{};
  std::optional<units::BytesPerSecond> flow_cap{};  ///< most that one flow gets; none: the link

  bool operator==(const LinkKind&) const = default;
};

/// A kind of GPU from topologies/catalog/gpus.toml. Rates are dense, in FLOP/s; 0: not supported.
struct GpuKind {
  std::string name{};                         ///< "v100-sxm2-32gb"
  std::vector<std::string> profiler_names{};  ///< as profilers print it, "Tesla V100-SXM2-32GB"
  std::string architecture{};                 ///< "volta"
  units::Bytes memory{};
  units::BytesPerSecond memory_bandwidth{};
  std::map<std::string, double> flops{};  ///< by precision: fp64 fp32 tf32 fp16 bf16 fp8 int8
  std::string nvlink{};                   ///< link kind, "" without
  int nvlink_links = 0;
  double tdp_watts = 0.0;
  double idle_watts = 0.0;
  units::Seconds launch_floor{};  ///< shortest kernel
  bool data_center = true;        ///< licensed by its vendor for data centres
  /// The driver lets GPUs copy to each other over PCIe; else such copies go through host memory.
  bool peer_access = true;
  int mig_instances = 0;     ///< most MIG instances at once; 0: it cannot be split
  std::string usual_node{};  ///< node file that usually houses it, "" if none ships
};

class Catalog {
 public:
  /// gpus.toml and links.toml of topologies/catalog in the data folder. @throws InputError
  [[nodiscard]] static Catalog load();
  [[nodiscard]] static Catalog parse(const std::vector<input::Document>& documents);

  /// By catalogue name; unknown: InputError at `place` with the nearest known name.
  [[nodiscard]] const LinkKind& link(std::string_view name, const input::Place& place) const;
  [[nodiscard]] const GpuKind& gpu(std::string_view name, const input::Place& place) const;
  /// By catalogue or profiler name; null when unknown.
  [[nodiscard]] const GpuKind* find_gpu(std::string_view name) const;
  [[nodiscard]] const std::vector<GpuKind>& gpus() const { return gpus_; }
  [[nodiscard]] const std::vector<LinkKind>& links() const { return links_; }

 private:
  std::vector<GpuKind> gpus_{};
  std::vector<LinkKind> links_{};
};

}  // namespace trainyard::topology
