// Node files that are wrong: one line each, at the place of the mistake.
#include <catch2/catch.hpp>

#include "topology/support.hpp"

using namespace trainyard;

namespace {

/// Lines 1 to 9: two GPUs on a switch.
std::string node_and(const std::string& more) {
  return "name = \"n\"\n[[gpu]]\nname = \"gpu{0..1}\"\nmodel = \"card\"\n[[pcie_switch]]\n"
         "name = \"plx\"\n[[link]]\nbetween = [\"plx\", \"gpu{0..1}\"]\nkind = \"pci\"\n" +
         more;
}

std::string link_of(const std::string& a, const std::string& b, const std::string& more = "") {
  return "[[link]]\nbetween = [\"" + a + "\", \"" + b + "\"]\nkind = \"nv\"\n" + more;
}

}  // namespace

TEST_CASE("the node that the errors below are made of is right", "[bad-input]") {
  CHECK(test::error_of(node_and("")) == "no error");
  CHECK(test::error_of(node_and(link_of("gpu0", "gpu1"))) == "no error");
}

TEST_CASE("a wrong node file is an error at the place of the mistake", "[bad-input]") {
  const auto [more, expected] = GENERATE(table<std::string, std::string>({
      {"[[gpu]]\nname = \"x\"\nmodel = \"cart\"\n",
       "node.toml:12:9: error: unknown GPU \"cart\", did you mean \"card\"?"},
      {"[[gpu]]\nname = \"gpu1\"\nmodel = \"card\"\n",
       "node.toml:11:8: error: 'name' \"gpu1\" is the name of another device"},
      {"[[cpu]]\nname = \"plx\"\n",
       "node.toml:11:8: error: 'name' \"plx\" is the name of another device"},
      {"[[gpu]]\nname = \"x\"\nmodel = \"card\"\n",
       "node.toml:1:1: error: no path from \"gpu0\" to \"x\": the node falls apart"},
      {"[[nic]]\nname = \"nic\"\nlink = \"ib\"\n",
       "node.toml:1:1: error: no path from \"gpu0\" to \"nic\": the node falls apart"},
      {"[[nic]]\nname = \"nic\"\nlink = \"pci\"\n",
       "node.toml:12:8: error: 'link' must be a network link such as \"ib-edr\", got \"pci\""},
      {"[[gpu]]\nname = \"x{1..300}\"\nmodel = \"card\"\n",
       "node.toml:11:8: error: 'name' makes more than 256 GPUs in one node"},
      {"[[cpu]]\nname = \"x{1..3000}\"\n",
       "node.toml:11:8: error: 'name' makes more than 2000 devices in one node"},
      {"[[cpu]]\nname = \"x\"\ncoers = 20\n",
       "node.toml:12:1: error: unknown key 'coers' in [[cpu]], did you mean \"cores\"?"},
      {"[[cpu]]\nname = \"x\"\ncores = 0\n",
       "node.toml:12:9: error: 'cores' must be an integer from 1 to 10000, got 0"},
      {"[[cpu]]\nname = \"x\"\nmemory = 512\n",
       "node.toml:12:10: error: 'memory' must be a size such as"},
      {"[[cpu]]\nname = \"x\"\nmemory_bandwidth = \"0 GB/s\"\n",
       "node.toml:12:20: error: 'memory_bandwidth' must be"},
      {"[[gpu]]\nname = \"x\"\nmodel = \"card\"\ncores = 2\n",
       "node.toml:13:1: error: unknown key 'cores' in [[gpu]] (known: "},
      {"[[nvswitches]]\nname = \"x\"\n",
       "node.toml:10:3: error: unknown key 'nvswitches', did you mean \"nvswitch\"?"},
      {"[[nvswitch]]\nname = \"sw\"\nplane = \"gpu0\"\n",
       "node.toml:12:9: error: 'plane' \"gpu0\" is the name of a device"},
      {"[[nvswitch]]\nname = \"sw\"\nplane = \"p\"\n[[cpu]]\nname = \"p\"\n",
       "node.toml:14:8: error: 'name' \"p\" is the name of a plane"},
      {"[[storage]]\nname = \"raid\"\ncapacity = 7\n",
       "node.toml:12:12: error: 'capacity' must be a size such as"},
  }));
  CAPTURE(more);
  CHECK_THAT(test::error_of(node_and(more)), Catch::StartsWith(expected));
}

