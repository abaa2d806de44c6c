#include <algorithm>
#include <catch2/catch.hpp>

#include "collective/plan.hpp"
#include "collective/support.hpp"

using namespace trainyard;
using workload::CollectiveOp;

namespace {

constexpr double kSize = 64e6;

/// Messages of kSize / n over the cluster's own paths, added up one by one. On a DGX-1 the two ways
/// of a pair without a link (each pair has two, over one GPU) carry half each, where the group has
/// their GPUs and neither is wider.
std::map<topology::LinkId, double> all_pairs(const topology::Cluster& cluster,
                                             const std::vector<topology::GpuId>& group) {
  std::map<topology::LinkId, double> bytes;
  const double message = kSize / static_cast<double>(group.size());
  const auto add = [&](const std::vector<topology::LinkId>& links, double part) {
    for (const topology::LinkId link : links) {
      bytes[link] += part;
    }
  };
  for (const topology::GpuId from : group) {
    for (const topology::GpuId to : group) {
      int widest = 0;
      std::vector<std::vector<topology::LinkId>> relays;
      for (const topology::GpuId over : group) {
        if (from != to && cluster.pair_class(from, to) == "SYS" && cluster.nvlink(from, over) &&
            cluster.nvlink(over, to)) {
          const auto in = *cluster.nvlink(from, over);
          const auto out = *cluster.nvlink(over, to);
          const int width = std::min(cluster.link(in).count, cluster.link(out).count);
          if (width > widest) {
            widest = width;
            relays.clear();
          }
          if (width == widest) {
            relays.push_back({in, out});
          }
        }
      }
      for (const auto& relay : relays) {
        add(relay, message / static_cast<double>(relays.size()));
      }
      if (from != to && relays.empty()) {
        add(cluster.pair_class(from, to) == "SYS" ? cluster.pcie_path(from, to).links
                                                  : cluster.path(from, to).links,
            message);
      }
    }
  }
  return bytes;
}

}  // namespace

TEST_CASE("all-to-all through NVSwitch puts what a rank sends on its port", "[pairwise]") {
  const auto cluster = test::nodes_of("dgx-a100-40gb", 1);
  const auto plan = test::plan_of(cluster, CollectiveOp::all_to_all, kSize, test::first_gpus(8));
  CHECK(plan.algorithm == "pairwise");
  CHECK(plan.flows.size() == 1);
  const auto bytes = test::bytes_by_link(plan);
  CHECK(bytes.size() == 16);
  for (const auto& [link, count] : bytes) {
    CHECK(count == Approx(7.0 / 8 * kSize));
  }
}

TEST_CASE("all-to-all loads every link with the pairs whose path crosses it", "[pairwise]") {
  const auto [type, nodes, group] = GENERATE(table<std::string, int, std::vector<int>>({
      {"dgx-1-v100", 1, {0, 1, 2, 3, 4, 5, 6, 7}},
      {"dgx-1-v100", 1, {0, 5, 6}},
      {"dgx-2", 1, {0, 1, 2, 8, 9}},
      {"dgx-1-v100", 2, {0, 1, 2, 3, 8, 9, 15}},
      {"dgx-a100-40gb", 3, {0, 1, 7, 9, 10, 16, 20}},
  }));
  CAPTURE(type, group);
  const auto cluster = test::nodes_of(type, nodes);
  const auto plan = test::plan_of(cluster, CollectiveOp::all_to_all, kSize, group);
  const auto expected = all_pairs(cluster, group);
  const auto bytes = test::bytes_by_link(plan);
  REQUIRE(bytes.size() == expected.size());
  double slowest = 0.0;
  for (const auto& [link, count] : expected) {
    CHECK(bytes.at(link) == Approx(count));
    slowest = std::max(slowest, count / cluster.link(link).bandwidth.si());
  }
  // Large enough for Simple: the most loaded link decides, and all flows end with it.
  REQUIRE(plan.protocol == "simple");
  CHECK(test::transfer_time(cluster, plan) == Approx(slowest));
  const auto rates = collective::rates_alone(plan.flows, cluster);
  for (std::size_t f = 0; f < rates.size(); ++f) {
    CHECK(plan.flows[f].size.si() / rates[f].si() == Approx(slowest));
  }
}

TEST_CASE("gather fills the root's way in, scatter its way out", "[pairwise]") {
  const auto cluster = test::nodes_of("dgx-a100-40gb", 1);
  const auto in = *cluster.nvswitch_port(2, false);
  const auto out = *cluster.nvswitch_port(2, true);
  const std::vector<topology::GpuId> group{2, 0, 5, 7};
  const auto gather =
      test::bytes_by_link(test::plan_of(cluster, CollectiveOp::gather, kSize, group));
  CHECK(gather.at(in) == Approx(3.0 / 4 * kSize));
  CHECK_FALSE(gather.contains(out));
  CHECK(gather.at(*cluster.nvswitch_port(5, true)) == Approx(kSize / 4));
  const auto scatter =
      test::bytes_by_link(test::plan_of(cluster, CollectiveOp::scatter, kSize, group));
  CHECK(scatter.at(out) == Approx(3.0 / 4 * kSize));
  CHECK_FALSE(scatter.contains(in));
  CHECK(scatter.at(*cluster.nvswitch_port(7, false)) == Approx(kSize / 4));
}

TEST_CASE("send_recv moves the whole message to the next rank", "[pairwise]") {
  const auto cluster = test::nodes_of("dgx-a100-40gb", 1);
  SECTION("of two, only from the first to the second") {
    const auto bytes =
        test::bytes_by_link(test::plan_of(cluster, CollectiveOp::send_recv, kSize, {4, 1}));
    CHECK(bytes.size() == 2);
    CHECK(bytes.at(*cluster.nvswitch_port(4, true)) == Approx(kSize));
    CHECK(bytes.at(*cluster.nvswitch_port(1, false)) == Approx(kSize));
  }
  SECTION("of more, in a ring") {
    const auto bytes =
        test::bytes_by_link(test::plan_of(cluster, CollectiveOp::send_recv, kSize, {4, 1, 6}));
    CHECK(bytes.size() == 6);
    for (const auto& [link, count] : bytes) {
      CHECK(count == Approx(kSize));
    }
  }
  SECTION("between nodes over the NIC") {
    const auto two = test::nodes_of("dgx-1-v100", 2);
    const auto plan = test::plan_of(two, CollectiveOp::send_recv, kSize, {0, 8});
    const auto bytes = test::bytes_by_link(plan);
    CHECK(bytes.at(two.nics(0)[0].to_fabric) == Approx(kSize));
    CHECK(bytes.at(two.nics(1)[0].from_fabric) == Approx(kSize));
  }
}
