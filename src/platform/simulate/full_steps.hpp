// The paper's hybrid simulation in 91 coordinates: Runge-Kutta steps of order 4 of q" from (8) with
// Baumgarte's terms. If the constraints drift too far, coordinate partitioning corrects them: the
// platform's pose and twist are the independent coordinates, and the links' follow by Newton's
// method on their constraints (docs/theory/platform-dynamics.md). The platform's columns never
// vanish from the independent ones: a leg's block is regular wherever its universal joint is.
#pragma once

#include "garra/platform_simulate.hpp"
#include "garra/systems/platform/full_dynamics.hpp"
#include "garra/systems/platform/simulate.hpp"

namespace garra::platform {

/// Constraint error that a correction aims at; Newton's steps end at rounding.
inline constexpr double kCorrected = 1e-13;
inline constexpr int kMaxCorrectionSteps = 6;
inline constexpr double kLost = 1e-12;  ///< a remaining error up to this is accepted, for any limit of the rule

struct HybridRule {
  Baumgarte keep;
  double correct_above;  ///< largest error of a constraint that is let be
};

/// State of a sample during the simulation. All members are S.
template <class S>
struct FullState {
  FullMotion<S> q;
  S work;  ///< of actuators, friction and wrench [J]
  S steps, corrections;
  S newton;              ///< Newton steps of all corrections
  S drift, worst_drift;  ///< largest error of a constraint at the last step's end, before a correction; of all steps
  S determinant;         ///< of the length Jacobian
  S status;              ///< MotionStatus: it moves while this is 0
};

/// visit(body of `to`, body of `from`) for all 13 bodies.
template <class S, class Visit>
GARRA_HD void for_bodies(FullPlace<S>& to, const FullPlace<S>& from, Visit&& visit) {
  visit(to.platform, from.platform);
  for (int i = 0; i < kLegs; ++i) {
    visit(to.lower[i], from.lower[i]);
    visit(to.upper[i], from.upper[i]);
  }
}

/// to += h rate, for all 91 coordinates.
template <class S>
GARRA_HD void add_scaled(const S& h, const FullPlace<S>& rate, FullPlace<S>& to) {
  for_bodies(to, rate, [&](Place<S>& at, const Place<S>& change) {
    at.r = axpy(h, change.r, at.r);
    at.p = axpy(h, change.p, at.p);
  });
}

/// Lane by lane: steps that some samples do not take must not touch them.
template <class S>
GARRA_HD void take_where(const MaskOf<S>& where, const FullPlace<S>& from, FullPlace<S>& to) {
  for_bodies(to, from, [&](Place<S>& at, const Place<S>& other) {
    at.r = select(where, other.r, at.r);
    at.p = select(where, other.p, at.p);
  });
}

/// Largest error of the 85 equations without the driving ones.
template <class S, class T>
GARRA_HD_CALL S constraint_error(const Model<T>& m, const FullPlace<S>& q) {
  Vec<S, 6> lengths;
  // With the lengths of the links the six driving equations hold: the joints and the norms remain.
  for (int i = 0; i < kLegs; ++i) lengths[i] = driven_length(m.leg[i], q, i);
  return full_residual(m, q, lengths);
}

/// Rates of the actuators' lengths.
template <class S>
GARRA_HD Vec<S, 6> length_rates(const FullMotion<S>& q) {
  const Vec3<S> up = matrix_column(Mat3<S>::identity(), 2);
  Vec<S, 6> rates;
  for (int i = 0; i < kLegs; ++i) {
    const Place<S>&l = q.at.lower[i], &l1 = q.rate.lower[i];
    // The derivative of z_l . (r_u - r_l), rows 72 + i in docs/theory/platform-dynamics.md.
    rates[i] = dot(turned(l.p, l1.p, up), q.at.upper[i].r - l.r) +
               dot(matrix_column(full_rotation(l.p), 2), q.rate.upper[i].r - l1.r);
  }
  return rates;
}

/// Newton's method for the links in the lanes `where`, to kCorrected; then their rates. Returns the
/// remaining error, and adds Newton's steps to `newton`.
template <class S, class T>
GARRA_HD_CALL S full_correct(const Model<T>& m, const MaskOf<S>& where, FullMotion<S>& q, S& newton) {
  FullMotion<S> to = q;
  const Place<S>&platform = q.at.platform, &rate = q.rate.platform;
  const Twist6<S> twist{rate.r, turning(platform.p, rate.p)};
  // The platform's pose is independent: only the error of its norm is taken out.
  to.at.platform.p = normalized(platform.p);
  S error = constraint_error(m, to.at);
  for (int k = 0; k < kMaxCorrectionSteps; ++k) {
    const MaskOf<S> going = where && error > S(kCorrected);
    if (!any(going)) break;
    newton = select(going, newton + S(1), newton);
    FullPlace<S> next = to.at;
    for (int i = 0; i < kLegs; ++i) {
      const Place<S>&lower = to.at.lower[i], &upper = to.at.upper[i];
      const LegBlock<S> e = leg_block(m.leg[i], lower, upper);
      const LegMove<S> move = leg_newton(m.leg[i], to.at.platform, lower, upper, S(0));
      const Vec<S, 6> w = solve(factor_lu(e.K), leg_right(e, move).angles);
      const LinkChanges<S> links = link_changes(e.ends, move, w, Vec3<S>::zero());
      next.lower[i] = changed(lower, links.lower);
      next.upper[i] = changed(upper, links.upper);
    }
    take_where<S>(going, next, to.at);
    error = constraint_error(m, to.at);
  }
  // Rates last: they follow from coordinates that meet the constraints, and from the platform's twist.
  to.rate = full_rate(m, to.at, twist);
  take_where<S>(where, to.at, q.at);
  take_where<S>(where, to.rate, q.rate);
  return error;
}

/// One Runge-Kutta step, without correction.
template <class S, class T>
GARRA_HD_CALL void full_step(const Model<T>& m, const Loads<S>& loads, const ForceSpan<S>& span, const StepOf& step,
                             const HybridRule& rule, FullState<S>& s) {
  // The classical method of order 4: stages at 0, h/2, h/2 and h.
  const double at_share[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  const FullMotion<S> start = s.q;
  FullMotion<S> at = start;
  for (int k = 0; k < 4; ++k) {
    const Vec<S, 6> rates = length_rates(at);
    Vec<S, 6> force = force_at(span, fma(at_share[k], step.share_of_step, step.share));
    const Friction& friction = loads.friction;
    if (friction.viscous > 0 || friction.coulomb > 0) {
      for (int i = 0; i < kLegs; ++i)
        force[i] -= actuator_friction(rates[i], S(friction.viscous), S(friction.coulomb), S(friction.speed));
    }
    const FullPlace<S> a =
        full_acceleration(m, at, force, loads.wrench, rule.keep, static_cast<Multipliers<S>*>(nullptr));
    // The work by the same weights: the balance is of the method's order (docs/theory/platform-dynamics.md,
    // "Simulation").
    const S h(weight[k] * step.h);
    const Place<S>& rate = at.rate.platform;
    const S power = dot(force, rates) + dot(loads.wrench.force, rate.r) +
                    dot(loads.wrench.moment, turning(at.at.platform.p, rate.p));
    s.work = fma(h, power, s.work);
    // Summed stage by stage: no stage is stored.
    add_scaled(h, at.rate, s.q.at);
    add_scaled(h, a, s.q.rate);
    if (k == 3) break;
    FullMotion<S> next = start;
    const S to(at_share[k + 1] * step.h);
    add_scaled(to, at.rate, next.at);
    add_scaled(to, a, next.rate);
    at = next;
  }
}

/// Conditions that end a sample.
struct HybridWatch {
  SingularityRule singularity;  ///< limit 0: not watched
  bool joints;
};

/// Ends the moving lanes of a mask with a status; the first of several counts.
template <class S>
GARRA_HD void end_where(const MaskOf<S>& where, MotionStatus status, FullState<S>& s) {
  s.status = select(where && s.status == S(0), S(static_cast<double>(status)), s.status);
}

template <class S, class T>
GARRA_HD_CALL void watch(const Model<T>& m, const Limits<S>& limits, const HybridWatch& rule, FullState<S>& s) {
  const S zero(0);
  // Margins are in six coordinates, with lanes throughout: one instance, whether the platform is shared or not.
  const Model<S> own = cast_model<S>(m);
  const Place<S> place{s.q.at.platform.r, normalized(s.q.at.platform.p)};
  if (rule.joints) {
    JointMargins<S> margins;
    margins_into(own, limits, place, margins);
    end_where<S>(margins.stroke < zero, MotionStatus::kStrokeLimit, s);
    end_where<S>(margins.cone < zero, MotionStatus::kConeLimit, s);
    end_where<S>(margins.clearance < zero, MotionStatus::kCollision, s);
  }
  // As MotionRun::mind_limits(): the two simulations end a motion by the same rules.
  if (rule.singularity.limit > 0) {
    Regularity<S> now;
    regularity_into(own, rule.singularity, place, now);
    // At the start the determinant before is 0, and no product with it is negative.
    const auto passed = now.determinant * s.determinant < zero;
    end_where<S>(now.sigma_min < S(rule.singularity.limit) || passed, MotionStatus::kSingular, s);
    s.determinant = now.determinant;
  }
}

/// One step with its correction, in the moving samples.
template <class S, class T>
GARRA_HD void hybrid_step(const Model<T>& m, const Limits<S>& limits, const Loads<S>& loads, const ForceSpan<S>& span,
                          const StepOf& step, const HybridRule& rule, const HybridWatch& ends, FullState<S>& s) {
  const auto moves = s.status == S(0);
  FullState<S> next = s;
  full_step(m, loads, span, step, rule, next);
  // Before the correction: drift then measures the step size.
  next.drift = constraint_error(m, next.q.at);
  next.worst_drift = max(next.drift, s.worst_drift);
  next.steps = s.steps + S(1);
  const auto wrong = moves && next.drift > S(rule.correct_above);
  if (any(wrong)) {
    const S left = full_correct(m, wrong, next.q, next.newton);
    next.corrections = select(wrong, s.corrections + S(1), s.corrections);
    end_where<S>(wrong && !(left <= S(rule.correct_above) || left <= S(kLost)), MotionStatus::kLostConstraints, next);
  }
  // x - x is 0 for finite x only. Drift is a largest value and may hide a NaN of one body, which the work shows.
  const S& of = next.work;
  end_where<S>(!(next.drift - next.drift == S(0)) || !(of - of == S(0)), MotionStatus::kNonFinite, next);
  watch(m, limits, ends, next);
  // Samples that have ended keep every number of their end.
  take_where<S>(moves, next.q.at, s.q.at);
  take_where<S>(moves, next.q.rate, s.q.rate);
  s.work = select(moves, next.work, s.work);
  s.steps = select(moves, next.steps, s.steps);
  s.corrections = select(moves, next.corrections, s.corrections);
  s.newton = select(moves, next.newton, s.newton);
  s.drift = select(moves, next.drift, s.drift);
  s.worst_drift = select(moves, next.worst_drift, s.worst_drift);
  s.determinant = select(moves, next.determinant, s.determinant);
  s.status = select(moves, next.status, s.status);
}

template <class S, class T>
GARRA_HD FullState<S> hybrid_start(const Model<T>& m, const Limits<S>& limits, const HybridWatch& ends,
                                   const Place<S>& place, const Twist6<S>& twist) {
  FullState<S> s;
  s.q.at = full_place(m, place);
  s.q.rate = full_rate(m, s.q.at, twist);
  s.work = s.steps = s.corrections = s.newton = s.worst_drift = s.determinant = s.status = S(0);
  s.drift = constraint_error(m, s.q.at);
  watch(m, limits, ends, s);
  return s;
}

}  // namespace garra::platform
