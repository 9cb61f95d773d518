// The scalar vocabulary that every algorithm is written in: `S` is double or float here, and
// Lanes<double> or Lanes<float> in lanes.hpp, with the same names and bit-for-bit the same results.
//
// Rules that keep the results identical on every executor (docs/numerics.md):
//  * no branch on a value of type S: masks with select, any, all; a bool is the mask of a scalar;
//  * a fused multiply-add is written fma(a, b, c); the compiler never contracts (-ffp-contract=off);
//  * min, max and abs are defined here, not taken from a library, so NaN and signed zero agree.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "garra/core/hd.hpp"

namespace garra {

/// Number of problems that one value of type S carries: 1 for a scalar, the register width for lanes.
template <class S>
struct ScalarTraits {
  static_assert(std::is_arithmetic_v<S>, "S must be a floating-point scalar or Lanes of one");
  using Real = S;      ///< the scalar of one lane
  using Mask = bool;   ///< result of a comparison
  static constexpr int kWidth = 1;
};

template <class S>
using RealOf = typename ScalarTraits<S>::Real;
template <class S>
using MaskOf = typename ScalarTraits<S>::Mask;
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

// The C++ library's own entities, so that `using namespace garra` beside `using namespace std` stays unambiguous.
using std::abs;
using std::fma;
using std::sqrt;

/// min(a, b) and max(a, b) return `a` when either is NaN: the same rule on every executor.
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
GARRA_HD T min(T a, T b) {
  return b < a ? b : a;
}
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
GARRA_HD T max(T a, T b) {
  return a < b ? b : a;
}

/// True where `a` is neither NaN nor infinite: a - a is 0 for finite a and NaN otherwise.
template <class S>
GARRA_HD auto is_finite(const S& a) {
  return (a - a) == S(RealOf<S>(0));
}

}  // namespace garra
