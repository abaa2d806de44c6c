// The smallest PCIe tree whose pairs have the classes of an `nvidia-smi topo -m` matrix.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "topology/importers/kinds.hpp"
#include "topology/importers/smi_matrix.hpp"
#include "topology/importers/sources.hpp"

namespace trainyard::topology::importers {
namespace {

constexpr std::array<Nearness, 4> kLevels{Nearness::pix, Nearness::pxb, Nearness::phb,
                                          Nearness::node};

/// Devices nearer than a level form groups, which each next level joins. group[i] is the least
/// device of i's group.
class Groups {
 public:
  explicit Groups(int devices) : least_(static_cast<std::size_t>(devices)) {
    std::iota(least_.begin(), least_.end(), 0);
  }
  [[nodiscard]] int of(int device) const { return least_[static_cast<std::size_t>(device)]; }
  void join(int a, int b) {
    const int low = std::min(of(a), of(b));
    const int high = std::max(of(a), of(b));
    std::replace(least_.begin(), least_.end(), high, low);
  }

 private:
  std::vector<int> least_;
};

class TreeBuilder {
 public:
  explicit TreeBuilder(const Source& source)
      : source_{source},
        matrix_{parse_smi_matrix(source.text, source.file)},
        gpu_{chosen_gpu()},
        levels_(kLevels.size(), Groups{matrix_.size()}) {}

  NodeDraft build() {
    group();
    check_classes();
    add_devices();
    add_nvlinks();
    add_tree();
    add_sockets();
    source_.notes.push_back(fmt::format(
        "rates of PCIe, NICs and sockets are not in the matrix: took what is usual beside a {}",
        gpu_.name));
    return std::move(draft_);
  }

 private:
  [[nodiscard]] const GpuKind& chosen_gpu() const {
    if (source_.chosen_gpu() == nullptr) {
      throw input::InputError{source_.whole(), "does not name the GPUs' model: give --gpu MODEL"};
    }
    return *source_.chosen_gpu();
  }

  [[nodiscard]] const Groups& groups(Nearness level) const {
    return levels_[static_cast<std::size_t>(level) - static_cast<std::size_t>(Nearness::pix)];
  }

  // ---- Groups ---------------------------------------------------------------------------------

  void group() {
    for (std::size_t level = 0; level < kLevels.size(); ++level) {
      if (level > 0) {
        levels_[level] = levels_[level - 1];
      }
      for (int a = 0; a < matrix_.size(); ++a) {
        for (int b = 0; b < a; ++b) {
          if (matrix_.at(a, b).nearness == kLevels[level]) {
            levels_[level].join(a, b);
          }
        }
      }
    }
    join_by_affinity();
  }

  /// NVLink hides how near two GPUs are on PCIe. Those on the same CPUs share a socket, unless the
  /// matrix says of others in their groups that they do not.
  void join_by_affinity() {
    Groups& sockets = levels_.back();
    for (int a = 0; a < matrix_.gpus; ++a) {
      for (int b = 0; b < a; ++b) {
        if (sockets.of(a) != sockets.of(b) && same_affinity(a, b) && may_share_socket(a, b)) {
          sockets.join(a, b);
          is_guess_ = true;
        }
      }
    }
  }

  [[nodiscard]] bool same_affinity(int a, int b) const {
    const std::string& cpus = matrix_.affinity[static_cast<std::size_t>(a)];
    return cpus == matrix_.affinity[static_cast<std::size_t>(b)];
  }

  [[nodiscard]] bool may_share_socket(int a, int b) const {
    const Groups& sockets = levels_.back();
    for (int i = 0; i < matrix_.size(); ++i) {
      for (int j = 0; j < matrix_.size(); ++j) {
        if (sockets.of(i) == sockets.of(a) && sockets.of(j) == sockets.of(b) &&
            matrix_.at(i, j).nearness == Nearness::sys) {
          return false;
        }
      }
    }
    return true;
  }

  [[nodiscard]] Nearness found(int a, int b) const {
    for (const Nearness level : kLevels) {
      if (groups(level).of(a) == groups(level).of(b)) {
        return level;
      }
    }
    return Nearness::sys;
  }

