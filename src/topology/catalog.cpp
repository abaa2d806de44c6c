#include "topology/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "input/files.hpp"

namespace trainyard::topology {
namespace {

Medium read_medium(const input::Value& value) {
  static constexpr std::array<std::pair<std::string_view, Medium>, 5> kMedia{{
      {"nvlink", Medium::nvlink},
      {"pcie", Medium::pcie},
      {"socket", Medium::socket},
      {"network", Medium::network},
      {"storage", Medium::storage},
  }};
  for (const auto& [name, medium] : kMedia) {
    if (value.text() == name) {
      return medium;
    }
  }
  value.fail(
      fmt::format("must be nvlink, pcie, socket, network or storage, got \"{}\"", value.text()));
}

std::string read_transport(const input::Value& value) {
  static constexpr std::array<std::string_view, 7> kTransports{
      "infiniband", "roce", "efa", "tcpxo", "tcp", "slingshot", "ici"};
  if (std::find(kTransports.begin(), kTransports.end(), value.text()) == kTransports.end()) {
    value.fail(fmt::format(
        "must be infiniband, roce, efa, tcpxo, tcp, slingshot or ici, got \"{}\"", value.text()));
  }
  return value.text();
}

LinkKind read_link(const input::Section& section) {
  LinkKind kind;
  kind.name = section.require("name").text();
  kind.medium = read_medium(section.require("medium"));
  kind.bandwidth = section.require("bandwidth").bandwidth();
  if (const auto value = section.find("efficiency")) {
    kind.efficiency = value->number_in(1e-6, 1.0);
  }
  kind.latency = section.require("latency").seconds();
  if (kind.medium == Medium::network) {
    kind.transport = read_transport(section.require("transport"));
    if (const auto value = section.find("flow_cap")) {
      kind.flow_cap = value->bandwidth();
    }
  }
  section.reject_unknown();
  return kind;
}

void read_rates(const input::Section& flops, GpuKind& gpu) {
  for (const char* precision : {"fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8"}) {
    if (const auto value = flops.find(precision)) {
      gpu.flops[precision] = value->number_in(0.0, 1e20);
    }
  }
  flops.reject_unknown();
}

/// What only some GPUs have, or only some questions need.
void read_extras(const input::Section& section, GpuKind& gpu) {
  if (const auto value = section.find("profiler_names")) {
    for (const input::Value& name : value->array()) {
      gpu.profiler_names.push_back(name.text());
    }
  }
  if (const auto value = section.find("memory_bandwidth")) {
    gpu.memory_bandwidth = value->bandwidth();
  }
  if (const auto flops = section.section("flops")) {
    read_rates(*flops, gpu);
  }
  if (const auto value = section.find("nvlink")) {
    gpu.nvlink = value->text();
  }
  if (const auto value = section.find("nvlink_links")) {
    gpu.nvlink_links = static_cast<int>(value->integer_in(0, 1000));
  }
  if (const auto value = section.find("launch_floor")) {
    gpu.launch_floor = value->seconds();
  }
  if (const auto value = section.find("data_center")) {
    gpu.data_center = value->boolean();
  }
  if (const auto value = section.find("peer_access")) {
    gpu.peer_access = value->boolean();
  }
  if (const auto value = section.find("mig_instances")) {
    gpu.mig_instances = static_cast<int>(value->integer_in(0, 100));
  }
  if (const auto value = section.find("usual_node")) {
    gpu.usual_node = value->text();
  }
}

GpuKind read_gpu(const input::Section& section) {
  GpuKind gpu;
  gpu.name = section.require("name").text();
  gpu.architecture = section.require("architecture").text();
  gpu.memory = section.require("memory").bytes();
  if (const auto value = section.find("tdp_watts")) {
    gpu.tdp_watts = value->number_in(0.0, 1e5);
  }
  if (const auto value = section.find("idle_watts")) {
    gpu.idle_watts = value->number_in(0.0, 1e5);
  }
  read_extras(section, gpu);
  section.reject_unknown();
  return gpu;
}

/// Profiles name GPUs: two kinds of one name would make an import guess.
void check_profiler_names(const std::vector<GpuKind>& known, const GpuKind& gpu,
                          const input::Section& section) {
  for (const std::string& name : gpu.profiler_names) {
    for (const GpuKind& other : known) {
      const auto& names = other.profiler_names;
      if (std::find(names.begin(), names.end(), name) != names.end()) {
        section.fail(fmt::format(R"("{}" is a profiler's name of "{}" too)", name, other.name));
      }
    }
  }
}

template <typename Kind>
void add_unique(std::vector<Kind>& kinds, Kind kind, const input::Section& section) {
  const bool known = std::any_of(kinds.begin(), kinds.end(),
                                 [&](const Kind& other) { return other.name == kind.name; });
  if (known) {
    section.fail(fmt::format("\"{}\" is in the catalogue twice", kind.name));
  }
  kinds.push_back(std::move(kind));
}

template <typename Kind>
const Kind& find_or_fail(const std::vector<Kind>& kinds, std::string_view name, const char* what,
                         const input::Place& place) {
  std::vector<std::string> known;
  for (const Kind& kind : kinds) {
    if (kind.name == name) {
      return kind;
    }
    known.push_back(kind.name);
  }
  throw input::InputError{
      place, fmt::format("unknown {} \"{}\"{}", what, name, input::suggestion(name, known))};
}

}  // namespace

Catalog Catalog::parse(const std::vector<input::Document>& documents) {
  Catalog catalog;
  std::vector<input::Value> nvlinks;  // may be described later, even in another file
  for (const input::Document& document : documents) {
    const input::Section root = document.root();
    for (const input::Section& section : root.sections("gpu")) {
      GpuKind gpu = read_gpu(section);
      check_profiler_names(catalog.gpus_, gpu, section);
      add_unique(catalog.gpus_, std::move(gpu), section);
      if (const auto nvlink = section.find("nvlink")) {
        nvlinks.push_back(*nvlink);
      }
    }
    for (const input::Section& section : root.sections("link")) {
      add_unique(catalog.links_, read_link(section), section);
    }
    static_cast<void>(root.find("collective"));  // the collective module reads it
    root.reject_unknown();
  }
  for (const input::Value& nvlink : nvlinks) {
    if (catalog.link(nvlink.text(), nvlink.place()).medium != Medium::nvlink) {
      nvlink.fail(fmt::format("must be a link kind of medium nvlink, got \"{}\"", nvlink.text()));
    }
  }
  return catalog;
}

Catalog Catalog::load() {
  const auto folder = input::data_folder() / "topologies" / "catalog";
  std::vector<input::Document> documents;
  for (const char* name : {"gpus.toml", "links.toml"}) {
    documents.push_back(input::Document::parse_file((folder / name).string()));
  }
  return parse(documents);
}

const LinkKind& Catalog::link(std::string_view name, const input::Place& place) const {
  return find_or_fail(links_, name, "link kind", place);
}

const GpuKind& Catalog::gpu(std::string_view name, const input::Place& place) const {
  return find_or_fail(gpus_, name, "GPU", place);
}

const GpuKind* Catalog::find_gpu(std::string_view name) const {
  for (const GpuKind& gpu : gpus_) {
    const auto& others = gpu.profiler_names;
    if (gpu.name == name || std::find(others.begin(), others.end(), name) != others.end()) {
      return &gpu;
    }
  }
  return nullptr;
}

}  // namespace trainyard::topology
