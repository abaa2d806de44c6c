#include "units/text.hpp"

#include <catch2/catch.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

using namespace trainyard::units;

TEST_CASE("sizes are read with decimal, binary and bit units", "[text]") {
  const auto [text, bytes] = GENERATE(table<std::string, double>({
      {"0 B", 0.0},
      {"7B", 7.0},
      {"1 KB", 1e3},
      {"1 kB", 1e3},
      {"2 MB", 2e6},
      {"40 GB", 40e9},
      {"1.5TB", 1.5e12},
      {"3 PB", 3e15},
      {"1 KiB", 1024.0},
      {"64 MiB", 67108864.0},
      {"16 GiB", 17179869184.0},
      {"1 TiB", 1099511627776.0},
      {"1 PiB", 1125899906842624.0},
      {"8 b", 1.0},
      {"8 Kb", 1e3},
      {"8 kb", 1e3},
      {"200 Mb", 25e6},
      {"200 Gb", 25e9},
      {"1 Tb", 0.125e12},
      {"1e3 MB", 1e9},
      {"-3 GB", -3e9},
      {"25   GB", 25e9},
  }));
  CAPTURE(text);
  const auto size = parse_bytes(text);
  REQUIRE(size.has_value());
  CHECK(size->si() == bytes);
}

TEST_CASE("text that is no size is refused", "[text]") {
  const auto text =
      GENERATE(as<std::string>{}, "", " ", "25", "GB", "25 gb", "25 GBs", "25 GB/s", "25 GB ",
               " 25 GB", "25 G", "inf GB", "nan GB", "-inf GB", "0x10 GB", "+5 GB", "1,5 GB",
               "1e400 GB", "1e300 PB", "1 2 GB", "25\tGB", "--5 GB");
  CAPTURE(text);
  CHECK_FALSE(parse_bytes(text).has_value());
}

TEST_CASE("times are read in units from nanoseconds to years", "[text]") {
  const auto [text, seconds] = GENERATE(table<std::string, double>({
      {"5 ns", 5e-9},
      {"1.3us", 1.3e-6},
      {"2 ms", 2e-3},
      {"0 s", 0.0},
      {"90 min", 5400.0},
      {"1.5 h", 5400.0},
      {"1 day", 86400.0},
      {"90 days", 7776000.0},
      {"2 d", 172800.0},
      {"1 week", 604800.0},
      {"2 weeks", 1209600.0},
      {"5 y", 157680000.0},
  }));
  CAPTURE(text);
  const auto time = parse_seconds(text);
  REQUIRE(time.has_value());
  // Exactly the double nearest to the decimal: to_decimal(1.3us) must not print 1.2999...e-06.
  CHECK(time->si() == seconds);
}

TEST_CASE("text that is no time is refused", "[text]") {
  const auto text = GENERATE(as<std::string>{}, "", "5", "5 S", "5 sec", "5 m", "five s", "5 s s",
                             "5 GB", "nan s", "1e308 y");
  CAPTURE(text);
  CHECK_FALSE(parse_seconds(text).has_value());
}

TEST_CASE("bandwidths are sizes per second", "[text]") {
  CHECK(parse_bandwidth("25 GB/s")->si() == 25e9);
  CHECK(parse_bandwidth("200 Gb/s")->si() == 25e9);
  CHECK(parse_bandwidth("200Gb/s")->si() == 25e9);
  CHECK(parse_bandwidth("-3 GB/s")->si() == -3e9);
  const auto text = GENERATE(as<std::string>{}, "", "/s", "25", "25 GB", "25/s", "25 GB/ s",
                             "25 GB /s", "25 GB/h", "25 GBps", "25 GB/s/s", "inf GB/s");
  CAPTURE(text);
  CHECK_FALSE(parse_bandwidth(text).has_value());
}

TEST_CASE("the spellings that errors show are accepted", "[text]") {
  CHECK(bytes_spellings() == R"(a size such as "40 GB" or "16 GiB")");
  CHECK(seconds_spellings() == R"(a time such as "1.3 us" or "90 min")");
  CHECK(bandwidth_spellings() == R"(a bandwidth above 0 such as "25 GB/s")");
  CHECK(parse_bytes("16 GiB").has_value());
  CHECK(parse_seconds("90 min").has_value());
  CHECK(parse_bandwidth("25 GB/s").has_value());
}

TEST_CASE("sizes print with three digits, exact powers of 1024 as such", "[text]") {
  const auto [bytes, text] = GENERATE(table<double, std::string>({
      {0.0, "0 B"},
      {8.0, "8 B"},
      {999.0, "999 B"},
      {1000.0, "1 KB"},
      {1024.0, "1 KiB"},
      {1536.0, "1.54 KB"},  // 1.5 KiB is no whole number of KiB
      {31.5e6, "31.5 MB"},
      {67108864.0, "64 MiB"},
      {40e9, "40 GB"},
      {17179869184.0, "16 GiB"},
      {500e6, "500 MB"},
      {999.99e6, "1 GB"},
      {1e18, "1000 PB"},
      {-2e6, "-2 MB"},
  }));
  CHECK(to_text(Bytes{bytes}) == text);
}

