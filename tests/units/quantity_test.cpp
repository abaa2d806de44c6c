#include "units/quantity.hpp"

#include <catch2/catch.hpp>
#include <type_traits>

using namespace trainyard::units;
using namespace trainyard::units::literals;

namespace {

template <typename A, typename B>
concept Addable = requires(A a, B b) {
  a + b;
};

}  // namespace

TEST_CASE("dimensions combine by their exponents", "[quantity]") {
  STATIC_REQUIRE(std::is_same_v<decltype(1_GB / 1_s), BytesPerSecond>);
  STATIC_REQUIRE(std::is_same_v<decltype(1_GB / 1_GBps), Seconds>);
  STATIC_REQUIRE(std::is_same_v<decltype(1_GBps * 1_s), Bytes>);
  STATIC_REQUIRE(std::is_same_v<decltype(1_GB / 1_GB), double>);
  STATIC_REQUIRE(std::is_same_v<decltype(Quantity<0, -1>{2.0} * 1_s), double>);
}

TEST_CASE("quantities of different dimensions do not add", "[quantity]") {
  STATIC_REQUIRE(Addable<Bytes, Bytes>);
  STATIC_REQUIRE_FALSE(Addable<Bytes, Seconds>);
  STATIC_REQUIRE_FALSE(Addable<Bytes, double>);
}

TEST_CASE("a transfer takes its size over the rate", "[quantity]") {
  // 1 GB / 25 GB/s = 40 ms
  CHECK((1_GB / 25_GBps).si() == Approx(0.04).epsilon(1e-15));
  CHECK((25_GBps * 2_s).si() == Approx(50e9).epsilon(1e-15));
}

TEST_CASE("binary and decimal literals differ as their names say", "[quantity]") {
  CHECK((1_KiB).si() == 1024.0);
  CHECK((1_MiB).si() == 1048576.0);
  CHECK((1_GiB).si() == 1073741824.0);
  CHECK((1_MB).si() == 1000000.0);
  CHECK((1_GB).si() == 1000000000.0);
  CHECK((12_B).si() == 12.0);
  CHECK((1.5_GBps).si() == 1.5e9);
  CHECK((2.5_us).si() == Approx(2.5e-6).epsilon(1e-15));
}

TEST_CASE("sums, differences and scaling keep the dimension", "[quantity]") {
  Bytes size = 3_MB;
  size += 2_MB;
  size -= 1_MB;
  CHECK(size == 4_MB);
  CHECK(2.0 * size == 8_MB);
  CHECK(size * 2.0 == 8_MB);
  CHECK(size / 2.0 == 2_MB);
  CHECK(5_MB + 1_MB == 6_MB);
  CHECK(5_MB - 1_MB == 4_MB);
  CHECK(1_MB < 1_MiB);
}
