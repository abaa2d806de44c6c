// Every node file that ships, against hardware-facts and the vendors' tables.
#include <catch2/catch.hpp>
#include <numeric>
#include <set>

#include "input/files.hpp"
#include "topology/cluster_implementation.hpp"
#include "topology/summary.hpp"
#include "topology/support.hpp"

using namespace trainyard;
using topology::Cluster;
using topology::GpuId;

namespace {

struct Machine {
  const char* name;
  int gpus;
  const char* gpu;
  int nvlinks;       ///< a GPU, in use
  int nics;          ///< a node, for compute
  double nic_gbits;  ///< all of them
  int hosts_tib;     ///< host memory, rounded down; -1: not stated
};

/// @source hardware-facts 1.2 to 1.9 and 2.3; GPU models by the vendor's name of the machine
const std::vector<Machine> kMachines{
    {"dgx-1-p100", 8, "p100-sxm2-16gb", 4, 4, 400, 0},
    {"dgx-1-v100", 8, "v100-sxm2-32gb", 6, 4, 400, 0},
    {"dgx-2", 16, "v100-sxm3-32gb", 6, 8, 800, 1},
    {"dgx-2h", 16, "v100-sxm3-32gb", 6, 8, 800, 1},
    {"dgx-a100-40gb", 8, "a100-sxm4-40gb", 12, 8, 1600, 0},
    {"dgx-a100-80gb", 8, "a100-sxm4-80gb", 12, 8, 1600, 1},
    {"dgx-h100", 8, "h100-sxm-80gb", 18, 8, 3200, 1},
    {"dgx-h200", 8, "h200-sxm-141gb", 18, 8, 3200, 1},
    {"dgx-b200", 8, "b200-sxm-180gb", 18, 8, 3200, 1},
    {"hgx-h20", 8, "h20-sxm-96gb", 18, 8, 3200, -1},
    {"dgx-station-v100", 4, "v100-sxm2-32gb", 4, 2, 20, 0},
    {"dgx-station-a100", 4, "a100-sxm4-80gb", 12, 2, 20, 0},
    {"azure-ndv2", 8, "v100-sxm2-32gb", 6, 1, 100, 0},
    {"azure-ndv4", 8, "a100-sxm4-40gb", 12, 8, 1600, 0},
    {"azure-ndv5", 8, "h100-sxm-80gb", 18, 8, 3200, 1},
    {"aws-p3-16xlarge", 8, "v100-sxm2-16gb", 6, 1, 25, 0},
    {"aws-p3dn", 8, "v100-sxm2-32gb", 6, 1, 100, 0},
    {"aws-p4d", 8, "a100-sxm4-40gb", 12, 4, 400, 1},
    {"aws-p4de", 8, "a100-sxm4-80gb", 12, 4, 400, 1},
    {"aws-p5", 8, "h100-sxm-80gb", 18, 32, 3200, 1},
    {"aws-g4dn-12xlarge", 4, "t4", 0, 1, 50, 0},
    {"gcp-a3-high", 8, "h100-sxm-80gb", 18, 4, 800, 1},
    {"gcp-a3-mega", 8, "h100-sxm-80gb", 18, 8, 1600, 1},
    {"gcp-a3-ultra", 8, "h200-sxm-141gb", 18, 8, 3200, 2},
    {"gcp-a4", 8, "b200-sxm-180gb", 18, 8, 3200, 3},
    {"oci-gpu4", 8, "a100-sxm4-40gb", 12, 16, 1600, 1},
    {"oci-h100", 8, "h100-sxm-80gb", 18, 16, 3200, 1},
    {"abci-a100", 8, "a100-sxm4-40gb", 12, 4, 800, 0},
    {"gh200-quad", 4, "gh200", 18, 4, 800, 0},
    {"gb200-nvl72", 72, "gb200", 18, 72, 28800, 15},
    {"titan-v", 1, "titan-v", 0, 1, 10, -1},
    {"titan-v-ceo", 1, "titan-v-ceo", 0, 1, 10, -1},
    {"titan-rtx-x2", 2, "titan-rtx", 0, 1, 10, -1},
    {"titan-rtx-x2-nvlink", 2, "titan-rtx", 2, 1, 10, -1},
    {"rtx-2080ti-x2", 2, "rtx-2080-ti", 0, 1, 10, -1},
    {"rtx-2080ti-x2-nvlink", 2, "rtx-2080-ti", 2, 1, 10, -1},
    {"rtx-2080ti-x8", 8, "rtx-2080-ti", 0, 1, 10, -1},
    {"rtx-5090-x4", 4, "rtx-5090", 0, 1, 10, -1},
    {"k80-x4", 8, "k80-device", 0, 1, 100, -1},
    {"p100-pcie-x4", 4, "p100-pcie-16gb", 0, 1, 100, -1},
    {"v100-pcie-x4", 4, "v100-pcie-32gb", 0, 1, 100, -1},
    {"v100-sxm2-x4", 4, "v100-sxm2-16gb", 6, 1, 100, -1},
    {"h100-pcie-x2-nvlink", 2, "h100-pcie-80gb", 12, 1, 400, -1},
    {"t4-x4", 4, "t4", 0, 1, 10, -1},
    {"tpu-v2-board", 4, "tpu-v2", 2, 8, 8 * 496, -1},
    {"tpu-v3-board", 4, "tpu-v3", 2, 8, 8 * 656, -1},
    {"tpu-v2-chip", 1, "tpu-v2", 0, 4, 4 * 496, -1},
    {"tpu-v3-chip", 1, "tpu-v3", 0, 4, 4 * 656, -1},
};

/// NVLinks at a GPU: direct ones to other GPUs, and those into its plane of switches.
int nvlinks_of(const Cluster& node, GpuId gpu) {
  int links = 0;
  if (const auto port = node.nvswitch_port(gpu, true)) {
    links += node.link(*port).count;
  }
  for (GpuId other = 0; other < node.gpus(); ++other) {
    const auto link = gpu == other ? std::nullopt : node.nvlink(gpu, other);
    links += link ? node.link(*link).count : 0;
  }
  return links;
}

const topology::NodeType& type_of(const Cluster& cluster) {
  return *cluster.implementation().node(0).type;
}

}  // namespace

