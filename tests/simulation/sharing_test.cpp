// Jobs on shared links against numbers worked out by hand: textbook max-min and T16 of the textbook
// cases (two periodic jobs on one link).
#include <catch2/catch.hpp>

#include "simulation/run.hpp"
#include "simulation/support.hpp"

using namespace trainyard;
using namespace trainyard::simulation;
using test::StepBuilder;

namespace {

constexpr std::int64_t kSecond = 1000000000;

double seconds(units::Nanoseconds time) {
  return time.seconds().si();
}

/// Three nodes of three GPUs, filled from the left: a job of four GPUs takes node 0 and one of node
/// 1, the next one the rest of node 1 and two of node 2. Both rings cross the NIC of node 1. With
/// four ranks a ring all-reduce puts 2 x 3/4 of its buffer on each NIC once per direction.
struct TwoNodes {
  TwoNodes() : scenario{test::scenario_on(test::nic_cluster(3, 3), "placement = \"count\"")} {
    rate = test::nic_rate(*scenario.cluster);
  }
  /// The buffer whose transfer takes `seconds` alone.
  [[nodiscard]] double buffer(double seconds) const { return rate * seconds / 1.5; }
  /// `compute` seconds, then a transfer that takes `transfer` seconds alone.
  int add(double compute, double transfer, std::int64_t submit, std::int64_t steps) {
    const auto step = StepBuilder{}
                          .compute(static_cast<std::int64_t>(compute * 1e9))
                          .collective(buffer(transfer))
                          .one_rank(4);
    return test::add_job(scenario, step, 4, submit, steps);
  }
  Outcome run(Detail detail) {
    scenario.detail = detail;
    return run_on_fluid_network(scenario);
  }
  Scenario scenario;
  double rate = 0.0;
};

}  // namespace

TEST_CASE("one job alone takes compute plus transfer", "[sharing]") {
  TwoNodes nodes;
  nodes.add(1.0, 1.0, 0, 10);
  for (const Detail detail : {Detail::full, Detail::sampled}) {
    const Outcome outcome = nodes.run(detail);
    CHECK(seconds(*outcome.jobs[0].end) == Approx(20.0).epsilon(1e-4));
    CHECK(outcome.jobs[0].steps == 10);
  }
}

TEST_CASE("T16: two jobs in phase collide in every step", "[sharing]") {
  TwoNodes nodes;
  nodes.add(1.0, 1.0, 0, 50);
  nodes.add(1.0, 1.0, 0, 50);
  for (const Detail detail : {Detail::full, Detail::sampled}) {
    const Outcome outcome = nodes.run(detail);
    // 1 s compute, then both transfers share the link: 2 s. 3 s a step.
    CHECK(seconds(*outcome.jobs[0].end) == Approx(150.0).epsilon(1e-4));
    CHECK(seconds(*outcome.jobs[1].end) == Approx(150.0).epsilon(1e-4));
  }
}

TEST_CASE("T16: one second apart the transfers never meet", "[sharing]") {
  TwoNodes nodes;
  nodes.add(1.0, 1.0, 0, 50);
  nodes.add(1.0, 1.0, kSecond, 50);
  for (const Detail detail : {Detail::full, Detail::sampled}) {
    const Outcome outcome = nodes.run(detail);
    CHECK(seconds(*outcome.jobs[0].end) == Approx(100.0).epsilon(1e-3));
    CHECK(seconds(*outcome.jobs[1].end) == Approx(101.0).epsilon(1e-3));
  }
}

TEST_CASE("a job that starts in the middle of a collective takes half of what is left",
          "[sharing]") {
  // A transfers from 0 s, 4 s alone. B arrives at 2 s with a transfer of 1 s alone: both at half
  // rate until B has ended at 4 s; A has 1 s left and ends at 5 s.
  TwoNodes nodes;
  nodes.add(0.0, 4.0, 0, 1);
  nodes.add(0.0, 1.0, 2 * kSecond, 1);
  const Outcome outcome = nodes.run(Detail::full);
  CHECK(seconds(*outcome.jobs[0].end) == Approx(5.0).epsilon(1e-4));
  CHECK(seconds(*outcome.jobs[1].end) == Approx(4.0).epsilon(1e-4));
}

