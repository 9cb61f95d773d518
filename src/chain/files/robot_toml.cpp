// Robots in TOML (docs/reference/robots.md): one list of fields for all conventions, by which files are read, written
// in kernel form, and described.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/files/number.hpp"
#include "base/scenario/field_reader.hpp"
#include "base/scenario/field_writer.hpp"
#include "base/scenario/jobs.hpp"
#include "base/scenario/parts.hpp"
#include "chain/files/link_parts.hpp"
#include "chain/files/pose_reader.hpp"
#include "chain/files/robot_table.hpp"
#include "chain/files/urdf_document.hpp"
#include "garra/io/robot.hpp"

namespace garra::io {

namespace {

using chain::Robot;

enum class Convention { kDh, kModifiedDh, kGryma, kScrews, kKernel };
constexpr auto names_of(Convention) { return names("dh", "modified_dh", "gryma", "screws", "kernel"); }

/// A joint as files have it; which members count depends on the convention.
struct FileJoint {
  chain::LinkData link;
  double a = 0, d = 0, alpha = 0, theta = 0;   ///< dh, modified_dh; kernel without alpha
  double b = 0, cos_alpha = 1, sin_alpha = 0;  ///< kernel
  int code = 0;                                ///< gryma, as are the next two
  Vec3<double> shift = Vec3<double>::zero();   ///< its d
  double azimuth = 0, polar = 0;               ///< its alpha and beta
  double screw[6] = {};                        ///< screws
  struct {
    std::string joint;
    double ratio = 1, offset = 0;
  } follows;                                      ///< which joint, "": none
  bool helical = false;                           ///< dh, modified_dh: it turns, and slides by pitch * q
  double pitch = 0;                               ///< [m/rad]; screws have theirs in the moment
  std::vector<chain::Body> parts;                 ///< of the link, instead of mass, com and inertia
  Pose<double> frame = Pose<double>::identity();  ///< screws, kernel

