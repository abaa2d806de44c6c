// `trainyard topology plot`: a topology as an SVG picture.
#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.hpp"
#include "cli/topology_text.hpp"
#include "input/files.hpp"
#include "topology/drawing/plot.hpp"

namespace trainyard::cli {
namespace {

int run(const Arguments& arguments, Streams& streams) {
  const std::filesystem::path target = arguments.text("-o");
  check_new_file(target, arguments.has("--force"));
  if (target.extension() != ".svg" && !std::filesystem::exists(target)) {
    arguments.fail("-o", fmt::format("must end in .svg, got \"{}\"", target.string()));
  }
  const auto cluster = topology_argument(arguments);
  input::write_file_atomically(target, topology::plot_svg(cluster));
  streams.out << fmt::format("{}: {}\n", target.string(), cluster.name());
  return 0;
}

}  // namespace

CommandSpec topology_plot_command() {
  CommandSpec spec;
  spec.name = "topology plot";
  spec.summary = "Draw a topology: NVLink, PCIe tree and fabric, as SVG";
  spec.details =
      "Lines are as wide as they have parallel links; the legend has the kinds and their rates.\n"
      "Rows of more than 40 nodes or switches show groups of alike ones.";
  spec.example = "trainyard topology plot dgx-1-v100 -o dgx-1-v100.svg";
  spec.options = {
      topology_option(),
      {.name = "-o", .value_name = "FILE.svg", .help = "picture to write", .required = true},
      {.name = "--force", .help = "replace the file", .flag = true},
  };
  spec.run = &run;
  return spec;
}

}  // namespace trainyard::cli
