// `nvidia-smi topo -m` to a node file whose classes are those of the matrix.
#include <catch2/catch.hpp>

#include "topology/import_support.hpp"
#include "topology/importers/smi_matrix.hpp"
#include "topology/support.hpp"

using namespace trainyard;
using topology::importers::Nearness;
using topology::importers::parse_smi_matrix;

namespace {

using Matrix = std::vector<std::vector<std::string>>;

// The layout of current drivers: escapes underline the heading, a legend names the NICs.
const std::string kDgx1 =
    "\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
    "GPU0\t X \tNV1\tNV2\tSYS\tPIX\tSYS\t0-19,40-59\t0\t\tN/A\n"
    "GPU1\tNV1\t X \tSYS\tNV2\tPIX\tSYS\t0-19,40-59\t0\t\tN/A\n"
    "GPU2\tNV2\tSYS\t X \tNV1\tSYS\tPHB\t20-39,60-79\t1\t\tN/A\n"
    "GPU3\tSYS\tNV2\tNV1\t X \tSYS\tPHB\t20-39,60-79\t1\t\tN/A\n"
    "NIC0\tPIX\tPIX\tSYS\tSYS\t X \tSYS\t\t\t\t\n"
    "NIC1\tSYS\tSYS\tPHB\tPHB\tSYS\t X \t\t\t\t\n"
    "\n"
    "Legend:\n"
    "\n"
    "  X    = Self\n"
    "  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes\n"
    "  NV#  = Connection traversing a bonded set of # NVLinks\n"
    "\n"
    "NIC Legend:\n"
    "\n"
    "  NIC0: mlx5_0\n"
    "  NIC1: mlx5_3\n";

topology::Imported import_as(const std::string& text, const std::string& gpu) {
  return test::import_text(text, {.name = "it", .gpu = gpu});
}

/// A matrix as the tool prints it.
std::string printed(const Matrix& cells, int gpus, const std::vector<std::string>& affinity) {
  std::vector<std::string> heads;
  for (int i = 0; i < static_cast<int>(cells.size()); ++i) {
    heads.push_back(i < gpus ? "GPU" + std::to_string(i) : "mlx5_" + std::to_string(i - gpus));
  }
  std::string text = "      ";
  for (const std::string& head : heads) {
    text += " " + head;
  }
  text += affinity.empty() ? "\n" : " CPU Affinity\n";
  for (std::size_t row = 0; row < cells.size(); ++row) {
    text += heads[row];
    for (const std::string& cell : cells[row]) {
      text += " " + cell;
    }
    text += row < affinity.size() ? " " + affinity[row] + "\n" : "\n";
  }
  return text;
}

/// Classes of a random tree: sockets, roots, switches, leaves. Devices are dealt out at random.
Matrix random_matrix(test::Random& random, int devices) {
  std::vector<std::vector<int>> places;
  for (int i = 0; i < devices; ++i) {
    places.push_back({random.in(0, 1), random.in(0, 1), random.in(0, 1), random.in(0, 1)});
  }
  const std::vector<std::string> classes{"SYS", "NODE", "PHB", "PXB", "PIX"};
  Matrix cells;
  for (int a = 0; a < devices; ++a) {
    auto& row = cells.emplace_back();
    for (int b = 0; b < devices; ++b) {
      std::size_t same = 0;
      while (same < 4 && places[static_cast<std::size_t>(a)][same] ==
                             places[static_cast<std::size_t>(b)][same]) {
        ++same;
      }
      row.push_back(a == b ? "X" : classes[same]);
    }
  }
  return cells;
}

std::string smi_error(const std::string& text, const std::string& gpu = "v100-sxm2-32gb") {
  return test::import_error(text, {.name = "it", .gpu = gpu});
}

}  // namespace

TEST_CASE("the text of nvidia-smi is read with escapes, tabs, affinities and legend", "[import]") {
  const auto matrix = parse_smi_matrix(kDgx1, "m.txt");
  CHECK(matrix.gpus == 4);
  CHECK(matrix.names ==
        std::vector<std::string>{"gpu0", "gpu1", "gpu2", "gpu3", "mlx5_0", "mlx5_3"});
  CHECK(matrix.at(0, 2).nearness == Nearness::nvlink);
  CHECK(matrix.at(0, 2).nvlinks == 2);
  CHECK(matrix.at(0, 2).place.line == 2);
  CHECK(matrix.at(5, 3).nearness == Nearness::phb);
  CHECK(matrix.affinity[0] == "0-19,40-59");
  CHECK(matrix.affinity[3] == "20-39,60-79");
  CHECK(matrix.affinity[4].empty());
}

