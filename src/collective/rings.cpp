#include "collective/rings.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

#include "collective/plan.hpp"

namespace trainyard::collective {
namespace {

/// Search steps before the best so far is taken: about 2 ms. The cube mesh needs a few hundred.
constexpr int kSearchSteps = 20000;

int links_to(const LinkGraph& graph, int gpu, const std::vector<int>& others) {
  int links = 0;
  for (const int other : others) {
    links += graph.free(gpu, other);
  }
  return links;
}

/// Depth-first packing of cycles: extends one cycle link by link, and when it closes goes on with
/// the next one on the links that are left.
class RingSearch {
 public:
  RingSearch(LinkGraph graph, std::vector<int> members, int relays)
      : graph_{std::move(graph)},
        members_{std::move(members)},
        relays_{relays},
        visited_(static_cast<std::size_t>(graph_.gpus()), false) {
    // The poorest member has the fewest ways on: wrong starts show early.
    start_ = *std::min_element(members_.begin(), members_.end(), [&](int a, int b) {
      return links_to(graph_, a, members_) < links_to(graph_, b, members_);
    });
  }

  std::vector<Walk> run() {
    most_ = bound();
    begin_cycle();
    return std::move(best_);
  }

 private:
  [[nodiscard]] bool is_pair() const { return members_.size() == 2; }

  /// Cycles that the links left at the poorest member still allow.
  [[nodiscard]] std::size_t bound() const {
    int links = std::numeric_limits<int>::max();
    for (const int member : members_) {
      links = std::min(links, links_to(graph_, member, members_));
    }
    return static_cast<std::size_t>(is_pair() ? links : links / 2);
  }

  void begin_cycle() {
    if (found_.size() + bound() <= best_.size()) {
      return;
    }
    const Walk outer = std::move(walk_);
    const auto outer_visited = visited_;
    const int outer_relays = relays_used_;
    const int outer_seen = seen_;
    walk_ = {start_};
    std::fill(visited_.begin(), visited_.end(), false);
    visited_[static_cast<std::size_t>(start_)] = true;
    relays_used_ = 0;
    seen_ = 1;
    extend();
    walk_ = outer;
    visited_ = outer_visited;
    relays_used_ = outer_relays;
    seen_ = outer_seen;
  }

  [[nodiscard]] std::vector<int> unvisited_by_links(int from) const {
    std::vector<int> next;
    std::copy_if(members_.begin(), members_.end(), std::back_inserter(next),
                 [&](int member) { return !visited_[static_cast<std::size_t>(member)]; });
    std::stable_sort(next.begin(), next.end(),
                     [&](int a, int b) { return graph_.free(from, a) > graph_.free(from, b); });
    return next;
  }

  void extend() {
    if (best_.size() == most_ || ++steps_ > kSearchSteps) {
      return;
    }
    if (seen_ == static_cast<int>(members_.size())) {
      close();
      return;
    }
    for (const int next : unvisited_by_links(walk_.back())) {
      visited_[static_cast<std::size_t>(next)] = true;
      ++seen_;
      join(next, [&] { extend(); });
      --seen_;
      visited_[static_cast<std::size_t>(next)] = false;
    }
  }

  /// Goes from the walk's end to `next` in each possible way, and does `then` there.
  template <typename Then>
  void join(int next, Then then) {
    const int from = walk_.back();
    if (graph_.free(from, next) > 0) {
      graph_.take_pair(from, next);
      walk_.push_back(next);
      then();
      walk_.pop_back();
      graph_.take_pair(from, next, -1);
    }
    if (relays_used_ == relays_) {
      return;
    }
    for (const int relay : members_) {
      if (graph_.free(from, relay) > 0 && graph_.free(relay, next) > 0) {
        graph_.take_pair(from, relay);
        graph_.take_pair(relay, next);
        ++relays_used_;
        walk_.insert(walk_.end(), {relay, next});
        then();
        walk_.resize(walk_.size() - 2);
        --relays_used_;
        graph_.take_pair(relay, next, -1);
        graph_.take_pair(from, relay, -1);
      }
    }
  }

  void close() {
    if (is_pair()) {
      // The way back uses the other direction of the same links.
      Walk ring = walk_;
      for (std::size_t i = walk_.size() - 1; i-- > 1;) {
        ring.push_back(walk_[i]);
      }
      accept(std::move(ring));
      return;
    }
    if (relays_ == 0 && walk_[1] > walk_.back()) {
      return;  // its reverse is tried too
    }
    join(start_, [&] {
      Walk ring = walk_;
      ring.pop_back();
      accept(std::move(ring));
    });
  }

  void accept(Walk ring) {
    found_.push_back(std::move(ring));
    if (found_.size() > best_.size()) {
      best_ = found_;
    }
    begin_cycle();
    found_.pop_back();
  }

  LinkGraph graph_;
  std::vector<int> members_;
  int relays_ = 0;
  int start_ = 0;
  int steps_ = 0;
  std::size_t most_ = 0;
  Walk walk_{};
  std::vector<bool> visited_;
  int relays_used_ = 0;
  int seen_ = 0;
  std::vector<Walk> found_{};
  std::vector<Walk> best_{};
};

class ChainSearch {
 public:
  ChainSearch(LinkGraph& graph, const std::vector<int>& members, int exit)
      : graph_{graph}, members_{members}, exit_{exit} {}

