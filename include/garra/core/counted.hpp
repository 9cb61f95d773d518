// A scalar that counts its arithmetic: a body of garra run on Counted reports its operations.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "garra/core/scalar.hpp"

namespace garra {

/// Operations of all Counted since the last reset. Comparisons, signs and selections are free.
struct Operations {
  std::int64_t sum = 0;  ///< additions, subtractions, multiplications
  std::int64_t fma = 0;
  std::int64_t slow = 0;  ///< divisions and square roots
  /// Floating-point operations, a fused multiply-add being two.
  [[nodiscard]] double flops() const { return static_cast<double>(sum + 2 * fma + slow); }
};
inline Operations operations;

struct Counted {
  double v;

  Counted() = default;
  template <class U, class = std::enable_if_t<std::is_arithmetic_v<U>>>
  Counted(U u) : v(static_cast<double>(u)) {}

  friend Counted operator+(Counted a, Counted b) { return ++operations.sum, Counted(a.v + b.v); }
  friend Counted operator-(Counted a, Counted b) { return ++operations.sum, Counted(a.v - b.v); }
  friend Counted operator*(Counted a, Counted b) { return ++operations.sum, Counted(a.v * b.v); }
  friend Counted operator/(Counted a, Counted b) { return ++operations.slow, Counted(a.v / b.v); }
  friend Counted operator-(Counted a) { return Counted(-a.v); }
  Counted& operator+=(Counted b) { return *this = *this + b; }
  Counted& operator-=(Counted b) { return *this = *this - b; }
  Counted& operator*=(Counted b) { return *this = *this * b; }

  friend bool operator<(Counted a, Counted b) { return a.v < b.v; }
  friend bool operator>(Counted a, Counted b) { return a.v > b.v; }
  friend bool operator<=(Counted a, Counted b) { return a.v <= b.v; }
  friend bool operator>=(Counted a, Counted b) { return a.v >= b.v; }
  friend bool operator==(Counted a, Counted b) { return a.v == b.v; }
  friend bool operator!=(Counted a, Counted b) { return a.v != b.v; }

  friend Counted fma(Counted a, Counted b, Counted c) { return ++operations.fma, Counted(std::fma(a.v, b.v, c.v)); }
  friend Counted sqrt(Counted a) { return ++operations.slow, Counted(std::sqrt(a.v)); }
  friend Counted abs(Counted a) { return Counted(std::abs(a.v)); }
  friend Counted min(Counted a, Counted b) { return b.v < a.v ? b : a; }
  friend Counted max(Counted a, Counted b) { return a.v < b.v ? b : a; }
  friend Counted select(bool m, Counted a, Counted b) { return m ? a : b; }
  friend std::uint64_t to_bits(Counted a) { return garra::to_bits(a.v); }
};

}  // namespace garra

template <>
struct garra::ScalarTraits<garra::Counted> {
  using Real = double;
  using Mask = bool;
  using Bits = std::uint64_t;
  static constexpr int kWidth = 1;
  static Counted lane_numbers() { return 0; }
};
