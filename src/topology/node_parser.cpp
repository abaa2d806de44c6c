// Reads a node file into a NodeType.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "topology/names.hpp"
#include "topology/node.hpp"

namespace trainyard::topology {
namespace {

/// More is a slip of the pen: the largest machine sold as one node has 72 GPUs.
constexpr int kMostGpus = 256;
constexpr std::size_t kMostDevices = 2000;
constexpr std::size_t kMostBundles = 20000;

}  // namespace

class NodeParser {
 public:
  NodeParser(const input::Document& document, std::shared_ptr<const Catalog> catalog,
             std::optional<int> nics)
      : root_{document.root()}, nics_{nics}, node_{std::make_shared<NodeType>()} {
    node_->catalog_ = std::move(catalog);
  }

  std::shared_ptr<NodeType> parse() {
    node_->name_ = root_.require("name").text();
    read_devices("gpu", DeviceKind::gpu);
    read_devices("nvswitch", DeviceKind::nvswitch);
    read_devices("pcie_switch", DeviceKind::pcie_switch);
    read_devices("pcie_root", DeviceKind::pcie_root);
    read_devices("cpu", DeviceKind::cpu);
    read_devices("nic", DeviceKind::nic);
    read_devices("storage", DeviceKind::storage);
    if (node_->gpus_.empty()) {
      root_.fail("a node needs at least one [[gpu]]");
    }
    for (const input::Section& section : root_.sections("link")) {
      read_link(section);
    }
    root_.reject_unknown();
    return node_;
  }

 private:
  void read_devices(const char* key, DeviceKind kind) {
    for (const input::Section& section : root_.sections(key)) {
      Device device;
      device.kind = kind;
      read_details(section, device);
      const auto plane = kind == DeviceKind::nvswitch ? section.find("plane") : std::nullopt;
      const input::Value name = section.require("name");
      device.place = name.place();
      for (const std::string& each : expand_name(name)) {
        device.name = each;
        add_device(device, plane, name);
      }
      section.reject_unknown();
    }
  }

  void read_details(const input::Section& section, Device& device) const {
    if (device.kind == DeviceKind::gpu) {
      const input::Value model = section.require("model");
      device.gpu = &node_->catalog_->gpu(model.text(), model.place());
    } else if (device.kind == DeviceKind::nic) {
      const input::Value link = section.require("link");
      device.cable = &node_->catalog_->link(link.text(), link.place());
      if (device.cable->medium != Medium::network) {
        link.fail(fmt::format(R"(must be a network link such as "ib-edr", got "{}")", link.text()));
      }
    } else if (device.kind == DeviceKind::storage) {
      device.capacity = section.require("capacity").bytes();
    } else if (device.kind == DeviceKind::cpu) {
      read_host(section, device);
    }
  }

  static void read_host(const input::Section& section, Device& device) {
    if (const auto value = section.find("cores")) {
      device.cores = static_cast<int>(value->integer_in(1, 10000));
    }
    if (const auto value = section.find("memory")) {
      device.memory = value->bytes();
    }
    if (const auto value = section.find("memory_bandwidth")) {
      device.memory_bandwidth = value->bandwidth();
    }
  }

  void add_device(Device device, const std::optional<input::Value>& plane,
                  const input::Value& name) {
    if (find_device(device.name) != nullptr) {
      name.fail(fmt::format("\"{}\" is the name of another device", device.name));
    }
    if (device.kind == DeviceKind::nic && nics_ && node_->nics() >= *nics_) {
      unused_.push_back(device.name);
      return;
    }
    check_size(device, name);
    device.vertex = plane ? vertex_of(*plane) : add_vertex(device.name, device.kind, name);
    const int index = static_cast<int>(node_->devices_.size());
    if (device.kind == DeviceKind::gpu) {
      node_->gpus_.push_back(index);
    } else if (device.kind == DeviceKind::nic) {
      node_->nics_.push_back(index);
    }
    node_->devices_.push_back(std::move(device));
  }

  void check_size(const Device& device, const input::Value& name) const {
    if (node_->devices_.size() >= kMostDevices) {
      name.fail(fmt::format("makes more than {} devices in one node", kMostDevices));
    }
    if (device.kind == DeviceKind::gpu && node_->gpus() >= kMostGpus) {
      name.fail(fmt::format("makes more than {} GPUs in one node", kMostGpus));
    }
  }

  int add_vertex(const std::string& name, DeviceKind kind, const input::Value& value) {
    auto& vertices = node_->vertices_;
    if (std::find(vertices.begin(), vertices.end(), name) != vertices.end()) {
      value.fail(fmt::format("\"{}\" is the name of a plane", name));
    }
    vertices.push_back(name);
    node_->vertex_kinds_.push_back(kind);
    return static_cast<int>(vertices.size()) - 1;
  }

  /// Of a plane of NVSwitches. GPUs are read first, so that none can take a plane's name later.
  int vertex_of(const input::Value& plane) {
    const auto [entry, is_new] = planes_.emplace(plane.text(), -1);
    if (is_new) {
      if (find_device(plane.text()) != nullptr) {
        plane.fail(fmt::format("\"{}\" is the name of a device", plane.text()));
      }
      entry->second = add_vertex(plane.text(), DeviceKind::nvswitch, plane);
    }
    return entry->second;
  }

