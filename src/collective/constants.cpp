#include "collective/constants.hpp"

#include <algorithm>

namespace trainyard::collective {

using namespace units::literals;

// Latencies: NCCL src/graph/tuning.cc (master of 2026-06), arrays baseLat and hwLat, ring rows, in
// us; NVLink, PCIe and network hops. They are the time inside the kernel: its launch is the host's.
// Bandwidth shares: fit of published nccl-tests tables (LL 0.37, LL128 0.80 of ring Simple); by
// their formats LL could reach 0.50 and LL128 0.94, but neither does.
const std::array<Protocol, 3>& protocols() {
  static constexpr std::array<Protocol, 3> kProtocols{{
      {"ll", 6.6_us, 0.6_us, 1.0_us, 2.7_us, 0.37},
      {"ll128", 14.0_us, 1.9_us, 2.5_us, 4.0_us, 0.80},
      {"simple", 8.4_us, 3.4_us, 5.7_us, 14.0_us, 1.0},
  }};
  return kProtocols;
}

bool keeps_128_byte_stores(std::string_view architecture) {
  static constexpr std::array<std::string_view, 6> kArchitectures{"volta", "turing", "ampere",
                                                                  "ada",   "hopper", "blackwell"};
  return std::find(kArchitectures.begin(), kArchitectures.end(), architecture) !=
         kArchitectures.end();
}

units::Seconds peer_latency() {
  return 0.3_us;
}

}  // namespace trainyard::collective
