#pragma once

// What differs between SimGrid 3.32 and 4.x, in one place. Only files of the SimGrid back end
// include it. SimGrid's headers need this order.

// clang-format off
#include <functional>
#include <unordered_set>
#include <vector>

#include <simgrid/s4u.hpp>

#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/version.h>
// clang-format on

namespace trainyard::engine::shim {

namespace s4u = simgrid::s4u;

/// Calls `done` when a communication has ended (cancelled ones included).
inline void on_completion(const std::function<void(const void*)>& done) {
#if SIMGRID_VERSION >= 33400
  s4u::Comm::on_completion_cb([done](const s4u::Comm& comm) { done(&comm); });
#else
  s4u::Activity::on_completion_cb([done](const s4u::Activity& activity) {
    if (const auto* comm = dynamic_cast<const s4u::Comm*>(&activity)) {
      done(comm);
    }
  });
#endif
}

inline void start(const s4u::CommPtr& comm) {
#if SIMGRID_VERSION >= 33400
  comm->start();
#else
  comm->vetoable_start();
#endif
}

/// What is paid of the latency that a route reports, for the flow that is being started.
inline void set_latency_factor(s4u::NetZone& zone, const std::function<double()>& factor) {
  const auto call = [factor](double /*size*/, const s4u::Host* /*from*/, const s4u::Host* /*to*/,
                             const std::vector<s4u::Link*>& /*links*/,
                             const std::unordered_set<s4u::NetZone*>& /*zones*/) {
    return factor();
  };
#if SIMGRID_VERSION >= 33400
  zone.set_latency_factor_cb(call);
#else
  zone.get_network_model()->set_lat_factor_cb(call);
#endif
}

}  // namespace trainyard::engine::shim
