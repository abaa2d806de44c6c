#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <string>

#include "input/section.hpp"

using namespace trainyard;
using namespace trainyard::input;

namespace {

/// The value of `x` in the one-line file "x = TEXT"; it stands at t.toml:1:5.
Value value(const std::string& text) {
  return Document::parse("x = " + text + "\n", "t.toml").root().require("x");
}

/// The message without the place and the key, which all of these share.
std::string at(const std::string& what) {
  return "t.toml:1:5: error: 'x' " + what;
}

}  // namespace

TEST_CASE("values give what the file says", "[value]") {
  CHECK(value("\"text\"").text() == "text");
  CHECK(value("'C:\\x'").text() == "C:\\x");
  CHECK(value("\"\\u00e9\\n\"").text() == "\xC3\xA9\n");
  CHECK(value("1_000").integer() == 1000);
  CHECK(value("-9223372036854775808").integer() == std::numeric_limits<std::int64_t>::min());
  CHECK(value("0xff").integer() == 255);
  CHECK(value("2.5").number() == 2.5);
  CHECK(value("7").number() == 7.0);
  CHECK(value("true").boolean());
  CHECK_FALSE(value("false").boolean());
}

TEST_CASE("values know their kind", "[value]") {
  CHECK(value("\"a\"").is_text());
  CHECK(value("1").is_number());
  CHECK(value("1.5").is_number());
  CHECK(value("[1]").is_array());
  CHECK(value("{a = 1}").is_section());
  CHECK_FALSE(value("\"a\"").is_number());
  CHECK_FALSE(value("true").is_number());
  CHECK_FALSE(value("1979-05-27").is_text());
}

TEST_CASE("text is wanted, something else is found", "[value]") {
  CHECK_THROWS_WITH(value("25").text(), at("must be text in quotes, got 25"));
  CHECK_THROWS_WITH(value("2.50").text(), at("must be text in quotes, got 2.5"));
  CHECK_THROWS_WITH(value("true").text(), at("must be text in quotes, got true"));
  CHECK_THROWS_WITH(value("false").text(), at("must be text in quotes, got false"));
  CHECK_THROWS_WITH(value("[1]").text(), at("must be text in quotes, got an array"));
  CHECK_THROWS_WITH(value("{a = 1}").text(), at("must be text in quotes, got a table"));
}

TEST_CASE("dates are no value that is wanted anywhere", "[value]") {
  CHECK_THROWS_WITH(value("1979-05-27").text(),
                    at("must be text in quotes, got the date 1979-05-27"));
  CHECK_THROWS_WITH(value("07:32:00").integer(), at("must be an integer, got the date 07:32:00"));
  CHECK_THROWS_WITH(value("1979-05-27T07:32:00Z").seconds(),
                    Catch::EndsWith("got the date 1979-05-27T07:32:00Z"));
}

TEST_CASE("integers are wanted, something else is found", "[value]") {
  CHECK_THROWS_WITH(value("2.0").integer(), at("must be an integer, got 2.0"));
  CHECK_THROWS_WITH(value("\"8\"").integer(), at("must be an integer, got \"8\""));
  CHECK(value("8").integer_in(1, 8) == 8);
  CHECK_THROWS_WITH(value("9").integer_in(1, 8), at("must be an integer from 1 to 8, got 9"));
  CHECK_THROWS_WITH(value("0").integer_in(1, 8), at("must be an integer from 1 to 8, got 0"));
  CHECK_THROWS_WITH(value("\"a\"").integer_in(1, 8),
                    at("must be an integer from 1 to 8, got \"a\""));
  CHECK_THROWS_WITH(value("0").integer_in(1, std::numeric_limits<std::int64_t>::max()),
                    at("must be an integer of at least 1, got 0"));
}

TEST_CASE("numbers are wanted, something else is found", "[value]") {
  CHECK_THROWS_WITH(value("nan").number(), at("must be a number, got nan"));
  CHECK_THROWS_WITH(value("-inf").number(), at("must be a number, got -inf"));
  CHECK_THROWS_WITH(value("\"1\"").number(), at("must be a number, got \"1\""));
  CHECK(value("0.5").number_in(0.0, 1.0) == 0.5);
  CHECK(value("1").number_in(0.0, 1.0) == 1.0);
  CHECK_THROWS_WITH(value("1.5").number_in(0.0, 1.0), at("must be a number from 0 to 1, got 1.5"));
  CHECK_THROWS_WITH(value("\"a\"").number_in(0.0, 1.0),
                    at("must be a number from 0 to 1, got \"a\""));
  CHECK_THROWS_WITH(value("-1").number_in(0.0, std::numeric_limits<double>::infinity()),
                    at("must be a number of at least 0, got -1"));
}

