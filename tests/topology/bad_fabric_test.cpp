// Cluster files and fabrics that are wrong.
#include <catch2/catch.hpp>

#include "support/temporary_folder.hpp"
#include "topology/support.hpp"

using namespace trainyard;

namespace {

/// A custom fabric of switches "a" and "b" for two nodes of one NIC, and more lines.
std::string custom(const std::string& more) {
  return "kind = \"custom\"\n[[fabric.switch]]\nname = \"{a,b}\"\nports = 2\n" + more;
}

std::string link_of(const std::string& a, const std::string& b) {
  return "[[fabric.link]]\nbetween = [\"" + a + "\", \"" + b + "\"]\nkind = \"ib\"\n";
}

const std::string kCables = link_of("node0/nic0", "a") + link_of("node1/nic0", "b");

}  // namespace

TEST_CASE("a fabric that cannot be built says why", "[bad-input]") {
  // The fabric's keys begin in line 6.
  const auto [fabric, expected] = GENERATE(table<std::string, std::string>({
      {"", "cluster.toml:5:1: error: missing key 'kind' in [fabric]"},
      {"kind = \"hypercube\"",
       "cluster.toml:6:8: error: 'kind' must be a kind of fabric, got \"hypercube\" (known: "
       "single-switch, fat-tree, rail-fat-tree, torus, dragonfly, custom)"},
      {"kind = \"fat-treee\"\n",
       "cluster.toml:6:8: error: 'kind' must be a kind of fabric, got "
       "\"fat-treee\", did you mean \"fat-tree\"?"},
      {"kind = \"fat-tree\"\nleaf_ports = 8",
       "cluster.toml:5:1: error: missing key 'link' in [fabric]"},
      {"kind = \"fat-tree\"\nlink = \"ib\"",
       "cluster.toml:5:1: error: missing key 'leaf_ports' in [fabric]"},
      {"kind = \"fat-tree\"\nlink = \"pci\"\nleaf_ports = 8",
       "cluster.toml:7:8: error: 'link' must be a network link such as \"ib-edr\", got \"pci\""},
      {"kind = \"fat-tree\"\nlink = \"ib\"\nleaf_ports = 1",
       "cluster.toml:8:14: error: 'leaf_ports' must be an integer from 2 to 10000, got 1"},
      {"kind = \"fat-tree\"\nlink = \"ib\"\nleaf_ports = 8\noversubscription = 0",
       "cluster.toml:9:20: error: 'oversubscription' must be a number from"},
      {"kind = \"fat-tree\"\nlink = \"ib\"\nleaf_ports = 8\nrouting = \"fast\"",
       "cluster.toml:9:11: error: 'routing' must be static, ecmp or adaptive, got \"fast\""},
      {"kind = \"fat-tree\"\nlink = \"ib\"\nleaf_ports = 8\nspine = 4",
       "cluster.toml:9:1: error: unknown key 'spine' in [fabric], did you mean \"spines\"?"},
      {"kind = \"single-switch\"\nports = 3",
       "cluster.toml:7:9: error: 'ports' must be at least 4, one for each NIC, got 3"},
  }));
  CAPTURE(fabric);
  CHECK_THAT(test::fabric_error(4, 1, fabric), Catch::StartsWith(expected));
}

TEST_CASE("nodes that no tree of these switches can hold are an error", "[bad-input]") {
  // Three tiers of p ports hold p^3/4 NICs: 16 with four ports.
  const std::string four = "kind = \"fat-tree\"\nlink = \"ib\"\nleaf_ports = 4\n";
  CHECK(test::fabric_error(16, 1, four) == "no error");
  CHECK_THAT(test::fabric_error(17, 1, four),
             Catch::StartsWith("cluster.toml:5:1: error: 9 leaves of 4 ports, in 5 pods, need more "
                               "than three tiers"));
  CHECK_THAT(test::fabric_error(16, 1, four + "spines = 2\n"),
             Catch::EndsWith("'spines' must be a multiple of the 4 pods, got 2"));
}