TEST_CASE("names of old drivers mean the same", "[import]") {
  const auto matrix = parse_smi_matrix(
      "\tGPU0\tGPU1\tGPU2\nGPU0\t X \tSOC\tPSB\nGPU1\tSOC\t X \tSOC\n"
      "GPU2\tPSB\tSOC\t X \n",
      "old.txt");
  CHECK(matrix.at(0, 1).nearness == Nearness::sys);
  CHECK(matrix.at(0, 2).nearness == Nearness::pix);
  CHECK(topology::importers::class_text(matrix.at(0, 1)) == "SYS");
  CHECK(topology::importers::class_text(matrix.at(0, 2)) == "PIX");
}

TEST_CASE("a matrix comes back from the node that it makes", "[import]") {
  const auto imported = import_as(kDgx1, "v100-sxm2-32gb");
  CHECK(imported.format == "nvidia-smi topo -m");
  const Matrix expected{
      {"X", "NV1", "NV2", "SYS", "PIX", "SYS"}, {"NV1", "X", "SYS", "NV2", "PIX", "SYS"},
      {"NV2", "SYS", "X", "NV1", "SYS", "PHB"}, {"SYS", "NV2", "NV1", "X", "SYS", "PHB"},
      {"PIX", "PIX", "SYS", "SYS", "X", "SYS"}, {"SYS", "SYS", "PHB", "PHB", "SYS", "X"}};
  const auto node = test::load(imported);
  CHECK(test::classes_of(node) == expected);
  CHECK(node.nics(0)[1].name == "mlx5_3");
  CHECK(node.gpu_kind(0).name == "v100-sxm2-32gb");
  // 1 + 2 links are fewer than a V100's six: no switches.
  CHECK_FALSE(node.nvswitch_port(0, true).has_value());
  CHECK(imported.toml == import_as(kDgx1, "v100-sxm2-32gb").toml);
}

TEST_CASE("the shipped machines come back from their own matrices", "[import]") {
  for (const char* name : {"dgx-1-v100", "dgx-2", "dgx-a100-40gb"}) {
    CAPTURE(name);
    const auto shipped = topology::load_cluster(name);
    const auto classes = test::classes_of(shipped);
    const auto imported = import_as(printed(classes, shipped.gpus(), {}), shipped.gpu_kind(0).name);
    CHECK(test::classes_of(test::load(imported)) == classes);
  }
}

TEST_CASE("any tree without NVLink comes back", "[import]") {
  test::Random random{7};
  for (int round = 0; round < 60; ++round) {
    const int gpus = random.in(1, 6);
    const Matrix cells = random_matrix(random, gpus + random.in(0, 4));
    const std::string text = printed(cells, gpus, {});
    CAPTURE(text);
    CHECK(test::classes_of(test::load(import_as(text, "t4"))) == cells);
  }
}

TEST_CASE("more NVLinks than a GPU has mean NVSwitches", "[import]") {
  Matrix cells(8, std::vector<std::string>(8, "NV12"));
  for (std::size_t i = 0; i < 8; ++i) {
    cells[i][i] = "X";
  }
  const auto imported =
      import_as(printed(cells, 8, std::vector<std::string>(8, "0-63")), "a100-sxm4-40gb");
  const auto node = test::load(imported);
  CHECK(test::classes_of(node) == cells);
  CHECK(node.nvswitch_port(3, true).has_value());
  CHECK(test::has_note(imported, "NV12 between 8 GPUs is more than a a100-sxm4-40gb has"));
  CHECK(test::has_note(imported, "those with the same CPUs were put on root ports of one socket"));
  CHECK_THAT(imported.toml, Catch::Contains("kind = \"nvlink3-nvswitch\"\ncount = 12"));
}

TEST_CASE("four GPUs with all links among them need no NVSwitch", "[import]") {
  Matrix cells(4, std::vector<std::string>(4, "NV4"));
  for (std::size_t i = 0; i < 4; ++i) {
    cells[i][i] = "X";
  }
  // 3 x 4 links are the 12 that an A100 has.
  const auto node = test::load(import_as(printed(cells, 4, {}), "a100-sxm4-40gb"));
  CHECK(test::classes_of(node) == cells);
  CHECK(node.nvlink(0, 3).has_value());
  CHECK_FALSE(node.nvswitch_port(0, true).has_value());
}