  [[nodiscard]] Vec3<double> direction() const { return {{screw[0], screw[1], screw[2]}}; }
  [[nodiscard]] Vec3<double> moment() const { return {{screw[3], screw[4], screw[5]}}; }
};

struct RobotFile {
  Convention convention = Convention::kDh;
  chain::RobotData data;
  std::vector<FileJoint> joint;
  std::vector<chain::LockedJoint> locked;
  Materials materials;
  std::string folder;  ///< of the file
};

constexpr JointDimension kVelocityLimit{kAngularVelocity, kVelocity}, kEffort{kTorque, kForce},
    kArmature{kInertia, kMass}, kDamping{kTurningDamping, kSlidingDamping};

/// Fields of these conventions alone.
Case of(Convention now, std::initializer_list<Convention> conventions) {
  Case c{std::find(conventions.begin(), conventions.end(), now) != conventions.end()};
  for (const Convention one : conventions)
    c.label += (c.label.empty() ? "convention = \"" : " or \"") + std::string(name_of(one)) + "\"";
  return c;
}

AnyValue joint_type(bool& prismatic) {
  return numbered_choice([&] { return prismatic ? 1 : 0; }, [&](int i) { prismatic = i == 1; },
                         {"revolute", "prismatic"});
}
AnyValue joint_type(FileJoint& j) {
  return numbered_choice([&] { return j.helical                ? 2
                                      : j.link.joint.prismatic ? 1
                                                               : 0; },
                         [&](int i) {
                           j.link.joint.prismatic = i == 1;
                           j.helical = i == 2;
                         },
                         {"revolute", "prismatic", "helical"});
}

AnyValue limits(chain::Joint& joint, const Dimension& position) {
  const auto read = [&joint, position](const Node& node, const std::string& key) {
    const std::vector<Node>& items = read_array(node, key, 2);
    joint.lower = read_quantity(items[0], item(key, 0), position);
    joint.upper = read_quantity(items[1], item(key, 1), position);
  };
  const auto write = [&joint, position] {
    if (std::isinf(joint.lower) && std::isinf(joint.upper)) return std::string();
    // Limits come in pairs: one that is missing is written as a number that no joint reaches.
    const auto end = [&](double x) { return text(std::isinf(x) ? std::copysign(1e300, x) : x, position); };
    return "[" + end(joint.lower) + ", " + end(joint.upper) + "]";
  };
  return custom({read, write, "[lower, upper], " + si_unit(position),
                 R"({"type": "array", "items": {"type": ["number", "string"]}, "minItems": 2, "maxItems": 2})"});
}

/// Where a joint moves, in units of its kind.
void motion_fields(Fields& f, bool prismatic, chain::LinkData& link) {
  const Dimension position = kJointPosition.of(prismatic);
  f.key("limits", limits(link.joint, position), {.doc = "of q", .comment = si_unit(position)});
  f.check(link.joint.lower <= link.joint.upper, "limits", "the lower limit is above the upper",
          exchanged_limits({link.joint.lower, link.joint.upper}, prismatic));
  const auto limit = [&](const char* key, const JointDimension& dimension, double& value, const std::string& doc) {
    f.key(key, quantity(value, {dimension.of(prismatic), Bounds::not_negative()}, chain::kNoLimit), {.doc = doc});
  };
  limit("velocity_limit", kVelocityLimit, link.joint.velocity_limit, "of its speed");
  limit("effort_limit", kEffort, link.joint.effort_limit, "of what drives it");
}

void drive_fields(Fields& f, bool prismatic, chain::LinkData& link) {
  const auto key = [&](const char* name, const JointDimension& dimension, double& value, const std::string& doc) {
    f.key(name, quantity(value, {dimension.of(prismatic), Bounds::not_negative()}), {.doc = doc});
  };
  key("armature", kArmature, link.armature, "the rotor's inertia as seen at the joint");
  key("damping", kDamping, link.damping, "viscous");
}

/// What only joints that move have: units depend on how they do.
template <class Visitor>
void moving(Fields& f, bool fixed, bool prismatic, const Visitor& visit) {
  f.when({!fixed && !prismatic, "revolute"}, [&] { visit(false); });
  f.when({!fixed && prismatic, "prismatic"}, [&] { visit(true); });
}

void dh_fields(Fields& f, Convention c, FileJoint& j) {
  using enum Convention;
  f.when(of(c, {kDh, kModifiedDh, kKernel}), [&] { f.key("a", quantity(j.a, {kLength}), {.doc = "along x"}); });
  f.when(of(c, {kDh, kModifiedDh}), [&] { f.key("alpha", quantity(j.alpha, {kAngle}), {.doc = "about x"}); });
  f.when(of(c, {kKernel}), [&] {
    f.key("b", quantity(j.b, {kLength}),
          {.doc = "along y after the turn by alpha: 0 but between nearly parallel axes"});
    // Cosine and sine, not the angle: they read back to the last bit.
    f.key("cos_alpha", quantity(j.cos_alpha, {kRatio}), {.doc = "of the angle about x"});
    f.key("sin_alpha", quantity(j.sin_alpha, {kRatio}), {.doc = "of the angle about x"});
  });
  f.when(of(c, {kDh, kModifiedDh, kKernel}), [&] {
    f.key("d", quantity(j.d, {kLength}), {.doc = "along z; a prismatic joint adds q"});
    f.key("theta", quantity(j.theta, {kAngle}), {.doc = "about z; a revolute joint adds q"});
  });
}

void gryma_fields(Fields& f, FileJoint& j) {
  f.key("theta",
        count(j.code, {.low = 0,
                       .high = 8,
                       .remedy = "0 fixed; 1 2 3 prismatic, 4 5 6 revolute along x y z; 7 prismatic, 8 revolute along "
                                 "alpha, beta."}),
        {.doc = "0 fixed; 1 2 3 prismatic, 4 5 6 revolute along x y z; 7 prismatic, 8 revolute along `alpha`, `beta`",
         .required = "Write the Theta code, 0 to 8: 0 fixed, 4 5 6 revolute about x y z."});
  if (f.reading()) j.link.joint.prismatic = (j.code >= 1 && j.code <= 3) || j.code == 7;
  f.key("d", vector(j.shift, {kLength}), {.doc = "origin in the frame before"});
  f.when({j.code >= 7, "theta = 7 or 8"}, [&] {
    f.key("alpha", quantity(j.azimuth, {kAngle}), {.doc = "azimuth of the axis"});
    f.key("beta", quantity(j.polar, {kAngle}), {.doc = "angle of the axis from z"});
  });
}

void screw_fields(Fields& f, FileJoint& j) {
  // Numbers without units: a screw is given in SI.
  f.key("screw", list_value({6, [&j](std::size_t k) { return quantity(j.screw[k], {kRatio}); }, "six numbers"}),
        {.doc = "direction s and moment p x s of the axis at q = 0; s = 0 is a prismatic joint along the moment",
         .required = "Write screw = [sx, sy, sz, mx, my, mz]: direction, moment p x direction."});
  const double s = norm(j.direction()), m = norm(j.moment());
  if (f.reading()) j.link.joint.prismatic = s == 0;
  f.check(s != 0 || m != 0, "screw", "the screw is zero", "A prismatic joint has direction 0 and its axis as moment.");
  const double size = s != 0 ? s : m;
  if (f.reading() && size > 0 && std::abs(size - 1) > 1e-3) {
    std::string unit;
    for (const double x : j.screw) unit += (unit.empty() ? "" : ", ") + shortest(rounded(x / size, 10));
    f.check(false, "screw",
            std::string(s != 0 ? "the direction" : "the axis of the slide") + " has length " +
                shortest(rounded(size, 10)) + ", not 1: q would not be the angle or way that multiplies this screw",
            "Write the unit screw, screw = [" + unit + "], and q as the angle [rad] or way [m].");
  }
  if (!f.reading() || s == 0) return;
  // 1e-9 leaves room for printed digits of a moment that is perpendicular.
  const double along = dot(j.direction(), j.moment());
  j.helical = std::abs(along) > 1e-9 * s * m;
  j.pitch = j.helical ? along / (s * s) : 0;
}

/// How a joint follows another one; the ratio of a sliding and a turning joint is in rad/m or m/rad.
AnyValue following(FileJoint& j, bool slides) {
  return inlined([&j, slides](Fields& f) {
    f.key("joint", string(j.follows.joint), {.doc = "the leader's name", .required = "Write joint = \"its name\"."});
    f.key("multiplier", quantity(j.follows.ratio, {kRatio}), {.doc = "of the leader's value"});
    f.key("offset", quantity(j.follows.offset, {kJointPosition.of(slides)}), {.doc = "added to it"});
  });
}

void follow_field(Fields& f, bool slides, FileJoint& j) {
  if (!f.has("follows", !j.follows.joint.empty())) return;
  f.key("follows", following(j, slides),
        {.doc = "it follows another joint: q = multiplier * (q of that one) + offset "
                "([chain.md](../theory/chain.md#coupled-joints))",
         .otherwise = "it moves by itself"});
}

void joint_fields(Fields& f, const RobotFile& file, FileJoint& j) {
  using enum Convention;
  const Convention c = file.convention;
  chain::LinkData& link = j.link;
  f.key("name", string(link.joint.name, true), {.doc = "of the joint", .otherwise = "`joint 0`, ..."});
  const bool sound = f.sound();
  f.when(of(c, {kDh, kModifiedDh, kKernel}), [&] { f.key("type", joint_type(j), {.doc = "how it moves"}); });
  f.check(!j.helical || c != kKernel, "type", "the kernel form has no helical joints",
          "Write a revolute joint and a prismatic one that follows it.");
  f.when({j.helical && c != kScrews, "type = \"helical\""}, [&] {
    f.key("pitch", quantity(j.pitch, {kLength}),
          {.doc = "way along the axis per radian", .required = "Write the way per radian: pitch = \"0.8 mm\"."});
  });
  dh_fields(f, c, j);
  f.when(of(c, {kGryma}), [&] { gryma_fields(f, j); });
  f.when(of(c, {kScrews}), [&] { screw_fields(f, j); });
  const bool fixed = c == kGryma && j.code == 0;
  // Units of limits, armature and damping depend on how it moves.
  const bool known = !sound || f.sound();
  if (known) moving(f, fixed, link.joint.prismatic, [&](bool slides) { motion_fields(f, slides, link); });
  f.key("frame", string(link.frame, true), {.doc = "of the link: its name", .otherwise = "`link 0`, ..."});
  f.when(of(c, {kScrews, kKernel}), [&] {
    f.key("pose", pose(j.frame),
          {.doc = "of the link frame: of screws in the base at q = 0, else in the kernel frame",
           .comment = "of the link frame in the kernel frame"});
  });
  if (f.has("parts", false))
    f.key(
        "parts", part_list(j.parts, file.materials, file.folder),
        {.doc = "of the link, instead of the next three: [links from parts](#links-from-parts)", .otherwise = "none"});
  f.key("mass", quantity(link.body.mass, {kMass, Bounds::not_negative()}), {.doc = "of the link"});
  f.key("com", vector(link.body.com, {kLength}),
        {.doc = "center of mass in the link frame", .comment = "m, in the link frame"});
  f.key("inertia", inertia(link.body.inertia),
        {.doc = "about the center of mass, link axes", .comment = "kg*m^2, about com, link axes"});
  if (f.reading() && !j.parts.empty()) {
    f.check(link.body.mass == 0, "mass", "given beside parts", "Give parts, or mass, com and inertia.");
    link.body = merged_body(j.parts);
  }
  if (!known) return f.give_up();
  moving(f, fixed, link.joint.prismatic, [&](bool slides) {
    drive_fields(f, slides, link);
    follow_field(f, slides, j);
  });
}

/// What a URDF's chain had locked: already in the bodies, told again.
void locked_fields(Fields& f, chain::LockedJoint& joint) {
  f.key("joint", string(joint.name), {.doc = "its name", .required = "Write joint = \"its name\"."});
  f.key("type", joint_type(joint.prismatic), {.doc = "how it moved"});
  moving(f, false, joint.prismatic,
         [&](bool slides) { f.key("q", quantity(joint.q, {kJointPosition.of(slides)}), {.doc = "where it stands"}); });
  f.key("mass", quantity(joint.mass, {kMass, Bounds::not_negative()}), {.doc = "behind it"});
}

void robot_file_fields(Fields& f, RobotFile& file) {
  using enum Convention;
  schema_field(f);
  f.key("robot", string(file.data.name), {.doc = "its name", .required = "Write robot = \"its name\"."});
  f.key("source", string(file.data.source, true), {.doc = "where its numbers come from"});
  const bool sound = f.sound();
  f.key("convention", choice(file.convention),
        {.doc = "of the geometry: the table above",
         .comment = "X = Rx(alpha) T(a, b, 0) Rz(theta) Tz(d), q added to theta or d",
         .required = "Write convention = \"dh\"."});
  if (sound && !f.sound()) return f.give_up();
  const Convention c = file.convention;
  f.key("gravity", vector(file.data.gravity, {kAcceleration}), {.doc = "in the world"});
  f.key("base", pose(file.data.base),
        {.doc = "of the description's base in the world", .comment = "of kernel frame 0 in the world"});
  f.when(of(c, {kDh, kModifiedDh, kGryma, kKernel}), [&] {
    f.key("tool", pose(file.data.tool), {.doc = "in the last link frame", .comment = "in the last kernel frame"});
  });
  // Of screws the tool pose at q = 0 is called home, and is given in the base.
  f.when(of(c, {kScrews}), [&] { f.key("home", pose(file.data.tool), {.doc = "of the tool in the base at q = 0"}); });
  materials_field(f, file.materials);
  f.tables("joint", {.doc = "each joint", .required = "Write one [[joint]] for each joint."},
           {file.joint.size(), [&](std::size_t n) { file.joint.resize(n); },
            [&](std::size_t i) { joint_fields(f, file, file.joint[i]); }});
  f.when(of(c, {kKernel}), [&] {
    f.tables("locked", {.doc = "joints of a URDF that stand still, for the record"},
             {file.locked.size(), [&](std::size_t n) { file.locked.resize(n); },
              [&](std::size_t i) { locked_fields(f, file.locked[i]); }});
  });
}

RobotFile read(const Node& document, const std::string& name) {
  TableReader root(document, "");
  check_schema(root);
  RobotFile file;
  file.folder = std::filesystem::path(name).parent_path().string();
  FieldReader f(document);
  robot_file_fields(f, file);
  f.finish();
  return file;
}

/// A helical joint as two: one that turns, and one that slides along the same axis, follows it and has the link.
void add_helical(const FileJoint& from, Convention c, std::vector<FileJoint>& out) {
  FileJoint turn = from, slide = from;
  turn.link = {};
  turn.link.joint = from.link.joint;
  turn.link.armature = from.link.armature;
  turn.link.damping = from.link.damping;
  slide.link.armature = slide.link.damping = 0;
  slide.link.joint = {.name = turn.link.joint.name + " slide", .prismatic = true};
  slide.follows = {turn.link.joint.name, from.pitch, 0};
  slide.theta = 0;
  (c == Convention::kDh ? turn : slide).a = (c == Convention::kDh ? turn : slide).alpha = 0;
  turn.d = 0;
  for (int k = 0; k < 3; ++k) {
    turn.screw[3 + k] -= from.pitch * from.screw[k];
    slide.screw[k] = 0;
    slide.screw[3 + k] = from.screw[k];
  }
  out.push_back(turn);
  out.push_back(slide);
}

void expand_helical(RobotFile& file) {
  std::vector<FileJoint> joints;
  int number = 0;
  for (FileJoint& j : file.joint) {
    const bool fixed = file.convention == Convention::kGryma && j.code == 0;
    // Slides of screws are no joints of the file: names are given before.
    if (!fixed && j.link.joint.name.empty()) j.link.joint.name = "joint " + std::to_string(number);
    number += !fixed;
    if (j.helical)
      add_helical(j, file.convention, joints);
    else
      joints.push_back(j);
  }
  file.joint = joints;
}

template <class Joint, class Make>
std::vector<Joint> make_joints(const RobotFile& file, const Make& make) {
  std::vector<Joint> joints;
  for (const FileJoint& j : file.joint) joints.push_back(make(j));
  return joints;
}

/// Which joints follow others, by name. Throws Error(kUsage).
void couple(const RobotFile& file, Robot& robot) {
  const auto number = [&](const std::string& name) {
    const auto found =
        std::find_if(robot.joint.begin(), robot.joint.end(), [&](const auto& j) { return j.name == name; });
    if (found == robot.joint.end())
      throw Error(ExitCode::kUsage, "follows: there is no joint \"" + name + "\"", "Name a joint of this robot.");
    return static_cast<int>(found - robot.joint.begin());
  };
  int joint = 0;
  for (const FileJoint& j : file.joint) {
    if (file.convention == Convention::kGryma && j.code == 0) continue;  // fixed: no joint of the robot
    if (!j.follows.joint.empty())
      robot.coupled.push_back({joint, number(j.follows.joint), j.follows.ratio, j.follows.offset});
    ++joint;
  }
  for (const chain::Coupling& c : robot.coupled) {
    const std::string who = "follows: joint " + std::to_string(c.joint) + " follows ";
    if (c.leader == c.joint) throw Error(ExitCode::kUsage, who + "itself", "Name another joint of this robot.");
    for (const chain::Coupling& other : robot.coupled)
      if (c.leader == other.joint)
        throw Error(ExitCode::kUsage, who + "a joint that follows another one", "Name the joint that leads both.");
  }
}

Robot build_robot(const RobotFile& file) {
  const auto dh = [](const FileJoint& j) { return chain::DhJoint{j.a, j.d, j.alpha, j.theta, j.link}; };
  switch (file.convention) {
    case Convention::kDh:
      return chain::from_dh(file.data, make_joints<chain::DhJoint>(file, dh));
    case Convention::kModifiedDh:
      return chain::from_modified_dh(file.data, make_joints<chain::DhJoint>(file, dh));
    case Convention::kGryma:
      return chain::from_gryma(file.data, make_joints<chain::GrymaJoint>(file, [](const FileJoint& j) {
                                 return chain::GrymaJoint{j.code, j.shift, j.azimuth, j.polar, j.link};
                               }));
    case Convention::kScrews:
      return chain::from_screws(file.data, make_joints<chain::ScrewJoint>(file, [](const FileJoint& j) {
                                  return chain::ScrewJoint{j.direction(), j.moment(), j.frame, j.link};
                                }));
    case Convention::kKernel:
      break;
  }
  Robot robot = chain::from_kernel_form(file.data, make_joints<chain::KernelJoint>(file, [](const FileJoint& j) {
                                          return chain::KernelJoint{j.a,         j.b,     j.d,     j.cos_alpha,
                                                                    j.sin_alpha, j.theta, j.frame, j.link};
                                        }));
  robot.locked = file.locked;
  return robot;
}

RobotFile in_kernel_form(const Robot& robot) {
  RobotFile file{
      Convention::kKernel, {robot.name, robot.source, robot.base, robot.tool, robot.gravity}, {}, {}, {}, {}};
  for (std::size_t i = 0; i < robot.joint.size(); ++i) {
    const chain::JointForm<double>& form = robot.form[i];
    FileJoint j;
    j.link = {robot.link[i].name, robot.joint[i], robot.body[i], form.armature, form.damping};
    j.a = form.a, j.b = form.b, j.d = form.d, j.theta = form.theta;
    j.cos_alpha = form.cos_alpha, j.sin_alpha = form.sin_alpha;
    j.frame = robot.link[i].offset;
    for (const chain::Coupling& c : robot.coupled)
      if (static_cast<std::size_t>(c.joint) == i)
        j.follows = {robot.joint[static_cast<std::size_t>(c.leader)].name, c.ratio, c.offset};
    file.joint.push_back(j);
  }
  file.locked = robot.locked;
  return file;
}

}  // namespace

Robot parse_robot_toml(const std::string& text, const std::string& name, const RobotOptions& options) {
  if (!options.base.empty() || !options.tip.empty() || !options.locks.empty())
    throw Error(ExitCode::kUsage, name + ": base and tip links and locked joints are for URDF files",
                "A robot in TOML is one chain: leave them out.");
  if (options.payload)
    throw Error(ExitCode::kUsage, name + ": a payload is for URDF files",
                "In TOML give mass, com and inertia of the last [[joint]] with what it carries.");
  const Node document = parse_toml(text, name, options.overrides);
  RobotFile file = read(document, name);
  expand_helical(file);
  try {
    Robot robot = build_robot(file);
    couple(file, robot);
    if (options.gravity) robot.gravity = *options.gravity;
    if (!options.takes_coupled) chain::require_uncoupled(robot, "follows");
    robot.warnings = inertia_warnings(document);
    return robot;
  } catch (const Error& error) {
    // What the builders refuse has no place in the file.
    throw Error(ExitCode::kInvalidFile, name + ":1:1: " + error.what());
  }
}

std::string robot_toml(const Robot& robot) { return written(in_kernel_form(robot), robot_file_fields); }

void describe_robot_file(Fields& f) {
  RobotFile file;
  robot_file_fields(f, file);
}

}  // namespace garra::io
