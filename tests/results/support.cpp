#include "results/support.hpp"

#include <numeric>

namespace trainyard::test {
namespace {

constexpr std::int64_t kSecond = 1000000000;

units::Nanoseconds at(std::int64_t seconds) {
  return units::Nanoseconds{seconds * kSecond};
}

simulation::JobOutcome job(const char* id, int gpus, std::int64_t submit, std::int64_t start,
                           std::int64_t end) {
  simulation::JobOutcome result;
  result.id = id;
  result.gpus = gpus;
  result.submit = at(submit);
  result.start = at(start);
  result.end = at(end);
  result.run = at(end - start);
  result.placement.resize(static_cast<std::size_t>(gpus));
  std::iota(result.placement.begin(), result.placement.end(), 0);
  return result;
}

}  // namespace

simulation::Outcome two_jobs() {
  simulation::Outcome outcome;
  outcome.cluster_gpus = 8;
  outcome.last_end = at(30);
  auto first = job("a", 4, 0, 0, 10);
  first.steps = 20;
  first.samples = 160.0;
  first.alone = at(5);
  first.compute_busy_ns = 40e9;
  auto second = job("b", 8, 2, 10, 30);
  second.steps = 10;
  second.waits["capacity"] = at(8);
  second.compute_busy_ns = 80e9;
  second.communicating_ns = 40e9;
  outcome.jobs = {first, second};
  outcome.decisions = {{at(0), "start", "a", "fits"}, {at(10), "start", "b", "fits"}};
  outcome.utilization.push_back({at(0), 4.0, 4.0, 4.0, 0.0, 0, 0, 1});
  return outcome;
}

simulation::Scenario flat_scenario() {
  const auto document = input::Document::parse("[scheduler]\npolicy = \"fifo\"\n", "test.toml");
  simulation::Scenario scenario{.scheduler = *document.root().section("scheduler")};
  scenario.name = "test";
  scenario.cluster = std::make_shared<topology::Cluster>(topology::flat_cluster(2, 4));
  scenario.cluster_text = "flat";
  scenario.resolved_toml = document.to_toml();
  scenario.inputs = {{"test.toml", std::string(64, 'a')}};
  return scenario;
}

}  // namespace trainyard::test
