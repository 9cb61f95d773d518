// A finger's part of a time step (docs/theory/grasp-time.md): its dynamics at the step's
// configuration, its torques, and its terms of the contact problem in impulses. J. J. Moreau,
// "Numerical aspects of the sweeping process", Comput. Methods Appl. Mech. Eng. 177, 1999; M. Jean,
// "The non-smooth contact dynamics method", same volume.
#pragma once

#include "garra/math/quaternion.hpp"
#include "garra/systems/grasp/finger.hpp"
#include "garra/systems/grasp/surface.hpp"

namespace garra::grasp {

/// State of a finger between two steps. Members are S.
template <class S, int J>
struct FingerMotion {
  Vec<S, J> q, qd;    ///< at the step's start [rad, rad/s]
  Vec<S, J> first;    ///< q at time 0
  Vec<S, J> free;     ///< qd after the step without contact forces
  Vec<S, J> driven;   ///< torque less gravity [N m], for the audit
  Vec<S, J> kept;     ///< the first step's command, if it is kept [N m]
  Vec<S, J> soft;     ///< 1 if the joint's spring and damper act, 0 if its torque is at the limit
  Mat<S, J, 3> give;  ///< M^-1 J_c^T: change of -qd per contact impulse (n, t, o)
  S kinetic;          ///< at the step's start [J]
  S work;             ///< of torques and gravity so far [J]
  S peak_torque;      ///< largest |tau| / limit so far
  S within;           ///< 1 while no joint has passed a limit
};

/// Input of a finger from the object's part of the step. Members are S.
template <class S>
struct FingerOrder {
  Vec3<S> p;           ///< object at the step's configuration: center of mass [m]
  Quaternion<S> turn;  ///< and orientation
  Vec3<S> gravity;     ///< apparent, in the finger's base [m/s^2]
  Vec3<S> force;       ///< commanded by the controller on the object [N], P axes
  S compensation;
  S running;  ///< 0: the trajectory has ended
};

/// Terms that a finger gives to the contact problem. Members are S.
template <class S>
struct FingerStep {
  Mat3<S> A;            ///< J_c M^-1 J_c^T
  Mat3<S> E;            ///< contact frame [n t o]
  Vec3<S> tip;          ///< fingertip [m]
  Vec3<S> free;         ///< velocity of the fingertip after the step without contact forces, contact axes [m/s]
  Vec3<S> before;       ///< at the step's start, contact axes
  Vec3<S> bias;         ///< Jdot qd, P axes [m/s^2] (the explicit step only)
  S gap;                ///< [m]
  Vec<S, 2> curvature;  ///< of the object along t and o [1/m]
  S kinetic, work;      ///< [J], of FingerMotion
  S peak_torque, within;
};

/// Data of a finger's drive that all samples share. Limits are infinite if there are none.
template <int J>
struct FingerDrive {
  bool given;                 ///< torques `tau` instead of the command
  bool kept;                  ///< those of FingerMotion::kept instead of the command
  bool limited;               ///< some torque limit is finite
  bool shaken;                ///< gravity differs from the controller's
  bool at_start;              ///< the explicit step: configuration of the step's start, with the bias
  double step;                ///< [s]
  double stiffness, damping;  ///< of each joint
  Vec<double, J> tau, torque_limit, lower, upper;
  Vec3<double> known_gravity;
};

/// tau before springs and dampers: given, kept, or gamma (g + h) + J_v^T f (controller's gravity).
template <chain::Joints K, class S, int J>
GARRA_HD Vec<S, J> commanded_torque(const FingerChain<J>& finger, const FingerDrive<J>& drive,
                                    const FingerOrder<S>& order, const chain::Angles<S, J>& angles,
                                    const Mat<S, 6, J>& jac, const Vec<S, J>& gravity, const Vec<S, J>& coriolis,
                                    const Vec<S, J>& kept) {
  if (drive.given) return cast<S>(drive.tau);
  if (drive.kept) return kept;
  const Vec<S, J> known =
      drive.shaken ? chain::gravity_torque<K>(finger.model, angles, cast<S>(drive.known_gravity)) : gravity;
  Vec<S, J> tau;
  for_each_index<J>([&](auto i) {
    const Vec3<S> v = vec3(jac(0, i), jac(1, i), jac(2, i));
    tau[i] = fma(order.compensation, known[i] + coriolis[i], dot(v, order.force));
  });
  return tau;
}

/// Clamps the torque to its limit; the spring and the damper of a clamped joint have no effect.
template <class S, int J>
GARRA_HD void keep_within_limits(const FingerDrive<J>& drive, const S& running, Vec<S, J>& tau, FingerMotion<S, J>& x) {
  for_each_index<J>([&](auto i) { x.soft[i] = S(1); });
  if (!drive.limited) return;
  for_each_index<J>([&](auto i) {
    const S limit = S(drive.torque_limit[i]);
    const S wanted = fnma(S(drive.damping), x.qd[i], fnma(S(drive.stiffness), x.q[i] - x.first[i], tau[i]));
    const auto beyond = abs(wanted) > limit;
    x.peak_torque = select(running > S(0), max(x.peak_torque, abs(wanted) / limit), x.peak_torque);
    tau[i] = select(beyond, max(min(wanted, limit), -limit), tau[i]);
    x.soft[i] = select(beyond, S(0), S(1));
  });
}

/// -K (q - q0 + dt rate) - D rate: torque of joint i's spring and damper at the end of a step that
/// ends with `rate`.
template <class S, int J>
GARRA_HD S spring_and_damper(const FingerDrive<J>& drive, const FingerMotion<S, J>& x, int i, const S& rate) {
  const S way = fma(S(drive.step), rate, x.q[i] - x.first[i]);
  return -(x.soft[i] * fma(S(drive.stiffness), way, S(drive.damping) * rate));
}

/// Begins a step. Springs and dampers are linearly implicit, so no gain is too stiff for the step.
/// They solve (M + dt D + dt^2 K) (qd' - qd) = dt (tau - g - h - K (q - q0 + dt qd) - D qd).
template <chain::Joints K = chain::Joints::kMixed, class S, int J>
GARRA_HD FingerStep<S> begin_step(const FingerChain<J>& finger, const FingerDrive<J>& drive, SurfaceKind kind,
                                  const LocalSurface<S>& surface, const FingerOrder<S>& order, FingerMotion<S, J>& x) {
  const chain::Model<double, J>& m = finger.model;
  const S dt = S(drive.step);
  const Vec<S, J> q = drive.at_start ? x.q : axpy(S(0.5) * dt, x.qd, x.q);
  const auto angles = chain::angles<K>(m, q);
  const auto frames = chain::frames<K>(m, angles);
  const auto jac = chain::jacobian<K>(m, frames, frames.tool.p, last_joint<K>(finger));
  const auto rest = chain::inertia_and_gravity<K>(m, angles, order.gravity);
  const Vec<S, J> coriolis = chain::coriolis_torque<K>(m, angles, x.qd);

  FingerStep<S> out;
  out.tip = frames.tool.p;
  const Mat3<S> R = rotation_matrix(order.turn);
  const Touch<S> at = touch(kind, surface, transpose_times(R, out.tip - order.p));
  out.E = R * at.E;
  out.gap = at.gap;
  out.curvature = {{surface.curvature_t, surface.curvature_o}};

  Vec<S, J> tau = commanded_torque<K>(finger, drive, order, angles, jac, rest.g, coriolis, x.kept);
  if (!drive.kept) x.kept = tau;
  keep_within_limits(drive, order.running, tau, x);
  Mat<S, J, J> M = rest.H;
  Mat<S, J, 4> rhs;
  for_each_index<J>([&](auto i) {
    const Vec3<S> along = transpose_times(out.E, vec3(jac(0, i), jac(1, i), jac(2, i)));
    for_each_index<3>([&](auto k) { rhs(i, k) = along[k]; });
    x.driven[i] = tau[i] - rest.g[i];
    const S soft = spring_and_damper(drive, x, i, x.qd[i]);
    rhs(i, 3) = dt * (x.driven[i] - coriolis[i] + soft);
    M(i, i) = fma(x.soft[i], S(drive.step * (drive.damping + drive.step * drive.stiffness)), M(i, i));
  });
  x.kinetic = S(0.5) * dot(x.qd, rest.H * x.qd);
  const Mat<S, J, 4> y = solve(factor_ldlt(M), rhs);

  out.A = Mat3<S>::zero();
  out.free = out.before = Vec3<S>::zero();
  for_each_index<J>([&](auto i) {
    x.free[i] = x.qd[i] + y(i, 3);
    for_each_index<3>([&](auto r) {
      x.give(i, r) = y(i, r);
      out.before[r] = fma(rhs(i, r), x.qd[i], out.before[r]);
      out.free[r] = fma(rhs(i, r), x.free[i], out.free[r]);
      for_each_index<3>([&](auto c) { out.A(r, c) = fma(rhs(i, r), y(i, c), out.A(r, c)); });
    });
  });
  // Rounding leaves A unsymmetric by a few eps; the solvers treat it as symmetric.
  out.A(1, 0) = out.A(0, 1);
  out.A(2, 0) = out.A(0, 2);
  out.A(2, 1) = out.A(1, 2);
  out.bias = drive.at_start ? chain::point_motion(jac, x.qd).acceleration : Vec3<S>::zero();
  out.kinetic = x.kinetic;
  out.work = x.work;
  out.peak_torque = x.peak_torque;
  out.within = x.within;
  return out;
}

/// Ends a step: applies the contact impulse (n, t, o) on the object. Work uses the mean velocity,
/// so that kinetic energy and work agree up to the change of M(q) in the step.
template <class S, int J>
GARRA_HD void end_step(const FingerDrive<J>& drive, const Vec3<S>& impulse, const S& running, FingerMotion<S, J>& x) {
  const auto on = running > S(0);
  const S dt = S(drive.step);
  S work = S(0), within = x.within;
  Vec<S, J> q, qd;
  for_each_index<J>([&](auto i) {
    qd[i] = x.free[i];
    for_each_index<3>([&](auto k) { qd[i] = fnma(x.give(i, k), impulse[k], qd[i]); });
    const S mean = S(0.5) * (x.qd[i] + qd[i]);
    work = fma(mean, x.driven[i] + spring_and_damper(drive, x, i, qd[i]), work);
    q[i] = fma(dt, mean, x.q[i]);
    within = select(q[i] >= S(drive.lower[i]) && q[i] <= S(drive.upper[i]), within, S(0));
  });
  x.work = select(on, fma(dt, work, x.work), x.work);
  x.within = select(on, within, x.within);
  x.q = select(on, q, x.q);
  x.qd = select(on, qd, x.qd);
}

}  // namespace garra::grasp
