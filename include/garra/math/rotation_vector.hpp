// Quaternions from rotation vectors and back. Host only: it calls the C library.
#pragma once

#include <cmath>

#include "garra/math/quaternion.hpp"

namespace garra {

/// exp: the rotation about and by `turn` [rad].
inline Quaternion<double> quaternion_of_turn(const Vec3<double>& turn) {
  const double angle = norm(turn), half = angle / 2;
  // sin(a/2)/a by its series where the quotient loses digits: the next term is below rounding at 1e-8.
  const double share = angle > 1e-8 ? std::sin(half) / angle : 0.5 - angle * angle / 48;
  return {{std::cos(half), share * turn[0], share * turn[1], share * turn[2]}};
}

/// The shorter rotation vector, fixed axes, that takes the orientation `from` to `to` [rad].
inline Vec3<double> turn_between(const Quaternion<double>& from, const Quaternion<double>& to) {
  Quaternion<double> d = product(to, conjugate(from));
  // p and -p are the same rotation: with a positive scalar part the angle is below half a turn.
  if (d[0] < 0) d = -d;
  const Vec3<double> e{{d[1], d[2], d[3]}};
  const double sine = norm(e);
  // 2/d0 is the limit of the quotient, and right to rounding below 1e-8.
  return (sine > 1e-8 ? 2 * std::atan2(sine, d[0]) / sine : 2 / d[0]) * e;
}

}  // namespace garra
