#include "simulation/utilization.hpp"

#include <catch2/catch.hpp>

using namespace trainyard;
using namespace trainyard::simulation;

namespace {

JobOutcome job(int gpus, std::int64_t submit, std::int64_t start, std::int64_t end) {
  JobOutcome outcome;
  outcome.gpus = gpus;
  outcome.submit = units::Nanoseconds{submit};
  outcome.start = units::Nanoseconds{start};
  outcome.end = units::Nanoseconds{end};
  outcome.run = units::Nanoseconds{end - start};
  return outcome;
}

}  // namespace

TEST_CASE("the cluster's rows follow submits, starts and ends", "[utilization]") {
  // A: 4 GPUs 0-10, all computing. B: 2 GPUs, waits 5-10, runs 10-20, half computing, a quarter
  // communicating.
  JobOutcome first = job(4, 0, 0, 10);
  first.compute_busy_ns = 40.0;
  JobOutcome second = job(2, 5, 10, 20);
  second.compute_busy_ns = 10.0;
  second.communicating_ns = 5.0;
  const auto rows = utilization_rows({first, second}, units::Nanoseconds{20});
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].allocated_gpus == 4.0);
  CHECK(rows[0].compute_busy_gpus == Approx(4.0));
  CHECK(rows[0].queue_length == 0);
  CHECK(rows[1].time.count() == 5);
  CHECK(rows[1].queue_length == 1);
  CHECK(rows[1].queued_gpus == 2);
  CHECK(rows[2].time.count() == 10);
  CHECK(rows[2].allocated_gpus == 2.0);
  CHECK(rows[2].compute_busy_gpus == Approx(1.0));
  CHECK(rows[2].communicating_gpus == Approx(0.5));
  CHECK(rows[2].busy_gpus == Approx(1.5));
  CHECK(rows[2].running_jobs == 1);
  CHECK(rows[3].allocated_gpus == 0.0);
  CHECK(rows[3].busy_gpus == 0.0);
}

TEST_CASE("a job that never started only waits", "[utilization]") {
  JobOutcome waiting;
  waiting.gpus = 3;
  waiting.submit = units::Nanoseconds{7};
  const auto rows = utilization_rows({waiting}, units::Nanoseconds{100});
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].queued_gpus == 3);
  CHECK(rows[0].allocated_gpus == 0.0);
}

TEST_CASE("nothing after the end of the simulation is shown", "[utilization]") {
  const auto rows = utilization_rows({job(1, 0, 0, 50)}, units::Nanoseconds{20});
  CHECK(rows.size() == 1);
}
