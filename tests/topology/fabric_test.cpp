// Fabrics that are no tree, and how routes are chosen.
#include "topology/fabric.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "topology/support.hpp"

using namespace trainyard;
using Names = std::vector<std::string>;

namespace {

/// Links between switches on the way from NIC 0 of one node to NIC 0 of another.
Names trunks(const topology::Cluster& cluster, int from, int to, std::uint64_t salt = 0) {
  auto names = test::names_of(cluster, cluster.nic_to_nic(from, 0, to, 0, salt));
  REQUIRE(names.size() >= 2);
  return {names.begin() + 1, names.end() - 1};
}

constexpr const char* kTree = "kind = \"fat-tree\"\nlink = \"ib\"\nleaf_ports = 8\n";

}  // namespace

TEST_CASE("on one switch a path is two cables", "[fabric]") {
  const auto cluster = test::on_fabric(3, 2, "kind = \"single-switch\"");
  CHECK(test::names_of(cluster, cluster.nic_to_nic(0, 1, 2, 0)) ==
        Names{"node0/nic1->switch", "switch->node2/nic0"});
  CHECK(cluster.nic_to_nic(0, 1, 2, 0).latency.si() == Approx(2e-6));
  CHECK(cluster.switch_hops(0, 5) == 1);
  CHECK(cluster.leaf_of(2) == 0);
}

TEST_CASE("a cable is as fast as the slower of NIC and fabric", "[fabric]") {
  const auto slow = test::on_fabric(2, 1, "kind = \"single-switch\"\nlink = \"ib-slow\"");
  CHECK(slow.link(slow.nics(0)[0].to_fabric).raw.si() == Approx(5e9));
  const auto tree =
      test::on_fabric(2, 1, "kind = \"fat-tree\"\nlink = \"ib-slow\"\nleaf_ports = 8");
  CHECK(tree.link(tree.nics(0)[0].to_fabric).raw.si() == Approx(5e9));
  const auto own = test::on_fabric(2, 1, "kind = \"single-switch\"");
  CHECK(own.link(own.nics(0)[0].to_fabric).raw.si() == Approx(10e9));
  CHECK(own.link(own.nics(0)[0].to_fabric).bandwidth.si() == Approx(9e9));
}

TEST_CASE("a free list of switches routes by the fewest hops", "[fabric]") {
  // a - b - c and a - c: node 0 at a, node 1 at b, node 2 at c, all one hop apart.
  const auto cluster = test::on_fabric(3, 1, R"(
kind = "custom"
[[fabric.switch]]
name = "{a,b,c}"
[[fabric.link]]
between = ["a", "b"]
kind = "ib"
count = 4
[[fabric.link]]
between = ["b", "c"]
kind = "ib"
[[fabric.link]]
between = ["a", "c"]
kind = "ib"
[[fabric.link]]
between = ["node0/nic0", "a"]
kind = "ib"
[[fabric.link]]
between = ["b", "node1/nic0"]
kind = "ib"
[[fabric.link]]
between = ["node2/nic0", "c"]
kind = "ib-slow"
)");
  CHECK(trunks(cluster, 0, 1) == Names{"a->b"});
  CHECK(trunks(cluster, 2, 0) == Names{"c->a"});
  CHECK(cluster.link(test::link_named(cluster, "b->a")).raw.si() == Approx(40e9));
  CHECK(cluster.link(cluster.nics(2)[0].from_fabric).raw.si() == Approx(5e9));
}

TEST_CASE("static routes depend on the destination alone and are dealt out evenly", "[fabric]") {
  // Leaves of four NICs, two spines: each spine leads to half the NICs of a leaf.
  const auto cluster = test::on_fabric(16, 1, kTree);
  for (int leaf = 0; leaf < 4; ++leaf) {
    std::map<std::string, int> by_spine;
    for (int to = 4 * leaf; to < 4 * leaf + 4; ++to) {
      std::set<std::string> spines;
      for (int from = 0; from < 16; ++from) {
        if (from / 4 != leaf) {
          const auto down = trunks(cluster, from, to, static_cast<std::uint64_t>(from)).back();
          spines.insert(down.substr(0, down.find("->")));
        }
      }
      CHECK(spines.size() == 1);
      ++by_spine[*spines.begin()];
    }
    CHECK(by_spine == std::map<std::string, int>{{"spine0", 2}, {"spine1", 2}});
  }
}