TEST_CASE("arithmetic of trees that does not close is an error with its numbers", "[bad-input]") {
  const auto [fabric, expected] = GENERATE(table<std::string, std::string>({
      {"oversubscription = 0.5", "'oversubscription' must be a number from 1 to 1000, got 0.5"},
      {"oversubscription = 2\nuplinks = 4",
       "'oversubscription' cannot stand beside 'uplinks': one follows from the other"},
      {"uplinks = 8", "'uplinks' must be an integer from 1 to 7, got 8"},
      {"core_oversubscription = 0.9", "'core_oversubscription' must be a number from 1"},
      {"pod_leaves = 2\nspines = 5", "'spines' must be a multiple of the 2 pods, got 5"},
      {"pod_leaves = 4\nspines = 1",
       "a spine of 8 ports cannot have 16 links down and 16 up: 4 leaves of 4 uplinks to 1 spines "
       "in a pod"},
      {"pod_leaves = 2\ncores = 1",
       "a core of 8 ports cannot have 16 links: 2 pods of 4 spines with 2 uplinks to 1 cores"},
      {"pod_leaves = 2\ncores = 5", "'cores' must be groups of a spine's 2 uplinks, got 5"},
      {"pod_leaves = 2\ncores = 9", "'cores' must be an integer from 1 to 8, got 9"},
      {"planes = 2", "unknown key 'planes' in [fabric]"},
  }));
  CAPTURE(fabric);
  // 16 nodes: four leaves of four.
  CHECK_THAT(
      test::fabric_error(16, 1, "kind = \"fat-tree\"\nlink = \"ib\"\nleaf_ports = 8\n" + fabric),
      Catch::Contains(expected));
}

TEST_CASE("spines need ports for their links", "[bad-input]") {
  // Four leaves with four uplinks each: one spine of 8 ports cannot take 16.
  const std::string eight = "kind = \"fat-tree\"\nlink = \"ib\"\nleaf_ports = 8\n";
  CHECK(test::fabric_error(16, 1, eight + "spines = 2\n") == "no error");
  CHECK_THAT(test::fabric_error(16, 1, eight + "spines = 1\n"),
             Catch::StartsWith("cluster.toml:9:10: error: 'spines' gives a spine more links than"));
  CHECK_THAT(
      test::fabric_error(16, 1, eight + "spines = 5\n"),
      Catch::StartsWith("cluster.toml:9:10: error: 'spines' must be an integer from 1 to 4"));
}

TEST_CASE("a free list of switches and links is checked link by link", "[bad-input]") {
  CHECK(test::fabric_error(2, 1, custom(kCables + link_of("a", "b"))) == "no error");
  const auto [more, expected] = GENERATE_COPY(table<std::string, std::string>({
      {kCables, "the fabric falls apart: some nodes cannot reach each other"},
      {link_of("node0/nic0", "a"), "no [[fabric.link]] for \"node1/nic0\""},
      {kCables + link_of("a", "c"), "'between[1]' names \"c\", which is no switch of this fabric"},
      {kCables + link_of("a", "a"), "links \"a\" with itself"},
      {link_of("node0/nic0", "node1/nic0"), "links two NICs: a NIC goes to a switch"},
      {kCables + link_of("node0/nic0", "b"), "\"node0/nic0\" has a cable already"},
      {kCables + link_of("a", "b") + link_of("a", "b"), "needs more ports than \"a\" has"},
      {link_of("node7/nic0", "b") + kCables, "a [[fabric.link]] names a NIC that no node has"},
      {kCables + "[[fabric.switch]]\nname = \"a\"\n", "\"a\" is the name of another switch"},
      {kCables + link_of("a", "b") + "count = 0\n", "'count' must be an integer from 1"},
      {link_of("node0/nic0", "a") + "count = 2\n", "gives \"node0/nic0\" 2 cables: a NIC has one"},
      {kCables + link_of("a", "b") + "speed = 3\n", "unknown key 'speed' in [[fabric.link]]"},
      {kCables + "[[fabric.link]]\nbetween = [\"a\", \"b\"]\nkind = \"nv\"\n",
       "'kind' must be a network link"},
  }));
  CAPTURE(more);
  CHECK_THAT(test::fabric_error(2, 1, custom(more)), Catch::Contains(expected));
  CHECK_THAT(test::fabric_error(2, 1, "routing = \"adaptive\"\n" + custom(kCables)),
             Catch::Contains("'routing' must be static or ecmp in a custom fabric"));
}

