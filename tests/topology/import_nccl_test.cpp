// NCCL's topology XML by hand: what becomes of each element, and what is wrong.
#include <catch2/catch.hpp>

#include "topology/import_support.hpp"
#include "topology/importers/nccl_system.hpp"
#include "topology/summary.hpp"

using namespace trainyard;

namespace {

constexpr const char* kCpu =
    R"(<cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="85">)";

/// A system of one CPU.
std::string one_cpu(const std::string& inside) {
  return std::string{"<system version=\"1\">\n"} + kCpu + "\n" + inside + "\n</cpu>\n</system>\n";
}

std::string gpu(const std::string& bus, const std::string& inside = "",
                const std::string& more = "") {
  return "<pci busid=\"" + bus + "\" class=\"0x030200\" link_speed=\"8 GT/s\" link_width=\"16\" " +
         more + ">" + inside + "</pci>\n";
}

std::string nic(const std::string& bus, const std::string& inside = "") {
  return "<pci busid=\"" + bus + "\" class=\"0x020700\" link_speed=\"8 GT/s\" link_width=\"16\">" +
         inside + "</pci>\n";
}

std::string bridge(const std::string& bus, const std::string& inside) {
  return "<pci busid=\"" + bus +
         "\" class=\"0x060400\" link_speed=\"8 GT/s\" link_width=\"16\">\n" + inside + "</pci>\n";
}

std::string nvlinks(const std::string& sm, const std::string& links) {
  return "<gpu sm=\"" + sm + "\">" + links + "</gpu>";
}

std::string nvlink(const std::string& target, int count, const std::string& kind = "0x030200") {
  return "<nvlink target=\"" + target + "\" count=\"" + std::to_string(count) + "\" tclass=\"" +
         kind + "\"/>";
}

}  // namespace

TEST_CASE("a PCIe tree is imported as it stands", "[import]") {
  const auto imported =
      test::import_text(one_cpu(bridge("0:1", gpu("0:2") + gpu("0:3") + nic("0:4")) +
                                bridge("0:5", bridge("0:6", gpu("0:7")))));
  CHECK(imported.format == "NCCL topology XML");
  const auto node = test::load(imported);
  CHECK(node.gpus() == 3);
  CHECK(node.nics(0).size() == 1);
  CHECK(node.pair_class(0, 1) == "PIX");
  CHECK(node.pair_class(0, 2) == "PHB");
  CHECK(topology::nic_class(node, 0, 0) == "PIX");
  CHECK(topology::nic_class(node, 2, 0) == "PHB");
  CHECK(node.gpu_kind(0).name == "v100-sxm2-32gb");
  CHECK(test::has_note(imported, "gpu{0..2}: took v100-sxm2-32gb (the usual one on PCIe 3)"));
  CHECK(test::has_note(imported, "no NVLink between GPUs is in the file"));
}

TEST_CASE("several switches are PXB, two CPUs are SYS", "[import]") {
  const std::string text =
      "<system>" + std::string{kCpu} +
      bridge("0:1", bridge("0:2", gpu("0:3")) + bridge("0:4", gpu("0:5") + nic("0:6"))) +
      "</cpu><cpu numaid=\"1\">" + gpu("1:1") + "</cpu></system>";
  const auto imported = test::import_text(text);
  const auto node = test::load(imported);
  CHECK(node.pair_class(0, 1) == "PXB");
  CHECK(node.pair_class(0, 2) == "SYS");
  CHECK(topology::nic_class(node, 0, 0) == "PXB");
  CHECK(topology::nic_class(node, 1, 0) == "PIX");
  CHECK(test::has_note(imported, "took 3 x upi for each pair"));
}

TEST_CASE("GPUs are numbered by bus id, or by the file's numbers", "[import]") {
  const auto by_bus = test::import_text(one_cpu(gpu("0:B") + bridge("0:1", gpu("0:a"))));
  // gpu0 is 0:a, below the switch: two links to the CPU's other GPU's one.
  CHECK_THAT(by_bus.toml, Catch::Contains("between = [\"switch0\", \"gpu0\"]"));
  const auto by_number =
      test::import_text(one_cpu(gpu("0:b", "<gpu dev=\"0\" sm=\"70\"/>") +
                                bridge("0:1", gpu("0:a", "<gpu dev=\"1\" sm=\"70\"/>"))));
  CHECK_THAT(by_number.toml, Catch::Contains("between = [\"switch0\", \"gpu1\"]"));
}

