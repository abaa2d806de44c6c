// `ibnetdiscover` to a cluster file.
#include <catch2/catch.hpp>

#include "support/temporary_folder.hpp"
#include "topology/import_support.hpp"
#include "topology/importers/ib_network.hpp"
#include "topology/summary.hpp"

using namespace trainyard;
using topology::importers::ib_rate;
using topology::importers::parse_ibnetdiscover;

namespace {

/// A node of two GPUs and two NICs of 200 Gb/s.
constexpr const char* kNode = R"(
name = "pair"
[[gpu]]
name = "gpu{0..1}"
model = "a100-sxm4-40gb"
[[nic]]
name = "mlx5_{0..1}"
link = "ib-hdr"
[[cpu]]
name = "cpu"
[[link]]
between = ["cpu", "gpu{0..1}"]
kind = "pcie4-x16"
[[link]]
between = ["cpu", "mlx5_{0..1}"]
kind = "pcie4-x16"
)";

const std::string kHead =
    "#\n# Topology file: generated on Mon Jan  1 00:00:00 2024\n#\n"
    "# Initiated from node 0c42a10300000010 port 0c42a10300000010\n\n";

std::string switch_head(const std::string& id, int ports, const std::string& name) {
  return "vendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0x" + id + "\nswitchguid=0x" + id + "(" + id +
         ")\nSwitch\t" + std::to_string(ports) + " \"S-" + id + "\"\t\t# \"" + name +
         "\" enhanced port 0 lid 5 lmc 0\n";
}

std::string adapter_head(const std::string& id, int ports, const std::string& name) {
  return "vendid=0x2c9\ndevid=0x101b\nsysimgguid=0x" + id + "\ncaguid=0x" + id + "\nCa\t" +
         std::to_string(ports) + " \"H-" + id + "\"\t\t# \"" + name + "\"\n";
}

/// A port line of a switch.
std::string to(int port, const std::string& id, int peer, const std::string& speed = "4xHDR") {
  return "[" + std::to_string(port) + "]\t\"" + id + "\"[" + std::to_string(peer) + "]" +
         (id[0] == 'H' ? "(" + id.substr(2) + ")" : "") + " \t\t# \"someone\" lid 7 " + speed +
         "\n";
}

/// A port line of an adapter.
std::string from(int port, const std::string& id, int peer, const std::string& speed = "4xHDR") {
  return "[" + std::to_string(port) + "](0c42a10300000010) \t\"" + id + "\"[" +
         std::to_string(peer) + "]\t\t# lid 12 lmc 0 \"leaf\" lid 5 " + speed + "\n";
}

/// Two hosts of two adapters on two leaves, a double cable between the leaves.
std::string two_hosts() {
  return kHead + switch_head("aa", 40, "MF0;leaf-b:MQM8700/U1") + to(1, "H-10", 1) +
         to(2, "H-20", 1) + to(37, "S-bb", 37) + to(38, "S-bb", 38) + "\n" +
         switch_head("bb", 40, "MF0;leaf-a:MQM8700/U1") + to(1, "H-11", 1) + to(2, "H-21", 1) +
         to(37, "S-aa", 37) + to(38, "S-aa", 38) + "\n" + adapter_head("10", 1, "host10 mlx5_0") +
         from(1, "S-aa", 1) + "\n" + adapter_head("11", 1, "host10 mlx5_1") + from(1, "S-bb", 1) +
         "\n" + adapter_head("20", 1, "host9 mlx5_0") + from(1, "S-aa", 2) + "\n" +
         adapter_head("21", 1, "host9 mlx5_1") + from(1, "S-bb", 2);
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), with);
}

struct Folder {
  test::TemporaryFolder folder{};
  topology::ImportOptions options{};
  Folder() {
    options.name = "pod";
    options.node = folder.write("pair.toml", kNode).string();
  }
};

}  // namespace

TEST_CASE("records and cables of ibnetdiscover are read", "[import]") {
  const auto network = parse_ibnetdiscover(two_hosts(), "net");
  REQUIRE(network.records.size() == 6);
  CHECK(network.records[0].is_switch);
  CHECK(network.records[0].ports == 40);
  CHECK(network.records[0].id == "S-aa");
  CHECK(network.records[0].description == "MF0;leaf-b:MQM8700/U1");
  REQUIRE(network.records[0].cables.size() == 4);
  CHECK(network.records[0].cables[1].peer == 4);
  CHECK(network.records[0].cables[1].peer_port == 1);
  CHECK(network.records[0].cables[3].rate.si() == Approx(25e9));
  CHECK_FALSE(network.records[4].is_switch);
  CHECK(network.records[4].description == "host9 mlx5_0");
  CHECK(network.left_out.empty());
}

