#include "collective/rings.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "collective/support.hpp"

using namespace trainyard;
using collective::LinkGraph;
using collective::Walk;

namespace {

/// Every step of the walks is a link, and no link of a direction is used more often than it exists.
void check_disjoint(const LinkGraph& graph, const std::vector<Walk>& walks) {
  std::map<std::pair<int, int>, int> used;
  for (const Walk& walk : walks) {
    for (std::size_t i = 0; i < walk.size(); ++i) {
      ++used[{walk[i], walk[(i + 1) % walk.size()]}];
    }
  }
  for (const auto& [pair, times] : used) {
    INFO(pair.first << " -> " << pair.second);
    CHECK(times <= graph.free(pair.first, pair.second));
  }
}

Walk sorted(Walk walk) {
  std::sort(walk.begin(), walk.end());
  return walk;
}

/// All cycles through `members`, each in one direction, by trying every order.
std::vector<Walk> all_cycles(const LinkGraph& graph, Walk members) {
  std::vector<Walk> cycles;
  do {
    bool linked = members[1] < members.back();
    for (std::size_t i = 0; linked && i < members.size(); ++i) {
      linked = graph.free(members[i], members[(i + 1) % members.size()]) > 0;
    }
    if (linked) {
      cycles.push_back(members);
    }
  } while (std::next_permutation(members.begin() + 1, members.end()));
  return cycles;
}

/// Most cycles that fit together: an independent, exhaustive count.
int most_cycles(LinkGraph& graph, const std::vector<Walk>& cycles, std::size_t from) {
  int most = 0;
  for (std::size_t c = from; c < cycles.size(); ++c) {
    const Walk& cycle = cycles[c];
    bool fits = true;
    for (std::size_t i = 0; fits && i < cycle.size(); ++i) {
      fits = graph.free(cycle[i], cycle[(i + 1) % cycle.size()]) > 0;
    }
    if (fits) {
      for (std::size_t i = 0; i < cycle.size(); ++i) {
        graph.take_pair(cycle[i], cycle[(i + 1) % cycle.size()]);
      }
      most = std::max(most, 1 + most_cycles(graph, cycles, c));
      for (std::size_t i = 0; i < cycle.size(); ++i) {
        graph.take_pair(cycle[i], cycle[(i + 1) % cycle.size()], -1);
      }
    }
  }
  return most;
}

}  // namespace

TEST_CASE("GPUs 0..n-1 of a DGX-1 have the rings that were measured", "[rings]") {
  // Measured all-reduce rates 22.6, 85, 87, 134 GB/s on links of 22.6: 1, 4, 4, 6 rings.
  const auto [gpus, rings] = GENERATE(table<int, std::size_t>({{2, 1}, {4, 4}, {7, 4}, {8, 6}}));
  CAPTURE(gpus);
  CHECK(collective::disjoint_rings(test::cube_mesh(), test::first_gpus(gpus)).size() == rings);
}

TEST_CASE("rings of every group of a DGX-1 are disjoint, complete and as many as there can be",
          "[rings]") {
  const LinkGraph graph = test::cube_mesh();
  for (unsigned mask = 1; mask < 256; ++mask) {
    const auto members = test::bits(mask);
    if (members.size() < 2) {
      continue;
    }
    CAPTURE(members);
    const auto rings = collective::disjoint_rings(graph, members);
    check_disjoint(graph, rings);
    for (const Walk& ring : rings) {
      CHECK(sorted(ring) == members);
    }
    if (members.size() == 2) {
      CHECK(static_cast<int>(rings.size()) == graph.free(members[0], members[1]));
      continue;
    }
    LinkGraph left = graph;
    CHECK(static_cast<int>(rings.size()) == 2 * most_cycles(left, all_cycles(graph, members), 0));
  }
}

TEST_CASE("the whole DGX-1 uses each of its links once in each direction", "[rings]") {
  // 24 links = three cycles of 8 (enumerated from the wiring).
  LinkGraph graph = test::cube_mesh();
  for (const Walk& ring : collective::disjoint_rings(graph, test::first_gpus(8))) {
    for (std::size_t i = 0; i < ring.size(); ++i) {
      graph.take(ring[i], ring[(i + 1) % ring.size()]);
    }
  }
  CHECK(graph.empty());
}

TEST_CASE("a member is passed again where the group has no ring", "[rings]") {
  const LinkGraph graph = test::cube_mesh();
  // In 0..4 GPU 4 has links to 0 only, two of them: out on one, back on the other, once a
  // direction.
  const std::vector<int> five{0, 1, 2, 3, 4};
  CHECK(collective::disjoint_rings(graph, five).empty());
  const auto rings = collective::rings_or_relays(graph, five);
  CHECK(rings.size() == 2);
  check_disjoint(graph, rings);
  for (const Walk& ring : rings) {
    CHECK(ring.size() == 6);
    CHECK(std::count(ring.begin(), ring.end(), 0) == 2);
  }
}

