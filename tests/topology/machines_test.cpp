// The DGX-1, DGX-2 and DGX A100 in depth; node_files_test.cpp has all machines.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "topology/support.hpp"

using namespace trainyard;
using topology::Cluster;
using topology::GpuId;

namespace {

/// NVLinks of the DGX-1 with V100 by pair, nvidia-smi numbering.
/// @source NCCL topology dump in NVIDIA/nccl issue 671; Alibaba Cloud ACK topology page
const std::map<std::pair<int, int>, int> kCubeMesh{
    {{0, 1}, 1}, {{0, 2}, 1}, {{0, 3}, 2}, {{0, 4}, 2}, {{1, 2}, 2}, {{1, 3}, 1},
    {{1, 5}, 2}, {{2, 3}, 2}, {{2, 6}, 1}, {{3, 7}, 1}, {{4, 5}, 1}, {{4, 6}, 1},
    {{4, 7}, 2}, {{5, 6}, 2}, {{5, 7}, 1}, {{6, 7}, 2}};

int links_between(const Cluster& cluster, GpuId a, GpuId b) {
  const auto link = cluster.nvlink(a, b);
  return link ? cluster.link(*link).count : 0;
}

}  // namespace

TEST_CASE("a DGX-1 has the cube mesh's 24 NVLinks, six a GPU", "[machines]") {
  const auto dgx = topology::load_cluster("dgx-1-v100");
  REQUIRE(dgx.gpus() == 8);
  int total = 0;
  for (GpuId a = 0; a < 8; ++a) {
    int degree = 0;
    for (GpuId b = 0; b < 8; ++b) {
      const auto known = kCubeMesh.find({std::min(a, b), std::max(a, b)});
      CAPTURE(a, b);
      CHECK(links_between(dgx, a, b) == (known == kCubeMesh.end() ? 0 : known->second));
      degree += links_between(dgx, a, b);
      total += links_between(dgx, a, b);
    }
    CHECK(degree == 6);
  }
  CHECK(total == 2 * 24);
}

TEST_CASE("12 pairs of a DGX-1 share no link and have two relays each", "[machines]") {
  const auto dgx = topology::load_cluster("dgx-1-v100");
  const std::set<std::pair<int, int>> expected{{0, 5}, {0, 6}, {0, 7}, {1, 4}, {1, 6}, {1, 7},
                                               {2, 4}, {2, 5}, {2, 7}, {3, 4}, {3, 5}, {3, 6}};
  std::set<std::pair<int, int>> apart;
  for (GpuId a = 0; a < 8; ++a) {
    for (GpuId b = a + 1; b < 8; ++b) {
      if (links_between(dgx, a, b) > 0) {
        continue;
      }
      apart.emplace(a, b);
      int relays = 0;
      for (GpuId between = 0; between < 8; ++between) {
        relays += links_between(dgx, a, between) > 0 && links_between(dgx, between, b) > 0 ? 1 : 0;
      }
      CHECK(relays == 2);
      const auto path = dgx.path(a, b);
      CHECK(path.links.size() == 2);
      for (const auto link : path.links) {
        CHECK(dgx.link(link).medium == topology::Medium::nvlink);
      }
      CHECK(dgx.pair_class(a, b) == "SYS");  // what nvidia-smi says: it counts no relays
    }
  }
  CHECK(apart == expected);
}

TEST_CASE("six links join the quads of a DGX-1: 150 GB/s each way", "[machines]") {
  const auto dgx = topology::load_cluster("dgx-1-v100");
  double cut = 0.0;
  for (GpuId a = 0; a < 4; ++a) {
    for (GpuId b = 4; b < 8; ++b) {
      const auto link = dgx.nvlink(a, b);
      cut += link ? dgx.link(*link).raw.si() : 0.0;
    }
  }
  CHECK(cut == Approx(150e9));
}

TEST_CASE("the DGX-1 splits into the three rings that NCCL finds", "[machines]") {
  const auto dgx = topology::load_cluster("dgx-1-v100");
  const std::vector<std::vector<int>> rings{
      {0, 1, 2, 3, 7, 5, 6, 4}, {0, 2, 6, 7, 4, 5, 1, 3}, {0, 3, 2, 1, 5, 6, 7, 4}};
  std::map<std::pair<int, int>, int> used;
  for (const auto& ring : rings) {
    for (std::size_t i = 0; i < 8; ++i) {
      ++used[{std::min(ring[i], ring[(i + 1) % 8]), std::max(ring[i], ring[(i + 1) % 8])}];
    }
  }
  for (const auto& [pair, links] : used) {
    CHECK(links_between(dgx, pair.first, pair.second) == links);
  }
  CHECK(used.size() == kCubeMesh.size());
}

