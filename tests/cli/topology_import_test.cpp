// `topology import` and `topology plot` as commands, and what docs/topology.md shows of them.
#include <catch2/catch.hpp>
#include <filesystem>
#include <sstream>

#include "input/files.hpp"
#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"

using namespace trainyard;

namespace {

constexpr const char* kMachine =
    "<system version=\"1\">\n"
    "  <cpu numaid=\"0\" arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"85\">\n"
    "    <pci busid=\"0000:3b:00.0\" class=\"0x030200\" link_speed=\"8 GT/s\" link_width=\"16\">\n"
    "      <gpu dev=\"0\" sm=\"70\"><nvlink target=\"0000:af:00.0\" count=\"2\" "
    "tclass=\"0x030200\"/></gpu>\n"
    "    </pci>\n"
    "    <pci busid=\"0000:af:00.0\" class=\"0x030200\" link_speed=\"8 GT/s\" link_width=\"16\">\n"
    "      <gpu dev=\"1\" sm=\"70\"><nvlink target=\"0000:3b:00.0\" count=\"2\" "
    "tclass=\"0x030200\"/></gpu>\n"
    "    </pci>\n"
    "  </cpu>\n"
    "</system>\n";

constexpr const char* kMatrix =
    "\tGPU0\tGPU1\tmlx5_0\tCPU Affinity\n"
    "GPU0\t X \tNV2\tPIX\t0-19\n"
    "GPU1\tNV2\t X \tPIX\t0-19\n"
    "mlx5_0\tPIX\tPIX\t X \n";

constexpr const char* kNetwork =
    "switchguid=0xaa(aa)\n"
    "Switch\t36 \"S-aa\"\t\t# \"MF0;leaf:SB7800/U1\" enhanced port 0 lid 1 lmc 0\n"
    "[1]\t\"H-10\"[1](10) \t\t# \"host0 mlx5_0\" lid 2 4xEDR\n"
    "[2]\t\"H-20\"[1](20) \t\t# \"host1 mlx5_0\" lid 3 4xEDR\n"
    "\n"
    "caguid=0x10\n"
    "Ca\t1 \"H-10\"\t\t# \"host0 mlx5_0\"\n"
    "[1](10) \t\"S-aa\"[1]\t\t# lid 2 lmc 0 \"MF0;leaf:SB7800/U1\" lid 1 4xEDR\n"
    "\n"
    "caguid=0x20\n"
    "Ca\t1 \"H-20\"\t\t# \"host1 mlx5_0\"\n"
    "[1](20) \t\"S-aa\"[2]\t\t# lid 3 lmc 0 \"MF0;leaf:SB7800/U1\" lid 1 4xEDR\n";

/// The three sources in a folder of their own.
struct Sources {
  test::TemporaryFolder folder{};
  Sources() {
    folder.write("machine.xml", kMachine);
    folder.write("matrix.txt", kMatrix);
    folder.write("fabric.txt", kNetwork);
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder.path() / name).string();
  }
};

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in{line};
  return {std::istream_iterator<std::string>{in}, {}};
}

}  // namespace

TEST_CASE("topology import writes a file that the other commands take", "[cli]") {
  const Sources sources;
  const std::string made = sources.path("desk.toml");
  const auto ran =
      test::run_program({"topology", "import", sources.path("machine.xml"), "-o", made});
  CHECK(ran.code == 0);
  CHECK(ran.out == made + ": from NCCL topology XML, 1 node, 2 x v100-sxm2-32gb, 0 NICs\n");
  CHECK_THAT(ran.err, Catch::StartsWith("note: ") &&
                          Catch::Contains("took v100-sxm2-32gb (the usual one of sm 70)"));
  const auto check = test::run_program({"topology", "check", made});
  CHECK(check.code == 0);
  CHECK_THAT(check.out, Catch::EndsWith("desk: no errors, 0 warnings\n"));
  const auto matrix = test::run_program({"topology", "matrix", made});
  CHECK_THAT(matrix.out, Catch::Contains("NV2"));
}

TEST_CASE("topology import reads all three sources", "[cli]") {
  const Sources sources;
  const std::string node = sources.path("node.toml");
  const auto matrix = test::run_program(
      {"topology", "import", sources.path("matrix.txt"), "-o", node, "--gpu", "v100-sxm2-32gb"});
  CHECK(matrix.code == 0);
  CHECK_THAT(matrix.out,
             Catch::Contains("from nvidia-smi topo -m, 1 node, 2 x v100-sxm2-32gb, 1 NIC"));
  const std::string pod = sources.path("pod.toml");
  const auto fabric = test::run_program(
      {"topology", "import", sources.path("fabric.txt"), "-o", pod, "--node", node});
  CHECK(fabric.err.empty());
  CHECK(fabric.code == 0);
  CHECK_THAT(fabric.out,
             Catch::Contains("from ibnetdiscover, 2 nodes, 4 x v100-sxm2-32gb, 2 NICs"));
  CHECK(test::run_program({"topology", "check", pod}).code == 0);
}

