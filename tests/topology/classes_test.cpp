// Pair classes as `nvidia-smi topo -m` prints them.
#include <catch2/catch.hpp>

#include "topology/summary.hpp"
#include "topology/support.hpp"

using namespace trainyard;

namespace {

/// Two switches on two CPUs, GPU i and a NIC on each.
constexpr const char* kTwoSockets = R"(
name = "two-sockets"
[[gpu]]
name = "gpu{0..3}"
model = "card"
[[nic]]
name = "nic{0..1}"
link = "ib"
[[pcie_switch]]
name = "plx{0..1}"
[[cpu]]
name = "cpu{0..1}"
[[link]]
between = ["plx0", "gpu{0..1}"]
kind = "pci"
[[link]]
between = ["plx1", "gpu{2..3}"]
kind = "pci"
[[link]]
between = ["cpu0", "plx0"]
kind = "pci"
[[link]]
between = ["cpu1", "plx1"]
kind = "pci"
[[link]]
between = ["cpu0", "cpu1"]
kind = "qpi"
[[link]]
between = ["cpu0", "nic0"]
kind = "pci"
[[link]]
between = ["plx1", "nic1"]
kind = "pci"
)";

}  // namespace

TEST_CASE("classes follow what the PCIe path crosses", "[classes]") {
  const auto node = test::parse(kTwoSockets);
  CHECK(node.pair_class(0, 0) == "X");
  CHECK(node.pair_class(0, 1) == "PIX");
  CHECK(node.pair_class(0, 2) == "SYS");
  CHECK(topology::nic_class(node, 0, 0) == "PHB");
  CHECK(topology::nic_class(node, 2, 1) == "PIX");
  CHECK(topology::nic_class(node, 2, 0) == "SYS");
  CHECK(topology::nic_pair_class(node, 0, 0, 1) == "SYS");
  CHECK(topology::nic_pair_class(node, 0, 1, 1) == "X");
}

TEST_CASE("only a relay joins two GPUs without PCIe", "[classes]") {
  const auto node = test::parse(R"(
name = "chain"
[[gpu]]
name = "gpu{0..2}"
model = "card"
[[link]]
between = ["gpu1", "gpu{0,2}"]
kind = "nv"
)");
  CHECK(node.pair_class(0, 1) == "NV1");
  CHECK(node.pair_class(0, 2) == "NVB");
}

TEST_CASE("GPUs of different nodes are NET", "[classes]") {
  const auto two = topology::load_cluster("dgx-1-x2");
  CHECK(two.pair_class(0, 8) == "NET");
  CHECK(two.pair_class(8, 8) == "X");
  CHECK(two.pair_class(8, 11) == "NV2");
}

TEST_CASE("DGX-1: NV1, NV2 or SYS between GPUs, a NIC on each PCIe switch", "[classes]") {
  const auto dgx = topology::load_cluster("dgx-1-v100");
  CHECK(dgx.pair_class(0, 1) == "NV1");
  CHECK(dgx.pair_class(0, 3) == "NV2");
  CHECK(dgx.pair_class(0, 7) == "SYS");
  for (int gpu = 0; gpu < 8; ++gpu) {
    for (int nic = 0; nic < 4; ++nic) {
      // Two GPUs and a NIC on each switch, two switches on each socket.
      const char* expected = nic == gpu / 2 ? "PIX" : (nic / 2 == gpu / 4 ? "PHB" : "SYS");
      CHECK(topology::nic_class(dgx, gpu, nic) == expected);
    }
  }
}

TEST_CASE("DGX-2: all NV6; PIX, PXB, NODE and SYS to the NICs", "[classes]") {
  // NVIDIA/nccl-tests issue 78: GPU0,1 PIX to mlx5_0 and PXB to mlx5_1, GPU2,3 the reverse; NODE
  // to the other group of the socket.
  const auto dgx = topology::load_cluster("dgx-2");
  for (int gpu = 0; gpu < 16; ++gpu) {
    for (int other = 0; other < 16; ++other) {
      CHECK(dgx.pair_class(gpu, other) == (gpu == other ? "X" : "NV6"));
    }
    for (int nic = 0; nic < 8; ++nic) {
      const char* expected = nic == gpu / 2       ? "PIX"
                             : nic / 2 == gpu / 4 ? "PXB"
                             : nic / 4 == gpu / 8 ? "NODE"
                                                  : "SYS";
      CHECK(topology::nic_class(dgx, gpu, nic) == expected);
    }
  }
}

TEST_CASE("DGX A100: all NV12; PXB to both NICs of the group, else SYS", "[classes]") {
  // NVIDIA/nccl issue 1505.
  const auto dgx = topology::load_cluster("dgx-a100-40gb");
  for (int gpu = 0; gpu < 8; ++gpu) {
    for (int other = 0; other < 8; ++other) {
      CHECK(dgx.pair_class(gpu, other) == (gpu == other ? "X" : "NV12"));
      CHECK(topology::nic_class(dgx, gpu, other) == (gpu / 2 == other / 2 ? "PXB" : "SYS"));
    }
  }
}
