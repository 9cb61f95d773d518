// What the builders of serial chains share (robot.cpp, form.cpp).
#pragma once

#include "garra/chain.hpp"

namespace garra::chain {

/// A common normal is far where its foot is farther from the origin than this many distances of the two axes: tilts
/// below 0.1 rad. Moments about an origin there round to the square of that.
inline constexpr double kFarNormal = 10;

/// Throws Error(kUsage): "joint 3: problem", the joint counted from 0.
[[noreturn]] void refuse_joint(std::size_t index, const std::string& problem, const std::string& remedy);

/// A robot with names, limits and whole-robot data filled in and room for the links.
[[nodiscard]] Robot begin_robot(const RobotData& data, std::size_t joints);

/// Fills in joint i: its link's frame and body, the latter moved to the kernel frame.
void set_link(Robot& robot, std::size_t i, const Pose<double>& offset, const LinkData& link);

/// Sets the tool behind the last link and notes what is odd about the bodies.
void finish_robot(Robot& robot, const Pose<double>& tool);

/// Throws where the pose is not finite or its matrix no rotation.
void check_pose(const Pose<double>& pose, const std::string& what);

}  // namespace garra::chain
