// Storage servers on fabrics, and switches that reduce.
#include <algorithm>
#include <catch2/catch.hpp>

#include "support/temporary_folder.hpp"
#include "topology/summary.hpp"
#include "topology/support.hpp"

using namespace trainyard;
using Names = std::vector<std::string>;

namespace {

const std::string kOneSwitch = "kind = \"single-switch\"\n";

std::string server(const std::string& name, const std::string& bandwidth = "4 GB/s",
                   const std::string& link = "ib") {
  return "[[storage_server]]\nname = \"" + name + "\"\nlink = \"" + link + "\"\nbandwidth = \"" +
         bandwidth + "\"\n";
}

std::string tree(const std::string& kind, int ports) {
  return "kind = \"" + kind + "\"\nlink = \"ib\"\nleaf_ports = " + std::to_string(ports) + "\n";
}

/// Names of the links that are in both ways.
Names shared(const topology::Cluster& cluster, const topology::Path& a, const topology::Path& b) {
  Names names;
  for (const auto link : a.links) {
    if (std::find(b.links.begin(), b.links.end(), link) != b.links.end()) {
      names.push_back(cluster.link(link).name);
    }
  }
  return names;
}

/// The switch that a server's port is on.
std::string leaf_of(const topology::Cluster& cluster, int index) {
  const std::string cable = cluster.link(cluster.storage_path(index, 0).links[1]).name;
  return cable.substr(cable.find("->") + 2);
}

}  // namespace

TEST_CASE("two readers of one server share its drives and its cable", "[storage]") {
  const auto cluster = test::on_fabric(3, 1, kOneSwitch + server("store{0,1}"));
  REQUIRE(cluster.storage_servers() == 2);
  CHECK(cluster.storage_server_name(1) == "store1");
  CHECK(test::names_of(cluster, cluster.storage_path(0, 2)) ==
        Names{"store0/drives->store0", "store0->switch", "switch->node2/nic0"});
  CHECK(shared(cluster, cluster.storage_path(0, 0), cluster.storage_path(0, 1)) ==
        Names{"store0/drives->store0", "store0->switch"});
  CHECK(shared(cluster, cluster.storage_path(0, 0), cluster.storage_path(1, 1)).empty());
  // Two servers to one node meet on its cable only.
  CHECK(shared(cluster, cluster.storage_path(0, 1), cluster.storage_path(1, 1)) ==
        Names{"switch->node1/nic0"});
}

TEST_CASE("a server's drives have the bandwidth of the file, its cable that of its link",
          "[storage]") {
  const auto cluster =
      test::on_fabric(2, 2, kOneSwitch + server("a", "4 GB/s") + server("b", "30 GB/s", "ib-slow"));
  const auto drives = cluster.link(cluster.storage_path(0, 0).links[0]);
  CHECK(drives.raw.si() == Approx(4e9));
  CHECK(drives.bandwidth.si() == Approx(4e9));
  CHECK(drives.medium == topology::Medium::storage);
  CHECK(drives.node == -1);
  CHECK(drives.shareable);
  CHECK(cluster.bandwidth(cluster.storage_path(1, 0).links[0]).si() == Approx(30e9));
  CHECK(cluster.link(cluster.storage_path(1, 0).links[1]).raw.si() == Approx(5e9));
  CHECK(cluster.storage_path(1, 0, 1).latency.si() == Approx(2e-6));
  CHECK(cluster.link(cluster.storage_path(1, 0, 1).links.back()).name == "switch->node0/nic1");
}

TEST_CASE("writing goes the other way and has the drives for itself", "[storage]") {
  const auto cluster = test::on_fabric(2, 1, kOneSwitch + server("store"));
  const auto write = cluster.to_storage_path(1, 0, 0);
  CHECK(test::names_of(cluster, write) ==
        Names{"node1/nic0->switch", "switch->store", "store->store/drives"});
  CHECK(shared(cluster, write, cluster.storage_path(0, 1)).empty());
}

TEST_CASE("links of servers have ids of their own at the end", "[storage]") {
  const auto cluster = test::on_fabric(2, 1, kOneSwitch + server("store{0..2}"));
  const auto bare = test::on_fabric(2, 1, kOneSwitch);
  // A cable and drives for each of three, both ways.
  CHECK(cluster.links() == bare.links() + 3 * 4);
  Names names;
  for (topology::LinkId id = 0; id < cluster.links(); ++id) {
    names.push_back(cluster.link(id).name);
    CHECK(cluster.link(id).bandwidth.si() == Approx(cluster.bandwidth(id).si()));
  }
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  const auto shareable = cluster.shareable_links();
  CHECK(shareable.back() == cluster.links() - 1);
}

TEST_CASE("servers do not count between the halves of the nodes", "[storage]") {
  const auto cluster = test::on_fabric(4, 1, kOneSwitch + server("store{0..7}"));
  CHECK(topology::fabric_demand(cluster).si() == Approx(2 * 10e9));
  CHECK(topology::fabric_bisection(cluster).si() == Approx(2 * 10e9));
}

