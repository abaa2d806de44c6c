#include "topology/summary.hpp"

#include <catch2/catch.hpp>

#include "topology/support.hpp"

using namespace trainyard;

TEST_CASE("devices that differ by number only are one group", "[summary]") {
  const auto groups = topology::devices_of(topology::load_cluster("dgx-2"), 0);
  REQUIRE(groups.size() == 8);
  CHECK(groups[0].kind == "gpu");
  CHECK(groups[0].count == 16);
  CHECK(groups[0].first == "gpu0");
  CHECK(groups[0].last == "gpu15");
  CHECK(groups[0].detail == "v100-sxm3-32gb");
  CHECK(groups[1].kind == "nvswitch");
  CHECK(groups[1].count == 12);
  CHECK(groups[2].last == "parent3");  // parents and leaves are both PCIe switches
  CHECK(groups[3].last == "leaf7");
  CHECK(groups[6].detail == "ib-edr");
  CHECK(groups[7].detail == "30.7 TB");
}

TEST_CASE("links are counted by kind", "[summary]") {
  const auto groups = topology::links_of(topology::load_cluster("dgx-1-v100"), 0);
  REQUIRE(groups.size() == 4);
  CHECK(groups[0].kind == "nvlink2");
  CHECK(groups[0].bundles == 16);
  CHECK(groups[0].links == 24);
  CHECK(groups[0].raw.si() == Approx(25e9));
  CHECK(groups[0].effective.si() == Approx(22.6e9));
  CHECK(groups[1].kind == "pcie3-x16");
  CHECK(groups[1].links == 8 + 4 + 4);  // GPUs, HCAs, uplinks of the switches
  CHECK(groups[2].kind == "qpi");
  CHECK(groups[2].links == 2);
}

TEST_CASE("the fabric's summary has its kind, routing and longest way", "[summary]") {
  const auto tree = topology::fabric_of(topology::load_cluster("fat-tree-dgx-1-16"));
  CHECK(tree.kind == "fat-tree");
  CHECK(tree.routing == "ecmp");
  CHECK(tree.most_hops == 3);
  REQUIRE(tree.switches.size() == 2);
  CHECK(tree.switches[0].count == 4);  // 64 NICs, 18 a leaf
  CHECK(topology::fabric_of(topology::load_cluster("dgx-2")).kind.empty());
  CHECK(topology::fabric_of(topology::load_cluster("dgx-2", {2, {}})).kind == "single-switch");
}

TEST_CASE("cables and trunks are counted apart", "[summary]") {
  const auto pod = topology::load_cluster("superpod-a100-1su");
  REQUIRE(topology::cables_of(pod).size() == 1);
  CHECK(topology::cables_of(pod)[0].links == 160);
  REQUIRE(topology::trunks_of(pod).size() == 1);
  CHECK(topology::trunks_of(pod)[0].links == 160);
  CHECK(topology::trunks_of(pod)[0].bundles == 32);
  CHECK(topology::trunks_of(topology::load_cluster("dgx-1-x2")).empty());
}

TEST_CASE("node types are listed once", "[summary]") {
  CHECK(topology::nodes_by_type(topology::load_cluster("superpod-a100-1su")) ==
        std::vector<int>{0});
  CHECK(topology::nodes_by_type(topology::flat_cluster(3, 2)) == std::vector<int>{0});
}

TEST_CASE("a flat cluster has no devices or links to sum up", "[summary]") {
  const auto flat = topology::flat_cluster(2, 4);
  CHECK(topology::devices_of(flat, 0).empty());
  CHECK(topology::links_of(flat, 0).empty());
  CHECK(topology::fabric_of(flat).kind.empty());
  CHECK(topology::fabric_bisection(flat).si() == 0.0);
  CHECK(topology::nvlink_bisection(flat, 0).si() == 0.0);
  CHECK(topology::warnings_of(flat).empty());
}
