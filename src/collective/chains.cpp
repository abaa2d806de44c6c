#include "collective/chains.hpp"

#include <algorithm>
#include <cassert>

namespace trainyard::collective {
namespace {

/// A PCIe switch of its own between GPU and NIC adds two links; more means the CPU's bridge.
constexpr std::size_t kNearExtraLinks = 2;

class ChainFinder {
 public:
  ChainFinder(const topology::Cluster& cluster, int node, const std::vector<int>& members)
      : cluster_{cluster},
        first_{cluster.first_gpu(node)},
        members_{members},
        all_links_{cluster, node},
        unused_links_{all_links_} {}

  Chain chain(int nic) {
    const int entry = entry_member(nic);
    if (members_.size() == 1) {
      return {nic, {entry}, false};
    }
    const int exit = exit_member(nic, entry);
    return {nic, walk(entry, exit), leaves_by_entry(nic, entry, exit)};
  }

  Chain tree_chain(int nic) {
    const int entry = entry_member(nic);
    if (members_.size() == 1) {
      return {nic, {entry}, false};
    }
    return {nic, walk(entry, -1), false};
  }

 private:
  [[nodiscard]] std::size_t links_to_nic(int member, int nic) const {
    return cluster_.gpu_to_nic(first_ + member, nic).links.size();
  }

  /// The first member whose own NIC it is, else the nearest.
  [[nodiscard]] int entry_member(int nic) const {
    const auto rank = [&](int member) {
      return std::make_pair(cluster_.nic_of(first_ + member) != nic, links_to_nic(member, nic));
    };
    return *std::min_element(members_.begin(), members_.end(),
                             [&](int a, int b) { return rank(a) < rank(b); });
  }

  [[nodiscard]] int exit_member(int nic, int entry) const {
    int best = -1;
    std::size_t best_links = 0;
    for (const int member : members_) {
      const std::size_t links = links_to_nic(member, nic);
      if (member != entry && (best < 0 || links < best_links)) {
        best = member;
        best_links = links;
      }
    }
    return best;
  }

  [[nodiscard]] Walk walk(int entry, int exit) {
    Walk found;
    if (!all_links_.empty()) {
      found = take_chain(unused_links_, members_, entry, exit);
      if (found.empty()) {
        LinkGraph shared = all_links_;
        found = take_chain(shared, members_, entry, exit);
      }
    }
    if (found.empty()) {
      found = {entry};
      std::copy_if(members_.begin(), members_.end(), std::back_inserter(found),
                   [&](int member) { return member != entry && member != exit; });
      if (exit >= 0) {
        found.push_back(exit);
      }
    }
    return found;
  }

  [[nodiscard]] bool leaves_by_entry(int nic, int entry, int exit) const {
    if (links_to_nic(exit, nic) <= links_to_nic(entry, nic) + kNearExtraLinks) {
      return false;
    }
    const auto back = cluster_.path(first_ + exit, first_ + entry);
    return std::all_of(back.links.begin(), back.links.end(), [&](topology::LinkId link) {
      return cluster_.link(link).medium == topology::Medium::nvlink;
    });
  }

  const topology::Cluster& cluster_;
  topology::GpuId first_ = 0;
  const std::vector<int>& members_;
  LinkGraph all_links_;
  LinkGraph unused_links_;
};

}  // namespace

std::vector<Chain> node_chains(const topology::Cluster& cluster, int node,
                               const std::vector<int>& members, const std::vector<int>& nics) {
  ChainFinder finder{cluster, node, members};
  std::vector<Chain> chains;
  chains.reserve(nics.size());
  for (const int nic : nics) {
    chains.push_back(finder.chain(nic));
  }
  return chains;
}

std::vector<Chain> tree_chains(const topology::Cluster& cluster, int node,
                               const std::vector<int>& members, const std::vector<int>& nics) {
  ChainFinder finder{cluster, node, members};
  std::vector<Chain> chains;
  chains.reserve(nics.size());
  for (const int nic : nics) {
    chains.push_back(finder.tree_chain(nic));
  }
  return chains;
}

}  // namespace trainyard::collective
