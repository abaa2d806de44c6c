// `trainyard topology import`: what other tools say of a machine or fabric to a topology file.
#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.hpp"
#include "cli/topology_text.hpp"
#include "input/files.hpp"
#include "topology/importers/import.hpp"
#include "topology/summary.hpp"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;

int run(const Arguments& arguments, Streams& streams) {
  const fs::path target = arguments.text("-o");
  check_new_file(target, arguments.has("--force"));
  const std::string file = arguments.text("FILE");
  const topology::Catalog catalog = topology::Catalog::load();
  topology::ImportOptions options;
  options.name = arguments.has("--name") ? arguments.text("--name") : target.stem().string();
  options.gpu = arguments.text("--gpu");
  options.nic = arguments.text("--nic");
  options.node = arguments.text("--node");
  const auto imported = topology::import_topology(input::read_file(file), file, catalog, options);
  input::write_file_atomically(target, imported.toml);
  for (const std::string& note : imported.notes) {
    streams.err << "note: " << note << '\n';
  }
  const auto cluster =
      topology::parse_cluster(input::Document::parse(imported.toml, target.string()), catalog);
  streams.out << fmt::format("{}: from {}, {}, {}, {}\n", target.string(), imported.format,
                             counted(static_cast<std::size_t>(cluster.nodes()), "node"),
                             gpu_text(cluster), counted(nic_count(cluster), "NIC"));
  return 0;
}

}  // namespace

CommandSpec topology_import_command() {
  CommandSpec spec;
  spec.name = "topology import";
  spec.summary = "Make a topology file from what other tools say of a machine or fabric";
  spec.details =
      "FILE is an NCCL topology (XML), the output of `nvidia-smi topo -m` or of ibnetdiscover; "
      "its\n"
      "content tells which. What it does not say is not invented: notes name what was assumed.";
  spec.example = "trainyard topology import machine.xml -o machine.toml";
  spec.options = {
      {.name = "FILE", .help = "what the other tool wrote", .required = true},
      {.name = "-o", .value_name = "FILE.toml", .help = "topology file to write", .required = true},
      {.name = "--gpu", .value_name = "MODEL", .help = "model of the GPUs, of the catalogue"},
      {.name = "--nic", .value_name = "KIND", .help = "link kind of the NICs, of the catalogue"},
      {.name = "--node",
       .value_name = "TYPE",
       .help = "node file of the hosts (ibnetdiscover only)"},
      {.name = "--name", .value_name = "NAME", .help = "name of the topology (default: of -o)"},
      {.name = "--force", .help = "replace the file", .flag = true},
  };
  spec.run = &run;
  return spec;
}

}  // namespace trainyard::cli
