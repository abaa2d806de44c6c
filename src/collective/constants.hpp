#pragma once

#include <array>
#include <string_view>

#include "units/quantity.hpp"

namespace trainyard::collective {

/// Slowest kind of link between neighbours of a ring inside a node.
enum class HopClass { nvlink, pcie };

/// Timing of one NCCL protocol. A ring of s steps costs base + s hops (each step by its link).
struct Protocol {
  std::string_view name{};
  units::Seconds base{};
  units::Seconds nvlink_hop{};
  units::Seconds pcie_hop{};
  units::Seconds network_hop{};
  double bandwidth_share = 1.0;  ///< of what Simple reaches on the same links
};

/// "ll", "ll128", "simple", in this order.
[[nodiscard]] const std::array<Protocol, 3>& protocols();
inline constexpr std::size_t kLl = 0;
inline constexpr std::size_t kLl128 = 1;
inline constexpr std::size_t kSimple = 2;

/// LL128 relies on 128-byte stores that stay whole: Volta and later.
[[nodiscard]] bool keeps_128_byte_stores(std::string_view architecture);

/// Share of the port rate that a ring of two GPUs reaches through NVSwitch, relative to more GPUs.
/// @source published A100 all-reduce tables: 197 GB/s on 2 GPUs, 222-229 on 4-8, fitted 0.84
inline constexpr double kSwitchedPairShare = 0.84;

/// What each peer adds to a pairwise exchange before its bytes move.
/// @source TACCL topology profiles (alpha of an NVLink hop, 1 MB files): 0.3 us
[[nodiscard]] units::Seconds peer_latency();

}  // namespace trainyard::collective
