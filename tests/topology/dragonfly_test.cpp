#include <catch2/catch.hpp>
#include <set>

#include "topology/cluster_implementation.hpp"
#include "topology/summary.hpp"
#include "topology/support.hpp"

using namespace trainyard;
using Names = std::vector<std::string>;

namespace {

std::string dragonfly(int groups, int switches, int nodes, int global,
                      const std::string& more = "") {
  return "kind = \"dragonfly\"\nlink = \"ib\"\ngroups = " + std::to_string(groups) +
         "\nswitches_per_group = " + std::to_string(switches) +
         "\nnodes_per_switch = " + std::to_string(nodes) +
         "\nglobal_links = " + std::to_string(global) + "\n" + more;
}

/// Links between two groups.
int links_between(const topology::Cluster& cluster, int a, int b, int switches) {
  int links = 0;
  for (const auto& link : cluster.implementation().fabric.links()) {
    const std::set<int> ends{link.a / switches, link.b / switches};
    links += ends == std::set<int>{a, b} ? link.count : 0;
  }
  return links;
}

}  // namespace

TEST_CASE("a dragonfly's way is local, global, local", "[dragonfly]") {
  // Three groups of two switches with a global link each: switch 0 of a group goes to switch 1 of
  // the next group.
  const auto cluster = test::on_fabric(6, 1, dragonfly(3, 2, 1, 1));
  CHECK(test::names_of(cluster, cluster.nic_to_nic(0, 0, 3, 0)) ==
        Names{"node0/nic0->group0-switch0", "group0-switch0->group1-switch1",
              "group1-switch1->node3/nic0"});
  CHECK(test::names_of(cluster, cluster.nic_to_nic(1, 0, 2, 0)) ==
        Names{"node1/nic0->group0-switch1", "group0-switch1->group0-switch0",
              "group0-switch0->group1-switch1", "group1-switch1->group1-switch0",
              "group1-switch0->node2/nic0"});
  CHECK(cluster.switch_hops(0, 1) == 2);
  CHECK(cluster.switch_hops(1, 2) == 4);
}

TEST_CASE("every two groups have equally many links", "[dragonfly]") {
  // Four switches of three links: 12 a group for five others, so two each and two left free.
  const auto cluster = test::on_fabric(24, 1, dragonfly(6, 4, 1, 3));
  for (int a = 0; a < 6; ++a) {
    CHECK(links_between(cluster, a, a, 4) == 6);
    for (int b = 0; b < a; ++b) {
      CHECK(links_between(cluster, a, b, 4) == 2);
    }
  }
  // No switch has more global links than it may.
  std::vector<int> global(24, 0);
  for (const auto& link : cluster.implementation().fabric.links()) {
    if (link.a / 4 != link.b / 4) {
      global[static_cast<std::size_t>(link.a)] += link.count;
      global[static_cast<std::size_t>(link.b)] += link.count;
    }
  }
  for (const int links : global) {
    CHECK(links <= 3);
  }
}

TEST_CASE("a way leaves its group at most once and crosses at most three links", "[dragonfly]") {
  const auto routing = GENERATE(as<std::string>{}, "static", "ecmp");
  const auto cluster =
      test::on_fabric(36, 1, dragonfly(9, 4, 1, 2, "routing = \"" + routing + "\"\n"));
  for (int from = 0; from < 36; ++from) {
    for (int to = 0; to < 36; ++to) {
      if (from == to) {
        continue;
      }
      const auto path = cluster.nic_to_nic(from, 0, to, 0, 5);
      CHECK(path.links.size() <= 2 + 3);
      int global = 0;
      for (const auto& name : test::names_of(cluster, path)) {
        const auto arrow = name.find("->group");
        global += name.starts_with("group") && arrow != std::string::npos &&
                          name.substr(0, 7) != name.substr(arrow + 2, 7)
                      ? 1
                      : 0;
      }
      CHECK(global == (from / 4 == to / 4 ? 0 : 1));
    }
  }
}

TEST_CASE("one group is a full mesh", "[dragonfly]") {
  const auto cluster = test::on_fabric(8, 2, dragonfly(1, 4, 2, 0));
  CHECK(topology::fabric_of(cluster).most_hops == 2);
  CHECK(cluster.nic_to_nic(0, 0, 1, 1).links.size() == 2);
  // Two switches against two: four links.
  CHECK(topology::fabric_bisection(cluster).si() == Approx(4 * 10e9));
}

TEST_CASE("the dragonfly that ships has two links between any two groups", "[dragonfly]") {
  const auto cluster = topology::load_cluster("example-dragonfly");
  CHECK(topology::fabric_of(cluster).most_hops == 4);
  CHECK(links_between(cluster, 1, 4, 4) == 2);
  CHECK(topology::trunks_of(cluster)[0].links == 5 * 6 + 10 * 2);
  CHECK(topology::trunks_of(cluster)[0].kind == "slingshot-200");
}

TEST_CASE("a dragonfly that does not close says its numbers", "[dragonfly]") {
  const auto [fabric, expected] = GENERATE(table<std::string, std::string>({
      {dragonfly(2, 2, 1, 1), "2 groups of 2 switches with 1 nodes each hold 4 nodes, got 8"},
      {dragonfly(9, 2, 2, 3),
       "'global_links' must reach the 8 other groups: 2 switches with 3 links each have 6 in a "
       "group"},
      {dragonfly(3, 4, 2, 1, "ports = 5\n"),
       "'ports' must be at least 8: 3 links in the group, 1 to others, 2 nodes of 2 NICs; got 5"},
      {dragonfly(2000, 500, 2, 5), "2000 groups of 500 switches are too many: at most 20000"},
      {dragonfly(0, 4, 2, 1), "'groups' must be an integer from 1 to 2048, got 0"},
      {dragonfly(2, 4, 2, -1), "'global_links' must be an integer from 0 to 10000, got -1"},
      {dragonfly(2, 4, 2, 1, "routing = \"adaptive\"\n"),
       "'routing' must be static or ecmp in a dragonfly, got \"adaptive\""},
  }));
  CAPTURE(fabric);
  CHECK_THAT(test::fabric_error(8, 2, fabric), Catch::Contains(expected));
}
