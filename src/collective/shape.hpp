#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collective/constants.hpp"
#include "collective/plan.hpp"

namespace trainyard::collective {

class RingRouter;

/// Which pipeline between nodes has to fill before bytes flow at full rate.
enum class Fill { none, ring, tree };

/// One way to run a collective on a group: what one byte of the call puts on links, and what the
/// call costs beside its bytes.
struct Shape {
  std::string algorithm{};
  std::vector<Flow> flows{};                   ///< size: per byte of the call; no cap
  std::vector<units::BytesPerSecond> rates{};  ///< that Simple reaches, all flows together
  std::vector<bool> below_links{};             ///< the rate is lower than what the links allow
  units::Seconds unit_time{};                  ///< of one byte of the call, Simple
  double share = 1.0;                          ///< of that speed which the algorithm reaches

  HopClass inside = HopClass::nvlink;
  bool both_ways = false;  ///< NVLink carries two streams at once: Constants::both_ways counts
  bool staged = false;     ///< through host memory: Constants::staged counts
  double inside_hops = 0.0;
  double network_hops = 0.0;
  units::Seconds network_hop{};
  units::Seconds extra{};  ///< whatever the protocol
  Fill fill = Fill::none;
  double parts = 1.0;  ///< in which ranks cut the call, then into slices; 0: they do not
  bool ll = true;      ///< protocols that can be used; Simple always can
  bool ll128 = false;
  bool fences = true;                ///< Protocol::once counts
  units::BytesPerSecond ll_limit{};  ///< bytes of the call a second under LL; 0: none
};

/// What algorithms look at.
struct Context {
  const topology::Cluster& cluster;
  const Constants& constants;
  const Software& software;
  RingRouter& router;
};

/// Fills rates and unit_time from the flows: max-min over their links, at most what rings reach on
/// a kind of link, times `share` (1: nothing but links).
void set_rates(const Context& context, double share, Shape& shape);

/// Which of LL and LL128 the group can use, and the limit of LL between nodes.
/// @param bus_bytes  bytes on the busiest link for one byte of the call
void set_protocols(const Context& context, const std::vector<topology::GpuId>& group, int nodes,
                   const Transport& transport, double bus_bytes, Shape& shape);

/// Index into Constants::protocols, and the time of the call alone without its start.
struct Choice {
  std::size_t protocol = kSimple;
  units::Seconds time{};
};
[[nodiscard]] Choice fastest_protocol(const Constants& constants, const Shape& shape,
                                      const Software& software, double bytes);
[[nodiscard]] units::Seconds latency(const Constants& constants, const Shape& shape,
                                     const Software& software, std::size_t protocol);
/// Share of the speed behind unit_time that a call of so many bytes reaches.
[[nodiscard]] double speed(const Constants& constants, const Shape& shape, std::size_t protocol,
                           double bytes);

}  // namespace trainyard::collective
