#include "workload/importers/decimal.hpp"

#include <catch2/catch.hpp>

using trainyard::workload::microseconds_to_nanoseconds;
using trainyard::workload::whole_number;

TEST_CASE("microseconds become nanoseconds digit by digit", "[decimal]") {
  CHECK(microseconds_to_nanoseconds("0") == 0);
  CHECK(microseconds_to_nanoseconds("17") == 17'000);
  CHECK(microseconds_to_nanoseconds("-3") == -3'000);
  CHECK(microseconds_to_nanoseconds("1.5") == 1'500);
  CHECK(microseconds_to_nanoseconds("0.001") == 1);
  CHECK(microseconds_to_nanoseconds("-0.25") == -250);
}

TEST_CASE("sixteen digits and three decimals keep every nanosecond", "[decimal]") {
  // As a double 1712149898394011.627 us is 1712149898394011.75: off by 123 ns.
  CHECK(microseconds_to_nanoseconds("1712149898394011.627") == 1'712'149'898'394'011'627);
  CHECK(microseconds_to_nanoseconds("4458676524648.797") == 4'458'676'524'648'797);
}

TEST_CASE("digits below a nanosecond are rounded to the nearest", "[decimal]") {
  CHECK(microseconds_to_nanoseconds("1.0004") == 1'000);
  CHECK(microseconds_to_nanoseconds("1.0005") == 1'001);
  CHECK(microseconds_to_nanoseconds("1.9999") == 2'000);
  CHECK(microseconds_to_nanoseconds("0.0000004") == 0);
}

TEST_CASE("exponents move the point", "[decimal]") {
  CHECK(microseconds_to_nanoseconds("1.25e3") == 1'250'000);
  CHECK(microseconds_to_nanoseconds("1E+2") == 100'000);
  CHECK(microseconds_to_nanoseconds("5e-1") == 500);
  CHECK(microseconds_to_nanoseconds("5e-3") == 5);
  CHECK(microseconds_to_nanoseconds("5e-4") == 1);
  CHECK(microseconds_to_nanoseconds("5e-9") == 0);
}

TEST_CASE("what is no finite number is refused", "[decimal]") {
  const auto* text = GENERATE("", "-", "nan", "NaN", "inf", "-inf", "Infinity", "abc", "1.2.3",
                              "1e", "1e+", "1e99", "12x", "+1", ".5", "null", "true");
  INFO(text);
  CHECK_FALSE(microseconds_to_nanoseconds(text));
}

TEST_CASE("times beyond 64 bits of nanoseconds are refused", "[decimal]") {
  CHECK(microseconds_to_nanoseconds("4000000000000000") == 4'000'000'000'000'000'000);
  CHECK_FALSE(microseconds_to_nanoseconds("4000000000000001"));
  CHECK_FALSE(microseconds_to_nanoseconds("99999999999999999999999"));
  CHECK_FALSE(microseconds_to_nanoseconds("1e30"));
}

TEST_CASE("a whole number has no fraction but zeros", "[decimal]") {
  CHECK(whole_number("42") == 42);
  CHECK(whole_number("-1") == -1);
  CHECK(whole_number("42.0") == 42);
  CHECK(whole_number("4294967295") == 4'294'967'295);
  CHECK_FALSE(whole_number("42.5"));
  CHECK_FALSE(whole_number("4e2"));
  CHECK_FALSE(whole_number("stream 7"));
}
