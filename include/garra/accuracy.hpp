// Estimates how accurately an arm places its tool, given tolerances of its joint frames, joint offsets, backlash,
// compliance, payload and temperature (docs/theory/accuracy.md).
// Takes: a Scenario: an arm, commanded joint values of one or several poses, distributions, limits of the tool's error.
// Gives: P(within): the probability that the tool's errors stay within their limits in every pose, and the
// distributions of the errors.
// Units and frames: SI; errors are actual minus commanded tool poses, in world axes; angles of rotation in rad.
// Bad input: chains of fewer than 2 or more than 7 joints, coupled joints and wrong counts throw Error(kUsage).
// Not for: arms that feed back their tool's pose, dynamic errors.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "garra/chain_study.hpp"
#include "garra/study/system.hpp"

namespace garra::accuracy {

inline constexpr int kMostJoints = 7;
inline constexpr int kMostPoses = 32;

/// An arm, its commanded poses and what is uncertain about it. Vectors of joints have one item each.
struct Scenario {
  std::string title, model, model_file, base, tip;
  chain::Robot robot;
  std::vector<double> q;              ///< [pose][joint] commanded values [rad or m]
  chain::JointInputs frame_position;  ///< shift of a link frame along each of its axes [m]
  chain::JointInputs frame_angle;     ///< turn of a link frame about each of its axes [rad]
  chain::JointInputs offset;          ///< zero of the joint's sensor [rad or m]
  chain::JointInputs backlash;        ///< play that the load leaves to one side [rad or m]
  std::vector<double> stiffness;      ///< of the joint's drive [N m/rad or N/m]; infinite where it is rigid
  bool gravity_compensated = false;   ///< the controller takes the nominal deflection into account
  study::Distribution payload = study::Distribution::constant(0);      ///< mass at the tool point [kg]
  study::Distribution temperature = study::Distribution::constant(0);  ///< above that of calibration [K]
  double expansion = 0;                                                ///< of all links [1/K]
  double position_limit = 1e-3;                                        ///< of the tool point's error [m]
  double angle_limit = std::numeric_limits<double>::infinity();        ///< of the tool's error of orientation [rad]
  study::Plan plan;
};

/// The study of a scenario, on every executor.
/// @throws Error kUsage for a scenario that no study can be made of.
[[nodiscard]] std::unique_ptr<study::RowStudy> make_study(const Scenario& scenario);

}  // namespace garra::accuracy
