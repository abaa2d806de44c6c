#include <catch2/catch.hpp>

#include "topology/summary.hpp"
#include "topology/support.hpp"

using namespace trainyard;
using Names = std::vector<std::string>;

namespace {

std::string torus(const std::string& shape, const std::string& more = "") {
  return "kind = \"torus\"\nlink = \"ib\"\nshape = " + shape + "\n" + more;
}

int links_of(const topology::Cluster& cluster) {
  int links = 0;
  for (const auto& group : topology::trunks_of(cluster)) {
    links += group.links;
  }
  return links;
}

/// The shorter way round a ring.
int ring_distance(int a, int b, int side) {
  const int straight = std::abs(a - b);
  return std::min(straight, side - straight);
}

}  // namespace

TEST_CASE("on a torus a way goes through one dimension after the other", "[torus]") {
  // 3 x 4, row-major: node 1 = (0, 1), node 11 = (2, 3). First dimension: 0 to 2 over the edge.
  const auto cluster = test::on_fabric(12, 1, torus("[3, 4]"));
  CHECK(
      test::names_of(cluster, cluster.nic_to_nic(1, 0, 8, 0)) ==
      Names{"node1/nic0->router1", "router1->router9", "router9->router8", "router8->node8/nic0"});
  CHECK(test::names_of(cluster, cluster.nic_to_nic(3, 0, 8, 0)) ==
        Names{"node3/nic0->router3", "router3->router11", "router11->router8",
              "router8->node8/nic0"});
  CHECK(cluster.torus_shape() == std::vector<int>{3, 4});
}

TEST_CASE("hops on a torus are the sum of the rings' distances", "[torus]") {
  const auto cluster = test::on_fabric(3 * 4 * 2, 1, torus("[3, 4, 2]"));
  for (int a = 0; a < 24; ++a) {
    for (int b = 0; b < 24; ++b) {
      if (a != b) {
        const int expected = ring_distance(a / 8, b / 8, 3) +
                             ring_distance(a / 2 % 4, b / 2 % 4, 4) +
                             ring_distance(a % 2, b % 2, 2);
        CHECK(cluster.switch_hops(a, b) == 1 + expected);
      }
    }
  }
}

TEST_CASE("every node of a torus has two links a dimension", "[torus]") {
  const auto [shape, nodes, links] = GENERATE(table<std::string, int, int>({
      {"[4, 4]", 16, 32},
      {"[4, 4, 4]", 64, 192},
      {"[6]", 6, 6},         // a ring
      {"[2, 3]", 6, 6 + 6},  // a side of two: both links between the same two
      {"[1, 5]", 5, 5},      // a side of one has none
  }));
  CAPTURE(shape);
  CHECK(links_of(test::on_fabric(nodes, 1, torus(shape))) == links);
}

TEST_CASE("a side of two is one wide link", "[torus]") {
  const auto cluster = test::on_fabric(4, 1, torus("[2, 2]"));
  CHECK(cluster.link(test::link_named(cluster, "router0->router2")).count == 2);
  CHECK(cluster.link(test::link_named(cluster, "router0->router1")).raw.si() == Approx(20e9));
}

TEST_CASE("the router is in the node: its port costs no time", "[torus]") {
  const auto cluster = test::on_fabric(4, 2, torus("[4]"));
  CHECK(cluster.nic_to_nic(0, 0, 1, 0).latency.si() == Approx(1e-6));
  CHECK(cluster.nic_to_nic(0, 1, 2, 1).latency.si() == Approx(2e-6));
}

TEST_CASE("the TPU pods are tori with two cuts of a side's links", "[torus]") {
  const auto [name, side, rate] = GENERATE(
      table<std::string, int, double>({{"tpu-v2-pod", 16, 62e9}, {"tpu-v3-pod", 32, 82e9}}));
  const auto pod = topology::load_cluster(name);
  CHECK(pod.nodes() == side * side);
  CHECK(pod.torus_shape() == std::vector<int>{side, side});
  CHECK(links_of(pod) == 2 * side * side);
  CHECK(topology::fabric_bisection(pod).si() == Approx(2 * side * rate));
  // Farthest: half a side in both dimensions.
  CHECK(topology::fabric_of(pod).most_hops == 1 + side);
  CHECK(pod.gpu_kind(5).name == name.substr(0, 6));
}

TEST_CASE("fabrics that are no torus have no shape", "[torus]") {
  CHECK(topology::load_cluster("dgx-1-x2").torus_shape().empty());
  CHECK(topology::load_cluster("dgx-1-v100").torus_shape().empty());
  CHECK(topology::flat_cluster(2, 2).torus_shape().empty());
  CHECK(topology::load_cluster("example-torus-3d").torus_shape() == std::vector<int>{4, 4, 4});
}

TEST_CASE("a torus that does not close says its numbers", "[torus]") {
  const auto [fabric, expected] = GENERATE(table<std::string, std::string>({
      {torus("[3, 4]"),
       "cluster.toml:8:9: error: 'shape' must multiply to the number of nodes, 8, got 3 x 4 = 12"},
      {torus("[1024, 1024, 1024]"), "8, got 1024 x 1024 x 1024 = 1073741824"},
      {torus("[0, 8]"), "'shape[0]' must be an integer from 1 to 1024, got 0"},
      {torus("[-2, -4]"), "'shape[0]' must be an integer from 1 to 1024, got -2"},
      {torus("[]"), "'shape' must have from 1 to 6 sides, got 0"},
      {torus("[2, 2, 2, 1, 1, 1, 1]"), "'shape' must have from 1 to 6 sides, got 7"},
      {torus("8"), "'shape' must be an array"},
      {torus("[2, 4]", "routing = \"adaptive\"\n"),
       "'routing' must be static or ecmp in a torus, got \"adaptive\""},
      {"kind = \"torus\"\nlink = \"ib\"\n", "missing key 'shape' in [fabric]"},
      {"kind = \"torus\"\nshape = [2, 4]\n", "missing key 'link' in [fabric]"},
  }));
  CAPTURE(fabric);
  CHECK_THAT(test::fabric_error(8, 1, fabric), Catch::Contains(expected));
}
