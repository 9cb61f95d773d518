// Closes a parallel jaw on an object at given hand poses: contact points, or the reason for none.
// Takes: a mesh::Surface, hand poses in object axes, a ParallelJaw and options: pose noise, closing.
// Gives: a GraspSet of poses x draws grasps for grasp_set.hpp, and per grasp its pose, status,
// collision depth, turn and shift of the object.
// Units and frames: SI. Hand axes: origin at the base, x along the closing direction, z out of the
// palm. Points and normals in object axes, normals into the object; poses count from 0.
// Bad input: lengths out of range throw Error(kUsage). A pose that is no finite rotation and
// translation has TouchStatus::kBadPose; other poses do not change.
// Not for: hands with several joints, suction, contacts of the palm, motion before the jaw closes.
// Docs: docs/howto/grasp-poses.md.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/core/names.hpp"
#include "garra/grasp_set.hpp"
#include "garra/mesh.hpp"

namespace garra::grasp {

/// Gripper with two flat, rectangular pads that face each other and close symmetrically. Lengths in
/// m, in hand axes.
struct ParallelJaw {
  const char* name = "";
  double opening = 0.08;       ///< distance of the open pads
  double pad_width = 0.02;     ///< of a pad along y
  double pad_height = 0.018;   ///< of a pad along z, up to the tip
  double tip = 0.1122;         ///< z of the fingertips
  double thickness = 0.014;    ///< of a finger along x, behind its pad
  double palm = 0.066;         ///< z of the palm, where the fingers begin
  double palm_length = 0.204;  ///< of the palm along x
  double palm_width = 0.063;   ///< of the palm along y
  double force = 40;           ///< grip force of each pad [N]
};
/// Built-in jaws, from their data sheets and published models, rounded to millimeters.
inline constexpr ParallelJaw kJaws[] = {
    {"panda"},
    {"robotiq_2f85", 0.085, 0.022, 0.0375, 0.163, 0.014, 0.094, 0.149, 0.075, 60},
    {"robotiq_2f140", 0.140, 0.027, 0.065, 0.245, 0.014, 0.100, 0.149, 0.075, 60},
    {"wsg50", 0.110, 0.020, 0.020, 0.175, 0.014, 0.075, 0.146, 0.050, 40},
};

/// Row of the tables of numbers that Python, the program and checks follow.
template <class T>
struct TouchNumber {
  const char* name;
  double T::*value;
  double low, high;  ///< low <= value < high
  const char* text;
};
inline constexpr double kSmallest = 1e-5;  ///< length of a jaw or cell [m]
inline constexpr TouchNumber<ParallelJaw> kJawNumbers[] = {
    {"opening", &ParallelJaw::opening, kSmallest, 1, "distance of the open pads [m]"},
    {"pad_width", &ParallelJaw::pad_width, kSmallest, 1, "of a pad across the fingers [m]"},
    {"pad_height", &ParallelJaw::pad_height, kSmallest, 1, "of a pad along the fingers [m]"},
    {"tip", &ParallelJaw::tip, kSmallest, 2, "height of the fingertips above the hand's base [m]"},
    {"palm", &ParallelJaw::palm, 0, 2, "height of the palm above the hand's base [m]"},
    {"thickness", &ParallelJaw::thickness, kSmallest, 1, "of a finger behind its pad [m]"},
    {"palm_length", &ParallelJaw::palm_length, kSmallest, 2, "of the palm along the closing direction [m]"},
    {"palm_width", &ParallelJaw::palm_width, kSmallest, 2, "of the palm across the fingers [m]"},
    {"force", &ParallelJaw::force, 1e-6, 1e6, "grip force of each pad [N]"},
};

/// Options of touch().
struct TouchOptions {
  ParallelJaw jaw = kJaws[0];
  double friction = 0.5;        ///< coefficient of the set
  double mass = 0;              ///< [kg]; 0: from `density`
  double density = 1000;        ///< [kg/m^3]
  double depth = 2e-3;          ///< compliance of the pads: cells closer to first touch than this bear force [m]
  double cell = 1.5e-3;         ///< size of the cells of a pad [m]
  bool soft = false;            ///< one soft contact per pad; else up to four points
  bool close = true;            ///< turn the object until it is jammed
  double closing_friction = 0;  ///< coefficient between pads and object while the jaw closes
  double max_turn = 1.2;        ///< an object that turns farther is pushed away [rad]
  double max_push = 0.005;      ///< a finger that meets the object pushes it aside by at most this [m]
  std::int64_t draws = 1;       ///< grasps per pose; more than one with noise
  double position_noise = 0;    ///< standard deviation of the hand's position along each axis [m]
  double rotation_noise = 0;    ///< standard deviation of each component of its rotation vector [rad]
  double moment_length = 0;     ///< scales moments to forces [m]; 0: the object's radius of gyration
  std::vector<double> scale;    ///< [p] factor on the object's lengths at each pose; empty: 1
  std::vector<double> up;       ///< [3] or [p][3] upward normal of the table that the object stands on; empty: free
  std::uint64_t seed = 1;
};

inline constexpr TouchNumber<TouchOptions> kTouchNumbers[] = {
    {"friction", &TouchOptions::friction, 1e-9, kMaxFriction, "coefficient of the set"},
    {"mass", &TouchOptions::mass, 0, 1e6, "of the object [kg]; 0: from its density"},
    {"density", &TouchOptions::density, 1e-6, 1e6, "of the object, in place of its mass [kg/m^3]"},
    {"depth", &TouchOptions::depth, 1e-7, 1, "compliance: cells of a pad this close to first touch bear force [m]"},
    {"cell", &TouchOptions::cell, kSmallest, 1, "size of the cells of a pad [m]"},
    {"closing_friction", &TouchOptions::closing_friction, 0, kMaxFriction, "coefficient while the jaw closes"},
    {"max_turn", &TouchOptions::max_turn, 0, 100, "an object that turns farther is pushed away [rad]"},
    {"max_push", &TouchOptions::max_push, 0, 1, "a finger pushes the object aside by at most this [m]"},
    {"position_noise", &TouchOptions::position_noise, 0, 1, "standard deviation of the hand's position per axis [m]"},
    {"rotation_noise", &TouchOptions::rotation_noise, 0, 10, "of each component of its rotation vector [rad]"},
    {"moment_length", &TouchOptions::moment_length, 0, 100, "scales moments to forces [m]; 0: radius of gyration"},
};

/// Result of one pose and draw.
enum class TouchStatus : std::uint8_t {
  kTouched,
  kNoTouch,      ///< neither pad meets the object
  kOneSide,      ///< one pad meets nothing
  kCollision,    ///< a finger or the palm is in the object and cannot push it aside
  kPushedAway,   ///< the object turned by more than max_turn, or out of the pads
  kBadPose,      ///< no finite rotation and translation
  kJointLimits,  ///< of a hand with joints: a joint value outside its range
};
[[nodiscard]] constexpr auto names_of(TouchStatus) {
  return names("touched", "no_touch", "one_side", "collision", "pushed_away", "bad_pose", "joint_limits");
}

/// Grasps of all poses and draws: grasp g is draw g % draws of pose g / draws.
struct Touched {
  GraspSet set;  ///< grasps without contacts where the status is not kTouched; the jaw is a whole hand of one joint
  std::vector<std::uint8_t> status;  ///< [g] TouchStatus
  std::vector<double> collision;     ///< [g] depth of a finger or the palm in the object before it was pushed [m]
  std::vector<double> turn;          ///< [g] rotation of the object while the jaw closed [rad]
  std::vector<double> rotation;      ///< [g][3][3] from the object's axes before closing to those after it
  std::vector<double> shift;         ///< [g] of the object along x, relative to the hand [m]
  std::vector<double> width;         ///< [g] distance of the closed pads [m]; NaN without contact
  std::vector<double> pose;          ///< [g][4][4] of the hand in the axes of the turned object
  mesh::Body body;                   ///< of the object, of scale 1
};

/// Closes the jaw at each pose. The result does not depend on the device's threads.
/// @param object closed-form surface or mesh, SI units.
/// @param poses [p][4][4] of the hand in object axes.
/// @throws Error kUsage for options out of range.
[[nodiscard]] Touched touch(const mesh::Surface& object, std::span<const double> poses, const TouchOptions& options,
                            const Device& device = {});

}  // namespace garra::grasp
