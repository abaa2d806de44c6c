#include <catch2/catch.hpp>

#include "support/temporary_folder.hpp"
#include "topology/summary.hpp"
#include "topology/support.hpp"

using namespace trainyard;

namespace {

std::vector<std::string> warnings(const std::string& more) {
  return topology::warnings_of(
      test::parse("name = \"n\"\n[[gpu]]\nname = \"gpu{0..1}\"\nmodel = \"card\"\n"
                  "[[link]]\nbetween = [\"gpu0\", \"gpu1\"]\nkind = \"nv\"\n" +
                  more));
}

}  // namespace

TEST_CASE("a sound node has no warnings", "[warnings]") {
  CHECK(warnings("count = 2\n").empty());
}

TEST_CASE("more NVLinks than the GPU has are told", "[warnings]") {
  const auto found = warnings("count = 3\n");
  REQUIRE(found.size() == 2);
  CHECK(found[0] == "n: \"gpu0\" has 3 NVLinks, a card has 2");
}

TEST_CASE("a link to the CPU of another kind takes none of the GPU's NVLinks", "[warnings]") {
  // "c2c" stands for NVLink-C2C; "nv" to a CPU, as on POWER9, does take ports.
  const std::string cpu = "[[cpu]]\nname = \"cpu\"\n[[link]]\nbetween = [\"cpu\", \"gpu0\"]\n";
  CHECK(warnings("count = 2\n" + cpu + "kind = \"c2c\"\n").empty());
  CHECK(warnings("count = 2\n" + cpu + "kind = \"nv\"\n").size() == 1);
}

TEST_CASE("a device without a link is told", "[warnings]") {
  const auto found = warnings("[[storage]]\nname = \"raid\"\ncapacity = \"1 TB\"\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0] == "n: \"raid\" has no [[link]]");
}

TEST_CASE("a NIC that is faster than its PCIe link is told", "[warnings]") {
  const std::string nic =
      "[[nic]]\nname = \"nic\"\nlink = \"ib\"\n[[cpu]]\nname = \"cpu\"\n"
      "[[link]]\nbetween = [\"cpu\", \"gpu{0..1}\"]\nkind = \"pci\"\n"
      "[[link]]\nbetween = [\"cpu\", \"nic\"]\nkind = \"pci\"\n";
  CHECK(warnings(nic).empty());
  const auto found = warnings(nic + "bandwidth = \"8 GB/s\"\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0] == "n: \"nic\" sends 10 GB/s, its pci link carries 8 GB/s");
}

TEST_CASE("consumer cards are told in clusters only", "[warnings]") {
  const std::string text =
      "name = \"desk\"\n[[gpu]]\nname = \"gpu{0..1}\"\nmodel = \"game-card\"\n"
      "[[nic]]\nname = \"nic\"\nlink = \"ib\"\n[[cpu]]\nname = \"cpu\"\n"
      "[[link]]\nbetween = [\"cpu\", \"gpu{0..1}\"]\nkind = \"pci\"\n"
      "[[link]]\nbetween = [\"cpu\", \"nic\"]\nkind = \"pci\"\n";
  CHECK(topology::warnings_of(test::parse(text)).empty());
  const auto found = topology::warnings_of(test::parse(text, {3, {}}));
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0], Catch::StartsWith("node.toml:3:8: desk: game-card is a consumer card"));
}
