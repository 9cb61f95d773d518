// Robots in TOML (docs/robots.md).
#include <array>
#include <cmath>

#include "base/scenario/distribution_reader.hpp"
#include "chain/files/pose_reader.hpp"
#include "garra/io/robot.hpp"

namespace garra::io {

namespace {

using chain::DhJoint;
using chain::GrymaJoint;
using chain::KernelJoint;
using chain::LinkData;
using chain::Robot;
using chain::RobotData;
using chain::ScrewJoint;

/// Sets `value` where the key is given.
void read_optional(TableReader& table, const char* key, const Dimension& dimension, double& value) {
  if (const Node* node = table.find(key)) value = read_quantity(*node, table.name(key), dimension);
}
void read_not_negative(TableReader& table, const char* key, const Dimension& dimension, double& value) {
  if (const Node* node = table.find(key))
    value = read_bounded(*node, table.name(key), {dimension, Bounds::not_negative()});
}

void read_body(TableReader& table, LinkData& link) {
  if (const Node* node = table.find("name")) link.joint.name = read_string(*node, table.name("name"));
  if (const Node* node = table.find("frame")) link.frame = read_string(*node, table.name("frame"));
  read_not_negative(table, "mass", kMass, link.body.mass);
  if (const Node* node = table.find("com")) link.body.com = read_vector(*node, table.name("com"), kLength);
  if (const Node* node = table.find("inertia")) link.body.inertia = read_inertia(*node, table.name("inertia"));
}

void read_limits(TableReader& table, chain::Joint& joint) {
  const Dimension position = joint.prismatic ? kLength : kAngle;
  if (const Node* node = table.find("limits")) {
    const std::string key = table.name("limits");
    const std::vector<Node>& items = read_array(*node, key, 2);
    joint.lower = read_quantity(items[0], item(key, 0), position);
    joint.upper = read_quantity(items[1], item(key, 1), position);
    if (joint.lower > joint.upper)
      fail(node->place, key, "the lower limit is above the upper", "Write limits = [lower, upper].");
  }
  read_not_negative(table, "velocity_limit", joint.prismatic ? kVelocity : kAngularVelocity, joint.velocity_limit);
  read_not_negative(table, "effort_limit", joint.prismatic ? kForce : kTorque, joint.effort_limit);
}

/// All but the geometry of a joint whose kind is known.
// After the kind is known, since units of limits and damping depend on it.
LinkData read_link(TableReader& table, bool prismatic) {
  LinkData link;
  link.joint.prismatic = prismatic;
  read_body(table, link);
  read_limits(table, link.joint);
  read_not_negative(table, "armature", prismatic ? kMass : kInertia, link.armature);
  read_not_negative(table, "damping", prismatic ? kSlidingDamping : kTurningDamping, link.damping);
  return link;
}

bool read_prismatic(TableReader& table) {
  // Revolute unless it says otherwise.
  const Node* node = table.find("type");
  return node != nullptr && read_choice(*node, table.name("type"), {"revolute", "prismatic"}) == "prismatic";
}

DhJoint read_dh(TableReader& table) {
  DhJoint row;
  const bool prismatic = read_prismatic(table);
  read_optional(table, "a", kLength, row.a);
  read_optional(table, "d", kLength, row.d);
  read_optional(table, "alpha", kAngle, row.alpha);
  read_optional(table, "theta", kAngle, row.theta);
  row.link = read_link(table, prismatic);
  return row;
}

GrymaJoint read_gryma(TableReader& table) {
  GrymaJoint row;
  const Node& code = table.require("theta", "Write the Theta code, 0 to 8: 0 fixed, 4 5 6 revolute about x y z.");
  const std::int64_t theta = read_integer(code, table.name("theta"));
  if (theta < 0 || theta > 8) {
    fail(code.place, table.name("theta"), "unknown Theta code " + std::to_string(theta),
         "0 fixed; 1 2 3 prismatic, 4 5 6 revolute along x y z; 7 prismatic, 8 revolute along alpha, beta.");
  }
  row.theta = static_cast<int>(theta);
  if (const Node* node = table.find("d")) row.d = read_vector(*node, table.name("d"), kLength);
  if (theta >= 7) {
    read_optional(table, "alpha", kAngle, row.alpha);
    read_optional(table, "beta", kAngle, row.beta);
  }
  // A fixed row has a body but nothing that moves: no limits, no armature.
  if (theta == 0) {
    read_body(table, row.link);
  } else {
    row.link = read_link(table, theta <= 3 || theta == 7);
  }
  return row;
}

ScrewJoint read_screw(TableReader& table) {
  ScrewJoint joint;
  const Node& node = table.require("screw", "Write screw = [sx, sy, sz, mx, my, mz]: direction, moment p x direction.");
  const std::string key = table.name("screw");
  const std::vector<Node>& items = read_array(node, key, 6);
  for (std::size_t i = 0; i < 6; ++i) {
    double& x = i < 3 ? joint.direction[static_cast<int>(i)] : joint.moment[static_cast<int>(i) - 3];
    // Numbers without units: a screw is given in SI.
    x = read_quantity(items[i], item(key, i), kRatio);
  }
  const double s = norm(joint.direction), m = norm(joint.moment);
  if (s == 0 && m == 0)
    fail(node.place, key, "the screw is zero", "A prismatic joint has direction 0 and its axis as moment.");
  // The same bound as from_screws(), here with the place in the file.
  if (std::abs(dot(joint.direction, joint.moment)) > 1e-9 * s * m) {
    fail(node.place, key, "direction and moment are not perpendicular: a helical joint",
         "The moment is p x direction, with p any point of the axis.");
  }
  if (const Node* frame = table.find("pose")) joint.frame = read_pose(*frame, table.name("pose"));
  joint.link = read_link(table, s == 0);
  return joint;
}

KernelJoint read_kernel(TableReader& table) {
  KernelJoint row;
  const bool prismatic = read_prismatic(table);
  read_optional(table, "a", kLength, row.a);
  read_optional(table, "d", kLength, row.d);
  read_optional(table, "theta", kAngle, row.theta);
  read_optional(table, "cos_alpha", kRatio, row.cos_alpha);
  read_optional(table, "sin_alpha", kRatio, row.sin_alpha);
  if (const Node* frame = table.find("pose")) row.frame = read_pose(*frame, table.name("pose"));
  row.link = read_link(table, prismatic);
  return row;
}

/// What a URDF's chain had locked: already in the bodies, told again.
std::vector<chain::LockedJoint> read_locked(TableReader& root) {
  std::vector<chain::LockedJoint> locked;
  const Node* node = root.find("locked");
  if (node == nullptr) return locked;
  const std::vector<Node>& items = read_array(*node, "locked", 0);
  for (std::size_t i = 0; i < items.size(); ++i) {
    TableReader table(items[i], item("locked", i));
    chain::LockedJoint joint;
    joint.name = read_string(table.require("joint", "Write joint = \"its name\"."), table.name("joint"));
    joint.prismatic = read_prismatic(table);
    read_optional(table, "q", joint.prismatic ? kLength : kAngle, joint.q);
    read_not_negative(table, "mass", kMass, joint.mass);
    table.finish();
    locked.push_back(std::move(joint));
  }
  return locked;
}

template <class Joint, class Read>
std::vector<Joint> read_joints(TableReader& root, Read read) {
  const Node& node = root.require("joint", "Write one [[joint]] for each joint.");
  const std::vector<Node>& items = read_array(node, "joint", 0);
  std::vector<Joint> joints;
  for (std::size_t i = 0; i < items.size(); ++i) {
    TableReader table(items[i], item("joint", i));
    joints.push_back(read(table));
    table.finish();
  }
  return joints;
}

RobotData read_whole(TableReader& root, bool screws) {
  RobotData data;
  data.name = read_string(root.require("robot", "Write robot = \"its name\"."), "robot");
  if (const Node* node = root.find("source")) data.source = read_string(*node, "source");
  if (const Node* node = root.find("gravity")) data.gravity = read_vector(*node, "gravity", kAcceleration);
  if (const Node* node = root.find("base")) data.base = read_pose(*node, "base");
  // Of screws the tool pose at q = 0 is called home, and is given in the base.
  const char* tool = screws ? "home" : "tool";
  if (const Node* node = root.find(tool)) data.tool = read_pose(*node, tool);
  return data;
}

std::string read_convention(TableReader& root) {
  const Node& schema = root.require("schema", "Write schema = 1 in the first line.");
  if (read_integer(schema, "schema") != 1) {
    fail(schema.place, "schema", "unknown version " + std::to_string(read_integer(schema, "schema")),
         "This program reads schema = 1.");
  }
  return read_choice(root.require("convention", "Write convention = \"dh\"."), "convention",
                     {"dh", "modified_dh", "gryma", "screws", "kernel"});
}

Robot build(TableReader& root) {
  const std::string convention = read_convention(root);
  const RobotData data = read_whole(root, convention == "screws");
  // Known, though it is read later, by the convention.
  static_cast<void>(root.find("joint"));
  const std::vector<chain::LockedJoint> locked = read_locked(root);
  // Unknown keys come first: a misspelled one may be why another is missing.
  root.finish();
  if (convention == "kernel") {
    Robot robot = chain::from_kernel_form(data, read_joints<KernelJoint>(root, read_kernel));
    robot.locked = locked;
    return robot;
  }
  if (!locked.empty())
    fail(root.find("locked")->place, "locked", "belongs to convention = \"kernel\"", "Leave it out.");
  if (convention == "dh") return chain::from_dh(data, read_joints<DhJoint>(root, read_dh));
  if (convention == "modified_dh") return chain::from_modified_dh(data, read_joints<DhJoint>(root, read_dh));
  if (convention == "gryma") return chain::from_gryma(data, read_joints<GrymaJoint>(root, read_gryma));
  return chain::from_screws(data, read_joints<ScrewJoint>(root, read_screw));
}

}  // namespace

Robot parse_robot_toml(const std::string& text, const std::string& name, const RobotOptions& options) {
  if (!options.base.empty() || !options.tip.empty() || !options.locks.empty())
    throw Error(ExitCode::kUsage, name + ": base and tip links and locked joints are for URDF files",
                "A robot in TOML is one chain: leave them out.");
  const Node document = parse_toml(text, name, options.overrides);
  TableReader root(document, "");
  try {
    Robot robot = build(root);
    robot.warnings = inertia_warnings(document);
    return robot;
  } catch (const Error& error) {
    // What the builders refuse has no place in the file; what the readers refuse has, and so have overrides.
    const std::string what = error.what();
    const bool placed = error.code() != ExitCode::kUsage || what.starts_with("--set");
    if (placed) throw;
    throw Error(ExitCode::kInvalidFile, name + ":1:1: " + what);
  }
}

}  // namespace garra::io
