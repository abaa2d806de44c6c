// What the simulator builds on: contention in time, one flow for a whole ring, and the same run
// twice. Each network lives in a child of its own, every case on both back ends.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "engine/in_child.hpp"
#include "engine/network.hpp"

using namespace trainyard;
using namespace trainyard::engine;

namespace {

using Maker = std::unique_ptr<Network> (*)(const std::vector<Resource>&);
using Play = std::function<std::string(Network&)>;

constexpr double kRate = 1e9;

struct BackEnd {
  const char* name;
  Maker make;
};

/// Plays on a new network with `links` links of kRate, in a child.
std::string played(const BackEnd& back_end, std::size_t links, const Play& play) {
  return test::in_child([&] {
    const auto network =
        back_end.make(std::vector<Resource>(links, {"", units::BytesPerSecond{kRate}}));
    return play(*network);
  });
}

BackEnd each_back_end() {
  return GENERATE(BackEnd{"simgrid", &make_simgrid_network}, BackEnd{"fluid", &make_fluid_network});
}

std::vector<double> numbers(const std::string& text) {
  std::istringstream words{text};
  std::vector<double> result;
  for (double value = 0.0; words >> value;) {
    result.push_back(value);
  }
  INFO(text);
  REQUIRE(words.eof());
  return result;
}

/// Jobs that compute for a second, then move what takes a second alone over link 0, and so on.
class Alternating final : public Handler {
 public:
  explicit Alternating(Network& network) : network_{network} {}

  void begin(double delay, int steps) {
    left_.push_back(steps);
    ends_.push_back(0.0);
    compute(left_.size() - 1, delay + 1.0);
  }
  void fire(std::uint64_t token) override {
    const std::size_t job = token / 2;
    if (token % 2 == 0) {
      network_.start({{0}, units::Bytes{kRate}, {}, {}, 1.0}, *this, token + 1);
      return;
    }
    ends_[job] = network_.now().seconds().si();
    if (--left_[job] > 0) {
      compute(job, 1.0);
    }
  }
  [[nodiscard]] std::string ends() const { return fmt::format("{}", fmt::join(ends_, " ")); }

 private:
  void compute(std::size_t job, double seconds) {
    network_.after(units::to_nanoseconds(units::Seconds{seconds}), *this, 2 * job);
  }

  Network& network_;
  std::vector<int> left_{};
  std::vector<double> ends_{};
};

std::vector<double> alternate(const BackEnd& back_end, double second_begins, int steps) {
  return numbers(played(back_end, 1, [&](Network& network) {
    Alternating jobs{network};
    jobs.begin(0.0, steps);
    jobs.begin(second_begins, steps);
    network.run();
    return jobs.ends();
  }));
}

/// A ring all-reduce rank by rank: 2 (n - 1) chunks leave each rank, one after the other, each when
/// the chunk before has arrived from the predecessor. Link r leads from rank r to its successor.
class RingByRank final : public Handler {
 public:
  RingByRank(Network& network, std::size_t ranks, double bytes)
      : network_{network},
        chunk_{bytes / static_cast<double>(ranks)},
        chunks_{2 * (ranks - 1)},
        sent_(ranks, 0),
        arrived_(ranks, 0),
        sending_(ranks, false) {}

  void begin() {
    for (std::size_t rank = 0; rank < sent_.size(); ++rank) {
      send_next(rank);
    }
  }
  void fire(std::uint64_t rank) override {
    const std::size_t successor = (rank + 1) % sent_.size();
    sending_[rank] = false;
    ++arrived_[successor];
    end_ = network_.now().seconds().si();
    if (++moved_ == chunks_ * sent_.size()) {
      network_.stop();  // rivals go on for ever
    }
    send_next(rank);
    send_next(successor);
  }
  [[nodiscard]] double end() const { return end_; }

 private:
  void send_next(std::size_t rank) {
    if (sending_[rank] || sent_[rank] == chunks_ || sent_[rank] > arrived_[rank]) {
      return;
    }
    sending_[rank] = true;
    ++sent_[rank];
    network_.start({{static_cast<ResourceId>(rank)}, units::Bytes{chunk_}, {}, {}, 1.0}, *this,
                   rank);
  }

