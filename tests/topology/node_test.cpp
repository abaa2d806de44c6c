#include <catch2/catch.hpp>

#include "topology/summary.hpp"
#include "topology/support.hpp"

using namespace trainyard;
using Names = std::vector<std::string>;

namespace {

constexpr const char* kRow = R"(
name = "row"
[[gpu]]
name = "gpu{0..3}"
model = "card"
[[pcie_switch]]
name = "plx"
[[link]]
between = ["plx", "gpu{0..3}"]
kind = "pci"
)";

std::string row_with(const std::string& more) {
  return kRow + more;
}

std::string nv(const std::string& a, const std::string& b) {
  return "[[link]]\nbetween = [\"" + a + "\", \"" + b + "\"]\nkind = \"nv\"\n";
}

}  // namespace

TEST_CASE("a path prefers NVLink, then a relay over one GPU, then PCIe", "[node]") {
  const auto node = test::parse(row_with(nv("gpu0", "gpu1") + nv("gpu1", "gpu2")));
  CHECK(test::names_of(node, node.path(0, 1)) == Names{"gpu0->gpu1"});
  CHECK(test::names_of(node, node.path(0, 2)) == Names{"gpu0->gpu1", "gpu1->gpu2"});
  CHECK(test::names_of(node, node.path(0, 3)) == Names{"gpu0->plx", "plx->gpu3"});
  CHECK(test::names_of(node, node.pcie_path(0, 1)) == Names{"gpu0->plx", "plx->gpu1"});
  CHECK(node.path(2, 2).links.empty());
}

TEST_CASE("two GPUs between are too many for a relay", "[node]") {
  const auto node =
      test::parse(row_with(nv("gpu0", "gpu1") + nv("gpu1", "gpu2") + nv("gpu2", "gpu3")));
  CHECK(test::names_of(node, node.path(0, 3)) == Names{"gpu0->plx", "plx->gpu3"});
}

TEST_CASE("of two relays the wider links win", "[node]") {
  const auto node =
      test::parse(row_with(nv("gpu0", "gpu1") + nv("gpu1", "gpu3") + nv("gpu0", "gpu2") +
                           nv("gpu0", "gpu2") + nv("gpu2", "gpu3") + nv("gpu2", "gpu3")));
  CHECK(test::names_of(node, node.path(0, 3)) == Names{"gpu0->gpu2", "gpu2->gpu3"});
}

TEST_CASE("a path's latency is the sum of its links'", "[node]") {
  const auto node = test::parse(row_with(nv("gpu0", "gpu1") + nv("gpu1", "gpu2")));
  CHECK(node.path(0, 2).latency.si() == Approx(2 * 0.7e-6));
  CHECK(node.path(0, 3).latency.si() == Approx(2 * 0.2e-6));
}

TEST_CASE("links named twice become one bundle, whichever way round", "[node]") {
  const auto node = test::parse(row_with(nv("gpu0", "gpu1") + nv("gpu1", "gpu0")));
  const auto link = node.link(*node.nvlink(1, 0));
  CHECK(link.name == "gpu1->gpu0");
  CHECK(link.count == 2);
  CHECK(link.raw.si() == Approx(50e9));
  CHECK(link.bandwidth.si() == Approx(50e9 * 0.8));
}

TEST_CASE("each direction is a link of its own", "[node]") {
  const auto node = test::parse(row_with(nv("gpu0", "gpu1")));
  CHECK(*node.nvlink(0, 1) != *node.nvlink(1, 0));
  CHECK_FALSE(node.nvlink(0, 2).has_value());
  CHECK(node.links() == 2 * (4 + 1));
}

TEST_CASE("NVSwitches of a plane are one; without a plane each is its own", "[node]") {
  const std::string switches = "[[nvswitch]]\nname = \"sw{0..1}\"\n";
  const auto apart = test::parse(row_with(switches + nv("gpu{0..3}", "sw{0..1}")));
  CHECK(apart.link(*apart.nvswitch_port(0, true)).count == 1);
  const auto plane =
      test::parse(row_with(switches + "plane = \"board\"\n" + nv("gpu{0..3}", "sw{0..1}")));
  CHECK(plane.link(*plane.nvswitch_port(0, true)).count == 2);
  CHECK(plane.link(*plane.nvswitch_port(0, false)).name == "board->gpu0");
  CHECK(test::names_of(plane, plane.path(1, 2)) == Names{"gpu1->board", "board->gpu2"});
  CHECK(plane.pair_class(1, 2) == "NV2");
}

