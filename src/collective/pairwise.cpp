#include "collective/pairwise.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <map>

namespace trainyard::collective {
namespace {

using workload::CollectiveOp;

bool sends(CollectiveOp op, std::size_t from, std::size_t to, std::size_t ranks) {
  switch (op) {
    case CollectiveOp::all_to_all:
      return from != to;
    case CollectiveOp::gather:
      return to == 0 && from != 0;
    case CollectiveOp::scatter:
      return from == 0 && to != 0;
    case CollectiveOp::send_recv:
      return ranks == 2 ? from == 0 && to == 1 : to == (from + 1) % ranks;
    default:
      assert(false);
      return false;
  }
}

}  // namespace

std::vector<EqualLoad> pairwise_loads(const topology::Cluster& cluster, CollectiveOp op,
                                      const std::vector<topology::GpuId>& group) {
  std::vector<topology::LinkId> crossed;
  for (std::size_t from = 0; from < group.size(); ++from) {
    for (std::size_t to = 0; to < group.size(); ++to) {
      if (sends(op, from, to, group.size())) {
        const auto path = cluster.path(group[from], group[to]);
        crossed.insert(crossed.end(), path.links.begin(), path.links.end());
      }
    }
  }
  std::sort(crossed.begin(), crossed.end());
  std::map<int, std::vector<topology::LinkId>, std::greater<>> links_by_messages;
  for (auto link = crossed.begin(); link != crossed.end();) {
    const auto next = std::upper_bound(link, crossed.end(), *link);
    links_by_messages[static_cast<int>(next - link)].push_back(*link);
    link = next;
  }
  std::vector<EqualLoad> loads;
  loads.reserve(links_by_messages.size());
  for (auto& [messages, links] : links_by_messages) {
    loads.push_back({messages, std::move(links)});
  }
  return loads;
}

int peers(CollectiveOp op, std::size_t ranks) {
  return op == CollectiveOp::send_recv ? 1 : static_cast<int>(ranks) - 1;
}

}  // namespace trainyard::collective
