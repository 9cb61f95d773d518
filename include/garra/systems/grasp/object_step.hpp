// The object's part of a time step (docs/theory/grasp-time.md): its load, its contact with the
// fingertips, and its motion under the contact forces.
#pragma once

#include "garra/systems/grasp/assemble.hpp"
#include "garra/systems/grasp/finger_step.hpp"
#include "garra/systems/grasp/metrics.hpp"

namespace garra::grasp {

/// State of the object between two steps. Members are S.
template <class S>
struct ObjectMotion {
  Vec3<S> p;           ///< center of mass [m], P axes
  Quaternion<S> turn;  ///< object to P axes
  Vec3<S> v, w;        ///< [m/s, rad/s], P axes
  Vec3<S> first;       ///< p at time 0
  Quaternion<S> first_turn;
  S turned;          ///< angle turned since [rad], counted beyond half a turn
  S whole_turns;     ///< whole turns in `turned` [rad]
  S mass;            ///< [kg]
  Vec3<S> moments;   ///< principal moments of inertia [kg m^2]
  Vec<S, 6> wrench;  ///< constant wrench on the sample (force; torque about the center of mass)
  S alone;           ///< time since anything pressed on it [s]
  S running;         ///< 0: ended
};

/// Orientation relative to `first`: the angle between them, 0 ... pi, and its rate.
template <class S>
struct TurnFrom {
  S angle, rate;
};
template <class S>
GARRA_HD TurnFrom<S> turn_from(const Quaternion<S>& first, const Quaternion<S>& turn, const Vec3<S>& w) {
  const Quaternion<S> e = product(turn, conjugate(first));
  const S sine = sqrt(fma(e[1], e[1], fma(e[2], e[2], e[3] * e[3])));
  const S along = fma(e[1], w[0], fma(e[2], w[1], e[3] * w[2])) / select(sine > S(0), sine, S(1));
  return {S(2) * asin(min(sine, S(1))), select(e[0] < S(0), -along, along)};
}

/// Updates the angle turned, counted beyond half a turn: of all 2 pi k +- angle the one that fits the rates at both
/// ends of the step best. `before`: `turned` there; steps are short of a quarter turn.
template <class S>
GARRA_HD void count_turn(const ObjectMotion<S>& before, double step, ObjectMotion<S>& now) {
  constexpr double kTurn = 6.283185307179586;
  const TurnFrom<S> was = turn_from(before.first_turn, before.turn, before.w);
  const S whole = before.whole_turns;
  const S sense = select(before.turned - whole <= S(0.5 * kTurn), S(1), S(-1));  // past half a turn the angle falls
  const S rate = select(was.angle > S(0), sense * was.rate, norm(before.w));
  const TurnFrom<S> is = turn_from(now.first_turn, now.turn, now.w);
  S nearest = S(kInfinity), turned = is.angle;
  for (int k = -1; k <= 1; ++k)
    for (const double sign : {1.0, -1.0}) {
      const S one = fma(S(sign), is.angle, whole + S(k * kTurn)), rate_now = S(sign) * is.rate;
      // By the mean of the rates; a rate that turns over near half a turn is that of another sheet.
      const S expected = fma(S(0.5 * step), rate + rate_now, before.turned);
      const S off = fma(S(step), abs(rate_now - rate), abs(one - expected));
      const auto nearer = one >= S(0) && off < nearest;
      nearest = select(nearer, off, nearest);
      turned = select(nearer, one, turned);
    }
  now.turned = turned;
  now.whole_turns = whole + select(turned >= whole + S(kTurn), S(kTurn), select(turned < whole, S(-kTurn), S(0)));
}

/// An object is not held at the end of a simulation if nothing has pressed on it for this time [s], or from time 0.
inline constexpr double kAlone = 0.02;
template <class S>
GARRA_HD void count_alone(const MaskOf<S>& pressed, double step, ObjectMotion<S>& now) {
  now.alone = select(pressed, S(0), now.alone + S(step));
}
template <class S>
GARRA_HD MaskOf<S> is_left_alone(const ObjectMotion<S>& x, double time, double step, double duration) {
  const double least = min(kAlone, duration) - 0.5 * step;
  return MaskOf<S>(time > duration - 0.5 * step) && x.alone > S(least);
}

/// Slip velocity of a sliding contact [m/s]; affects only outcomes and the explicit step.
inline constexpr double kSlipSpeed = 1e-6;
/// A gap beyond the travel of two steps plus this [m] excludes a contact from the step's problem.
inline constexpr double kFarGap = 1e-4;
inline constexpr double kTouchingGap = 1e-6;  ///< [m]

/// The object for the contact problem: the step's configuration, velocities of its start.
template <class S>
GARRA_HD Body<S> body_at(const ObjectMotion<S>& x, const Vec3<S>& p, const Quaternion<S>& turn) {
  Mat3<S> I = Mat3<S>::zero(), inverse = Mat3<S>::zero();
  for (int i = 0; i < 3; ++i) {
    I(i, i) = x.moments[i];
    inverse(i, i) = S(1) / x.moments[i];
  }
  const Mat3<S> R = rotation_matrix(turn);
  return {x.mass, rotate_symmetric(R, I), rotate_symmetric(R, inverse), p, x.v, x.w};
}

/// Load without contact forces: (force; torque about the center of mass with gyroscopic term).
template <class S>
GARRA_HD Vec<S, 6> load_on(const Body<S>& body, const Vec3<S>& gravity, const Vec<S, 6>& wrench) {
  const Vec3<S> gyroscopic = cross(body.omega, body.inertia * body.omega);
  Vec<S, 6> load;
  for (int i = 0; i < 3; ++i) {
    load[i] = fma(body.mass, gravity[i], wrench[i]);
    load[i + 3] = wrench[i + 3] - gyroscopic[i];
  }
  return load;
}

/// Velocity of the object relative to a fingertip touching it, contact axes.
template <class S>
GARRA_HD Vec3<S> relative_velocity(const Body<S>& body, const FingerStep<S>& f) {
  const Vec3<S> v = body.v + cross(body.omega, f.tip - body.p_cm);
  return transpose_times(f.E, v) - f.before;
}

template <class S>
GARRA_HD ContactTerms<S> contact_terms(const FingerStep<S>& f) {
  return {{f.tip, f.E}, f.A, {}, f.bias, f.E * f.before, f.curvature};
}

/// Rules of a time-stepping scheme; shared by all samples.
struct StepRules {
  bool explicit_step;  ///< the papers' Algorithm 1
  double step;         ///< [s]
  double restitution;
  double baumgarte;
};

/// Terms of a contact's normal row beside the free velocity [m/s^2]. A gap may close within the
/// step, a penetration is reduced by a share (J. Baumgarte), an impact bounces. A contact that
/// slides on a round or turning object follows it: a straight step would leave it by half of the
/// gap's acceleration (velocity_term). `before`: relative velocity at the start, contact axes.
template <class S>
GARRA_HD S stabilization(const StepRules& rules, const Body<S>& body, const FingerStep<S>& f, const Vec3<S>& before) {
  const double rate = 1 / rules.step;
  const S approach = before[0];
  if (rules.explicit_step) {
    const S a = S(rules.baumgarte * rate);
    return fma(a + a, approach, a * a * f.gap);
  }
  const S share = select(f.gap > S(0), S(rate * rate), S(rules.baumgarte * rate * rate));
  const S back = share * f.gap, bounce = S(rules.restitution * rate) * min(approach, S(0));
  // A penetration takes the larger term, not the sum: impacts are detected up to one step late.
  const S round = S(0.5) * velocity_term(body, contact_terms(f))[0];
  return round + select(f.gap > S(0), back + bounce, min(back, bounce));
}

/// Whether a contact can carry force in this step. Bouncing contacts must have met, to rounding and drift.
template <class S>
GARRA_HD MaskOf<S> within_reach(const StepRules& rules, const S& gap, const S& free) {
  if (rules.restitution > 0) return gap <= S(kTouchingGap);
  return gap <= fma(S(2 * rules.step), abs(free), S(kFarGap));
}

/// Force and torque about the center of mass of all contact forces.
template <class S, int N>
GARRA_HD Vec<S, 6> contact_wrench(const Body<S>& body, const FingerStep<S> (&fingers)[kCapacity<N>],
                                  const Vec<S, 3 * N>& c) {
  Vec3<S> force = Vec3<S>::zero(), torque = Vec3<S>::zero();
  for (int j = 0; j < extent<N>(); ++j) {
    const Vec3<S> f = fingers[j].E * vec3(c[3 * j], c[3 * j + 1], c[3 * j + 2]);
    force += f;
    torque += cross(fingers[j].tip - body.p_cm, f);
  }
  return {{force[0], force[1], force[2], torque[0], torque[1], torque[2]}};
}

/// Ends a step of the object under the load and the contact forces: velocities first, then the
/// displacement at their mean.
template <class S>
GARRA_HD void end_step(const StepRules& rules, const Body<S>& body, const Vec<S, 6>& load, const Vec<S, 6>& contact,
                       ObjectMotion<S>& x) {
  const auto on = x.running > S(0);
  const S dt = S(rules.step), half = S(0.5) * dt, per_mass = dt / x.mass;
  Vec3<S> v, torque;
  for (int i = 0; i < 3; ++i) {
    v[i] = fma(per_mass, load[i] + contact[i], x.v[i]);
    torque[i] = load[i + 3] + contact[i + 3];
  }
  const Vec3<S> w = axpy(dt, body.inverse_inertia * torque, x.w);
  // body is where half a step with the old velocities leads (explicit: at the step's start).
  const Vec3<S> p = axpy(half, x.v + v, x.p);
  const Quaternion<S> turn = turned(turned(x.turn, half * x.w), half * w);
  x.p = select(on, p, x.p);
  x.turn = select(on, turn, x.turn);
  x.v = select(on, v, x.v);
  x.w = select(on, w, x.w);
}

}  // namespace garra::grasp