TEST_CASE("the model is the user's, else by PCI id, compute capability, PCIe", "[import]") {
  const std::string id = "vendor=\"0x10de\" device=\"0x1db8\"";
  const auto model = [](const topology::Imported& imported) {
    return test::load(imported).gpu_kind(0).name;
  };
  const std::string all = one_cpu(gpu("0:1", "<gpu sm=\"60\"/>", id));
  CHECK(model(test::import_text(all, {.name = "x", .gpu = "titan-v"})) == "titan-v");
  CHECK(model(test::import_text(all)) == "v100-sxm3-32gb");
  const auto by_sm = test::import_text(one_cpu(gpu("0:1", "<gpu sm=\"60\"/>")));
  CHECK(model(by_sm) == "p100-sxm2-16gb");
  CHECK(test::has_note(by_sm, "the usual one of sm 60"));
  CHECK(model(test::import_text(one_cpu(gpu("0:1", "<gpu sm=\"12\"/>")))) == "v100-sxm2-32gb");
  CHECK_THAT(test::import_error(all, {.name = "x", .gpu = "v1000"}),
             Catch::StartsWith("command line: error: "));
}

TEST_CASE("direct NVLinks stand in the file at both ends and are written once", "[import]") {
  const auto imported = test::import_text(
      one_cpu(gpu("0:1", nvlinks("70", nvlink("0:2", 2) + nvlink("0:3", 1))) +
              gpu("0:2", nvlinks("70", nvlink("0:1", 2))) + gpu("0:3", nvlinks("70", ""))));
  const auto node = test::load(imported);
  CHECK(node.pair_class(0, 1) == "NV2");
  CHECK(node.pair_class(0, 2) == "NV1");
  CHECK(node.pair_class(1, 2) == "PHB");
  CHECK(node.link(*node.nvlink(0, 1)).raw.si() == Approx(50e9));
  CHECK_FALSE(test::has_note(imported, "no NVLink"));
}

TEST_CASE("NVSwitches are one plane with the links of each", "[import]") {
  std::string gpus;
  for (const char* bus : {"0:1", "0:2", "0:3"}) {
    gpus += gpu(bus, nvlinks("80", nvlink("9:A", 2, "0x068000") + nvlink("9:b", 4, "0x068000")));
  }
  const auto imported = test::import_text(one_cpu(gpus));
  const auto node = test::load(imported);
  CHECK(node.pair_class(0, 2) == "NV6");
  CHECK(node.nvswitch_port(0, true).has_value());
  CHECK_THAT(imported.toml, Catch::Contains("name = \"nvswitch{0..1}\"\nplane"));
  CHECK_THAT(imported.toml, Catch::Contains("# 9:a 9:b\n"));
  CHECK_FALSE(test::has_note(imported, "boards"));
}

TEST_CASE("NVSwitches of two boards are joined, which a note says", "[import]") {
  const auto imported =
      test::import_text(one_cpu(gpu("0:1", nvlinks("70", nvlink("9:a", 6, "0x068000"))) +
                                gpu("0:2", nvlinks("70", nvlink("9:b", 6, "0x068000")))));
  CHECK(test::load(imported).pair_class(0, 1) == "NV6");
  CHECK(test::has_note(imported, "different boards"));
}

TEST_CASE("NVLink to the CPU takes the place of PCIe", "[import]") {
  const auto node = test::load(
      test::import_text(one_cpu(gpu("0:1", nvlinks("70", nvlink("5:0", 3, "0x068001"))) +
                                gpu("0:2", nvlinks("70", nvlink("5:1", 3, "0x068001"))))));
  CHECK(node.pair_class(0, 1) == "PHB");
  // Three NVLinks of 25 GB/s each way.
  CHECK(node.link(node.pcie_path(0, 1).links[0]).raw.si() == Approx(75e9));
}

TEST_CASE("NVLinks that lead nowhere are left out with a note", "[import]") {
  const auto imported = test::import_text(
      one_cpu(gpu("0:1", nvlinks("80", nvlink("0:1", 12) + nvlink("7:7", 4))) + gpu("0:2")));
  CHECK(test::load(imported).pair_class(0, 1) == "PHB");
  CHECK(test::has_note(imported,
                       "12 NVLinks of gpu0 were left out: they lead to 0:1, the GPU itself"));
  CHECK(test::has_note(imported, "4 NVLinks of gpu0 were left out: they lead to 7:7, which"));
}

