// Motion of the platform under actuator forces, in six coordinates: one step of an explicit
// Runge-Kutta method, and the events that end a motion (docs/theory/platform-dynamics.md,
// "Simulation").
#pragma once

#include "garra/systems/platform/dynamics.hpp"
#include "garra/systems/platform/force_law.hpp"
#include "garra/systems/platform/limits.hpp"
#include "garra/systems/platform/runge_kutta8.hpp"

namespace garra::platform {

inline constexpr int kMotionNumbers = 14;

/// State of a motion. All members are S, so that a step adds them as one vector.
template <class S>
struct Moving {
  Place<S> place;
  Twist6<S> twist;
  S work;  ///< of actuators, friction and external wrench since the start [J]: of the method's order, so that the
           ///< energy balance is, too
};
template <class S>
using MovingVector = Vec<S, kMotionNumbers>;

template <class S>
GARRA_HD MovingVector<S> to_vector(const Moving<S>& a) {
  const Vec3<S>&r = a.place.r, &v = a.twist.v, &w = a.twist.w;
  const Quaternion<S>& p = a.place.p;
  return {{r[0], r[1], r[2], p[0], p[1], p[2], p[3], v[0], v[1], v[2], w[0], w[1], w[2], a.work}};
}
template <class S>
GARRA_HD Moving<S> to_moving(const MovingVector<S>& x) {
  return {{{{x[0], x[1], x[2]}}, {{x[3], x[4], x[5], x[6]}}}, {{{x[7], x[8], x[9]}}, {{x[10], x[11], x[12]}}}, x[13]};
}

/// Loads on a platform at some time. F is double if all samples share the friction, S if every sample has its own.
template <class S, class F = double>
struct Loads {
  Vec<S, 6> force;  ///< commanded [N]
  Wrench6<S> wrench;
  FrictionOf<F> friction;
};

template <class S, class T, class F>
GARRA_HD MovingVector<S> motion_rate(const Model<T>& m, const Loads<S, F>& loads, const Moving<S>& at) {
  const LowerBalance<S> b = lower_balance(m, at.place, at.twist);
  const Wrench6<S>& w = loads.wrench;
  const Vec<S, 6> twist = {{at.twist.v[0], at.twist.v[1], at.twist.v[2], at.twist.w[0], at.twist.w[1], at.twist.w[2]}};
  Vec<S, 6> push = {{w.force[0], w.force[1], w.force[2], w.moment[0], w.moment[1], w.moment[2]}};
  Vec<S, 6> force = loads.force;
  const FrictionOf<F>& friction = loads.friction;
  if (any(friction.viscous > F(0)) || any(friction.coulomb > F(0))) {
    for (int i = 0; i < kLegs; ++i) {
      const S rate = dot(b.row[i], twist);
      force[i] -= actuator_friction(rate, S(friction.viscous), S(friction.coulomb), S(friction.speed));
    }
  }
  for_each_index<kLegs>([&](auto i) { push = axpy(force[i], b.row[i], push); });
  const Vec<S, 6> a = solve(factor_ldlt(b.balance.mass), push - b.balance.bias);
  return to_vector<S>({{at.twist.v, quaternion_rate(at.place.p, at.twist.w)},
                       {{{a[0], a[1], a[2]}}, {{a[3], a[4], a[5]}}},
                       dot(push, twist)});
}

/// Not inlined, so that a method's stages share one machine code.
template <class S, class T, class F>
GARRA_HD_CALL void rate_into(const Model<T>& m, const Loads<S, F>& loads, const MovingVector<S>& at,
                             MovingVector<S>& to) {
  to = motion_rate(m, loads, to_moving(at));
}

/// A step of h from `start`, where the share `share` of the span of forces has passed; it grows by
/// `share_of_step`. The quaternion is not normalized: its rate keeps any length.
struct StepOf {
  double h, share, share_of_step;
};
template <class S, class T, class F>
GARRA_HD MovingVector<S> runge_kutta_step(const Stages& method, const Model<T>& m, Loads<S, F>& loads,
                                          const ForceSpan<S>& span, const StepOf& step, const MovingVector<S>& start) {
  MovingVector<S> k[kMaxStages], out = start;
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
  for (int s = 0; s < method.count; ++s) {
    MovingVector<S> at = start;
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (int j = 0; j < s; ++j)
      if (method.a[s][j] != 0) at = axpy(S(method.a[s][j] * step.h), k[j], at);
    loads.force = force_at(span, fma(method.c[s], step.share_of_step, step.share));
    rate_into(m, loads, at, k[s]);
    if (method.b[s] != 0) out = axpy(S(method.b[s] * step.h), k[s], out);
  }
  return out;
}

template <class S>
GARRA_HD MaskOf<S> is_finite_motion(const MovingVector<S>& x) {
  S sum = S(0);
  for (int k = 0; k < kMotionNumbers; ++k) sum = sum + (x[k] - x[k]);
  return sum == S(0);
}

/// Normalizes the quaternion at a step's end. Returns | |p| - 1 | from before.
template <class S>
GARRA_HD S normalize_motion(MovingVector<S>& x) {
  const S size = sqrt(fma(x[3], x[3], fma(x[4], x[4], fma(x[5], x[5], x[6] * x[6]))));
  for (int k = 3; k < 7; ++k) x[k] = x[k] / size;
  return abs(size - S(1));
}

/// Worst margins of the joints at a pose: negative beyond a limit.
template <class S>
struct JointMargins {
  S stroke, cone, clearance;
};
template <class S>
GARRA_HD void margins_into(const Model<S>& m, const Limits<S>& limits, const Place<S>& place, JointMargins<S>& to) {
  const LimitMargins<S> margins = limit_margins(limits, m, place);
  to.stroke = margins.stroke[0];
  to.cone = min(margins.universal[0], margins.spherical[0]);
  for (int i = 1; i < kLegs; ++i) {
    to.stroke = min(to.stroke, margins.stroke[i]);
    to.cone = min(to.cone, min(margins.universal[i], margins.spherical[i]));
  }
  to.clearance = select(limits.clearance > S(0), margins.clearance, S(1));
}

/// Limit of the length Jacobian's sigma_min, with turns converted to lengths by `length`.
struct SingularityRule {
  double limit, length;  ///< [-], [m]
};
template <class S>
struct Regularity {
  S sigma_min;    ///< exact near the limit; above it a lower bound
  S determinant;  ///< a change of sign shows a singular pose on the way
};

/// sigma_min >= |det| / (product of the others) >= |det| / (F^2 / 5)^(5/2), F the Frobenius norm: singular values are
/// computed only where this does not suffice.
template <class S>
GARRA_HD void regularity_into(const Model<S>& m, const SingularityRule& rule, const Place<S>& place,
                              Regularity<S>& to) {
  Mat<S, 6, 6> J = length_jacobian(legs_at(m, place));
  for (int i = 0; i < kLegs; ++i)
    for (int k = 3; k < 6; ++k) J(i, k) = S(1 / rule.length) * J(i, k);
  S squares = S(0);
  for (int k = 0; k < 36; ++k) squares = fma(J[k], J[k], squares);
  const S mean = S(0.2) * squares;
  to.determinant = determinant(factor_lu(J));
  to.sigma_min = abs(to.determinant) / (mean * mean * sqrt(mean));
  const auto open = to.sigma_min <= S(2 * rule.limit);
  if (any(open)) to.sigma_min = select(open, sigma_min(J, S(1)), to.sigma_min);
}

template <class S>
struct Energies {
  S kinetic, potential;
  Vec<S, 6> lengths;
};
template <class S>
GARRA_HD_CALL void energies_into(const Model<S>& m, const Moving<S>& at, Energies<S>& to) {
  const Energy<S> e = energy(m, at.place, at.twist);
  const Legs<S> legs = legs_at(m, at.place);
  to.kinetic = e.kinetic;
  to.potential = e.potential;
  for (int i = 0; i < kLegs; ++i) to.lengths[i] = legs.leg[i].length;
}

}  // namespace garra::platform
