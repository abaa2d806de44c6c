#include <algorithm>
#include <limits>

#include "collective/link_table.hpp"
#include "collective/plan.hpp"

namespace trainyard::collective {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Shares and ends that differ by less are equal but for rounding.
constexpr double kRounding = 1.0 + 1e-12;

/// Flows as lists of dense link numbers, each with how often the flow crosses it.
struct Problem {
  struct Crossing {
    std::size_t link = 0;
    double times = 0.0;
  };
  std::vector<std::vector<Crossing>> flows{};
  std::vector<double> caps{};
  std::vector<double> capacity{};  ///< by dense link number
};

Problem make_problem(const std::vector<Flow>& flows, const topology::Cluster& cluster) {
  constexpr auto kNone = static_cast<std::size_t>(-1);
  struct Seen {
    std::size_t number = kNone;
    std::size_t flow = kNone;      ///< the last one that crossed it ...
    std::size_t crossing = kNone;  ///< ... and where that is noted
  };
  LinkTable<Seen> table{flows, Seen{}};
  Problem problem;
  for (std::size_t f = 0; f < flows.size(); ++f) {
    auto& crossings = problem.flows.emplace_back();
    for (const topology::LinkId link : flows[f].links) {
      Seen& seen = table[link];
      if (seen.number == kNone) {
        seen.number = problem.capacity.size();
        problem.capacity.push_back(cluster.bandwidth(link).si());
      }
      if (seen.flow == f) {
        crossings[seen.crossing].times += 1.0;
        continue;
      }
      seen.flow = f;
      seen.crossing = crossings.size();
      crossings.push_back({seen.number, 1.0});
    }
    problem.caps.push_back(flows[f].cap.si() > 0.0 ? flows[f].cap.si() : kInfinity);
  }
  return problem;
}

/// Progressive filling: all rates grow together; a flow stops at its cap or where a link is full.
class Filling {
 public:
  Filling(const Problem& problem, std::vector<bool> open)
      : problem_{problem},
        open_{std::move(open)},
        left_{problem.capacity},
        rates_(problem.flows.size(), 0.0) {}

  std::vector<double> run() {
    while (std::find(open_.begin(), open_.end(), true) != open_.end()) {
      update_shares();
      double level = kInfinity;
      for (std::size_t f = 0; f < open_.size(); ++f) {
        level = open_[f] ? std::min(level, limit(f)) : level;
      }
      stop_at(level);
    }
    return std::move(rates_);
  }

 private:
  void update_shares() {
    std::vector<double> times(left_.size(), 0.0);
    for (std::size_t f = 0; f < open_.size(); ++f) {
      if (open_[f]) {
        for (const auto& crossing : problem_.flows[f]) {
          times[crossing.link] += crossing.times;
        }
      }
    }
    shares_.assign(left_.size(), kInfinity);
    for (std::size_t link = 0; link < left_.size(); ++link) {
      if (times[link] > 0.0) {
        shares_[link] = left_[link] / times[link];
      }
    }
  }

  [[nodiscard]] double limit(std::size_t flow) const {
    double lowest = problem_.caps[flow];
    for (const auto& crossing : problem_.flows[flow]) {
      lowest = std::min(lowest, shares_[crossing.link]);
    }
    return lowest;
  }

  void stop_at(double level) {
    std::vector<std::size_t> stopped;
    for (std::size_t f = 0; f < open_.size(); ++f) {
      if (open_[f] && limit(f) <= level * kRounding) {
        stopped.push_back(f);
      }
    }
    for (const std::size_t f : stopped) {
      open_[f] = false;
      rates_[f] = level;
      for (const auto& crossing : problem_.flows[f]) {
        left_[crossing.link] = std::max(0.0, left_[crossing.link] - level * crossing.times);
      }
    }
  }

  const Problem& problem_;
  std::vector<bool> open_;
  std::vector<double> left_;
  std::vector<double> shares_{};
  std::vector<double> rates_;
};

}  // namespace

std::vector<units::BytesPerSecond> rates_alone(const std::vector<Flow>& flows,
                                               const topology::Cluster& cluster) {
  const Problem problem = make_problem(flows, cluster);
  std::vector<units::BytesPerSecond> rates;
  for (const double rate : Filling{problem, std::vector<bool>(flows.size(), true)}.run()) {
    rates.emplace_back(rate);
  }
  return rates;
}

units::Seconds time_alone(const Plan& plan, const topology::Cluster& cluster) {
  const Problem problem = make_problem(plan.flows, cluster);
  std::vector<double> left;
  std::vector<bool> open;
  for (const Flow& flow : plan.flows) {
    left.push_back(flow.size.si());
    open.push_back(flow.size.si() > 0.0);
  }
  double time = 0.0;
  while (std::find(open.begin(), open.end(), true) != open.end()) {
    const auto rates = Filling{problem, open}.run();
    double step = kInfinity;
    for (std::size_t f = 0; f < left.size(); ++f) {
      step = open[f] ? std::min(step, left[f] / rates[f]) : step;
    }
    for (std::size_t f = 0; f < left.size(); ++f) {
      if (open[f]) {
        open[f] = left[f] / rates[f] > step * kRounding;
        left[f] -= rates[f] * step;
      }
    }
    time += step;
  }
  return plan.latency + units::Seconds{time};
}

}  // namespace trainyard::collective