TEST_CASE("widths and speeds give rates", "[import]") {
  // Lanes x Gb/s / 8.
  CHECK(ib_rate("4xHDR").si() == Approx(25e9));
  CHECK(ib_rate("2xHDR").si() == Approx(12.5e9));
  CHECK(ib_rate("4xEDR").si() == Approx(12.5e9));
  CHECK(ib_rate("4xNDR").si() == Approx(50e9));
  CHECK(ib_rate("4xFDR").si() == Approx(7e9));
  CHECK(ib_rate("4xFDR10").si() == Approx(5e9));
  CHECK(ib_rate("1xSDR").si() == Approx(0.25e9));
  for (const char* wrong : {"", "4x", "HDR", "xHDR", "0xHDR", "13xHDR", "4xWDR", "-4xHDR"}) {
    CAPTURE(wrong);
    CHECK(ib_rate(wrong).si() == 0.0);
  }
}

TEST_CASE("a discovered fabric becomes a cluster", "[import]") {
  const Folder given;
  const auto imported = test::import_text(two_hosts(), given.options);
  CHECK(imported.format == "ibnetdiscover");
  const auto cluster = test::load(imported);
  CHECK(cluster.name() == "pod");
  CHECK(cluster.nodes() == 2);
  CHECK(cluster.gpus() == 4);
  const auto fabric = topology::fabric_of(cluster);
  CHECK(fabric.kind == "custom");
  CHECK(fabric.most_hops == 2);
  // host9 comes before host10; its first adapter is on leaf-b.
  CHECK_THAT(imported.toml, Catch::Contains("# node0 is host9\n# node1 is host10\n"));
  CHECK_THAT(imported.toml, Catch::Contains("between = [\"node0/mlx5_0\", \"leaf-b\"]"));
  CHECK_THAT(imported.toml, Catch::Contains("between = [\"node1/mlx5_1\", \"leaf-a\"]"));
  CHECK_THAT(imported.toml,
             Catch::Contains("[\"leaf-b\", \"leaf-a\"]\nkind = \"ib-hdr\"\ncount = 2"));
  // Two cables of 25 GB/s between the leaves.
  const auto trunks = topology::trunks_of(cluster);
  REQUIRE(trunks.size() == 1);
  CHECK(trunks[0].links == 2);
  CHECK(trunks[0].raw.si() == Approx(25e9));
  CHECK(imported.toml == test::import_text(two_hosts(), given.options).toml);
}

TEST_CASE("hosts that are not of the node type are left out with a note", "[import]") {
  const Folder given;
  std::string text = replaced(two_hosts(), to(2, "H-20", 1),
                              to(2, "H-20", 1) + to(3, "H-30", 1) + to(40, "H-40", 1));
  text += "\n" + adapter_head("30", 1, "login mlx5_0") + from(1, "S-aa", 3) + "\n" +
          adapter_head("40", 1, "Mellanox Technologies Aggregation Node") + from(1, "S-aa", 40);
  const auto imported = test::import_text(text, given.options);
  CHECK(test::load(imported).nodes() == 2);
  CHECK(test::has_note(imported,
                       "1 hosts were left out, which do not have 2 cabled ports: login (1)"));
  CHECK(test::has_note(imported, "1 SHARP aggregation nodes were left out"));
}

TEST_CASE("both ports of one adapter are two NICs", "[import]") {
  const Folder given;
  const std::string text = kHead + switch_head("aa", 36, "MF0;sw:X/U1") + to(1, "H-10", 1) +
                           to(2, "H-10", 2) + "\n" + adapter_head("10", 2, "host1 HCA-1") +
                           from(2, "S-aa", 2) + from(1, "S-aa", 1);
  const auto imported = test::import_text(text, given.options);
  CHECK(test::load(imported).nodes() == 1);
}

TEST_CASE("slower cables take the nearest kind", "[import]") {
  const Folder given;
  std::string text = two_hosts();
  for (const char* speed : {"37", "38"}) {
    text = replaced(
        text, "[" + std::string{speed} + "]\t\"S-bb\"[" + speed + "] \t\t# \"someone\" lid 7 4xHDR",
        "[" + std::string{speed} + "]\t\"S-bb\"[" + speed + "] \t\t# \"someone\" lid 7 4xFDR");
    text = replaced(
        text, "[" + std::string{speed} + "]\t\"S-aa\"[" + speed + "] \t\t# \"someone\" lid 7 4xHDR",
        "[" + std::string{speed} + "]\t\"S-aa\"[" + speed + "] \t\t# \"someone\" lid 7 4xFDR");
  }
  const auto imported = test::import_text(text, given.options);
  CHECK(test::has_note(imported, "4xFDR links are written as "));
}

