#include "collective/bound.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "collective/operation.hpp"
#include "collective/support.hpp"

using namespace trainyard;
using workload::CollectiveOp;

namespace {

double bound(const topology::Cluster& cluster, CollectiveOp op,
             const std::vector<topology::GpuId>& group) {
  return collective::lower_bound(cluster, {op, units::Bytes{1e9}, group}).si();
}

}  // namespace

TEST_CASE("narrowest cuts by hand", "[bound]") {
  // A GPU of a DGX A100: 12 x 25 GB/s of NVLink and a PCIe 4 port of 31.5 GB/s; a node: 8 x 25
  // GB/s.
  const double port = 331.5e9;
  const double cables = 200e9;
  const auto one = test::nodes_of("dgx-a100-40gb", 1);
  const auto all = test::first_gpus(8);
  CHECK(bound(one, CollectiveOp::all_reduce, all) == Approx(1e9 / port));
  CHECK(bound(one, CollectiveOp::all_gather, all) == Approx(1e9 * 7 / 8 / port));
  CHECK(bound(one, CollectiveOp::all_to_all, all) == Approx(1e9 * 7 / 8 / port));
  CHECK(bound(one, CollectiveOp::broadcast, all) == Approx(1e9 / port));
  CHECK(bound(one, CollectiveOp::gather, all) == Approx(1e9 * 7 / 8 / port));
  CHECK(bound(one, CollectiveOp::barrier, all) == 0.0);
  const auto two = test::nodes_of("dgx-a100-40gb", 2);
  const auto both = test::first_gpus(16);
  CHECK(bound(two, CollectiveOp::all_reduce, both) == Approx(1e9 / cables));
  // Half of the result comes from the other node; a GPU takes 15/16 of it, which is longer.
  CHECK(bound(two, CollectiveOp::all_gather, both) == Approx(1e9 * 15 / 16 / port));
  const auto one_nic = topology::load_cluster("dgx-a100-40gb", {2, 1});
  CHECK(bound(one_nic, CollectiveOp::all_gather, both) == Approx(0.5e9 / 25e9));
  // Eight senders, each half of its buffer to the other node.
  CHECK(bound(two, CollectiveOp::all_to_all, both) == Approx(8 * 0.5e9 / cables));
  CHECK(bound(two, CollectiveOp::all_reduce, {3}) == 0.0);
}

TEST_CASE("no collective is faster than its latency and its narrowest cut", "[bound]") {
  const auto type = GENERATE(as<std::string>{}, "dgx-1-v100", "dgx-2", "dgx-a100-40gb", "dgx-h100",
                             "aws-p4d", "gh200-quad", "rtx-2080ti-x8", "t4-x4");
  CAPTURE(type);
  const auto cluster = test::nodes_of(type, type == "rtx-2080ti-x8" ? 1 : 3);
  collective::Planner planner{cluster};
  test::Random random{17};
  for (int round = 0; round < 40; ++round) {
    const auto group =
        test::sample(random, cluster.gpus(), 2 + random.below(std::min(14, cluster.gpus() - 1)));
    CAPTURE(group);
    for (const CollectiveOp op :
         {CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::reduce_scatter,
          CollectiveOp::broadcast, CollectiveOp::reduce, CollectiveOp::all_to_all,
          CollectiveOp::send_recv, CollectiveOp::gather, CollectiveOp::scatter}) {
      CAPTURE(workload::to_text(op));
      for (const double bytes : {1.0, 1e4, 1e6, 1e9}) {
        const collective::Request request{op, units::Bytes{bytes}, group};
        const auto plan = planner.plan(request);
        const double time = collective::time_alone(plan, cluster).si();
        CHECK(time >= plan.latency.si());
        CHECK(time >= collective::lower_bound(cluster, request).si());
      }
    }
  }
}

TEST_CASE("wrong groups and sizes are refused with their numbers", "[bound]") {
  const auto cluster = test::nodes_of("dgx-1-v100", 1);
  const input::Place place{"command line"};
  const auto check = [&](const std::vector<int>& group, double bytes) {
    collective::check_request(cluster, {CollectiveOp::all_reduce, units::Bytes{bytes}, group},
                              place);
  };
  CHECK_NOTHROW(check({0, 7}, 0.0));
  CHECK_THROWS_WITH(check({}, 1.0), Catch::Contains("at least one GPU"));
  CHECK_THROWS_WITH(check({0, 3, 0}, 1.0), Catch::Contains("GPU 0 is in the group twice"));
  CHECK_THROWS_WITH(check({0, 8}, 1.0),
                    Catch::Contains("GPU 8 is not in the cluster") && Catch::Contains("0 to 7"));
  CHECK_THROWS_WITH(check({-1}, 1.0), Catch::Contains("GPU -1"));
  CHECK_THROWS_WITH(check({0}, -1.0), Catch::Contains("0 to 2^60 bytes"));
  CHECK_THROWS_WITH(check({0}, std::numeric_limits<double>::quiet_NaN()),
                    Catch::Contains("0 to 2^60 bytes"));
  CHECK_THROWS_WITH(check({0}, 1e30), Catch::Contains("0 to 2^60 bytes"));
}

TEST_CASE("collectives by name, and their bus factors", "[bound]") {
  CHECK(collective::parse_op("alltoall") == CollectiveOp::all_to_all);
  CHECK(collective::parse_op("send_recv") == CollectiveOp::send_recv);
  CHECK_FALSE(collective::parse_op("allreduce").has_value());
  CHECK(collective::unknown_op("allreduce").find("did you mean \"all_reduce\"?") !=
        std::string::npos);
  CHECK(collective::bus_factor(CollectiveOp::all_reduce, 8) == Approx(1.75));
  CHECK(collective::bus_factor(CollectiveOp::all_to_all, 8) == Approx(0.875));
  CHECK(collective::bus_factor(CollectiveOp::broadcast, 8) == 1.0);
}
