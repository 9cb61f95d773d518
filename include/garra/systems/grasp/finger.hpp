// Terms of one finger in a = A c + b: its block of A, and its part of b
// (docs/theory/grasp-model.md, section 3).
#pragma once

#include "garra/core/factor.hpp"
#include "garra/systems/chain/followers.hpp"
#include "garra/systems/chain/kernels_inertia.hpp"
#include "garra/systems/grasp/contact.hpp"

namespace garra::grasp {

/// A finger on its base: its chain, whose world is the palm frame P, padded to J joints. Joints
/// from number `joints` on move only a rotor of 1 kg m^2 and stay at zero, without effect on
/// others.
template <int J>
struct FingerChain {
  chain::Model<double, J> model;
  int joints;
  chain::Followers followers;  ///< used only if J is chain::kMaxJoints
};

/// Number of the last joint that moves the fingertip. A chain of revolute joints only (kRevolute) is never padded.
template <chain::Joints K, int J>
GARRA_HD int last_joint(const FingerChain<J>& finger) {
  return K == chain::Joints::kRevolute ? J - 1 : finger.joints - 1;
}

/// A finger's motion. `moving` is uniform: without it the Coriolis and Jdot terms are skipped.
template <class S, int J>
struct FingerState {
  Vec<S, J> q, qd;  ///< [rad, rad/s]
  bool moving;
};

template <class S, int J>
struct FingerTerms {
  // Per rate of the joints that follow no other joint; followers have only a rotor of 1 kg m^2.
  Mat<S, 3, J> Jc;     ///< contact Jacobian E^T J_v, rows (n, t, o) (papers' (42), erratum)
  Mat3<S> A;           ///< J_c M^-1 J_c^T [1/kg]
  Vec3<S> drift;       ///< J_c M^-1 (g + h - tau) [m/s^2]
  Vec3<S> bias;        ///< Jdot qd of the contact point, P axes [m/s^2]; zero at rest
  Vec3<S> velocity;    ///< of the contact point, P axes [m/s]; zero at rest
  Vec<S, J> gravity;   ///< holding torque g [N m]
  Vec<S, J> coriolis;  ///< h = C qd [N m]
  Mat<S, J, J> M;      ///< joint-space inertia
  Vec<S, J> load;      ///< g + h - tau
  S asked;             ///< largest commanded torque over its limit; 0 without limits
};

/// Torques of a finger: given, or by the grasp controller tau = compensation (g + h) + J_v^T f (f
/// in P axes); in both cases a torque is clamped to its limit.
template <class S, int J>
struct TorqueCommand {
  bool given;
  Vec<S, J> tau;
  S compensation;
  Vec3<S> force;
  const double* limit = nullptr;  ///< of |tau| of each joint [N m or N]; null: none
};

/// A commanded torque, clamped to its limit.
template <class S>
GARRA_HD S within_limit(const S& tau, const S& limit, S& asked) {
  asked = max(asked, abs(tau) / limit);
  return max(min(tau, limit), -limit);
}

/// A and the drift by one factorization M = L D L^T: with Y = L^-1 (Jc^T | load) they are Y^T D^-1 Y.
template <class S, int J>
GARRA_HD void solve_finger(const Vec<S, J>& load, FingerTerms<S, J>& out) {
  Mat<S, J, 4> Y;
  for_each_index<J>([&](auto i) {
    for_each_index<3>([&](auto k) { Y(i, k) = out.Jc(k, i); });
    Y(i, 3) = load[i];
  });
  const auto factored = factor_ldlt(out.M);
  Y = solve_lower(factored, Y);
  out.A = Mat3<S>::zero();
  out.drift = Vec3<S>::zero();
  for_each_index<J>([&](auto i) {
    for_each_index<3>([&](auto r) {
      const S y = factored.inv_d[i] * Y(i, r);
      for_each_index<3>([&](auto c) {
        if (c <= r) out.A(r, c) = fma(y, Y(i, c), out.A(r, c));
      });
      out.drift[r] = fma(y, Y(i, 3), out.drift[r]);
    });
  });
  for_each_index<3>([&](auto r) {
    for_each_index<3>([&](auto c) {
      if (c > r) out.A(r, c) = out.A(c, r);
    });
  });
}

template <chain::Joints K = chain::Joints::kMixed, class S, int J>
GARRA_HD FingerTerms<S, J> finger_terms(const FingerChain<J>& finger, const ContactPlace<S>& at,
                                        const FingerState<S, J>& x, const TorqueCommand<S, J>& command) {
  const chain::Model<double, J>& m = finger.model;
  FingerTerms<S, J> out;
  const auto angles = chain::angles<K>(m, x.q);
  auto jac = chain::jacobian<K>(m, chain::frames<K>(m, angles), at.p, last_joint<K>(finger));
  const auto rest = chain::inertia_and_gravity<K>(m, angles);
  out.M = rest.H;
  out.gravity = rest.g;
  out.coriolis = Vec<S, J>::zero();
  out.bias = out.velocity = Vec3<S>::zero();
  if (x.moving) {
    out.coriolis = chain::coriolis_torque<K>(m, angles, x.qd);
    const auto motion = chain::point_motion(jac, x.qd);
    out.bias = motion.acceleration;
    out.velocity = motion.velocity;
  }
  chain::lead_columns(finger.followers, jac);
  chain::lead_inertia(finger.followers, out.M);
  chain::lead_torques(finger.followers, out.gravity);
  chain::lead_torques(finger.followers, out.coriolis);
  out.asked = S(0);
  for_each_index<J>([&](auto i) {
    const Vec3<S> v = vec3(jac(0, i), jac(1, i), jac(2, i));
    const Vec3<S> along = transpose_times(at.E, v);
    for_each_index<3>([&](auto k) { out.Jc(k, i) = along[k]; });
    const S hold = out.gravity[i] + out.coriolis[i];
    out.load[i] =
        command.given ? hold - command.tau[i] : fma(S(1) - command.compensation, hold, -dot(v, command.force));
    if (command.limit != nullptr) {
      const S tau = command.given ? command.tau[i] : fma(command.compensation, hold, dot(v, command.force));
      out.load[i] = hold - within_limit(tau, S(command.limit[i]), out.asked);
    }
  });
  solve_finger(out.load, out);
  return out;
}

}  // namespace garra::grasp
