#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <set>

#include "collective/plan.hpp"
#include "collective/routes.hpp"
#include "collective/support.hpp"

using namespace trainyard;
using workload::CollectiveOp;

namespace {

constexpr double kSize = 160e6;

/// "node3/gpu0->gpu1" begins at "node3/gpu0" and ends at "node3/gpu1"; on a cable or in the fabric
/// both ends have their full names.
std::pair<std::string, std::string> ends(const topology::Link& link) {
  const auto arrow = link.name.find("->");
  REQUIRE(arrow != std::string::npos);
  const std::string from = link.name.substr(0, arrow);
  std::string to = link.name.substr(arrow + 2);
  if (link.medium != topology::Medium::network) {
    to = from.substr(0, from.find('/') + 1) + to;
  }
  return {from, to};
}

/// Each hop is a path of links that meet, and the last hop ends where the first begins.
void check_closed(const topology::Cluster& cluster, const std::vector<collective::Hop>& ring) {
  std::vector<topology::LinkId> links;
  for (const auto& hop : ring) {
    links.insert(links.end(), hop.begin(), hop.end());
  }
  for (std::size_t i = 0; i < links.size(); ++i) {
    const topology::Link here = cluster.link(links[i]);
    const topology::Link next = cluster.link(links[(i + 1) % links.size()]);
    INFO(here.name << " then " << next.name);
    CHECK(ends(here).second == ends(next).first);
  }
}

/// NICs of `node` that send, with their bytes.
std::map<int, double> sent_by_nic(const topology::Cluster& cluster, int node,
                                  const collective::Plan& plan) {
  const auto bytes = test::bytes_by_link(plan);
  std::map<int, double> sent;
  for (const auto& nic : cluster.nics(node)) {
    if (bytes.contains(nic.to_fabric)) {
      sent[nic.index] = bytes.at(nic.to_fabric);
    }
  }
  return sent;
}

}  // namespace

TEST_CASE("between nodes there is one ring a rail, with an equal part of the bytes", "[nodes]") {
  const auto [type, gpus, rails] = GENERATE(table<std::string, int, int>(
      {{"dgx-1-v100", 8, 4}, {"dgx-a100-40gb", 8, 8}, {"dgx-2", 16, 8}}));
  CAPTURE(type);
  const auto cluster = test::nodes_of(type, 2);
  const auto plan =
      test::ring_of(cluster, CollectiveOp::all_reduce, kSize, test::first_gpus(2 * gpus));
  CHECK(static_cast<int>(plan.flows.size()) == rails);
  const double part = 2.0 * (2 * gpus - 1) / (2 * gpus) * kSize / rails;
  const auto bytes = test::bytes_by_link(plan);
  for (const int node : {0, 1}) {
    REQUIRE(static_cast<int>(cluster.nics(node).size()) == rails);
    for (const auto& nic : cluster.nics(node)) {
      CHECK(bytes.at(nic.to_fabric) == Approx(part));
      CHECK(bytes.at(nic.from_fabric) == Approx(part));
    }
  }
}

TEST_CASE("rings between nodes are closed paths through every member", "[nodes]") {
  const auto type = GENERATE(as<std::string>{}, "dgx-1-v100", "dgx-a100-40gb", "dgx-2");
  CAPTURE(type);
  const auto cluster = test::nodes_of(type, 3);
  collective::RingRouter router{cluster};
  const int in_node = cluster.gpus_in(0);
  std::vector<topology::GpuId> group = test::first_gpus(in_node + 3);  // all, three
  group.push_back(2 * in_node + 1);                                    // and one
  const auto routes = router.route(group);
  CHECK(routes.nodes == 3);
  CHECK(routes.rings.size() == 1);
  for (const auto& ring : routes.rings) {
    CHECK(ring.size() == group.size());
    check_closed(cluster, ring);
  }
  const auto full = router.route(test::first_gpus(3 * in_node));
  for (const auto& ring : full.rings) {
    CHECK(static_cast<int>(ring.size()) == 3 * in_node);
    check_closed(cluster, ring);
  }
}

