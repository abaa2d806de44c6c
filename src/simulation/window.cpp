#include "simulation/window.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace trainyard::simulation {
namespace {

constexpr std::size_t kLongestPattern = 64;
constexpr int kLargestResonance = 4;

/// Steps (with a fraction) of a job at a time inside its window.
double phase(const Boundaries& boundaries, std::int64_t time) {
  const auto after = std::upper_bound(boundaries.begin(), boundaries.end(), time);
  const std::size_t index = std::clamp<std::size_t>(
      static_cast<std::size_t>(after - boundaries.begin()), 1, boundaries.size() - 1);
  const double step = static_cast<double>(boundaries[index] - boundaries[index - 1]);
  const double inside = static_cast<double>(time - boundaries[index - 1]);
  return static_cast<double>(index - 1) + (step > 0.0 ? inside / step : 0.0);
}

/// Position of the last boundary at or before `time`; nullopt before the first.
std::optional<std::size_t> position(const Boundaries& boundaries, std::int64_t time) {
  const auto after = std::upper_bound(boundaries.begin(), boundaries.end(), time);
  if (after == boundaries.begin()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(after - boundaries.begin()) - 1;
}

/// Does the state at `now` equal the state at `before`? Then the steps of each job between the two.
std::optional<std::vector<std::int64_t>> same_state(const std::vector<const Boundaries*>& jobs,
                                                    std::int64_t before, std::int64_t now,
                                                    std::int64_t tolerance) {
  std::vector<std::int64_t> steps;
  for (const Boundaries* job : jobs) {
    const auto late = position(*job, now + tolerance);
    const auto early = position(*job, before + tolerance);
    if (!late || !early || *late == *early) {
      return std::nullopt;
    }
    const std::int64_t phase_now = now - (*job)[*late];
    const std::int64_t phase_before = before - (*job)[*early];
    if (std::abs(phase_now - phase_before) > tolerance) {
      return std::nullopt;
    }
    steps.push_back(static_cast<std::int64_t>(*late - *early));
  }
  return steps;
}

}  // namespace

double smooth_mean(const Boundaries& boundaries, std::size_t from, std::size_t to) {
  assert(from < to && to < boundaries.size());
  double sum = 0.0;
  double weights = 0.0;
  const double count = static_cast<double>(to - from);
  for (std::size_t i = from; i < to; ++i) {
    const double t = (static_cast<double>(i - from) + 0.5) / count;
    const double weight = std::exp(-1.0 / (t * (1.0 - t)));
    sum += weight * static_cast<double>(boundaries[i + 1] - boundaries[i]);
    weights += weight;
  }
  return sum / weights;
}

Estimate estimate(const Boundaries& boundaries) {
  const std::size_t last = boundaries.size() - 1;
  Estimate result;
  result.mean = smooth_mean(boundaries, 0, last);
  if (last >= 2) {
    const double first = smooth_mean(boundaries, 0, last / 2);
    const double second = smooth_mean(boundaries, last / 2, last);
    result.error = std::max(std::abs(first - result.mean), std::abs(second - result.mean));
  }
  return result;
}

std::optional<Recurrence> find_recurrence(const std::vector<const Boundaries*>& jobs,
                                          std::int64_t now, std::int64_t tolerance) {
  const Boundaries& clock = *jobs.front();
  const auto last = position(clock, now);
  for (std::size_t period = 1; last && period <= kLongestPattern && 2 * period <= *last; ++period) {
    const std::int64_t end = clock[*last];
    const std::int64_t middle = clock[*last - period];
    const std::int64_t begin = clock[*last - 2 * period];
    if (std::abs((end - middle) - (middle - begin)) > tolerance) {
      continue;
    }
    auto steps = same_state(jobs, middle, end, tolerance);
    if (steps && steps == same_state(jobs, begin, middle, tolerance)) {
      return Recurrence{end - middle, std::move(*steps)};
    }
  }
  return std::nullopt;
}

Drift drift(const Boundaries& first, const Boundaries& second) {
  const std::int64_t from = std::max(first.front(), second.front());
  const std::int64_t to = std::min(first.back(), second.back());
  if (to <= from) {
    return {};
  }
  const double own = phase(first, to) - phase(first, from);
  const double other = phase(second, to) - phase(second, from);
  if (own <= 0.0) {
    return {};
  }
  const double ratio = other / own;
  Drift slowest{std::numeric_limits<double>::infinity(), 0.0};
  for (int q = 1; q <= kLargestResonance; ++q) {
    const double slide = std::abs(q * ratio - std::round(q * ratio));
    if (slide * own < slowest.cycles) {
      slowest = {slide * own, slide};
    }
  }
  return slowest;
}

}  // namespace trainyard::simulation
