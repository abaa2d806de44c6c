// Both back ends against worked-out numbers. Times in the comments are in seconds.
#include "engine/network.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>

#include "engine/in_child.hpp"
#include "engine/max_min.hpp"

using namespace trainyard;
using namespace trainyard::engine;

namespace {

constexpr double kGiga = 1e9;

std::vector<Resource> links(std::size_t count, double rate = kGiga) {
  return std::vector<Resource>(count, {"", units::BytesPerSecond{rate}});
}

units::Nanoseconds at(double seconds) {
  return units::to_nanoseconds(units::Seconds{seconds});
}

FlowSpec flow(std::vector<ResourceId> resources, double gigabytes, double cap = 0.0,
              double latency = 0.0, double weight = 1.0) {
  return {std::move(resources), units::Bytes{gigabytes * kGiga}, units::BytesPerSecond{cap * kGiga},
          at(latency), weight};
}

/// A script of calls at given times; every call-back is written down as "name@ns".
class Script final : public Handler {
 public:
  explicit Script(Network& network) : network_{network} {}

  void at_time(double seconds, std::function<void()> call) {
    calls_.push_back(std::move(call));
    network_.after(at(seconds), *this, calls_.size());
  }
  FlowId start(const FlowSpec& spec, char name) {
    return network_.start(spec, *this, kFlow + static_cast<std::uint64_t>(name));
  }
  void fire(std::uint64_t token) override {
    if (token >= kFlow) {
      log_ += fmt::format("{}@{} ", static_cast<char>(token - kFlow), network_.now().count());
      return;
    }
    calls_[token - 1]();
  }
  void note(const std::string& text) { log_ += text + " "; }
  [[nodiscard]] const std::string& log() const { return log_; }

 private:
  static constexpr std::uint64_t kFlow = 1000000;
  Network& network_;
  std::vector<std::function<void()>> calls_{};
  std::string log_{};
};

using Play = std::function<void(Script&, Network&)>;

/// Plays the same script on both back ends and returns both logs.
std::pair<std::string, std::string> play(const std::vector<Resource>& resources,
                                         const Play& script) {
  const auto work = [&](Network& network) {
    Script player{network};
    script(player, network);
    network.run();
    return player.log();
  };
  const std::string simgrid =
      test::in_child([&] { return work(*make_simgrid_network(resources)); });
  return {work(*make_fluid_network(resources)), simgrid};
}

void check_both(const std::vector<Resource>& resources, const Play& script,
                const std::string& expected) {
  const auto [fluid, simgrid] = play(resources, script);
  CHECK(fluid == expected);
  CHECK(simgrid == expected);
}

}  // namespace

TEST_CASE("a flow alone takes size over bandwidth", "[network]") {
  check_both(
      links(1), [](Script& s, Network&) { s.start(flow({0}, 2.0), 'a'); }, "a@2000000000 ");
}

TEST_CASE("two flows share a link in halves", "[network]") {
  // a: 1 GB, b: 2 GB. Both at 0.5 until a ends at 2; b has 1 GB left: ends at 3.
  check_both(
      links(1),
      [](Script& s, Network&) {
        s.start(flow({0}, 1.0), 'a');
        s.start(flow({0}, 2.0), 'b');
      },
      "a@2000000000 b@3000000000 ");
}

TEST_CASE("max-min: what one flow cannot use goes to the other", "[network]") {
  // a over links 0 and 1, b over 0, c over 1 (half as fast): a and c get 0.25 each, b 0.75.
  check_both(
      {{"", units::BytesPerSecond{kGiga}}, {"", units::BytesPerSecond{0.5 * kGiga}}},
      [](Script& s, Network&) {
        s.start(flow({0, 1}, 0.25), 'a');
        s.start(flow({0}, 0.75), 'b');
        s.start(flow({1}, 0.25), 'c');
      },
      "a@1000000000 b@1000000000 c@1000000000 ");
}

TEST_CASE("a cap leaves the rest to others", "[network]") {
  // a capped at 0.2: b gets 0.8.
  check_both(
      links(1),
      [](Script& s, Network&) {
        s.start(flow({0}, 0.2, 0.2), 'a');
        s.start(flow({0}, 0.8), 'b');
      },
      "a@1000000000 b@1000000000 ");
}

TEST_CASE("weights share four to one", "[network]") {
  check_both(
      links(1),
      [](Script& s, Network&) {
        s.start(flow({0}, 0.8, 0.0, 0.0, 4.0), 'a');
        s.start(flow({0}, 0.2), 'b');
      },
      "a@1000000000 b@1000000000 ");
}

TEST_CASE("a link listed twice counts twice", "[network]") {
  check_both(
      links(1),
      [](Script& s, Network&) {
        s.start(flow({0, 0}, 1.0), 'a');
      },
      "a@2000000000 ");
}

TEST_CASE("latency passes once, before the first byte, and loads nothing", "[network]") {
  // a waits 0.5, then shares with b from 0.5: b has 0.5 left, both at half: b ends 1.5, a 2.0... a
  // has 1 GB: 0.5 moved by 1.5, the rest alone: 2.0.
  check_both(
      links(1),
      [](Script& s, Network&) {
        s.start(flow({0}, 1.0, 0.0, 0.5), 'a');
        s.start(flow({0}, 1.0), 'b');
      },
      "b@1500000000 a@2000000000 ");
}

TEST_CASE("cancelled and restarted with what is left, a flow ends when it would have",
          "[network]") {
  check_both(
      links(1),
      [](Script& s, Network& n) {
        const FlowId a = s.start(flow({0}, 1.0), 'a');
        s.at_time(0.25, [&s, &n, a] {
          const units::Bytes left = n.cancel(a);
          s.start({{0}, left, {}, {}, 1.0}, 'b');
        });
      },
      "b@1000000000 ");
}

