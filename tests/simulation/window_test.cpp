#include "simulation/window.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

using namespace trainyard::simulation;

namespace {

/// Boundaries from step lengths.
Boundaries from_steps(const std::vector<std::int64_t>& steps, std::int64_t start = 0) {
  Boundaries boundaries{start};
  for (const std::int64_t step : steps) {
    boundaries.push_back(boundaries.back() + step);
  }
  return boundaries;
}

Boundaries even(std::size_t count, std::int64_t step, std::int64_t start = 0) {
  return from_steps(std::vector<std::int64_t>(count, step), start);
}

/// Step ends of several jobs in order of time, cut behind the last one of job 0.
std::vector<WindowEvent> joint(const std::map<int, Boundaries>& jobs) {
  std::vector<WindowEvent> events;
  for (const auto& [job, boundaries] : jobs) {
    for (const std::int64_t time : boundaries) {
      if (time <= jobs.at(0).back()) {
        events.push_back({job, WindowEvent::Kind::step, time});
      }
    }
  }
  std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) {
    return std::pair{a.time, -a.job} < std::pair{b.time, -b.job};
  });
  return events;
}

}  // namespace

TEST_CASE("the smooth mean of a constant is the constant", "[window]") {
  const Boundaries boundaries = even(10, 1234);
  CHECK(smooth_mean(boundaries, 0, 10) == Approx(1234.0).epsilon(1e-12));
  CHECK(smooth_mean(boundaries, 3, 7) == Approx(1234.0).epsilon(1e-12));
}

TEST_CASE("the smooth mean of a beat has a smaller error than the plain mean", "[window]") {
  // Steps of 1e6 ns with a beat of 37.3 steps and amplitude 2e5: over 200 steps (5.36 beats) the
  // plain mean keeps the unfinished beat; the true mean is 1e6.
  std::vector<std::int64_t> steps;
  for (int i = 0; i < 200; ++i) {
    steps.push_back(1000000 + std::llround(200000.0 * std::sin(2.0 * M_PI * i / 37.3)));
  }
  const Boundaries boundaries = from_steps(steps);
  const double plain = static_cast<double>(boundaries.back()) / 200.0;
  const double smooth = smooth_mean(boundaries, 0, 200);
  CHECK(std::abs(smooth - 1e6) < 0.1 * std::abs(plain - 1e6));
  CHECK(std::abs(smooth - 1e6) < 1e3);
}

TEST_CASE("an estimate's error covers what its halves disagree on", "[window]") {
  // First half 100 ns a step, second half 200: the mean is 150, each half is 50 away.
  std::vector<std::int64_t> steps(16, 100);
  steps.insert(steps.end(), 16, 200);
  const Estimate found = estimate(from_steps(steps));
  CHECK(found.mean == Approx(150.0));
  CHECK(found.error == Approx(50.0));
}

TEST_CASE("a joint pattern that repeats is found with its steps", "[window]") {
  SECTION("one job with equal steps: period 1") {
    const auto found = find_recurrence(joint({{0, even(4, 500, 77)}}), 0, 0);
    REQUIRE(found);
    CHECK(found->time == 500);
    CHECK(found->steps.at(0) == 1);
  }
  SECTION("one job that alternates: period 2") {
    const auto found = find_recurrence(joint({{0, from_steps({300, 500, 300, 500})}}), 0, 0);
    REQUIRE(found);
    CHECK(found->time == 800);
    CHECK(found->steps.at(0) == 2);
  }
  SECTION("two jobs, 600 and 400 ns: every 1200 ns, 2 and 3 steps") {
    const auto found = find_recurrence(joint({{0, even(5, 600)}, {1, even(7, 400, 50)}}), 0, 0);
    REQUIRE(found);
    CHECK(found->time == 1200);
    CHECK(found->steps.at(0) == 2);
    CHECK(found->steps.at(1) == 3);
  }
}

TEST_CASE("jobs that slide against each other do not repeat", "[window]") {
  CHECK_FALSE(find_recurrence(joint({{0, even(30, 1000)}, {1, even(29, 1021)}}), 0, 2));
}

TEST_CASE("equal steps with a collective that slides inside do not repeat", "[window]") {
  // Steps of 1000 ns; the collective inside ends 7 ns later each time.
  std::vector<WindowEvent> events;
  for (int i = 0; i < 20; ++i) {
    events.push_back({0, WindowEvent::Kind::end, 1000 * i + 100 + 7 * i});
    events.push_back({0, WindowEvent::Kind::step, 1000 * (i + 1)});
  }
  CHECK_FALSE(find_recurrence(events, 0, 2));
}

TEST_CASE("too short a window shows no pattern", "[window]") {
  CHECK_FALSE(find_recurrence(joint({{0, even(1, 100)}}), 0, 0));
  CHECK_FALSE(find_recurrence({}, 0, 0));
}

TEST_CASE("drift is the slide at the nearest resonance", "[window]") {
  SECTION("2 % apart: a fiftieth of a cycle a step") {
    const Boundaries first = even(100, 1020);
    const Boundaries second = even(102, 1000);
    CHECK(drift(first, second).per_step == Approx(0.02).epsilon(0.01));
    CHECK(drift(first, second).cycles == Approx(2.0).epsilon(0.02));
  }
  SECTION("slightly more than half as long: slow at 1:2") {
    // ratio 1000/501 steps; 1 x 1.996 is 0.004 from 2.
    const Boundaries first = even(100, 1000);
    const Boundaries second = even(200, 501);
    CHECK(drift(first, second).per_step == Approx(0.004).epsilon(0.01));
  }
  SECTION("equal steps do not slide") {
    const Boundaries first = even(50, 1000);
    const Boundaries second = even(50, 1000, 333);
    CHECK(drift(first, second).per_step == Approx(0.0).margin(1e-12));
  }
  SECTION("windows that do not overlap say nothing") {
    CHECK(drift(even(3, 10), even(3, 10, 1000)).cycles == 0.0);
  }
}
