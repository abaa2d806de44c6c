#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "input/error.hpp"

namespace trainyard::topology::importers {

/// How near two devices are, nearest first; `nvlink` says nothing of the PCIe between them.
enum class Nearness { self, pix, pxb, phb, node, sys, nvlink };

struct SmiCell {
  Nearness nearness = Nearness::self;
  int nvlinks = 0;
  input::Place place{};
};

/// What `nvidia-smi topo -m` prints: GPUs first, then NICs; cells[row][column], symmetric.
struct SmiMatrix {
  std::vector<std::string> names{};  ///< "gpu0"; NICs by their legend's names
  int gpus = 0;
  std::vector<std::vector<SmiCell>> cells{};
  std::vector<std::string> affinity{};  ///< CPUs of each row, "" where none are printed

  [[nodiscard]] int size() const { return static_cast<int>(names.size()); }
  [[nodiscard]] const SmiCell& at(int row, int column) const {
    return cells[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
  }
};

/// Understands the layouts of all drivers: tabs or blanks, underlined headings, NIC legends,
/// SOC for SYS and PSB for PIX in old ones.
/// @throws InputError: no heading, missing rows or cells, unknown classes, no symmetry
[[nodiscard]] SmiMatrix parse_smi_matrix(std::string_view text, const std::string& file);

/// "PIX", "NV4"
[[nodiscard]] std::string class_text(const SmiCell& cell);

}  // namespace trainyard::topology::importers
