#include "units/nanoseconds.hpp"

#include <catch2/catch.hpp>
#include <cstdint>

using namespace trainyard::units;

TEST_CASE("nanoseconds are exact where seconds in doubles are not", "[nanoseconds]") {
  // 0.1 s ten million times is 1e6 s exactly; in doubles the sum drifts.
  Nanoseconds sum;
  double drifting = 0.0;
  for (int i = 0; i < 10'000'000; ++i) {
    sum += Nanoseconds{100'000'000};
    drifting += 0.1;
  }
  CHECK(sum.count() == 1'000'000'000'000'000);
  CHECK(drifting != 1e6);
}

TEST_CASE("nanoseconds add, subtract, scale and compare", "[nanoseconds]") {
  const Nanoseconds a{1500};
  Nanoseconds b{500};
  CHECK((a + b).count() == 2000);
  CHECK((a - b).count() == 1000);
  CHECK((a * 3).count() == 4500);
  b -= a;
  CHECK(b.count() == -1000);
  CHECK(b < a);
  CHECK(a < kForever);
  CHECK(kForever.count() == INT64_MAX);
}

TEST_CASE("seconds round to the nearest nanosecond", "[nanoseconds]") {
  CHECK(to_nanoseconds(Seconds{1.3e-6}).count() == 1300);
  CHECK(to_nanoseconds(Seconds{0.4e-9}).count() == 0);
  CHECK(to_nanoseconds(Seconds{0.6e-9}).count() == 1);
  CHECK(to_nanoseconds(Seconds{-2.6e-9}).count() == -3);
  CHECK(Nanoseconds{1'500'000'000}.seconds().si() == Approx(1.5).epsilon(1e-15));
}
