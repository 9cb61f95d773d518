#include "io/finger_reader.hpp"

#include "io/command_reader.hpp"
#include "io/distribution_reader.hpp"
#include "io/pose_reader.hpp"
#include "io/robot_table.hpp"
#include "io/text_file.hpp"

namespace garra::io {

namespace {

using chain::DhJoint;
using grasp::Finger;

/// "ldn": arm r or l, elbow u or d, wrist n or f.
void read_branch(const Node& node, const std::string& key, Finger& finger) {
  const std::string branch = read_string(node, key);
  const auto letter_in = [&](std::size_t i, const char* two) {
    return branch.size() == 3 && (branch[i] == two[0] || branch[i] == two[1]);
  };
  if (!letter_in(0, "rl") || !letter_in(1, "ud") || !letter_in(2, "nf")) {
    fail(node.place, key, "not a branch of the PUMA's inverse kinematics: " + describe(node),
         "Write three letters: arm r or l, elbow u or d, wrist n or f, such as \"ldn\".");
  }
  finger.arm = branch[0] == 'r' ? 1 : -1;
  finger.elbow = branch[1] == 'u' ? 1 : -1;
  finger.wrist = branch[2] == 'n' ? 1 : -1;
}

void read_dh_rows(const Node& node, const std::string& key, Finger& finger) {
  const std::vector<Node>& rows = read_array(node, key, 0);
  if (rows.empty() || rows.size() > chain::kMaxJoints) {
    fail(node.place, key,
         "expected 1 to " + std::to_string(chain::kMaxJoints) + " rows, found " + std::to_string(rows.size()),
         "Write one row [a, d, alpha, theta_offset] for each joint.");
  }
  finger.joints.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string row_key = item(key, i);
    const std::vector<Node>& row = read_array(rows[i], row_key, 4);
    finger.joints[i].a = read_quantity(row[0], item(row_key, 0), kLength);
    finger.joints[i].d = read_quantity(row[1], item(row_key, 1), kLength);
    finger.joints[i].alpha = read_quantity(row[2], item(row_key, 2), kAngle);
    finger.joints[i].theta = read_quantity(row[3], item(row_key, 3), kAngle);
  }
}

/// Calls read(joint, node, key) for each joint's item of an array, where the key is given.
template <class Read>
void for_each_joint(TableReader& table, const std::string& name, Finger& finger, Read read) {
  const Node* node = table.find(name);
  if (node == nullptr) return;
  const std::string key = table.name(name);
  const std::vector<Node>& items = read_array(*node, key, finger.joints.size());
  for (std::size_t i = 0; i < items.size(); ++i) read(finger.joints[i], items[i], item(key, i));
}

void read_bodies(TableReader& table, Finger& finger) {
  for_each_joint(table, "prismatic", finger, [](DhJoint& j, const Node& n, const std::string& key) {
    j.link.joint.prismatic = read_boolean(n, key);
  });
  for_each_joint(table, "mass", finger, [](DhJoint& j, const Node& n, const std::string& key) {
    j.link.body.mass = read_bounded(n, key, {kMass, Bounds::not_negative()});
  });
  for_each_joint(table, "com", finger, [](DhJoint& j, const Node& n, const std::string& key) {
    j.link.body.com = read_vector(n, key, kLength);
  });
  for_each_joint(table, "inertia", finger,
                 [](DhJoint& j, const Node& n, const std::string& key) { j.link.body.inertia = read_inertia(n, key); });
  for_each_joint(table, "armature", finger, [](DhJoint& j, const Node& n, const std::string& key) {
    const bool prismatic = j.link.joint.prismatic;
    j.link.armature = read_bounded(n, key, {prismatic ? kMass : kInertia, Bounds::not_negative()});
  });
}

/// A last joint that moves nothing makes the mass matrix singular.
void check_last_link(const TableReader& table, const chain::LinkData& last) {
  const Mat3<double>& I = last.body.inertia;
  const bool turns = I(0, 0) + I(1, 1) + I(2, 2) > 0 && !last.joint.prismatic;
  if (last.armature > 0 || last.body.mass > 0 || turns) return;
  fail(table.place(), table.path(), "the last joint moves no mass",
       "Give mass and com, inertia, or armature for each joint.");
}

void read_dh_chain(TableReader& table, const Node& rows, Finger& finger) {
  read_dh_rows(rows, table.name("dh"), finger);
  if (const Node* node = table.find("modified")) finger.modified = read_boolean(*node, table.name("modified"));
  read_bodies(table, finger);
  check_last_link(table, finger.joints.back().link);
  const Node* tool = table.find("tool");
  if (tool == nullptr) return;
  if (tool->kind == Node::Kind::kTable) {
    finger.tool = read_pose(*tool, table.name("tool"));
  } else {
    finger.tool.p[2] = read_quantity(*tool, table.name("tool"), kLength);
  }
}

void read_ik(TableReader& table, bool is_puma, Finger& finger) {
  finger.ik = is_puma ? grasp::Ik::kPuma : grasp::Ik::kNumeric;
  if (const Node* node = table.find("ik")) {
    const std::string ik = read_choice(*node, table.name("ik"), {"puma", "numeric"});
    if (ik == "puma" && !is_puma) {
      fail(node->place, table.name("ik"), "the closed form fits model = \"puma560\" only",
           "Write ik = \"numeric\" and start = [...].");
    }
    finger.ik = ik == "puma" ? grasp::Ik::kPuma : grasp::Ik::kNumeric;
  }
  if (finger.ik != grasp::Ik::kNumeric) return;
  const Node* stands = finger.robot ? table.find("q") : nullptr;  // the finger stands there: the search starts there
  if (stands != nullptr && table.find("start") != nullptr)
    fail(stands->place, table.name("q"), "both q and start", "Both say where the search for the contact starts.");
  const Node& node =
      stands != nullptr
          ? *stands
          : table.require("start", "Give joint values near the grasp, one per joint: start = [\"30 deg\", ...].");
  const std::string key = table.name(stands != nullptr ? "q" : "start");
  const std::vector<Node>& items = read_array(node, key, finger.joint_count());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool prismatic = finger.prismatic(i);
    finger.start[i] = read_quantity(items[i], item(key, i), prismatic ? kLength : kAngle);
  }
}

}  // namespace

