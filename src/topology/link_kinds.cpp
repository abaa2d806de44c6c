#include <algorithm>

#include "topology/cluster_implementation.hpp"

namespace trainyard::topology {

Cluster::Bundled Cluster::bundled(LinkId id) const {
  const Implementation& all = *implementation_;
  if (all.has_fabric && id >= all.server_links) {
    return {&all.servers[static_cast<std::size_t>((id - all.server_links) / 2)].drives, 1};
  }
  if (all.has_fabric && id >= all.fabric_links) {
    const int local = id - all.fabric_links;
    const int cables = 2 * all.fabric.ports();
    if (local < cables) {
      return {&all.fabric.cable(local / 2), 1};
    }
    const SwitchLink& link = all.fabric.links()[static_cast<std::size_t>((local - cables) / 2)];
    return {&link.kind, link.count};
  }
  const auto after =
      std::upper_bound(all.nodes.begin(), all.nodes.end(), id,
                       [](LinkId wanted, const auto& node) { return wanted < node.first_link; });
  const auto& node = *std::prev(after);
  const auto& bundles = node.type->bundles();
  const Bundle& bundle = bundles[static_cast<std::size_t>((id - node.first_link) / 2)];
  return {&bundle.kind, bundle.count};
}

LinkId Cluster::first_link(int node) const {
  return implementation_->node(node).first_link;
}

units::BytesPerSecond Cluster::bandwidth(LinkId id) const {
  const Bundled link = bundled(id);
  return link.kind->bandwidth * link.kind->efficiency * link.count;
}

}  // namespace trainyard::topology
