// NCCL's topology XML to a node file.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "topology/importers/nccl_nvlink.hpp"
#include "topology/importers/sources.hpp"
#include "units/text.hpp"

namespace trainyard::topology::importers {
namespace {

constexpr std::string_view kPlane = "nvswitches";

/// Says once for many parts what was assumed of them.
class Tally {
 public:
  void add(const std::string& what, const std::string& part) { parts_[what].push_back(part); }
  void report(std::vector<std::string>& notes) const {
    for (const auto& [what, parts] : parts_) {
      notes.push_back(fmt::format("{}: {}", fmt::join(patterns_of(parts), " "), what));
    }
  }

 private:
  std::map<std::string, std::vector<std::string>> parts_{};
};

class NcclImporter {
 public:
  explicit NcclImporter(const Source& source)
      : source_{source}, root_{parse_xml(source.text, source.file)}, system_{flatten(root_)} {}

  NodeDraft import() {
    cap_generations();
    add_gpus();
    add_nvlinks();
    add_tree();
    add_sockets();
    tally_.report(source_.notes);
    source_.notes.insert(source_.notes.end(), system_.left_out.begin(), system_.left_out.end());
    return std::move(draft_);
  }

 private:
  /// Files of virtual machines hold made-up rates: a link cannot be faster than the CPU it ends at.
  void cap_generations() {
    for (auto* parts : {&system_.switches, &system_.gpus, &system_.nics}) {
      for (PciPart& part : *parts) {
        const int most = pcie_generation(cpu_of(part).model);
        if (part.on_cpu && most > 0 && part.generation > most) {
          tally_.add(
              fmt::format("link_speed is beyond the PCIe {} of the CPU, which was taken", most),
              part.name.empty() ? part.bus : part.name);
          part.generation = most;
        }
      }
    }
  }

  [[nodiscard]] const CpuPart& cpu_of(const PciPart& part) const {
    return system_.cpus[static_cast<std::size_t>(part.cpu)];
  }

  // ---- GPUs -----------------------------------------------------------------------------------

  void add_gpus() {
    for (const PciPart& gpu : system_.gpus) {
      const GpuKind& model = model_of(gpu);
      gpu_ = &model;
      draft_.devices.push_back({DeviceKind::gpu, gpu.name, model.name, "", gpu.bus});
      models_.push_back(&model);
    }
  }

  const GpuKind& model_of(const PciPart& gpu) {
    if (const GpuKind* chosen = source_.chosen_gpu(); chosen != nullptr) {
      return *chosen;
    }
    const std::string_view known =
        gpu_of_pci_id(gpu.element->text("vendor"), gpu.element->text("device"));
    if (!known.empty()) {
      return source_.catalog.gpu(known, gpu.element->place);
    }
    const auto [guess, reason] = guess_of(gpu);
    const GpuKind& model = source_.catalog.gpu(guess, gpu.element->place);
    tally_.add(fmt::format("took {} ({}); --gpu MODEL names another", model.name, reason),
               gpu.name);
    return model;
  }

  [[nodiscard]] std::pair<std::string_view, std::string> guess_of(const PciPart& gpu) const {
    const Element* const details = gpu.element->child("gpu");
    if (details != nullptr) {
      const auto sm = details->integer("sm", 0, 1000).value_or(0);
      const std::string_view model = gpu_of_capability(static_cast<int>(sm));
      if (!model.empty()) {
        return {model, fmt::format("the usual one of sm {}", sm)};
      }
    }
    const int generation = gpu.generation > 0 ? gpu.generation : pcie_generation(cpu_of(gpu).model);
    if (generation == 0) {
      gpu.element->fail("says nothing of the GPU's model: give --gpu MODEL");
    }
    return {gpu_of_pcie(generation), fmt::format("the usual one on PCIe {}", generation)};
  }

  // ---- NVLink ---------------------------------------------------------------------------------