  void check_classes() const {
    for (int a = 0; a < matrix_.size(); ++a) {
      for (int b = 0; b < a; ++b) {
        const SmiCell& cell = matrix_.at(a, b);
        if (cell.nearness != Nearness::nvlink && cell.nearness != found(a, b)) {
          throw input::InputError{
              cell.place,
              fmt::format("{} to {} is {}, but the classes of other devices make it {}: no PCIe "
                          "tree has both",
                          name(a), name(b), class_text(cell), class_text({found(a, b), 0, {}}))};
        }
      }
    }
  }

  // ---- Devices and NVLink ---------------------------------------------------------------------

  [[nodiscard]] const std::string& name(int device) const {
    return matrix_.names[static_cast<std::size_t>(device)];
  }

  void add_devices() {
    const Network network = nic_network();
    const std::string cable = source_.options.nic.empty()
                                  ? network_kind(source_.catalog, network, nic_speed(gpu_))
                                  : source_.options.nic;
    for (int i = 0; i < matrix_.size(); ++i) {
      const bool is_gpu = i < matrix_.gpus;
      draft_.devices.push_back({is_gpu ? DeviceKind::gpu : DeviceKind::nic, name(i),
                                is_gpu ? gpu_.name : cable, "", ""});
    }
    if (is_guess_) {
      source_.notes.emplace_back(
          "NVLink hides the PCIe between some GPUs: those with the same CPUs were put on root "
          "ports of one socket");
    }
  }

  /// Elastic Fabric Adapters have names of their own; mlx5 can be either, InfiniBand is usual.
  [[nodiscard]] Network nic_network() const {
    const bool is_efa = std::any_of(
        matrix_.names.begin(), matrix_.names.end(),
        [](const auto& each) { return each.starts_with("rdmap") || each.starts_with("efa"); });
    return is_efa ? Network::elastic_fabric : Network::infiniband;
  }

  void add_nvlinks() {
    Groups islands{matrix_.gpus};
    for (int a = 0; a < matrix_.gpus; ++a) {
      for (int b = 0; b < a; ++b) {
        if (matrix_.at(a, b).nvlinks > 0) {
          islands.join(a, b);
        }
      }
    }
    int planes = 0;
    for (int first = 0; first < matrix_.gpus; ++first) {
      if (islands.of(first) == first) {
        add_island(members(islands, first, matrix_.gpus), planes);
      }
    }
  }

  [[nodiscard]] static std::vector<int> members(const Groups& groups, int least, int devices) {
    std::vector<int> all;
    for (int i = 0; i < devices; ++i) {
      if (groups.of(i) == least) {
        all.push_back(i);
      }
    }
    return all;
  }

  /// More links in the matrix than a GPU has: each row counts the same links into the NVSwitches.
  void add_island(const std::vector<int>& gpus, int& planes) {
    bool switched = false;
    for (const int a : gpus) {
      const int links = std::accumulate(gpus.begin(), gpus.end(), 0, [&](int sum, int b) {
        return sum + matrix_.at(a, b).nvlinks;
      });
      if (links > 0 && gpu_.nvlink.empty()) {
        throw input::InputError{
            matrix_.at(gpus[0], gpus[1]).place,
            fmt::format("has NVLinks, but a {} has none: is --gpu right?", gpu_.name)};
      }
      switched = switched || links > gpu_.nvlink_links;
    }
    if (switched) {
      add_plane(gpus, planes++);
      return;
    }
    const std::string kind = nvlink_kind(source_.catalog, gpu_, false);
    for (const int a : gpus) {
      for (const int b : gpus) {
        if (a < b && matrix_.at(a, b).nvlinks > 0) {
          draft_.links.push_back({name(a), name(b), kind, matrix_.at(a, b).nvlinks, std::nullopt});
        }
      }
    }
  }

  void add_plane(const std::vector<int>& gpus, int plane) {
    const int links = matrix_.at(gpus[0], gpus[1]).nvlinks;
    for (const int a : gpus) {
      for (const int b : gpus) {
        const SmiCell& cell = matrix_.at(a, b);
        if (a != b && (cell.nvlinks != links || links > gpu_.nvlink_links)) {
          throw input::InputError{
              cell.place,
              fmt::format("{} to {} is {}: with {} NVLinks, a {} reaches {} GPUs so only "
                          "through NVSwitches, which give all pairs the same",
                          name(a), name(b), class_text(cell), gpu_.nvlink_links, gpu_.name,
                          gpus.size() - 1)};
        }
      }
    }
    const std::string bridge = fmt::format("nvswitch{}", plane);
    draft_.devices.push_back({DeviceKind::nvswitch, bridge, "", fmt::format("plane{}", plane), ""});
    for (const int a : gpus) {
      draft_.links.push_back(
          {name(a), bridge, nvlink_kind(source_.catalog, gpu_, true), links, std::nullopt});
    }
    source_.notes.push_back(
        fmt::format("NV{} between {} GPUs is more than a {} has links for: they go through "
                    "NVSwitches, written as one",
                    links, gpus.size(), gpu_.name));
  }

