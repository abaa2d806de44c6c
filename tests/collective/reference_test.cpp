#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>

#include "collective/plan.hpp"
#include "collective/routes.hpp"
#include "collective/support.hpp"
#include "engine/network.hpp"

using namespace trainyard;
using workload::CollectiveOp;

namespace {

/// A ring all-reduce step by step: in each of 2 (n - 1) steps every rank sends a part of the buffer
/// to its neighbour on every ring; a step begins when the one before has ended everywhere. All
/// steps are alike: with many flows only the first `simulated` are run, and stand for all.
class Steps final : public engine::Handler {
 public:
  Steps(const topology::Cluster& cluster, const collective::RingRoutes& routes, int ranks,
        double bytes, int simulated)
      : steps_{2 * (ranks - 1)},
        simulated_{std::min(simulated, steps_)},
        chunk_{bytes / ranks / static_cast<double>(routes.rings.size())} {
    std::vector<engine::Resource> resources;
    resources.reserve(static_cast<std::size_t>(cluster.links()));
    for (topology::LinkId link = 0; link < cluster.links(); ++link) {
      resources.push_back({cluster.link(link).name, cluster.link(link).bandwidth});
    }
    network_ = engine::make_fluid_network(resources);
    for (const auto& ring : routes.rings) {
      for (const auto& hop : ring) {
        engine::FlowSpec& flow = flows_.emplace_back();
        flow.resources.assign(hop.begin(), hop.end());
        flow.size = units::Bytes{chunk_};
      }
    }
  }

  double run() {
    begin_step();
    network_->run();
    return network_->now().seconds().si() * steps_ / simulated_;
  }

  void fire(std::uint64_t /*token*/) override {
    if (--open_ == 0 && ++step_ < simulated_) {
      begin_step();
    }
  }

 private:
  void begin_step() {
    open_ = static_cast<int>(flows_.size());
    for (const auto& flow : flows_) {
      network_->start(flow, *this, 0);
    }
  }

  int steps_ = 0;
  int simulated_ = 0;
  double chunk_ = 0.0;
  std::unique_ptr<engine::Network> network_{};
  std::vector<engine::FlowSpec> flows_{};
  int open_ = 0;
  int step_ = 0;
};

double step_by_step(const topology::Cluster& cluster, const std::vector<int>& group, double bytes,
                    int simulated) {
  const auto routes = collective::RingRouter{cluster}.route(group);
  return Steps{cluster, routes, static_cast<int>(group.size()), bytes, simulated}.run();
}

double as_flows(const topology::Cluster& cluster, const std::vector<int>& group, double bytes) {
  return test::transfer_time(cluster,
                             test::ring_of(cluster, CollectiveOp::all_reduce, bytes, group));
}

}  // namespace

TEST_CASE("one flow a ring takes as long as the ring step by step", "[reference]") {
  const auto [type, nodes, gpus, simulated] = GENERATE(table<std::string, int, int, int>({
      {"dgx-1-v100", 1, 4, 6},
      {"dgx-1-v100", 1, 7, 12},
      {"dgx-1-v100", 1, 8, 14},
      {"dgx-a100-40gb", 1, 8, 14},
      {"dgx-2", 1, 16, 30},
      {"dgx-1-v100", 2, 16, 30},
      {"dgx-a100-40gb", 8, 64, 4},
  }));
  CAPTURE(type, gpus);
  const auto cluster = test::nodes_of(type, nodes);
  const auto group = test::first_gpus(gpus);
  const double expected = step_by_step(cluster, group, 1e9, simulated);
  // The end of each step is rounded to a nanosecond.
  CHECK(as_flows(cluster, group, 1e9) == Approx(expected).epsilon(0.005));
}

TEST_CASE("all 126 steps of a ring of 64 GPUs on one rail", "[reference]") {
  const auto cluster = topology::load_cluster("dgx-a100-40gb", {8, 1});
  std::vector<int> group = test::first_gpus(64);
  CHECK(as_flows(cluster, group, 1e9) ==
        Approx(step_by_step(cluster, group, 1e9, 126)).epsilon(0.005));
}

TEST_CASE("so do rings over part of the GPUs of some nodes", "[reference]") {
  const auto cluster = test::nodes_of("dgx-a100-40gb", 3);
  const std::vector<int> group{0, 1, 4, 8, 9, 10, 11, 20, 21};
  CHECK(as_flows(cluster, group, 1e9) ==
        Approx(step_by_step(cluster, group, 1e9, 16)).epsilon(0.005));
}
