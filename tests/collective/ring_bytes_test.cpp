#include <catch2/catch.hpp>

#include "collective/constants.hpp"
#include "collective/plan.hpp"
#include "collective/rings.hpp"
#include "collective/support.hpp"

using namespace trainyard;
using workload::CollectiveOp;

namespace {

constexpr double kSize = 480e6;

/// Bytes on the links that are neither a GPU's way into its NVSwitches nor its way back.
double trunk_bytes(const topology::Cluster& cluster, const collective::Plan& plan) {
  auto bytes = test::bytes_by_link(plan);
  for (topology::GpuId gpu = 0; gpu < cluster.gpus(); ++gpu) {
    bytes.erase(*cluster.nvswitch_port(gpu, true));
    bytes.erase(*cluster.nvswitch_port(gpu, false));
  }
  double sum = 0.0;
  for (const auto& [link, count] : bytes) {
    sum += count;
  }
  return sum;
}

}  // namespace

TEST_CASE("a ring collective on a DGX-1 loads each link as the algorithm says", "[bytes]") {
  const auto cluster = test::nodes_of("dgx-1-v100", 1);
  // Six rings over 8 GPUs: each link direction is in exactly one ring.
  const auto [op, per_link] = GENERATE(table<CollectiveOp, double>({
      {CollectiveOp::all_reduce, 2.0 * 7 / 8 * kSize / 6},
      {CollectiveOp::all_gather, 7.0 / 8 * kSize / 6},
      {CollectiveOp::reduce_scatter, 7.0 / 8 * kSize / 6},
      {CollectiveOp::broadcast, kSize / 6},
      {CollectiveOp::reduce, kSize / 6},
  }));
  CAPTURE(workload::to_text(op));
  const auto plan = test::ring_of(cluster, op, kSize, test::first_gpus(8));
  CHECK(plan.algorithm == "ring");
  CHECK(plan.flows.size() == 6);
  const auto bytes = test::bytes_by_link(plan);
  CHECK(bytes.size() == 32);  // 16 linked pairs, two directions
  for (const auto& [link, count] : bytes) {
    CHECK(count == Approx(per_link * cluster.link(link).count));
  }
}

TEST_CASE("two GPUs with two links split the bytes over both", "[bytes]") {
  const auto cluster = test::nodes_of("dgx-1-v100", 1);
  const auto plan = test::ring_of(cluster, CollectiveOp::all_reduce, kSize, {0, 3});
  CHECK(plan.flows.size() == 2);
  // 2 (n-1)/n = 1: the whole buffer in each direction.
  const auto bytes = test::bytes_by_link(plan);
  CHECK(bytes.at(*cluster.nvlink(0, 3)) == Approx(kSize));
  CHECK(bytes.at(*cluster.nvlink(3, 0)) == Approx(kSize));
  CHECK(bytes.size() == 2);
}

TEST_CASE("a pair without a link of its own meets over PCIe and the sockets", "[bytes]") {
  const auto cluster = test::nodes_of("dgx-1-v100", 1);
  const auto plan = test::ring_of(cluster, CollectiveOp::all_reduce, kSize, {0, 5});
  REQUIRE(plan.flows.size() == 1);
  const auto bytes = test::bytes_by_link(plan);
  for (const auto& [link, count] : bytes) {
    CHECK(cluster.link(link).medium != topology::Medium::nvlink);
    CHECK(count == Approx(kSize));  // 2 (n - 1) / n
  }
  // gpu0, plx0, cpu0, cpu1, plx2, gpu5 and back.
  CHECK(bytes.size() == 10);
}

TEST_CASE("no group of a DGX-1 puts more on its links than the rings need", "[bytes]") {
  const auto cluster = test::nodes_of("dgx-1-v100", 1);
  collective::Planner planner{cluster};
  for (unsigned mask = 1; mask < 256; ++mask) {
    const auto group = test::bits(mask);
    const auto n = static_cast<double>(group.size());
    if (group.size() < 2 || collective::rings_or_relays(test::cube_mesh(), group).empty()) {
      continue;  // alone, or apart: then it goes over PCIe
    }
    CAPTURE(group);
    const auto plan = planner.plan({CollectiveOp::all_gather, units::Bytes{kSize}, group});
    // Rings share the bytes equally, and none crosses a link twice.
    const double part = (n - 1) / n * kSize / static_cast<double>(plan.flows.size());
    for (const auto& flow : plan.flows) {
      CHECK(flow.size.si() == Approx(part));
      CHECK(flow.links.size() >= group.size());
    }
    for (const auto& [link, count] : test::bytes_by_link(plan)) {
      CHECK(cluster.link(link).medium == topology::Medium::nvlink);
      CHECK(count <= part * cluster.link(link).count * (1 + 1e-9));
    }
  }
}

TEST_CASE("through NVSwitch one flow crosses every member's ports", "[bytes]") {
  const auto cluster = test::nodes_of("dgx-a100-40gb", 1);
  const int gpus = GENERATE(3, 5, 8);
  const auto plan = test::ring_of(cluster, CollectiveOp::all_reduce, kSize, test::first_gpus(gpus));
  CHECK(plan.flows.size() == 1);
  const auto bytes = test::bytes_by_link(plan);
  CHECK(bytes.size() == 2 * static_cast<std::size_t>(gpus));
  for (topology::GpuId gpu = 0; gpu < gpus; ++gpu) {
    for (const bool out : {true, false}) {
      CHECK(bytes.at(*cluster.nvswitch_port(gpu, out)) == Approx(2.0 * (gpus - 1) / gpus * kSize));
    }
  }
}

TEST_CASE("two GPUs on NVSwitch do not fill their ports", "[bytes]") {
  const auto cluster = test::nodes_of("dgx-a100-40gb", 1);
  const auto plan = test::ring_of(cluster, CollectiveOp::all_reduce, 1e9, {2, 6});
  REQUIRE(plan.flows.size() == 1);
  const double port = cluster.link(*cluster.nvswitch_port(2, true)).bandwidth.si();
  CHECK(plan.flows[0].cap.si() == Approx(0.8 * port));
  CHECK(test::transfer_time(cluster, plan) == Approx(1e9 / (0.8 * port)));
}

TEST_CASE("a ring over both boards of a DGX-2 crosses the trunks once each way", "[bytes]") {
  const auto cluster = test::nodes_of("dgx-2", 1);
  const double factor = 2.0 * 15 / 16;
  const auto all = test::ring_of(cluster, CollectiveOp::all_reduce, kSize, test::first_gpus(16));
  CHECK(all.flows.size() == 1);
  CHECK(trunk_bytes(cluster, all) == Approx(2 * factor * kSize));
  const auto one_board =
      test::ring_of(cluster, CollectiveOp::all_reduce, kSize, test::first_gpus(8));
  CHECK(trunk_bytes(cluster, one_board) == Approx(0.0).margin(1e-9));
}