TEST_CASE("a cluster file names node files, and how many", "[bad-input]") {
  const std::string name = "name = \"c\"\n";
  const std::string fabric = "[fabric]\nkind = \"single-switch\"\n";
  const auto node = [](const std::string& lines) { return "[[node]]\n" + lines + "\n"; };
  const auto [text, expected] = GENERATE_COPY(table<std::string, std::string>({
      {name + node("type = \"dgx-9\"") + fabric,
       "node.toml:3:8: error: \"dgx-9\" is neither a file nor a name that ships"},
      {name + node("type = \"dgx-1-v100\"\ncount = 0") + fabric,
       "node.toml:4:9: error: 'count' must be an integer from 1 to 100000, got 0"},
      {name + node("type = \"dgx-1-v100\"\ncount = -3") + fabric,
       "node.toml:4:9: error: 'count' must be an integer from 1 to 100000, got -3"},
      {name + node("type = \"dgx-1-v100\"\ncount = 1000000000") + fabric,
       "node.toml:4:9: error: 'count' must be an integer from 1 to 100000, got 1000000000"},
      {name + node("type = \"dgx-1-v100\"\nnumber = 2") + fabric,
       "node.toml:4:1: error: unknown key 'number' in [[node]]"},
      {name + node("count = 2") + fabric, "node.toml:2:1: error: missing key 'type' in [[node]]"},
  }));
  CAPTURE(text);
  CHECK_THAT(test::error_of(text), Catch::StartsWith(expected));
}

TEST_CASE("a cluster cannot be made of itself, of clusters, or of nodes without NICs",
          "[bad-input]") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "self.toml";
  const std::string self =
      "name = \"self\"\n[[node]]\ntype = \"" + path.string() + "\"\ncount = 2\n";
  folder.write("self.toml", self);
  REQUIRE_THROWS_WITH(topology::load_cluster(path.string()),
                      Catch::EndsWith("is a cluster, not a node"));

  folder.write("alone.toml", "name = \"alone\"\n[[gpu]]\nname = \"g\"\nmodel = \"t4\"\n");
  const auto alone = (folder.path() / "alone.toml").string();
  REQUIRE_THROWS_WITH(topology::load_cluster(alone, {2, {}}),
                      Catch::Contains("node \"alone\" has no [[nic]]"));
  folder.write("pair.toml", "name = \"p\"\n[[node]]\ntype = \"dgx-1-v100\"\ncount = 2\n");
  REQUIRE_THROWS_WITH(topology::load_cluster((folder.path() / "pair.toml").string()),
                      Catch::EndsWith("several nodes need a [fabric]"));
  folder.write("key.toml", "name = \"p\"\nnodes = 3\n[[node]]\ntype = \"dgx-1-v100\"\n");
  REQUIRE_THROWS_WITH(topology::load_cluster((folder.path() / "key.toml").string()),
                      Catch::EndsWith("key.toml:2:1: error: unknown key 'nodes', did you mean "
                                      "\"node\"?"));
}

TEST_CASE("a topology that is not there suggests those that ship", "[bad-input]") {
  REQUIRE_THROWS_WITH(
      topology::load_cluster("dgx-1-v10"),
      Catch::StartsWith("command line: error: \"dgx-1-v10\"") && Catch::Contains("dgx-1-v100"));
  const test::TemporaryFolder folder;
  folder.write("empty.toml", "");
  const auto path = (folder.path() / "empty.toml").string();
  REQUIRE_THROWS_WITH(topology::load_cluster(path), Catch::StartsWith(path + ":"));
  REQUIRE_THROWS_WITH(topology::load_cluster(folder.path().string()),
                      Catch::Contains("error: cannot read"));
}