TEST_CASE("every node file that ships is in the table of machines", "[node-files]") {
  std::set<std::string> known;
  for (const Machine& machine : kMachines) {
    known.insert(machine.name);
  }
  for (const std::string& name : input::shipped_names("topologies/nodes", ".toml")) {
    CAPTURE(name);
    CHECK(known.count(name) == 1);
  }
}

TEST_CASE("machines have the GPUs, NVLinks and NICs that are known of them", "[node-files]") {
  for (const Machine& machine : kMachines) {
    CAPTURE(machine.name);
    const auto two = topology::load_cluster(machine.name, {2, {}});
    REQUIRE(two.gpus() == 2 * machine.gpus);
    double gbits = 0.0;
    REQUIRE(two.nics(0).size() == static_cast<std::size_t>(machine.nics));
    for (const auto& nic : two.nics(0)) {
      gbits += two.link(nic.to_fabric).raw.si() * 8 / 1e9;
    }
    CHECK(gbits == Approx(machine.nic_gbits));
    const auto node = topology::load_cluster(machine.name);
    for (GpuId gpu = 0; gpu < node.gpus(); ++gpu) {
      CHECK(node.gpu_kind(gpu).name == machine.gpu);
      CHECK(nvlinks_of(node, gpu) == machine.nvlinks);
    }
  }
}

TEST_CASE("hosts have the memory that is known of them", "[node-files]") {
  for (const Machine& machine : kMachines) {
    CAPTURE(machine.name);
    double memory = 0.0;
    for (const auto& device : type_of(topology::load_cluster(machine.name)).devices()) {
      memory += device.memory.si();
      CHECK((device.cores == 0 || device.kind == topology::DeviceKind::cpu));
    }
    // 2 TB is less than 2 TiB.
    CHECK(static_cast<int>(memory / 1099511627776.0) == std::max(machine.hosts_tib, 0));
    CHECK((memory > 0.0) == (machine.hosts_tib >= 0));
  }
}