TEST_CASE("a DGX-2 has two boards of six switches, 48 trunk links between", "[machines]") {
  const auto dgx = topology::load_cluster("dgx-2");
  REQUIRE(dgx.gpus() == 16);
  for (GpuId gpu = 0; gpu < 16; ++gpu) {
    const auto out = dgx.link(*dgx.nvswitch_port(gpu, true));
    CHECK(out.count == 6);
    CHECK(out.raw.si() == Approx(150e9));
    CHECK_FALSE(out.shareable);
    CHECK(dgx.link(*dgx.nvswitch_port(gpu, false)).raw.si() == Approx(150e9));
  }
  const auto trunk = dgx.link(test::link_named(dgx, "board0->board1"));
  CHECK(trunk.count == 48);
  CHECK(trunk.raw.si() == Approx(1.2e12));
  CHECK(trunk.shareable);
  CHECK(test::names_of(dgx, dgx.path(3, 5)) ==
        std::vector<std::string>{"gpu3->board0", "board0->gpu5"});
  CHECK(test::names_of(dgx, dgx.path(3, 12)) ==
        std::vector<std::string>{"gpu3->board0", "board0->board1", "board1->gpu12"});
}

TEST_CASE("a DGX A100 has one plane that every GPU reaches by 12 links", "[machines]") {
  const auto dgx = topology::load_cluster("dgx-a100-40gb");
  REQUIRE(dgx.gpus() == 8);
  for (GpuId a = 0; a < 8; ++a) {
    const auto port = dgx.link(*dgx.nvswitch_port(a, true));
    CHECK(port.count == 12);
    CHECK(port.raw.si() == Approx(300e9));
    for (GpuId b = 0; b < 8; ++b) {
      CHECK(dgx.path(a, b).links.size() == (a == b ? 0 : 2));
      CHECK_FALSE(dgx.nvlink(a, b).has_value());
    }
  }
}

TEST_CASE("NICs of the machines: how many, how fast, and whose", "[machines]") {
  const auto [name, nics, raw, gpus_per_nic] =
      GENERATE(table<std::string, std::size_t, double, int>(
          {{"dgx-1-v100", 4, 12.5e9, 2}, {"dgx-2", 8, 12.5e9, 2}, {"dgx-a100-40gb", 8, 25e9, 1}}));
  CAPTURE(name);
  const auto two = topology::load_cluster(name, {2, {}});
  REQUIRE(two.nics(1).size() == nics);
  for (const auto& nic : two.nics(1)) {
    CHECK(two.link(nic.to_fabric).raw.si() == Approx(raw));
    CHECK(two.link(nic.from_fabric).raw.si() == Approx(raw));
  }
  for (GpuId gpu = 0; gpu < two.gpus(); ++gpu) {
    CHECK(two.nic_of(gpu) == gpu % two.gpus_in(0) / gpus_per_nic);
  }
}

TEST_CASE("the socket links carry what NCCL credits to GPU traffic", "[machines]") {
  // NCCL src/graph/topo.h: Broadwell QPI 6, Skylake UPI 10, AMD 16 GB/s.
  const auto [name, link, credit] = GENERATE(table<std::string, std::string, double>({
      {"dgx-1-v100", "cpu0->cpu1", 6e9},
      {"dgx-2", "cpu0->cpu1", 10e9},
      {"dgx-a100-40gb", "numa3->numa7", 16e9},
  }));
  const auto node = topology::load_cluster(name);
  CHECK(node.link(test::link_named(node, link)).bandwidth.si() == Approx(credit).epsilon(0.01));
}

TEST_CASE("bulk transfers reach the measured share of NVLink", "[machines]") {
  // One ring over one link of a DGX-1 measures 22.6 GB/s (published look-up table, two GPUs).
  const auto dgx1 = topology::load_cluster("dgx-1-v100");
  CHECK(dgx1.link(*dgx1.nvlink(0, 1)).bandwidth.si() == Approx(22.6e9));
  CHECK(dgx1.link(*dgx1.nvlink(0, 3)).bandwidth.si() == Approx(2 * 22.6e9));
  // All-reduce of 12 GPUs of a DGX-2 peaks at 123.6, of 8 A100 at 226 to 235 GB/s.
  const auto dgx2 = topology::load_cluster("dgx-2");
  CHECK(dgx2.link(*dgx2.nvswitch_port(0, true)).bandwidth.si() == Approx(123.6e9).epsilon(0.01));
  const auto a100 = topology::load_cluster("dgx-a100-40gb");
  CHECK(a100.link(*a100.nvswitch_port(0, true)).bandwidth.si() == Approx(230e9).epsilon(0.02));
}
