#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "input/section.hpp"
#include "units/quantity.hpp"

namespace trainyard::collective {

/// Slowest kind of link between neighbours inside a node.
enum class HopClass { nvlink, pcie };

/// Generations of the communication library that time differently.
enum class Era { before_2_5, before_2_12, current };

/// What runs the collectives, as far as it changes their time.
struct Software {
  Era era = Era::current;
  bool one_process = false;   ///< one process drives all GPUs (nccl-tests -g N), not one each
  bool call_to_call = false;  ///< as nccl-tests times them: what lies between two kernels counts
  std::string algorithm{};    ///< only this one, where it can run the call (as NCCL_ALGO)
};

/// "2.4.8", "2.8-2.9 era"; text without such a number: current.
[[nodiscard]] Era era_of(std::string_view nccl_version);

/// Timing of one NCCL protocol. A hop is one step of a ring or tree inside a node.
struct Protocol {
  std::string name{};
  units::Seconds nvlink_hop{};
  units::Seconds pcie_hop{};
  double bandwidth = 1.0;                ///< share of what Simple reaches on the same links
  std::array<units::Seconds, 3> once{};  ///< by Era: fences and first slices, once a call
  double tree_fill = 0.0;                ///< network hops until a tree's pipeline runs full
  double ring_fill = 0.0;                ///< the same for the rings of an all-reduce
};

/// Timing of one kind of network, by LinkKind::transport.
struct Transport {
  std::string name{};
  units::Seconds hop{};
  bool ll128 = false;       ///< 128-byte stores stay whole on the way to the NIC
  double lone_share = 1.0;  ///< of the line rate, where a node has one GPU in the group
};

/// Figures of a GPU generation.
struct Generation {
  std::string architecture{};
  double start = 1.0;                  ///< share of the kernel start of older ones
  bool ll128 = false;                  ///< 128-byte stores stay whole
  double switch_reduction = 0.0;       ///< NVLS algorithm rate / raw port rate; 0: none
  units::BytesPerSecond network_ll{};  ///< bus rate that LL reaches between nodes
};

/// Share of the raw rate that rings reach on a kind of link, where copies reach more.
struct RingShare {
  std::string link{};
  double share = 1.0;
};

/// The constants of topologies/catalog/collectives.toml; their sources stand there.
struct Constants {
  units::Seconds start{};                ///< kernel start and first meeting, one process a GPU
  units::Seconds gap{};                  ///< part of it that lies before the kernel
  units::Seconds one_process{};          ///< the same when one process starts all GPUs:
  units::Seconds one_process_per_gpu{};  ///< ... plus so much a GPU
  std::array<Protocol, 3> protocols{};   ///< ll, ll128, simple
  std::vector<Transport> transports{};
  std::vector<Generation> generations{};
  std::vector<RingShare> ring_shares{};
  double switched_pair = 1.0;         ///< two GPUs through NVSwitch, of what more reach
  double one_phase = 1.0;             ///< all-gather and reduce-scatter, of the all-reduce's rate
  double tree = 1.0;                  ///< tree, of what its links allow
  double both_ways = 1.0;             ///< NVLink, when a chain's sums and results share it
  double send_recv = 1.0;             ///< to the next GPU over NVLink, of a ring's rate
  units::Seconds switch_reduction{};  ///< NVLS, once a call
  units::Seconds sharp{};             ///< reduction in the fabric, once a call
  units::Seconds peer{};              ///< a message inside a node
  units::Seconds network_peer{};      ///< a message to another node
  double staged = 1.0;                ///< ring over PCIe through host memory, of the raw rate
  double slice_excess = 0.0;    ///< Simple: longest relative delay by slices that are not full
  units::Seconds slice_part{};  ///< where that is: time that a rank's part of the call needs
  double slice_spread = 1.0;    ///< factor of size over which it falls to 61 %

  [[nodiscard]] static Constants load();
  [[nodiscard]] static Constants parse(const input::Document& document);
  /// How many numbers the table holds (what `validate nccl` sets against its rows).
  [[nodiscard]] int count() const { return count_; }

  [[nodiscard]] const Transport& transport(std::string_view name) const;
  [[nodiscard]] const Generation& generation(std::string_view architecture) const;
  /// Nothing: the link's efficiency holds.
  [[nodiscard]] const RingShare* ring_share(std::string_view link) const;
  [[nodiscard]] units::Seconds start_of(const Software& software, std::string_view architecture,
                                        std::size_t gpus) const;

 private:
  int count_ = 0;
};

inline constexpr std::size_t kLl = 0;
inline constexpr std::size_t kLl128 = 1;
inline constexpr std::size_t kSimple = 2;

}  // namespace trainyard::collective
