#include <algorithm>
#include <catch2/catch.hpp>

#include "topology/support.hpp"

using namespace trainyard;
using topology::GpuId;
using Names = std::vector<std::string>;

TEST_CASE("GPUs are numbered node by node", "[cluster]") {
  const auto cluster = topology::load_cluster("dgx-1-x2");
  CHECK(cluster.name() == "dgx-1-x2");
  CHECK(cluster.nodes() == 2);
  CHECK(cluster.gpus() == 16);
  CHECK(cluster.first_gpu(1) == 8);
  CHECK(cluster.gpus_in(1) == 8);
  CHECK(cluster.node_of(7) == 0);
  CHECK(cluster.node_of(8) == 1);
  CHECK(cluster.gpu_name(9) == "node1/gpu1");
  CHECK(cluster.node_type(1) == "dgx-1-v100");
  CHECK(cluster.gpu_kind(9).name == "v100-sxm2-32gb");
  CHECK(topology::load_cluster("dgx-1-v100").gpu_name(1) == "gpu1");
}

TEST_CASE("a node file makes as many nodes as asked, on one switch", "[cluster]") {
  const auto four = topology::load_cluster("dgx-a100-40gb", {4, {}});
  CHECK(four.gpus() == 32);
  CHECK(four.switch_hops(0, 31) == 1);
  CHECK(four.link(four.nics(3)[7].to_fabric).name == "node3/mlx5_7->switch");
  CHECK(topology::load_cluster("dgx-a100-40gb").nics(0)[0].to_fabric == -1);
}

