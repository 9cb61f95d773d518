// Control of a platform along a path: forces of the actuators at sampling instants (docs/theory/platform-control.md).
#pragma once

#include "garra/core/names.hpp"
#include "garra/systems/platform/dynamics.hpp"

namespace garra::platform {

enum class ControlLaw {
  kForces,          ///< constant forces
  kFeedforward,     ///< inverse dynamics of the nominal machine along the path
  kComputedTorque,  ///< PD of the pose with inverse dynamics
  kGravity,         ///< PD of the lengths with the weight at the measured pose
  kLegs,            ///< each leg alone: PID of its length
};
[[nodiscard]] constexpr auto names_of(ControlLaw) {
  return names("forces", "feedforward", "computed_torque", "gravity", "legs");
}

inline constexpr int kMaxDelay = 8;  ///< [periods]

/// Gains are of the pose with computed torque [1/s^2, 1/s], else of a length [N/m, N s/m, N/(m s)].
struct Controller {
  ControlLaw law = ControlLaw::kComputedTorque;
  double stiffness = 0, damping = 0, integral = 0;
  double limit = 0;      ///< |force| <= this [N]; 0: any
  double period = 1e-3;  ///< between samples; forces are constant in between [s]
  int delay = 0;         ///< from a sample to its forces [periods], at most kMaxDelay
};

/// Pose and motion of a frame at one instant.
template <class S>
struct PathPoint {
  Place<S> place;
  Twist6<S> velocity, acceleration;
};

/// The same motion, of a point at `arm`: velocity and acceleration of a rigid body, base axes.
template <class S>
GARRA_HD PathPoint<S> moved_to_center(const PathPoint<S>& at, const Vec3<S>& arm) {
  const Vec3<S>&w = at.velocity.w, turning = cross(w, arm);
  return {{at.place.r + arm, at.place.p},
          {at.velocity.v + turning, w},
          {at.acceleration.v + (cross(at.acceleration.w, arm) + cross(w, turning)), at.acceleration.w}};
}

/// 2 sin(angle / 2) about the axis that takes the orientation p to `to` the shorter way, base axes: to second order the
/// rotation vector.
template <class S>
GARRA_HD Vec3<S> turn_error(const Quaternion<S>& to, const Quaternion<S>& p) {
  const Quaternion<S> d = product(to, conjugate(p));
  const S twice = select(d[0] < S(0), S(-2), S(2));
  return vec3<S>(twice * d[1], twice * d[2], twice * d[3]);
}

/// Machine that a controller calculates with.
struct ControlModel {
  Model<double> model;
  Vec3<double> shift;  ///< from the frame of the path to its C, platform axes
};

/// Lengths and their rates.
template <class S>
struct LegRates {
  Vec<S, 6> length, rate;
};
template <class S, class T>
GARRA_HD LegRates<S> leg_rates(const Model<T>& m, const Place<S>& place, const Twist6<S>& twist) {
  LegRates<S> out;
  const Mat3<S> A = rotation_matrix(place.p);
  for (int i = 0; i < kLegs; ++i) {
    const LegVector<S> at = leg_vector<S>(m.leg[i], place.r, A);
    out.length[i] = at.length;
    out.rate[i] = dot(at.z, joint_velocity(at, twist));
  }
  return out;
}

/// Forces of the nominal machine for a motion of the path's frame; at rest without `moving`.
template <class S>
GARRA_HD_CALL void nominal_forces_into(const ControlModel& of, const PathPoint<S>& own, Vec<S, 6>& to) {
  const Wrench6<S> none{Vec3<S>::zero(), Vec3<S>::zero()};
  const PathPoint<S> at = moved_to_center(own, rotation_matrix(own.place.p) * cast<S>(of.shift));
  to = inverse_dynamics(of.model, at.place, at.velocity, at.acceleration, none);
}

/// What a controller measures: pose and velocity of the path's frame, and the legs, all without error.
template <class S>
struct ControlSample {
  PathPoint<S> own;  ///< its acceleration is not read
  LegRates<S> legs;
};

/// Forces asked for at a sampling instant, (1)-(3) of the page. `sum` holds the integral's force [N] of each leg.
template <class S>
GARRA_HD Vec<S, 6> control_forces(const Controller& c, const ControlModel& of, const PathPoint<S>& wanted,
                                  const ControlSample<S>& now, Vec<S, 6>& sum) {
  Vec<S, 6> force = sum;
  if (c.law == ControlLaw::kForces) return force;
  PathPoint<S> motion = wanted;
  const S k(c.stiffness), d(c.damping);
  if (c.law == ControlLaw::kComputedTorque) {
    motion = now.own;
    motion.acceleration.v = axpy(k, wanted.place.r - now.own.place.r,
                                 axpy(d, wanted.velocity.v - now.own.velocity.v, wanted.acceleration.v));
    motion.acceleration.w = axpy(k, turn_error(wanted.place.p, now.own.place.p),
                                 axpy(d, wanted.velocity.w - now.own.velocity.w, wanted.acceleration.w));
  }
  if (c.law == ControlLaw::kGravity) {
    const Twist6<S> rest{Vec3<S>::zero(), Vec3<S>::zero()};
    motion = {now.own.place, rest, rest};
  }
  if (c.law != ControlLaw::kLegs) nominal_forces_into(of, motion, force);
  if (c.law == ControlLaw::kComputedTorque || c.law == ControlLaw::kFeedforward) return force;
  const PathPoint<S> center = moved_to_center(wanted, rotation_matrix(wanted.place.p) * cast<S>(of.shift));
  const LegRates<S> goal = leg_rates(of.model, center.place, center.velocity);
  for (int i = 0; i < kLegs; ++i) {
    const S error = goal.length[i] - now.legs.length[i];
    force[i] += fma(k, error, d * (goal.rate[i] - now.legs.rate[i]));
    // The integral of a saturated leg stands still, so that it does not grow without effect.
    const S next = fma(S(c.integral * c.period), error, sum[i]);
    const bool any_force = !(c.limit > 0);
    sum[i] = any_force ? next : select(abs(force[i]) < S(c.limit), next, sum[i]);
  }
  return force;
}

/// Saturation.
template <class S>
GARRA_HD Vec<S, 6> limited(const Controller& c, Vec<S, 6> force) {
  if (!(c.limit > 0)) return force;
  for (int i = 0; i < kLegs; ++i) force[i] = max(S(-c.limit), min(S(c.limit), force[i]));
  return force;
}

}  // namespace garra::platform