TEST_CASE("every GPU reaches every other and every NIC, at home and away", "[node-files]") {
  for (const Machine& machine : kMachines) {
    CAPTURE(machine.name);
    const auto two = topology::load_cluster(machine.name, {2, {}});
    const GpuId last = two.gpus() - 1;
    for (GpuId gpu = 0; gpu < machine.gpus; ++gpu) {
      CHECK((gpu == 0) == two.path(0, gpu).links.empty());
      CHECK(test::is_walk(two, two.path(gpu, last), two.gpu_name(gpu), two.gpu_name(last)));
      CHECK(test::is_walk(two, two.path(last, gpu), two.gpu_name(last), two.gpu_name(gpu)));
      for (int nic = 0; nic < machine.nics; ++nic) {
        CHECK_FALSE(two.gpu_to_nic(gpu, nic).links.empty());
      }
    }
  }
}

TEST_CASE("GPUs that share several NICs take turns over all of them", "[node-files]") {
  // Two GPUs and four ports a switch: the second GPU starts in the middle.
  const auto node = topology::load_cluster("oci-gpu4");
  const std::vector<int> expected{0, 2, 4, 6, 8, 10, 12, 14};
  for (GpuId gpu = 0; gpu < 8; ++gpu) {
    CHECK(node.nic_of(gpu) == expected[static_cast<std::size_t>(gpu)]);
  }
}

TEST_CASE("machines load with fewer NICs too", "[node-files]") {
  for (const Machine& machine : kMachines) {
    CAPTURE(machine.name);
    const auto two = topology::load_cluster(machine.name, {2, 1});
    CHECK(two.nics(1).size() == 1);
    for (GpuId gpu = 0; gpu < machine.gpus; ++gpu) {
      CHECK(two.nic_of(gpu) == 0);
      CHECK_FALSE(two.path(gpu, two.gpus() - 1).links.empty());
    }
  }
}

TEST_CASE("pairs of GPUs have the class that nvidia-smi shows", "[node-files]") {
  const auto [name, a, b, expected] = GENERATE(table<const char*, int, int, const char*>({
      {"dgx-1-p100", 0, 3, "NV1"},        // quads are full
      {"dgx-1-p100", 1, 5, "NV1"},        // i to i + 4
      {"dgx-1-p100", 0, 5, "SYS"},        //
      {"dgx-2", 0, 15, "NV6"},            // NVIDIA/nccl-tests issue 78
      {"dgx-2h", 0, 15, "NV6"},           //
      {"dgx-a100-40gb", 0, 7, "NV12"},    // NVIDIA/nccl issue 1505
      {"dgx-a100-80gb", 0, 7, "NV12"},    //
      {"azure-ndv4", 0, 7, "NV12"},       //
      {"aws-p4d", 0, 7, "NV12"},          //
      {"dgx-h100", 0, 7, "NV18"},         // oci-hpc H100-topology.xml
      {"dgx-b200", 0, 7, "NV18"},         //
      {"gb200-nvl72", 0, 71, "NV18"},     //
      {"gh200-quad", 0, 3, "NV6"},        // public nccl-tests run
      {"dgx-station-v100", 0, 1, "NV1"},  // 1 + 1 + 2
      {"dgx-station-v100", 0, 2, "NV1"},  //
      {"dgx-station-v100", 0, 3, "NV2"},  //
      {"dgx-station-v100", 1, 2, "NV2"},  //
      {"dgx-station-a100", 1, 3, "NV4"},  //
      {"v100-sxm2-x4", 0, 3, "NV2"},      // NVIDIA/nccl-tests issue 68
      {"azure-ndv2", 0, 3, "NV2"},        // the DGX-1's mesh
      {"azure-ndv2", 0, 7, "SYS"},        //
      {"titan-rtx-x2-nvlink", 0, 1, "NV2"},
      {"rtx-2080ti-x2-nvlink", 0, 1, "NV2"},
      {"h100-pcie-x2-nvlink", 0, 1, "NV12"},
      {"titan-rtx-x2", 0, 1, "PHB"},
      {"rtx-2080ti-x2", 0, 1, "PHB"},
      {"rtx-5090-x4", 0, 3, "PHB"},
      {"t4-x4", 0, 3, "PHB"},
      {"p100-pcie-x4", 0, 1, "PHB"},
      {"p100-pcie-x4", 1, 2, "SYS"},
      {"k80-x4", 0, 1, "PIX"},  // devices of a card share its switch
      {"k80-x4", 0, 2, "PHB"},
      {"k80-x4", 3, 4, "SYS"},
      {"rtx-2080ti-x8", 0, 1, "PIX"},
      {"rtx-2080ti-x8", 0, 2, "NODE"},
      {"rtx-2080ti-x8", 0, 4, "SYS"},
  }));
  CAPTURE(name, a, b);
  const auto node = topology::load_cluster(name);
  CHECK(node.pair_class(a, b) == expected);
  CHECK(node.pair_class(b, a) == expected);
}

