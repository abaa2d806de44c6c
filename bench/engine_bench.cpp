// The SimGrid back end: timers, contended flows, the platform. SimGrid allows one network a
// process, so all of them use one, of a size that holds every case; each runs in a child of its
// own.
#include <benchmark/benchmark.h>

#include <array>
#include <numeric>
#include <vector>

#include "child.hpp"
#include "engine/network.hpp"

namespace {

using namespace trainyard;
using namespace trainyard::engine;

using bench::cpu_now;
using bench::in_child;
using bench::Measured;

std::vector<Resource> links(std::size_t count) {
  return std::vector<Resource>(count, {"", units::BytesPerSecond{1e10}});
}

/// Restarts a timer each time it fires: a rank's arrivals.
class Ticker final : public Handler {
 public:
  Ticker(Network& network, std::int64_t left) : network_{network}, left_{left} {}
  void fire(std::uint64_t token) override {
    if (--left_ > 0) {
      network_.after(units::Nanoseconds{1000 + static_cast<std::int64_t>(token % 97)}, *this,
                     token);
    }
  }

 private:
  Network& network_;
  std::int64_t left_;
};

void timer_events(benchmark::State& state) {
  constexpr std::int64_t kEvents = 1000000;
  for (auto _ : state) {
    const Measured result = in_child([] {
      const auto network = make_simgrid_network(links(1));
      Ticker ticker{*network, kEvents};
      for (std::uint64_t rank = 0; rank < 1000; ++rank) {
        network->after(units::Nanoseconds{static_cast<std::int64_t>(rank)}, ticker, rank);
      }
      const double before = cpu_now();
      network->run();
      return Measured{cpu_now() - before};
    });
    state.SetIterationTime(result.cpu);
  }
  state.SetItemsProcessed(state.iterations() * kEvents);
}
BENCHMARK(timer_events)->UseManualTime()->Iterations(3)->Unit(benchmark::kMillisecond);

/// Two jobs whose collectives always overlap on all their links: each ends and starts again.
class Rivals final : public Handler {
 public:
  Rivals(Network& network, std::size_t links, std::int64_t count)
      : network_{network}, left_{count}, path_(links) {
    std::iota(path_.begin(), path_.end(), 0U);
  }
  void begin(std::uint64_t job) {
    started_[job] = network_.now();
    network_.start({path_, units::Bytes{1e6 * (1.0 + 0.1 * static_cast<double>(job))}, {}, {}, 1.0},
                   *this, job);
  }
  void fire(std::uint64_t job) override {
    const double alone = 1e6 * (1.0 + 0.1 * static_cast<double>(job)) / 1e10;
    stretch_ += (network_.now() - started_[job]).seconds().si() / alone;
    ++done_;
    if (--left_ > 0) {
      begin(job);
    }
  }
  /// Mean time relative to running alone: 2 where two always share.
  [[nodiscard]] double stretch() const { return stretch_ / static_cast<double>(done_); }

 private:
  Network& network_;
  std::int64_t left_;
  std::int64_t done_ = 0;
  double stretch_ = 0.0;
  std::vector<ResourceId> path_;
  std::array<units::Nanoseconds, 2> started_{};
};

/// @param state range: links on the bottleneck path (8: one node's ring, 64: a rail of 64 GPUs)
void contended_collectives(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  constexpr std::int64_t kCollectives = 20000;
  double stretch = 0.0;
  for (auto _ : state) {
    const Measured result = in_child([count] {
      const auto network = make_simgrid_network(links(count));
      Rivals rivals{*network, count, kCollectives};
      rivals.begin(0);
      rivals.begin(1);
      const double before = cpu_now();
      network->run();
      return Measured{cpu_now() - before, 0.0, rivals.stretch()};
    });
    stretch = result.extra;
    state.SetIterationTime(result.cpu);
  }
  state.SetItemsProcessed(state.iterations() * kCollectives);
  state.counters["stretch"] = stretch;
}
BENCHMARK(contended_collectives)
    ->Arg(8)
    ->Arg(64)
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);

}  // namespace
