#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>

#include "units/quantity.hpp"

namespace trainyard::units {

/// Simulated time or duration in whole nanoseconds: sums are exact and the same on every machine.
/// 64 bits reach 292 years.
class Nanoseconds {
 public:
  constexpr Nanoseconds() = default;
  constexpr explicit Nanoseconds(std::int64_t count) : count_{count} {}
  [[nodiscard]] constexpr std::int64_t count() const { return count_; }
  [[nodiscard]] constexpr Seconds seconds() const {
    return Seconds{static_cast<double>(count_) * 1e-9};
  }
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 inside <=> for a pointer
  constexpr auto operator<=>(const Nanoseconds&) const = default;

  constexpr Nanoseconds& operator+=(Nanoseconds other) {
    count_ += other.count_;
    return *this;
  }
  constexpr Nanoseconds& operator-=(Nanoseconds other) {
    count_ -= other.count_;
    return *this;
  }
  friend constexpr Nanoseconds operator+(Nanoseconds a, Nanoseconds b) {
    return Nanoseconds{a.count_ + b.count_};
  }
  friend constexpr Nanoseconds operator-(Nanoseconds a, Nanoseconds b) {
    return Nanoseconds{a.count_ - b.count_};
  }
  friend constexpr Nanoseconds operator*(Nanoseconds a, std::int64_t k) {
    return Nanoseconds{a.count_ * k};
  }

 private:
  std::int64_t count_ = 0;
};

inline constexpr Nanoseconds kForever{std::numeric_limits<std::int64_t>::max()};

/// Nearest whole nanosecond. Precondition: |t| < 292 years and not NaN.
[[nodiscard]] inline Nanoseconds to_nanoseconds(Seconds t) {
  return Nanoseconds{std::llround(t.si() * 1e9)};
}

}  // namespace trainyard::units
