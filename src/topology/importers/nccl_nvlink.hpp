#pragma once

#include <string>
#include <vector>

#include "topology/importers/nccl_system.hpp"

namespace trainyard::topology::importers {

/// NVLinks as the file lists them.
struct NvlinkPart {
  std::string a{};  ///< a GPU
  std::string b{};  ///< a GPU, a switch or a CPU
  int count = 0;
};

struct NvlinkParts {
  std::vector<NvlinkPart> direct{};
  std::vector<std::string> switches{};  ///< bus ids, sorted; named "nvswitch0", ...
  std::vector<NvlinkPart> switched{};
  std::vector<NvlinkPart> to_cpu{};
  std::vector<std::string> left_out{};
  bool boards = false;  ///< the switches fall into groups that share no GPU
};

/// @throws InputError: no target or count, ends that disagree, a target of an unknown class
[[nodiscard]] NvlinkParts find_nvlinks(const NcclSystem& system);

}  // namespace trainyard::topology::importers
