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
/// to its neighbour on every ring; a step begins when the one before has ended everywhere.
class Steps final : public engine::Handler {
 public:
  Steps(const topology::Cluster& cluster, const collective::RingRoutes& routes, int ranks,
        double bytes)
      : steps_{2 * (ranks - 1)}, chunk_{bytes / ranks / static_cast<double>(routes.rings.size())} {
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
    return network_->now().seconds().si();
  }

  void fire(std::uint64_t /*token*/) override {
    if (--open_ == 0 && ++step_ < steps_) {
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
  double chunk_ = 0.0;
  std::unique_ptr<engine::Network> network_{};
  std::vector<engine::FlowSpec> flows_{};
  int open_ = 0;
  int step_ = 0;
};

double step_by_step(const topology::Cluster& cluster, const std::vector<int>& group, double bytes) {
  const auto routes = collective::RingRouter{cluster}.route(group);
  return Steps{cluster, routes, static_cast<int>(group.size()), bytes}.run();
}

double as_flows(const topology::Cluster& cluster, const std::vector<int>& group, double bytes) {
  return test::transfer_time(cluster,
                             test::plan_of(cluster, CollectiveOp::all_reduce, bytes, group));
}

}  // namespace

TEST_CASE("one flow a ring takes as long as the ring step by step", "[reference]") {
  const auto [type, nodes, gpus] = GENERATE(table<std::string, int, int>({
      {"dgx-1-v100", 1, 4},
      {"dgx-1-v100", 1, 7},
      {"dgx-1-v100", 1, 8},
      {"dgx-a100-40gb", 1, 8},
      {"dgx-2", 1, 16},
      {"dgx-1-v100", 2, 16},
      {"dgx-a100-40gb", 8, 64},
  }));
  CAPTURE(type, gpus);
  const auto cluster = test::nodes_of(type, nodes);
  const auto group = test::first_gpus(gpus);
  const double expected = step_by_step(cluster, group, 1e9);
  // 2 (n - 1) steps are rounded to nanoseconds each; where a link is in two hops of a step, those
  // that end first leave it to the others, a flow cannot show that.
  CHECK(as_flows(cluster, group, 1e9) == Approx(expected).epsilon(0.02));
}

TEST_CASE("so do rings over part of the GPUs of some nodes", "[reference]") {
  const auto cluster = test::nodes_of("dgx-a100-40gb", 3);
  const std::vector<int> group{0, 1, 4, 8, 9, 10, 11, 20, 21};
  CHECK(as_flows(cluster, group, 1e9) == Approx(step_by_step(cluster, group, 1e9)).epsilon(0.02));
}
