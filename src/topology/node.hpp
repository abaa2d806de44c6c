#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "topology/catalog.hpp"

namespace trainyard::topology {

enum class DeviceKind { gpu, nvswitch, pcie_switch, pcie_root, cpu, nic, storage };

struct Device {
  std::string name{};
  DeviceKind kind = DeviceKind::gpu;
  int vertex = -1;  ///< parallel switches of one plane share a vertex
  const GpuKind* gpu = nullptr;
  const LinkKind* cable = nullptr;           ///< of a NIC
  units::Bytes capacity{};                   ///< of a storage volume
  int cores = 0;                             ///< of a CPU, physical; 0: not stated, as below
  units::Bytes memory{};                     ///< host memory at a CPU
  units::BytesPerSecond memory_bandwidth{};  ///< of it, reads and writes together
  input::Place place{};                      ///< of its name in the file
};

/// Parallel links between two vertices; direction 0 goes from `a` to `b`.
struct Bundle {
  int a = -1;
  int b = -1;
  LinkKind kind{};
  int count = 0;
};

/// Where a GPU's traffic leaves the node.
struct Exit {
  int gpu = -1;  ///< itself, or the one that it hands the data to over NVLink first
  int nic = -1;
};

/// A route inside a node: directed local links (2 x bundle + direction), in order.
using LocalPath = std::vector<int>;

/// A kind of node: what one file describes, with all its routes. Shared by all its instances.
class NodeType {
 public:
  /// @param nics  use only the first so many NICs
  static std::shared_ptr<const NodeType> parse(const input::Document& document,
                                               std::shared_ptr<const Catalog> catalog,
                                               std::optional<int> nics);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<Device>& devices() const { return devices_; }
  [[nodiscard]] const std::vector<Bundle>& bundles() const { return bundles_; }
  [[nodiscard]] const std::vector<std::string>& vertices() const { return vertices_; }
  [[nodiscard]] DeviceKind kind_of(int vertex) const {
    return vertex_kinds_[static_cast<std::size_t>(vertex)];
  }
  [[nodiscard]] int gpus() const { return static_cast<int>(gpus_.size()); }
  [[nodiscard]] int nics() const { return static_cast<int>(nics_.size()); }
  [[nodiscard]] const Device& gpu(int index) const;
  [[nodiscard]] const Device& nic(int index) const;

  /// GPU to GPU over NVLink (switches, or at most one other GPU between); empty: there is none.
  [[nodiscard]] const LocalPath& nvlink_path(int from, int to) const;
  /// Over PCIe and sockets; empty: there is none. Through a CPU where a card lacks peer access:
  /// such copies are staged in host memory.
  [[nodiscard]] const LocalPath& pcie_path(int from, int to) const;
  /// Over NVLink to another GPU first where PCIe does not lead there (hosts of one rack).
  [[nodiscard]] const LocalPath& gpu_to_nic(int gpu, int nic) const;
  [[nodiscard]] LocalPath nic_to_gpu(int nic, int gpu) const;
  [[nodiscard]] int nic_of(int gpu) const { return nic_of_[static_cast<std::size_t>(gpu)]; }
  /// The way out towards a NIC of number `rail` on the other side: over the NIC of that number
  /// where PCIe switches lead to it, else by NVLink to a GPU beside it, else over the own NIC.
  /// @source NCCL's PXN; GPUDirect RDMA passes PCIe switches only (PXB) by default, and the
  ///         coherent link to the CPU that holds the NIC (P2C)
  [[nodiscard]] const Exit& exit_to(int gpu, int rail) const;
  /// Local link of a direct NVLink bundle; nullopt: none.
  [[nodiscard]] std::optional<int> nvlink(int from, int to) const;
  [[nodiscard]] std::optional<int> nvswitch_port(int gpu, bool out) const;

  /// "NV2", "PIX", "PXB", "PHB", "NODE", "SYS"; "X" for the same GPU; "NVB" when only NVLink
  /// through another GPU joins the two.
  [[nodiscard]] std::string pair_class(int a, int b) const;
  /// The same to a NIC; "PXN" when only NVLink to another GPU leads there. Between NICs "NET" when
  /// only the network joins them.
  [[nodiscard]] std::string nic_class(int gpu, int nic) const;
  [[nodiscard]] const std::string& nic_pair_class(int a, int b) const;
  /// Not Link::shareable. NVLink that other GPUs' relays cross is shared.
  [[nodiscard]] bool is_private(int bundle) const {
    return private_[static_cast<std::size_t>(bundle)];
  }

  [[nodiscard]] static LocalPath reversed(const LocalPath& path);

 private:
  friend class NodeParser;
  [[nodiscard]] bool is_host_link(const Bundle& bundle) const;
  [[nodiscard]] class Graph nvlink_graph() const;
  [[nodiscard]] class Graph host_graph(int source) const;
  /// "PIX" .. "SYS" of a PCIe path.
  [[nodiscard]] std::string path_class(const LocalPath& path) const;
  [[nodiscard]] int vertex_after(int link) const;
  [[nodiscard]] int gpus_between(const LocalPath& path) const;
  [[nodiscard]] int width_of(const LocalPath& path) const;
  [[nodiscard]] bool is_near(int gpu, int nic) const;
  [[nodiscard]] Exit find_exit(int from, int rail) const;
  [[nodiscard]] LocalPath through_host(int from, int to) const;
  [[nodiscard]] LocalPath through_neighbour(int from, int nic) const;
  void find_routes();
  void find_staged_paths();
  void find_far_nics();
  void find_nic_classes();
  void find_private_links();
  void hide_nic_stubs();
  [[nodiscard]] std::optional<int> only_link(int vertex, int but) const;
  void check_connected(const input::Document& document) const;
  [[nodiscard]] std::vector<int> nearest_nics(int gpu) const;
  void choose_nics();

  std::shared_ptr<const Catalog> catalog_{};  ///< devices point into it
  std::string name_{};
  std::vector<Device> devices_{};
  std::vector<std::string> vertices_{};
  std::vector<DeviceKind> vertex_kinds_{};
  std::vector<Bundle> bundles_{};
  std::vector<bool> private_{};  ///< by bundle
  std::vector<int> gpus_{};      ///< device indices
  std::vector<int> nics_{};
  std::vector<int> nic_of_{};
  std::vector<std::vector<LocalPath>> nvlink_paths_{};
  std::vector<std::vector<LocalPath>> pcie_paths_{};
  std::vector<std::vector<std::string>> pcie_classes_{};  ///< by GPUs; "": no PCIe path
  std::vector<std::vector<LocalPath>> nic_paths_{};
  std::vector<std::vector<std::string>> nic_classes_{};
  std::vector<std::vector<Exit>> exits_{};  ///< by GPU, by rail; last: a rail that is not here
};

}  // namespace trainyard::topology
