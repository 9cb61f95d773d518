// What a grasp study needs to go on in time: how long, how the fingers are driven, what acts on the object, when it
// counts as slipped or dropped, and how it can end. docs/theory/grasp-time.md; `[time]` of a grasp scenario.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "garra/core/mat.hpp"
#include "garra/core/names.hpp"

namespace garra::grasp {

/// Steps of a trajectory.
enum class Scheme {
  kMoreauJean,  ///< impulses and velocities, one cone law for stick, slip, opening and impact (J. J. Moreau, M. Jean)
  kExplicit,    ///< the papers' Algorithm 1: accelerations, slip direction of the step's start; stable for small steps
                ///< only
};
[[nodiscard]] constexpr auto names_of(Scheme) { return names("moreau-jean", "explicit"); }

enum class Drive {
  kController,  ///< Controller
  kConstant,    ///< the torques that the command gives each sample at the start, kept
  kSampled,     ///< linear between the torques of a table
};
[[nodiscard]] constexpr auto names_of(Drive) { return names("controller", "constant", "sampled"); }

/// The grasp controller: tau = clamp(gamma (g + h) + J_v^T f - K_q (q - q0) - D_q qd), with gravity as far as it is
/// known (tilt: yes, shaking: no), f_j = (s + eps_j) n0_j + beta_j(w0 - K (x0 - x) + D v), beta_j the part of the
/// finger in balancing a load (docs/theory/grasp-model.md (15)). The object's pose is measured without error.
struct Controller {
  double stiffness = 0, damping = 0;              ///< of the object's position [N/m, N s/m]
  double turn_stiffness = 0, turn_damping = 0;    ///< of its orientation [N m/rad, N m s/rad]
  double joint_stiffness = 0, joint_damping = 0;  ///< of each joint about its first position [N m/rad, N m s/rad]
};

/// A load that changes with time, in palm axes. All of a scenario add up.
struct TimeLoad {
  enum class Kind {
    kRamp,     ///< force, torque on the object: 0 until `from`, growing linearly, whole from `to` on
    kImpulse,  ///< the same as time integrals [N s, N m s], as half a sine from `from` to `to`
    kTilt,     ///< gravity turns about `axis` by `angle` at constant speed from `from` to `to`, and stays there
    kShake,  ///< the palm is shaken: 16 tones of random phase along each axis, evenly spread from `low` to `high` [Hz],
             ///< between `from` and `to` with edges of 50 ms
    kSampled,  ///< the palm accelerates linearly between the rows of a table, and not at all before and after them; the
               ///< controller does not know
  };
  Kind kind = Kind::kRamp;
  double from = 0, to = 0;                       ///< [s]; `to` of a shake: 0 is the end
  Vec3<double> force = {{0, 0, 0}};              ///< [N] or [N s]
  Vec3<double> torque = {{0, 0, 0}};             ///< about the center of mass [N m] or [N m s]
  Vec3<double> axis = {{0, 0, 1}};               ///< of any length
  double angle = 0;                              ///< [rad]
  Vec3<double> rms = {{0, 0, 0}};                ///< shake: of the palm's acceleration along each axis [m/s^2]
  double low = 1, high = 20;                     ///< [Hz]
  std::vector<double> times = {};                ///< sampled [s], increasing
  std::vector<Vec3<double>> accelerations = {};  ///< sampled: of the palm at each time [m/s^2]
  std::string file = {};                         ///< sampled: that they were read from; empty: from the scenario itself
};

[[nodiscard]] constexpr auto names_of(TimeLoad::Kind) { return names("ramp", "impulse", "tilt", "shake", "sampled"); }

/// `[time]` of a scenario.
struct InTime {
  double until = 1, step = 1e-3;  ///< [s]
  Scheme scheme = Scheme::kMoreauJean;
  double restitution = 0;  ///< v_n after over before an impact, 0 ... 1
  double baumgarte = 0.2;  ///< share of a penetration that a step takes back
  Drive drive = Drive::kController;
  Controller controller;
  std::vector<double> sample_times;                 ///< kSampled [s], increasing
  std::vector<std::vector<double>> sample_torques;  ///< of each finger: [time][joint] [N m or N]
  std::string sample_file;                          ///< that they were read from; empty: from the scenario itself
  std::vector<std::vector<double>> torque_limit;    ///< of each finger and joint [N m or N]; empty: none
  std::vector<std::vector<double>> lower, upper;    ///< joint limits likewise [rad or m]; empty: none
  std::vector<TimeLoad> loads;
  /// The nominal friction of all contacts is set to each of these in turn (deviations stay as they are), all with the
  /// same random numbers: sample i is draw i / n at level i mod n. Empty: as the contacts say.
  std::vector<double> friction;
  double slip = 1e-3;           ///< path of a contact at which the grasp counts as slipped [m]
  double drop = 0.05;           ///< displacement of the center of mass at which it counts as dropped [m]
  double drop_turn = M_PI / 4;  ///< how far it may turn from where it began [rad]; beyond half a turn it is counted on
  int instants = 101;           ///< from 0 to `until`, at which the study looks at its samples
};

/// How a trajectory ended.
enum class MotionEnd : int {
  kHeld = 0,     ///< at `until`, never slipped so far as counts
  kSlipped,      ///< at `until`, in the hand, but some contact has slid so far as counts
  kDropped,      ///< the center of mass has moved so far as counts: stopped there
  kTurned,       ///< the object has turned so far as counts: stopped there
  kJointLimit,   ///< a joint has passed its limit: stopped there
  kUnreachable,  ///< a finger cannot reach its contact: never began
  kUnsolved,     ///< the contact problem of a step was not solved: stopped there
  kNonFinite,    ///< a number is not finite: stopped there
};
inline constexpr int kMotionEnds = 8;
[[nodiscard]] const char* to_string(MotionEnd end);
/// In the hand at `until`: what P(held) of a study in time counts.
[[nodiscard]] constexpr bool is_in_hand(MotionEnd end) { return end <= MotionEnd::kSlipped; }
/// May have become any of the others.
[[nodiscard]] constexpr bool is_undecided(MotionEnd end) { return end >= MotionEnd::kUnsolved; }

}  // namespace garra::grasp
