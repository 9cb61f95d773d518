// [robot] of a scenario, and what its tables say of single joints: the same in every job about one serial chain.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "garra/chain.hpp"
#include "garra/io/robot.hpp"
#include "io/robot_model.hpp"
#include "io/scenario_text.hpp"
#include "io/toml_reader.hpp"

namespace garra::io {

/// Dimensions of a number that turning and sliding joints have.
struct JointDimension {
  Dimension turning, sliding;

  [[nodiscard]] const Dimension& of(bool prismatic) const { return prismatic ? sliding : turning; }
  [[nodiscard]] const Dimension& of(const chain::Joint& joint) const { return of(joint.prismatic); }
};
inline constexpr JointDimension kJointPosition{kAngle, kLength};

/// A robot, and how the scenario names it.
struct NamedRobot {
  std::string model;       ///< name or file as the scenario gives it
  std::string model_file;  ///< the file that it was read from
  std::string base, tip;   ///< URDF: links the chain is between
  chain::Robot robot;
};

/// [robot] of the scenario file `scenario`, beside which models/ may hold a copy of the robot. Throws where none or two
/// are named, and as read_robot().
[[nodiscard]] NamedRobot read_robot_table(const Node& node, const std::string& scenario);

/// `lock = { joint = value }` of a table that names a URDF.
[[nodiscard]] std::vector<JointLock> read_locks(TableReader& table);
/// The key written back with all locked joints, where the file is a URDF and has such joints: in a TOML robot they are
/// part of the links.
void write_locks(const chain::Robot& robot, const std::string& file, Writer& w);

/// Puts the robot into a scenario that has these members.
template <class Scenario>
void put_robot(NamedRobot robot, Scenario& s) {
  s.model = std::move(robot.model);
  s.model_file = std::move(robot.model_file);
  s.base = std::move(robot.base);
  s.tip = std::move(robot.tip);
  s.robot = std::move(robot.robot);
}

/// The table written back.
template <class Scenario>
void write_robot_table(const Scenario& s, Writer& w) {
  w.table("robot");
  w.line(is_robot_path(s.model) ? "file" : "model", text(s.model), s.robot.name + ", from " + s.model_file);
  if (!s.base.empty()) w.line("base", text(s.base));
  if (!s.tip.empty()) w.line("tip", text(s.tip));
  write_locks(s.robot, s.model_file, w);
}

}  // namespace garra::io