  [[nodiscard]] const Device* find_device(const std::string& name) const {
    const auto found = std::find_if(node_->devices_.begin(), node_->devices_.end(),
                                    [&](const Device& device) { return device.name == name; });
    return found == node_->devices_.end() ? nullptr : &*found;
  }

  [[nodiscard]] LinkKind link_kind(const input::Section& section) const {
    const input::Value name = section.require("kind");
    LinkKind kind = node_->catalog_->link(name.text(), name.place());
    if (kind.medium == Medium::network) {
      name.fail(fmt::format("\"{}\" is a network link: it joins nodes, not devices", kind.name));
    }
    if (const auto value = section.find("bandwidth")) {
      kind.bandwidth = value->bandwidth();
    }
    if (const auto value = section.find("efficiency")) {
      kind.efficiency = value->number_in(1e-6, 1.0);
    }
    if (const auto value = section.find("latency")) {
      kind.latency = value->seconds();
    }
    return kind;
  }

  void read_link(const input::Section& section) {
    const input::Value between = section.require("between");
    const auto ends = between.array();
    if (ends.size() != 2) {
      between.fail(R"(must name the two ends of a link, such as ["gpu0", "gpu1"])");
    }
    const LinkKind kind = link_kind(section);
    const auto count = section.find("count");
    const int links = count ? static_cast<int>(count->integer_in(1, 10000)) : 1;
    const auto pairing = section.find("pairing");
    section.reject_unknown();
    const auto from = expand_name(ends[0]);
    const auto to = expand_name(ends[1]);
    if (pairing) {
      check_pairing(*pairing, from.size(), to.size());
    }
    const std::size_t pairs = std::min(from.size(), to.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      for (std::size_t j = 0; j < to.size(); ++j) {
        if (!pairing || i * pairs / from.size() == j * pairs / to.size()) {
          connect(ends[0], from[i], ends[1], to[j], kind, links);
        }
      }
    }
  }

  /// "one-to-one": the first with the first and so on. "grouped": equal runs of the longer list,
  /// "gpu{0..7}" to "plx{0..3}": two GPUs each.
  static void check_pairing(const input::Value& pairing, std::size_t from, std::size_t to) {
    const bool grouped = pairing.text() == "grouped";
    if (!grouped && pairing.text() != "one-to-one") {
      pairing.fail(fmt::format("must be one-to-one or grouped, got \"{}\"", pairing.text()));
    }
    if (std::max(from, to) % std::min(from, to) != 0 || (!grouped && from != to)) {
      pairing.fail(fmt::format("\"{}\" cannot pair {} with {} devices", pairing.text(), from, to));
    }
  }

  void connect(const input::Value& a_value, const std::string& a, const input::Value& b_value,
               const std::string& b, const LinkKind& kind, int links) {
    if (is_unused(a) || is_unused(b)) {
      return;
    }
    const int from = end_of(a_value, a);
    const int to = end_of(b_value, b);
    if (from == to) {
      b_value.fail(fmt::format("links \"{}\" with itself", a));
    }
    const std::tuple key{std::min(from, to), std::max(from, to), kind.medium};
    const auto [entry, is_new] = bundle_of_.emplace(key, node_->bundles_.size());
    if (is_new) {
      if (node_->bundles_.size() >= kMostBundles) {
        b_value.fail(fmt::format("makes more than {} links in one node", kMostBundles));
      }
      node_->bundles_.push_back({from, to, kind, links});
      return;
    }
    Bundle& bundle = node_->bundles_[entry->second];
    if (!(bundle.kind == kind)) {
      b_value.fail(fmt::format(R"(links "{}" and "{}" again, by a link of another kind)", a, b));
    }
    bundle.count += links;
  }

  [[nodiscard]] bool is_unused(const std::string& name) const {
    return std::find(unused_.begin(), unused_.end(), name) != unused_.end();
  }

  [[nodiscard]] int end_of(const input::Value& value, const std::string& name) const {
    const Device* device = find_device(name);
    if (device == nullptr) {
      std::vector<std::string> known;
      for (const Device& other : node_->devices_) {
        known.push_back(other.name);
      }
      value.fail(fmt::format("names \"{}\", which is no device of this node{}", name,
                             input::suggestion(name, known)));
    }
    return device->vertex;
  }

  input::Section root_;
  std::optional<int> nics_;
  std::vector<std::string> unused_{};
  std::map<std::string, int> planes_{};  ///< to vertex
  std::map<std::tuple<int, int, Medium>, std::size_t> bundle_of_{};
  std::shared_ptr<NodeType> node_;
};

std::shared_ptr<const NodeType> NodeType::parse(const input::Document& document,
                                                std::shared_ptr<const Catalog> catalog,
                                                std::optional<int> nics) {
  auto node = NodeParser{document, std::move(catalog), nics}.parse();
  node->find_routes();
  node->find_staged_paths();
  node->find_far_nics();
  node->check_connected(document);
  node->find_nic_classes();
  node->find_private_links();
  node->hide_nic_stubs();
  node->choose_nics();
  return node;
}

}  // namespace trainyard::topology
