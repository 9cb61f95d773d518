// Poses, joint screws and the geometric Jacobian of a chain, in its base frame (docs/chain.md).
#pragma once

#include "garra/core/elementary.hpp"
#include "garra/systems/chain/chain.hpp"

namespace garra::chain {

/// Where everything is at one configuration. J is an exact joint count, or kMaxJoints for any.
template <class S, int J>
struct Kinematics {
  Pose<S> link[J];   ///< DH frame of each link in the base frame
  Screw<S> joint[J]; ///< unit twist of each joint about the base origin (axis; moment)
  Pose<S> tool;      ///< tool frame in the base frame
};

/// Rotates the columns of R: R Rz(theta) given cos and sin.
template <class S>
GARRA_HD void rotate_z(Mat3<S>& R, const S& c, const S& s) {
  for (int i = 0; i < 3; ++i) {
    const S x = R(i, 0), y = R(i, 1);
    R(i, 0) = fma(c, x, s * y);
    R(i, 1) = fma(c, y, -(s * x));
  }
}
/// R Rx(alpha).
template <class S>
GARRA_HD void rotate_x(Mat3<S>& R, double c, double s) {
  for (int i = 0; i < 3; ++i) {
    const S y = R(i, 1), z = R(i, 2);
    R(i, 1) = fma(S(c), y, S(s) * z);
    R(i, 2) = fma(S(c), z, -(S(s) * y));
  }
}

template <class S>
GARRA_HD Screw<S> joint_screw(const Pose<S>& frame, bool prismatic) {
  const Vec3<S> z = column(frame.R, 2);
  if (prismatic) return {Vec3<S>::zero(), z};
  return {z, cross(frame.p, z)};
}

/// Forward kinematics: all link frames, joint screws and the tool, from joint variables q [rad or m].
template <class S, int J>
GARRA_HD_CALL Kinematics<S, J> forward_kinematics(const Chain& chain, const Vec<S, J>& q) {
  Kinematics<S, J> k;
  Pose<S> x = Pose<S>::identity();
  const int n = joint_count<J>(chain);
  for (int i = 0; i < n; ++i) {
    const Link& l = chain.link[i];
    const S variable = q[i] + S(l.offset);
    const auto theta = sincos(l.prismatic ? S(l.offset) : variable);
    const S d = l.prismatic ? q[i] + S(l.d) : S(l.d);
    if (chain.modified) {
      x.p = axpy(S(l.a), column(x.R, 0), x.p);
      rotate_x(x.R, l.cos_alpha, l.sin_alpha);
      k.joint[i] = joint_screw(x, l.prismatic);
      x.p = axpy(d, column(x.R, 2), x.p);
      rotate_z(x.R, theta.cos, theta.sin);
    } else {
      k.joint[i] = joint_screw(x, l.prismatic);
      x.p = axpy(d, column(x.R, 2), x.p);
      rotate_z(x.R, theta.cos, theta.sin);
      x.p = axpy(S(l.a), column(x.R, 0), x.p);
      rotate_x(x.R, l.cos_alpha, l.sin_alpha);
    }
    k.link[i] = x;
  }
  k.tool = x * cast_pose<S>(chain.tool);
  return k;
}

/// Geometric Jacobian of the point `p` (base frame) fixed to the last link: rows 0-2 its velocity, rows 3-5 the
/// angular velocity, base axes. Columns beyond the chain's joints are zero.
template <class S, int J>
GARRA_HD Mat<S, 6, J> geometric_jacobian(const Chain& chain, const Kinematics<S, J>& k, const Vec3<S>& p) {
  Mat<S, 6, J> jac = Mat<S, 6, J>::zero();
  const int n = joint_count<J>(chain);
  for (int i = 0; i < n; ++i) {
    const Vec3<S> v = k.joint[i].v + cross(k.joint[i].w, p);
    for (int r = 0; r < 3; ++r) {
      jac(r, i) = v[r];
      jac(r + 3, i) = k.joint[i].w[r];
    }
  }
  return jac;
}

}  // namespace garra::chain
