#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "topology/catalog.hpp"

namespace trainyard::topology {

/// What the source does not say and the user may.
struct ImportOptions {
  std::string name{};  ///< of the topology
  std::string gpu{};   ///< model of all GPUs, "": what the source says or suggests
  std::string nic{};   ///< link kind of all NICs, "" likewise
  std::string node{};  ///< node type of all hosts of a fabric
};

struct Imported {
  std::string format{};              ///< "NCCL topology XML"
  std::string toml{};                ///< a node or cluster file that loads
  std::vector<std::string> notes{};  ///< what was assumed, and what was left out
};

/// Reads what other tools say of a machine or a fabric: NCCL's topology XML, what `nvidia-smi topo
/// -m` prints, what `ibnetdiscover` prints; told apart by content. Importers translate: what a
/// source does not hold is not invented, and where a kind must be assumed a note says so.
/// @param text  the whole source
/// @param file  what errors call it
/// @throws InputError
[[nodiscard]] Imported import_topology(std::string_view text, const std::string& file,
                                       const Catalog& catalog, const ImportOptions& options);

}  // namespace trainyard::topology
