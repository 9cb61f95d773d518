// What fingers are commanded in a grasp scenario: squeeze, force or torques, and friction that contacts share.
#pragma once

#include "garra/grasp.hpp"
#include "io/distribution_reader.hpp"
#include "io/robot_table.hpp"
#include "io/toml_reader.hpp"

namespace garra::io {

inline constexpr JointDimension kJointTorque{kTorque, kForce};

/// What a key with a number for each joint takes.
struct JointWanted {
  JointDimension dimension;
  Bounds bounds;
};
/// A list with a number for each joint of a finger.
[[nodiscard]] std::vector<double> read_joint_values(const Node& node, const std::string& key,
                                                    const grasp::Finger& finger, const JointWanted& wanted);

/// `tau`, `gravity_compensation` and `torque_limit` of a [[hand.finger]].
void read_finger_command(TableReader& table, grasp::Finger& finger);
/// The same of a hand whose fingers have no tables: one for all fingers, or a list with one for each.
void read_hand_command(TableReader& hand, std::vector<grasp::Finger>& fingers);

/// `friction`: a distribution; { each = D }, a factor on what all contacts share; in [contacts], where `common` is not
/// null, also { common = D, each = D }.
void read_friction(const Node& node, const std::string& key, study::Distribution* common, grasp::Contact& contact);

/// Throws where parts of the command do not go together (grasp::command_problem), naming the place in the document.
void check_command(const Node& document, const grasp::Scenario& scenario);

}  // namespace garra::io
