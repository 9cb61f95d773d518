// Spatial vectors about one fixed point: twists and wrenches, angular part first.
#pragma once

#include "garra/core/mat.hpp"

namespace garra {

/// Twist (w, v): angular velocity [rad/s] and the velocity [m/s] of the body point at the reference point.
/// Wrench (moment, force) and momentum (angular, linear) use the same pair, dual to it.
template <class S>
struct Screw {
  Vec3<S> w, v;
};

template <class S>
GARRA_HD Screw<S> operator+(const Screw<S>& a, const Screw<S>& b) {
  return {a.w + b.w, a.v + b.v};
}
template <class S>
GARRA_HD Screw<S> operator*(const S& s, const Screw<S>& a) {
  return {s * a.w, s * a.v};
}
/// Power of a wrench on a twist, or the pairing of a joint screw with a momentum.
template <class S>
GARRA_HD S dot(const Screw<S>& a, const Screw<S>& b) {
  return dot(a.w, b.w) + dot(a.v, b.v);
}
/// Lie product of twists.
template <class S>
GARRA_HD Screw<S> cross(const Screw<S>& a, const Screw<S>& b) {
  return {cross(a.w, b.w), cross(a.w, b.v) + cross(a.v, b.w)};
}

/// Inertia of a rigid body about the reference point: mass [kg], first moment m c [kg m], second
/// moment [kg m^2].
template <class S>
struct SpatialInertia {
  S mass;
  Vec3<S> first;
  Mat3<S> second;  ///< symmetric

  static GARRA_HD SpatialInertia zero() { return {S(0), Vec3<S>::zero(), Mat3<S>::zero()}; }
  GARRA_HD SpatialInertia& operator+=(const SpatialInertia& b) {
    mass += b.mass;
    first += b.first;
    second += b.second;
    return *this;
  }
  /// Momentum of the body moving with twist t.
  GARRA_HD Screw<S> operator*(const Screw<S>& t) const {
    return {second * t.w + cross(first, t.v), mass * t.v + cross(t.w, first)};
  }
};

}  // namespace garra
