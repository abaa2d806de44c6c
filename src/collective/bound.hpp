#pragma once

#include "collective/plan.hpp"

namespace trainyard::collective {

/// Shortest possible time of the bytes, whatever the algorithm: what each GPU and each node must
/// send or take, over the raw rate of all its ports. Latency comes on top.
/// @param request  a valid one (check_request)
[[nodiscard]] units::Seconds lower_bound(const topology::Cluster& cluster, const Request& request);

/// @throws input::InputError at `place`: a GPU twice or not in the cluster, no GPU, bytes that are
///         negative or beyond 2^60
void check_request(const topology::Cluster& cluster, const Request& request,
                   const input::Place& place);

}  // namespace trainyard::collective
