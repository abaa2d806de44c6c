#include "scheduling/policy.hpp"

#include <catch2/catch.hpp>

namespace trainyard {
namespace {

using namespace scheduling;  // NOLINT(google-build-using-namespace): one name space is under test

JobView job_of(JobIndex index, int gpus) {
  JobView job;
  job.index = index;
  job.gpus = gpus;
  return job;
}

TEST_CASE("a trial keeps what it placed and leaves the devices alone", "[trial]") {
  const auto cluster = topology::flat_cluster(2, 2);
  const Devices devices{cluster};
  const auto section = input::Document::parse("placement = \"count\"", "x.toml");
  const auto placement = make_placement(section.root());
  Trial trial{devices, *placement};

  REQUIRE(trial.place(job_of(0, 3)));
  CHECK(trial.last() == std::vector{0, 1, 2});
  CHECK_FALSE(trial.place(job_of(1, 2)));
  CHECK(trial.last() == std::vector{0, 1, 2});
  REQUIRE(trial.place(job_of(2, 1)));
  CHECK(trial.last() == std::vector{3});
  CHECK(trial.devices().free() == 0);
  CHECK(devices.free() == 4);
}

TEST_CASE("too few free GPUs is capacity, enough but refused is fragmentation", "[trial]") {
  const auto cluster = topology::flat_cluster(2, 2);
  Devices devices{cluster};
  devices.take({0, 2});
  CHECK(why_refused(devices, job_of(0, 2)) == WaitReason::fragmentation);
  CHECK(why_refused(devices, job_of(0, 3)) == WaitReason::capacity);
}

TEST_CASE("wait reasons have the names of the results folder", "[wait-reason]") {
  CHECK(to_text(WaitReason::quota) == "quota");
  CHECK(to_text(WaitReason::order) == "order");
  CHECK(to_text(WaitReason::reservation) == "reservation");
  CHECK(to_text(WaitReason::capacity) == "capacity");
  CHECK(to_text(WaitReason::topology) == "topology");
  CHECK(to_text(WaitReason::fragmentation) == "fragmentation");
  CHECK(to_text(WaitReason::repair) == "repair");
}

TEST_CASE("a wait book reports changes only", "[wait-reason]") {
  WaitBook book;
  Decisions decisions;
  book.note(decisions, 2, WaitReason::order);  // as every job that just joined
  CHECK(decisions.holds().empty());
  book.note(decisions, 2, WaitReason::capacity);
  book.note(decisions, 2, WaitReason::capacity);
  book.note(decisions, 0, WaitReason::fragmentation);
  book.note(decisions, 2, WaitReason::order);
  CHECK(decisions.holds() == std::vector<std::pair<int, std::string>>{
                                 {2, "capacity"}, {0, "fragmentation"}, {2, "order"}});
}

TEST_CASE("decisions keep actions, holds and the time to wake", "[policy]") {
  Decisions decisions;
  CHECK_FALSE(decisions.wake().has_value());
  decisions.start(3, {1, 2}, "why not");
  decisions.wake_at(units::Nanoseconds{7});
  REQUIRE(decisions.actions().size() == 1);
  const Action& action = decisions.actions().front();
  CHECK(action.kind == ActionKind::start);
  CHECK(action.job == 3);
  CHECK(action.gpus == std::vector{1, 2});
  CHECK(action.why == "why not");
  CHECK(decisions.wake() == units::Nanoseconds{7});
}

}  // namespace
}  // namespace trainyard
