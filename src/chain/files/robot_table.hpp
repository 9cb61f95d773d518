// [robot] of a scenario, and what its tables say of single joints: the same in every job about one serial chain.
#pragma once

#include <string>
#include <vector>

#include "base/files/robot_model.hpp"
#include "base/files/toml_reader.hpp"
#include "base/scenario/field_values.hpp"
#include "garra/chain.hpp"
#include "garra/io/robot.hpp"

namespace garra::io {

/// Dimensions of a number that turning and sliding joints have.
struct JointDimension {
  Dimension turning, sliding;

  [[nodiscard]] const Dimension& of(bool prismatic) const { return prismatic ? sliding : turning; }
  [[nodiscard]] const Dimension& of(const chain::Joint& joint) const { return of(joint.prismatic); }
};
inline constexpr JointDimension kJointPosition{kAngle, kLength};                        ///< [rad] or [m]
inline constexpr JointDimension kJointStiffness{kTurningStiffness, kSlidingStiffness};  ///< [N m/rad] or [N/m]

/// [robot]: a robot, and how the scenario names it.
struct NamedRobot {
  std::string& model;       ///< name or file as the scenario gives it
  std::string& model_file;  ///< the file that it was read from
  std::string &base, &tip;  ///< URDF: links the chain is between
  chain::Robot& robot;
  bool needs_mass = false, takes_coupled = false;  ///< RobotOptions
};

/// Mass, com, inertia of what the tip link of a URDF carries.
void payload_fields(Fields& f, chain::Body& payload);

/// The table of the scenario file `scenario`, beside which models/ may hold a copy of the robot. `example` is a name
/// for remedies. Reads the robot as read_robot().
void robot_fields(Fields& f, const std::string& scenario, const std::string& example, const NamedRobot& named);

/// `lock = { joint = value }` of a table that names a URDF. Written back with all locked joints, where the file is a
/// URDF and has such joints: in a TOML robot they are part of the links.
[[nodiscard]] AnyValue locks(std::vector<JointLock>& locks, const chain::Robot& robot, const std::string& file);
/// The same as it is read, without a robot.
[[nodiscard]] std::vector<JointLock> read_locks(const Node& node, const std::string& key);

}  // namespace garra::io
