#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/catalog.hpp"

namespace trainyard::topology::importers {

// From what a source says of a part to the kinds of our catalogue.

/// Of a GPU by its PCI vendor and device id ("0x10de", "0x20b0"); "" when it is none of ours.
/// @source The PCI ID Repository, pci-ids.ucw.cz, vendor 10de
[[nodiscard]] std::string_view gpu_of_pci_id(std::string_view vendor, std::string_view device);
/// The usual data centre GPU of a compute capability (80: A100); "" for others.
[[nodiscard]] std::string_view gpu_of_capability(int sm);
/// The SXM GPU that came with a generation of PCIe.
[[nodiscard]] std::string_view gpu_of_pcie(int generation);

/// Generation of PCIe that a GPU's architecture plugs into, 3 to 5.
[[nodiscard]] int pcie_generation(const GpuKind& gpu);
/// "16 GT/s" gives 4; 0 when it is empty or no rate of PCIe.
[[nodiscard]] int pcie_generation(std::string_view link_speed);

struct HostLink {
  std::string kind{};
  int count = 1;
  std::optional<units::BytesPerSecond> bandwidth{};  ///< where it differs from the kind's
};
/// @param generation  1 .. 6
/// @param lanes       1 .. 32
[[nodiscard]] HostLink pcie_link(const Catalog& catalog, int generation, int lanes);

/// What the cpu element of an NCCL file says.
struct CpuModel {
  std::string vendor{};
  std::string arch{};
  int family = 0;
  int model = 0;
};
/// Fastest PCIe of a CPU; 0 when the CPU is not known.
[[nodiscard]] int pcie_generation(const CpuModel& cpu);
/// The usual link between two sockets.
[[nodiscard]] HostLink socket_link(const Catalog& catalog, const CpuModel& cpu);
/// The usual CPU beside a GPU.
[[nodiscard]] CpuModel usual_cpu(const GpuKind& gpu);

/// NVLink of a GPU, to another GPU or into an NVSwitch; "" when the GPU has none.
[[nodiscard]] std::string nvlink_kind(const Catalog& catalog, const GpuKind& gpu, bool to_switch);

/// tcp: Ethernet without RDMA.
enum class Network { infiniband, ethernet, elastic_fabric, tcp };

/// The kind of that network nearest to a speed; another network's when that one has none near.
[[nodiscard]] std::string network_kind(const Catalog& catalog, Network network,
                                       units::BytesPerSecond speed);
/// Of a NIC by its PCI vendor and device id; 0 when it is not known.
/// @source The PCI ID Repository, vendors 15b3 and 1d0f
[[nodiscard]] units::BytesPerSecond nic_speed(std::string_view vendor, std::string_view device);
/// The usual NIC beside a GPU: 100 Gb/s up to Volta, 200 with Ampere, 400 from Hopper on.
[[nodiscard]] units::BytesPerSecond nic_speed(const GpuKind& gpu);

}  // namespace trainyard::topology::importers