TEST_CASE("a boolean is wanted, something else is found", "[value]") {
  CHECK_THROWS_WITH(value("1").boolean(), at("must be true or false, got 1"));
  CHECK_THROWS_WITH(value("\"true\"").boolean(), at("must be true or false, got \"true\""));
}

TEST_CASE("array elements have an index and a place of their own", "[value]") {
  const auto elements = value("[\"gpu0\", 7]").array();
  REQUIRE(elements.size() == 2);
  CHECK(elements[0].text() == "gpu0");
  CHECK_THROWS_WITH(elements[1].text(), "t.toml:1:14: error: 'x[1]' must be text in quotes, got 7");
  CHECK(value("[]").array().empty());
  CHECK_THROWS_WITH(value("1").array(), at("must be an array, got 1"));
}

TEST_CASE("a table is wanted, something else is found", "[value]") {
  CHECK(value("{a = 1}").section().require("a").integer() == 1);
  CHECK_THROWS_WITH(value("5").section(), at("must be a table, got 5"));
}

TEST_CASE("quantities are text with a unit", "[value]") {
  CHECK(value("\"25 GB/s\"").bandwidth().si() == 25e9);
  CHECK(value("\"16 GiB\"").bytes().si() == 17179869184.0);
  CHECK(value("\"0 B\"").bytes().si() == 0.0);
  CHECK(value("\"1.3 us\"").seconds().si() == 1.3e-6);
  CHECK(value("\"0 s\"").nanoseconds().count() == 0);
  CHECK(value("\"1.3 us\"").nanoseconds().count() == 1300);
  CHECK(value("\"200 y\"").nanoseconds().count() == 6'307'200'000'000'000'000);
}

TEST_CASE("a bandwidth is wanted, something else is found", "[value]") {
  const auto found = GENERATE(as<std::string>{}, "25", "2.5", "\"25\"", "\"25 GB\"", "\"0 GB/s\"",
                              "\"-3 GB/s\"", "true");
  CHECK_THROWS_WITH(value(found).bandwidth(),
                    at("must be a bandwidth above 0 such as \"25 GB/s\", got " + found));
}

TEST_CASE("a size is wanted, something else is found", "[value]") {
  const auto found = GENERATE(as<std::string>{}, "25", "\"25\"", "\"25 GB/s\"", "\"big\"", "\"\"");
  CHECK_THROWS_WITH(value(found).bytes(),
                    at("must be a size such as \"40 GB\" or \"16 GiB\", got " + found));
  CHECK_THROWS_WITH(value("\"-3 GB\"").bytes(), at("must be a size of at least 0, got \"-3 GB\""));
}

TEST_CASE("a time is wanted, something else is found", "[value]") {
  const auto found = GENERATE(as<std::string>{}, "25", "\"25\"", "\"25 GB\"", "\"soon\"");
  CHECK_THROWS_WITH(value(found).seconds(),
                    at("must be a time such as \"1.3 us\" or \"90 min\", got " + found));
  CHECK_THROWS_WITH(value(found).nanoseconds(),
                    at("must be a time such as \"1.3 us\" or \"90 min\", got " + found));
  CHECK_THROWS_WITH(value("\"-1 s\"").seconds(), at("must be a time of at least 0, got \"-1 s\""));
  CHECK_THROWS_WITH(value("\"201 y\"").nanoseconds(), at("must be at most 200 y, got \"201 y\""));
}

TEST_CASE("a long text is cut so that the error stays one line", "[value]") {
  CHECK_THROWS_WITH(value("\"" + std::string(200, 'a') + "\"").integer(),
                    at("must be an integer, got \"" + std::string(60, 'a') + "...\""));
}

TEST_CASE("anybody can fail at the place of a value", "[value]") {
  CHECK_THROWS_WITH(value("\"h100\"").fail("must be a known GPU, got \"h100\""),
                    at("must be a known GPU, got \"h100\""));
  CHECK(value("1").key() == "x");
  CHECK(value("1").place().file == "t.toml");
}
