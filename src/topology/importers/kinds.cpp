#include "topology/importers/kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace trainyard::topology::importers {
namespace {

struct PciId {
  std::string_view device;
  std::string_view gpu;
};

constexpr std::array<PciId, 28> kGpus{{
    {"0x102d", "k80"},
    {"0x15f8", "p100-pcie-16gb"},
    {"0x15f9", "p100-sxm2-16gb"},
    {"0x1bb3", "p4"},
    {"0x1db1", "v100-sxm2-16gb"},
    {"0x1db5", "v100-sxm2-32gb"},
    {"0x1db6", "v100-pcie-32gb"},
    {"0x1db8", "v100-sxm3-32gb"},
    {"0x1df6", "v100s-pcie-32gb"},
    {"0x1d81", "titan-v"},
    {"0x1e02", "titan-rtx"},
    {"0x1e04", "rtx-2080-ti"},
    {"0x1e07", "rtx-2080-ti"},
    {"0x1eb8", "t4"},
    {"0x20b0", "a100-sxm4-40gb"},
    {"0x20b2", "a100-sxm4-80gb"},
    {"0x20b5", "a100-pcie-80gb"},
    {"0x20b7", "a30"},
    {"0x20f1", "a100-pcie-40gb"},
    {"0x2235", "a40"},
    {"0x2236", "a10"},
    {"0x2230", "rtx-a6000"},
    {"0x2330", "h100-sxm-80gb"},
    {"0x2331", "h100-pcie-80gb"},
    {"0x2335", "h200-sxm-141gb"},
    {"0x26b9", "l40s"},
    {"0x27b8", "l4"},
    {"0x2901", "b200-sxm-180gb"},
}};

/// Raw GB/s of one lane, by generation: 2.5, 5 (8b/10b), 8, 16, 32 GT/s (128b/130b), 64 GT/s
/// (flit).
constexpr std::array<double, 7> kLane{0.0, 0.25, 0.5, 0.984375, 1.96875, 3.9375, 7.5625};
constexpr std::array<double, 7> kTransfers{0.0, 2.5, 5.0, 8.0, 16.0, 32.0, 64.0};

bool has_link(const Catalog& catalog, std::string_view name) {
  return std::any_of(catalog.links().begin(), catalog.links().end(),
                     [&](const LinkKind& kind) { return kind.name == name; });
}

constexpr int kIntel = 6;  ///< CPU family
constexpr int kBroadwell = 79;
constexpr int kSkylake = 85;  ///< and Cascade Lake
constexpr int kIceLake = 106;
constexpr int kSapphire = 143;
constexpr int kEmerald = 207;

/// NCCL adds the base family (15) to 16 times the extended one (8: Zen, Zen 2; 10: Zen 3, Zen 4),
/// the vendor adds the two: 143 is 23, 175 is 25.
int amd_family(const CpuModel& cpu) {
  return cpu.family > 100 ? 15 + cpu.family / 16 : cpu.family;
}

bool is_genoa(const CpuModel& cpu) {
  return amd_family(cpu) > 25 || (amd_family(cpu) == 25 && cpu.model >= 16);
}

bool is_rome_or_milan(const CpuModel& cpu) {
  return (amd_family(cpu) == 23 && cpu.model >= 48) || (amd_family(cpu) == 25 && cpu.model < 16);
}

int intel_pcie(int model) {
  switch (model) {
    case kBroadwell:
    case kSkylake:
      return 3;
    case kIceLake:
      return 4;
    case kSapphire:
    case kEmerald:
      return 5;
    default:
      return 0;
  }
}

std::string_view prefix_of(Network network) {
  switch (network) {
    case Network::infiniband:
      return "ib-";
    case Network::elastic_fabric:
      return "efa-";
    case Network::tcp:
      return "eth-";
    case Network::ethernet:
      break;
  }
  return "roce-";
}

}  // namespace

std::string_view gpu_of_pci_id(std::string_view vendor, std::string_view device) {
  if (vendor != "0x10de") {
    return "";
  }
  const auto* const found = std::find_if(kGpus.begin(), kGpus.end(),
                                         [&](const PciId& id) { return id.device == device; });
  return found == kGpus.end() ? "" : found->gpu;
}

std::string_view gpu_of_capability(int sm) {
  switch (sm) {
    case 37:
      return "k80";
    case 60:
      return "p100-sxm2-16gb";
    case 70:
      return "v100-sxm2-32gb";
    case 75:
      return "t4";
    case 80:
      return "a100-sxm4-40gb";
    case 86:
      return "a40";
    case 89:
      return "l40s";
    case 90:
      return "h100-sxm-80gb";
    case 100:
      return "b200-sxm-180gb";
    default:
      return "";
  }
}

std::string_view gpu_of_pcie(int generation) {
  return generation <= 3 ? "v100-sxm2-32gb"
                         : (generation == 4 ? "a100-sxm4-40gb" : "h100-sxm-80gb");
}

int pcie_generation(const GpuKind& gpu) {
  if (gpu.architecture == "ampere" || gpu.architecture == "ada") {
    return 4;
  }
  return gpu.architecture == "hopper" || gpu.architecture == "blackwell" ? 5 : 3;
}