TEST_CASE("a flow that is still waiting has everything left", "[network]") {
  check_both(
      links(1),
      [](Script& s, Network& n) {
        const FlowId a = s.start(flow({0}, 1.0, 0.0, 1.0), 'a');
        s.at_time(0.5, [&s, &n, a] { s.note(fmt::format("{:.0f}", n.cancel(a).si())); });
      },
      "1000000000 ");
}

TEST_CASE("at one instant flows end before timers fire, in the order of their starts",
          "[network]") {
  check_both(
      links(2),
      [](Script& s, Network&) {
        s.at_time(1.0, [&s] { s.note("timer"); });
        s.start(flow({0}, 1.0), 'a');
        s.start(flow({1}, 1.0), 'b');
      },
      "a@1000000000 b@1000000000 timer ");
}

TEST_CASE("timers are exact after ten million seconds", "[network]") {
  check_both(
      links(1),
      [](Script& s, Network& n) {
        s.at_time(0.0,
                  [&s, &n] { n.after(units::Nanoseconds{10000000000000001}, s, 1000000 + 'x'); });
      },
      "x@10000000000000001 ");
}

TEST_CASE("a cancelled timer does not fire", "[network]") {
  check_both(
      links(1),
      [](Script& s, Network& n) {
        const TimerId timer = n.after(at(1.0), s, 1000000 + 'x');
        s.at_time(0.5, [&n, timer] { n.cancel_timer(timer); });
        s.at_time(2.0, [&s] { s.note("end"); });
      },
      "end ");
}

TEST_CASE("stop ends the run at once", "[network]") {
  check_both(
      links(1),
      [](Script& s, Network& n) {
        s.at_time(1.0, [&s, &n] {
          s.note("stop");
          n.stop();
        });
        s.at_time(2.0, [&s] { s.note("never"); });
        s.start(flow({0}, 5.0), 'a');
      },
      "stop ");
}

TEST_CASE("an exception in a call-back comes out of run", "[network]") {
  const auto work = [](Network& network) {
    Script script{network};
    script.at_time(1.0, [] { throw std::runtime_error{"from a handler"}; });
    network.run();
    return std::string{"no exception"};
  };
  CHECK(test::in_child([&] { return work(*make_simgrid_network(links(1))); }) ==
        "exception: from a handler");
  CHECK_THROWS_WITH(work(*make_fluid_network(links(1))), "from a handler");
}

TEST_CASE("SimGrid allows one network a process", "[network]") {
  CHECK(test::in_child([] {
          const auto first = make_simgrid_network(links(1));
          const auto second = make_simgrid_network(links(1));
          return std::string{"two"};
        }) == "exception: SimGrid allows one network in a process");
}

TEST_CASE("doubling every bandwidth halves a large transfer", "[network]") {
  for (const double rate : {1.0, 2.0}) {
    const auto [fluid, simgrid] = play(links(3, rate * kGiga), [](Script& s, Network&) {
      s.start(flow({0, 1, 2}, 8.0), 'a');
    });
    CHECK(fluid == fmt::format("a@{} ", static_cast<std::int64_t>(8e9 / rate)));
    CHECK(simgrid == fluid);
  }
}

TEST_CASE("both back ends agree on random traffic", "[network]") {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const auto [fluid, simgrid] = play(links(6), [seed](Script& s, Network&) {
      std::mt19937 random{seed};
      const auto pick = [&random](std::uint32_t bound) {
        return static_cast<std::uint32_t>(random() % bound);
      };
      for (char name = 'a'; name < 'p'; ++name) {
        std::vector<ResourceId> crossed;
        for (ResourceId link = 0; link < 6; ++link) {
          if (pick(3) == 0) {
            crossed.push_back(link);
          }
        }
        if (crossed.empty()) {
          crossed.push_back(pick(6));
        }
        const double size = 0.05 + 0.001 * pick(1000);
        const double begin = 0.001 * pick(2000);
        s.at_time(begin, [&s, crossed, size, name] { s.start(flow(crossed, size), name); });
      }
    });
    std::istringstream first{fluid};
    std::istringstream second{simgrid};
    std::map<char, double> ends;
    for (std::string word; first >> word;) {
      ends[word[0]] = std::stod(word.substr(2));
    }
    int compared = 0;
    for (std::string word; second >> word; ++compared) {
      // Half a microsecond: SimGrid stops its max-min at 1e-5 of a rate.
      CHECK(std::stod(word.substr(2)) == Approx(ends.at(word[0])).margin(20000.0));
    }
    CHECK(compared == 15);
  }
}

TEST_CASE("no set of rates exceeds a resource", "[max-min]") {
  std::mt19937 random{7};
  for (int round = 0; round < 200; ++round) {
    const std::vector<double> capacity{1.0, 2.0, 3.0, 0.5};
    std::vector<std::vector<std::uint32_t>> paths;
    for (int i = 0; i < 12; ++i) {
      paths.push_back(
          {static_cast<std::uint32_t>(random() % 4), static_cast<std::uint32_t>(random() % 4)});
    }
    std::vector<Sharer> flows;
    for (const auto& path : paths) {
      flows.push_back(
          {&path, random() % 3 == 0 ? 0.1 : 0.0, 1.0 + static_cast<double>(random() % 3), 0.0});
    }
    share_max_min(flows, capacity);
    std::vector<double> used(4, 0.0);
    for (const Sharer& each : flows) {
      CHECK(each.rate > 0.0);
      for (const std::uint32_t resource : *each.resources) {
        used[resource] += each.rate;
      }
    }
    for (std::size_t i = 0; i < used.size(); ++i) {
      CHECK(used[i] <= capacity[i] * (1.0 + 1e-9));
    }
  }
}
