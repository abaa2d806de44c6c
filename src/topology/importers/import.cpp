#include "topology/importers/import.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "topology/cluster.hpp"
#include "topology/importers/sources.hpp"

namespace trainyard::topology {
namespace {

using importers::Source;

/// Machines and fabrics describe themselves in far less.
constexpr std::size_t kMostBytes = 32U << 20U;

std::string node_text(const Source& source, importers::NodeDraft draft, const std::string& format) {
  draft.name = source.options.name;
  draft.remarks.push_back(fmt::format("Imported by `trainyard topology import` from {}.", format));
  for (const std::string& note : source.notes) {
    draft.remarks.push_back("Note: " + note + ".");
  }
  return importers::to_toml(draft);
}

struct Format {
  std::string_view name;
  bool (*is)(std::string_view text);
  std::string (*read)(const Source& source, const std::string& format);
};

bool is_xml(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return begin != std::string_view::npos && text[begin] == '<';
}

bool is_ibnetdiscover(std::string_view text) {
  return text.find("\nswitchguid=") != std::string_view::npos ||
         text.find("\ncaguid=") != std::string_view::npos || text.starts_with("switchguid=") ||
         text.starts_with("caguid=");
}

bool is_smi_matrix(std::string_view text) {
  return text.find("GPU0") != std::string_view::npos;
}

/// The one table of sources; the first that recognises the content reads it.
const std::vector<Format>& formats() {
  static const std::vector<Format> table{
      {"NCCL topology XML", &is_xml,
       [](const Source& source, const std::string& format) {
         return node_text(source, importers::read_nccl_xml(source), format);
       }},
      {"ibnetdiscover", &is_ibnetdiscover,
       [](const Source& source, const std::string&) {
         return importers::read_ibnetdiscover(source);
       }},
      {"nvidia-smi topo -m", &is_smi_matrix, [](const Source& source, const std::string& format) {
         return node_text(source, importers::read_smi_matrix(source), format);
       }}};
  return table;
}

/// What does not load must not be written.
void check(const Imported& imported, const std::string& file, const Catalog& catalog) {
  try {
    static_cast<void>(
        parse_cluster(input::Document::parse(imported.toml, "imported topology"), catalog));
  } catch (const input::InputError& error) {
    throw input::InputError{{file}, fmt::format("makes no topology that works: {}", error.what())};
  }
}

}  // namespace

Imported import_topology(std::string_view text, const std::string& file, const Catalog& catalog,
                         const ImportOptions& options) {
  if (text.size() > kMostBytes) {
    throw input::InputError{
        {file}, fmt::format("has {} bytes, expected at most {}", text.size(), kMostBytes)};
  }
  if (const auto zero = text.find('\0'); zero != std::string_view::npos) {
    throw input::InputError{input::place_of(file, text, zero), "holds a zero byte, expected text"};
  }
  for (const Format& format : formats()) {
    if (format.is(text)) {
      Imported imported{std::string{format.name}, "", {}};
      const Source source{text, file, catalog, options, imported.notes};
      imported.toml = format.read(source, imported.format);
      check(imported, file, catalog);
      return imported;
    }
  }
  throw input::InputError{{file},
                          "is none of the formats that can be imported: NCCL topology XML, "
                          "`nvidia-smi topo -m`, ibnetdiscover"};
}

}  // namespace trainyard::topology