TEST_CASE("a PCIe path never passes through another GPU or a NIC", "[node]") {
  // The NIC hangs on both switches, but data between the switches takes the long way.
  const auto node = test::parse(R"(
name = "bridge"
[[gpu]]
name = "gpu{0..1}"
model = "card"
[[nic]]
name = "nic"
link = "ib"
[[pcie_switch]]
name = "plx{0..1}"
[[cpu]]
name = "cpu{0..1}"
[[link]]
between = ["plx0", "gpu0"]
kind = "pci"
[[link]]
between = ["plx1", "gpu1"]
kind = "pci"
[[link]]
between = ["nic", "plx{0..1}"]
kind = "pci"
[[link]]
between = ["plx0", "cpu0"]
kind = "pci"
[[link]]
between = ["plx1", "cpu1"]
kind = "pci"
[[link]]
between = ["cpu0", "cpu1"]
kind = "qpi"
)");
  CHECK(node.pcie_path(0, 1).links.size() == 5);
  CHECK(node.gpu_to_nic(1, 0).links.size() == 2);
}

TEST_CASE("a figure in the file replaces the catalogue's", "[node]") {
  const auto node = test::parse(
      row_with("[[link]]\nbetween = [\"gpu0\", \"gpu1\"]\nkind = \"nv\"\nbandwidth = \"20 GB/s\"\n"
               "efficiency = 0.5\nlatency = \"2 us\"\ncount = 3\n"));
  const auto link = node.link(*node.nvlink(0, 1));
  CHECK(link.raw.si() == Approx(60e9));
  CHECK(link.bandwidth.si() == Approx(30e9));
  CHECK(link.latency.si() == Approx(2e-6));
}

TEST_CASE("NVLink to the CPU stands for PCIe, not for a way between GPUs", "[node]") {
  const auto node = test::parse(R"(
name = "power9"
[[gpu]]
name = "gpu{0..1}"
model = "card"
[[cpu]]
name = "cpu{0..1}"
[[link]]
between = ["gpu0", "cpu0"]
kind = "nv"
count = 3
[[link]]
between = ["gpu1", "cpu1"]
kind = "nv"
count = 3
[[link]]
between = ["cpu0", "cpu1"]
kind = "qpi"
)");
  CHECK(node.pair_class(0, 1) == "SYS");
  CHECK(node.path(0, 1).links.size() == 3);
}

TEST_CASE("links that only one GPU's holder can use are private", "[node]") {
  const auto node = test::parse(row_with(nv("gpu0", "gpu1") + nv("gpu1", "gpu2")));
  // 0 to 2 is relayed by 1: a holder of 0 and 2 crosses links of 1's holder.
  CHECK(node.link(*node.nvlink(0, 1)).shareable);
  const auto fully = test::parse(row_with(nv("gpu0", "gpu1") + nv("gpu2", "gpu3")));
  CHECK_FALSE(fully.link(*fully.nvlink(0, 1)).shareable);
  CHECK_FALSE(fully.link(test::link_named(fully, "gpu0->plx")).shareable);
  const auto dgx = topology::load_cluster("dgx-1-v100");
  CHECK(dgx.link(test::link_named(dgx, "cpu0->plx1")).shareable);
}

TEST_CASE("a NIC's own PCIe links are private while its cable is the slower", "[node]") {
  const auto a100 = topology::load_cluster("dgx-a100-40gb");
  // 26 GB/s of PCIe in front of 24 GB/s of cable: the cable decides.
  CHECK_FALSE(a100.link(test::link_named(a100, "nested0->mlx5_0")).shareable);
  CHECK_FALSE(a100.link(test::link_named(a100, "leaf0->nested0")).shareable);
  CHECK(a100.link(test::link_named(a100, "leaf0->parent0")).shareable);
  const auto slow = [](const std::string& rate) {
    return test::parse(
        "name = \"n\"\n[[gpu]]\nname = \"gpu{0..1}\"\nmodel = \"card\"\n[[cpu]]\nname = "
        "\"cpu\"\n[[nic]]\nname = \"nic\"\nlink = \"ib\"\n[[link]]\nbetween = [\"cpu\", "
        "\"gpu{0..1}\"]\nkind = \"pci\"\n[[link]]\nbetween = [\"cpu\", \"nic\"]\nkind = "
        "\"pci\"\nbandwidth = \"" +
        rate + "\"\n");
  };
  // The cable carries 10 GB/s x 0.9.
  const auto wide = slow("9 GB/s");
  CHECK_FALSE(wide.link(test::link_named(wide, "cpu->nic")).shareable);
  const auto narrow = slow("8.9 GB/s");
  CHECK(narrow.link(test::link_named(narrow, "cpu->nic")).shareable);
}