TEST_CASE("topology import names the topology as asked", "[cli]") {
  const Sources sources;
  const std::string made = sources.path("a.toml");
  REQUIRE(test::run_program({"topology", "import", sources.path("machine.xml"), "-o", made,
                             "--name", "my \"desk\""})
              .code == 0);
  CHECK_THAT(sources.folder.read("a.toml"), Catch::Contains("name = \"my \\\"desk\\\"\"\n"));
}

TEST_CASE("a failed import leaves no file", "[cli]") {
  const Sources sources;
  const std::string cut =
      sources.folder.write("cut.xml", std::string{kMachine}.substr(0, 300)).string();
  const std::string made = sources.path("made.toml");
  const auto ran = test::run_program({"topology", "import", cut, "-o", made});
  CHECK(ran.code == 2);
  CHECK(ran.out.empty());
  CHECK_THAT(ran.err, Catch::StartsWith(cut + ":") && Catch::Contains(": error: ") &&
                          Catch::Contains("is it cut off?"));
  CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  CHECK_FALSE(std::filesystem::exists(made));
}

TEST_CASE("nothing is overwritten without --force", "[cli]") {
  const Sources sources;
  const std::string made = sources.folder.write("made.toml", "precious").string();
  const std::vector<std::string> import{"topology", "import", sources.path("machine.xml"), "-o",
                                        made};
  const auto refused = test::run_program(import);
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Catch::StartsWith(made + ": error: the file exists"));
  CHECK(sources.folder.read("made.toml") == "precious");
  auto forced = import;
  forced.emplace_back("--force");
  CHECK(test::run_program(forced).code == 0);
  const std::string once = sources.folder.read("made.toml");
  CHECK(test::run_program(forced).code == 0);
  CHECK(sources.folder.read("made.toml") == once);
}

TEST_CASE("topology import and plot refuse impossible targets", "[cli]") {
  const Sources sources;
  const std::string folder = sources.folder.path().string();
  const std::string lost = folder + "/no/such/x.svg";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"topology", "import", sources.path("machine.xml")},
        std::vector<std::string>{"topology", "plot", "dgx-2"}}) {
    auto to_folder = words;
    to_folder.insert(to_folder.end(), {"-o", folder});
    CHECK_THAT(test::run_program(to_folder).err, Catch::Contains("is a folder"));
    auto to_nowhere = words;
    to_nowhere.insert(to_nowhere.end(), {"-o", lost});
    CHECK_THAT(test::run_program(to_nowhere).err, Catch::Contains("does not exist"));
    CHECK(test::run_program(words).code == 2);
  }
  CHECK(test::run_program({"topology", "import", folder + "/none.xml", "-o", folder + "/x.toml"})
            .code == 2);
}

TEST_CASE("topology plot writes the same picture each time", "[cli]") {
  const Sources sources;
  const std::string made = sources.path("dgx.svg");
  const auto ran = test::run_program({"topology", "plot", "dgx-1-v100", "-o", made});
  CHECK(ran.code == 0);
  CHECK(ran.out == made + ": dgx-1-v100\n");
  const std::string once = sources.folder.read("dgx.svg");
  CHECK_THAT(once, Catch::StartsWith("<svg ") && Catch::EndsWith("</svg>\n"));
  CHECK(test::run_program({"topology", "plot", "dgx-1-v100", "-o", made}).code == 2);
  REQUIRE(test::run_program({"topology", "plot", "dgx-1-v100", "-o", made, "--force"}).code == 0);
  CHECK(sources.folder.read("dgx.svg") == once);
}

TEST_CASE("topology plot draws SVG only, and known topologies only", "[cli]") {
  const Sources sources;
  const auto other = test::run_program({"topology", "plot", "dgx-2", "-o", sources.path("x.png")});
  CHECK(other.code == 2);
  CHECK_THAT(other.err, Catch::Contains("must end in .svg"));
  CHECK(test::run_program({"topology", "plot", "dgx-3", "-o", sources.path("x.svg")}).code == 2);
  CHECK_FALSE(std::filesystem::exists(sources.path("x.svg")));
}

TEST_CASE("every command that docs/topology.md shows runs", "[cli]") {
  const Sources sources;
  const auto before = std::filesystem::current_path();
  std::istringstream document{
      input::read_file(std::filesystem::path{TRAINYARD_SOURCE_DIR} / "docs" / "topology.md")};
  std::filesystem::current_path(sources.folder.path());
  int commands = 0;
  for (std::string line; std::getline(document, line);) {
    auto words = words_of(line.substr(0, line.find('#')));
    if (!line.starts_with("    trainyard ") || words.empty()) {
      continue;
    }
    CAPTURE(line);
    const auto ran = test::run_program({words.begin() + 1, words.end()});
    CAPTURE(ran.err);
    CHECK(ran.code == 0);
    ++commands;
  }
  std::filesystem::current_path(before);
  CHECK(commands >= 6);
}
