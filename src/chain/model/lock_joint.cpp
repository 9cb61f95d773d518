// chain::lock_joint: the chain with one joint fixed.
#include <cmath>
#include <cstdio>

#include "garra/chain_generate.hpp"
#include "garra/core/error.hpp"

namespace garra::chain {

namespace {

constexpr double kRounding = 1e-9;  ///< of a limit that is written down [rad or m]

/// X_{i-1,i}(q)
Pose<double> joint_pose(const JointForm<double>& j, bool prismatic, double q) {
  const double theta = j.theta + (prismatic ? 0 : q), c = std::cos(theta), s = std::sin(theta);
  const Mat3<double> tilt = {{1, 0, 0, 0, j.cos_alpha, -j.sin_alpha, 0, j.sin_alpha, j.cos_alpha}};
  return {tilt * Mat3<double>{{c, -s, 0, s, c, 0, 0, 0, 1}}, tilt * vec3(j.a, j.b, j.d + (prismatic ? q : 0))};
}

}  // namespace

Robot lock_joint(const Robot& robot, int joint, double q) {
  require_uncoupled(robot, "lock_joint");
  if (joint < 0 || joint >= robot.joints || robot.joints == 1)
    throw Error(ExitCode::kUsage, "the robot \"" + robot.name + "\" has no joint " + std::to_string(joint) + " to fix",
                "Joints count from 0; one must be left.");
  if (!std::isfinite(q)) throw Error(ExitCode::kUsage, "the value of a fixed joint is not finite");
  const Joint& fixed = robot.joint[static_cast<std::size_t>(joint)];
  if (q < fixed.lower - kRounding || q > fixed.upper + kRounding) {
    char text[96];
    std::snprintf(text, sizeof text, " = %g is outside its limits, %g to %g (rad or m)", q, fixed.lower, fixed.upper);
    throw Error(ExitCode::kUsage, "fixed: " + fixed.name + text);
  }
  RobotData data{.name = robot.name, .source = robot.source, .base = robot.base, .gravity = robot.gravity};
  std::vector<GeneralJoint> joints;
  // `to_next`: the kernel frame of the joint before in the link frame of the last joint that moves.
  Pose<double> to_next = Pose<double>::identity();
  for (int i = 0; i < robot.joints; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const Joint& moves = robot.joint[k];
    const Pose<double> offset = robot.link[k].offset;
    if (i == joint) {
      to_next = to_next * joint_pose(robot.form[k], moves.prismatic, q);
      if (!joints.empty()) {
        LinkData& link = joints.back().link;
        link.body = merge(link.body, robot.body[k], to_next * offset);
      }
      continue;
    }
    joints.push_back({.placement = to_next * joint_pose(robot.form[k], moves.prismatic, 0),
                      .after = offset,
                      .link = {.frame = robot.link[k].name,
                               .joint = moves,
                               .body = robot.body[k],
                               .armature = robot.form[k].armature,
                               .damping = robot.form[k].damping}});
    to_next = inverse(offset);
  }
  data.tool = to_next * robot.tool;
  Robot out = from_joints(data, joints);
  out.warnings = robot.warnings;
  return out;
}

}  // namespace garra::chain
