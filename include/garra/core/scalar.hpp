// The scalar vocabulary that every algorithm is written in: `S` is double or float here, and
// Lanes<double> or Lanes<float> in lanes.hpp, with the same names and bit-for-bit the same results.
//
// Rules that keep the results identical on every executor (docs/theory/numerics.md):
//  * no branch on a value of type S: masks with select, any, all; a bool is the mask of a scalar;
//  * a fused multiply-add is written fma(a, b, c); the compiler never contracts (docs/theory/numerics.md);
//  * min, max and abs are defined here, not taken from a library, so NaN and signed zero agree.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "garra/core/hd.hpp"

namespace garra {

/// Traits of a scalar type: the number of problems that one value carries (1, or the register width
/// for lanes) and its types.
template <class S>
struct ScalarTraits {
  static_assert(std::is_arithmetic_v<S>, "S must be a floating-point scalar or Lanes of one");
  using Real = S;                                                                 ///< the scalar of one lane
  using Mask = bool;                                                              ///< result of a comparison
  using Bits = std::conditional_t<sizeof(S) == 8, std::uint64_t, std::uint32_t>;  ///< same width
  static constexpr int kWidth = 1;
  /// 0, 1, 2, ... : the number of each lane.
  static GARRA_HD S lane_numbers() { return S(0); }
};

template <class S>
using RealOf = typename ScalarTraits<S>::Real;
template <class S>
using MaskOf = typename ScalarTraits<S>::Mask;
template <class S>
using BitsOf = typename ScalarTraits<S>::Bits;
template <class S>
inline constexpr int kWidth = ScalarTraits<S>::kWidth;

GARRA_HD bool any(bool m) { return m; }
GARRA_HD bool all(bool m) { return m; }

template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
GARRA_HD T select(bool m, T a, T b) {
  return m ? a : b;
}
/// Mask-valued select, so that masks can be merged without short-circuit evaluation.
GARRA_HD bool select_mask(bool m, bool a, bool b) { return m ? a : b; }

// The C++ library's entities: `using namespace garra` beside `using namespace std` is unambiguous.
using std::abs;
using std::fma;
using std::sqrt;

/// c - a b with one rounding, as fma(-a, b, c); in lanes one instruction, without a sign change.
template <class S>
GARRA_HD S fnma(const S& a, const S& b, const S& c) {
  return fma(-a, b, c);
}

/// min(a, b) and max(a, b) return `a` when either is NaN: the same rule on every executor.
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
GARRA_HD T min(T a, T b) {
  return b < a ? b : a;
}
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
GARRA_HD T max(T a, T b) {
  return a < b ? b : a;
}

/// The bit pattern of a scalar as an unsigned integer of its width, and back: from_bits<S>(to_bits(a)) is a.
template <class T, class = std::enable_if_t<std::is_floating_point_v<T>>>
GARRA_HD BitsOf<T> to_bits(T a) {
  return std::bit_cast<BitsOf<T>>(a);
}
template <class S>
GARRA_HD S from_bits(const BitsOf<S>& bits) {
  return std::bit_cast<S>(bits);
}

/// Product of the low 32 bits of each operand, exact in 64 bits.
GARRA_HD std::uint64_t product_of_low_halves(std::uint64_t a, std::uint64_t b) {
  return (a & 0xffffffffu) * (b & 0xffffffffu);
}
/// High 32 bits of a 32 x 32 bit product.
GARRA_HD std::uint32_t high_product(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>((std::uint64_t{a} * b) >> 32);
}

/// True where `a` is neither NaN nor infinite: a - a is 0 for finite a and NaN otherwise.
template <class S>
GARRA_HD auto is_finite(const S& a) {
  return (a - a) == S(RealOf<S>(0));
}

}  // namespace garra