TEST_CASE("NIC ports, names, speeds and kinds come from <net>", "[import]") {
  const auto imported = test::import_text(
      one_cpu(gpu("0:1") +
              nic("0:9", R"(<nic><net name="mlx5_0" dev="1" speed="100000" port="1"/>)"
                         R"(<net name="mlx5_1" dev="2" speed="100000" port="2"/></nic>)") +
              nic("0:8", R"(<nic><net name="fast" dev="0" speed="400000" port="1"/></nic>)")));
  const auto node = test::load(imported);
  REQUIRE(node.nics(0).size() == 3);
  CHECK(node.nics(0)[0].name == "fast");
  CHECK(node.nics(0)[1].name == "mlx5_0");
  CHECK_THAT(imported.toml, Catch::Contains("name = \"fast\"\nlink = \"ib-ndr\""));
  CHECK_THAT(imported.toml, Catch::Contains("name = \"mlx5_{0..1}\"\nlink = \"ib-edr\""));
  // Two ports share the card's 15.75 GB/s.
  CHECK(node.link(node.gpu_to_nic(0, 1).links.back()).raw.si() == Approx(7.875e9));
  CHECK(node.link(node.gpu_to_nic(0, 0).links.back()).raw.si() == Approx(15.75e9));
}

TEST_CASE("a NIC without speed gets the usual one, or the user's", "[import]") {
  const std::string text = one_cpu(gpu("0:1") + nic("0:2"));
  const auto usual = test::import_text(text);
  CHECK(test::has_note(usual, "nic0: took ib-edr (no speed is stated)"));
  CHECK_THAT(test::import_text(text, {.name = "x", .nic = "roce-100"}).toml,
             Catch::Contains("link = \"roce-100\""));
  CHECK_THAT(test::import_error(text, {.name = "x", .nic = "pcie3-x16"}),
             Catch::Contains("must be a network link"));
}

TEST_CASE("a NIC straight on the CPU is a TCP one when it is named so", "[import]") {
  const auto imported = test::import_text(
      one_cpu(gpu("0:1") + R"(<nic><net name="eth0" dev="0" speed="100000"/></nic>)"));
  const auto node = test::load(imported);
  CHECK(topology::nic_class(node, 0, 0) == "PHB");
  CHECK_THAT(imported.toml, Catch::Contains("name = \"eth0\"\nlink = \"eth-100\""));
}

TEST_CASE("unstated and impossible PCIe rates are replaced with a note", "[import]") {
  const auto unstated = test::import_text(
      one_cpu(R"(<pci busid="0:1" class="0x030200" link_speed="" link_width="0"/>)"),
      {.name = "x", .gpu = "a100-sxm4-40gb"});
  // A Skylake's PCIe is the third generation, whatever the GPU could do.
  CHECK_THAT(unstated.toml, Catch::Contains("kind = \"pcie3-x16\""));
  CHECK(test::has_note(unstated, "gpu0: link_speed or link_width is not stated"));
  const auto beyond = test::import_text(
      one_cpu(R"(<pci busid="0:1" class="0x030200" link_speed="32 GT/s" link_width="16"/>)"));
  CHECK_THAT(beyond.toml, Catch::Contains("kind = \"pcie3-x16\""));
  CHECK(test::has_note(beyond, "beyond the PCIe 3 of the CPU"));
  const auto asleep = test::import_text(
      one_cpu(R"(<pci busid="0:1" class="0x030200" link_speed="2.5 GT/s" link_width="16"/>)"));
  CHECK_THAT(asleep.toml, Catch::Contains("bandwidth = \"4 GB/s\""));
  CHECK(test::has_note(asleep, "PCIe 1 as stated"));
}

TEST_CASE("devices of other classes are left out with a note", "[import]") {
  const auto imported =
      test::import_text(one_cpu(gpu("0:1") + R"(<pci busid="0:2" class="0x010802"/>)" +
                                R"(<pci busid="0:3" class="0x068000"/><weather/>)"));
  CHECK(test::load(imported).gpus() == 1);
  CHECK(test::has_note(imported, "0:2 of class 0x010802 was left out"));
  CHECK(test::has_note(imported, "<weather> at line"));
  CHECK_FALSE(test::has_note(imported, "0:3"));
}

