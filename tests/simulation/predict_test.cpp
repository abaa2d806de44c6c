// Shipped workloads replayed on the machines they were measured on, against the recordings.
#include "simulation/predict.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "input/files.hpp"
#include "topology/cluster.hpp"
#include "workload/file.hpp"

using namespace trainyard;
using namespace trainyard::simulation;

namespace {

workload::Workload shipped(const std::string& name) {
  return workload::read_workload((input::data_folder() / "workloads" / (name + ".json")).string());
}

std::vector<topology::GpuId> first(int count) {
  std::vector<topology::GpuId> gpus(static_cast<std::size_t>(count));
  std::iota(gpus.begin(), gpus.end(), 0);
  return gpus;
}

double milliseconds(units::Nanoseconds time) {
  return static_cast<double>(time.count()) * 1e-6;
}

double microseconds(units::Nanoseconds time) {
  return static_cast<double>(time.count()) * 1e-3;
}

}  // namespace

TEST_CASE("DLRM on its own DGX-1 takes what was recorded", "[predict]") {
  const auto cluster = topology::load_cluster("dgx-1-v100");
  const auto result = predict(shipped("dlrm-v100x8"), cluster, first(8));
  // Step markers: first begin to last end over the ranks is 20.823 ms; spans by an independent
  // script (profiles/reference-values.csv).
  CHECK(milliseconds(result.step) == Approx(20.823).epsilon(0.03));
  const std::vector<double> spans{13.009, 18.749, 11.35, 18.853, 16.589, 16.392, 11.41, 10.967};
  REQUIRE(result.ranks.size() == spans.size());
  for (std::size_t rank = 0; rank < spans.size(); ++rank) {
    CHECK(milliseconds(result.ranks[rank].span) == Approx(spans[rank]).epsilon(0.03));
  }
}

TEST_CASE("with aligned steps a rank waits for the last one to arrive", "[predict]") {
  const auto cluster = topology::load_cluster("dgx-1-v100");
  const auto result = predict(shipped("dlrm-v100x8"), cluster, first(8), {true});
  // Arrivals at the first exchange after the step's begin, us, read off the profiles; the last is
  // 3908; the exchange itself takes about 10.
  const std::vector<double> arrivals{3121, 3101, 3330, 3908, 3009, 3066, 3345, 3212};
  const auto& durations = result.collectives.front().duration;
  REQUIRE(durations.size() == arrivals.size());
  for (std::size_t rank = 0; rank < arrivals.size(); ++rank) {
    CHECK(microseconds(durations[rank]) == Approx(3908.0 - arrivals[rank] + 10.0).margin(50.0));
  }
}

TEST_CASE("ranks that arrive together only pay the exchange", "[predict]") {
  auto workload = shipped("dlrm-v100x8");
  for (auto& timeline : workload.timelines) {
    const int rank = timeline.rank;
    timeline = workload.timelines.back();
    timeline.rank = rank;
  }
  const auto cluster = topology::load_cluster("dgx-1-v100");
  const auto result = predict(workload, cluster, first(8), {true});
  for (const auto time : result.collectives.front().duration) {
    CHECK(microseconds(time) < 50.0);
  }
}

TEST_CASE("ResNet-50 on two A100: what the wire does not explain is a wait", "[predict]") {
  const auto cluster = topology::load_cluster("dgx-a100-40gb");
  const auto result = predict(shipped("resnet50-ddp-a100x2"), cluster, first(2));
  CHECK(milliseconds(result.step) == Approx(222.0).epsilon(0.03));
  for (const auto& call : result.collectives) {
    REQUIRE(call.recorded.size() == 1);
    CHECK(call.absent_wait == call.recorded[0] - call.transfer);
    CHECK(microseconds(call.duration[0]) == Approx(microseconds(call.recorded[0])).margin(0.01));
  }
  // 31.5 MB through NVSwitch, two GPUs at about 190 GB/s: 166 us and some latency.
  CHECK(microseconds(result.collectives[3].transfer) == Approx(180.0).margin(30.0));
}

TEST_CASE("with links a hundred times slower transfers grow and waits stay", "[predict]") {
  std::string text = input::read_file(input::data_folder() / "topologies/nodes/dgx-a100-40gb.toml");
  const std::string kind = "kind = \"nvlink3-nvswitch\"\n";
  const auto at = text.find(kind);
  REQUIRE(at != std::string::npos);
  text.insert(at + kind.size(), "bandwidth = \"0.25 GB/s\"\n");
  const auto slow =
      topology::parse_cluster(input::Document::parse(text, "slow.toml"), topology::Catalog::load());
  const auto workload = shipped("resnet50-ddp-a100x2");
  const auto fast_result = predict(workload, topology::load_cluster("dgx-a100-40gb"), first(2));
  const auto slow_result = predict(workload, slow, first(2));
  const auto& fast_call = fast_result.collectives[3];
  const auto& slow_call = slow_result.collectives[3];
  CHECK(slow_call.absent_wait == fast_call.absent_wait);
  // 31.5 MB at 0.25 x 12 links x 0.76 x 0.84 (two GPUs) = 1.915 GB/s: 16.45 ms.
  CHECK(milliseconds(slow_call.transfer) == Approx(16.45).epsilon(0.02));
  // The call lasts longer by just that much, and the step grows by no more than all of its calls
  // do.
  CHECK(slow_call.duration[0] - fast_call.duration[0] == slow_call.transfer - fast_call.transfer);
  units::Nanoseconds growth;
  for (std::size_t k = 0; k < slow_result.collectives.size(); ++k) {
    growth += slow_result.collectives[k].transfer - fast_result.collectives[k].transfer;
  }
  const double steps = 3.0;
  CHECK(milliseconds(slow_result.step - fast_result.step) <= milliseconds(growth) / steps * 1.05);
  CHECK(slow_result.step > fast_result.step);
}

TEST_CASE("one GPU replays its recording exactly", "[predict]") {
  const auto cluster = topology::load_cluster("dgx-1-v100");
  const auto result = predict(shipped("resnet50-v100"), cluster, first(1));
  CHECK(result.step == result.recorded_step);
  CHECK(result.bottleneck_link.empty());
}
