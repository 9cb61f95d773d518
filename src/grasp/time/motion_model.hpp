// Model and data of trajectories: rules that all of a scenario share, and tiles of the samples in flight. SI units,
// palm frame P. Host and device; docs/theory/grasp-time.md. A step runs these bodies, in this order:
//   orders (object: next pose, the controller's wish), fingers one after another, contact problems,
//   the contact solver and its certificate, close (forces take effect, measures).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "garra/batch/tiles.hpp"
#include "garra/systems/grasp/object_step.hpp"
#include "garra/systems/grasp/time_loads.hpp"
#include "grasp/sample/grasp_model.hpp"
#include "grasp/time/motion.hpp"

namespace garra::grasp {

/// Limits of a finger's joints; infinite if there are none.
struct FingerLimits {
  double torque[chain::kMaxJoints], lower[chain::kMaxJoints], upper[chain::kMaxJoints];  ///< [N m or N]; [rad or m]
  bool torque_limited;                                                                   ///< some torque has a limit

  /// No limits.
  [[nodiscard]] static FingerLimits none() {
    FingerLimits l{};
    std::fill_n(l.torque, chain::kMaxJoints, kInfinity);
    std::fill_n(l.lower, chain::kMaxJoints, -kInfinity);
    std::fill_n(l.upper, chain::kMaxJoints, kInfinity);
    return l;
  }
};

/// Rules of the trajectories of a scenario. Trivially copyable: a GPU gets it by plain copy.
struct MotionRules {
  GraspModel grasp;
  StepRules step;
  Controller controller;
  Drive drive;                            ///< source of the torques
  bool shaken;                            ///< by random tones of each sample
  bool carried;                           ///< the palm's acceleration is given, too or instead
  Vec3<double> shake_rms;                 ///< along x, y, z of the palm [m/s^2]
  double slip, drop;                      ///< [m]
  double drop_turn;                       ///< [rad]
  double duration;                        ///< [s]
  double tolerance;                       ///< of the contact solver
  double controller_mass;                 ///< mass in the controller's model [kg]
  bool levels;                            ///< friction levels instead of the nominal friction
  SurfaceKind kind[kMaxContacts];         ///< surface along which the fingertip moves
  double nominal_friction[kMaxContacts];  ///< about which levels keep the drawn deviations
  FingerLimits limits[kMaxContacts];
};

/// Gathers a sample's index among the random draws, and loads its friction level: levels share their draws.
template <class S>
struct SampleLevel {
  S friction;
};

/// Measures of a trajectory so far: Trajectory without the fingers' counts. Members are S.
template <class S, int N>
struct MotionMeasures {
  S end;                                  ///< MotionEnd, or -1 while it goes on
  S end_time, slip_time, open_time;       ///< [s]
  S slipped_first;                        ///< contact of slip_time, or -1
  S peak_drift, peak_turn, least_margin;  ///< [m]; [rad]; 1
  S energy_start, work;                   ///< kinetic energy at time 0; work on object and at contacts so far [J]
  S kinetic, balance;                  ///< kinetic energy, and what it has gained without work, at the step's start [J]
  Vec3<S> momentum;                    ///< at time 0, and all impulses since [N s]
  S energy_balance, momentum_balance;  ///< largest so far [J]; [N s]
  S worst_gap, worst_cone, worst_residual;           ///< [m]; [N]; 1
  S iterations, steps, unstable_steps, worst_ratio;  ///< in all; worst_ratio: largest step over its bound
  Vec<S, N> slip, peak_force, peak_torque;           ///< [m]; [N]; over the limit

  static constexpr auto parts() {
    return std::tuple{&MotionMeasures::end,         &MotionMeasures::end_time,       &MotionMeasures::slip_time,
                      &MotionMeasures::open_time,   &MotionMeasures::slipped_first,  &MotionMeasures::peak_drift,
                      &MotionMeasures::peak_turn,   &MotionMeasures::least_margin,   &MotionMeasures::energy_start,
                      &MotionMeasures::work,        &MotionMeasures::kinetic,        &MotionMeasures::balance,
                      &MotionMeasures::momentum,    &MotionMeasures::energy_balance, &MotionMeasures::momentum_balance,
                      &MotionMeasures::worst_gap,   &MotionMeasures::worst_cone,     &MotionMeasures::worst_residual,
                      &MotionMeasures::iterations,  &MotionMeasures::steps,          &MotionMeasures::unstable_steps,
                      &MotionMeasures::worst_ratio, &MotionMeasures::slip,           &MotionMeasures::peak_force,
                      &MotionMeasures::peak_torque};
  }
};

/// Quantities of a sample recorded at an instant (Look). Members are S.
template <class S, int N>
struct MotionLook {
  S look[kLooks];   ///< as Look numbers them
  Vec<S, N> force;  ///< normal forces [N]

  static constexpr auto parts() { return std::tuple{&MotionLook::look, &MotionLook::force}; }
};

/// Data of a sample's last step, for replay. Members are S.
template <class S, int N>
struct StepRecord {
  ObjectMotion<S> object;
  Vec<S, 3 * N> force, normal, palm_force;
  Vec<S, N> gap, slip_speed, state;
  Vec3<S> gravity;
  S kinetic, balance;

