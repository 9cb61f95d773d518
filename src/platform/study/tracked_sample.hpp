// One sample of a platform study in forward dynamics: its machine under a controller that samples it periodically
// (docs/theory/platform-control.md). For scalars, lanes and GPU threads.
#pragma once

#include "garra/systems/platform/control.hpp"
#include "garra/systems/platform/simulate.hpp"
#include "platform/study/sample.hpp"

namespace garra::platform {

/// Data shared by all samples of a simulation.
struct TrackRules {
  Controller control;
  ControlModel nominal;
  Stages method;
  double start_force[kLegs];  ///< before the first sample arrives; of kForces: always [N]
  int periods;                ///< of the controller between two instants
};

/// A motion under control.
template <class S>
struct Tracked {
  MovingVector<S> x;               ///< of C of the sample's machine
  Vec<S, 6> sum;                   ///< see control_forces()
  Vec<S, 6> queue[kMaxDelay + 1];  ///< forces on their way, the next first
  Vec<S, 6> force;                 ///< that act in this period
  S position_error, angle_error, squares, saturated, samples;
  WorstLeg<S> stroke;  ///< least margin of a leg's length since the last instant of the path
};

template <class S>
GARRA_HD PathPoint<S> cast_point(const PathPoint<double>& p) {
  return {{cast<S>(p.place.r), cast<S>(p.place.p)},
          {cast<S>(p.velocity.v), cast<S>(p.velocity.w)},
          {cast<S>(p.acceleration.v), cast<S>(p.acceleration.w)}};
}

/// Pose and velocity of the platform's own frame; no acceleration.
template <class S>
GARRA_HD PathPoint<S> own_motion(const StudyMachine<S>& s, const MovingVector<S>& x) {
  const Moving<S> at = to_moving(x);
  const Vec3<S> arm = rotation_matrix(at.place.p) * s.shift, zero = Vec3<S>::zero();
  return {{at.place.r - arm, at.place.p}, {at.twist.v - cross(at.twist.w, arm), at.twist.w}, {zero, zero}};
}

template <class S>
GARRA_HD Tracked<S> start_tracked(const TrackRules& t, const StudyMachine<S>& s, const PathPoint<S>& first) {
  Tracked<S> out;
  const PathPoint<S> at = moved_to_center(first, rotation_matrix(first.place.p) * s.shift);
  out.x = to_vector(Moving<S>{at.place, at.velocity, S(0)});
  for (int i = 0; i < kLegs; ++i) out.sum[i] = S(t.start_force[i]);
  out.force = limited(t.control, out.sum);
  for (int k = 0; k <= kMaxDelay; ++k) out.queue[k] = out.force;
  out.position_error = out.angle_error = out.squares = out.saturated = out.samples = S(0);
  out.stroke = {S(1e300), S(0)};
  return out;
}

/// The controller takes a sample; the forces of the period follow. Errors are of this sample.
template <class S>
GARRA_HD_CALL void sample_control(const TrackRules& t, const StudyMachine<S>& s, const PathPoint<S>& wanted,
                                  Tracked<S>& m) {
  const Moving<S> at = to_moving(m.x);
  const ControlSample<S> now{own_motion(s, m.x), leg_rates(s.model, at.place, at.twist)};
  m.queue[t.control.delay] = limited(t.control, control_forces(t.control, t.nominal, wanted, now, m.sum));
  m.force = m.queue[0];
  for (int k = 0; k < t.control.delay; ++k) m.queue[k] = m.queue[k + 1];
  const Vec3<S> off = wanted.place.r - now.own.place.r, turn = turn_error(wanted.place.p, now.own.place.p);
  const S square = dot(off, off);
  m.position_error = max(m.position_error, square);
  m.angle_error = max(m.angle_error, dot(turn, turn));
  m.squares = m.squares + square;
  m.samples = m.samples + S(1);
  Vec<S, 6> margin;
  for (int i = 0; i < kLegs; ++i)
    margin[i] = min(now.legs.length[i] - s.limits.length_min[i], s.limits.length_max[i] - now.legs.length[i]);
  const WorstLeg<S> worst = smallest(margin);
  m.stroke.leg = select(worst.value < m.stroke.value, worst.leg, m.stroke.leg);
  m.stroke.value = select(worst.value < m.stroke.value, worst.value, m.stroke.value);
  if (!(t.control.limit > 0)) return;
  for (int i = 0; i < kLegs; ++i) m.saturated = m.saturated + select(abs(m.force[i]) < S(t.control.limit), S(0), S(1));
}

/// One period under constant forces. The disturbance keeps the moment about C that it has at the beginning.
template <class S>
GARRA_HD_CALL void move_period(const StudyRules& rules, const TrackRules& t, const StudyMachine<S>& s, Tracked<S>& m) {
  const Vec3<S> arm = rotation_matrix(to_moving(m.x).place.p) * s.shift;
  Loads<S, S> loads{m.force,
                    {s.wrench.force, s.wrench.moment - cross(arm, s.wrench.force)},
                    {s.viscous, s.coulomb, S(rules.coulomb_speed)}};
  const ForceSpan<S> span{m.force, Vec<S, 6>::zero()};
  m.x = runge_kutta_step(t.method, s.model, loads, span, {t.control.period, 0.0, 0.0}, m.x);
  normalize_motion(m.x);
}

template <class S>
GARRA_HD_CALL StudyInstant<S> tracked_instant(const StudyRules& rules, const StudyMachine<S>& s, const Tracked<S>& m) {
  const Moving<S> at = to_moving(m.x);
  StudyInstant<S> out;
  const LegRates<S> legs = leg_rates(s.model, at.place, at.twist);
  out.length = legs.length;
  out.rate = legs.rate;
  out.force = m.force;
  out.margins = limit_margins(s.limits, s.model, at.place);
  out.sigma = sigma_min(length_jacobian(legs_at(s.model, at.place)), S(rules.characteristic_length));
  return out;
}

/// Takes over the errors so far.
template <class S>
GARRA_HD void measure_errors(const Tracked<S>& now, StudyMeasured<S>& m) {
  m.position_error = sqrt(now.position_error);
  // The chord of an angle, 2 sin(angle / 2).
  m.angle_error = S(2) * asin(min(S(1), S(0.5) * sqrt(now.angle_error)));
  m.rms_error = sqrt(now.squares / now.samples);
  m.saturated = now.saturated / (S(kLegs) * now.samples);
}

/// Moves a machine along the path. `points` holds the path at every sampling instant. `seen` gets each instant's
/// number, motion of the platform's own frame and quantities. A sample stands still from its first failure on.
template <class S, class Seen>
GARRA_HD StudyMeasured<S> track(const StudyRules& rules, const TrackRules& t, const StudyMachine<S>& machine,
                                const PathPoint<double>* points, const Seen& seen) {
  StudyMeasured<S> m = nothing_measured<S>();
  Tracked<S> now = start_tracked(t, machine, cast_point<S>(points[0]));
  for (int k = 0; k < rules.instants; ++k) {
    const MovingVector<S> here = now.x;
    const Vec<S, 6> before = now.force;
    const auto going = m.outcome == S(0);
    sample_control(t, machine, cast_point<S>(points[k * t.periods]), now);
    StudyMeasured<S> errors = m;
    measure_errors(now, errors);
    m.position_error = select(going, errors.position_error, m.position_error);
    m.angle_error = select(going, errors.angle_error, m.angle_error);
    m.rms_error = select(going, errors.rms_error, m.rms_error);
    m.saturated = select(going, errors.saturated, m.saturated);
    for (int i = 0; i < kLegs; ++i) now.force[i] = select(going, now.force[i], before[i]);
    const StudyInstant<S> at = tracked_instant(rules, machine, now);
    const auto ran_off = now.stroke.value < S(0) && going;
    m.outcome = select(ran_off, S(static_cast<int>(Outcome::kStroke)), m.outcome);
    m.instant = select(ran_off, S(k), m.instant);
    m.leg = select(ran_off, now.stroke.leg, m.leg);
    m.stroke = select(going, min(m.stroke, now.stroke.value), m.stroke);
    now.stroke = {S(1e300), S(0)};
    measure_instant(rules, at, k, m);
    // A motion that was finite at its start and no longer is has left all limits.
    const auto overflowed = S(k) > S(0) && m.outcome == S(static_cast<int>(Outcome::kInvalid)) && m.instant == S(k);
    m.outcome = select(overflowed, S(static_cast<int>(Outcome::kStroke)), m.outcome);
    seen(k, own_motion(machine, now.x), at, m);
    if (k + 1 == rules.instants) break;
    const Vec<S, 6> shown = now.force;
    for (int j = 1; j <= t.periods; ++j) {
      move_period(rules, t, machine, now);
      if (j < t.periods) sample_control(t, machine, cast_point<S>(points[k * t.periods + j]), now);
    }
    const auto on = m.outcome == S(0);
    for (int i = 0; i < kMotionNumbers; ++i) now.x[i] = select(on, now.x[i], here[i]);
    for (int i = 0; i < kLegs; ++i) now.force[i] = select(on, now.force[i], shown[i]);
  }
  return m;
}

/// As StudyKernel, in forward dynamics; `points` holds the path at every sampling instant.
struct TrackKernel {
  const StudyRules* rules;
  const TrackRules* track_rules;
  const PathPoint<double>* points;
  std::uint64_t first;
  double* measured;
  double* forces;  ///< or null

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto index = SampleIndex<S>::consecutive(first + static_cast<std::uint64_t>(i));
    const StudyMachine<S> machine = study_machine(*rules, draw_inputs<S>(*rules, index));
    const auto store = [&](int k, const PathPoint<S>&, const StudyInstant<S>& at, const StudyMeasured<S>&) {
      if (forces == nullptr) return;
      const std::int64_t tile = i / batch::kTile * rules->instants + k;
      batch::store<S, Vec<S, 6>>(forces + tile * kLegs * batch::kTile, i % batch::kTile, at.force);
    };
    batch::store<S, StudyMeasured<S>>(measured, i, track(*rules, *track_rules, machine, points, store));
  }
};

}  // namespace garra::platform