  void add_nvlinks() {
    const NvlinkParts parts = find_nvlinks(system_);
    for (std::size_t i = 0; i < parts.switches.size(); ++i) {
      draft_.devices.push_back({DeviceKind::nvswitch, fmt::format("nvswitch{}", i), "",
                                std::string{kPlane}, parts.switches[i]});
    }
    add_nvlinks(parts.switched, true);
    add_nvlinks(parts.direct, false);
    add_nvlinks(parts.to_cpu, false);
    for (const NvlinkPart& part : parts.to_cpu) {
      on_nvlink_.insert(part.a);
    }
    source_.notes.insert(source_.notes.end(), parts.left_out.begin(), parts.left_out.end());
    if (parts.boards) {
      source_.notes.emplace_back(
          "the links between NVSwitches of different boards are not in the file: all were joined");
    }
    if (draft_.links.empty() && !gpu_->nvlink.empty()) {
      source_.notes.emplace_back(
          "no NVLink between GPUs is in the file (NCCL finds it at run time), so none was written: "
          "add [[link]] tables, or dump the file on the machine with NCCL_TOPO_DUMP_FILE");
    }
  }

  void add_nvlinks(const std::vector<NvlinkPart>& parts, bool to_switch) {
    // Links of one GPU by count: so those with like neighbours can share a table.
    auto sorted = parts;
    std::stable_sort(sorted.begin(), sorted.end(), [](const NvlinkPart& a, const NvlinkPart& b) {
      return a.a == b.a && a.count > b.count;
    });
    for (const NvlinkPart& part : sorted) {
      const GpuKind& model = model_named(part.a);
      const std::string kind = nvlink_kind(source_.catalog, model, to_switch);
      if (kind.empty()) {
        root_.fail(fmt::format("lists NVLinks of {}, but a {} has none: give --gpu MODEL", part.a,
                               model.name));
      }
      draft_.links.push_back({part.a, part.b, kind, part.count, std::nullopt});
    }
  }

  [[nodiscard]] const GpuKind& model_named(const std::string& gpu) const {
    for (std::size_t i = 0; i < models_.size(); ++i) {
      if (system_.gpus[i].name == gpu) {
        return *models_[i];
      }
    }
    return *models_[0];
  }

  // ---- PCIe -----------------------------------------------------------------------------------

  void add_tree() {
    for (const PciPart& part : system_.switches) {
      draft_.devices.push_back({DeviceKind::pcie_switch, part.name, "", "", part.bus});
    }
    for (const CpuPart& cpu : system_.cpus) {
      draft_.devices.push_back({DeviceKind::cpu, cpu.name, "", "", ""});
    }
    add_nics();
    for (const PciPart& gpu : system_.gpus) {
      if (!gpu.on_cpu || !on_nvlink_.contains(gpu.name)) {
        add_link(gpu, gpu.name, 1);
      }
    }
    draft_.links.insert(draft_.links.end(), nic_links_.begin(), nic_links_.end());
    for (const PciPart& part : system_.switches) {
      add_link(part, part.name, 1);
    }
  }

  void add_link(const PciPart& part, const std::string& name, int shares) {
    draft_.links.push_back(link_of(part, name, shares));
  }

  /// @param shares  ports of one card divide its link
  DraftLink link_of(const PciPart& part, const std::string& name, int shares) {
    int generation = part.generation;
    if (generation == 0) {
      generation = pcie_generation(*gpu_);
      const int most = pcie_generation(cpu_of(part).model);
      generation = part.on_cpu && most > 0 ? std::min(generation, most) : generation;
      tally_.add(
          fmt::format("link_speed or link_width is not stated, PCIe {} x16 was taken", generation),
          name);
    } else if (generation < 3) {
      tally_.add(fmt::format("PCIe {} as stated; a link that sleeps can look so", generation),
                 name);
    }
    HostLink link = pcie_link(source_.catalog, generation, part.generation == 0 ? 16 : part.lanes);
    if (shares > 1) {
      const auto whole = link.bandwidth
                             ? *link.bandwidth
                             : source_.catalog.link(link.kind, source_.whole()).bandwidth;
      link.bandwidth = whole / shares;
    }
    return {part.parent, name, link.kind, link.count, link.bandwidth};
  }

  // ---- NICs -----------------------------------------------------------------------------------

  struct Port {
    const PciPart* part = nullptr;
    const Element* net = nullptr;  ///< null: the file says nothing of the port
    int ports = 1;                 ///< of the card
  };

