#include <catch2/catch.hpp>

#include "scheduling/policy.hpp"

namespace trainyard {
namespace {

input::Section scheduler(const std::string& text) {
  return *input::Document::parse("[scheduler]\n" + text, "s.toml").root().section("scheduler");
}

template <typename Table>
std::vector<std::string> names(const Table& table) {
  std::vector<std::string> result;
  for (const auto& row : table) {
    result.emplace_back(row.first);
  }
  return result;
}

TEST_CASE("the tables hold every policy and placement", "[tables]") {
  CHECK(names(scheduling::policies()) == std::vector<std::string>{"fifo", "fifo-best-effort"});
  CHECK(names(scheduling::placements()) == std::vector<std::string>{"count", "pack", "spread"});
}

TEST_CASE("every row of the tables can be made", "[tables]") {
  for (const auto& row : scheduling::policies()) {
    CHECK(scheduling::make_policy(scheduler("policy = \"" + std::string{row.first} + "\"")));
  }
  for (const auto& row : scheduling::placements()) {
    CHECK(scheduling::make_placement(scheduler("placement = \"" + std::string{row.first} + "\"")));
  }
}

TEST_CASE("what [scheduler] does not name is fifo and pack", "[tables]") {
  const auto cluster = topology::flat_cluster(2, 4);
  scheduling::Devices devices{cluster};
  devices.take({4});
  scheduling::JobView job;
  job.gpus = 3;
  // pack prefers node 1, which has 3 free, to the idle node 0; the other placements do not
  CHECK(scheduling::make_placement(scheduler(""))->place(devices, job) == std::vector{5, 6, 7});
  CHECK(scheduling::make_policy(scheduler("")));
}

TEST_CASE("an unknown policy or placement lists the known ones", "[tables]") {
  CHECK_THROWS_WITH(scheduling::make_policy(scheduler("policy = \"fifoo\"")),
                    "s.toml:2:10: error: unknown policy \"fifoo\" (known: fifo, fifo-best-effort)");
  CHECK_THROWS_WITH(scheduling::make_placement(scheduler("placement = \"yarn\"")),
                    "s.toml:2:13: error: unknown placement \"yarn\" (known: count, pack, spread)");
  CHECK_THROWS_WITH(scheduling::make_policy(scheduler("policy = 3")),
                    Catch::StartsWith("s.toml:2:10: error: 'policy' must be"));
}

TEST_CASE("span is any or fit-node", "[tables]") {
  CHECK_THROWS_WITH(scheduling::make_placement(scheduler("span = \"node\"")),
                    "s.toml:2:8: error: 'span' must be \"any\" or \"fit-node\", got \"node\"");
}

TEST_CASE("the keys that a policy and a placement read become known", "[tables]") {
  const auto section = scheduler("policy = \"fifo\"\nplacement = \"count\"\nspam = \"any\"\n");
  (void)scheduling::make_policy(section);
  (void)scheduling::make_placement(section);
  CHECK_THROWS_WITH(section.reject_unknown(),
                    "s.toml:4:1: error: unknown key 'spam' in [scheduler], did you mean \"span\"?");
}

}  // namespace
}  // namespace trainyard
