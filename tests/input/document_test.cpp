#include <catch2/catch.hpp>
#include <string>

#include "input/section.hpp"
#include "support/temporary_folder.hpp"

using namespace trainyard;
using namespace trainyard::input;

namespace {

Document parse(const std::string& text) {
  return Document::parse(text, "t.toml");
}

}  // namespace

TEST_CASE("a syntax error has file, line and column", "[document]") {
  // "[" once stopped the header-only library with an assertion.
  const auto text =
      GENERATE(as<std::string>{}, "[", "a = ", "a = 1 1", "a = \"x", "= 1", "[a\nb = 1", "a = [1,",
               "a = {", "a = 1\na = 2", "[a]\n[a]", "a = 01", "a = 1979-13-01");
  CAPTURE(text);
  REQUIRE_THROWS_MATCHES(
      parse(text), InputError, Catch::Predicate<InputError>([](const InputError& error) {
        const std::string what = error.what();
        return what.starts_with("t.toml:") && what.find(": error: ") != std::string::npos &&
               what.find('\n') == std::string::npos;
      }));
}

TEST_CASE("the place of a syntax error is exact", "[document]") {
  REQUIRE_THROWS_WITH(parse("a = 1\nb = = 2\n"), Catch::StartsWith("t.toml:2:5: error: "));
  REQUIRE_THROWS_WITH(parse("a = 1\na = 2\n"), Catch::StartsWith("t.toml:2:"));
}

TEST_CASE("text that is not UTF-8 is a syntax error", "[document]") {
  REQUIRE_THROWS_WITH(parse("a = \"\xff\"\n"), Catch::StartsWith("t.toml:1:"));
  REQUIRE_THROWS_WITH(parse("\xEF\xBB\x94"), Catch::StartsWith("t.toml:1:"));
}

TEST_CASE("deep nesting is an error, not a crash", "[document]") {
  REQUIRE_THROWS_WITH(parse("a = " + std::string(100000, '[')), Catch::StartsWith("t.toml:1:"));
}

TEST_CASE("a file is named by the path it was given", "[document]") {
  const test::TemporaryFolder folder;
  const auto path = folder.write("s.toml", "name = 5\n").string();
  REQUIRE_THROWS_WITH(Document::parse_file(path).root().require("name").text(),
                      path + ":1:8: error: 'name' must be text in quotes, got 5");
  REQUIRE_THROWS_WITH(Document::parse_file(path + "x"),
                      path + "x: error: cannot open: No such file or directory");
}

TEST_CASE("with changes one key of a copy", "[document]") {
  const Document before = parse("a = 1\n[scheduler]\npolicy = \"fifo\"\nplacement = \"pack\"\n");
  const Document after = before.with("scheduler.policy", "sjf");
  CHECK(after.root().section("scheduler")->require("policy").text() == "sjf");
  CHECK(after.root().section("scheduler")->require("placement").text() == "pack");
  CHECK(after.root().require("a").integer() == 1);
  CHECK(before.root().section("scheduler")->require("policy").text() == "fifo");
}

TEST_CASE("with takes TOML values, and bare words as text", "[document]") {
  const auto set = [](const std::string& value) {
    return parse("").with("x", value).root().require("x");
  };
  CHECK(set("8").integer() == 8);
  CHECK(set("0.5").number() == 0.5);
  CHECK(set("true").boolean());
  CHECK(set("\"8\"").text() == "8");
  CHECK(set("easy-backfill").text() == "easy-backfill");
  CHECK(set("25 GB/s").bandwidth().si() == 25e9);
  CHECK(set("90 min").seconds().si() == 5400.0);
  CHECK(set("").text().empty());
  CHECK(set("[1, 2]").array().size() == 2);
  CHECK(set("{a = 1}").section().require("a").integer() == 1);
  CHECK(set("1\ny = 2").text() == "1\ny = 2");
}

TEST_CASE("with makes the tables it needs", "[document]") {
  const Document made = parse("").with("scheduler.quota.research.deserved", "16");
  const Section research = *made.root().section("scheduler")->section("quota")->section("research");
  CHECK(research.name() == "scheduler.quota.research");
  CHECK(research.require("deserved").integer() == 16);
}

TEST_CASE("with reaches into arrays by index", "[document]") {
  const Document before = parse("[[job]]\ngpus = 1\n[[job]]\ngpus = 2\n");
  const auto jobs = before.with("job.1.gpus", "8").root().sections("job");
  CHECK(jobs.at(0).require("gpus").integer() == 1);
  CHECK(jobs.at(1).require("gpus").integer() == 8);
  const Document plain = parse("t = [1, 2]\n").with("t.0", "5");
  CHECK(plain.root().require("t").array().at(0).integer() == 5);
}

TEST_CASE("with takes keys that hold dots in quotes", "[document]") {
  const Document made = parse("").with("set.\"a.b\"", "1");
  CHECK(made.root().section("set")->require("a.b").integer() == 1);
}

