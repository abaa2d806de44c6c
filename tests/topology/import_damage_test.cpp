// Damaged sources: an import works or is one InputError with a place, whatever the bytes.
#include <catch2/catch.hpp>

#include "topology/import_support.hpp"
#include "topology/support.hpp"

using namespace trainyard;

namespace {

const std::string kXml =
    "<system version=\"1\">\n<cpu numaid=\"0\" arch=\"x86_64\" vendor=\"AuthenticAMD\" "
    "familyid=\"143\" modelid=\"49\">\n"
    "<pci busid=\"0000:01:00.0\" class=\"0x060400\" link_speed=\"16 GT/s\" link_width=\"16\">\n"
    "<pci busid=\"0000:07:00.0\" class=\"0x030200\" link_speed=\"16 GT/s\" link_width=\"16\">\n"
    "<gpu dev=\"0\" sm=\"80\"><nvlink target=\"0000:0f:00.0\" count=\"4\" tclass=\"0x030200\"/>"
    "</gpu></pci>\n"
    "<pci busid=\"0000:0f:00.0\" class=\"0x030200\" link_speed=\"16 GT/s\" link_width=\"16\">\n"
    "<gpu dev=\"1\" sm=\"80\"><nvlink target=\"0000:07:00.0\" count=\"4\" tclass=\"0x030200\"/>"
    "</gpu></pci>\n"
    "<pci busid=\"0000:0c:00.0\" class=\"0x020700\" link_speed=\"16 GT/s\" link_width=\"16\">\n"
    "<nic><net name=\"mlx5_0\" dev=\"0\" speed=\"200000\" port=\"1\"/></nic></pci>\n"
    "</pci>\n</cpu>\n</system>\n";

const std::string kMatrix =
    "\tGPU0\tGPU1\tNIC0\tCPU Affinity\nGPU0\t X \tNV4\tPIX\t0-19\nGPU1\tNV4\t X \tPHB\t0-19\n"
    "NIC0\tPIX\tPHB\t X \n\nNIC Legend:\n  NIC0: mlx5_0\n";

const std::string kFabric =
    "switchguid=0xaa(aa)\nSwitch\t36 \"S-aa\"\t\t# \"MF0;leaf:X/U1\" enhanced port 0 lid 1 lmc 0\n"
    "[1]\t\"H-10\"[1](10) \t\t# \"host0 mlx5_0\" lid 2 4xEDR\n"
    "[2]\t\"H-10\"[2](11) \t\t# \"host0 mlx5_0\" lid 3 4xEDR\n"
    "[3]\t\"H-20\"[1](20) \t\t# \"host0 mlx5_1\" lid 3 4xEDR\n"
    "[4]\t\"H-20\"[2](21) \t\t# \"host0 mlx5_1\" lid 3 4xEDR\n\n"
    "caguid=0x10\nCa\t2 \"H-10\"\t\t# \"host0 mlx5_0\"\n"
    "[1](10) \t\"S-aa\"[1]\t\t# lid 2 lmc 0 \"leaf\" lid 1 4xEDR\n"
    "[2](11) \t\"S-aa\"[2]\t\t# lid 2 lmc 0 \"leaf\" lid 1 4xEDR\n\n"
    "caguid=0x20\nCa\t2 \"H-20\"\t\t# \"host0 mlx5_1\"\n"
    "[1](20) \t\"S-aa\"[3]\t\t# lid 3 lmc 0 \"leaf\" lid 1 4xEDR\n"
    "[2](21) \t\"S-aa\"[4]\t\t# lid 3 lmc 0 \"leaf\" lid 1 4xEDR\n";

/// Bytes changed, removed, doubled or cut off.
std::string damaged(std::string text, test::Random& random) {
  constexpr std::string_view kBytes = "\"<>[]/=& \t\n0129xX-#\x1b\xff";
  for (int i = random.in(1, 3); i > 0 && !text.empty(); --i) {
    const auto at = static_cast<std::size_t>(random.in(0, static_cast<int>(text.size()) - 1));
    const auto length = static_cast<std::size_t>(random.in(1, 40));
    switch (random.in(0, 3)) {
      case 0:
        text[at] =
            kBytes[static_cast<std::size_t>(random.in(0, static_cast<int>(kBytes.size()) - 1))];
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

/// Works, or says in one line what is wrong; anything else ends the test program.
void import_damaged(const std::string& source, const topology::ImportOptions& options,
                    std::uint64_t seed) {
  test::Random random{seed};
  int worked = 0;
  int refused = 0;
  for (int round = 0; round < 150; ++round) {
    const std::string text = damaged(source, random);
    CAPTURE(text);
    const std::string error = test::import_error(text, options);
    if (error == "no error") {
      ++worked;
      // What was written loads, and shows in every command.
      CHECK(test::load(test::import_text(text, options)).gpus() > 0);
    } else {
      ++refused;
      CHECK_THAT(error, Catch::StartsWith("source") || Catch::StartsWith("command line"));
      CHECK(error.find('\n') == std::string::npos);
    }
  }
  CHECK(worked > 0);
  CHECK(refused > 40);
}

}  // namespace

TEST_CASE("the undamaged sources import", "[import]") {
  CHECK(test::load(test::import_text(kXml)).pair_class(0, 1) == "NV4");
  CHECK(test::load(test::import_text(kMatrix, {.name = "m", .gpu = "a100-sxm4-40gb"}))
            .pair_class(0, 1) == "NV4");
  CHECK(test::load(test::import_text(kFabric, {.name = "f", .node = "dgx-1-v100"})).nodes() == 1);
}

TEST_CASE("damaged NCCL files never do harm", "[import]") {
  import_damaged(kXml, {.name = "x"}, 1);
}

TEST_CASE("damaged matrices never do harm", "[import]") {
  import_damaged(kMatrix, {.name = "m", .gpu = "a100-sxm4-40gb"}, 2);
}

TEST_CASE("damaged fabrics never do harm", "[import]") {
  import_damaged(kFabric, {.name = "f", .node = "dgx-1-v100"}, 3);
}