TEST_CASE("links carry the algorithm's bytes and never more than their rate", "[sharing]") {
  TwoNodes nodes;
  nodes.add(0.5, 1.0, 0, 20);
  nodes.add(0.5, 1.0, 0, 20);
  const Outcome outcome = nodes.run(Detail::full);
  const auto& cluster = *nodes.scenario.cluster;
  double carried = 0.0;
  for (const auto& row : outcome.links) {
    const topology::Link link = cluster.link(row.link);
    CHECK(row.peak_rate <= link.bandwidth.si() * (1.0 + 1e-9));
    CHECK(row.bytes <= link.bandwidth.si() * seconds(outcome.last_end) * (1.0 + 1e-6));
    if (row.link == cluster.nics(1).front().to_fabric) {
      carried = row.bytes;
    }
  }
  // 2 jobs x 20 steps x 2 (n-1)/n of the buffer with n = 4: what the NIC moves in 1 s.
  CHECK(carried == Approx(2.0 * 20.0 * nodes.rate).epsilon(1e-9));
}

TEST_CASE("a job's ranks wait for the slowest", "[sharing]") {
  TwoNodes nodes;
  auto step = StepBuilder::two_ranks(kSecond, 2 * kSecond, nodes.buffer(1.0));
  test::add_job(nodes.scenario, step, 4, 0, 5);
  // 2 s for the slower rank, 1 s for the transfer.
  CHECK(seconds(*nodes.run(Detail::full).jobs[0].end) == Approx(15.0).epsilon(1e-4));
}

TEST_CASE("a rank that was not recorded keeps its wait", "[sharing]") {
  // Unknown machine: no reference, the absent rank arrives in time.
  TwoNodes nodes;
  nodes.add(1.0, 1.0, 0, 3);
  nodes.scenario.workloads[0].gpu = "no-such-gpu";
  CHECK(seconds(*nodes.run(Detail::full).jobs[0].end) == Approx(6.0).epsilon(1e-4));
}

TEST_CASE("recorded speed runs for its duration wherever it is", "[sharing]") {
  TwoNodes nodes;
  Job job;
  job.id = "recorded";
  job.gpus = 3;
  job.amount.duration = units::Nanoseconds{7 * kSecond};
  nodes.scenario.jobs.push_back(job);
  const Outcome outcome = nodes.run(Detail::sampled);
  CHECK(outcome.jobs[0].run.count() == 7 * kSecond);
  CHECK(outcome.jobs[0].compute_busy_ns == Approx(3.0 * 7e9));
}

TEST_CASE("jobs wait for GPUs and the wait has a reason", "[sharing]") {
  // Nine GPUs: two jobs of six follow each other.
  TwoNodes nodes;
  for (int i = 0; i < 2; ++i) {
    Job job;
    job.id = "recorded" + std::to_string(i);
    job.gpus = 6;
    job.amount.duration = units::Nanoseconds{5 * kSecond};
    nodes.scenario.jobs.push_back(job);
  }
  const Outcome outcome = nodes.run(Detail::sampled);
  CHECK(seconds(*outcome.jobs[1].start) == Approx(5.0));
  REQUIRE(outcome.jobs[1].waits.count("capacity") == 1);
  CHECK(outcome.jobs[1].waits.at("capacity").count() == 5 * kSecond);
  CHECK(outcome.jobs[0].waits.empty());
  REQUIRE(outcome.utilization.size() >= 2);
  CHECK(outcome.utilization.front().allocated_gpus == Approx(6.0));
  CHECK(outcome.utilization.front().queue_length == 1);
  CHECK(outcome.utilization.back().allocated_gpus == 0.0);
}

TEST_CASE("max_time cuts the run and says how far jobs came", "[sharing]") {
  TwoNodes nodes;
  nodes.add(1.0, 1.0, 0, 100);
  nodes.add(1.0, 1.0, 0, 100);
  nodes.scenario.max_time = units::Nanoseconds{31 * kSecond};
  const Outcome outcome = nodes.run(Detail::full);
  CHECK(outcome.reached_max_time);
  CHECK_FALSE(outcome.jobs[0].end);
  CHECK(outcome.jobs[0].steps == 10);  // 3 s a step
  CHECK(outcome.last_end.count() == 31 * kSecond);
}

TEST_CASE("private links are shared when a job overlaps its own collectives", "[sharing]") {
  // Two lanes at once, each 1 s alone on the NIC: 2 s together.
  TwoNodes nodes;
  StepBuilder builder;
  builder.collective_aside(nodes.buffer(1.0)).collective(nodes.buffer(1.0)).join().compute(1);
  test::add_job(nodes.scenario, builder.one_rank(4), 4, 0, 3);
  CHECK(seconds(*nodes.run(Detail::full).jobs[0].end) == Approx(6.0).epsilon(1e-3));
}