  static constexpr auto parts() {
    return std::tuple{&StepRecord::object,  &StepRecord::force,      &StepRecord::normal, &StepRecord::palm_force,
                      &StepRecord::gap,     &StepRecord::slip_speed, &StepRecord::state,  &StepRecord::gravity,
                      &StepRecord::kinetic, &StepRecord::balance};
  }
};

/// Tiles of the samples in flight. Tiles that depend on the number of contacts or joints are doubles here.
struct MotionTiles {
  SampleParts parts;          ///< loads and tasks of the draw; no shares
  double* levels;             ///< SampleLevel
  double* shakes;             ///< ShakePhases, if the palm is shaken
  double* objects;            ///< ObjectMotion
  double* surfaces;           ///< LocalSurface: those of contact 0, then of contact 1, ...
  double* orders;             ///< FingerOrder, likewise
  double* fingers;            ///< FingerMotion<., kMaxJoints> holds any finger, likewise
  double* steps;              ///< FingerStep, likewise
  double* impulses;           ///< Vec3 of each contact, likewise [N s], contact axes
  double* problems;           ///< FrictionProblem
  double* sliding;            ///< SlidingContacts, of the explicit scheme only; else null
  double* guesses;            ///< forces of the step before
  double* candidates;         ///< Candidate
  double* solutions;          ///< FrictionSolution
  double* measures;           ///< MotionMeasures
  double* records;            ///< StepRecord of the last step, or null
  const std::uint64_t* draw;  ///< number of each sample among the draws
  std::int64_t padded;        ///< capacity in samples, whole tiles

  /// Tiles of one contact in those of all contacts.
  template <class T>
  [[nodiscard]] GARRA_HD double* of_contact(double* tiles, int j) const {
    return tiles + j * padded * batch::kFields<double, T>;
  }
  [[nodiscard]] GARRA_HD double* surface_tile(int j) const { return of_contact<LocalSurface<double>>(surfaces, j); }
  [[nodiscard]] GARRA_HD double* order_tile(int j) const { return of_contact<FingerOrder<double>>(orders, j); }
  /// Tiles of finger j, with space for kMaxJoints joints; a finger uses as many as its size has.
  [[nodiscard]] GARRA_HD double* finger_tile(int j) const {
    return of_contact<FingerMotion<double, chain::kMaxJoints>>(fingers, j);
  }
  [[nodiscard]] GARRA_HD double* step_tile(int j) const { return of_contact<FingerStep<double>>(steps, j); }
  [[nodiscard]] GARRA_HD double* impulse_tile(int j) const { return of_contact<Vec3<double>>(impulses, j); }
};

/// Draws the samples: object, load, contacts, finger tasks, and the surface near each contact.
struct MotionDrawKernel {
  const MotionRules* rules;
  MotionTiles tiles;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const GraspModel& m = rules->grasp;
    const auto index = SampleIndex<S>::gather(tiles.draw + i);
    double* u = tiles.parts.uniforms + (i / batch::kTile) * m.draws * batch::kTile + i % batch::kTile;
    Inputs<S> in;
    draw_inputs<S>(m, index, u, in);
    const Pose<S> pose = object_pose(m, in);
    const ObjectLoad<S> load = object_load(m, in, pose);
    const Vec3<S> body_moments = (in.x[kMass] * (in.x[kScale] * in.x[kScale])) * cast<S>(m.gyration2);
    ObjectMotion<S> object;
    object.p = object.first = pose.p;
    object.turned = object.whole_turns = object.alone = S(0);
    object.turn = object.first_turn = to_quaternion(column(pose.R, 0), column(pose.R, 1), column(pose.R, 2));
    object.v = cast<S>(m.v);
    object.w = cast<S>(m.omega);
    object.mass = in.x[kMass];
    object.moments = body_moments;
    object.wrench = load.wrench;
    object.running = S(1);
    batch::store<S>(tiles.objects, i, object);
    if (rules->shaken) batch::store<S>(tiles.shakes, i, draw_shake<S>(m.seed, index, rules->shake_rms));
    const S level = rules->levels ? batch::load<S, SampleLevel<S>>(tiles.levels, i).friction : S(0);
    for (int j = 0; j < m.contacts; ++j) {
      FingerTask<S> task = finger_task(m, in, pose, j);
      // Keeps the deviation drawn about the nominal friction, so that levels differ by nothing else.
      if (rules->levels) task.friction = max(level + (task.friction - S(rules->nominal_friction[j])), S(0));
      batch::store<S>(tiles.parts.task_tile(j), i, task);
      batch::store<S>(tiles.surface_tile(j), i, surface_near(m.surface[j], in.x[kScale], pose, task.place));
    }
  }

  /// The surface through the contact, in the object frame.
  template <class S>
  static GARRA_HD LocalSurface<S> surface_near(const SurfacePoint& s, const S& scale, const Pose<S>& object,
                                               const ContactPlace<S>& at) {
    // A scale of lengths divides curvatures.
    return {transpose_times(object.R, at.p - object.p), transpose_times(object.R, at.E), S(s.curvature_t) / scale,
            S(s.curvature_o) / scale};
  }
};

}  // namespace garra::grasp