TEST_CASE("wrong NCCL files are refused with a place", "[import]") {
  struct Row {
    std::string text;
    const char* error;
  };
  const auto row = GENERATE(values<Row>({
      {"<system>\n<cpu>\n<pci", "source:3:"},
      {"<system>\n<cpu numaid=\"0\">\n", "is it cut off?"},
      {"<graphs></graphs>", "source:1:2: error: <graphs>: is what NCCL_GRAPH_DUMP_FILE writes"},
      {"<html></html>", "<html>: expected <system>"},
      {"<system/>\n<system/>", "source:2:2: error: <system> is a second root element"},
      {"<system/>", "has no GPU"},
      {"<system a=\"1\" a=\"2\"/>", "has the attribute 'a' twice"},
      {one_cpu(nic("0:1")), "has no GPU"},
      {one_cpu(gpu("0:1") + gpu("0:1")),
       "source:4:2: error: <pci>: has busid \"0:1\", which another"},
      {one_cpu(bridge("0:1", bridge("0:1", gpu("0:2")))), "has busid \"0:1\", which another"},
      {one_cpu(gpu("")), "has no 'busid'"},
      {one_cpu(R"(<pci busid="0:1"/>)"), "has no 'class'"},
      {one_cpu(R"(<pci busid="0:1" class="0x0b4000">)" + gpu("0:2") + "</pci>"),
       "is below a part of class 0x0b4000"},
      {one_cpu(gpu("0:1", gpu("0:2"))), "is below a part of class 0x030200"},
      {one_cpu("<rack>" + gpu("0:2") + "</rack>"), "is no element of an NCCL topology"},
      {one_cpu(R"(<pci busid="0:1" class="0x030200" link_speed="fast"/>)"),
       "'link_speed' must be a rate of PCIe such as \"16 GT/s\", got \"fast\""},
      {one_cpu(R"(<pci busid="0:1" class="0x030200" link_width="x"/>)"),
       "'link_width' must be an integer from 0 to 255, got \"x\""},
      {one_cpu(R"(<pci busid="0:1" class="0x030200" link_width="48"/>)"),
       "at most 32 lanes, got 48"},
      {one_cpu(gpu("0:1", nvlinks("80", nvlink("0:2", 2))) +
               gpu("0:2", nvlinks("80", nvlink("0:1", 3)))),
       "gpu0 has 2 NVLinks to gpu1, which has 3 back"},
      {one_cpu(gpu("0:1", nvlinks("80", nvlink("0:2", 2) + nvlink("0:2", 2))) + gpu("0:2")),
       "lists 0:2 twice"},
      {one_cpu(gpu("0:1", nvlinks("80", nvlink("0:2", 2, "0x020000")))), "'tclass' must be"},
      {one_cpu(gpu("0:1", nvlinks("80", nvlink("0:2", 0)))), "'count' must be an integer from 1"},
      {one_cpu(gpu("0:1", nvlinks("80", "<nvlink count=\"1\"/>"))), "needs a 'target'"},
      {one_cpu(gpu("0:1", nvlinks("75", nvlink("9:1", 2, "0x068000")))), "but a t4 has none"},
      {"<system><cpu numaid=\"0\">" + gpu("0:1") + "</cpu><cpu numaid=\"0\"/></system>",
       "is the second one of numaid 0"},
      {"<system><cpu host_hash=\"1\" numaid=\"0\">" + gpu("0:1") +
           "</cpu><cpu host_hash=\"2\" numaid=\"1\"/></system>",
       "is of a second host"},
      {"<system><cpu numaid=\"0\"><pci busid=\"0:1\" class=\"0x0302\"/></cpu></system>",
       "says nothing of the GPU's model: give --gpu MODEL"},
  }));
  CAPTURE(row.text);
  const std::string error = test::import_error(row.text);
  CHECK_THAT(error, Catch::StartsWith("source:") && Catch::Contains(row.error));
  CHECK(error.find('\n') == std::string::npos);
}

TEST_CASE("depth and number of elements are bounded", "[import]") {
  std::string deep;
  for (int i = 0; i < 100000; ++i) {
    deep += "<pci>";
  }
  CHECK_THAT(test::import_error("<system>" + deep), Catch::Contains("source:1:"));
  std::string closed = "<system>";
  for (int i = 0; i < 60; ++i) {
    closed += "<cpu>";
  }
  for (int i = 0; i < 60; ++i) {
    closed += "</cpu>";
  }
  CHECK_THAT(test::import_error(closed + "</system>"),
             Catch::Contains("is nested deeper than 40 elements"));
  std::string many = "<system>";
  for (int i = 0; i < 100001; ++i) {
    many += "<a/>";
  }
  CHECK_THAT(test::import_error(many + "</system>"), Catch::Contains("one of more than 100000"));
  std::string gpus;
  for (int i = 0; i < 257; ++i) {
    gpus += gpu("0:" + std::to_string(i));
  }
  CHECK_THAT(test::import_error(one_cpu(gpus)), Catch::Contains("one of more than 256 GPUs"));
}

TEST_CASE("entities are not expanded", "[import]") {
  const std::string text =
      "<!DOCTYPE s [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>\n" +
      one_cpu(gpu("0:1", "", "note=\"&b;\""));
  CHECK(test::load(test::import_text(text)).gpus() == 1);
}