  Network& network_;
  double chunk_;
  std::size_t chunks_;
  std::vector<std::size_t> sent_;
  std::vector<std::size_t> arrived_;
  std::vector<bool> sending_;
  std::size_t moved_ = 0;
  double end_ = 0.0;
};

/// Stops the network when what it waits for has ended; token 0 is a rival that nobody waits for.
class Stopper final : public Handler {
 public:
  explicit Stopper(Network& network) : network_{network} {}
  void fire(std::uint64_t token) override {
    if (token != 0) {
      network_.stop();
    }
  }

 private:
  Network& network_;
};

enum class Rival { none, on_first_half, on_every_other };

/// One flow of a second ring of as many links: half of them those of the first ring.
void start_rival(Network& network, Rival rival, std::size_t ranks, Handler& handler) {
  if (rival == Rival::none) {
    return;
  }
  FlowSpec flow{{}, units::Bytes{1e4 * kRate}, {}, {}, 1.0};
  for (std::size_t link = 0; link < ranks; ++link) {
    const bool shared = rival == Rival::on_first_half ? link < ranks / 2 : link % 2 == 0;
    flow.resources.push_back(static_cast<ResourceId>(shared ? link : ranks + link));
  }
  network.start(flow, handler, 0);
}

constexpr double kBuffer = 1e9;

double rank_by_rank(const BackEnd& back_end, std::size_t ranks, Rival rival) {
  return numbers(played(back_end, 2 * ranks,
                        [&](Network& network) {
                          RingByRank ring{network, ranks, kBuffer};
                          Stopper ignored{network};
                          start_rival(network, rival, ranks, ignored);
                          ring.begin();
                          network.run();
                          return fmt::format("{}", ring.end());
                        }))
      .at(0);
}

double as_one_flow(const BackEnd& back_end, std::size_t ranks, Rival rival) {
  return numbers(
             played(back_end, 2 * ranks,
                    [&](Network& network) {
                      Stopper stopper{network};
                      start_rival(network, rival, ranks, stopper);
                      const auto n = static_cast<double>(ranks);
                      FlowSpec flow{{}, units::Bytes{2.0 * (n - 1.0) / n * kBuffer}, {}, {}, 1.0};
                      for (std::size_t link = 0; link < ranks; ++link) {
                        flow.resources.push_back(static_cast<ResourceId>(link));
                      }
                      network.start(flow, stopper, 1);
                      network.run();
                      return fmt::format("{}", network.now().seconds().si());
                    }))
      .at(0);
}

/// Flows of random size, path, cap, weight and start. Now and then one is cancelled, and half of
/// the cancelled begin again with what they had left. Writes down every call-back.
class RandomTraffic final : public Handler {
 public:
  static constexpr std::size_t kLinks = 12;
  static constexpr std::uint64_t kFlows = 200;

  explicit RandomTraffic(Network& network) : network_{network} {}

  void begin() {
    for (std::uint64_t flow = 0; flow < kFlows; ++flow) {
      after_ms(below(5000), kStart + flow);
      after_ms(below(8000), kDisturb + flow);
      timers_.push_back(network_.after(units::Nanoseconds{below(9000000000)}, *this, flow));
    }
  }
  void fire(std::uint64_t token) override {
    log_ += fmt::format("{}:{} ", network_.now().count(), token);
    const std::uint64_t flow = token % kStart;
    if (token >= kEnd) {
      running_[flow] = 0;
    } else if (token >= kDisturb) {
      disturb(flow);
    } else if (token >= kStart) {
      specs_[flow] = any_flow();
      running_[flow] = network_.start(specs_[flow], *this, kEnd + flow);
    } else {
      timers_[flow] = 0;
    }
  }
  [[nodiscard]] const std::string& log() const { return log_; }