Finger read_puma(TableReader& table) {
  double tool = 0.1;
  bool armature = true;
  if (const Node* node = table.find("tool")) tool = read_quantity(*node, table.name("tool"), kLength);
  if (const Node* node = table.find("armature")) armature = read_boolean(*node, table.name("armature"));
  Finger finger{.joints = chain::puma560(armature), .elbow = -1};
  finger.tool.p[2] = tool;
  if (const Node* node = table.find("branch")) read_branch(*node, table.name("branch"), finger);
  return finger;
}

namespace {

/// A finger from a robot file: beside the scenario, or its copy in models/.
void read_robot_finger(TableReader& table, const Node& node, const std::string& scenario, Finger& finger) {
  finger.file.name = read_string(node, table.name("file"));
  if (const Node* root = table.find("root_link")) finger.file.root_link = read_string(*root, table.name("root_link"));
  if (const Node* tip = table.find("tip")) finger.file.tip = read_string(*tip, table.name("tip"));
  std::vector<JointLock> locks;
  if (const Node* lock = table.find("lock")) locks = read_locks(*lock, table.name("lock"));
  finger.file.path = file_beside(scenario, finger.file.name);
  try {
    finger.robot = read_robot(finger.file.path,
                              {.base = finger.file.root_link, .tip = finger.file.tip, .overrides = {}, .locks = locks});
  } catch (const Error& error) {
    if (error.code() == ExitCode::kInputOutput || error.code() == ExitCode::kUsage)
      fail(node.place, table.name("file"), error.what(), "");
    throw;
  }
}

}  // namespace

Finger read_finger(TableReader& table, const std::string& scenario) {
  const std::string& key = table.path();
  const Node *dh = table.find("dh"), *model = table.find("model"), *file = table.find("file");
  const int given = (dh != nullptr) + (model != nullptr) + (file != nullptr);
  if (given == 0)
    table.refuse_others({"model",       "file",    "tip",      "root_link", "lock",
                         "q",           "dh",      "modified", "prismatic", "mass",
                         "com",         "inertia", "armature", "tool",      "branch",
                         "base",        "ik",      "start",    "tau",       "gravity_compensation",
                         "torque_limit"});
  if (given != 1) {
    fail(table.place(), key, given == 0 ? "no model, file or dh" : "more than one of model, file and dh",
         "Write model = \"puma560\", file = \"hand.urdf\" with tip = \"link\", or dh = [[a, d, alpha, theta_offset], "
         "...].");
  }
  Finger finger;
  if (model != nullptr) {
    static_cast<void>(read_choice(*model, table.name("model"), {"puma560"}));
    finger = read_puma(table);
  } else if (file != nullptr) {
    read_robot_finger(table, *file, scenario, finger);
  } else {
    read_dh_chain(table, *dh, finger);
  }
  if (const Node* base = table.find("base")) finger.base = read_pose(*base, table.name("base"));
  read_ik(table, model != nullptr, finger);
  read_finger_command(table, finger);
  return finger;
}

}  // namespace garra::io
