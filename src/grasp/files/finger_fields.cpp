// A finger: the built-in arm, a robot file, or rows of Denavit and Hartenberg.
#include "grasp/files/finger_fields.hpp"

#include <algorithm>

#include "base/files/number.hpp"
#include "base/files/text_file.hpp"
#include "base/scenario/field_values.hpp"
#include "chain/files/pose_reader.hpp"
#include "chain/files/robot_table.hpp"
#include "grasp/files/command_fields.hpp"

namespace garra::io {

namespace {

using chain::DhJoint;
using grasp::Finger;

bool same(const Mat3<double>& a, const Mat3<double>& b) {
  for (int i = 0; i < 9; ++i)
    if (a[i] != b[i]) return false;
  return true;
}
bool same(const Vec3<double>& a, const Vec3<double>& b) { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2]; }

bool same(const DhJoint& a, const DhJoint& b) {
  const chain::LinkData &x = a.link, &y = b.link;
  return a.a == b.a && a.d == b.d && a.alpha == b.alpha && a.theta == b.theta &&
         x.joint.prismatic == y.joint.prismatic && x.armature == y.armature && x.body.mass == y.body.mass &&
         same(x.body.com, y.body.com) && same(x.body.inertia, y.body.inertia);
}

/// Whether it is the built-in arm, with or without motors' inertia.
bool is_puma(const Finger& finger, bool armature) {
  // The tool may be moved along the last z axis only: `tool` of a model expresses nothing else.
  const Pose<double> tool = {Mat3<double>::identity(), {{0, 0, finger.tool.p[2]}}};
  if (finger.robot || finger.modified || !same(finger.tool.R, tool.R) || !same(finger.tool.p, tool.p)) return false;
  const std::vector<DhJoint> puma = chain::puma560(armature);
  const auto equal = [](const auto& a, const auto& b) { return same(a, b); };
  return std::equal(finger.joints.begin(), finger.joints.end(), puma.begin(), puma.end(), equal);
}

/// "ldn": arm r or l, elbow u or d, wrist n or f.
AnyValue branch(Finger& finger) {
  const auto read = [&finger](const Node& node, const std::string& key) {
    const std::string letters = read_string(node, key);
    const auto letter_in = [&](std::size_t i, const char* two) {
      return letters.size() == 3 && (letters[i] == two[0] || letters[i] == two[1]);
    };
    if (!letter_in(0, "rl") || !letter_in(1, "ud") || !letter_in(2, "nf"))
      fail(node.place, key, "not a branch of the PUMA's inverse kinematics: " + describe(node),
           "Write three letters: arm r or l, elbow u or d, wrist n or f, such as \"ldn\".");
    finger.arm = letters[0] == 'r' ? 1 : -1;
    finger.elbow = letters[1] == 'u' ? 1 : -1;
    finger.wrist = letters[2] == 'n' ? 1 : -1;
  };
  const auto write = [&finger] {
    return text(std::string{finger.arm > 0 ? 'r' : 'l', finger.elbow > 0 ? 'u' : 'd', finger.wrist > 0 ? 'n' : 'f'});
  };
  return custom({read, write, "three letters", R"({"type": "string", "pattern": "^[rl][ud][nf]$"})"});
}

void branch_field(Fields& f, Finger& finger) {
  f.key("branch", branch(finger), {.doc = "of the inverse kinematics: arm r or l, elbow u or d, wrist n or f"});
}

void arm_fields(Fields& f, Finger& finger) {
  // Determined from the joints: the finger does not store how it was made.
  bool armature = !is_puma(finger, false);
  f.key("tool", quantity(finger.tool.p[2], {kLength}), {.doc = "a distance along the last z axis"});
  f.key("armature", boolean(armature), {.doc = "whether the motors' inertia counts"});
  if (f.reading()) finger.joints = chain::puma560(armature);
}

/// Defaults of a PUMA finger.
void set_puma(Finger& finger) {
  // The tool of 0.1 m and the elbow down are defaults of the built-in arm only.
  finger.tool.p[2] = 0.1;
  finger.elbow = -1;
}

void read_file(Fields& f, const std::string& scenario, const std::vector<JointLock>& locks, Finger& finger) {
  grasp::FingerFile& file = finger.file;
  file.path = file_beside(scenario, file.name);
  try {
    finger.robot = read_robot(file.path, {.base = file.root_link,
                                          .tip = file.tip,
                                          .overrides = {},
                                          .locks = locks,
                                          .needs_mass = true,
                                          .takes_coupled = true});
  } catch (const Error& error) {
    // A missing file and a wrong link are mistakes in this scenario, reported with its others. An error inside the
    // robot file is reported with its own place.
    if (error.code() == ExitCode::kInputOutput || error.code() == ExitCode::kUsage)
      return f.check(false, "file", error.what(), "");
    throw;
  }
}

/// A finger from a robot file beside the scenario, or its copy in models/.
void file_fields(Fields& f, const std::string& scenario, Finger& finger) {
  // A copy: the fields below only read it, and reading replaces it.
  const chain::Robot robot = finger.robot.value_or(chain::Robot{});
  f.key("file", string(finger.file.name),
        {.doc = "a robot file beside the scenario (`models/` first): URDF with the links it is between and where side "
                "branches stand ([robots.md](../reference/robots.md#urdf)), or TOML",
         .comment = robot.name + ", from " + finger.file.path,
         .otherwise = "this, `model` or `dh`"});
  f.key("root_link", string(finger.file.root_link, true), {.doc = "of a URDF: the link that it starts from"});
  f.key("tip", string(finger.file.tip, true), {.doc = "of a URDF: the link that the finger ends in"});
  std::vector<JointLock> locked;
  f.key("lock", locks(locked, robot, finger.file.path), {.doc = "of a URDF: where side branches stand"});
  tip_fields(f, {&finger, 1});
  f.then([&] { read_file(f, scenario, locked, finger); });
}

AnyValue dh_rows(Finger& finger) {
  const auto row = [](DhJoint& joint) {
    return list_value({4,
                       [&joint](std::size_t k) {
                         double* const all[4] = {&joint.a, &joint.d, &joint.alpha, &joint.theta};
                         return quantity(*all[k], {k < 2 ? kLength : kAngle});
                       },
                       "`[a, d, alpha, theta_offset]`"});
  };
  const auto read = [&finger, row](const Node& node, const std::string& key) {
    const std::size_t rows = read_array(node, key, 0).size();
    if (rows == 0 || rows > chain::kMaxJoints)
      fail(node.place, key,
           "expected 1 to " + std::to_string(chain::kMaxJoints) + " rows, found " + std::to_string(rows),
           "Write one row [a, d, alpha, theta_offset] for each joint.");
    finger.joints.resize(rows);
    for (std::size_t i = 0; i < rows; ++i) row(finger.joints[i]).read(node.items[i], item(key, i));
  };
  const auto write = [&finger, row] {
    return list_value({finger.joints.size(), [&](std::size_t i) { return row(finger.joints[i]); }, ""}).text();
  };
  return custom({read, write, "1 to 16 rows `[a, d, alpha, theta_offset]`",
                 R"({"type": "array", "minItems": 1, "maxItems": 16, "items": {"type": "array", "minItems": 4,
                     "maxItems": 4}})"});
}

