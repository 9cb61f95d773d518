// Defines options and outcomes of grasp studies in time: duration, finger drive, loads, limits of
// slip and drop (`[simulation]`).
// Takes: numbers of duration, step, controller gains or torque tables, loads and limits.
// Gives: InTime for Scenario::time of grasp.hpp, which runs the study; one MotionEnd per
// trajectory.
// Units and frames: SI, palm axes; torques about the center of mass; fingers, joints and samples
// count from 0.
// Bad input: bad options throw Error in grasp::make_study(). A trajectory that fails ends with a
// MotionEnd.
// Not for: new contacts and edges of faces, which are not modeled.
// Docs: docs/theory/grasp-time.md, docs/reference/scenario.md.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "garra/core/mat.hpp"
#include "garra/core/names.hpp"

namespace garra::grasp {

/// Time-stepping scheme of a trajectory.
enum class Scheme {
  kMoreauJean,  ///< impulses and velocities, one cone law for stick, slip, opening and impact (J. J. Moreau, M. Jean)
  kExplicit,    ///< the papers' Algorithm 1: accelerations, slip direction of the step's start; stable for small steps
                ///< only
};
[[nodiscard]] constexpr auto names_of(Scheme) { return names("moreau-jean", "explicit"); }

/// Source of the joint torques.
enum class Drive {
  kController,  ///< Controller
  kConstant,    ///< torques of the command at the start of each sample, constant
  kSampled,     ///< linear between the torques of a table
};
[[nodiscard]] constexpr auto names_of(Drive) { return names("controller", "constant", "sampled"); }

/// Grasp controller, tau = clamp(gamma (g + h) + J_v^T f - K_q (q - q0) - D_q qd), with gravity and
/// Coriolis torques g, h and the factor gamma (Scenario::compensation). Commanded contact forces
/// are f_j = (s + eps_j) n0_j + beta_j(w0 - K (x0 - x) + D v): grip_force s, grip_force_error eps,
/// nominal normal n0, weight and constant wrench w0, object position x. beta_j(w) is the force of
/// finger j that balances w (docs/theory/grasp-model.md (15)). The controller knows a tilt, not
/// shaking, and measures the object's pose without error.
struct Controller {
  double stiffness = 0, damping = 0;              ///< of the object's position [N/m, N s/m]
  double turn_stiffness = 0, turn_damping = 0;    ///< of its orientation [N m/rad, N m s/rad]
  double joint_stiffness = 0, joint_damping = 0;  ///< of each joint about its first position [N m/rad, N m s/rad]
};

/// Time-dependent load in palm axes. The loads of a scenario add up.
struct TimeLoad {
  enum class Kind {
    kRamp,     ///< force and torque on the object: 0 until `from`, linear, full from `to` on
    kImpulse,  ///< time integrals of force and torque [N s, N m s], half a sine from `from` to `to`
    kTilt,     ///< gravity turns about `axis` by `angle` at constant speed from `from` to `to`, and stays there
    kShake,  ///< palm vibration between `from` and `to` with edges of 50 ms: 16 tones of random phase along each axis,
             ///< evenly spread from `low` to `high` [Hz]
    kSampled,  ///< palm acceleration, linear between the rows of a table and 0 outside; unknown to the
               ///< controller
  };
  Kind kind = Kind::kRamp;
  double from = 0, to = 0;                       ///< [s]; kShake: `to` = 0 is the end of the trajectory
  Vec3<double> force = {{0, 0, 0}};              ///< [N] or [N s]
  Vec3<double> torque = {{0, 0, 0}};             ///< about the center of mass [N m] or [N m s]
  Vec3<double> axis = {{0, 0, 1}};               ///< of any length
  double angle = 0;                              ///< [rad]
  Vec3<double> rms = {{0, 0, 0}};                ///< kShake: of the palm's acceleration along each axis [m/s^2]
  double low = 1, high = 20;                     ///< [Hz]
  std::vector<double> times = {};                ///< kSampled [s], increasing
  std::vector<Vec3<double>> accelerations = {};  ///< kSampled: of the palm at each time [m/s^2]
  std::string file = {};                         ///< kSampled: source file; empty: the scenario itself
};

[[nodiscard]] constexpr auto names_of(TimeLoad::Kind) { return names("ramp", "impulse", "tilt", "shake", "sampled"); }

/// Options of a study in time: `[simulation]` of a scenario.
struct InTime {
  double duration = 1, step = 1e-3;  ///< [s]
  Scheme scheme = Scheme::kMoreauJean;
  double restitution = 0;  ///< ratio of v_n after and before an impact, 0 ... 1
  double baumgarte = 0.2;  ///< fraction of a penetration that a step corrects
  Drive drive = Drive::kController;
  Controller controller;
  std::vector<double> sample_times;                 ///< kSampled [s], increasing
  std::vector<std::vector<double>> sample_torques;  ///< of each finger [sample times, joints], row-major [N m or N]
  std::string sample_file;                          ///< source file of the table; empty: the scenario itself
  std::vector<std::vector<double>> torque_limit;    ///< of each finger and joint [N m or N]; empty: none
  std::vector<std::vector<double>> lower, upper;    ///< joint limits likewise [rad or m]; empty: none
  std::vector<TimeLoad> loads;
  /// Friction levels: nominal friction of all contacts, with unchanged deviations and common random
  /// numbers. Sample i is draw i / n at level i mod n. Empty: the contacts' own friction.
  std::vector<double> friction;
  double slip = 1e-3;           ///< path of a contact at which the grasp counts as slipped [m]
  double drop = 0.05;           ///< displacement of the center of mass at which it counts as dropped [m]
  double drop_turn = M_PI / 4;  ///< turn from the start at which it counts as turned [rad]; may exceed pi
  int instants = 101;           ///< evaluation times from 0 to `duration`
};

/// Outcome of a trajectory.
enum class MotionEnd : int {
  kHeld = 0,  ///< reached `duration` with every slip path below `slip`
  kSlipped,   ///< reached `duration` in the hand, but a contact slid by `slip`
  kDropped,   ///< the center of mass moved by `drop`; the trajectory stops. Or nothing pressed on the object at the end
  kTurned,    ///< the object turned by `drop_turn`; the trajectory stops
  kJointLimit,   ///< a joint passed its limit; the trajectory stops
  kUnreachable,  ///< a finger cannot reach its contact; the trajectory does not start
  kUnsolved,     ///< the contact problem of a step was not solved; the trajectory stops
  kNonFinite,    ///< a number is not finite; the trajectory stops
};
inline constexpr int kMotionEnds = 8;
[[nodiscard]] const char* to_string(MotionEnd end);
/// True if the object is in the hand at `duration`; P(held) of a study in time counts these.
[[nodiscard]] constexpr bool is_in_hand(MotionEnd end) { return end <= MotionEnd::kSlipped; }
/// True if the outcome is open: it may be any of the others.
[[nodiscard]] constexpr bool is_undecided(MotionEnd end) { return end >= MotionEnd::kUnsolved; }

}  // namespace garra::grasp
