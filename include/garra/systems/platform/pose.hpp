// Poses of the platform: position and Euler parameters, their rotation and their increments. Scalar part first.
#pragma once

#include "garra/core/mat.hpp"

namespace garra::platform {

template <class S>
using Quaternion = Vec<S, 4>;

/// Where the platform is: its center of mass C in the base frame, and the Euler parameters of A, which maps platform to
/// base axes.
template <class S>
struct Place {
  Vec3<S> r;        ///< [m]
  Quaternion<S> p;  ///< (e0, e1, e2, e3), |p| = 1
};

/// Velocity v of C and angular velocity w, both in base axes; or an acceleration.
template <class S>
struct Twist6 {
  Vec3<S> v;  ///< [m/s]
  Vec3<S> w;  ///< [rad/s]
};

/// A force at C and a moment, both in base axes.
template <class S>
struct Wrench6 {
  Vec3<S> force;   ///< [N]
  Vec3<S> moment;  ///< [N m]
};

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
GARRA_HD Mat3<S> rotation_of(const Quaternion<S>& p) {
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

/// The quaternion product a o b: first b, then a.
template <class S>
GARRA_HD Quaternion<S> product(const Quaternion<S>& a, const Quaternion<S>& b) {
  return {{fnma(a[3], b[3], fnma(a[2], b[2], fnma(a[1], b[1], a[0] * b[0]))),
           fnma(a[3], b[2], fma(a[2], b[3], fma(a[1], b[0], a[0] * b[1]))),
           fnma(a[1], b[3], fma(a[3], b[1], fma(a[2], b[0], a[0] * b[2]))),
           fnma(a[2], b[1], fma(a[1], b[2], fma(a[3], b[0], a[0] * b[3])))}};
}

/// (1, turn / 2) o p: retract() before its quaternion is made a unit one.
template <class S>
GARRA_HD Quaternion<S> turned_by(const Quaternion<S>& p, const Vec3<S>& turn) {
  const S half(0.5);
  return product<S>({{S(1), half * turn[0], half * turn[1], half * turn[2]}}, p);
}

/// p turned by the small rotation vector `turn` in base axes: normalized (1, turn / 2) o p. No trigonometry; to first
/// order the exponential map.
template <class S>
GARRA_HD Quaternion<S> retract(const Quaternion<S>& p, const Vec3<S>& turn) {
  return normalized(turned_by(p, turn));
}

/// dp/dt of a platform that turns at w (base axes): (0, w) o p / 2.
template <class S>
GARRA_HD Quaternion<S> rate_of(const Quaternion<S>& p, const Vec3<S>& w) {
  const S half(0.5);
  return product<S>({{S(0), half * w[0], half * w[1], half * w[2]}}, p);
}

}  // namespace garra::platform