TEST_CASE("ecmp takes the same way for the same flow and spreads different ones", "[fabric]") {
  const std::string ecmp = std::string{kTree} + "routing = \"ecmp\"\n";
  const auto cluster = test::on_fabric(16, 1, ecmp + "seed = 7\n");
  const auto again = test::on_fabric(16, 1, ecmp + "seed = 7\n");
  const auto other = test::on_fabric(16, 1, ecmp + "seed = 8\n");
  std::map<std::string, int> used;
  int moved = 0;
  for (std::uint64_t salt = 0; salt < 400; ++salt) {
    const auto way = trunks(cluster, 0, 9, salt);
    CHECK(way == trunks(again, 0, 9, salt));
    moved += way == trunks(other, 0, 9, salt) ? 0 : 1;
    ++used[way.front()];
  }
  // Two spines: 200 each, give or take three standard deviations of 10.
  CHECK(used.size() == 2);
  for (const auto& [link, count] : used) {
    CHECK(count > 170);
    CHECK(count < 230);
  }
  CHECK(moved > 170);
  CHECK(moved < 230);
}

TEST_CASE("adaptive routing merges the switches of a tier into one", "[fabric]") {
  const auto cluster = test::on_fabric(16, 1, std::string{kTree} + "routing = \"adaptive\"\n");
  CHECK(trunks(cluster, 0, 9) == Names{"leaf0->spine0", "spine0->leaf2"});
  // Four uplinks of 10 GB/s: a flow can use all that its leaf has.
  const auto up = cluster.link(test::link_named(cluster, "leaf0->spine0"));
  CHECK(up.count == 4);
  CHECK(up.raw.si() == Approx(40e9));
}

TEST_CASE("flows that hash to one uplink halve it; adaptive routing gives each its own",
          "[fabric]") {
  // Leaves of four nodes with a link to each of four spines. Nodes of leaf 0 send to leaf 2: a flow
  // gets its uplink's bandwidth over the flows on it, and no more than its own cable's.
  const auto share = [](const topology::Cluster& cluster, const std::vector<int>& senders) {
    std::map<topology::LinkId, int> flows;
    for (const int from : senders) {
      ++flows[cluster.nic_to_nic(from, 0, from + 8, 0).links[1]];
    }
    std::vector<double> rates;
    for (const int from : senders) {
      const auto uplink = cluster.nic_to_nic(from, 0, from + 8, 0).links[1];
      const double fair = cluster.link(uplink).raw.si() / flows[uplink];
      rates.push_back(std::min(fair, cluster.link(cluster.nics(from)[0].to_fabric).raw.si()));
    }
    return rates;
  };
  const std::string thin = std::string{kTree} + "uplinks = 4\nspines = 4\n";
  const auto hashed = test::on_fabric(16, 1, thin + "routing = \"ecmp\"\n");
  const auto spread = test::on_fabric(16, 1, thin + "routing = \"adaptive\"\n");
  // Two senders whose flows meet: with four uplinks some of six pairs must, as the hash has it.
  int met = 0;
  for (int a = 0; a < 4; ++a) {
    for (int b = a + 1; b < 4; ++b) {
      const bool meet =
          hashed.nic_to_nic(a, 0, a + 8, 0).links[1] == hashed.nic_to_nic(b, 0, b + 8, 0).links[1];
      met += meet ? 1 : 0;
      const double expected = meet ? 5e9 : 10e9;
      CHECK(share(hashed, {a, b}) == std::vector<double>{expected, expected});
      CHECK(share(spread, {a, b}) == std::vector<double>{10e9, 10e9});
    }
  }
  CHECK(met > 0);
  CHECK(share(spread, {0, 1, 2, 3}) == std::vector<double>(4, 10e9));
}

TEST_CASE("switches that are too far apart count as unconnected", "[fabric]") {
  topology::Fabric fabric;
  const topology::LinkKind kind{"ib", topology::Medium::network, units::BytesPerSecond{1e9}};
  const int length = GENERATE(251, 252, 600);
  for (int i = 0; i < length; ++i) {
    fabric.add_switch("s" + std::to_string(i));
    if (i > 0) {
      fabric.add_link(i - 1, i, kind, 1);
    }
  }
  fabric.attach(0, kind);
  fabric.attach(length - 1, kind);
  CHECK(fabric.finish() == (length == 251));
  if (length == 251) {
    CHECK(fabric.hops(0, 1) == 251);
    CHECK(fabric.route(0, 1, 0).size() == 252);
  }
}