TEST_CASE("two GPUs without a link do not use others' links", "[rings]") {
  CHECK(collective::rings_or_relays(test::cube_mesh(), {0, 5}).empty());
}

TEST_CASE("NVLink joins a group of a DGX-1 where its own links do", "[rings]") {
  const LinkGraph graph = test::cube_mesh();
  for (unsigned mask = 1; mask < 256; ++mask) {
    const auto members = test::bits(mask);
    if (members.size() < 2) {
      continue;
    }
    CAPTURE(members);
    std::set<int> reached{members.front()};
    for (std::size_t before = 0; before != reached.size();) {
      before = reached.size();
      for (const int member : members) {
        if (std::any_of(reached.begin(), reached.end(),
                        [&](int other) { return graph.free(member, other) > 0; })) {
          reached.insert(member);
        }
      }
    }
    const auto rings = collective::rings_or_relays(graph, members);
    CHECK(rings.empty() == (reached.size() < members.size()));
    check_disjoint(graph, rings);
    for (const Walk& ring : rings) {
      CHECK(std::set<int>{ring.begin(), ring.end()} ==
            std::set<int>{members.begin(), members.end()});
    }
  }
}

TEST_CASE("four GPUs with two links a pair have six rings", "[rings]") {
  // Each GPU has 6 links; a ring leaves by one of them.
  LinkGraph graph{4};
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < a; ++b) {
      graph.set_pair(a, b, 2);
    }
  }
  const auto rings = collective::disjoint_rings(graph, test::first_gpus(4));
  CHECK(rings.size() == 6);
  check_disjoint(graph, rings);
}

TEST_CASE("a chain of links is no ring, but a way out and back", "[rings]") {
  LinkGraph graph{3};
  graph.set_pair(0, 1, 1);
  graph.set_pair(1, 2, 1);
  CHECK(collective::disjoint_rings(graph, {0, 1, 2}).empty());
  const auto one = collective::rings_or_relays(graph, {0, 1, 2});
  REQUIRE(one.size() == 1);
  CHECK(one[0] == Walk{0, 1, 2, 1});
  graph.set_pair(0, 1, 2);
  CHECK(collective::rings_or_relays(graph, {0, 1, 2}).size() == 1);
  graph.set_pair(1, 2, 2);
  CHECK(collective::rings_or_relays(graph, {0, 1, 2}).size() == 2);
  graph.set_pair(1, 2, 0);
  CHECK(collective::rings_or_relays(graph, {0, 1, 2}).empty());
}

TEST_CASE("the search ends on large graphs too", "[rings]") {
  LinkGraph graph{16};
  for (int a = 0; a < 16; ++a) {
    for (int b = 0; b < a; ++b) {
      graph.set_pair(a, b, 1);
    }
  }
  const auto rings = collective::disjoint_rings(graph, test::first_gpus(16));
  CHECK(rings.size() >= 2);
  check_disjoint(graph, rings);
}

TEST_CASE("chains go from entry to exit through all members on unused links", "[rings]") {
  LinkGraph graph = test::cube_mesh();
  const LinkGraph before = graph;
  const auto members = test::first_gpus(8);
  std::map<std::pair<int, int>, int> used;
  for (const auto& [entry, exit] : {std::pair{0, 1}, {2, 3}, {4, 5}, {6, 7}}) {
    const Walk walk = collective::take_chain(graph, members, entry, exit);
    REQUIRE(walk.size() == 8);
    CHECK(walk.front() == entry);
    CHECK(walk.back() == exit);
    CHECK(sorted(walk) == members);
    for (std::size_t i = 0; i + 1 < walk.size(); ++i) {
      const int times = ++used[{walk[i], walk[i + 1]}];
      CHECK(times <= before.free(walk[i], walk[i + 1]));
    }
  }
  CHECK(collective::take_chain(graph, {0, 5}, 0, 5).empty());
}

TEST_CASE("rings are given as positions in the group", "[rings]") {
  const auto cluster = test::nodes_of("dgx-1-v100", 2);
  // GPUs 11, 8, 10, 9: local 3, 0, 2, 1 of the second node.
  const auto rings = collective::nvlink_rings(cluster, {11, 8, 10, 9});
  CHECK(rings.size() == 4);
  for (const auto& ring : rings) {
    CHECK(sorted(ring) == Walk{0, 1, 2, 3});
  }
  CHECK(collective::nvlink_rings(cluster, {8}).empty());
  CHECK(collective::nvlink_rings(cluster, {8, 13}).empty());  // local 0 and 5
}