 private:
  static constexpr std::uint64_t kStart = 1000;
  static constexpr std::uint64_t kDisturb = 2000;
  static constexpr std::uint64_t kEnd = 3000;

  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(bound));
  }
  void after_ms(std::int64_t ms, std::uint64_t token) {
    network_.after(units::Nanoseconds{ms * 1000000}, *this, token);
  }
  FlowSpec any_flow() {
    FlowSpec flow;
    for (std::size_t i = 0; i < 3; ++i) {
      flow.resources.push_back(static_cast<ResourceId>(below(kLinks)));
    }
    flow.size = units::Bytes{1e6 * static_cast<double>(1 + below(400))};
    flow.cap = units::BytesPerSecond{below(3) == 0 ? 0.2 * kRate : 0.0};
    flow.latency = units::Nanoseconds{below(2) * 50000};
    flow.weight = static_cast<double>(1 + below(4));
    return flow;
  }
  void disturb(std::uint64_t flow) {
    if (timers_[flow] != 0 && below(2) == 0) {
      network_.cancel_timer(timers_[flow]);
      timers_[flow] = 0;
    }
    if (running_[flow] == 0) {
      return;
    }
    specs_[flow].size = network_.cancel(running_[flow]);
    running_[flow] = 0;
    if (below(2) == 0 && specs_[flow].size.si() > 0.0) {
      running_[flow] = network_.start(specs_[flow], *this, kEnd + flow);
    }
  }

  Network& network_;
  std::mt19937_64 random_{2027};
  std::vector<FlowSpec> specs_{kFlows};
  std::vector<FlowId> running_ = std::vector<FlowId>(kFlows, 0);
  std::vector<TimerId> timers_{};
  std::string log_{};
};

}  // namespace

TEST_CASE("two jobs in phase share every transfer: 3 s a step", "[simgrid]") {
  const BackEnd back_end = each_back_end();
  CAPTURE(back_end.name);
  const auto ends = alternate(back_end, 0.0, 100);
  REQUIRE(ends.size() == 2);
  CHECK(ends[0] == Approx(300.0).epsilon(1e-5));
  CHECK(ends[1] == Approx(300.0).epsilon(1e-5));
}

TEST_CASE("half a period apart two jobs never meet: 2 s a step", "[simgrid]") {
  const BackEnd back_end = each_back_end();
  CAPTURE(back_end.name);
  const auto ends = alternate(back_end, 1.0, 100);
  REQUIRE(ends.size() == 2);
  CHECK(ends[0] == Approx(200.0).epsilon(1e-5));
  CHECK(ends[1] == Approx(201.0).epsilon(1e-5));
}

TEST_CASE("one flow over a whole ring takes as long as its ranks' chunks", "[simgrid]") {
  const BackEnd back_end = each_back_end();
  const auto ranks = GENERATE(std::size_t{2}, 4, 8, 16, 64);
  CAPTURE(back_end.name, ranks);
  const auto n = static_cast<double>(ranks);
  const double expected = 2.0 * (n - 1.0) / n * kBuffer / kRate;
  CHECK(rank_by_rank(back_end, ranks, Rival::none) == Approx(expected).epsilon(0.001));
  CHECK(as_one_flow(back_end, ranks, Rival::none) == Approx(expected).epsilon(0.001));
}

TEST_CASE("also while a second ring uses half of its links", "[simgrid]") {
  const BackEnd back_end = each_back_end();
  const auto ranks = GENERATE(std::size_t{2}, 4, 8, 16, 64);
  const auto rival = GENERATE(Rival::on_first_half, Rival::on_every_other);
  CAPTURE(back_end.name, ranks, static_cast<int>(rival));
  // Shared links give each ring half. Ranks behind them wait; the ring moves at half rate.
  const auto n = static_cast<double>(ranks);
  const double expected = 2.0 * (n - 1.0) / n * kBuffer / (0.5 * kRate);
  const double by_rank = rank_by_rank(back_end, ranks, rival);
  CHECK(by_rank == Approx(expected).epsilon(0.005));
  CHECK(as_one_flow(back_end, ranks, rival) == Approx(by_rank).epsilon(0.005));
}

TEST_CASE("the same traffic twice gives the same call-backs at the same nanosecond", "[simgrid]") {
  const BackEnd back_end = each_back_end();
  CAPTURE(back_end.name);
  const auto run = [&] {
    return played(back_end, RandomTraffic::kLinks, [](Network& network) {
      RandomTraffic traffic{network};
      traffic.begin();
      network.run();
      return traffic.log();
    });
  };
  const std::string first = run();
  // At least a start and a disturbance of every flow, and no "died" or "exception".
  CHECK(std::count(first.begin(), first.end(), ':') >= 2 * 200);
  CHECK(first == run());
}