TEST_CASE("a wrong link is an error at the place of the mistake", "[bad-input]") {
  const auto [more, expected] = GENERATE(table<std::string, std::string>({
      {link_of("gpu0", "gpu9"),
       "node.toml:11:20: error: 'between[1]' names \"gpu9\", which is no device of this node, did "
       "you mean \"gpu0\"?"},
      {link_of("gpu0", "gpu0"), "node.toml:11:20: error: 'between[1]' links \"gpu0\" with itself"},
      {link_of("gpu0", "gpu1", "count = 0\n"),
       "node.toml:13:9: error: 'count' must be an integer from 1 to 10000, got 0"},
      {link_of("gpu0", "gpu1", "count = -2\n"),
       "node.toml:13:9: error: 'count' must be an integer from 1 to 10000, got -2"},
      {link_of("gpu0", "gpu1", "bandwidth = \"0 GB/s\"\n"),
       "node.toml:13:13: error: 'bandwidth' must be"},
      {link_of("gpu0", "gpu1", "bandwidth = \"-1 GB/s\"\n"),
       "node.toml:13:13: error: 'bandwidth' must be"},
      {link_of("gpu0", "gpu1", "bandwidth = nan\n"), "node.toml:13:13: error: 'bandwidth' must be"},
      {link_of("gpu0", "gpu1", "bandwidth = \"nan GB/s\"\n"),
       "node.toml:13:13: error: 'bandwidth' must be"},
      {link_of("gpu0", "gpu1", "latency = \"-1 us\"\n"),
       "node.toml:13:11: error: 'latency' must be"},
      {link_of("gpu0", "gpu1", "efficiency = 0\n"),
       "node.toml:13:14: error: 'efficiency' must be a number from"},
      {link_of("gpu0", "gpu1", "cuont = 2\n"),
       "node.toml:13:1: error: unknown key 'cuont' in [[link]], did you mean \"count\"?"},
      {link_of("gpu0", "gpu1") + link_of("gpu1", "gpu0", "bandwidth = \"9 GB/s\"\n"),
       "node.toml:14:20: error: 'between[1]' links \"gpu1\" and \"gpu0\" again, by a link of "
       "another kind"},
      {"[[link]]\nbetween = [\"gpu0\"]\nkind = \"nv\"\n",
       "node.toml:11:11: error: 'between' must name the two ends of a link"},
      {"[[link]]\nbetween = \"gpu0\"\nkind = \"nv\"\n",
       "node.toml:11:11: error: 'between' must be an array"},
      {"[[link]]\nbetween = [\"gpu0\", \"gpu1\"]\n",
       "node.toml:10:1: error: missing key 'kind' in [[link]]"},
      {"[[link]]\nbetween = [\"gpu0\", \"gpu1\"]\nkind = \"ib\"\n",
       "node.toml:12:8: error: 'kind' \"ib\" is a network link: it joins nodes, not devices"},
      {"[[link]]\nbetween = [\"gpu0\", \"gpu1\"]\nkind = \"nvv\"\n",
       "node.toml:12:8: error: unknown link kind \"nvv\""},
  }));
  CAPTURE(more);
  CHECK_THAT(test::error_of(node_and(more)), Catch::StartsWith(expected));
}

TEST_CASE("pairings whose numbers do not fit are errors that show them", "[bad-input]") {
  const auto [a, b, pairing, expected] =
      GENERATE(table<std::string, std::string, std::string, std::string>({
          {"gpu{0..1}", "plx", "one-to-one", "\"one-to-one\" cannot pair 2 with 1 devices"},
          {"gpu{0,1,0}", "gpu{0,1}", "grouped", "\"grouped\" cannot pair 3 with 2 devices"},
          {"gpu{0..1}", "plx", "all", "must be one-to-one or grouped, got \"all\""},
      }));
  CAPTURE(pairing);
  CHECK(test::error_of(node_and(link_of(a, b, "pairing = \"" + pairing + "\"\n"))) ==
        "node.toml:13:11: error: 'pairing' " + expected);
}

TEST_CASE("files that are no node and no cluster say what is missing", "[bad-input]") {
  CHECK_THAT(test::error_of(""),
             Catch::Contains("error: has neither [[gpu]] (a node) nor [[node]] (a cluster)"));
  CHECK_THAT(test::error_of("name = \"x\"\n[[cpu]]\nname = \"cpu\"\n"),
             Catch::Contains("has neither [[gpu]]"));
  CHECK_THAT(test::error_of("gpu = []\n"), Catch::Contains("missing key 'name'"));
  CHECK_THAT(test::error_of("name = \"x\"\ngpu = []\n"),
             Catch::Contains("a node needs at least one [[gpu]]"));
  CHECK_THAT(test::error_of("name = \"x\"\ngpu = 4\n"),
             Catch::Contains("'gpu' must be an array of tables"));
  CHECK_THAT(test::error_of(node_and("[[node]]\ntype = \"dgx-2\"\n")),
             Catch::Contains("it can only be one"));
  CHECK_THAT(test::error_of("name = \"x\"\n[[gpu]\n"), Catch::StartsWith("node.toml:2:"));
}

TEST_CASE("one GPU alone is a node", "[bad-input]") {
  const auto node = test::parse("name = \"x\"\n[[gpu]]\nname = \"gpu\"\nmodel = \"card\"\n");
  CHECK(node.gpus() == 1);
  CHECK(node.links() == 0);
  CHECK(node.path(0, 0).links.empty());
}