/// Whether the last joint moves mass; otherwise the mass matrix is singular.
bool moves_mass(const chain::LinkData& last) {
  const Mat3<double>& I = last.body.inertia;
  const bool turns = I(0, 0) + I(1, 1) + I(2, 2) > 0 && !last.joint.prismatic;
  return last.armature > 0 || last.body.mass > 0 || turns;
}

void row_fields(Fields& f, Finger& finger) {
  const auto of_joints = [&](const char* name, const char* takes, const std::function<AnyValue(DhJoint&)>& one,
                             const Words& words) {
    const auto of = [&](std::size_t i) { return one(finger.joints[i]); };
    f.key(name, list_value({finger.joints.size(), of, takes}), words);
  };
  f.key("dh", dh_rows(finger),
        {.doc = "the chain", .comment = "a m, d m, alpha, theta_offset", .otherwise = "this, `model` or `file`"});
  f.key("modified", boolean(finger.modified), {.comment = "true: Craig's convention"});
  of_joints("prismatic", "true, false per joint", [](DhJoint& j) { return boolean(j.link.joint.prismatic); },
            {.doc = "which joints slide", .otherwise = "`false`"});
  of_joints("mass", "kg per joint",
            [](DhJoint& j) {
              return quantity(j.link.body.mass, {kMass, Bounds::not_negative()});
            },
            {.doc = "of each link", .otherwise = "`0`"});
  of_joints("com", "[x, y, z] per joint, m", [](DhJoint& j) { return vector(j.link.body.com, {kLength}); },
            {.doc = "in the link's frame", .comment = "m, in the link's frame", .otherwise = "`0`"});
  of_joints("inertia", "`{ ixx, iyy, izz, ixy, ixz, iyz }` per joint, kg*m^2",
            [](DhJoint& j) { return inertia(j.link.body.inertia); },
            {.doc = "about com, link axes (lists: [robots.md](../reference/robots.md#toml))",
             .comment = "kg*m^2 about com",
             .otherwise = "`0`"});
  of_joints("armature", "kg*m^2 (kg) per joint",
            [](DhJoint& j) {
              return quantity(j.link.armature, {j.link.joint.prismatic ? kMass : kInertia, Bounds::not_negative()});
            },
            {.doc = "of each motor", .comment = "kg*m^2", .otherwise = "`0`"});
  f.check(finger.joints.empty() || moves_mass(finger.joints.back().link), "", "the last joint moves no mass",
          "Give mass and com, inertia, or armature for each joint.");
  f.key("tool", either(Node::Kind::kTable, pose(finger.tool), quantity(finger.tool.p[2], {kLength})),
        {.doc = "a distance along the last z axis, or the fingertip in the last link's frame", .otherwise = "`0`"});
}