TEST_CASE("switches keep names that tell them apart", "[import]") {
  const Folder given;
  // Two chips of one chassis, and a switch without a name.
  std::string text = replaced(two_hosts(), "leaf-b:MQM8700/U1", "big:CS8500/L01/U1");
  text = replaced(text, "leaf-a:MQM8700/U1", "big:CS8500/S02/U1");
  const auto chassis = test::import_text(text, given.options);
  CHECK_THAT(chassis.toml, Catch::Contains("name = \"big:CS8500-L01-U1\""));
  CHECK_THAT(chassis.toml, Catch::Contains("name = \"big:CS8500-S02-U1\""));
  const auto nameless =
      test::import_text(replaced(two_hosts(), "MF0;leaf-b:MQM8700/U1", ""), given.options);
  CHECK_THAT(nameless.toml, Catch::Contains("name = \"S-aa\"\nports = 40"));
}

TEST_CASE("routers are left out", "[import]") {
  const Folder given;
  const std::string text =
      replaced(two_hosts(), to(2, "H-20", 1), to(2, "H-20", 1) + to(9, "R-70", 1)) +
      "\nrtguid=0x70\nRt\t2 \"R-70\"\t\t# \"router\"\n" + from(1, "S-aa", 9);
  const auto imported = test::import_text(text, given.options);
  CHECK(test::load(imported).nodes() == 2);
  CHECK(test::has_note(imported, "the router at line"));
}

TEST_CASE("wrong fabrics are refused with a place", "[import]") {
  const Folder given;
  const std::string good = two_hosts();
  struct Row {
    std::string text;
    const char* error;
  };
  const auto row = GENERATE_COPY(values<Row>({
      {good.substr(0, good.find("Ca\t1 \"H-11\"")), "which has no record: is the file cut off?"},
      {replaced(good, from(1, "S-bb", 2), ""), "which does not lead back"},
      {replaced(good, from(1, "S-bb", 2), from(1, "S-bb", 1)), "says otherwise"},
      {replaced(good, from(1, "S-bb", 2), from(1, "S-bb", 2, "4xEDR")), "says otherwise"},
      {replaced(good, "lid 7 4xHDR", "lid 7 4xABC"),
       "a width and speed such as 4xHDR, ends in \"4xABC\""},
      {replaced(good, to(2, "H-20", 1), to(1, "H-20", 1)), "port 1 has a cable already"},
      {replaced(good, "\"S-bb\"\t", "\"S-aa\"\t"), "\"S-aa\" has a record already"},
      {replaced(good, "[37]\t\"S-bb\"[37]", "[37]\t\"S-bb\""), "expected '['"},
      {replaced(good, "[37]\t\"S-bb\"", "[37]\tS-bb"),
       "expected the id at the other end in quotes"},
      {replaced(good, "[37]", "[x]"), "expected a port number"},
      {replaced(good, "Switch\t40", "Switch\tmany"), "expected a port number"},
      {replaced(good, "Switch\t40", "Swatch\t40"), "expected Switch, Ca, a port"},
      {replaced(good, "switchguid", "switchguid=1\n[1]\nswitchguid"), "before the first Switch"},
      {"caguid=0x1\n", "has no host with 2 cabled ports"},
  }));
  CAPTURE(row.text, row.error);
  const std::string error = test::import_error(row.text, given.options);
  CHECK_THAT(error, Catch::Contains(row.error));
  CHECK(error.find('\n') == std::string::npos);
}

TEST_CASE("a fabric needs a node type with NICs", "[import]") {
  CHECK(test::import_error(two_hosts()) ==
        "source: error: says nothing of what is inside the hosts: give --node TYPE");
  CHECK_THAT(test::import_error(two_hosts(), {.name = "x", .node = "dgx-1-v200"}),
             Catch::StartsWith("command line: error: "));
  CHECK_THAT(test::import_error(two_hosts(), {.name = "x", .node = "dgx-1-v100"}),
             Catch::Contains("has no host with 4 cabled ports, as many as dgx-1-v100 has NICs "
                             "(found: host9 (2), host10 (2))"));
}

TEST_CASE("only known formats are read", "[import]") {
  CHECK_THAT(test::import_error("name = \"dgx\"\n"),
             Catch::Contains("is none of the formats that can be imported"));
  CHECK_THAT(test::import_error(""), Catch::Contains("none of the formats"));
  CHECK_THAT(test::import_error(std::string{"GPU0\0X", 6}),
             Catch::Contains("source:1:5: error: holds a zero byte"));
  CHECK_THAT(test::import_error(std::string(33U << 20U, ' ')),
             Catch::Contains("bytes, expected at most"));
}
