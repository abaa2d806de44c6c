#include <catch2/catch.hpp>

#include "topology/import_support.hpp"
#include "topology/importers/kinds.hpp"

using namespace trainyard;
using namespace trainyard::topology::importers;

namespace {

const topology::GpuKind& gpu(std::string_view name) {
  return test::full_catalog().gpu(name, {"test"});
}

constexpr units::BytesPerSecond gigabits(double rate) {
  return units::BytesPerSecond{rate * 1e9 / 8.0};
}

}  // namespace

TEST_CASE("PCI ids name GPUs that the catalogue has", "[import]") {
  CHECK(gpu_of_pci_id("0x10de", "0x20b0") == "a100-sxm4-40gb");
  CHECK(gpu_of_pci_id("0x10de", "0x20b2") == "a100-sxm4-80gb");
  CHECK(gpu_of_pci_id("0x10de", "0x2330") == "h100-sxm-80gb");
  CHECK(gpu_of_pci_id("0x10de", "0x1db8") == "v100-sxm3-32gb");
  CHECK(gpu_of_pci_id("0x10de", "0xffff") == "");
  CHECK(gpu_of_pci_id("0x1002", "0x20b0") == "");  // AMD's
}

TEST_CASE("every GPU that a source can suggest is in the catalogue", "[import]") {
  for (const int sm : {37, 60, 70, 75, 80, 86, 89, 90, 100}) {
    CAPTURE(sm);
    CHECK(test::full_catalog().find_gpu(gpu_of_capability(sm)) != nullptr);
  }
  for (const char* id : {"0x102d", "0x15f8", "0x15f9", "0x1bb3", "0x1db1", "0x1db5", "0x1db6",
                         "0x1db8", "0x1df6", "0x1d81", "0x1e02", "0x1e04", "0x1e07", "0x1eb8",
                         "0x20b0", "0x20b2", "0x20b5", "0x20b7", "0x20f1", "0x2235", "0x2236",
                         "0x2230", "0x2330", "0x2331", "0x2335", "0x26b9", "0x27b8", "0x2901"}) {
    CAPTURE(id);
    CHECK(test::full_catalog().find_gpu(gpu_of_pci_id("0x10de", id)) != nullptr);
  }
  CHECK(gpu_of_capability(35) == "");
  CHECK(gpu_of_pcie(3) == "v100-sxm2-32gb");
  CHECK(gpu_of_pcie(4) == "a100-sxm4-40gb");
  CHECK(gpu_of_pcie(5) == "h100-sxm-80gb");
}

TEST_CASE("link_speed texts name a generation of PCIe", "[import]") {
  CHECK(pcie_generation(std::string_view{"2.5 GT/s"}) == 1);
  CHECK(pcie_generation(std::string_view{"5.0 GT/s PCIe"}) == 2);
  CHECK(pcie_generation(std::string_view{"8 GT/s"}) == 3);
  CHECK(pcie_generation(std::string_view{"16.0 GT/s PCIe"}) == 4);
  CHECK(pcie_generation(std::string_view{"32 GT/s"}) == 5);
  CHECK(pcie_generation(std::string_view{"64.0 GT/s PCIe"}) == 6);
  for (const std::string_view wrong : {"", "16", "GT/s", "9 GT/s", "16 GB/s", "nan GT/s"}) {
    CAPTURE(wrong);
    CHECK(pcie_generation(wrong) == 0);
  }
}

TEST_CASE("PCIe kinds of the catalogue are taken, others state their rate", "[import]") {
  const auto& catalog = test::full_catalog();
  const HostLink x16 = pcie_link(catalog, 4, 16);
  CHECK(x16.kind == "pcie4-x16");
  CHECK_FALSE(x16.bandwidth);
  // 16 lanes of 5 GT/s with 8b/10b: 8 GB/s.
  const HostLink old = pcie_link(catalog, 2, 16);
  CHECK(old.kind == "pcie3-x16");
  CHECK(old.bandwidth->si() == Approx(8e9));
  // 4 lanes of 16 GT/s with 128b/130b: 7.877 GB/s; 63/64 of it as the catalogue counts.
  const HostLink narrow = pcie_link(catalog, 4, 4);
  CHECK(narrow.kind == "pcie4-x16");
  CHECK(narrow.bandwidth->si() == Approx(7.877e9).epsilon(0.001));
  const HostLink next = pcie_link(catalog, 6, 16);
  CHECK(next.kind == "pcie5-x16");
  CHECK(next.bandwidth->si() == Approx(121e9).epsilon(0.001));
}