TEST_CASE("options replace the count of nodes and drop NICs", "[cluster]") {
  const auto cluster = topology::load_cluster("superpod-a100-1su", {40, 2});
  CHECK(cluster.nodes() == 40);
  CHECK(cluster.nics(39).size() == 2);
  CHECK(cluster.nic_of(0) == 0);
  CHECK(cluster.nic_of(1) == 1);
  // GPUs 2 .. 7 are equally far from both that are left: they take turns.
  CHECK(cluster.nic_of(2) == 0);
  CHECK(cluster.nic_of(3) == 1);
  REQUIRE_THROWS_WITH(topology::load_cluster("dgx-2", {0, {}}),
                      Catch::Contains("asked for 0 nodes"));
  REQUIRE_THROWS_WITH(topology::load_cluster("dgx-2", {{}, -1}), Catch::Contains("asked for -1"));
  REQUIRE_THROWS_WITH(topology::load_cluster("dgx-2", {1'000'000'000, {}}),
                      Catch::Contains("asked for 1000000000 nodes"));
}

TEST_CASE("every link id has a name of its own and shareable ones ascend", "[cluster]") {
  const auto cluster = topology::load_cluster("dgx-1-x2");
  Names names;
  std::vector<topology::LinkId> shareable;
  for (topology::LinkId id = 0; id < cluster.links(); ++id) {
    const auto link = cluster.link(id);
    names.push_back(link.name);
    CHECK(link.bandwidth.si() > 0.0);
    CHECK(link.bandwidth <= link.raw);
    if (link.shareable) {
      shareable.push_back(id);
    }
  }
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  CHECK(cluster.shareable_links() == shareable);
}

TEST_CASE("between nodes a path leaves by the NIC of the destination's rail", "[cluster]") {
  const auto pod = topology::load_cluster("superpod-a100-1su");
  SECTION("over PCIe when the NIC is near") {
    CHECK(test::names_of(pod, pod.path(0, 8)) ==
          Names{"node0/gpu0->leaf0", "node0/leaf0->nested0", "node0/nested0->mlx5_0",
                "node0/mlx5_0->leaf0", "leaf0->node1/mlx5_0", "node1/mlx5_0->nested0",
                "node1/nested0->leaf0", "node1/leaf0->gpu0"});
    CHECK(pod.path(0, 9).links.size() == 10);  // GPU 1's NIC is below the same parent switch
  }
  SECTION("over NVLink first when it is across the CPU") {
    const auto names = test::names_of(pod, pod.path(0, 8 + 5));
    CHECK(names[0] == "node0/gpu0->nvswitches");
    CHECK(names[1] == "node0/nvswitches->gpu5");
    CHECK(names[5] == "node0/mlx5_5->leaf5");
    CHECK(names[6] == "leaf5->node1/mlx5_5");
  }
  SECTION("and stays on one switch, whatever the pair") {
    for (GpuId to = 8; to < 160; ++to) {
      CHECK(pod.switch_hops(3, to) == 1);
    }
  }
}

TEST_CASE("without NVLink to the rail the own NIC is used", "[cluster]") {
  const auto pair = topology::load_cluster("dgx-1-x2");
  // GPU 0 has NVLink to 1, 2, 3 and 4, so to NICs 0, 1 and 2, but none to 6 or 7 at NIC 3.
  const auto leaves = [&](GpuId to) {
    for (const auto link : pair.path(0, to).links) {
      if (pair.link(link).name.find("->switch") != std::string::npos) {
        return pair.link(link).name;
      }
    }
    return std::string{};
  };
  CHECK(leaves(8 + 0) == "node0/mlx5_0->switch");
  CHECK(leaves(8 + 2) == "node0/mlx5_1->switch");
  CHECK(leaves(8 + 5) == "node0/mlx5_2->switch");
  CHECK(leaves(8 + 7) == "node0/mlx5_0->switch");
  // To rail 1 the wide bundle to GPU 3 is taken, not the narrow one to GPU 2.
  CHECK(test::names_of(pair, pair.path(0, 8 + 2))[0] == "node0/gpu0->gpu3");
}

TEST_CASE("all paths of the shipped clusters are walks with the latency of their links",
          "[cluster]") {
  const auto name =
      GENERATE(as<std::string>{}, "dgx-1-x2", "superpod-a100-1su", "fat-tree-dgx-1-16", "dgx-2");
  CAPTURE(name);
  const auto cluster = topology::load_cluster(name);
  for (GpuId from = 0; from < cluster.gpus(); from += 3) {
    for (GpuId to = 0; to < cluster.gpus(); to += 5) {
      const auto path = cluster.path(from, to, 7);
      CHECK(test::is_walk(cluster, path, cluster.gpu_name(from), cluster.gpu_name(to)));
      double latency = 0.0;
      for (const auto link : path.links) {
        latency += cluster.link(link).latency.si();
      }
      CHECK(path.latency.si() == Approx(latency));
    }
  }
}

TEST_CASE("a transfer to a NIC and back takes the same links in reverse", "[cluster]") {
  const auto dgx = topology::load_cluster("dgx-2", {2, {}});
  CHECK(test::names_of(dgx, dgx.gpu_to_nic(16 + 4, 3)) ==
        Names{"node1/gpu4->leaf2", "node1/leaf2->parent1", "node1/parent1->leaf3",
              "node1/leaf3->mlx5_3"});
  CHECK(test::names_of(dgx, dgx.nic_to_gpu(3, 16 + 4)) ==
        Names{"node1/mlx5_3->leaf3", "node1/leaf3->parent1", "node1/parent1->leaf2",
              "node1/leaf2->gpu4"});
}

TEST_CASE("a flat cluster has GPUs and nothing else", "[cluster]") {
  const auto flat = topology::flat_cluster(3, 4);
  CHECK(flat.nodes() == 3);
  CHECK(flat.gpus() == 12);
  CHECK(flat.node_of(7) == 1);
  CHECK(flat.first_gpu(2) == 8);
  CHECK(flat.gpus_in(2) == 4);
  CHECK(flat.links() == 0);
  CHECK(flat.shareable_links().empty());
  CHECK(flat.path(0, 5).links.empty());
  CHECK(flat.nics(1).empty());
  CHECK(flat.nic_of(3) == -1);
  CHECK(flat.leaf_of(0) == -1);
  CHECK(flat.switch_hops(0, 11) == 0);
  CHECK(flat.gpu_name(5) == "node1/gpu1");
  CHECK(flat.pair_class(0, 1) == "NET");
  CHECK_FALSE(flat.nvlink(0, 1).has_value());
  CHECK_FALSE(flat.nvswitch_port(0, true).has_value());
}