TEST_CASE("devices pair one to one, or in equal groups", "[node]") {
  const auto pair = [](const std::string& a, const std::string& b, const std::string& how) {
    const auto node =
        test::parse(row_with("[[cpu]]\nname = \"cpu{0..3}\"\n[[link]]\nbetween = [\"" + a +
                             "\", \"" + b + "\"]\nkind = \"c2c\"\n" + how));
    Names names;
    for (topology::LinkId id = 2 * 4; id < node.links(); id += 2) {
      names.push_back(node.link(id).name);
    }
    return names;
  };
  const std::string grouped = "pairing = \"grouped\"\n";
  CHECK(pair("cpu{0..1}", "gpu{2..3}", "").size() == 4);
  CHECK(pair("cpu{0..1}", "gpu{2..3}", "pairing = \"one-to-one\"\n") ==
        Names{"cpu0->gpu2", "cpu1->gpu3"});
  CHECK(pair("cpu{1,0}", "gpu{0..3}", grouped) ==
        Names{"cpu1->gpu0", "cpu1->gpu1", "cpu0->gpu2", "cpu0->gpu3"});
  CHECK(pair("cpu{0..3}", "gpu{0..1}", grouped) ==
        Names{"cpu0->gpu0", "cpu1->gpu0", "cpu2->gpu1", "cpu3->gpu1"});
  CHECK(pair("cpu{0..3}", "gpu3", grouped).size() == 4);
}

TEST_CASE("hosts of a rack reach each other's NICs over NVLink only", "[node]") {
  const auto rack = test::parse(R"(
name = "rack"
[[gpu]]
name = "gpu{0..1}"
model = "card"
[[nic]]
name = "nic{0..1}"
link = "ib"
[[cpu]]
name = "cpu{0..1}"
cores = 72
memory = "480 GB"
memory_bandwidth = "500 GB/s"
[[link]]
between = ["gpu0", "gpu1"]
kind = "nv"
[[link]]
between = ["cpu{0..1}", "gpu{0..1}"]
kind = "c2c"
pairing = "one-to-one"
[[link]]
between = ["cpu{0..1}", "nic{0..1}"]
kind = "pci"
pairing = "one-to-one"
)");
  CHECK(test::names_of(rack, rack.gpu_to_nic(0, 1)) ==
        Names{"gpu0->gpu1", "gpu1->cpu1", "cpu1->nic1"});
  CHECK(test::names_of(rack, rack.nic_to_gpu(1, 0)) ==
        Names{"nic1->cpu1", "cpu1->gpu1", "gpu1->gpu0"});
  CHECK(rack.nic_of(0) == 0);
  CHECK(rack.nic_of(1) == 1);
  CHECK(topology::nic_class(rack, 0, 0) == "PHB");
  CHECK(topology::nic_class(rack, 0, 1) == "PXN");
  CHECK(topology::nic_pair_class(rack, 0, 0, 1) == "NET");
}

TEST_CASE("copies are staged at the CPU where a card has no peer access", "[node]") {
  const auto with = [](const std::string& model) {
    return test::parse("name = \"desk\"\n[[gpu]]\nname = \"gpu{0..1}\"\nmodel = \"" + model +
                       "\"\n[[pcie_switch]]\nname = \"plx\"\n[[cpu]]\nname = \"cpu\"\n[[link]]\n"
                       "between = [\"plx\", \"gpu{0..1}\"]\nkind = \"pci\"\n[[link]]\n"
                       "between = [\"cpu\", \"plx\"]\nkind = \"pci\"\n");
  };
  const auto card = with("card");
  CHECK(test::names_of(card, card.path(0, 1)) == Names{"gpu0->plx", "plx->gpu1"});
  const auto game = with("game-card");
  CHECK(test::names_of(game, game.path(0, 1)) ==
        Names{"gpu0->plx", "plx->cpu", "cpu->plx", "plx->gpu1"});
  CHECK(game.pair_class(0, 1) == "PIX");  // the wires are what they are
}