  // ---- PCIe -----------------------------------------------------------------------------------

  /// Whether a group of a level holds several of the level below.
  [[nodiscard]] bool splits(Nearness level, Nearness below, int least) const {
    for (int i = 0; i < matrix_.size(); ++i) {
      if (groups(level).of(i) == least && groups(below).of(i) != groups(below).of(least)) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool has_others(Nearness level, int least) const {
    return members(groups(level), least, matrix_.size()).size() > 1;
  }

  std::string add_device(DeviceKind kind, std::string_view stem) {
    const auto count = std::count_if(draft_.devices.begin(), draft_.devices.end(),
                                     [&](const DraftDevice& each) { return each.kind == kind; });
    std::string made = fmt::format("{}{}", stem, count);
    if (std::find(matrix_.names.begin(), matrix_.names.end(), made) != matrix_.names.end()) {
      made = "host-" + made;
    }
    draft_.devices.push_back({kind, made, "", "", ""});
    return made;
  }

  void link_down(const std::string& above, const std::string& below) {
    const HostLink link = pcie_link(source_.catalog, pcie_generation(gpu_), 16);
    draft_.links.push_back({above, below, link.kind, 1, link.bandwidth});
  }

  void add_tree() {
    for (int i = 0; i < matrix_.size(); ++i) {
      if (groups(Nearness::node).of(i) == i) {
        add_socket(i);
      }
    }
  }

  void add_socket(int least) {
    const std::string cpu = add_device(DeviceKind::cpu, "cpu");
    cpus_.push_back(cpu);
    const bool roots = splits(Nearness::node, Nearness::phb, least);
    for (int i = least; i < matrix_.size(); ++i) {
      if (groups(Nearness::node).of(i) != least || groups(Nearness::phb).of(i) != i) {
        continue;
      }
      std::string above = cpu;
      if (roots) {
        above = add_device(DeviceKind::pcie_root, "root");
        draft_.links.push_back({cpu, above, "host-bridge", 1, std::nullopt});
      }
      add_root(above, i);
    }
  }

  void add_root(const std::string& root, int least) {
    for (int i = least; i < matrix_.size(); ++i) {
      if (groups(Nearness::phb).of(i) != least || groups(Nearness::pxb).of(i) != i) {
        continue;
      }
      std::string top = root;
      if (splits(Nearness::pxb, Nearness::pix, i)) {
        top = add_device(DeviceKind::pcie_switch, "switch");
        link_down(root, top);
        add_leaves(top, i, true);
      } else {
        add_leaves(top, i, has_others(Nearness::pix, i));
      }
    }
  }

  /// The PIX groups of a PXB group, each on a switch of its own where it needs one.
  void add_leaves(const std::string& above, int least, bool on_switches) {
    for (int i = least; i < matrix_.size(); ++i) {
      if (groups(Nearness::pxb).of(i) != least || groups(Nearness::pix).of(i) != i) {
        continue;
      }
      std::string leaf = above;
      if (on_switches) {
        leaf = add_device(DeviceKind::pcie_switch, "switch");
        link_down(above, leaf);
      }
      for (const int device : members(groups(Nearness::pix), i, matrix_.size())) {
        link_down(leaf, name(device));
      }
    }
  }

  void add_sockets() {
    const HostLink link = socket_link(source_.catalog, usual_cpu(gpu_));
    for (std::size_t a = 0; a < cpus_.size(); ++a) {
      for (std::size_t b = a + 1; b < cpus_.size(); ++b) {
        draft_.links.push_back({cpus_[a], cpus_[b], link.kind, link.count, std::nullopt});
      }
    }
  }

  const Source& source_;
  SmiMatrix matrix_;
  const GpuKind& gpu_;
  std::vector<Groups> levels_;
  bool is_guess_ = false;
  std::vector<std::string> cpus_{};
  NodeDraft draft_{};
};

}  // namespace

NodeDraft read_smi_matrix(const Source& source) {
  return TreeBuilder{source}.build();
}

}  // namespace trainyard::topology::importers
