#include "results/metrics.hpp"

#include <catch2/catch.hpp>

#include "results/support.hpp"

using namespace trainyard;
using namespace trainyard::results;

TEST_CASE("percentiles interpolate between order statistics", "[metrics]") {
  // numpy.percentile([1, 2, 3, 4], [0, 50, 95, 100]) = 1, 2.5, 3.85, 4
  const std::vector<double> values{4.0, 1.0, 3.0, 2.0};
  CHECK(percentile(values, 0.0) == Approx(1.0));
  CHECK(percentile(values, 0.5) == Approx(2.5));
  CHECK(percentile(values, 0.95) == Approx(3.85));
  CHECK(percentile(values, 1.0) == Approx(4.0));
  CHECK(percentile({}, 0.5) == 0.0);
  CHECK(percentile({7.0}, 0.99) == Approx(7.0));
}

TEST_CASE("a job's metrics follow their formulas", "[metrics]") {
  const Metrics metrics = measure(test::two_jobs());
  const JobMetrics& a = metrics.jobs[0];
  CHECK(a.jct == Approx(10.0));
  CHECK(a.wait == 0.0);
  CHECK(a.throughput == Approx(16.0));  // 160 samples in 10 s
  CHECK(a.step_ms == Approx(500.0));
  CHECK(a.slowdown == Approx(2.0));  // 10 s, alone 5 s
  CHECK(a.rho == Approx(1.0));       // alone in the system at its submit
  const JobMetrics& b = metrics.jobs[1];
  CHECK(b.jct == Approx(28.0));
  CHECK(b.wait == Approx(8.0));
  CHECK(b.throughput == Approx(0.5));  // steps a second: samples are not known
  CHECK(b.rho == Approx(0.7));         // 28 / (20 x 2)
  CHECK_FALSE(b.slowdown);
}

TEST_CASE("the cluster's shares are of all GPU time until the last end", "[metrics]") {
  const ClusterMetrics cluster = measure(test::two_jobs()).cluster;
  CHECK(cluster.makespan == Approx(30.0));
  // 4 x 10 + 8 x 20 = 200 of 8 x 30 = 240 GPU-seconds.
  CHECK(cluster.allocation == Approx(200.0 / 240.0));
  CHECK(cluster.compute_busy == Approx(120.0 / 240.0));
  CHECK(cluster.busy == Approx(160.0 / 240.0));
  CHECK(cluster.jobs_ended == 2);
  CHECK(cluster.jct.mean == Approx(19.0));
  CHECK(cluster.rho_mean == Approx(0.85));
}

TEST_CASE("a job that never started has no times of its own", "[metrics]") {
  auto outcome = test::two_jobs();
  simulation::JobOutcome waiting;
  waiting.id = "c";
  waiting.gpus = 1;
  outcome.jobs.push_back(waiting);
  const Metrics metrics = measure(outcome);
  CHECK_FALSE(metrics.jobs[2].jct);
  CHECK_FALSE(metrics.jobs[2].throughput);
  CHECK(metrics.cluster.jobs_ended == 2);
}

TEST_CASE("nothing at all is no division by zero", "[metrics]") {
  const Metrics metrics = measure({});
  CHECK(metrics.cluster.allocation == 0.0);
  CHECK(metrics.cluster.jct.mean == 0.0);
}
