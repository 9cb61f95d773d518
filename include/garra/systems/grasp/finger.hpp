// What one finger contributes to a = A c + b: its block of A, and its part of b (docs/grasp-model.md, section 3).
#pragma once

#include "garra/systems/chain/dynamics.hpp"
#include "garra/systems/grasp/contact.hpp"

namespace garra::grasp {

/// A finger's motion and command. All in the finger's own joint space; J >= the chain's joints.
template <class S, int J>
struct FingerState {
  Vec<S, J> q, qd;  ///< [rad, rad/s]
  Vec<S, J> tau;    ///< joint torques [N m]
};

template <class S, int J>
struct FingerTerms {
  Mat<S, 3, J> Jc;      ///< contact Jacobian E^T J_v, rows (n, t, o) (papers' (42), erratum)
  Mat3<S> A;            ///< J_c M^-1 J_c^T [1/kg]
  Vec3<S> drift;        ///< J_c M^-1 (g + h - tau) [m/s^2]
  Vec3<S> bias;         ///< Jdot qd of the contact point, P axes [m/s^2]; zero at rest
  Vec3<S> velocity;     ///< of the contact point, P axes [m/s]; zero at rest
  Vec<S, J> gravity;    ///< holding torque g [N m]
  Vec<S, J> coriolis;   ///< h = C qd [N m]
  Mat<S, J, J> M;       ///< joint-space inertia
};

/// How a finger's torques come about: given, or by the grasp controller
/// tau = compensation (g + h) + J_v^T f (f in P axes).
template <class S, int J>
struct TorqueCommand {
  bool given;
  Vec<S, J> tau;
  S compensation;
  Vec3<S> force;
};

/// `moving` is uniform: without velocities the Coriolis and Jdot terms are skipped, being zero.
template <class S, int J>
GARRA_HD_CALL FingerTerms<S, J> finger_terms(const chain::Chain& chain, const Pose<double>& base, const ContactPlace<S>& at,
                                        const FingerState<S, J>& x, const TorqueCommand<S, J>& command,
                                        const Vec3<double>& gravity, bool moving) {
  FingerTerms<S, J> out;
  const int n = chain::joint_count<J>(chain);
  const Pose<S> to_base = inverse(cast_pose<S>(base));
  const Vec3<S> p = to_base.R * at.p + to_base.p;
  const Mat3<S> E = to_base.R * at.E;
  const auto kin = chain::forward_kinematics<S, J>(chain, x.q);
  const auto jac = chain::geometric_jacobian(chain, kin, p);
  const auto dyn = chain::inertia_and_gravity(chain, kin, to_base.R * cast<S>(gravity));
  out.M = dyn.H;
  out.gravity = dyn.g;
  out.coriolis = Vec<S, J>::zero();
  out.bias = out.velocity = Vec3<S>::zero();
  if (moving) {
    const auto terms = chain::velocity_terms(chain, kin, x.qd);
    out.coriolis = terms.h;
    out.bias = transpose_times(to_base.R, chain::point_bias_acceleration(terms, p));
    out.velocity = transpose_times(to_base.R, terms.tip_twist.v + cross(terms.tip_twist.w, p));
  }
  // One factorisation of M serves the block of A and the drift.
  const Vec3<S> f = to_base.R * command.force;
  Mat<S, J, 4> rhs = Mat<S, J, 4>::zero();
  out.Jc = Mat<S, 3, J>::zero();
  for (int i = 0; i < n; ++i) {
    const Vec3<S> v = vec3<S>(jac(0, i), jac(1, i), jac(2, i));
    for (int k = 0; k < 3; ++k) {
      out.Jc(k, i) = fma(E(0, k), v[0], fma(E(1, k), v[1], E(2, k) * v[2]));
      rhs(i, k) = out.Jc(k, i);
    }
    const S hold = out.gravity[i] + out.coriolis[i];
    rhs(i, 3) = command.given ? hold - command.tau[i] : fma(S(1) - command.compensation, hold, -dot(v, f));
  }
  if constexpr (J == chain::kMaxJoints)
    for (int i = n; i < J; ++i) out.M(i, i) = S(1);  // rows that no joint fills
  const Mat<S, J, 4> solved = solve(factor_ldlt(out.M), rhs);
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) {
      S sum = S(0);
      for (int i = 0; i < n; ++i) sum = fma(out.Jc(r, i), solved(i, c), sum);
      out.A(r, c) = sum;
    }
    S sum = S(0);
    for (int i = 0; i < n; ++i) sum = fma(out.Jc(r, i), solved(i, 3), sum);
    out.drift[r] = sum;
  }
  return out;
}

}  // namespace garra::grasp