TEST_CASE("every kind of fabric has a place for servers", "[storage]") {
  SECTION("a fat tree: after the nodes") {
    // Leaves of four: six nodes, then two servers fill the second leaf.
    const auto cluster = test::on_fabric(6, 1, tree("fat-tree", 8) + server("store{0..2}"));
    CHECK(leaf_of(cluster, 1) == "leaf1");
    CHECK(leaf_of(cluster, 2) == "leaf2");
  }
  SECTION("rails: the emptiest leaf") {
    // Units of four nodes, two rails: three ports are free on leaves 2 and 3, none on 0 and 1.
    const auto cluster = test::on_fabric(5, 2, tree("rail-fat-tree", 8) + server("store{0..2}"));
    CHECK(leaf_of(cluster, 0) == "leaf2");
    CHECK(leaf_of(cluster, 1) == "leaf3");
    CHECK(leaf_of(cluster, 2) == "leaf2");
  }
  SECTION("a torus: spread over the routers") {
    const auto cluster = test::on_fabric(
        16, 1, "kind = \"torus\"\nlink = \"ib\"\nshape = [4, 4]\n" + server("store{0..3}"));
    CHECK(leaf_of(cluster, 1) == "router4");
    CHECK(leaf_of(cluster, 3) == "router12");
  }
  SECTION("a dragonfly: as if it were a node") {
    const auto cluster =
        test::on_fabric(3, 2,
                        "kind = \"dragonfly\"\nlink = \"ib\"\ngroups = 2\nswitches_per_group = 1\n"
                        "nodes_per_switch = 2\nglobal_links = 1\n" +
                            server("store"));
    CHECK(leaf_of(cluster, 0) == "group1-switch0");
  }
  SECTION("a free list: where its cable is listed") {
    const auto cluster =
        test::on_fabric(1, 1,
                        "kind = \"custom\"\n[[fabric.switch]]\nname = \"{a,b}\"\n"
                        "[[fabric.link]]\nbetween = [\"a\", \"b\"]\nkind = \"ib\"\n"
                        "[[fabric.link]]\nbetween = [\"a\", \"node0/nic0\"]\nkind = \"ib\"\n"
                        "[[fabric.link]]\nbetween = [\"b\", \"store/port\"]\nkind = \"ib\"\n" +
                            server("store"));
    CHECK(leaf_of(cluster, 0) == "b");
  }
}

TEST_CASE("storage servers that have no place or no name are errors", "[storage]") {
  const auto [fabric, expected] = GENERATE(table<std::string, std::string>({
      {kOneSwitch + server("s") + server("s"), "\"s\" is the name of another storage server"},
      {kOneSwitch + server("s", "0 GB/s"), "'bandwidth' must be"},
      {kOneSwitch + server("s", "4 GB/s", "pci"), "'link' must be a network link"},
      {kOneSwitch + server("s") + "size = 3\n", "unknown key 'size' in [[storage_server]]"},
      {kOneSwitch + "[[storage_server]]\nname = \"s\"\n", "missing key 'link' in "},
      {kOneSwitch + "ports = 5\n" + server("s{0,1}"), "'ports' must be at least 6"},
      // Four nodes of two NICs fill both leaves of four.
      {tree("rail-fat-tree", 8) + server("s"),
       "1 storage servers need a port each: the nodes leave 0 of 8 free"},
  }));
  CAPTURE(fabric);
  const int nics = fabric.find("rail") != std::string::npos ? 2 : 1;
  CHECK_THAT(test::fabric_error(4, nics, fabric), Catch::Contains(expected));
}

TEST_CASE("a storage server needs a fabric", "[storage]") {
  const test::TemporaryFolder folder;
  const auto file = folder.write("c.toml", "name = \"c\"\n[[node]]\ntype = \"dgx-1-v100\"\n" +
                                               server("s", "4 GB/s", "ib-edr"));
  REQUIRE_THROWS_WITH(topology::load_cluster(file.string()),
                      Catch::EndsWith("a [[storage_server]] needs a [fabric]"));
}

TEST_CASE("a cluster without servers has none", "[storage]") {
  CHECK(topology::load_cluster("dgx-1-x2").storage_servers() == 0);
  CHECK(topology::load_cluster("dgx-1-v100").storage_servers() == 0);
  CHECK(topology::flat_cluster(2, 2).storage_servers() == 0);
}

TEST_CASE("switches reduce when the file says so", "[storage]") {
  CHECK_FALSE(test::on_fabric(2, 1, kOneSwitch).in_network_reduction());
  CHECK_FALSE(
      test::on_fabric(2, 1, kOneSwitch + "in_network_reduction = false\n").in_network_reduction());
  CHECK(test::on_fabric(2, 1, kOneSwitch + "in_network_reduction = true\n").in_network_reduction());
  CHECK_FALSE(topology::flat_cluster(2, 2).in_network_reduction());
  CHECK_THAT(test::fabric_error(2, 1, kOneSwitch + "in_network_reduction = 1\n"),
             Catch::Contains("'in_network_reduction' must be"));
  CHECK_THAT(test::fabric_error(4, 1,
                                "kind = \"torus\"\nlink = \"ib\"\nshape = [4]\n"
                                "in_network_reduction = true\n"),
             Catch::Contains("'in_network_reduction' is what switches do: a torus has none"));
}
