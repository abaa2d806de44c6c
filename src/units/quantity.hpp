#pragma once

#include <compare>

namespace trainyard::units {

/// A double that knows its dimension, byte^B * second^S. Always SI inside; costs nothing at run
/// time.
template <int B, int S>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double si) : si_{si} {}
  [[nodiscard]] constexpr double si() const { return si_; }
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 inside <=> for a pointer
  constexpr auto operator<=>(const Quantity&) const = default;

  constexpr Quantity& operator+=(Quantity other) {
    si_ += other.si_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    si_ -= other.si_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity{a.si_ + b.si_}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity{a.si_ - b.si_}; }
  friend constexpr Quantity operator*(Quantity a, double k) { return Quantity{a.si_ * k}; }
  friend constexpr Quantity operator*(double k, Quantity a) { return Quantity{a.si_ * k}; }
  friend constexpr Quantity operator/(Quantity a, double k) { return Quantity{a.si_ / k}; }

 private:
  double si_ = 0.0;
};

/// Same dimension: a plain ratio. Otherwise the exponents subtract.
template <int B1, int S1, int B2, int S2>
constexpr auto operator/(Quantity<B1, S1> a, Quantity<B2, S2> b) {
  if constexpr (B1 == B2 && S1 == S2) {
    return a.si() / b.si();
  } else {
    return Quantity<B1 - B2, S1 - S2>{a.si() / b.si()};
  }
}
template <int B1, int S1, int B2, int S2>
constexpr auto operator*(Quantity<B1, S1> a, Quantity<B2, S2> b) {
  if constexpr (B1 + B2 == 0 && S1 + S2 == 0) {
    return a.si() * b.si();
  } else {
    return Quantity<B1 + B2, S1 + S2>{a.si() * b.si()};
  }
}

using Bytes = Quantity<1, 0>;
using Seconds = Quantity<0, 1>;
using BytesPerSecond = Quantity<1, -1>;

/// `using namespace trainyard::units::literals` inside a function or a .cpp, never in a header.
namespace literals {
constexpr Bytes operator""_B(unsigned long long v) {
  return Bytes{static_cast<double>(v)};
}
constexpr Bytes operator""_KiB(unsigned long long v) {
  return Bytes{static_cast<double>(v) * 1024.0};
}
constexpr Bytes operator""_MiB(unsigned long long v) {
  return Bytes{static_cast<double>(v) * 1048576.0};
}
constexpr Bytes operator""_GiB(unsigned long long v) {
  return Bytes{static_cast<double>(v) * 1073741824.0};
}
constexpr Bytes operator""_MB(unsigned long long v) {
  return Bytes{static_cast<double>(v) * 1e6};
}
constexpr Bytes operator""_GB(unsigned long long v) {
  return Bytes{static_cast<double>(v) * 1e9};
}
constexpr BytesPerSecond operator""_GBps(unsigned long long v) {
  return BytesPerSecond{static_cast<double>(v) * 1e9};
}
constexpr BytesPerSecond operator""_GBps(long double v) {
  return BytesPerSecond{static_cast<double>(v) * 1e9};
}
constexpr Seconds operator""_s(unsigned long long v) {
  return Seconds{static_cast<double>(v)};
}
constexpr Seconds operator""_us(unsigned long long v) {
  return Seconds{static_cast<double>(v) * 1e-6};
}
constexpr Seconds operator""_us(long double v) {
  return Seconds{static_cast<double>(v) * 1e-6};
}
}  // namespace literals

}  // namespace trainyard::units