  [[nodiscard]] std::vector<Port> ports() const {
    std::vector<Port> all;
    for (const PciPart& part : system_.nics) {
      const Element* const nic = part.bus.empty() ? part.element : part.element->child("nic");
      const auto is_net = [](const Element& each) { return each.name == "net"; };
      const auto nets =
          nic == nullptr ? 0 : std::count_if(nic->children.begin(), nic->children.end(), is_net);
      if (nets == 0) {
        all.push_back({&part, nullptr, 1});
        continue;
      }
      for (const Element& net : nic->children) {
        if (is_net(net)) {
          all.push_back({&part, &net, static_cast<int>(nets)});
        }
      }
    }
    const bool numbered = std::all_of(all.begin(), all.end(), [](const Port& port) {
      return port.net != nullptr && port.net->integer("dev", 0, 100000).has_value();
    });
    if (numbered) {
      std::stable_sort(all.begin(), all.end(), [](const Port& a, const Port& b) {
        return *a.net->integer("dev", 0, 100000) < *b.net->integer("dev", 0, 100000);
      });
    }
    return all;
  }

  void add_nics() {
    std::set<std::string> names;
    for (const DraftDevice& device : draft_.devices) {
      names.insert(device.name);
    }
    int number = 0;
    for (const Port& port : ports()) {
      std::string name = port.net == nullptr ? "" : plain_name(port.net->text("name"));
      if (name.empty() || names.contains(name)) {
        name = fmt::format("nic{}", number);
      }
      if (!names.insert(name).second) {
        port.part->element->fail(fmt::format("\"{}\" is the name of two devices", name));
      }
      ++number;
      draft_.devices.push_back({DeviceKind::nic, name, cable_of(port, name), "", port.part->bus});
      nic_links_.push_back(link_of(*port.part, name, port.ports));
    }
  }

  std::string cable_of(const Port& port, const std::string& name) {
    if (!source_.options.nic.empty()) {
      return source_.options.nic;
    }
    const Element& element = *port.part->element;
    units::BytesPerSecond speed = nic_speed(element.text("vendor"), element.text("device"));
    const auto stated =
        port.net == nullptr ? 0 : port.net->integer("speed", -1, 10'000'000).value_or(0);
    if (stated > 0) {
      speed = units::BytesPerSecond{static_cast<double>(stated) * 1e6 / 8.0};
    }
    const bool is_known = speed.si() > 0.0;
    if (!is_known) {
      speed = nic_speed(*gpu_);
    }
    std::string kind = network_kind(source_.catalog, network_of(port), speed);
    const auto taken = source_.catalog.link(kind, source_.whole()).bandwidth;
    if (!is_known || std::abs(taken / speed - 1.0) > 0.01) {
      const std::string reason =
          is_known ? fmt::format("{:.0f} Gb/s is stated", speed.si() * 8e-9) : "no speed is stated";
      tally_.add(fmt::format("took {} ({}); --nic KIND names another", kind, reason), name);
    }
    return kind;
  }

  [[nodiscard]] static Network network_of(const Port& port) {
    const Element& element = *port.part->element;
    if (element.text("class").starts_with("0x0207")) {
      return Network::infiniband;
    }
    if (element.text("vendor") == "0x1d0f") {
      return Network::elastic_fabric;
    }
    const std::string name = port.net == nullptr ? "" : port.net->text("name");
    return name.starts_with("e") ? Network::tcp : Network::ethernet;  // eth0, ens5, enp3s0
  }

  // ---- Sockets --------------------------------------------------------------------------------

  void add_sockets() {
    const auto& cpus = system_.cpus;
    if (cpus.size() < 2) {
      return;
    }
    const CpuModel& model = cpus[0].model;
    const HostLink link =
        socket_link(source_.catalog, model.vendor.empty() ? usual_cpu(*gpu_) : model);
    for (std::size_t a = 0; a < cpus.size(); ++a) {
      for (std::size_t b = a + 1; b < cpus.size(); ++b) {
        draft_.links.push_back({cpus[a].name, cpus[b].name, link.kind, link.count, std::nullopt});
      }
    }
    source_.notes.push_back(fmt::format(
        "links between the {} NUMA nodes are not in the file: took {} x {} for each pair",
        cpus.size(), link.count, link.kind));
  }

  const Source& source_;
  Element root_;
  NcclSystem system_;
  NodeDraft draft_{};
  Tally tally_{};
  const GpuKind* gpu_ = nullptr;  ///< of the last GPU: what else is assumed goes by it
  std::vector<const GpuKind*> models_{};
  std::set<std::string> on_nvlink_{};  ///< GPUs whose way to the CPU is NVLink
  std::vector<DraftLink> nic_links_{};
};

}  // namespace

NodeDraft read_nccl_xml(const Source& source) {
  return NcclImporter{source}.import();
}

}  // namespace trainyard::topology::importers
