#pragma once

#include <string>
#include <vector>

#include "topology/importers/kinds.hpp"
#include "topology/importers/xml.hpp"

namespace trainyard::topology::importers {

// What an NCCL topology says, flattened: every part with the part above it.

/// A PCIe function or, without a bus id, a NIC that the file puts straight on a CPU.
struct PciPart {
  const Element* element = nullptr;
  std::string bus{};  ///< lower case
  std::string parent{};
  bool on_cpu = false;  ///< the parent is one
  int cpu = 0;          ///< index of the CPU at the top
  int generation = 0;   ///< of PCIe, as stated; 0: not stated
  int lanes = 16;
  std::string name{};
};

struct CpuPart {
  const Element* element = nullptr;
  std::string name{};  ///< "numa0"
  CpuModel model{};
};

struct NcclSystem {
  std::vector<CpuPart> cpus{};
  std::vector<PciPart> switches{};  ///< parents before children
  std::vector<PciPart> gpus{};      ///< by device number, else by bus id
  std::vector<PciPart> nics{};      ///< by bus id; names are given later
  std::vector<std::string> left_out{};
};

/// @throws InputError: another root, repeated bus ids or NUMA nodes, a part below one that has no
///         ports, an unknown class with parts below it, no GPU
[[nodiscard]] NcclSystem flatten(const Element& root);

}  // namespace trainyard::topology::importers