int pcie_generation(std::string_view link_speed) {
  double rate = 0.0;
  const char* const end = link_speed.data() + link_speed.size();
  const auto [rest, error] = std::from_chars(link_speed.data(), end, rate);
  if (error != std::errc{} ||
      !std::string_view{rest, static_cast<std::size_t>(end - rest)}.starts_with(" GT/s")) {
    return 0;
  }
  for (std::size_t i = 1; i < kTransfers.size(); ++i) {
    if (std::abs(rate - kTransfers[i]) < 0.01) {
      return static_cast<int>(i);
    }
  }
  return 0;
}

HostLink pcie_link(const Catalog& catalog, int generation, int lanes) {
  const auto g = static_cast<std::size_t>(generation);
  HostLink link{fmt::format("pcie{}-x{}", generation, lanes), 1, std::nullopt};
  if (has_link(catalog, link.kind)) {
    return link;
  }
  // The catalogue begins at the third generation and ends somewhere: the nearest kind lends its
  // latency and its share, the rate is stated.
  for (const int near : {generation, generation - 1, generation - 2, 3, 4}) {
    link.kind = fmt::format("pcie{}-x16", near);
    if (has_link(catalog, link.kind)) {
      break;
    }
  }
  link.bandwidth = units::BytesPerSecond{kLane.at(g) * 1e9 * lanes};
  return link;
}

int pcie_generation(const CpuModel& cpu) {
  if (cpu.vendor == "GenuineIntel" && cpu.family == kIntel) {
    return intel_pcie(cpu.model);
  }
  if (cpu.vendor == "AuthenticAMD") {
    return is_genoa(cpu) ? 5 : (is_rome_or_milan(cpu) ? 4 : 0);
  }
  return 0;
}

HostLink socket_link(const Catalog& catalog, const CpuModel& cpu) {
  HostLink link{"upi", 3, std::nullopt};
  if (cpu.vendor == "AuthenticAMD") {
    link.kind = is_genoa(cpu) && has_link(catalog, "xgmi3") ? "xgmi3" : "xgmi2";
  } else if (cpu.arch == "arm64" && has_link(catalog, "grace-link")) {
    link = {"grace-link", 1, std::nullopt};
  } else if (cpu.model == kBroadwell) {
    link = {"qpi", 2, std::nullopt};
  } else if (cpu.model == kIceLake && has_link(catalog, "upi-11")) {
    link.kind = "upi-11";
  } else if (cpu.model == kSapphire && has_link(catalog, "upi-16")) {
    link.kind = "upi-16";
  } else if (cpu.model == kEmerald && has_link(catalog, "upi-20")) {
    link.kind = "upi-20";
  }
  return link;
}

CpuModel usual_cpu(const GpuKind& gpu) {
  if (gpu.architecture == "ampere" || gpu.architecture == "ada") {
    return {"AuthenticAMD", "x86_64", 23, 49};
  }
  const int generation = pcie_generation(gpu);
  const bool old = gpu.architecture == "kepler" || gpu.architecture == "pascal";
  return {"GenuineIntel", "x86_64", kIntel,
          generation == 5 ? kSapphire : (old ? kBroadwell : kSkylake)};
}

std::string nvlink_kind(const Catalog& catalog, const GpuKind& gpu, bool to_switch) {
  const std::string through = gpu.nvlink + "-nvswitch";
  return to_switch && has_link(catalog, through) ? through : gpu.nvlink;
}

std::string network_kind(const Catalog& catalog, Network network, units::BytesPerSecond speed) {
  const std::string_view family = prefix_of(network);
  const LinkKind* best = nullptr;
  double best_rank = 0.0;
  for (const LinkKind& kind : catalog.links()) {
    if (kind.medium != Medium::network) {
      continue;
    }
    // Another family only where this one has nothing within a quarter.
    const double away = std::abs(std::log2(kind.bandwidth / speed));
    const double rank = away + (kind.name.starts_with(family) ? 0.0 : std::log2(1.25));
    if (best == nullptr || rank < best_rank - 1e-9) {
      best = &kind;
      best_rank = rank;
    }
  }
  return best == nullptr ? "" : best->name;
}

units::BytesPerSecond nic_speed(std::string_view vendor, std::string_view device) {
  struct Nic {
    std::string_view vendor;
    std::string_view device;
    double gigabits;
  };
  constexpr std::array<Nic, 10> kNics{{{"0x15b3", "0x1013", 100},
                                       {"0x15b3", "0x1015", 25},
                                       {"0x15b3", "0x1017", 100},
                                       {"0x15b3", "0x1019", 100},
                                       {"0x15b3", "0x101b", 200},
                                       {"0x15b3", "0x101d", 100},
                                       {"0x15b3", "0x1021", 400},
                                       {"0x1d0f", "0xefa0", 100},
                                       {"0x1d0f", "0xefa1", 100},
                                       {"0x1d0f", "0xefa2", 100}}};
  const auto* const found = std::find_if(kNics.begin(), kNics.end(), [&](const Nic& nic) {
    return nic.vendor == vendor && nic.device == device;
  });
  return units::BytesPerSecond{found == kNics.end() ? 0.0 : found->gigabits * 1e9 / 8.0};
}

units::BytesPerSecond nic_speed(const GpuKind& gpu) {
  const int generation = pcie_generation(gpu);
  return units::BytesPerSecond{(generation == 3 ? 100e9 : (generation == 4 ? 200e9 : 400e9)) / 8.0};
}

}  // namespace trainyard::topology::importers
