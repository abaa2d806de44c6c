// What the simulator builds on: contention in time, one flow for a whole ring, and the same run
// twice. Each network lives in a child of its own, every case on both back ends.
#include <fmt/format.h>

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