void start_fields(Fields& f, bool is_file, bool is_known, Finger& finger) {
  const AnyValue values =
      list_value({finger.joint_count(),
                  [&](std::size_t i) { return quantity(finger.start[i], {kJointPosition.of(finger.prismatic(i))}); },
                  "one number for each joint", false});
  const bool stands = is_file && f.has("q", false);  // the finger stands there: the search starts there
  f.check(!f.reading() || !stands || !f.has("start", false), "q", "both q and start",
          "Both say where the search for the contact starts.");
  if (stands)
    f.key("q", AnyValue(values),
          {.doc = "of a `file`: joint values where the finger stands; the search for the contact starts there (the "
                  "same as `start`)"});
  const std::string remedy = "Give joint values near the grasp, one per joint: start = [\"30 deg\", ...].";
  f.key("start", AnyValue(values),
        {.doc = "numeric needs it: joint values near the grasp",
         .required = f.reading() && is_known && !stands ? remedy : "",
         .otherwise = "none"});
}

}  // namespace

void puma_fields(Fields& f, Finger& finger) {
  set_puma(finger);
  arm_fields(f, finger);
  branch_field(f, finger);
}

// A finger is written in the one of the three forms that it still has.
void finger_fields(Fields& f, const std::string& scenario, Finger& finger) {
  const bool puma = is_puma(finger, true) || is_puma(finger, false);
  const bool model = f.has("model", puma), file = f.has("file", finger.robot.has_value()),
             rows = f.has("dh", !puma && !finger.robot);
  const int given = model + file + rows;
  f.check(!f.reading() || given == 1, "", given == 0 ? "no model, file or dh" : "more than one of model, file and dh",
          "Write model = \"puma560\", file = \"hand.urdf\" with tip = \"link\", or dh = [[a, d, alpha, theta_offset], "
          "...].");
  // With two forms at once the wrong keys are not known.
  if (f.reading() && given > 1) return f.give_up();
  // Not while it is written: a resolved finger has its own values.
  if (model && !f.writing()) set_puma(finger);
  if (f.reading()) finger.ik = model ? grasp::Ik::kPuma : grasp::Ik::kNumeric;
  const Case of_model{model, "`model`"};
  f.when(of_model, [&] {
    std::string name = "puma560";
    f.key("model", choice(name, {name}), {.doc = "a built-in arm", .otherwise = "this, `file` or `dh`"});
    arm_fields(f, finger);
  });
  f.when({file, "`file`"}, [&] { file_fields(f, scenario, finger); });
  f.when({rows, "`dh`"}, [&] { row_fields(f, finger); });
  f.key("base", pose(finger.base),
        {.doc = "where the root (of a TOML robot: its world) is in the palm", .otherwise = "the palm's frame"});
  f.key("ik", choice(finger.ik), {.doc = "inverse kinematics", .otherwise = "that of the model"});
  f.check(model || finger.ik != grasp::Ik::kPuma, "ik", "the closed form fits model = \"puma560\" only",
          "Write ik = \"numeric\" and start = [...].");
  f.when(of_model, [&] { branch_field(f, finger); });
  f.when({finger.ik == grasp::Ik::kNumeric, "ik = \"numeric\""}, [&] { start_fields(f, file, given == 1, finger); });
  command_fields(f, {&finger, 1});
}

}  // namespace garra::io
