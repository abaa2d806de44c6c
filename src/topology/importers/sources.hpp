#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "topology/importers/draft.hpp"
#include "topology/importers/import.hpp"

namespace trainyard::topology::importers {

/// What each source has to work with.
struct Source {
  std::string_view text{};
  const std::string& file;
  const Catalog& catalog;
  const ImportOptions& options;
  std::vector<std::string>& notes;

  [[nodiscard]] input::Place whole() const { return {file}; }
  /// The GPU that the user named; null when none.
  [[nodiscard]] const GpuKind* chosen_gpu() const {
    return options.gpu.empty() ? nullptr : &catalog.gpu(options.gpu, {"command line"});
  }
};

/// NCCL's topology XML, as NCCL_TOPO_FILE takes it and NCCL_TOPO_DUMP_FILE writes it.
/// @source NVIDIA/nccl, src/graph/xml.cc and topo.cc: elements, attributes, classes
[[nodiscard]] NodeDraft read_nccl_xml(const Source& source);

/// The matrix that `nvidia-smi topo -m` prints: the smallest PCIe tree with the same classes.
[[nodiscard]] NodeDraft read_smi_matrix(const Source& source);

/// What `ibnetdiscover` prints: a cluster file with every switch and cable.
[[nodiscard]] std::string read_ibnetdiscover(const Source& source);

}  // namespace trainyard::topology::importers
