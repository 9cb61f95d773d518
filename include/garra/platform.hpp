// Describes six-legged platforms (6-UPS, Stewart), checks them, and gives the forms that kernels
// take.
// Takes: a Platform: six legs, masses, inertias, gravity, home pose; optionally a payload.
// Gives: a checked Platform with unit axes, and its Model, Limits and home pose.
// Units and frames: SI, rad; base and platform frames (origin C: the platform's center of mass);
// quaternions scalar first; legs count from 0, also in error texts.
// Bad input: an impossible platform throws Error(kUsage) that names the leg.
// Not for: other numbers of legs or legs that bend.
// Docs: docs/theory/platform.md. See also platform_kinematics, _dynamics, _simulate and _study.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "garra/core/error.hpp"
#include "garra/systems/platform/model.hpp"
#include "garra/systems/platform/pose.hpp"

namespace garra::platform {

/// Body of a leg: tube or rod.
struct Link {
  double mass = 0;  ///< [kg]
  double com = 0;   ///< distance from its joint (tube: universal, rod: spherical) along the leg [m]
  Vec3<double> inertia = Vec3<double>::zero();  ///< principal moments about its center of mass, leg axes [kg m^2]
};

/// Leg from a universal joint on the base to a spherical joint on the platform. Lengths are
/// measured between joint centers. Leg axes: z along the leg, x = z x k / |z x k|, y = z x x.
struct Leg {
  Vec3<double> base = Vec3<double>::zero();    ///< b, base frame [m]
  Vec3<double> anchor = Vec3<double>::zero();  ///< s, platform frame (origin: its center of mass) [m]
  Vec3<double> axis = Vec3<double>::zero();    ///< k, universal joint's axis on the base; unit after checked()
  Link lower, upper;
  double length_min = 0, length_max = 0;  ///< stroke [m]
  double universal_cone = 3.2,
         spherical_cone = 3.2;  ///< half angles about the home direction [rad]; more than pi: no limit
};

/// Platform as described in its file.
struct Platform {
  std::string name;
  std::string source;  ///< source of its numbers
  std::array<Leg, kLegs> leg;
  double mass = 0;                                ///< of the platform alone [kg]
  Mat3<double> inertia = Mat3<double>::zero();    ///< about its center of mass, platform axes [kg m^2]
  Vec3<double> gravity = {{0, 0, -9.81}};         ///< base axes [m/s^2]; other directions for a base on a wall
  Vec3<double> home = Vec3<double>::zero();       ///< position of C in the home pose [m]
  Quaternion<double> home_turn = {{1, 0, 0, 0}};  ///< orientation in the home pose, scalar first
  double leg_radius = 0;                          ///< legs are cylinders of this radius [m]; 0: no collision check
  std::vector<std::string> notes;                 ///< remarks on the file
};

/// Checked platform with unit axes and unit home_turn.
/// @throws Error kUsage, naming the leg, for a number that is not finite, two legs with the same
///         two anchors, all anchors on a line, a zero axis or one parallel to its leg at home, a
///         mass <= 0, an impossible inertia, an empty stroke, or a home pose out of the stroke or
///         singular.
[[nodiscard]] Platform checked(const Platform& platform);
/// Platform with a payload fixed to it. C moves to the common center of mass: anchors and home pose
/// shift, and all poses refer to the new C.
/// @param mass of the payload [kg].
/// @param com its center of mass, platform frame [m].
/// @param inertia of the payload about com, platform axes [kg m^2].
/// @throws Error kUsage for an impossible payload.
[[nodiscard]] Platform with_payload(const Platform& platform, double mass, const Vec3<double>& com,
                                    const Mat3<double>& inertia);
/// The platform with its frame at the point `tool` [m], platform frame: positions are then of this point, and turns are
/// about it. Kinematics only: it has no masses.
/// @throws Error kUsage for a point that is not finite.
[[nodiscard]] Platform with_tool(const Platform& platform, const Vec3<double>& tool);

[[nodiscard]] Model<double> make_model(const Platform& platform);
[[nodiscard]] Limits<double> make_limits(const Platform& platform);
[[nodiscard]] Place<double> home_place(const Platform& platform);

/// Poses of n samples: position of C and orientation of the platform in the base frame.
struct Poses {
  std::vector<double> position;    ///< [n,3] of C, base axes [m]
  std::vector<double> quaternion;  ///< [n,4] Euler parameters, scalar first; need not be normalized on input
};

/// Platforms of a batch: one for all samples, or one per sample (tolerance and calibration
/// studies). All functions throw Error(kUsage) for another number.
using Platforms = std::vector<Platform>;

}  // namespace garra::platform
