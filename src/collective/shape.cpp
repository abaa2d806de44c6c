#include "collective/shape.hpp"

#include <algorithm>
#include <cmath>

#include "collective/link_table.hpp"

namespace trainyard::collective {
namespace {

/// Share of the raw rate that rings reach on a link, where less than its efficiency; 0: nothing is
/// known of it.
double ring_share(const Context& context, const topology::LinkKind& kind, const Shape& shape) {
  if (shape.staged && kind.medium == topology::Medium::pcie) {
    return context.constants.staged;
  }
  const RingShare* share = context.constants.ring_share(kind.name);
  const bool slower = shape.both_ways && kind.medium == topology::Medium::nvlink;
  const double factor = slower ? context.constants.both_ways : 1.0;
  if (share != nullptr) {
    return share->share * factor;
  }
  return slower ? kind.efficiency * factor : 0.0;
}

/// Rate of each flow that ring_share leaves it; 0: no limit.
std::vector<double> ring_limits(const Context& context, const Shape& shape) {
  struct Use {
    double share = -1.0;  ///< not asked for yet
    double limit = 0.0;   ///< raw rate x share
    double crossings = 0.0;
  };
  LinkTable<Use> uses{shape.flows, Use{}};
  for (const Flow& flow : shape.flows) {
    for (const topology::LinkId link : flow.links) {
      Use& use = uses[link];
      if (use.share < 0.0) {
        const auto bundled = context.cluster.bundled(link);
        use.share = ring_share(context, *bundled.kind, shape);
        use.limit = bundled.kind->bandwidth.si() * bundled.count * use.share;
        // Staging slows each card's own port; what shares a link besides is the link's matter.
        use.crossings = shape.staged && bundled.kind->medium == topology::Medium::pcie ? -1.0 : 0.0;
      }
      use.crossings += use.crossings < 0.0 ? 0.0 : 1.0;
    }
  }
  std::vector<double> limits(shape.flows.size(), 0.0);
  for (std::size_t f = 0; f < limits.size(); ++f) {
    for (const topology::LinkId link : shape.flows[f].links) {
      const Use& use = uses[link];
      if (use.share > 0.0) {
        const double limit = use.limit / std::abs(use.crossings);
        limits[f] = limits[f] > 0.0 ? std::min(limits[f], limit) : limit;
      }
    }
  }
  return limits;
}

/// Simple sends slices; calls of about this size leave most of them part-filled.
double slice_delay(const Constants& constants, const Shape& shape, double bytes) {
  if (shape.parts <= 0.0) {
    return 0.0;
  }
  const double part = bytes * shape.unit_time.si() / shape.parts;
  const double distance =
      std::log(part / constants.slice_part.si()) / std::log(constants.slice_spread);
  const double delay = constants.slice_excess * std::exp(-0.5 * distance * distance);
  constexpr double kVisible = 1e-3;
  return delay < kVisible ? 0.0 : delay;
}

double fill_hops(const Protocol& protocol, Fill fill) {
  switch (fill) {
    case Fill::ring:
      return protocol.ring_fill;
    case Fill::tree:
      return protocol.tree_fill;
    default:
      return 0.0;
  }
}

bool all_keep_128_byte_stores(const Context& context, const std::vector<topology::GpuId>& group) {
  return std::all_of(group.begin(), group.end(), [&](topology::GpuId gpu) {
    return context.constants.generation(context.cluster.gpu_kind(gpu).architecture).ll128;
  });
}

}  // namespace

void set_rates(const Context& context, double share, Shape& shape) {
  shape.rates = rates_alone(shape.flows, context.cluster);
  const auto limits = ring_limits(context, shape);
  shape.below_links.assign(shape.flows.size(), share < 1.0);
  for (std::size_t f = 0; f < shape.flows.size(); ++f) {
    auto& rate = shape.rates[f];
    rate = rate * share;
    if (limits[f] > 0.0 && limits[f] < rate.si()) {
      rate = units::BytesPerSecond{limits[f]};
      shape.below_links[f] = true;
    }
    shape.unit_time = std::max(shape.unit_time, shape.flows[f].size / rate);
  }
}

void set_protocols(const Context& context, const std::vector<topology::GpuId>& group, int nodes,
                   const Transport& transport, double bus_bytes, Shape& shape) {
  const bool between = nodes > 1;
  shape.network_hop = between ? transport.hop : units::Seconds{};
  shape.ll128 = context.software.era != Era::before_2_5 && shape.inside == HopClass::nvlink &&
                (!between || transport.ll128) && all_keep_128_byte_stores(context, group);
  if (between) {
    const auto& generation =
        context.constants.generation(context.cluster.gpu_kind(group.front()).architecture);
    shape.ll_limit = generation.network_ll / bus_bytes;
  }
}

double speed(const Constants& constants, const Shape& shape, std::size_t protocol, double bytes) {
  double share = shape.share * constants.protocols[protocol].bandwidth;
  if (protocol == kSimple) {
    share /= 1.0 + slice_delay(constants, shape, bytes);
  }
  if (protocol == kLl && shape.ll_limit.si() > 0.0) {
    share = std::min(share, shape.ll_limit.si() * shape.unit_time.si());
  }
  return share;
}

units::Seconds latency(const Constants& constants, const Shape& shape, const Software& software,
                       std::size_t protocol) {
  const Protocol& figures = constants.protocols[protocol];
  const auto inside = shape.inside == HopClass::nvlink ? figures.nvlink_hop : figures.pcie_hop;
  const double network = shape.network_hops + fill_hops(figures, shape.fill);
  auto total = shape.extra + inside * shape.inside_hops + shape.network_hop * network;
  if (shape.fences) {
    total += figures.once[static_cast<std::size_t>(software.era)];
  }
  return total;
}

Choice fastest_protocol(const Constants& constants, const Shape& shape, const Software& software,
                        double bytes) {
  const auto choice = [&](std::size_t protocol) {
    auto time = latency(constants, shape, software, protocol);
    if (bytes > 0.0) {
      time += shape.unit_time * (bytes / speed(constants, shape, protocol, bytes));
    }
    return Choice{protocol, time};
  };
  Choice best = choice(kSimple);
  for (const std::size_t other : {kLl128, kLl}) {
    if (other == kLl ? shape.ll : shape.ll128) {
      const Choice candidate = choice(other);
      best = candidate.time <= best.time ? candidate : best;
    }
  }
  return best;
}

}  // namespace trainyard::collective
