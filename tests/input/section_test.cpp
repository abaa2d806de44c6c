#include "input/section.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace trainyard;
using namespace trainyard::input;

namespace {

Section root(const std::string& text) {
  return Document::parse(text, "t.toml").root();
}

std::vector<std::string> keys(const Section& section) {
  std::vector<std::string> names;
  for (const Value& value : section.entries()) {
    names.push_back(value.key());
  }
  return names;
}

}  // namespace

TEST_CASE("an empty file is an empty table", "[section]") {
  const Section top = root("");
  CHECK(top.entries().empty());
  CHECK(top.name().empty());
  CHECK_NOTHROW(top.reject_unknown());
  CHECK_THROWS_WITH(top.require("name"), "t.toml:1:1: error: missing key 'name'");
}

TEST_CASE("keys are found or absent", "[section]") {
  const Section top = root("a = 1\n[b]\nc = 2\n");
  CHECK(top.has("a"));
  CHECK_FALSE(top.has("x"));
  CHECK(top.find("a")->integer() == 1);
  CHECK_FALSE(top.find("x").has_value());
  CHECK(top.section("b")->require("c").integer() == 2);
  CHECK_FALSE(top.section("x").has_value());
}

TEST_CASE("a missing key is reported at its table", "[section]") {
  const Section top = root("a = 1\n\n[b.c]\nx = 1\n[[job]]\n[[job]]\n");
  CHECK_THROWS_WITH(top.section("b")->section("c")->require("y"),
                    "t.toml:3:1: error: missing key 'y' in [b.c]");
  CHECK_THROWS_WITH(top.sections("job").at(1).require("gpus"),
                    "t.toml:6:1: error: missing key 'gpus' in [[job]]");
}

TEST_CASE("sections know their dotted name and their place", "[section]") {
  const Section top = root("[scheduler.quota.research]\ndeserved = 16\n");
  const Section quota = *top.section("scheduler")->section("quota");
  CHECK(quota.name() == "scheduler.quota");
  CHECK(quota.section("research")->name() == "scheduler.quota.research");
  CHECK(quota.section("research")->place().line == 1);
  // [scheduler] is only implied: the nearest place that the file has
  CHECK(top.section("scheduler")->place().line == 1);
  CHECK_THROWS_WITH(quota.fail("too many queues"), "t.toml:1:1: error: too many queues");
}

TEST_CASE("arrays of tables are read in file order", "[section]") {
  const Section top = root("[[job]]\nname = \"b\"\n[[job]]\nname = \"a\"\n");
  const auto jobs = top.sections("job");
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0].require("name").text() == "b");
  CHECK(jobs[1].require("name").text() == "a");
  CHECK(jobs[1].name() == "job.1");
  CHECK(top.sections("event").empty());
}

TEST_CASE("inline tables in an array count as sections too", "[section]") {
  const auto links = root("link = [{a = 1}, {a = 2}]\n").sections("link");
  REQUIRE(links.size() == 2);
  CHECK(links[1].require("a").integer() == 2);
}

TEST_CASE("one table where an array of tables is wanted is refused", "[section]") {
  CHECK_THROWS_WITH(root("[job]\na = 1\n").sections("job"),
                    "t.toml:1:1: error: 'job' must be an array of tables, [[job]], got a table");
  CHECK_THROWS_WITH(root("job = 5\n").sections("job"),
                    "t.toml:1:7: error: 'job' must be an array of tables, [[job]], got 5");
  CHECK_THROWS_WITH(root("job = [5]\n").sections("job"),
                    "t.toml:1:8: error: 'job[0]' must be a table, got 5");
  CHECK_THROWS_WITH(root("[[job]]\na = 1\n").section("job"),
                    Catch::EndsWith("error: 'job' must be a table, got an array"));
  CHECK_THROWS_WITH(root("cluster = \"x\"\n").section("cluster"),
                    "t.toml:1:11: error: 'cluster' must be a table, got \"x\"");
}

TEST_CASE("entries come in the order of the file, not of the alphabet", "[section]") {
  CHECK(keys(root("z = 1\na = 2\nm = 3\n")) == std::vector<std::string>{"z", "a", "m"});
  CHECK(keys(root("x = {z = 1, a = 2, m = 3}\n").require("x").section()) ==
        std::vector<std::string>{"z", "a", "m"});
  CHECK(keys(root("[z]\n[a]\n[m]\n")) == std::vector<std::string>{"z", "a", "m"});
}

TEST_CASE("an unknown key is refused at its place with the nearest known one", "[section]") {
  const Section top = root("name = \"x\"\n[scheduler]\n  polcy = \"fifo\"\n");
  const Section scheduler = *top.section("scheduler");
  CHECK_FALSE(scheduler.has("policy"));
  CHECK_FALSE(scheduler.has("placement"));
  CHECK_THROWS_WITH(
      scheduler.reject_unknown(),
      "t.toml:3:3: error: unknown key 'polcy' in [scheduler], did you mean \"policy\"?");
  CHECK_THROWS_WITH(top.reject_unknown(),
                    "t.toml:1:1: error: unknown key 'name' (known: scheduler)");
}

TEST_CASE("an unknown key that resembles nothing lists the known ones", "[section]") {
  const Section job = root("[[job]]\ncolour = 1\n").sections("job").at(0);
  CHECK_FALSE(job.has("gpus"));
  CHECK_FALSE(job.has("workload"));
  CHECK_FALSE(job.has("gpus"));  // asked twice, listed once
  CHECK_THROWS_WITH(job.reject_unknown(),
                    "t.toml:2:1: error: unknown key 'colour' in [[job]] (known: gpus, workload)");
}

TEST_CASE("every way of asking makes a key known", "[section]") {
  const Section top = root("a = 1\nb = 1\nc = 1\n[d]\n[[e]]\n");
  static_cast<void>(top.has("a"));
  static_cast<void>(top.find("b"));
  static_cast<void>(top.require("c"));
  static_cast<void>(top.section("d"));
  static_cast<void>(top.sections("e"));
  CHECK_NOTHROW(top.reject_unknown());

  const Section again = root("a = 1\nb = 2\n");
  static_cast<void>(again.entries());
  CHECK_NOTHROW(again.reject_unknown());
}

TEST_CASE("copies of a section share what is known", "[section]") {
  const Section first = root("a = 1\n");
  const Section copy = first;  // NOLINT(performance-unnecessary-copy-initialization): tested here
  static_cast<void>(copy.find("a"));
  CHECK_NOTHROW(first.reject_unknown());
}

TEST_CASE("a section outlives its document", "[section]") {
  CHECK(root("a = \"kept\"\n").require("a").text() == "kept");
}
