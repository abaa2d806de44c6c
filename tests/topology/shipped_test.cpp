#include <catch2/catch.hpp>

#include "input/files.hpp"
#include "topology/summary.hpp"
#include "topology/support.hpp"

using namespace trainyard;

TEST_CASE("every topology that ships loads without a warning under its own name", "[shipped]") {
  int shipped = 0;
  for (const char* folder : {"topologies/nodes", "topologies/clusters"}) {
    for (const std::string& name : input::shipped_names(folder, ".toml")) {
      CAPTURE(name);
      const auto cluster = topology::load_cluster(name);
      CHECK(cluster.name() == name);
      CHECK(topology::warnings_of(cluster).empty());
      ++shipped;
    }
  }
  CHECK(shipped >= 6);
}

TEST_CASE("every GPU of every topology reaches every other", "[shipped]") {
  for (const std::string& name : input::shipped_names("topologies/clusters", ".toml")) {
    const auto cluster = topology::load_cluster(name);
    for (topology::GpuId to = 1; to < cluster.gpus(); ++to) {
      CHECK_FALSE(cluster.path(0, to).links.empty());
      CHECK_FALSE(cluster.path(to, 0).links.empty());
    }
  }
}

TEST_CASE("a GPU's usual node houses it", "[shipped]") {
  const auto catalog = topology::Catalog::load();
  int housed = 0;
  for (const auto& gpu : catalog.gpus()) {
    if (!gpu.usual_node.empty()) {
      CHECK(topology::load_cluster(gpu.usual_node).gpu_kind(0).name == gpu.name);
      ++housed;
    }
  }
  CHECK(housed == 11);
}
