#pragma once

// What differs between SimGrid 3.32 and 4.x, in one place. Only files of the SimGrid back end
// include it.

// clang-format off: SimGrid's headers need this order
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

/// Routes report a small latency that weighs the flows; no time passes for it.
inline void ignore_latency(s4u::NetZone& zone) {
  const auto none = [](double /*size*/, const s4u::Host* /*from*/, const s4u::Host* /*to*/,
                       const std::vector<s4u::Link*>& /*links*/,
                       const std::unordered_set<s4u::NetZone*>& /*zones*/) { return 0.0; };
#if SIMGRID_VERSION >= 33400
  zone.set_latency_factor_cb(none);
#else
  zone.get_network_model()->set_lat_factor_cb(none);
#endif
}

}  // namespace trainyard::engine::shim
