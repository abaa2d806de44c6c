#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "collective/plan.hpp"
#include "collective/support.hpp"
#include "input/csv.hpp"
#include "support/shared.hpp"

using namespace trainyard;
using workload::CollectiveOp;

namespace {

/// Start of a kernel by one process per GPU, which the tables include and plans do not.
/// @source fit of the published nccl-tests tables
constexpr double kLaunch = 16e-6;

double predicted(const topology::Cluster& cluster, CollectiveOp op, double bytes, int gpus) {
  const auto plan = test::plan_of(cluster, op, bytes, test::first_gpus(gpus));
  return kLaunch + time_alone(plan, cluster).si();
}

double median(std::vector<double> values) {
  REQUIRE(!values.empty());
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

TEST_CASE("all-reduce inside a node is near the published table", "[measured]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  const auto table = input::Csv::parse_file((*shared / "published/allreduce_lut.csv").string());
  const auto v100 = test::nodes_of("dgx-1-v100", 1);
  const auto a100 = test::nodes_of("dgx-a100-40gb", 1);
  std::vector<double> small;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto row = table.row(i);
    const auto& cluster = row.text("gpu") == "V100" ? v100 : a100;
    const double bytes = row.number("bytes");
    const int gpus = static_cast<int>(row.integer("gpus"));
    CAPTURE(row.text("gpu"), gpus, bytes);
    const double error =
        predicted(cluster, CollectiveOp::all_reduce, bytes, gpus) / (row.number("time_us") * 1e-6) -
        1.0;
    if (bytes >= 64 << 20) {
      CHECK(std::abs(error) < 0.20);  // bandwidth alone: links and rings must be right
    } else {
      small.push_back(std::abs(error));
    }
  }
  // Below, protocols change and slices are not full: the published spread is 30 % around 3 MB.
  CHECK(median(small) < 0.25);
}

TEST_CASE("large collectives are near the published nccl-tests runs", "[measured]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  struct Run {
    const char* type;
    int nodes;
    int gpus;
    CollectiveOp op;
    double within;
  };
  const std::map<std::string, Run> runs{
      {"v100x8-16g-nvlink-ar", {"dgx-1-v100", 1, 8, CollectiveOp::all_reduce, 0.2}},
      {"a100x8-80g-ar-mpi", {"dgx-a100-40gb", 1, 8, CollectiveOp::all_reduce, 0.2}},
      {"ndv4-8g-allreduce", {"dgx-a100-40gb", 1, 8, CollectiveOp::all_reduce, 0.2}},
      {"ndv4-8g-reducescatter", {"dgx-a100-40gb", 1, 8, CollectiveOp::reduce_scatter, 0.2}},
      {"ndv4-8g-broadcast", {"dgx-a100-40gb", 1, 8, CollectiveOp::broadcast, 0.2}},
      {"dgx2-12g-ar", {"dgx-2", 1, 12, CollectiveOp::all_reduce, 0.2}},
      {"dgx2-12g-ag-ip", {"dgx-2", 1, 12, CollectiveOp::all_gather, 0.3}},
      {"dgx2-12g-reduce", {"dgx-2", 1, 12, CollectiveOp::reduce, 0.2}},
      // NCCL's tree moves about the same bytes over the NICs of two nodes as this ring.
      {"dgxa100-2n16g-ar", {"dgx-a100-40gb", 2, 16, CollectiveOp::all_reduce, 0.2}},
  };
  const auto table = input::Csv::parse_file((*shared / "published/nccl-tests.csv").string());
  int compared = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto row = table.row(i);
    const auto run = runs.find(row.text("id"));
    if (run == runs.end() || row.number("bytes") < 512e6) {
      continue;
    }
    const auto& [type, nodes, gpus, op, within] = run->second;
    CAPTURE(row.text("id"), row.number("bytes"));
    const double error = predicted(test::nodes_of(type, nodes), op, row.number("bytes"), gpus) /
                             (row.number("time_us") * 1e-6) -
                         1.0;
    CHECK(std::abs(error) < within);
    ++compared;
  }
  CHECK(compared >= 20);
}
