#include "topology/importers/nccl_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace trainyard::topology::importers {
namespace {

/// More sockets than any machine has; they are joined each with each.
constexpr std::size_t kMostCpus = 64;
constexpr std::size_t kMostGpus = 256;
constexpr std::size_t kMostParts = 1500;

enum class Class { gpu, nic, pcie_switch, nvswitch, other };

Class class_of(const Element& pci) {
  const std::string id = pci.text("class");
  if (pci.child("gpu") != nullptr || id.starts_with("0x03")) {
    return Class::gpu;
  }
  if (pci.child("nic") != nullptr || id.starts_with("0x02")) {
    return Class::nic;
  }
  if (id.empty()) {
    pci.fail("has no 'class', expected one such as \"0x030200\" (a GPU)");
  }
  if (id.starts_with("0x0604")) {
    return Class::pcie_switch;
  }
  return id.starts_with("0x0680") ? Class::nvswitch : Class::other;
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

class Flattener {
 public:
  NcclSystem flatten(const Element& root) {
    if (root.name != "system") {
      root.fail(root.name == "graphs" ? "is what NCCL_GRAPH_DUMP_FILE writes, expected <system>, "
                                        "which NCCL_TOPO_DUMP_FILE writes"
                                      : "expected <system>, the root of an NCCL topology");
    }
    for (const Element& child : root.children) {
      if (child.name == "cpu") {
        add_cpu(child);
      } else {
        leave_out(child);
      }
    }
    if (system_.gpus.empty()) {
      root.fail("has no GPU (a <pci> of class 0x03....)");
    }
    sort_gpus();
    std::stable_sort(system_.nics.begin(), system_.nics.end(),
                     [](const PciPart& a, const PciPart& b) { return a.bus < b.bus; });
    return std::move(system_);
  }

 private:
  void add_cpu(const Element& cpu) {
    const auto numa = cpu.integer("numaid", -1, 100000);
    CpuPart part{&cpu, fmt::format("numa{}", std::max<std::int64_t>(numa.value_or(0), 0)), {}};
    part.model.vendor = cpu.text("vendor");
    part.model.arch = cpu.text("arch");
    part.model.family = static_cast<int>(cpu.integer("familyid", 0, 100000).value_or(0));
    part.model.model = static_cast<int>(cpu.integer("modelid", 0, 100000).value_or(0));
    check_host(cpu);
    if (!cpus_.insert(part.name).second) {
      cpu.fail(fmt::format("is the second one of numaid {}", numa.value_or(0)));
    }
    if (system_.cpus.size() >= kMostCpus) {
      cpu.fail(fmt::format("is one of more than {}", kMostCpus));
    }
    system_.cpus.push_back(part);
    PciPart above;
    above.cpu = static_cast<int>(system_.cpus.size()) - 1;
    above.parent = part.name;
    above.on_cpu = true;
    add_children(cpu, above);
  }

  /// NCCL 2.20 and later can dump several hosts that one NVLink fabric joins.
  void check_host(const Element& cpu) {
    const std::string host = cpu.text("host_hash");
    if (!host.empty() && !host_.empty() && host != host_) {
      cpu.fail("is of a second host, expected one machine");
    }
    host_ = host.empty() ? host_ : host;
  }

  void add_children(const Element& element, const PciPart& above) {
    for (const Element& child : element.children) {
      if (child.name == "pci") {
        add_pci(child, above);
      } else if (child.name == "nic" && above.on_cpu) {
        PciPart part = above;
        part.element = &child;
        system_.nics.push_back(part);
      } else {
        leave_out(child);
      }
    }
  }

  void add_pci(const Element& pci, const PciPart& above) {
    PciPart part = above;
    part.element = &pci;
    part.bus = lower_case(pci.text("busid"));
    if (part.bus.empty()) {
      pci.fail("has no 'busid'");
    }
    if (!buses_.insert(part.bus).second) {
      pci.fail(fmt::format("has busid \"{}\", which another one has already", part.bus));
    }
    if (buses_.size() > kMostParts) {
      pci.fail(fmt::format("is one of more than {}", kMostParts));
    }
    read_link(pci, part);
    sort_in(pci, part);
  }

  void sort_in(const Element& pci, PciPart& part) {
    const Class kind = class_of(pci);
    if (kind != Class::pcie_switch && pci.child("pci") != nullptr) {
      pci.child("pci")->fail(
          fmt::format("is below a part of class {}: only a PCIe switch (0x0604..) has ports",
                      pci.text("class")));
    }
    if (kind == Class::pcie_switch) {
      part.name = fmt::format("switch{}", system_.switches.size());
      system_.switches.push_back(part);
      PciPart below = part;
      below.parent = part.name;
      below.on_cpu = false;
      add_children(pci, below);
    } else if (kind == Class::gpu) {
      if (system_.gpus.size() >= kMostGpus) {
        pci.fail(fmt::format("is one of more than {} GPUs", kMostGpus));
      }
      system_.gpus.push_back(part);
    } else if (kind == Class::nic) {
      system_.nics.push_back(part);
    } else if (kind == Class::other) {
      system_.left_out.push_back(fmt::format("{} of class {} was left out: no GPU, NIC or switch",
                                             part.bus, pci.text("class")));
    }
  }

  static void read_link(const Element& pci, PciPart& part) {
    const std::string speed = pci.text("link_speed");
    part.generation = pcie_generation(speed);
    if (part.generation == 0 && !speed.empty() && !speed.starts_with("Unknown")) {
      pci.fail(
          fmt::format(R"('link_speed' must be a rate of PCIe such as "16 GT/s", got "{}")", speed));
    }
    // 0, 63 and 255 are how drivers say that they do not know.
    const auto lanes = pci.integer("link_width", 0, 255).value_or(0);
    if (lanes == 0 || lanes == 63 || lanes == 255) {
      part.generation = 0;
    } else if (lanes > 32) {
      pci.fail(fmt::format("'link_width' must be at most 32 lanes, got {}", lanes));
    } else {
      part.lanes = static_cast<int>(lanes);
    }
  }

  void leave_out(const Element& element) {
    if (element.child("pci") != nullptr || element.child("cpu") != nullptr) {
      element.fail("is no element of an NCCL topology, and has parts below it");
    }
    system_.left_out.push_back(fmt::format("<{}> at line {} was left out: not understood",
                                           element.name, element.place.line));
  }

  [[nodiscard]] static std::int64_t device_of(const PciPart& gpu) {
    const Element* const details = gpu.element->child("gpu");
    return details == nullptr ? -1 : details->integer("dev", 0, 100000).value_or(-1);
  }

  /// CUDA numbers by bus id unless told otherwise; where the file has numbers, they count.
  void sort_gpus() {
    auto& gpus = system_.gpus;
    std::set<std::int64_t> numbers;
    for (const PciPart& gpu : gpus) {
      numbers.insert(device_of(gpu));
    }
    const bool numbered = numbers.size() == gpus.size() && *numbers.begin() >= 0;
    std::stable_sort(gpus.begin(), gpus.end(), [&](const PciPart& a, const PciPart& b) {
      return numbered ? device_of(a) < device_of(b) : a.bus < b.bus;
    });
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      gpus[i].name = fmt::format("gpu{}", i);
    }
  }

  NcclSystem system_{};
  std::set<std::string> buses_{};
  std::set<std::string> cpus_{};
  std::string host_{};
};

}  // namespace

NcclSystem flatten(const Element& root) {
  return Flattener{}.flatten(root);
}

}  // namespace trainyard::topology::importers
