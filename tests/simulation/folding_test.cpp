#include "simulation/folding.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <numeric>

#include "collective/plan.hpp"
#include "engine/network.hpp"
#include "simulation/support.hpp"

using namespace trainyard;
using namespace trainyard::simulation;

namespace {

Folding fold_equal(const std::vector<FoldableFlow>& flows, int links, double capacity = 1e9) {
  std::vector<topology::LinkId> ids(static_cast<std::size_t>(links));
  std::iota(ids.begin(), ids.end(), 0);
  return fold(flows, ids, std::vector<double>(ids.size(), capacity));
}

/// Remembers when each flow ended.
class Ends final : public engine::Handler {
 public:
  explicit Ends(engine::Network& network) : network_{network} {}
  void fire(std::uint64_t token) override { times[token] = network_.now().count(); }
  std::map<std::uint64_t, std::int64_t> times{};

 private:
  engine::Network& network_;
};

}  // namespace

TEST_CASE("eight rails that meet the same rival become one flow each", "[folding]") {
  // Job 0 and job 1 each have one flow a rail, both on link r.
  std::vector<FoldableFlow> flows;
  for (int rail = 0; rail < 8; ++rail) {
    flows.push_back({0, {rail}});
    flows.push_back({1, {rail}});
  }
  const Folding folding = fold_equal(flows, 8);
  REQUIRE(folding.classes.size() == 2);
  CHECK(folding.classes[0].links == std::vector<topology::LinkId>{0});
  CHECK(folding.classes[1].links == std::vector<topology::LinkId>{0});
  CHECK(folding.class_of[14] == folding.class_of[0]);
}

TEST_CASE("a rail with another rival stays apart", "[folding]") {
  // Rails 0..3; job 1 only on rails 2 and 3.
  std::vector<FoldableFlow> flows;
  for (int rail = 0; rail < 4; ++rail) {
    flows.push_back({0, {rail}});
  }
  flows.push_back({1, {2}});
  flows.push_back({1, {3}});
  const Folding folding = fold_equal(flows, 4);
  CHECK(folding.classes.size() == 3);
  CHECK(folding.class_of[0] == folding.class_of[1]);
  CHECK(folding.class_of[2] == folding.class_of[3]);
  CHECK(folding.class_of[0] != folding.class_of[2]);
  CHECK(folding.class_of[4] == folding.class_of[5]);
}

TEST_CASE("flows of one class on one link count as often as they are", "[folding]") {
  // Four equal flows over link 0: the class crosses it four times.
  const Folding folding = fold_equal({{0, {0}}, {0, {0}}, {0, {0}}, {0, {0}}}, 1);
  REQUIRE(folding.classes.size() == 1);
  CHECK(folding.classes[0].links == std::vector<topology::LinkId>{0, 0, 0, 0});
}

TEST_CASE("different kinds and capacities never fold", "[folding]") {
  CHECK(fold_equal({{0, {0}}, {1, {1}}}, 2).classes.size() == 2);
  CHECK(fold({{0, {0}}, {0, {1}}}, {0, 1}, {1e9, 2e9}).classes.size() == 2);
}

TEST_CASE("folded flows end when the unfolded ones do", "[folding]") {
  test::Random random{7};
  for (int round = 0; round < 100; ++round) {
    // Jobs with symmetric rails, some on part of the rails, plus links shared by all rails of a
    // job.
    const int rails = 2 + static_cast<int>(random.below(4));
    const int jobs = 2 + static_cast<int>(random.below(3));
    std::vector<FoldableFlow> flows;
    for (int job = 0; job < jobs; ++job) {
      const int used = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(rails)));
      for (int rail = 0; rail < used; ++rail) {
        flows.push_back({job, {rail, rails + job % 2}});
      }
    }
    const int links = rails + 2;
    const Folding folding = fold_equal(flows, links);
    const std::vector<engine::Resource> resources(static_cast<std::size_t>(links),
                                                  {"", units::BytesPerSecond{1e9}});
    const auto whole = engine::make_fluid_network(resources);
    const auto folded = engine::make_fluid_network(resources);
    Ends whole_ends{*whole};
    Ends folded_ends{*folded};
    const auto spec = [&](int kind, const std::vector<topology::LinkId>& crossed) {
      return engine::FlowSpec{
          {crossed.begin(), crossed.end()}, units::Bytes{1e9 * (1.0 + kind)}, {}, {}, 1.0};
    };
    for (std::size_t f = 0; f < flows.size(); ++f) {
      whole->start(spec(flows[f].kind, flows[f].links), whole_ends, f);
    }
    for (std::size_t c = 0; c < folding.classes.size(); ++c) {
      const auto& cell = folding.classes[c];
      folded->start(spec(flows[cell.representative].kind, cell.links), folded_ends, c);
    }
    whole->run();
    folded->run();
    for (std::size_t f = 0; f < flows.size(); ++f) {
      const auto cell = static_cast<std::uint64_t>(folding.class_of[f]);
      REQUIRE(static_cast<double>(whole_ends.times.at(f)) ==
              Approx(static_cast<double>(folded_ends.times.at(cell))).epsilon(1e-7));
    }
  }
}
