// Commands of fingers in a grasp scenario: torques and their limits.
#pragma once

#include <span>

#include "base/files/toml_reader.hpp"
#include "base/scenario/field_values.hpp"
#include "chain/files/robot_table.hpp"
#include "garra/grasp.hpp"

namespace garra::io {

inline constexpr JointDimension kJointTorque{kTorque, kForce};  ///< of turning and sliding joints

/// Requirements on a key with a number for each joint.
struct JointWanted {
  JointDimension dimension;
  Bounds bounds;
  const char* what = "a torque (force)";
};
/// A list with a number for each joint of a finger.
[[nodiscard]] std::vector<double> read_joint_values(const Node& node, const std::string& key,
                                                    const grasp::Finger& finger, const JointWanted& wanted);

/// The same as the value of a key.
[[nodiscard]] AnyValue joint_values(std::vector<double>& values, const grasp::Finger& finger,
                                    const JointWanted& wanted);

/// `tool` and `tip_radius`, the point at which fingers of robot files touch: of one finger, or of all in a hand whose
/// fingers have no tables.
void tip_fields(Fields& f, std::span<grasp::Finger> fingers);
/// `tau`, `gravity_compensation`, `rates` and `torque_limit`, likewise.
void command_fields(Fields& f, std::span<grasp::Finger> fingers);

/// Throws if parts of the command contradict (grasp::command_problem), naming the place in the document.
void check_command(const Node& document, const grasp::Scenario& scenario);

}  // namespace garra::io
