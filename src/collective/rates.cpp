#include <algorithm>
#include <limits>

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
  std::vector<topology::LinkId> links;
  for (const Flow& flow : flows) {
    links.insert(links.end(), flow.links.begin(), flow.links.end());
  }
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  Problem problem;
  for (const topology::LinkId link : links) {
    problem.capacity.push_back(cluster.link(link).bandwidth.si());
  }
  for (const Flow& flow : flows) {
    std::vector<topology::LinkId> crossed{flow.links};
    std::sort(crossed.begin(), crossed.end());
    auto& crossings = problem.flows.emplace_back();
    for (auto link = crossed.begin(); link != crossed.end();) {
      const auto next = std::upper_bound(link, crossed.end(), *link);
      const auto number = std::lower_bound(links.begin(), links.end(), *link) - links.begin();
      crossings.push_back({static_cast<std::size_t>(number), static_cast<double>(next - link)});
      link = next;
    }
    problem.caps.push_back(flow.cap.si() > 0.0 ? flow.cap.si() : kInfinity);
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
