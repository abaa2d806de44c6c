#include "simulation/window.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <limits>

namespace trainyard::simulation {
namespace {

constexpr int kLongestPattern = 64;
constexpr int kLargestResonance = 4;

/// Steps (with a fraction) of a job at a time inside its window.
double phase(const Boundaries& boundaries, std::int64_t time) {
  const auto after = std::upper_bound(boundaries.begin(), boundaries.end(), time);
  const std::size_t index = std::clamp<std::size_t>(
      static_cast<std::size_t>(after - boundaries.begin()), 1, boundaries.size() - 1);
  const auto step = static_cast<double>(boundaries[index] - boundaries[index - 1]);
  const auto inside = static_cast<double>(time - boundaries[index - 1]);
  return static_cast<double>(index - 1) + (step > 0.0 ? inside / step : 0.0);
}

/// Did the `length` events up to the end, and the one before them, happen just so `time` ns
/// earlier?
bool repeats(const std::vector<WindowEvent>& events, std::size_t length, std::int64_t time,
             std::int64_t tolerance) {
  for (std::size_t i = events.size(); i-- > events.size() - 1 - length;) {
    const WindowEvent& late = events[i];
    const WindowEvent& early = events[i - length];
    if (late.job != early.job || late.kind != early.kind ||
        std::abs(late.time - early.time - time) > tolerance) {
      return false;
    }
  }
  return true;
}

/// One job's last step and what happened in it.
struct Pace {
  std::int64_t period = 0;
  std::vector<std::int64_t> times{};
};

constexpr std::size_t kEqualSteps = 3;

/// A job's own events of its last steps, a row a step, if they all are alike.
std::optional<Pace> steady_pace(const std::vector<WindowEvent>& events, int job,
                                std::int64_t tolerance) {
  std::vector<WindowEvent> own;
  std::copy_if(events.begin(), events.end(), std::back_inserter(own),
               [&](const WindowEvent& event) { return event.job == job; });
  const auto is_step = [](const WindowEvent& event) {
    return event.kind == WindowEvent::Kind::step;
  };
  const auto last = std::find_if(own.rbegin(), own.rend(), is_step);
  own.erase(last.base(), own.end());
  if (own.empty()) {
    return std::nullopt;
  }
  const auto before = std::find_if(own.rbegin() + 1, own.rend(), is_step);
  const auto length = static_cast<std::size_t>(before - own.rbegin());
  if (before == own.rend() || own.size() < kEqualSteps * length + 1) {
    return std::nullopt;
  }
  Pace pace;
  pace.period = own.back().time - before->time;
  for (std::size_t i = own.size(); i-- > own.size() - (kEqualSteps - 1) * length;) {
    const WindowEvent& early = own[i - length];
    if (early.kind != own[i].kind || std::abs(own[i].time - early.time - pace.period) > tolerance) {
      return std::nullopt;
    }
    if (i >= own.size() - length && !is_step(own[i])) {
      pace.times.push_back(own[i].time);
    }
  }
  return pace;
}

/// Steps until some event of `a` meets one of `b`.
double steps_to_meeting(const Pace& a, const Pace& b) {
  const double period = 0.5 * static_cast<double>(a.period + b.period);
  const auto speed = static_cast<double>(a.period - b.period);
  double nearest = std::numeric_limits<double>::infinity();
  for (const std::int64_t one : a.times) {
    for (const std::int64_t other : b.times) {
      const double gap = std::fmod(static_cast<double>(one - other), period);
      const double ahead = gap < 0.0 ? gap + period : gap;
      nearest = std::min(nearest, (speed > 0.0 ? period - ahead : ahead) / std::abs(speed));
    }
  }
  return nearest;
}

}  // namespace

double smooth_mean(const Boundaries& boundaries, std::size_t from, std::size_t to) {
  assert(from < to && to < boundaries.size());
  double sum = 0.0;
  double weights = 0.0;
  const auto count = static_cast<double>(to - from);
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

std::optional<Recurrence> find_recurrence(const std::vector<WindowEvent>& events, int clock,
                                          std::int64_t tolerance) {
  int period = 0;
  for (std::size_t length = 1; 2 * length < events.size() && period < kLongestPattern; ++length) {
    const WindowEvent& start = events[events.size() - 1 - length];
    if (start.job != clock || start.kind != WindowEvent::Kind::step) {
      continue;
    }
    ++period;
    const std::int64_t time = events.back().time - start.time;
    if (!repeats(events, length, time, tolerance)) {
      continue;
    }
    Recurrence found{time, {}};
    for (std::size_t i = events.size() - length; i < events.size(); ++i) {
      found.steps[events[i].job] += events[i].kind == WindowEvent::Kind::step ? 1 : 0;
    }
    return found;
  }
  return std::nullopt;
}

std::optional<double> even_slide(const std::vector<WindowEvent>& events,
                                 const std::vector<int>& jobs, std::int64_t tolerance) {
  constexpr double kAlike = 0.1;
  constexpr double kMargin = 2.0;
  std::vector<Pace> paces;
  for (const int job : jobs) {
    auto pace = steady_pace(events, job, tolerance);
    if (!pace) {
      return std::nullopt;
    }
    paces.push_back(std::move(*pace));
  }
  double time = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < paces.size(); ++i) {
    for (std::size_t j = i + 1; j < paces.size(); ++j) {
      const auto longer = static_cast<double>(std::max(paces[i].period, paces[j].period));
      const auto apart = static_cast<double>(std::abs(paces[i].period - paces[j].period));
      if (apart > kAlike * longer) {
        return std::nullopt;
      }
      if (apart > static_cast<double>(tolerance)) {
        time = std::min(time, (steps_to_meeting(paces[i], paces[j]) - kMargin) * longer);
      }
    }
  }
  return time;
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
