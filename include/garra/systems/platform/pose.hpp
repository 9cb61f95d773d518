// Poses of the platform: position and Euler parameters (scalar part first), and their increments.
#pragma once

#include "garra/math/quaternion.hpp"

namespace garra::platform {

using garra::conjugate;
using garra::normalized;
using garra::product;
using garra::Quaternion;
using garra::rotation_matrix;
using garra::rotation_of_any;

/// Pose of the platform: its center of mass C in the base frame, and the Euler parameters of A,
/// which maps platform to base axes.
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

/// (1, turn / 2) o p: retract() without normalization.
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
GARRA_HD Quaternion<S> quaternion_rate(const Quaternion<S>& p, const Vec3<S>& w) {
  const S half(0.5);
  return product<S>({{S(0), half * w[0], half * w[1], half * w[2]}}, p);
}

}  // namespace garra::platform
