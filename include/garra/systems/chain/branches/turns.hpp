// Turns in closed form: of a sum of cosine and sine, and between two vectors; what closed forms give.
#pragma once

#include "garra/systems/chain/branches/elimination.hpp"

namespace garra::chain::branches {

/// How joints 1 to 3 place the point where axes 4, 5 and 6 meet (spherical.hpp): kRankOne: M has rank one; kLevel: axes
/// 2 and 3 are parallel.
enum class Placing { kQuartic, kRankOne, kLevel };

/// Where axis 4 meets axis 5 or 6: distances from the origins of the two frames, along the axes [units].
struct MeetingPoint {
  double near = 0, far = 0;
  Placing placing = Placing::kQuartic;  ///< of spherical arms
  bool flips = false;  ///< axes 4 to 6 meet at right angles: theta_4 + pi, theta_6 + pi make the same pose, with the
                       ///< other theta_5
};

inline constexpr int kClosed = 8;  ///< candidates

/// Joint values in the order of the roles; slides over the unit of length.
template <class S>
struct ClosedCandidates {
  kernel::JointValue<S> z[kClosed][kLoop];
  Vec<S, kClosed> exists;  ///< 1, or 0: the root or the cosine that it needs is not real
  S doubtful;              ///< 1: some candidate is at the edge of existence
  int shared[kLoop];       ///< of each role: candidates k with the same k >> shared have the same value
};

namespace kernel {

/// A point of the unit circle with sine >= 0 from its cosine; outside of [-1, 1] the nearest end.
template <class S>
struct Cosine {
  S cos, sin, exists, doubtful;
};
template <class S>
GARRA_HD Cosine<S> from_cosine(const S& value) {
  const S one(1), c = max(min(value, one), -one);
  return {c, sqrt(max(fnma(c, c, one), S(0))), select(abs(value) <= S(1 + 1e-6), one, S(0)),
          select(abs(abs(value) - one) <= S(1e-6), one, S(0))};
}

/// x cos + y sin = value: the turns on both sides of the direction (x, y).
template <class S>
struct BothTurns {
  JointValue<S> z[2];
  Cosine<S> quality;
};
template <class S>
GARRA_HD BothTurns<S> solve_turn(const S& x, const S& y, const S& value) {
  const S by = S(1) / max(sqrt(fma(x, x, y * y)), S(1e-300));
  BothTurns<S> out;
  out.quality = from_cosine(by * value);
  for (int side = 0; side < 2; ++side) {
    const S sine = side == 0 ? out.quality.sin : -out.quality.sin;
    out.z[side] = {by * fma(x, out.quality.cos, -(y * sine)), by * fma(y, out.quality.cos, x * sine), S(0)};
  }
  return out;
}

/// 1 / (x^2 + y^2); 0 where both are nearly 0.
template <class S>
GARRA_HD S inverse_square(const S& x, const S& y) {
  const S n = fma(x, x, y * y);
  return select(n < S(1e-14), S(0), S(1) / max(n, S(1e-14)));
}

/// Square of the sine of the angle between two axes that are aligned to rounding.
inline constexpr double kAligned = 1e-28;

/// The turn about z from a to b; none where one of them is along z to rounding. Near it any turn will do: what follows
/// makes up for it.
template <class S>
GARRA_HD JointValue<S> turn_between(const Vec3<S>& a, const Vec3<S>& b) {
  const S c = fma(a[0], b[0], a[1] * b[1]), s = fma(a[0], b[1], -(a[1] * b[0])), n = sqrt(fma(c, c, s * s));
  const auto none = n < S(kAligned);
  const S by = S(1) / select(none, S(1), n);
  return {select(none, S(1), by * c), select(none, S(0), by * s), S(0)};
}
/// The turn about z from a to b, which are equally far from z; `by`: inverse_square() of one of them. Without a root:
/// it is off the unit circle where they differ.
template <class S>
GARRA_HD JointValue<S> turn_between(const Vec3<S>& a, const Vec3<S>& b, const S& by) {
  return {by * fma(a[0], b[0], a[1] * b[1]), by * fma(a[0], b[1], -(a[1] * b[0])), S(0)};
}

/// The point of the unit circle next to one that is off by rounding, by a step of Newton's method.
template <class S>
GARRA_HD JointValue<S> to_circle(const JointValue<S>& z, S& off) {
  off = fma(z.cos, z.cos, fma(z.sin, z.sin, S(-1)));
  const S by = fma(S(-0.5), off, S(1));
  return {by * z.cos, by * z.sin, z.slide};
}

/// The angle of a point of the unit circle, without division: k pi/4 + asin(s), |s| <= sin(pi/8). As atan2() elsewhere.
template <class S>
GARRA_HD S circle_angle(const JointValue<S>& z) {
  using F = FloatFormat<double>;
  const S x = abs(z.cos), y = abs(z.sin), one(1);
  const auto steep = y > x, left = z.cos < S(0);
  const S n = min(x, y), d = max(x, y);
  const auto octant = n > S(0.38268343236508977);
  S s = select(octant, S(0.70710678118654752) * (n - d), n), k = select(octant, one, S(0));
  k = select(steep, S(2) - k, k);
  s = select(steep, -s, s);
  k = select(left, S(4) - k, k);
  s = select(left, -s, s);
  const S square = s * s, tail = fma(s * square, elementary::asin_tail<S>(square), k * S(F::kPi4Lo));
  return elementary::flip_sign(fma(k, S(F::kPi4Hi), s + tail), elementary::sign_bits(z.sin));
}

template <class S>
GARRA_HD Vec<S, kLoop> to_values(const Loop<S>& loop, const JointValue<S>* z) {
  Vec<S, kLoop> q;
  for (int i = 0; i < kLoop; ++i) q[i] = loop.slides[i] ? z[i].slide : atan2(z[i].sin, z[i].cos);
  return q;
}

template <class S>
GARRA_HD Mat3<S> joint_rotation(const JointValue<S>& z) {
  return {{z.cos, -z.sin, S(0), z.sin, z.cos, S(0), S(0), S(0), S(1)}};
}
/// R joint_rotation(z), without the products with 0 and 1.
template <class S>
GARRA_HD Mat3<S> turn_columns(const Mat3<S>& R, const JointValue<S>& z) {
  Mat3<S> out = R;
  for (int r = 0; r < 3; ++r) {
    out(r, 0) = fma(R(r, 1), z.sin, R(r, 0) * z.cos);
    out(r, 1) = fma(R(r, 1), z.cos, -(R(r, 0) * z.sin));
  }
  return out;
}

}  // namespace kernel

}  // namespace garra::chain::branches