TEST_CASE("errors in a set value name the option", "[document]") {
  const Document made = parse("[cluster]\nnodes = 1\n").with("cluster.nodes", "many");
  REQUIRE_THROWS_WITH(made.root().section("cluster")->require("nodes").integer(),
                      "--set cluster.nodes=many: error: 'nodes' must be an integer, got \"many\"");
  const Document unknown = parse("").with("clutser.nodes", "1");
  static_cast<void>(unknown.root());
  const Section top = unknown.root();
  CHECK_FALSE(top.has("cluster"));
  REQUIRE_THROWS_WITH(top.reject_unknown(),
                      "--set clutser.nodes=1: error: unknown key 'clutser', did you mean "
                      "\"cluster\"?");
}

TEST_CASE("a set that cannot be done says why", "[document]") {
  const Document document = parse("a = 1\n[[job]]\ngpus = 1\n");
  const auto [key, value, message] = GENERATE(table<std::string, std::string, std::string>({
      {"a.b", "1", "'a' is 1, not a table"},
      {"job.1.gpus", "1", "'job' is an array of 1: '1' must be an index below it"},
      {"job.x.gpus", "1", "'job' is an array of 1: 'x' must be an index below it"},
      {"job.-1.gpus", "1", "'job' is an array of 1: '-1' must be an index below it"},
      {"", "1", "the key must be like \"scheduler.policy\" or \"job.0.gpus\""},
      {"a..b", "1", "the key must be like \"scheduler.policy\" or \"job.0.gpus\""},
      {"a.\"b", "1", "the key must be like \"scheduler.policy\" or \"job.0.gpus\""},
      {"b", "[1, 2", "the value is neither a TOML value nor a bare word"},
      {"b", "\"open", "the value is neither a TOML value nor a bare word"},
      {"b", "{a = }", "the value is neither a TOML value nor a bare word"},
  }));
  REQUIRE_THROWS_WITH(document.with(key, value),
                      "--set " + key + "=" + value + ": error: " + message);
}

TEST_CASE("to_toml writes keys in file order, one a line", "[document]") {
  const std::string canonical =
      "name = \"two-teams\"\n"
      "ratio = 2.0\n"
      "gpus = { 1 = 0.7, 8 = 0.3 }\n"
      "list = [1, [2, 3], \"x\", {}]\n"
      "when = 1979-05-27\n"
      "\n"
      "[scheduler]\n"
      "policy = \"fifo\"\n"
      "\n"
      "[scheduler.quota]\n"
      "\n"
      "[scheduler.quota.\"a b\"]\n"
      "deserved = 16\n"
      "\n"
      "[[job]]\n"
      "gpus = 8\n"
      "\n"
      "[[job]]\n"
      "gpus = 1\n"
      "\n"
      "[job.amount]\n"
      "steps = 5\n";
  CHECK(parse(canonical).to_toml() == canonical);
}

TEST_CASE("to_toml puts plain keys before tables", "[document]") {
  CHECK(parse("a.b = 1\nc = true\n").to_toml() == "c = true\n\n[a]\nb = 1\n");
  CHECK(parse("[a]\n").to_toml() == "[a]\n");
  CHECK(parse("").to_toml().empty());
}

TEST_CASE("what to_toml writes reads back the same", "[document]") {
  const auto text =
      GENERATE(as<std::string>{},
               "a = \"tab\\t quote\\\" back\\\\ line\\n bell\\u0007 del\\u007F \\u00e9\"\n",
               "a = [1.0, 1e300, -0.5, inf, -inf]\n", "\"\" = 1\n\"a.b\" = 2\n\"\\\"\" = 3\n",
               "a = []\nb = [[], [{}]]\nc = [{x = 1}, 5]\n", "[a]\nb = {c = {d = [1, 2]}}\n",
               "a = 07:32:00.5\nb = 1979-05-27T07:32:00-07:00\n");
  const std::string once = parse(text).to_toml();
  CAPTURE(once);
  CHECK(Document::parse(once, "again").to_toml() == once);
  CHECK(once.size() >= text.size() / 2);
}

TEST_CASE("control characters survive to_toml", "[document]") {
  const Document document = parse("a = \"\\u0000\\u0007\\u007f\\r\\n\\t\\\"\\\\\"\n");
  const Document again = parse(document.to_toml());
  CHECK(again.root().require("a").text() == std::string{"\0\a\x7f\r\n\t\"\\", 8});
}

TEST_CASE("a set document writes and reads back", "[document]") {
  const Document document =
      parse("[[job]]\ngpus = 1\n").with("job.0.gpus", "2").with("run.seed", "7");
  CHECK(document.to_toml() == "[[job]]\ngpus = 2\n\n[run]\nseed = 7\n");
  // An element that is no table any more makes the whole array inline.
  CHECK(document.with("job.0", "5").to_toml() == "job = [5]\n\n[run]\nseed = 7\n");
}