TEST_CASE("GPUs that NVLink hides share a socket by affinity", "[import]") {
  const Matrix cells{{"X", "NV2", "NV2"}, {"NV2", "X", "NV2"}, {"NV2", "NV2", "X"}};
  const auto node =
      test::load(import_as(printed(cells, 3, {"0-9", "0-9", "10-19"}), "v100-sxm2-32gb"));
  // Two on one socket, on root ports of their own; the third behind the socket link.
  CHECK(node.pcie_path(0, 1).links.size() == 4);
  CHECK(node.pcie_path(0, 2).links.size() >= 3);
  CHECK(topology::importers::parse_smi_matrix(printed(cells, 3, {"N/A", "N/A", "N/A"}), "m")
            .affinity[0]
            .empty());
}

TEST_CASE("what the matrix does not say is assumed with a note", "[import]") {
  const auto imported = import_as(kDgx1, "h100-sxm-80gb");
  CHECK(test::has_note(imported, "rates of PCIe, NICs and sockets are not in the matrix"));
  CHECK_THAT(imported.toml, Catch::Contains("kind = \"pcie5-x16\""));
  CHECK_THAT(imported.toml, Catch::Contains("link = \"ib-ndr\""));
  CHECK_THAT(
      test::import_text(kDgx1, {.name = "x", .gpu = "v100-sxm2-32gb", .nic = "roce-25"}).toml,
      Catch::Contains("link = \"roce-25\""));
}

TEST_CASE("wrong matrices are refused with a place", "[import]") {
  struct Row {
    std::string text;
    const char* error;
  };
  const std::string two = "     GPU0 GPU1\nGPU0  X  PIX\n";
  const auto row = GENERATE_COPY(values<Row>({
      {two, "ends before the row of GPU1: is it cut off?"},
      {two + "GPU1 PIX", "source:3:6: error: the row of GPU1 has 1 classes, expected 2"},
      {two + "GPU1 PIX QPX\n", "source:3:10: error: \"QPX\" is no class (known: X, NV#"},
      {two + "GPU1 PIX PIX\n", "source:3:10: error: GPU1 to GPU1 is \"PIX\": X stands for itself"},
      {two + "GPU1 X X\n", "GPU1 to GPU0 is \"X\""},
      {two + "GPU1 SYS X\n", "source:3:6: error: GPU1 to GPU0 is SYS, the other way it is PIX"},
      {two + "GPU1 PIX X\nGPU2 PIX PIX X\n", "source:4:1: error: GPU2 is one row too many"},
      {two + "GPU7 PIX X\n", "GPU7 has no place here, expected the row of GPU1"},
      {"  GPU0 GPU0\n", "source:1:8: error: GPU0 heads two columns"},
      {"  GPU0 mlx5_0 GPU1\n", "GPU1 stands behind a NIC"},
      {"X marks GPU0\n", "has no heading"},
      {"     GPU0 GPU1\nGPU0  X  NV99999\n", "\"NV99999\" is no class"},
      {"     GPU0 GPU1\nGPU0  X  NV0\n", "\"NV0\" is no class"},
      // 0 and 1 share a switch, 1 and 2 too: then so do 0 and 2.
      {"     GPU0 GPU1 GPU2\nGPU0 X PIX SYS\nGPU1 PIX X PIX\nGPU2 SYS PIX X\n",
       "source:4:6: error: gpu2 to gpu0 is SYS, but the classes of other devices make it PIX"},
  }));
  CAPTURE(row.text);
  const std::string error = smi_error(row.text);
  CHECK_THAT(error, Catch::StartsWith("source") && Catch::Contains(row.error));
  CHECK(error.find('\n') == std::string::npos);
}

TEST_CASE("a matrix needs a GPU model that fits", "[import]") {
  CHECK(test::import_error(kDgx1) ==
        "source: error: does not name the GPUs' model: give --gpu MODEL");
  CHECK_THAT(smi_error(kDgx1, "t4"), Catch::Contains("has NVLinks, but a t4 has none"));
  CHECK_THAT(smi_error(kDgx1, "v100"), Catch::StartsWith("command line: error: "));
  // 5 links in each of two pairs are more than six, and not the same for all.
  const std::string uneven =
      "     GPU0 GPU1 GPU2\nGPU0 X NV5 NV5\nGPU1 NV5 X NV1\nGPU2 NV5 NV1 X\n";
  CHECK_THAT(smi_error(uneven), Catch::Contains("only through NVSwitches"));
  const std::string wide = "     GPU0 GPU1\nGPU0 X NV9\nGPU1 NV9 X\n";
  CHECK_THAT(smi_error(wide), Catch::Contains("gpu0 to gpu1 is NV9"));
}
