// Quaternions (Euler parameters), scalar part first, and their rotation.
#pragma once

#include "garra/core/mat.hpp"

namespace garra {

template <class S>
using Quaternion = Vec<S, 4>;

/// I + twice (e e^T - |e|^2 I + e0 skew(e)).
template <class S>
GARRA_HD Mat3<S> rotation_with(const Quaternion<S>& p, const S& twice) {
  const S one(1);
  const S a = twice * p[1], b = twice * p[2], c = twice * p[3];
  const S w1 = a * p[0], w2 = b * p[0], w3 = c * p[0];
  const S xy = a * p[2], xz = a * p[3], yz = b * p[3];
  const S xx = a * p[1], yy = b * p[2], zz = c * p[3];
  return {{one - (yy + zz), xy - w3, xz + w2,  //
           xy + w3, one - (xx + zz), yz - w1,  //
           xz - w2, yz + w1, one - (xx + yy)}};
}

/// A = (2 e0^2 - 1) I + 2 (e e^T + e0 skew(e)) for a unit quaternion.
template <class S>
GARRA_HD Mat3<S> rotation_matrix(const Quaternion<S>& p) {
  return rotation_with(p, S(2));
}

/// The rotation of a quaternion of any length but 0, without a root.
template <class S>
GARRA_HD Mat3<S> rotation_of_any(const Quaternion<S>& p) {
  return rotation_with(p, S(2) / dot(p, p));
}

template <class S>
GARRA_HD Quaternion<S> normalized(const Quaternion<S>& p) {
  return (S(1) / sqrt(dot(p, p))) * p;
}

/// The inverse rotation, for a unit quaternion.
template <class S>
GARRA_HD Quaternion<S> conjugate(const Quaternion<S>& p) {
  return {{p[0], -p[1], -p[2], -p[3]}};
}

/// The quaternion product a o b: first b, then a.
template <class S>
GARRA_HD Quaternion<S> product(const Quaternion<S>& a, const Quaternion<S>& b) {
  return {{fnma(a[3], b[3], fnma(a[2], b[2], fnma(a[1], b[1], a[0] * b[0]))),
           fnma(a[3], b[2], fma(a[2], b[3], fma(a[1], b[0], a[0] * b[1]))),
           fnma(a[1], b[3], fma(a[3], b[1], fma(a[2], b[0], a[0] * b[2]))),
           fnma(a[2], b[1], fma(a[1], b[2], fma(a[3], b[0], a[0] * b[3])))}};
}

/// p turned by the rotation vector `turn` in fixed axes: (1, turn / 2 (1 + |turn|^2 / 12)) o p,
/// normalized. No trigonometry: the error of the angle is |turn|^5 / 120.
template <class S>
GARRA_HD Quaternion<S> turned(const Quaternion<S>& p, const Vec3<S>& turn) {
  const S half = fma(S(1.0 / 24), dot(turn, turn), S(0.5));
  return normalized(product<S>({{S(1), half * turn[0], half * turn[1], half * turn[2]}}, p));
}

/// Euler parameters of a rotation given by its columns: the largest of four candidates, no branch.
template <class S>
GARRA_HD Quaternion<S> to_quaternion(const Vec3<S>& x, const Vec3<S>& y, const Vec3<S>& z) {
  const S one(1);
  const S a = one + x[0] + y[1] + z[2], b = one + x[0] - y[1] - z[2];
  const S c = one - x[0] + y[1] - z[2], d = one - x[0] - y[1] + z[2];
  const S yz = y[2] - z[1], zx = z[0] - x[2], xy = x[1] - y[0];
  Quaternion<S> p{{a, yz, zx, xy}};
  S most = a;
  const auto take = [&](const S& size, const Quaternion<S>& other) {
    const MaskOf<S> better = most < size;
    for (int k = 0; k < 4; ++k) p[k] = select(better, other[k], p[k]);
    most = select(better, size, most);
  };
  take(b, {{yz, b, x[1] + y[0], z[0] + x[2]}});
  take(c, {{zx, x[1] + y[0], c, y[2] + z[1]}});
  take(d, {{xy, z[0] + x[2], y[2] + z[1], d}});
  return normalized(p);
}

}  // namespace garra
