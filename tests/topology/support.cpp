#include "topology/support.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <set>

#include "input/error.hpp"
#include "support/temporary_folder.hpp"

namespace trainyard::test {
namespace {

constexpr std::string_view kCatalog = R"(
[[gpu]]
name = "card"
architecture = "volta"
memory = "16 GB"
nvlink = "nv"
nvlink_links = 2

[[gpu]]
name = "game-card"
architecture = "turing"
memory = "8 GB"
data_center = false
peer_access = false

[[link]]
name = "nv"
medium = "nvlink"
bandwidth = "25 GB/s"
efficiency = 0.8
latency = "0.7 us"

[[link]]
name = "c2c"
medium = "nvlink"
bandwidth = "100 GB/s"
latency = "0.5 us"

[[link]]
name = "pci"
medium = "pcie"
bandwidth = "16 GB/s"
latency = "0.2 us"

[[link]]
name = "qpi"
medium = "socket"
bandwidth = "20 GB/s"
efficiency = 0.5
latency = "0.3 us"

[[link]]
name = "ib"
medium = "network"
transport = "infiniband"
bandwidth = "10 GB/s"
efficiency = 0.9
latency = "1 us"

[[link]]
name = "ib-slow"
medium = "network"
transport = "infiniband"
bandwidth = "5 GB/s"
latency = "1 us"

[[link]]
name = "disk"
medium = "storage"
bandwidth = "2 GB/s"
latency = "80 us"
)";

/// GPU i and NIC i on PCIe switch i, all switches on one CPU.
std::string node_with(int nics) {
  std::string text = fmt::format(
      "name = \"box\"\n[[gpu]]\nname = \"gpu{{0..{0}}}\"\nmodel = \"card\"\n"
      "[[nic]]\nname = \"nic{{0..{0}}}\"\nlink = \"ib\"\n"
      "[[pcie_switch]]\nname = \"plx{{0..{0}}}\"\n[[cpu]]\nname = \"cpu\"\n"
      "[[link]]\nbetween = [\"cpu\", \"plx{{0..{0}}}\"]\nkind = \"pci\"\n",
      nics - 1);
  for (int i = 0; i < nics; ++i) {
    text += fmt::format("[[link]]\nbetween = [\"plx{0}\", \"gpu{0}\"]\nkind = \"pci\"\n", i);
    text += fmt::format("[[link]]\nbetween = [\"plx{0}\", \"nic{0}\"]\nkind = \"pci\"\n", i);
  }
  return text;
}

/// "node3/gpu1" of "node3/gpu0->gpu1": inside a node only the start carries the node's name.
std::pair<std::string, std::string> ends(const topology::Link& link) {
  const auto arrow = link.name.find("->");
  const std::string from = link.name.substr(0, arrow);
  const std::string to = link.name.substr(arrow + 2);
  return {from, link.node < 0 ? to : from.substr(0, from.find('/') + 1) + to};
}

}  // namespace

const topology::Catalog& small_catalog() {
  static const auto kParsed =
      topology::Catalog::parse({input::Document::parse(kCatalog, "catalog.toml")});
  return kParsed;
}

topology::Cluster parse(std::string_view text, const topology::ClusterOptions& options) {
  return topology::parse_cluster(input::Document::parse(text, "node.toml"), small_catalog(),
                                 options);
}

topology::Cluster on_fabric(int nodes, int nics, std::string_view fabric) {
  const TemporaryFolder folder;
  const auto node = folder.write("box.toml", node_with(nics));
  const auto text =
      fmt::format("name = \"test\"\n[[node]]\ntype = \"{}\"\ncount = {}\n[fabric]\n{}\n",
                  node.string(), nodes, fabric);
  return topology::parse_cluster(input::Document::parse(text, "cluster.toml"), small_catalog());
}

std::string error_of(std::string_view text) {
  try {
    static_cast<void>(parse(text));
  } catch (const input::InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string fabric_error(int nodes, int nics, std::string_view fabric) {
  try {
    static_cast<void>(on_fabric(nodes, nics, fabric));
  } catch (const input::InputError& error) {
    return error.what();
  }
  return "no error";
}

std::vector<std::string> names_of(const topology::Cluster& cluster, const topology::Path& path) {
  std::vector<std::string> names;
  for (const topology::LinkId link : path.links) {
    names.push_back(cluster.link(link).name);
  }
  return names;
}

topology::LinkId link_named(const topology::Cluster& cluster, std::string_view name) {
  for (topology::LinkId link = 0; link < cluster.links(); ++link) {
    if (cluster.link(link).name == name) {
      return link;
    }
  }
  FAIL("no link is named " << name);
  return -1;
}

bool is_walk(const topology::Cluster& cluster, const topology::Path& path, const std::string& from,
             const std::string& to) {
  std::set<topology::LinkId> seen;
  std::string at = from;
  for (const topology::LinkId id : path.links) {
    const auto [start, end] = ends(cluster.link(id));
    if (start != at || !seen.insert(id).second) {
      return false;
    }
    at = end;
  }
  return at == to;
}

int Random::in(int low, int high) {
  state_ += 0x9E3779B97F4A7C15U;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
  mixed ^= mixed >> 31U;
  return low + static_cast<int>(mixed % static_cast<std::uint64_t>(high - low + 1));
}

}  // namespace trainyard::test
