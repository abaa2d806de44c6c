#include "scheduling/policies/fifo_best_effort.hpp"

#include <catch2/catch.hpp>

#include "support/recorded_loop.hpp"

namespace trainyard {
namespace {

using Waits = std::map<std::string, std::int64_t>;
using Holds = std::vector<std::pair<int, std::string>>;

TEST_CASE("best effort passes jobs that do not fit and says how many", "[fifo-best-effort]") {
  // 4 GPUs, A holds 3. B(2) and C(4) do not fit at 1; D(1) does and passes both.
  const auto ran = test::RecordedLoop{topology::flat_cluster(1, 4),
                                      "policy = \"fifo-best-effort\"\nplacement = \"count\"\n",
                                      {{3, 10, 0}, {2, 5, 1}, {4, 5, 1}, {1, 3, 1}}}
                       .finish();
  CHECK(ran[3].start == 1);
  CHECK(ran[3].why == "fits, 2 ahead of it do not");
  CHECK(ran[1].start == 10);
  CHECK(ran[1].waits == Waits{{"capacity", 9}});
  CHECK(ran[2].start == 15);
  CHECK(ran[2].waits == Waits{{"capacity", 14}});
}

TEST_CASE("best effort never lets order be the reason", "[fifo-best-effort]") {
  // 2 nodes of 2, spread, fit-node. A, B hold one GPU a node; C(2) at 1 finds 1 + 1: fragmentation.
  // D(1) at 2 takes GPU 1; one is left, so from 2 on C waits for capacity. D ends at 3: 1 + 1 free
  // again, fragmentation until A ends at 6.
  const auto ran = test::RecordedLoop{
      topology::flat_cluster(2, 2),
      "policy = \"fifo-best-effort\"\nplacement = \"spread\"\nspan = \"fit-node\"\n",
      {{1, 6, 0},
       {1, 9, 0},
       {2, 1, 1},
       {1, 1, 2}}}.finish();
  CHECK(ran[3].gpus == std::vector{1});
  CHECK(ran[2].start == 6);
  CHECK(ran[2].waits == Waits{{"capacity", 1}, {"fragmentation", 4}});
}

TEST_CASE("a pass in which no GPU came back looks at new jobs only", "[fifo-best-effort]") {
  const auto cluster = topology::flat_cluster(1, 4);
  const auto section = input::Document::parse("", "x.toml").root();

  /// Counts how often it is asked.
  struct Counting final : scheduling::Placement {
    mutable int asked = 0;
    std::unique_ptr<scheduling::Placement> real;
    std::optional<std::vector<topology::GpuId>> place(
        const scheduling::Devices& devices, const scheduling::JobView& job) const override {
      ++asked;
      return job.gpus == 3 ? std::nullopt : real->place(devices, job);
    }
  } placement;
  placement.real = scheduling::make_placement(section);

  scheduling::FifoBestEffort policy;
  const auto state = policy.make_state();
  scheduling::Devices devices{cluster};
  std::vector<scheduling::JobView> queue{{0, 3, {}, 0, ""}, {1, 3, {}, 0, ""}, {2, 1, {}, 0, ""}};
  const std::vector<scheduling::RunningView> running;
  const auto pass = [&] {
    return policy.decide(scheduling::View{{}, queue, running, devices, placement}, *state);
  };

  // 3 GPUs are refused by this placement (once: the second job of 3 is known to fail), 1 starts.
  const auto first = pass();
  CHECK(placement.asked == 2);
  REQUIRE(first.actions().size() == 1);
  CHECK(first.actions().front().job == 2);
  CHECK(first.holds() == Holds{{0, "fragmentation"}, {1, "fragmentation"}});

  devices.take(first.actions().front().gpus);
  queue.pop_back();
  CHECK(pass().holds().empty());
  CHECK(placement.asked == 2);

  // A new job that starts leaves 1 GPU: the older ones now wait for capacity.
  queue.push_back({3, 2, {}, 0, ""});
  const auto third = pass();
  CHECK(placement.asked == 3);
  REQUIRE(third.actions().size() == 1);
  CHECK(third.holds() == Holds{{0, "capacity"}, {1, "capacity"}});

  // A GPU that comes back opens the whole queue again.
  queue.pop_back();
  devices.take({1, 2});
  devices.give_back({0});
  devices.give_back({1});
  CHECK(devices.free() == 3);
  CHECK(pass().holds() == Holds{{0, "fragmentation"}, {1, "fragmentation"}});
  CHECK(placement.asked == 4);
}

}  // namespace
}  // namespace trainyard
