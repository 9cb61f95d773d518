// Six-legged platforms (6-UPS, Stewart): what a user says about one, checked, and the forms that kernels take
// (docs/theory/platform.md). Kinematics: platform_kinematics.hpp, dynamics: platform_dynamics.hpp, trajectories:
// platform_simulate.hpp, studies: platform_study.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "garra/core/error.hpp"
#include "garra/systems/platform/model.hpp"
#include "garra/systems/platform/pose.hpp"

namespace garra::platform {

/// Tube or rod of a leg.
struct Link {
  double mass = 0;                              ///< [kg]
  double com = 0;                               ///< from its joint (universal: tube; spherical: rod) along the leg [m]
  Vec3<double> inertia = Vec3<double>::zero();  ///< principal moments about its center of mass, leg frame [kg m^2]
};

/// A leg; lengths are from joint center to joint center.
struct Leg {
  Vec3<double> base = Vec3<double>::zero();    ///< b, base frame [m]
  Vec3<double> anchor = Vec3<double>::zero();  ///< s, platform frame (origin: its center of mass) [m]
  Vec3<double> axis = Vec3<double>::zero();    ///< k, base frame; any length on input, unit after checked()
  Link lower, upper;
  double length_min = 0, length_max = 0;  ///< stroke [m]
  double universal_cone = 3.2,
         spherical_cone = 3.2;  ///< half angles about the home direction [rad]; more than pi: no limit
};

/// A platform as its file gives it.
struct Platform {
  std::string name;
  std::string source;  ///< where its numbers come from
  std::array<Leg, kLegs> leg;
  double mass = 0;                                ///< of the platform alone [kg]
  Mat3<double> inertia = Mat3<double>::zero();    ///< about its center of mass, platform axes [kg m^2]
  Vec3<double> gravity = {{0, 0, -9.81}};         ///< base axes [m/s^2]: on a wall, the base's axes see it elsewhere
  Vec3<double> home = Vec3<double>::zero();       ///< position of C in the home pose [m]
  Quaternion<double> home_turn = {{1, 0, 0, 0}};  ///< its orientation
  double leg_radius = 0;           ///< legs are cylinders of this radius [m]; 0: collisions are not looked at
  std::vector<std::string> notes;  ///< what a reader of the file should know
};

/// With unit axes and home_turn; throws Error(kUsage) that names the leg and what is wrong: a number that is not
/// finite, two legs with the same two anchors, all anchors on a line, a zero axis or one parallel to its leg at home, a
/// mass <= 0, an inertia that no body has (a negative principal moment, or one above the sum of the other two), an
/// empty stroke, a home pose out of the stroke or singular.
[[nodiscard]] Platform checked(const Platform& platform);
/// With a body of `mass` at `com` (platform frame) with `inertia` about that point fixed to it; C moves to the common
/// center of mass, so anchors and home shift.
[[nodiscard]] Platform with_payload(const Platform& platform, double mass, const Vec3<double>& com,
                                    const Mat3<double>& inertia);

[[nodiscard]] Model<double> model_of(const Platform& platform);
[[nodiscard]] Limits<double> limits_of(const Platform& platform);
[[nodiscard]] Place<double> home_of(const Platform& platform);

/// Poses of n samples.
struct Poses {
  std::vector<double> position;    ///< [n,3] of C, base axes [m]
  std::vector<double> quaternion;  ///< [n,4] Euler parameters, scalar first; need not be normalized on input
};

/// The platforms of a batch: one that all samples share, or as many as there are samples (tolerance and calibration
/// studies). All entries throw Error(kUsage) for another number.
using Platforms = std::vector<Platform>;

}  // namespace garra::platform
