#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "input/error.hpp"
#include "topology/cluster.hpp"
#include "topology/importers/import.hpp"

namespace trainyard::test {

/// The catalogue that ships.
inline const topology::Catalog& full_catalog() {
  static const topology::Catalog catalog = topology::Catalog::load();
  return catalog;
}

inline topology::Imported import_text(std::string_view text,
                                      const topology::ImportOptions& options = {.name = "it"}) {
  return topology::import_topology(text, "source", full_catalog(), options);
}

inline topology::Cluster load(const topology::Imported& imported) {
  return topology::parse_cluster(input::Document::parse(imported.toml, "imported.toml"),
                                 full_catalog());
}

/// What an import throws; "no error" if it does not.
inline std::string import_error(std::string_view text,
                                const topology::ImportOptions& options = {.name = "it"}) {
  try {
    static_cast<void>(import_text(text, options));
    return "no error";
  } catch (const input::InputError& error) {
    return error.what();
  }
}

inline bool has_note(const topology::Imported& imported, std::string_view part) {
  for (const std::string& note : imported.notes) {
    if (note.find(part) != std::string::npos) {
      return true;
    }
  }
  return false;
}

/// The classes of all pairs, GPUs first, then NICs, as `topology matrix` prints them.
[[nodiscard]] std::vector<std::vector<std::string>> classes_of(const topology::Cluster& cluster);

}  // namespace trainyard::test