TEST_CASE("GPUs have the NIC that hardware puts beside them", "[node-files]") {
  const auto [name, gpu, nic, expected] = GENERATE(table<const char*, int, int, const char*>({
      {"aws-p4d", 5, 2, "PIX"},      // aws-ofi-nccl: two GPUs and one EFA a switch
      {"azure-ndv4", 2, 2, "PIX"},   // azhpc-images: two of each a switch
      {"azure-ndv5", 3, 3, "PIX"},   // one of each
      {"aws-p5", 1, 4, "PIX"},       // four EFA a GPU
      {"oci-gpu4", 1, 2, "PIX"},     //
      {"oci-h100", 1, 2, "PXB"},     // oci-hpc: leaves of GPU and NIC under one parent
      {"gcp-a3-mega", 1, 1, "PIX"},  //
      {"gcp-a3-high", 1, 0, "PIX"},  //
      {"gh200-quad", 2, 2, "PHB"},   // by C2C and Grace
      {"gb200-nvl72", 71, 71, "PHB"},
      {"azure-ndv2", 4, 0, "SYS"},  // the one NIC is on the first socket
  }));
  CAPTURE(name, gpu, nic);
  const auto node = topology::load_cluster(name);
  CHECK(node.nic_of(gpu) == nic);
  CHECK(topology::nic_class(node, gpu, nic) == expected);
}

TEST_CASE("the quads of a DGX-1 with P100 are joined by four links, 80 GB/s", "[node-files]") {
  const auto node = topology::load_cluster("dgx-1-p100");
  double cut = 0.0;
  for (GpuId a = 0; a < 4; ++a) {
    for (GpuId b = 4; b < 8; ++b) {
      const auto link = node.nvlink(a, b);
      cut += link ? node.link(*link).raw.si() : 0.0;
    }
  }
  CHECK(cut == Approx(80e9));
}

TEST_CASE("NVLink's rate of a GPU is the vendor's, per direction", "[node-files]") {
  const auto [name, gb_per_s] = GENERATE(table<const char*, double>({
      {"dgx-2", 150},
      {"aws-p4de", 300},
      {"dgx-h100", 450},
      {"hgx-h20", 450},
      {"dgx-b200", 900},
      {"gb200-nvl72", 900},
  }));
  CAPTURE(name);
  const auto node = topology::load_cluster(name);
  CHECK(node.link(*node.nvswitch_port(0, true)).raw.si() == Approx(gb_per_s * 1e9));
}

TEST_CASE("two GPUs of a p4d share a NIC and a PCIe 3 way to the CPU", "[node-files]") {
  const auto p4d = topology::load_cluster("aws-p4d");
  const auto up = p4d.link(test::link_named(p4d, "plx0->cpu0"));
  CHECK(up.raw.si() == Approx(15.75e9));  // PCIe 3: 8 GT/s x16
  CHECK(up.shareable);
  CHECK(p4d.nic_of(0) == p4d.nic_of(1));
}

