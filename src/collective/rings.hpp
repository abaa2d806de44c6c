#pragma once

#include <vector>

#include "collective/link_graph.hpp"

namespace trainyard::collective {

/// A closed walk over local GPUs: each GPU is linked to the next, the last to the first. Every
/// member of the group is in it; with relays some GPUs come between members, or twice.
using Walk = std::vector<int>;

/// As many walks as the search finds that visit `members` (ascending, at least 2) over NVLink, no
/// link of a direction in two of them. Three and more members: a cycle and its reverse are two
/// walks. Without relays only members are visited, each once. With relays (`relays` of them a walk)
/// two members may be joined through a third, which is passed once more. GPUs outside the group
/// never carry its bytes: NCCL knows only those of the communicator, and others belong to other
/// jobs.
///
/// Exhaustive up to a fixed number of search steps, then the best so far; the same answer every
/// time. Reaching the bound (links of the poorest member / 2) ends the search at once.
[[nodiscard]] std::vector<Walk> disjoint_rings(const LinkGraph& graph,
                                               const std::vector<int>& members, int relays = 0);

/// disjoint_rings with as few relays as give any; where there is none, walks around trees of links,
/// out on one direction and back on the other. Empty when NVLink does not connect the members.
[[nodiscard]] std::vector<Walk> rings_or_relays(const LinkGraph& graph,
                                                const std::vector<int>& members);

/// A walk from `entry` through all members to `exit` over unused links of `graph`, one direction,
/// without relays; it takes what it uses. `exit` -1: to any member, and it uses both directions.
/// Empty: none within the bounded search.
[[nodiscard]] Walk take_chain(LinkGraph& graph, const std::vector<int>& members, int entry,
                              int exit);

}  // namespace trainyard::collective