TEST_CASE("one GPU a node: its NIC carries the whole ring", "[nodes]") {
  const auto cluster = test::nodes_of("dgx-a100-40gb", 4);
  const auto plan = test::ring_of(cluster, CollectiveOp::all_gather, kSize, {3, 11, 19, 27});
  REQUIRE(plan.flows.size() == 1);
  for (int node = 0; node < 4; ++node) {
    const int nic = cluster.nic_of(cluster.first_gpu(node) + 3);
    const auto sent = sent_by_nic(cluster, node, plan);
    REQUIRE(sent.size() == 1);
    CHECK(sent.begin()->first == nic);
    CHECK(sent.begin()->second == Approx(3.0 / 4 * kSize));
  }
}

TEST_CASE("a ring takes a rail that all nodes have before any other", "[nodes]") {
  const auto cluster = test::nodes_of("dgx-1-v100", 2);  // NIC i is near GPUs 2i, 2i + 1
  SECTION("one in common") {
    const auto plan = test::ring_of(cluster, CollectiveOp::all_reduce, kSize, {0, 1, 2, 3, 10, 11});
    CHECK(plan.flows.size() == 1);
    CHECK(sent_by_nic(cluster, 0, plan).begin()->first == 1);
    CHECK(sent_by_nic(cluster, 1, plan).begin()->first == 1);
  }
  SECTION("none in common") {
    const auto plan = test::ring_of(cluster, CollectiveOp::all_reduce, kSize, {0, 1, 14, 15});
    CHECK(plan.flows.size() == 1);
    CHECK(sent_by_nic(cluster, 0, plan).begin()->first == 0);
    CHECK(sent_by_nic(cluster, 1, plan).begin()->first == 3);
  }
}

TEST_CASE("nodes follow each other in the order of their first rank", "[nodes]") {
  const auto cluster = test::nodes_of("dgx-1-v100", 3);
  collective::RingRouter router{cluster};
  const auto ring = router.route({16, 0, 8}).rings.front();
  REQUIRE(ring.size() == 3);
  CHECK(ends(cluster.link(ring[0].front())).first == "node2/gpu0");
  CHECK(ends(cluster.link(ring[1].front())).first == "node0/gpu0");
  CHECK(ends(cluster.link(ring[2].front())).first == "node1/gpu0");
}

TEST_CASE("random groups over four nodes have closed rings and finite times", "[nodes]") {
  const auto type = GENERATE(as<std::string>{}, "dgx-1-v100", "dgx-a100-40gb", "dgx-2");
  CAPTURE(type);
  const auto cluster = test::nodes_of(type, 4);
  collective::RingRouter router{cluster};
  collective::Planner planner{cluster};
  test::Random random{11};
  for (int round = 0; round < 60; ++round) {
    const int size = 2 + random.below(15);
    const auto group = test::sample(random, cluster.gpus(), size);
    CAPTURE(group);
    for (const auto& ring : router.route(group).rings) {
      check_closed(cluster, ring);
    }
    for (const CollectiveOp op :
         {CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::broadcast,
          CollectiveOp::all_to_all, CollectiveOp::send_recv, CollectiveOp::gather,
          CollectiveOp::scatter}) {
      const auto plan = planner.plan({op, units::Bytes{1e8}, group});
      const double time = collective::time_alone(plan, cluster).si();
      CHECK(time > 0.0);
      CHECK(time < 1.0);  // 100 MB at 1 GB/s would be 0.1 s
    }
  }
}

TEST_CASE("a group cannot span nodes without a network", "[nodes]") {
  const auto cluster = topology::flat_cluster(2, 4);
  collective::Planner planner{cluster};
  REQUIRE_THROWS_WITH(planner.plan({CollectiveOp::all_reduce, units::Bytes{1e6}, {0, 4}}),
                      Catch::Contains("has no network: a job cannot span nodes there"));
}