TEST_CASE("a rack's GPU sends over NVLink to the NIC of the destination's rail", "[node-files]") {
  const auto racks = topology::load_cluster("gb200-nvl72", {2, {}});
  const auto path = test::names_of(racks, racks.path(0, 72 + 71));
  REQUIRE(path.size() >= 4);
  CHECK(path[0] == "node0/gpu0->nvswitches");
  CHECK(path[1] == "node0/nvswitches->gpu71");
  CHECK(path[2] == "node0/gpu71->grace35");
  CHECK(path[3] == "node0/grace35->mlx5_71");
  CHECK(topology::nic_class(racks, 0, 71) == "PXN");
  CHECK(topology::nic_class(racks, 0, 3) == "SYS");  // the tray's other Grace
  CHECK(topology::nic_pair_class(racks, 0, 0, 71) == "NET");
}

TEST_CASE("a GB200 shares its superchip's 450 GB/s with its neighbour", "[node-files]") {
  const auto rack = topology::load_cluster("gb200-nvl72");
  CHECK(rack.link(test::link_named(rack, "grace7->gpu14")).raw.si() == Approx(225e9));
  const auto blade = topology::load_cluster("gh200-quad");
  CHECK(blade.link(test::link_named(blade, "grace3->gpu3")).raw.si() == Approx(450e9));
}

TEST_CASE("a TPU board is a 2 x 2 piece of a torus, four links a chip", "[node-files]") {
  const auto [name, rate] =
      GENERATE(table<const char*, double>({{"tpu-v2-board", 62e9}, {"tpu-v3-board", 82e9}}));
  const auto board = topology::load_cluster(name);
  for (const auto& [a, b] : {std::pair{0, 1}, {2, 3}, {0, 2}, {1, 3}}) {
    REQUIRE(board.nvlink(a, b).has_value());
    CHECK(board.link(*board.nvlink(a, b)).raw.si() == Approx(rate));
  }
  CHECK_FALSE(board.nvlink(0, 3).has_value());
  for (GpuId chip = 0; chip < 4; ++chip) {
    int own = 0;
    for (int nic = 0; nic < 8; ++nic) {
      own += board.gpu_to_nic(chip, nic).links.size() == 1 ? 1 : 0;
    }
    CHECK(own == 2);
  }
}

TEST_CASE("cards without peer access copy through their CPU", "[node-files]") {
  using Names = std::vector<std::string>;
  const auto eight = topology::load_cluster("rtx-2080ti-x8");
  CHECK(test::names_of(eight, eight.path(0, 1)) == Names{"gpu0->plx0", "plx0->root0", "root0->cpu0",
                                                         "cpu0->root0", "root0->plx0",
                                                         "plx0->gpu1"});
  const auto k80 = topology::load_cluster("k80-x4");
  CHECK(test::names_of(k80, k80.path(0, 1)) == Names{"gpu0->card0", "card0->gpu1"});
  const auto bridged = topology::load_cluster("titan-rtx-x2-nvlink");
  CHECK(test::names_of(bridged, bridged.path(0, 1)) == Names{"gpu0->gpu1"});
}

TEST_CASE("clusters of machines are warned of for their licence only", "[node-files]") {
  for (const Machine& machine : kMachines) {
    CAPTURE(machine.name);
    const auto two = topology::load_cluster(machine.name, {2, {}});
    const auto found = topology::warnings_of(two);
    CHECK(found.size() == (two.gpu_kind(0).data_center ? 0 : 1));
  }
}

TEST_CASE("a cluster of consumer cards is warned of at the line of the GPU", "[node-files]") {
  const auto alone = topology::load_cluster("titan-rtx-x2");
  CHECK(topology::warnings_of(alone).empty());
  const auto found = topology::warnings_of(topology::load_cluster("titan-rtx-x2", {4, {}}));
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0], Catch::Contains("titan-rtx-x2.toml:6:8: titan-rtx-x2: titan-rtx is a "
                                       "consumer card"));
}
