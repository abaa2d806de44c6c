#include "scheduling/policies/fifo.hpp"

#include <catch2/catch.hpp>

#include "support/recorded_loop.hpp"

namespace trainyard {
namespace {

using Waits = std::map<std::string, std::int64_t>;

TEST_CASE("fifo says why each job waits", "[fifo]") {
  // 4 GPUs. A holds 3 until 10. B(2) heads the queue from 1; C(1) would fit beside A but is behind
  // B. At 10 both start: B waited 9 for capacity, C 8 for order. D(4) joins at 3: behind B until
  // 10, then head, with 1 GPU free of 4 until B ends at 15 and C at 12: start 15.
  const auto ran = test::RecordedLoop{topology::flat_cluster(1, 4),
                                      "policy = \"fifo\"\nplacement = \"count\"\n",
                                      {{3, 10, 0}, {2, 5, 1}, {1, 2, 2}, {4, 1, 3}}}
                       .finish();
  CHECK(test::intervals(ran) ==
        std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 10}, {10, 15}, {10, 12}, {15, 16}});
  CHECK(ran[0].waits.empty());
  CHECK(ran[1].waits == Waits{{"capacity", 9}});
  CHECK(ran[2].waits == Waits{{"order", 8}});
  CHECK(ran[3].waits == Waits{{"capacity", 5}, {"order", 7}});
  CHECK(ran[3].why == "first in submit order");
}

TEST_CASE("a fifo head that waits for scattered GPUs can come to wait for capacity", "[fifo]") {
  // 2 nodes of 2. A and B sit on a node each (spread). C(2) finds 1 + 1 free at 1: fragmentation.
  // A ends at 4: node 0 is whole and C starts. D(2) was behind C until 4, then finds 1 GPU free
  // (capacity) until C ends at 6.
  const auto ran = test::RecordedLoop{topology::flat_cluster(2, 2),
                                      "placement = \"spread\"\nspan = \"fit-node\"\n",
                                      {{1, 4, 0}, {1, 20, 0}, {2, 2, 1}, {2, 1, 2}}}
                       .finish();
  CHECK(ran[2].start == 4);
  CHECK(ran[2].waits == Waits{{"fragmentation", 3}});
  CHECK(ran[3].start == 6);
  CHECK(ran[3].waits == Waits{{"capacity", 2}, {"order", 2}});
}

TEST_CASE("a blocked head is reported once, not at every pass", "[fifo]") {
  const auto cluster = topology::flat_cluster(1, 2);
  const auto section = input::Document::parse("", "x.toml").root();
  const auto placement = scheduling::make_placement(section);
  scheduling::Fifo fifo;
  const auto state = fifo.make_state();
  scheduling::Devices devices{cluster};
  devices.take({0});
  std::vector<scheduling::JobView> queue{{0, 2, {}, 0, ""}, {1, 1, {}, 0, ""}};
  const std::vector<scheduling::RunningView> running;
  const scheduling::View view{{}, queue, running, devices, *placement};

  const auto first = fifo.decide(view, *state);
  CHECK(first.actions().empty());
  REQUIRE(first.holds().size() == 1);
  CHECK(first.holds().front() == std::pair<int, std::string>{0, "capacity"});
  queue.push_back({2, 1, {}, 0, ""});
  CHECK(fifo.decide(view, *state).holds().empty());
  CHECK(devices.free() == 1);  // a pass leaves the devices alone
}

}  // namespace
}  // namespace trainyard
