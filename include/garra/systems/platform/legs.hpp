// Inverse kinematics of one leg: its vector, length, frame, and their rates
// (docs/theory/platform.md; the paper's (1)-(4)).
#pragma once

#include "garra/systems/platform/model.hpp"
#include "garra/systems/platform/pose.hpp"

namespace garra::platform {

/// A leg of one pose.
template <class S>
struct LegVector {
  Vec3<S> lever;  ///< A s: from C to the spherical joint, base axes [m]
  Vec3<S> d;      ///< from the universal to the spherical joint, base axes [m]
  S length;       ///< |d| [m]
  S inverse;      ///< 1 / |d|
  Vec3<S> z;      ///< d / |d|
};

/// Computes (1) and (2).
template <class S, class T>
GARRA_HD LegVector<S> leg_vector(const LegForm<T>& leg, const Vec3<S>& r, const Mat3<S>& A) {
  LegVector<S> l;
  l.lever = A * cast<S>(leg.anchor);
  l.d = l.lever + (r - cast<S>(leg.base));
  l.length = sqrt(dot(l.d, l.d));
  l.inverse = S(1) / l.length;
  l.z = l.inverse * l.d;
  return l;
}

/// |d|^2 alone, in fewer operations [m^2].
template <class S, class T>
GARRA_HD S leg_square(const LegForm<T>& leg, const Vec3<S>& r, const Mat3<S>& A) {
  const Vec3<S> anchor = cast<S>(leg.anchor);
  Vec3<S> d = r - cast<S>(leg.base);
  for_each_index<3>([&](auto k) { d = axpy(anchor[k], column(A, k), d); });
  return dot(d, d);
}

/// The leg's frame: z along the leg, x = z x k / |z x k|, y = z x x (the paper's (2)-(4)), so that
/// k.x = 0. If the leg is parallel to k the universal joint is singular and the frame NaN.
template <class S>
struct LegFrame {
  Vec3<S> x, y, z;
  S ky, kz;  ///< k.y (never positive by this choice: -|z x k|) and k.z
};

template <class S>
GARRA_HD LegFrame<S> leg_frame(const Vec3<S>& k, const Vec3<S>& z) {
  const Vec3<S> normal = cross(z, k);
  const S size = sqrt(dot(normal, normal));
  LegFrame<S> f;
  f.x = (S(1) / size) * normal;
  f.z = z;
  f.y = cross(z, f.x);
  f.ky = -size;
  f.kz = dot(k, z);
  return f;
}

/// d|d|/dt = z.v + (lever x z).w: a row of the length Jacobian.
template <class S>
GARRA_HD Vec<S, 6> length_row(const LegVector<S>& l) {
  const Vec3<S> turn = cross(l.lever, l.z);
  return {{l.z[0], l.z[1], l.z[2], turn[0], turn[1], turn[2]}};
}

/// Velocity of the spherical joint.
template <class S>
GARRA_HD Vec3<S> joint_velocity(const LegVector<S>& l, const Twist6<S>& t) {
  return t.v + cross(t.w, l.lever);
}

/// Its acceleration, for the platform's acceleration `a` (dv/dt, dw/dt).
template <class S>
GARRA_HD Vec3<S> joint_acceleration(const LegVector<S>& l, const Twist6<S>& t, const Twist6<S>& a) {
  return a.v + (cross(a.w, l.lever) + cross(t.w, cross(t.w, l.lever)));
}

}  // namespace garra::platform