TEST_CASE("times print with three digits and the fitting unit", "[text]") {
  const auto [seconds, text] = GENERATE(table<double, std::string>({
      {0.0, "0 s"},
      {1.3e-6, "1.30 us"},
      {0.5e-9, "0.50 ns"},
      {12e-3, "12.0 ms"},
      {0.25, "250 ms"},
      {0.99996, "1.00 s"},
      {9.996, "10.0 s"},
      {59.0, "59.0 s"},
      {90.0, "1.50 min"},
      {5400.0, "1.50 h"},
      {129600.0, "1.50 d"},
      {31536000.0, "365 d"},
      {-0.002, "-2.00 ms"},
  }));
  CHECK(to_text(Seconds{seconds}) == text);
}

TEST_CASE("nanoseconds print like seconds, short ones as whole numbers", "[text]") {
  CHECK(to_text(Nanoseconds{0}) == "0 s");
  CHECK(to_text(Nanoseconds{7}) == "7 ns");
  CHECK(to_text(Nanoseconds{-7}) == "-7 ns");
  CHECK(to_text(Nanoseconds{999}) == "999 ns");
  CHECK(to_text(Nanoseconds{1300}) == "1.30 us");
  CHECK(to_text(Nanoseconds{90'000'000'000}) == "1.50 min");
  CHECK(to_text(kForever) == "forever");
}

TEST_CASE("rates print per second, in decimal units", "[text]") {
  CHECK(to_text(BytesPerSecond{25e9}) == "25 GB/s");
  CHECK(to_text(BytesPerSecond{12.5e9}) == "12.5 GB/s");
  CHECK(to_text(BytesPerSecond{7.877e9}) == "7.88 GB/s");
  CHECK(to_text(BytesPerSecond{1024.0}) == "1.02 KB/s");
  CHECK(to_text(BytesPerSecond{0.0}) == "0 B/s");
}

TEST_CASE("decimals are the shortest that read back", "[text]") {
  const auto [value, text] = GENERATE(table<double, std::string>({
      {0.0, "0"},
      {-0.0, "0"},
      {1.0, "1"},
      {-2.5, "-2.5"},
      {0.1, "0.1"},
      {100000.0, "100000"},
      {1e16, "10000000000000000"},
      {1.3e-6, "0.0000013"},
      {1e22, "1e+22"},
      {2e-9, "2e-09"},
      {1.0 / 3.0, "0.3333333333333333"},
  }));
  CHECK(to_decimal(value) == text);
}

TEST_CASE("any double survives the way through its decimal", "[text]") {
  const double value =
      GENERATE(0.1, 1.0 / 3.0, 6.02214076e23, 5e-324, 1.7976931348623157e308, 123456789.123456789,
               9007199254740993.0, 1e-7, 9.999999e-8, 1e17, 99999999999999984.0);
  const std::string text = to_decimal(value);
  CAPTURE(text);
  double back = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), back);
  CHECK(error == std::errc{});
  CHECK(end == text.data() + text.size());
  CHECK(back == value);
}

TEST_CASE("infinities and NaN never reach a file", "[text]") {
  const double value =
      GENERATE(std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
               std::numeric_limits<double>::quiet_NaN());
  REQUIRE_THROWS_WITH(to_decimal(value), "a number for a file must be finite");
}

TEST_CASE("nanoseconds are written as exact decimal seconds", "[text]") {
  const auto [count, text] = GENERATE(table<std::int64_t, std::string>({
      {0, "0"},
      {1, "0.000000001"},
      {1'500'000'000, "1.5"},
      {2'000'000'000, "2"},
      {10'000'000'000, "10"},
      {-1'250'000'000, "-1.25"},
      // A double would round this to 9223372036.854776
      {std::numeric_limits<std::int64_t>::max(), "9223372036.854775807"},
      {std::numeric_limits<std::int64_t>::min(), "-9223372036.854775808"},
  }));
  CHECK(to_decimal_seconds(Nanoseconds{count}) == text);
}

TEST_CASE("what people read back is within half of the last of three digits", "[text]") {
  // 1e-9 to 1e15 in steps of 1.7: every unit of the ladders comes up.
  for (double value = 1e-9; value < 1e15; value *= 1.7) {
    CAPTURE(value);
    const auto time = parse_seconds(to_text(Seconds{value}));
    REQUIRE(time.has_value());
    CHECK(time->si() == Approx(value).epsilon(0.005));
    if (value >= 1.0) {
      const auto size = parse_bytes(to_text(Bytes{value}));
      REQUIRE(size.has_value());
      CHECK(size->si() == Approx(value).epsilon(0.005));
      const auto rate = parse_bandwidth(to_text(BytesPerSecond{value}));
      REQUIRE(rate.has_value());
      CHECK(rate->si() == Approx(value).epsilon(0.005));
    }
  }
}

TEST_CASE("exact sizes in powers of two print exactly", "[text]") {
  // The rows of a collective table: 8 B, 16 B, ... 8 GiB.
  for (double size = 8.0; size <= 8589934592.0; size *= 2.0) {
    const std::string text = to_text(Bytes{size});
    CAPTURE(text);
    CHECK(parse_bytes(text)->si() == size);
  }
}
