// Elementary functions over S: sincos, sin, cos, atan2, acos, asin, exp, log.
//
// libm is not used: it gives different bits on the host and on a GPU, and costs a call per lane.
// Each function is one branch-free implementation in + - * / sqrt fma and bit operations, so every
// executor returns the same bits. Polynomials are minimax fits, made by
// tests/core/fit_elementary.py; the argument reductions are those of W. J. Cody and W. Waite,
// "Software Manual for the Elementary Functions", 1980, with fused multiply-adds. The errors given
// at each function, in units of the last place, are measured in tests/core/test_elementary.cpp.
#pragma once

#include <limits>

#include "garra/core/scalar.hpp"

namespace garra {

/// sin and cos of the same angle.
template <class S>
struct SinCos {
  S sin;
  S cos;
};

/// Constants of the floating-point format R (IEEE binary64 or binary32) and of the argument
/// reductions. Numbers that end in _hi and _lo are unevaluated sums.
template <class R>
struct FloatFormat;

template <>
struct FloatFormat<double> {
  using Bits = std::uint64_t;
  static constexpr int kFractionBits = 52;
  static constexpr int kBias = 1023;
  static constexpr double kRounder = 0x1.8p52;           ///< adding it rounds to an integer, found in the low bits
  static constexpr double kPi2_1 = 0x1.921fb54442d18p0;  ///< pi/2 = _1 + _2 + _3, each cut off, so all positive
  static constexpr double kPi2_2 = 0x1.1a62633145c06p-54;
  static constexpr double kPi2_3 = 0x1.c1cd129024e08p-107;
  static constexpr double kAngleLimit = 0x1p40;
  static constexpr double kPi4Hi = 0x1.921fb54442d18p-1;
  static constexpr double kPi4Lo = 0x1.1a62633145c07p-55;
  static constexpr double kLn2Hi = 0x1.62e42fefa39efp-1;
  static constexpr double kLn2Lo = 0x1.abc9e3b39803fp-56;
  static constexpr double kExpLow = -746.0;  ///< below it exp is 0
  static constexpr double kExpHigh = 710.0;  ///< above it exp is infinite
  static constexpr double kSubnormalScale = 0x1p54;
  static constexpr double kSubnormalShift = 54.0;
  static constexpr double kLarge = 0x1p1020;
};

template <>
struct FloatFormat<float> {
  using Bits = std::uint32_t;
  static constexpr int kFractionBits = 23;
  static constexpr int kBias = 127;
  static constexpr float kRounder = 0x1.8p23f;
  static constexpr float kPi2_1 = 0x1.921fb4p0f;
  static constexpr float kPi2_2 = 0x1.4442d0p-24f;
  static constexpr float kPi2_3 = 0x1.846988p-48f;
  static constexpr float kAngleLimit = 0x1p18f;
  static constexpr float kPi4Hi = 0x1.921fb6p-1f;
  static constexpr float kPi4Lo = -0x1.777a5cp-26f;
  static constexpr float kLn2Hi = 0x1.62e430p-1f;
  static constexpr float kLn2Lo = -0x1.05c610p-29f;
  static constexpr float kExpLow = -104.0f;
  static constexpr float kExpHigh = 89.0f;
  static constexpr float kSubnormalScale = 0x1p25f;
  static constexpr float kSubnormalShift = 25.0f;
  static constexpr float kLarge = 0x1p124f;
};

// Building blocks; not meant for use outside core.
namespace elementary {

template <class S>
inline constexpr BitsOf<RealOf<S>> kSignBit = BitsOf<RealOf<S>>(1) << (8 * sizeof(RealOf<S>) - 1);
template <class S>
inline constexpr BitsOf<RealOf<S>> kOneBits = BitsOf<RealOf<S>>(FloatFormat<RealOf<S>>::kBias)
                                              << FloatFormat<RealOf<S>>::kFractionBits;
template <class S>
inline constexpr bool kIsDouble = std::is_same_v<RealOf<S>, double>;

/// The sign bit alone: the bits of +0 or -0.
template <class S>
GARRA_HD BitsOf<S> sign_bits(const S& x) {
  return to_bits(x) & BitsOf<S>(kSignBit<S>);
}
template <class S>
GARRA_HD S flip_sign(const S& x, const BitsOf<S>& sign) {
  return from_bits<S>(to_bits(x) ^ sign);
}
/// Mask of the lanes whose sign bit is set, also for -0.
template <class S>
GARRA_HD MaskOf<S> has_sign(const S& x) {
  return from_bits<S>(sign_bits(x) | BitsOf<S>(kOneBits<S>)) < S(RealOf<S>(0));
}
/// Nearest integer plus kRounder; ties to even, for |x| < 2^22 (float) or 2^51 (double).
template <class S>
GARRA_HD S to_rounder(const S& x) {
  return x + S(FloatFormat<RealOf<S>>::kRounder);
}
template <class S>
GARRA_HD S from_rounder(const S& x) {
  return x - S(FloatFormat<RealOf<S>>::kRounder);
}

/// Horner's rule, lowest power first.
template <class S>
GARRA_HD S polynomial(const S&, RealOf<S> c0) {
  return S(c0);
}
template <class S, class... Rest>
GARRA_HD S polynomial(const S& x, RealOf<S> c0, Rest... rest) {
  return fma(polynomial<S>(x, rest...), x, S(c0));
}

/// (sin(r)/r - 1) / z with z = r^2, |r| <= 0.795
template <class S>
GARRA_HD S sin_tail(const S& z) {
  if constexpr (kIsDouble<S>) {
    return polynomial<S>(z, -0.16666666666666627, 0.008333333333321017, -0.00019841269828650124, 2.755731327815335e-06,
                         -2.505069165584453e-08, 1.589285724339577e-10);
  } else {
    return polynomial<S>(z, -0.166666538f, 0.00833212119f, -0.000195093933f);
  }
}
/// (cos(r) - 1 + z/2) / z^2 with z = r^2, |r| <= 0.795
template <class S>
GARRA_HD S cos_tail(const S& z) {
  if constexpr (kIsDouble<S>) {
    return polynomial<S>(z, 0.04166666666666658, -0.0013888888888870978, 2.4801587287533914e-05,
                         -2.7557313793310253e-07, 2.0875647729769107e-09, -1.135575651324236e-11);
  } else {
    return polynomial<S>(z, 0.0416666456f, -0.00138872373f, 2.44240091e-05f);
  }
}
/// (atan(q)/q - 1) / z with z = q^2, |q| <= tan(pi/8)
template <class S>
GARRA_HD S atan_tail(const S& z) {
  if constexpr (kIsDouble<S>) {
    return polynomial<S>(z, -0.333333333333332, 0.1999999999995404, -0.1428571428024425, 0.1111111078591544,
                         -0.09090897829798676, 0.07692061514587471, -0.06663118946340052, 0.05847998152805416,
                         -0.050397957354664465, 0.03807702585330115, -0.01792082960809992);
  } else {
    return polynomial<S>(z, -0.333333164f, 0.199984893f, -0.142438382f, 0.105959132f, -0.0608321838f);
  }
}
/// (asin(s)/s - 1) / z with z = s^2, |s| <= 1/2
template <class S>
GARRA_HD S asin_tail(const S& z) {
  if constexpr (kIsDouble<S>) {
    return polynomial<S>(z, 0.16666666666666763, 0.074999999999701, 0.044642857175284226, 0.030381942675363306,
                         0.02237221590357959, 0.017351595542493922, 0.01398101801213914, 0.01139729746430535,
                         0.01078929577484228, 0.0036722826138235326, 0.021790407405496846, -0.02111637853527835,
                         0.03270194895263664);
  } else {
    return polynomial<S>(z, 0.166667536f, 0.0749523267f, 0.045478344f, 0.0241409708f, 0.0422305986f);
  }
}
/// (exp(r) - 1 - r) / r^2, |r| <= 0.347
template <class S>
GARRA_HD S exp_tail(const S& r) {
  if constexpr (kIsDouble<S>) {
    return polynomial<S>(r, 0.5000000000000013, 0.166666666666667, 0.04166666666651407, 0.008333333333306856,
                         0.0013888888947405662, 0.0001984126991812183, 2.4801489506302587e-05, 2.755721565914657e-06,
                         2.7631446116513394e-07, 2.51180588680247e-08);
  } else {
    return polynomial<S>(r, 0.5f, 0.166665182f, 0.0416662022f, 0.00836896989f, 0.00139506441f);
  }
}
/// (2 atanh(s)/s - 2) / z with z = s^2 <= 0.0294
template <class S>
GARRA_HD S log_tail(const S& z) {
  if constexpr (kIsDouble<S>) {
    return polynomial<S>(z, 0.6666666666666735, 0.3999999999941311, 0.28571428742769045, 0.22222198530884338,
                         0.18183566680465554, 0.15313986506036303, 0.14796627113835334);
  } else {
    return polynomial<S>(z, 0.666667759f, 0.399775207f, 0.298723161f);
  }
}

/// A reduced angle: |x| = quarter pi/2 + hi + lo, |hi| <= 0.795, |lo| far below hi's last place.
template <class S>
struct ReducedAngle {
  S hi, lo;
  BitsOf<S> quarter;  ///< its two lowest bits count
};

template <class S>
GARRA_HD ReducedAngle<S> reduce_angle(const S& x) {
  using F = FloatFormat<RealOf<S>>;
  // Past the limit the numbers' spacing leaves no meaningful angle; 0 * x keeps NaN and infinity.
  const S a = select(abs(x) < S(F::kAngleLimit), abs(x), S(RealOf<S>(0)) * x);
  const S rounded = to_rounder(a * S(RealOf<S>(0.63661977236758134308)));
  const S q = from_rounder(rounded);
  const S r1 = fma(-q, S(F::kPi2_1), a);  // exact: a multiple of the last place of pi/2, below 1
  const S w = q * S(F::kPi2_2);
  const S w_error = fma(q, S(F::kPi2_2), -w);
  const S hi = r1 - w;
  // Fast2Sum holds here even for |r1| < |w|, as r1 is a multiple of the last place of w.
  const S lo = fma(-q, S(F::kPi2_3), ((r1 - hi) - w) - w_error);
  return {hi, lo, to_bits(rounded)};
}

/// 2^k for integers |k| < kBias, given as a floating-point number.
template <class S>
GARRA_HD S power_of_two(const S& k) {
  using F = FloatFormat<RealOf<S>>;
  return from_bits<S>((to_bits(to_rounder(k)) + BitsOf<S>(typename F::Bits(F::kBias))) << F::kFractionBits);
}

/// asin(a) in parts: s + tail for 0 <= a <= 1/2, else pi/2 - 2 (s + tail); NaN for a > 1.
template <class S>
struct HalfAngle {
  MaskOf<S> big;  ///< a > 1/2
  S s, tail;
};

template <class S>
GARRA_HD HalfAngle<S> half_angle(const S& a) {
  using R = RealOf<S>;
  const MaskOf<S> big = a > S(R(0.5));
  const S z = select(big, (S(R(1)) - a) * S(R(0.5)), a * a);
  const S s = select(big, sqrt(z), a);
  return {big, s, (s * z) * asin_tail<S>(z)};
}

}  // namespace elementary

/// sin and cos of x [rad]. Error below 0.8 ulp (double and float) for |x| < 1e5, with a slow loss
/// up to 2^40 (double) or 2^18 (float). Beyond, x is taken as 0: sin^2 + cos^2 = 1 for all finite
/// x. NaN and infinity give NaN. sin(-x) = -sin(x) and cos(-x) = cos(x) to the bit.
template <class S>
[[nodiscard]] GARRA_HD SinCos<S> sincos(const S& x) {
  using R = RealOf<S>;
  using Bits = BitsOf<S>;
  const elementary::ReducedAngle<S> r = elementary::reduce_angle(x);
  const S z = r.hi * r.hi;
  const S half_z = S(R(0.5)) * z;
  const S sin_tail = fma(r.hi * z, elementary::sin_tail<S>(z), fma(-half_z, r.lo, r.lo));
  const S sin_r = r.hi + sin_tail;
  const S cos_head = S(R(1)) - half_z;
  const S cos_tail = fma(z * z, elementary::cos_tail<S>(z), -(r.hi * r.lo));
  const S cos_r = cos_head + (((S(R(1)) - cos_head) - half_z) + cos_tail);

  // Quarter turns exchange sin and cos; bit 0 and bit 1 of the quarter travel to the sign bit.
  constexpr int kTop = 8 * static_cast<int>(sizeof(R)) - 1;
  const Bits top = Bits(elementary::kSignBit<S>);
  const Bits odd = r.quarter << kTop;
  const Bits half_turn = (r.quarter << (kTop - 1)) & top;
  const MaskOf<S> swap = elementary::has_sign(from_bits<S>(odd));
  const S s = select(swap, cos_r, sin_r);
  const S c = select(swap, sin_r, cos_r);
  return {elementary::flip_sign(s, half_turn ^ elementary::sign_bits(x)), elementary::flip_sign(c, half_turn ^ odd)};
}

/// sin and cos of x [rad] at two thirds of the cost. Error below 1.5 ulp for |x| < 1e5, because the
/// reduced angle is one number instead of two. Otherwise as sincos: sin^2 + cos^2 = 1 for all
/// finite x; symmetric to the bit; NaN and infinity give NaN.
template <class S>
[[nodiscard]] GARRA_HD SinCos<S> quick_sincos(const S& x) {
  using R = RealOf<S>;
  using Bits = BitsOf<S>;
  using F = FloatFormat<R>;
  const S a = select(abs(x) < S(F::kAngleLimit), x, S(R(0)) * x);
  const S rounded = elementary::to_rounder(a * S(R(0.63661977236758134308)));
  const S q = elementary::from_rounder(rounded);
  const S r = fnma(q, S(F::kPi2_3), fnma(q, S(F::kPi2_2), fnma(q, S(F::kPi2_1), a)));
  const S z = r * r;
  const S sin_r = fma(r * z, elementary::sin_tail<S>(z), r);
  const S cos_r = fma(z, fma(z, elementary::cos_tail<S>(z), S(R(-0.5))), S(R(1)));
  constexpr int kTop = 8 * static_cast<int>(sizeof(R)) - 1;
  const Bits top = Bits(elementary::kSignBit<S>);
  const Bits odd = to_bits(rounded) << kTop;
  const Bits half_turn = (to_bits(rounded) << (kTop - 1)) & top;
  const MaskOf<S> swap = elementary::has_sign(from_bits<S>(odd));
  return {elementary::flip_sign(select(swap, cos_r, sin_r), half_turn),
          elementary::flip_sign(select(swap, sin_r, cos_r), half_turn ^ odd)};
}

/// As sincos; use sincos if both are wanted.
template <class S>
[[nodiscard]] GARRA_HD S sin(const S& x) {
  return sincos(x).sin;
}
template <class S>
[[nodiscard]] GARRA_HD S cos(const S& x) {
  return sincos(x).cos;
}

/// Angle [rad] of the point (x, y), in [-pi, pi]. Signed zeros and infinities as in IEEE
/// 754-2019, 9.2.1. Error below 2 ulp, also where x or y is subnormal or near overflow.
template <class S>
[[nodiscard]] GARRA_HD S atan2(const S& y, const S& x) {
  using R = RealOf<S>;
  using F = FloatFormat<R>;
  const S one = S(R(1)), zero = S(R(0)), infinity = S(std::numeric_limits<R>::infinity());
  const S ax = abs(x), ay = abs(y);
  const MaskOf<S> steep = ay > ax;
  const MaskOf<S> left = elementary::has_sign(x);
  S n = select(steep, ax, ay);
  S d = select(steep, ay, ax);
  // 0/0 and inf/inf mean directions that IEEE defines; near overflow n + d must not overflow.
  const MaskOf<S> both_infinite = n == infinity && d == infinity;
  n = select(both_infinite, one, n);
  d = select(both_infinite || d == zero, one, d);
  const S scale = select(d > S(F::kLarge), S(R(0.0625)), one);
  n = n * scale;
  d = d * scale;

  // atan(n/d) = pi/4 + atan((n - d)/(n + d)) where n/d > tan(pi/8)
  const MaskOf<S> octant = n > d * S(R(0.41421356237309504880));
  S q = select(octant, n - d, n) / select(octant, n + d, d);
  S k = select(octant, one, zero);  // the angle is k pi/4 + atan(q)
  k = select(steep, S(R(2)) - k, k);
  q = select(steep, -q, q);
  k = select(left, S(R(4)) - k, k);
  q = select(left, -q, q);
  const S z = q * q;
  const S tail = fma(q * z, elementary::atan_tail<S>(z), k * S(F::kPi4Lo));
  const S angle = fma(k, S(F::kPi4Hi), q + tail);
  return elementary::flip_sign(angle, elementary::sign_bits(y));
}

/// asin(x) [rad] in [-pi/2, pi/2]; NaN for |x| > 1. Error below 1.5 ulp.
template <class S>
[[nodiscard]] GARRA_HD S asin(const S& x) {
  using R = RealOf<S>;
  using F = FloatFormat<R>;
  const elementary::HalfAngle<S> h = elementary::half_angle<S>(abs(x));
  const S small = h.s + h.tail;
  const S half_pi = S(R(2) * F::kPi4Hi);
  const S twice = h.s + h.s;
  const S head = half_pi - twice;
  const S head_error = (half_pi - head) - twice;
  const S big = head + (head_error + fma(S(R(-2)), h.tail, S(R(2) * F::kPi4Lo)));
  return elementary::flip_sign(select(h.big, big, small), elementary::sign_bits(x));
}

/// acos(x) [rad] in [0, pi]; NaN for |x| > 1. Error below 1.2 ulp.
template <class S>
[[nodiscard]] GARRA_HD S acos(const S& x) {
  using R = RealOf<S>;
  using F = FloatFormat<R>;
  const elementary::HalfAngle<S> h = elementary::half_angle<S>(abs(x));
  const MaskOf<S> left = elementary::has_sign(x);
  const S s = select(left, -h.s, h.s);
  const S tail = select(left, -h.tail, h.tail);
  const S small = S(R(2) * F::kPi4Hi) - (s + (tail - S(R(2) * F::kPi4Lo)));
  const S pi_hi = select(left, S(R(4) * F::kPi4Hi), S(R(0)));
  const S pi_lo = select(left, S(R(4) * F::kPi4Lo), S(R(0)));
  const S big = pi_hi + fma(S(R(2)), s + tail, pi_lo);
  return select(h.big, big, small);
}

/// e^x; 0 and infinity past the range, subnormal results included. Error below 1 ulp.
template <class S>
[[nodiscard]] GARRA_HD S exp(const S& x) {
  using R = RealOf<S>;
  using F = FloatFormat<R>;
  const S a = min(max(x, S(F::kExpLow)),
                  S(F::kExpHigh));  // NaN stays: min and max return their first operand
  const S k = elementary::from_rounder(elementary::to_rounder(a * S(R(1.4426950408889634074))));
  const S r1 = fma(-k, S(F::kLn2Hi), a);  // exact
  const S r = fma(-k, S(F::kLn2Lo), r1);
  const S lo = fma(-k, S(F::kLn2Lo), r1 - r);
  const S p = S(R(1)) + (r + fma(r * r, elementary::exp_tail<S>(r), lo));
  // Two factors, as 2^k itself may not be a normal number; the first product is exact.
  const S k1 = elementary::from_rounder(elementary::to_rounder(k * S(R(0.5))));
  return (p * elementary::power_of_two<S>(k1)) * elementary::power_of_two<S>(k - k1);
}

/// Natural logarithm; -infinity for 0 (of either sign), NaN below 0. Error below 0.9 ulp,
/// also for subnormal x.
template <class S>
[[nodiscard]] GARRA_HD S log(const S& x) {
  using R = RealOf<S>;
  using F = FloatFormat<R>;
  using Bits = BitsOf<S>;
  using Word = typename F::Bits;
  const S infinity = S(std::numeric_limits<R>::infinity());
  const S one = S(R(1));
  const MaskOf<S> subnormal = x < S(std::numeric_limits<R>::min());
  const Bits bits = to_bits(select(subnormal, x * S(F::kSubnormalScale), x));

  // x = m 2^e with m in (sqrt(1/2), sqrt(2)]. 2^kFractionBits with the exponent field as its
  // fraction is the field as a number.
  constexpr R kOffset = R(Word(1) << F::kFractionBits);
  constexpr Word kOffsetBits = Word(F::kBias + F::kFractionBits) << F::kFractionBits;
  S e = from_bits<S>((bits >> F::kFractionBits) | Bits(kOffsetBits)) - S(kOffset + R(F::kBias));
  e = select(subnormal, e - S(F::kSubnormalShift), e);
  S m = from_bits<S>((bits & Bits((Word(1) << F::kFractionBits) - 1)) | Bits(elementary::kOneBits<S>));
  const MaskOf<S> upper = m > S(R(1.41421356237309504880));
  m = select(upper, m * S(R(0.5)), m);
  e = select(upper, e + one, e);

  // log(1 + f) = f - f^2/2 + s (f^2/2 + z R(z)), s = f/(2 + f)
  const S f = m - one;
  const S s = f / (S(R(2)) + f);
  const S z = s * s;
  const S half_f2 = S(R(0.5)) * f * f;
  const S correction = fma(s, fma(z, elementary::log_tail<S>(z), half_f2), e * S(F::kLn2Lo));
  const S value = fma(e, S(F::kLn2Hi), f - (half_f2 - correction));
  const S edge = select(x == S(R(0)), -infinity, S(std::numeric_limits<R>::quiet_NaN()));
  return select(x == infinity, infinity, select(x > S(R(0)), value, edge));
}

}  // namespace garra
