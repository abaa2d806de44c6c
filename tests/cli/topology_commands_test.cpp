#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"

using namespace trainyard;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in{line};
  return {std::istream_iterator<std::string>{in}, {}};
}

/// The cells of the row that begins with `name`: the last such line, since the header has it too.
std::vector<std::string> row(const std::string& text, const std::string& name) {
  std::vector<std::string> found;
  for (const std::string& line : lines_of(text)) {
    const auto words = words_of(line);
    if (!words.empty() && words[0] == name) {
      found = {words.begin() + 1, words.end()};
    }
  }
  CAPTURE(name, text);
  REQUIRE_FALSE(found.empty());
  return found;
}

}  // namespace

TEST_CASE("topology list has a row for each topology that ships", "[cli]") {
  const auto ran = test::run_program({"topology", "list"});
  REQUIRE(ran.code == 0);
  using Words = std::vector<std::string>;
  CHECK(row(ran.out, "dgx-1-v100") ==
        Words{"node", "1", "8", "v100-sxm2-32gb", "6", "x", "nvlink2", "4", "x", "ib-edr"});
  CHECK(row(ran.out, "superpod-a100-1su") ==
        Words{"cluster", "20", "160", "a100-sxm4-40gb", "12", "x", "nvlink3", "8", "x", "ib-hdr"});
}

TEST_CASE("topology check passes every topology that ships", "[cli]") {
  const auto list = test::run_program({"topology", "list"});
  const auto rows = lines_of(list.out);
  REQUIRE(rows.size() >= 7);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const std::string name = words_of(rows[i])[0];
    CAPTURE(name);
    const auto ran = test::run_program({"topology", "check", name});
    CHECK(ran.code == 0);
    CHECK_THAT(ran.out, Catch::EndsWith(name + ": no errors, 0 warnings\n"));
  }
}

TEST_CASE("topology check says what it did", "[cli]") {
  const auto ran = test::run_program({"topology", "check", "dgx-1-x2"});
  CHECK(ran.out ==
        "dgx-1-x2\n"
        "  keys, names, kinds and figures: valid\n"
        "  2 nodes, 16 x v100-sxm2-32gb, 8 NICs\n"
        "  inside a node: 56 routes of 1 node type found\n"
        "  between nodes: every NIC reaches every other over at most 1 switch, 2 routes tried\n"
        "dgx-1-x2: no errors, 0 warnings\n");
}

TEST_CASE("topology check warns and fails", "[cli]") {
  const test::TemporaryFolder folder;
  const std::string desk =
      "name = \"desk\"\n[[gpu]]\nname = \"gpu\"\nmodel = \"rtx-4090\"\n"
      "[[storage]]\nname = \"ssd\"\ncapacity = \"1 TB\"\n";
  const auto path = folder.write("desk.toml", desk).string();
  const auto warned = test::run_program({"topology", "check", path});
  CHECK(warned.code == 0);
  CHECK_THAT(warned.out, Catch::Contains("warning: desk: \"ssd\" has no [[link]]\n") &&
                             Catch::EndsWith("desk: no errors, 1 warning\n"));

  const auto wrong = folder.write("wrong.toml", desk + "speed = 3\n").string();
  const auto failed = test::run_program({"topology", "check", wrong});
  CHECK(failed.code == 2);
  CHECK(failed.out.empty());
  CHECK(failed.err == wrong +
                          ":8:1: error: unknown key 'speed' in [[storage]] (known: "
                          "capacity, name)\n");
  CHECK(test::run_program({"topology", "check", "no-such-machine"}).code == 2);
  CHECK(test::run_program({"topology", "check"}).code == 2);
}

TEST_CASE("topology show counts devices and links and gives the bisections", "[cli]") {
  const auto node = test::run_program({"topology", "show", "dgx-2"});
  CHECK(node.code == 0);
  CHECK_THAT(node.out, Catch::Contains("16 gpu          gpu0 .. gpu15, v100-sxm3-32gb") &&
                           Catch::Contains("144 nvlink2-nvswitch") &&
                           Catch::Contains("NVLink between halves of the GPUs: 1.2 TB/s each way"));
  CHECK_THAT(node.out, !Catch::Contains("fabric"));

  const auto pod = test::run_program({"topology", "show", "superpod-a100-1su"});
  CHECK_THAT(pod.out,
             Catch::Contains("fabric rail-fat-tree, static routing, at most 3 switches on a way") &&
                 Catch::Contains("4 switch       spine0 .. spine3") &&
                 Catch::Contains("network between halves of the nodes: 2 TB/s each way, 100 % of"));
}

TEST_CASE("topology matrix shows classes of GPUs and NICs", "[cli]") {
  const auto ran = test::run_program({"topology", "matrix", "dgx-1-v100"});
  using Words = std::vector<std::string>;
  CHECK(words_of(lines_of(ran.out)[0]) == Words{"gpu0", "gpu1", "gpu2", "gpu3", "gpu4", "gpu5",
                                                "gpu6", "gpu7", "mlx5_0", "mlx5_1", "mlx5_2",
                                                "mlx5_3"});
  CHECK(row(ran.out, "gpu0") ==
        Words{"X", "NV1", "NV1", "NV2", "NV2", "SYS", "SYS", "SYS", "PIX", "PHB", "SYS", "SYS"});
  CHECK(row(ran.out, "mlx5_3") ==
        Words{"SYS", "SYS", "SYS", "SYS", "PHB", "PHB", "PIX", "PIX", "SYS", "SYS", "PHB", "X"});
}

TEST_CASE("topology matrix shows bandwidth and hops between GPUs", "[cli]") {
  const auto rates = test::run_program({"topology", "matrix", "dgx-1-v100", "--what", "bandwidth"});
  // One link of 22.6 GB/s to 1 and 2, two to 3 and 4; 0 to 7 is relayed by 4, two links wide.
  CHECK(row(rates.out, "gpu0") ==
        std::vector<std::string>{"X", "22.6", "22.6", "45.2", "45.2", "22.6", "22.6", "45.2"});
  const auto hops = test::run_program({"topology", "matrix", "dgx-1-x2", "--what", "hops"});
  // Over the near NIC: GPU, switch, NIC, fabric switch and back: six links.
  CHECK(row(hops.out, "node0/gpu0")[8] == "6");
  CHECK(row(hops.out, "node0/gpu0")[5] == "2");
}

TEST_CASE("a small cluster is shown in full, a large one by its node types", "[cli]") {
  const auto small = test::run_program({"topology", "matrix", "dgx-1-x2"});
  CHECK(row(small.out, "node1/gpu0")[0] == "NET");
  CHECK(row(small.out, "node1/gpu0")[8] == "X");
  CHECK(row(small.out, "node1/mlx5_0").size() == 24);
  const auto large = test::run_program({"topology", "matrix", "superpod-a100-1su"});
  CHECK(lines_of(large.out)[0] == "dgx-a100-40gb");
  CHECK(row(large.out, "gpu0").size() == 16);
  CHECK_THAT(large.out,
             Catch::Contains("20 nodes on a rail-fat-tree fabric, at most 3 switches on a way"));
}

TEST_CASE("topology matrix refuses another question", "[cli]") {
  const auto ran = test::run_program({"topology", "matrix", "dgx-2", "--what", "colour"});
  CHECK(ran.code == 2);
  CHECK_THAT(ran.err, Catch::Contains("--what"));
}