  bool run(Walk& walk) {
    if (walk.size() == members_.size()) {
      return exit_ < 0 || walk.back() == exit_;
    }
    if (++steps_ > kSearchSteps) {
      return false;
    }
    const int from = walk.back();
    for (const int next : candidates(walk)) {
      take(from, next, 1);
      walk.push_back(next);
      if (run(walk)) {
        return true;
      }
      walk.pop_back();
      take(from, next, -1);
    }
    return false;
  }

 private:
  void take(int from, int next, int links) {
    if (exit_ < 0) {
      graph_.take_pair(from, next, links);
    } else {
      graph_.take(from, next, links);
    }
  }

  /// Widest first, then in turn, so that several chains spread over the links.
  [[nodiscard]] std::vector<int> candidates(const Walk& walk) const {
    const int from = walk.back();
    std::vector<int> result;
    for (const int next : members_) {
      const bool too_early = next == exit_ && walk.size() + 1 < members_.size();
      if (!too_early && graph_.free(from, next) > 0 &&
          std::find(walk.begin(), walk.end(), next) == walk.end()) {
        result.push_back(next);
      }
    }
    const auto turn = [&](int gpu) { return (gpu - from + graph_.gpus()) % graph_.gpus(); };
    std::sort(result.begin(), result.end(), [&](int a, int b) {
      return std::make_pair(-graph_.free(from, a), turn(a)) <
             std::make_pair(-graph_.free(from, b), turn(b));
    });
    return result;
  }

  LinkGraph& graph_;
  const std::vector<int>& members_;
  int exit_ = 0;
  int steps_ = 0;
};

}  // namespace

std::vector<Walk> disjoint_rings(const LinkGraph& graph, const std::vector<int>& members,
                                 int relays) {
  assert(members.size() >= 2);
  std::vector<Walk> rings = RingSearch{graph, members, relays}.run();
  if (members.size() > 2) {
    const std::size_t cycles = rings.size();
    for (std::size_t i = 0; i < cycles; ++i) {
      rings.emplace_back(rings[i].rbegin(), rings[i].rend());
    }
  }
  return rings;
}

namespace {

/// From `at` along unused links, both directions, to every member not yet seen, and back each time.
void tour(LinkGraph& graph, const std::vector<int>& members, int at, std::vector<bool>& seen,
          Walk& walk) {
  seen[static_cast<std::size_t>(at)] = true;
  walk.push_back(at);
  for (const int next : members) {
    if (!seen[static_cast<std::size_t>(next)] && graph.free(at, next) > 0 &&
        graph.free(next, at) > 0) {
      graph.take_pair(at, next);
      tour(graph, members, next, seen, walk);
      walk.push_back(at);
    }
  }
}

/// Walks around spanning trees of links, out on one direction and back on the other.
std::vector<Walk> tree_tours(LinkGraph graph, const std::vector<int>& members) {
  std::vector<Walk> walks;
  for (;;) {
    std::vector<bool> seen(static_cast<std::size_t>(graph.gpus()), false);
    Walk walk;
    tour(graph, members, members.front(), seen, walk);
    const bool complete = std::all_of(members.begin(), members.end(), [&](int member) {
      return seen[static_cast<std::size_t>(member)];
    });
    if (!complete) {
      return walks;
    }
    walk.pop_back();  // it is back where it began
    walks.push_back(std::move(walk));
  }
}

}  // namespace

std::vector<Walk> rings_or_relays(const LinkGraph& graph, const std::vector<int>& members) {
  std::vector<Walk> rings;
  if (!graph.empty()) {
    for (int relays = 0; rings.empty() && relays <= static_cast<int>(members.size()); ++relays) {
      rings = disjoint_rings(graph, members, relays);
    }
    if (rings.empty()) {
      rings = tree_tours(graph, members);
    }
  }
  return rings;
}

Walk take_chain(LinkGraph& graph, const std::vector<int>& members, int entry, int exit) {
  Walk walk{entry};
  if (!ChainSearch{graph, members, exit}.run(walk)) {
    walk.clear();
  }
  return walk;
}

std::vector<std::vector<int>> nvlink_rings(const topology::Cluster& cluster,
                                           const std::vector<topology::GpuId>& group) {
  if (group.size() < 2) {
    return {};
  }
  const int node = cluster.node_of(group.front());
  const topology::GpuId first = cluster.first_gpu(node);
  std::vector<int> position_of(static_cast<std::size_t>(cluster.gpus_in(node)), -1);
  std::vector<int> members;
  for (std::size_t i = 0; i < group.size(); ++i) {
    assert(cluster.node_of(group[i]) == node);
    members.push_back(group[i] - first);
    position_of[static_cast<std::size_t>(members.back())] = static_cast<int>(i);
  }
  std::sort(members.begin(), members.end());
  auto rings = disjoint_rings(LinkGraph{cluster, node}, members);
  for (auto& ring : rings) {
    for (int& gpu : ring) {
      gpu = position_of[static_cast<std::size_t>(gpu)];
    }
  }
  return rings;
}

}  // namespace trainyard::collective
