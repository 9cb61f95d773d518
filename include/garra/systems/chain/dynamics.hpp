// Joint-space inertia, gravity, Coriolis and inverse dynamics of a chain (docs/chain.md). All quantities are taken in
// base axes about the base origin, so that links add up without changes of frame.
#pragma once

#include "garra/systems/chain/kinematics.hpp"

namespace garra::chain {

/// Inertia of link i about the base origin.
template <class S>
GARRA_HD SpatialInertia<S> link_inertia(const Link& link, const Pose<S>& frame) {
  const S m = S(link.mass);
  const Vec3<S> c = frame.R * cast<S>(link.com) + frame.p;
  SpatialInertia<S> out;
  out.mass = m;
  out.first = m * c;
  out.second = rotate_symmetric(frame.R, cast<S>(link.inertia));
  const S cc = dot(out.first, c);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) out.second(i, j) = fma(-out.first[i], c[j], out.second(i, j));
  for (int i = 0; i < 3; ++i) out.second(i, i) += cc;
  return out;
}

/// H(q) [kg m^2, with armature on the diagonal] and the holding torque against gravity g(q) [N m], by composite
/// rigid bodies: tau = H qdd + C qd + g.
template <class S, int J>
struct InertiaAndGravity {
  Mat<S, J, J> H;
  Vec<S, J> g;
};
template <class S, int J>
GARRA_HD_CALL InertiaAndGravity<S, J> inertia_and_gravity(const Chain& chain, const Kinematics<S, J>& k,
                                                     const Vec3<S>& gravity) {
  InertiaAndGravity<S, J> out;
  out.H = Mat<S, J, J>::zero();
  out.g = Vec<S, J>::zero();
  SpatialInertia<S> composite = SpatialInertia<S>::zero();
  for (int j = joint_count<J>(chain) - 1; j >= 0; --j) {
    composite += link_inertia(chain.link[j], k.link[j]);
    const Screw<S> momentum = composite * k.joint[j];
    for (int i = 0; i <= j; ++i) {
      out.H(i, j) = dot(k.joint[i], momentum);
      out.H(j, i) = out.H(i, j);
    }
    out.H(j, j) += S(chain.link[j].armature);
    out.g[j] = -(composite.mass * dot(gravity, k.joint[j].v) + dot(cross(composite.first, gravity), k.joint[j].w));
  }
  return out;
}

/// Motion of the chain at (q, qd) with qdd = 0, and the torque that it needs without gravity.
template <class S, int J>
struct VelocityTerms {
  Vec<S, J> h;           ///< C(q, qd) qd [N m]
  Screw<S> tip_twist;    ///< of the last link, about the base origin
  Screw<S> tip_rate;     ///< its spatial acceleration (Jdot qd), about the base origin
};

/// Recursive Newton-Euler: torques tau = H qdd + C qd + g for given accelerations; `gravity` may be zero.
template <class S, int J>
GARRA_HD_CALL Vec<S, J> inverse_dynamics(const Chain& chain, const Kinematics<S, J>& k, const Vec<S, J>& qd,
                                    const Vec<S, J>& qdd, const Vec3<S>& gravity, VelocityTerms<S, J>* terms = nullptr) {
  const int n = joint_count<J>(chain);
  Screw<S> force[J];
  Screw<S> V{Vec3<S>::zero(), Vec3<S>::zero()};
  Screw<S> A{Vec3<S>::zero(), -gravity};
  for (int i = 0; i < n; ++i) {
    const Screw<S> relative = qd[i] * k.joint[i];
    A = A + qdd[i] * k.joint[i] + cross(V, relative);
    V = V + relative;
    const SpatialInertia<S> body = link_inertia(chain.link[i], k.link[i]);
    force[i] = body * A + cross_dual(V, body * V);
  }
  Vec<S, J> tau = Vec<S, J>::zero();
  Screw<S> sum{Vec3<S>::zero(), Vec3<S>::zero()};
  for (int i = n - 1; i >= 0; --i) {
    sum = sum + force[i];
    tau[i] = fma(S(chain.link[i].armature), qdd[i], dot(k.joint[i], sum));
  }
  if (terms != nullptr) {
    terms->tip_twist = V;
    terms->tip_rate = A;
  }
  return tau;
}

/// Coriolis and centrifugal torques C(q, qd) qd with the tip's twist and its rate.
template <class S, int J>
GARRA_HD VelocityTerms<S, J> velocity_terms(const Chain& chain, const Kinematics<S, J>& k, const Vec<S, J>& qd) {
  VelocityTerms<S, J> terms;
  terms.h = inverse_dynamics(chain, k, qd, Vec<S, J>::zero(), Vec3<S>::zero(), &terms);
  return terms;
}

/// Acceleration of the point p of the last link at qdd = 0 (Jdot qd of that point) [m/s^2].
template <class S, int J>
GARRA_HD Vec3<S> point_bias_acceleration(const VelocityTerms<S, J>& t, const Vec3<S>& p) {
  const Vec3<S> velocity = t.tip_twist.v + cross(t.tip_twist.w, p);
  return t.tip_rate.v + cross(t.tip_rate.w, p) + cross(t.tip_twist.w, velocity);
}

}  // namespace garra::chain