TEST_CASE("CPUs tell their PCIe and the links between sockets", "[import]") {
  struct Row {
    CpuModel cpu;
    int pcie;
    const char* link;
  };
  const auto row = GENERATE(
      values<Row>({{{"GenuineIntel", "x86_64", 6, 79}, 3, "qpi"},
                   {{"GenuineIntel", "x86_64", 6, 85}, 3, "upi"},
                   {{"GenuineIntel", "x86_64", 6, 106}, 4, "upi-11"},
                   {{"GenuineIntel", "x86_64", 6, 143}, 5, "upi-16"},
                   {{"GenuineIntel", "x86_64", 6, 207}, 5, "upi-20"},
                   {{"AuthenticAMD", "x86_64", 23, 49}, 4, "xgmi2"},
                   {{"AuthenticAMD", "x86_64", 143, 49}, 4, "xgmi2"},  // the same, as NCCL writes
                   {{"AuthenticAMD", "x86_64", 175, 1}, 4, "xgmi2"},
                   {{"AuthenticAMD", "x86_64", 175, 17}, 5, "xgmi3"},
                   {{"GenuineIntel", "x86_64", 6, 1}, 0, "upi"},
                   {{"", "arm64", 0, 0}, 0, "grace-link"}}));
  CAPTURE(row.cpu.vendor, row.cpu.family, row.cpu.model);
  CHECK(pcie_generation(row.cpu) == row.pcie);
  CHECK(socket_link(test::full_catalog(), row.cpu).kind == row.link);
}

TEST_CASE("what is usual beside a GPU goes by its generation", "[import]") {
  CHECK(pcie_generation(gpu("v100-sxm2-32gb")) == 3);
  CHECK(pcie_generation(gpu("t4")) == 3);
  CHECK(pcie_generation(gpu("a100-sxm4-40gb")) == 4);
  CHECK(pcie_generation(gpu("h100-sxm-80gb")) == 5);
  CHECK(nic_speed(gpu("v100-sxm2-32gb")).si() == Approx(12.5e9));
  CHECK(nic_speed(gpu("a100-sxm4-40gb")).si() == Approx(25e9));
  CHECK(nic_speed(gpu("h100-sxm-80gb")).si() == Approx(50e9));
  CHECK(usual_cpu(gpu("p100-sxm2-16gb")).model == 79);
  CHECK(usual_cpu(gpu("v100-sxm2-32gb")).model == 85);
  CHECK(usual_cpu(gpu("a100-sxm4-40gb")).vendor == "AuthenticAMD");
  CHECK(usual_cpu(gpu("h100-sxm-80gb")).model == 143);
}

TEST_CASE("NVLink kinds differ by what is at the other end", "[import]") {
  const auto& catalog = test::full_catalog();
  CHECK(nvlink_kind(catalog, gpu("a100-sxm4-40gb"), false) == "nvlink3");
  CHECK(nvlink_kind(catalog, gpu("a100-sxm4-40gb"), true) == "nvlink3-nvswitch");
  CHECK(nvlink_kind(catalog, gpu("t4"), false) == "");
}

TEST_CASE("a network kind is near in speed and of the family if that has one", "[import]") {
  const auto& catalog = test::full_catalog();
  CHECK(network_kind(catalog, Network::infiniband, gigabits(100)) == "ib-edr");
  CHECK(network_kind(catalog, Network::infiniband, gigabits(200)) == "ib-hdr");
  CHECK(network_kind(catalog, Network::infiniband, gigabits(400)) == "ib-ndr");
  CHECK(network_kind(catalog, Network::ethernet, gigabits(180)) == "roce-200");
  CHECK(network_kind(catalog, Network::ethernet, gigabits(100)) == "roce-100");
  CHECK(network_kind(catalog, Network::elastic_fabric, gigabits(100)) == "efa-100");
  CHECK(network_kind(catalog, Network::tcp, gigabits(10)) == "eth-10");
  // InfiniBand has nothing of 25 Gb/s: another family's kind of that speed is nearer than EDR.
  const std::string other = network_kind(catalog, Network::infiniband, gigabits(25));
  CHECK(catalog.link(other, {"test"}).bandwidth.si() == Approx(3.125e9));
}

TEST_CASE("NICs are known by their PCI ids", "[import]") {
  CHECK(nic_speed("0x15b3", "0x101b").si() == Approx(25e9));    // ConnectX-6
  CHECK(nic_speed("0x15b3", "0x1021").si() == Approx(50e9));    // ConnectX-7
  CHECK(nic_speed("0x1d0f", "0xefa0").si() == Approx(12.5e9));  // EFA
  CHECK(nic_speed("0x8086", "0x101b").si() == 0.0);
}
