#pragma once

#include <string>
#include <vector>

#include "input/section.hpp"
#include "topology/catalog.hpp"

namespace trainyard::topology {

/// A host that serves files over the fabric by one port.
struct StorageServer {
  std::string name{};
  LinkKind drives{};  ///< what it reads and writes at, each way; medium storage
  LinkKind cable{};
};

/// Reads the [[storage_server]] tables of a cluster file:
///
///     name = "store{0..3}", link = "ib-hdr" (its port), bandwidth = "20 GB/s" (its drives)
///
/// @throws InputError
[[nodiscard]] std::vector<StorageServer> read_storage_servers(const input::Section& root,
                                                              const Catalog& catalog);

}  // namespace trainyard::topology
