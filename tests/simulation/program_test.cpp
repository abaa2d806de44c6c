#include "simulation/program.hpp"

#include <catch2/catch.hpp>

#include "simulation/alone_run.hpp"
#include "simulation/job_run.hpp"
#include "simulation/op_times.hpp"
#include "simulation/support.hpp"

using namespace trainyard;
using namespace trainyard::simulation;
using test::StepBuilder;

TEST_CASE("compute between collectives fuses into sums", "[program]") {
  // gpu: 100 ns, collective A, 50 ns, collective B, 20 ns.
  const auto step =
      StepBuilder{}.compute(100).collective(8).compute(50).collective(8).compute(20).one_rank();
  const Program program = compile(step);
  REQUIRE(program.ranks.size() == 1);
  const RankProgram& rank = program.ranks.front();
  REQUIRE(rank.collectives == std::vector<int>{0, 1});
  // A is reached 100 ns after the stream was free; B 50 ns after A; the stream ends 20 ns after B.
  const std::vector<std::int64_t> carry(static_cast<std::size_t>(rank.streams), 1000);
  CHECK(evaluate(rank.arrival[0], carry, {0, 0}, 0) == 1100);
  CHECK(evaluate(rank.arrival[1], carry, {5000, 0}, 0) == 5050);
  CHECK(evaluate(rank.finish[0], carry, {5000, 7000}, 0) == 7020);
  CHECK(rank.missing == std::vector<int>{0, 1});
  CHECK(rank.dependents[0] == std::vector<int>{1});
}

TEST_CASE("terms that a collective implies are dropped", "[program]") {
  const auto step = StepBuilder{}.compute(100).collective(8).compute(50).one_rank();
  const Program program = compile(step);
  CHECK(program.ranks.front().finish[0].size() == 1);
}

TEST_CASE("overlap: a collective on its own stream hides behind compute", "[program]") {
  // compute stream: 100, then 300; collective after the first 100 on the other stream; at the end
  // 10 ns that need both.
  StepBuilder builder;
  builder.compute(100).collective_aside(8).compute(300).join().compute(10);
  const Program program = compile(builder.one_rank());
  const RankProgram& rank = program.ranks.front();
  const std::vector<std::int64_t> carry(static_cast<std::size_t>(rank.streams), 0);
  CHECK(evaluate(rank.finish[0], carry, {200}, 0) == 410);  // hidden: 100 + 300 + 10
  CHECK(evaluate(rank.finish[0], carry, {900}, 0) == 910);  // late: collective end + 10
}

TEST_CASE("the fused step equals the op-by-op replay on random graphs", "[program]") {
  test::Random random{42};
  for (int round = 0; round < 200; ++round) {
    const auto step = test::random_step(random, 3, 60);
    const Program program = compile(step);
    const RankProgram& rank = program.ranks.front();
    std::vector<std::int64_t> ends;
    const std::int64_t start = 5000;
    const std::vector<std::int64_t> carry(static_cast<std::size_t>(rank.streams), start);
    for (std::size_t q = 0; q < rank.collectives.size(); ++q) {
      std::vector<std::int64_t> known = ends;
      known.resize(rank.collectives.size(), 0);
      const std::int64_t arrival = evaluate(rank.arrival[q], carry, known, 0);
      ends.push_back(arrival + static_cast<std::int64_t>(random.below(400)));
    }
    const auto times = op_times(step.timelines.front(), start, ends);
    std::vector<std::int64_t> last(static_cast<std::size_t>(rank.streams), start);
    std::size_t q = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
      const auto& op = step.timelines.front().ops[i];
      last[static_cast<std::size_t>(op.stream)] = times[i].second;
      if (op.kind == workload::OpKind::collective) {
        REQUIRE(times[i].first == evaluate(rank.arrival[q++], carry, ends, 0));
      }
    }
    for (std::size_t stream = 0; stream < last.size(); ++stream) {
      REQUIRE(evaluate(rank.finish[stream], carry, ends, 0) == last[stream]);
    }
  }
}

TEST_CASE("recorded busy time and exposure are measured on the recording", "[program]") {
  // 100 compute, collective of 60 recorded beside 300 compute: all hidden.
  StepBuilder hidden;
  hidden.compute(100).collective_aside(8, 60).compute(300);
  CHECK(compile(hidden.one_rank()).ranks.front().compute_busy == 400);
  CHECK(compile(hidden.one_rank()).ranks.front().exposed_share == Approx(0.0));
  // 100 compute, then 60 alone, then 40 more: all exposed.
  StepBuilder exposed;
  exposed.compute(100).collective(8, 60).compute(40);
  CHECK(compile(exposed.one_rank()).ranks.front().compute_busy == 140);
  CHECK(compile(exposed.one_rank()).ranks.front().exposed_share == Approx(1.0));
}

TEST_CASE("a job without collectives is multiplied out", "[program]") {
  // host 30 ns then a kernel of 100 ns: GPU bound, 30 + n x 100 for n steps.
  StepBuilder builder;
  builder.launched_compute(30, 100);
  const Program program = compile(builder.one_rank());
  CHECK(solo_end(program, 1, 1000, 1) == 1130);
  CHECK(solo_end(program, 1, 1000, 5) == 1000 + 30 + 5 * 100);
  CHECK(solo_end(program, 1, 0, 1000000000) == 30 + 100000000000);
  CHECK(solo_end(program, 1, 7, 0) == 7);
}

TEST_CASE("a launch-bound job repeats at the pace of its host", "[program]") {
  // host 100 ns, kernel 30 ns: n x 100 + 30.
  StepBuilder builder;
  builder.launched_compute(100, 30);
  CHECK(solo_end(compile(builder.one_rank()), 1, 0, 10) == 10 * 100 + 30);
}

TEST_CASE("alone, a step is compute plus collectives", "[program]") {
  const auto step = StepBuilder{}.compute(100).collective(8).compute(50).one_rank();
  const AloneRun pace = alone_run(compile(step), 4, {70});
  CHECK(pace.first_end == 220);
  CHECK(pace.step == Approx(220.0));
  CHECK(pace.end_of(10) == 2200);
}

TEST_CASE("ranks of different speed meet at the collective", "[program]") {
  // rank 0: 100 ns, rank 1: 160 ns of compute, then a collective of 40: 200 a step.
  const auto step = StepBuilder::two_ranks(100, 160, 8);
  const AloneRun pace = alone_run(compile(step), 2, {40});
  CHECK(pace.step == Approx(200.0));
}

TEST_CASE("intervals unite and are cut", "[program]") {
  const auto joined = united({{5, 9}, {0, 3}, {3, 4}, {8, 12}});
  CHECK(joined == std::vector<Interval>{{0, 4}, {5, 12}});
  CHECK(length(joined) == 11);
  CHECK(length_within(joined, 2, 6) == 3);
  CHECK(length_within(joined, 20, 30) == 0);
}
