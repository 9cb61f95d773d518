// From what people write down to the kernel form: everything but the common normals (form.cpp).
#include "chain/model/robot.hpp"

#include <algorithm>
#include <cmath>

#include "garra/core/factor.hpp"
#include "garra/math/rotation.hpp"

namespace garra::chain {

namespace {

bool is_finite_number(double x) { return std::isfinite(x); }
template <int R, int C>
bool is_finite_number(const Mat<double, R, C>& a) {
  return std::all_of(std::begin(a.m), std::end(a.m), [](double x) { return std::isfinite(x); });
}

/// Second moment of a point mass about a place r away: m (|r|^2 1 - r r').
Mat3<double> point_inertia(double mass, const Vec3<double>& r) {
  Mat3<double> out;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) out(i, j) = mass * ((i == j ? dot(r, r) : 0) - r[i] * r[j]);
  return out;
}

/// All principal minors >= -slack: no eigenvalue of the symmetric matrix below zero, to a relative tolerance.
bool not_negative(const Mat3<double>& I, double tolerance) {
  // Relative to the trace, with the power that each minor has.
  const double scale = std::abs(I(0, 0)) + std::abs(I(1, 1)) + std::abs(I(2, 2)), slack = tolerance * scale;
  const double det = dot(column(I, 0), cross(column(I, 1), column(I, 2)));
  if (det < -slack * scale * scale) return false;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3;
    if (I(i, i) < -slack || I(i, i) * I(j, j) - I(i, j) * I(j, i) < -slack * scale) return false;
  }
  return true;
}

void check_link(std::size_t i, const LinkData& link) {
  const Body& body = link.body;
  if (!is_finite_number(body.mass) || !is_finite_number(body.com) || !is_finite_number(body.inertia) ||
      !is_finite_number(link.armature) || !is_finite_number(link.damping)) {
    refuse_joint(i, "mass, com, inertia, armature or damping is not finite", "");
  }
  if (body.mass < 0 || link.armature < 0 || link.damping < 0)
    refuse_joint(i, "mass, armature or damping is negative", "");
  if (!is_inertia(body.inertia, false))
    refuse_joint(i, "not the inertia of a body: it is not symmetric or has a negative principal moment",
                 "Give it about the center of mass, in the axes of the link frame.");
  const Joint& joint = link.joint;
  if (!(joint.lower <= joint.upper))
    refuse_joint(i, "the lower limit is above the upper", "Give the lower limit first.");
  if (!(joint.velocity_limit >= 0) || !(joint.effort_limit >= 0))
    refuse_joint(i, "a limit of velocity or effort is negative or NaN", "");
}

Pose<double> about_x(double angle, double shift) {
  double c, s;
  exact_cos_sin(angle, c, s);
  return {{{1, 0, 0, 0, c, -s, 0, s, c}}, {{shift, 0, 0}}};
}

void check_rows(const std::vector<DhJoint>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const DhJoint& r = rows[i];
    if (!is_finite_number(r.a) || !is_finite_number(r.d) || !is_finite_number(r.alpha) || !is_finite_number(r.theta))
      refuse_joint(i, "a constant of the row is not finite", "");
  }
}

/// Whether a row describes nearly parallel axes by their common normal far away, as calibrated arms have it.
bool is_far(const std::vector<JointForm<double>>& form) {
  for (std::size_t i = 1; i < form.size(); ++i) {
    const double d = form[i - 1].d, distance = std::hypot(form[i].a, form[i].sin_alpha * d);
    if (form[i].sin_alpha != 0 && std::abs(d) > kFarNormal * distance) return true;
  }
  return false;
}

/// The same chain with frames near its links.
Robot with_near_frames(const RobotData& data, const std::vector<DhJoint>& rows, bool modified) {
  std::vector<GeneralJoint> joints;
  for (const DhJoint& row : rows) {
    double c, s;
    exact_cos_sin(row.theta, c, s);
    const Pose<double> z{{{c, -s, 0, s, c, 0, 0, 0, 1}}, {{0, 0, row.d}}}, x = about_x(row.alpha, row.a);
    joints.push_back({.placement = modified ? x * z : z, .link = row.link});
    if (!modified) joints.back().after = x;
  }
  return from_joints(data, joints);
}

/// Both Denavit-Hartenberg forms are the kernel form but for where a and alpha stand: no common normal is computed, and
/// the numbers go through as they are, unless one is far.
Robot from_rows(const RobotData& data, const std::vector<DhJoint>& rows, bool modified) {
  Robot robot = begin_robot(data, rows.size());
  check_rows(rows);
  robot.base = data.base;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    JointForm<double>& form = robot.form[i];
    form.d = rows[i].d;
    form.theta = rows[i].theta;
    // DH puts a and alpha behind the joint, the kernel form before it: they are those of the row before.
    const DhJoint none{}, &before = modified ? rows[i] : i > 0 ? rows[i - 1] : none;
    form.a = before.a;
    exact_cos_sin(before.alpha, form.cos_alpha, form.sin_alpha);
    // What follows the last joint of DH belongs to its link: the frame that the user describes lies behind a and alpha.
    set_link(robot, i, modified ? Pose<double>::identity() : about_x(rows[i].alpha, rows[i].a), rows[i].link);
  }
  if (is_far(robot.form)) return with_near_frames(data, rows, modified);
  finish_robot(robot, data.tool);
  return robot;
}

/// Unit axis of a GRyMA code (eq. for codes 7 and 8: azimuth alpha, polar angle beta); zero where there is none.
Vec3<double> gryma_axis(const GrymaJoint& joint) {
  if (joint.theta >= 7) {
    double ca, sa, cb, sb;
    exact_cos_sin(joint.alpha, ca, sa);
    exact_cos_sin(joint.beta, cb, sb);
    return {{ca * sb, sa * sb, cb}};
  }
  Vec3<double> axis = Vec3<double>::zero();
  if (joint.theta > 0) axis[(joint.theta - 1) % 3] = 1;
  return axis;
}

Pose<double> shift(const Vec3<double>& p) { return {Mat3<double>::identity(), p}; }

GeneralJoint general(const GrymaJoint& row, const Pose<double>& placement) {
  GeneralJoint joint{.placement = placement, .axis = gryma_axis(row), .link = row.link};
  // Codes 1 to 3 and 7 slide, 4 to 6 and 8 turn.
  joint.link.joint.prismatic = row.theta <= 3 || row.theta == 7;
  return joint;
}

GeneralJoint general(std::size_t i, const ScrewJoint& screw, const Pose<double>& parent) {
  const Vec3<double>&s = screw.direction, &m = screw.moment;
  const double length = norm(s);
  const bool prismatic = length == 0;
  // A pitch would be the component along the direction; 1e-9 leaves room for printed digits.
  if (!prismatic && std::abs(dot(s, m)) > 1e-9 * length * norm(m)) {
    refuse_joint(i, "direction and moment of the screw are not perpendicular: a helical joint",
                 "The moment is p x direction, with p any point of the axis.");
  }
  // The point of the axis nearest to the origin.
  const Vec3<double> p = prismatic ? Vec3<double>::zero() : (1 / (length * length)) * cross(s, m);
  GeneralJoint joint{.placement = inverse(parent) * shift(p), .axis = prismatic ? m : s, .link = screw.link};
  joint.after = shift(-p) * screw.frame;
  joint.link.joint.prismatic = prismatic;
  return joint;
}

}  // namespace

void refuse_joint(std::size_t index, const std::string& problem, const std::string& remedy) {
  throw Error(ExitCode::kUsage, "joint " + std::to_string(index) + ": " + problem, remedy);
}

void check_pose(const Pose<double>& pose, const std::string& what) {
  const Mat3<double> gap = transpose_times(pose.R, pose.R) - Mat3<double>::identity();
  // 1e-9: printed rotation matrices of ten digits pass.
  const bool orthogonal = std::all_of(std::begin(gap.m), std::end(gap.m), [](double x) { return std::abs(x) < 1e-9; });
  const double det = dot(column(pose.R, 0), cross(column(pose.R, 1), column(pose.R, 2)));
  if (!is_finite_number(pose.p) || !orthogonal || !(det > 0))
    throw Error(ExitCode::kUsage, what + ": not a pose: not finite, or its matrix is no rotation");
}

Body merge(const Body& a, const Body& b, const Pose<double>& X_ab) {
  Body out;
  const Vec3<double> com_b = X_ab.R * b.com + X_ab.p;
  out.mass = a.mass + b.mass;
  // A body without mass has no center that would count.
  out.com = a.mass > 0 ? a.com : com_b;
  if (a.mass > 0 && b.mass > 0) out.com = (1 / out.mass) * (a.mass * a.com + b.mass * com_b);
  out.inertia = a.inertia + rotate_symmetric(X_ab.R, b.inertia) + point_inertia(a.mass, a.com - out.com) +
                point_inertia(b.mass, com_b - out.com);
  return out;
}

bool is_inertia(const Mat3<double>& I, bool rigid) {
  const double scale = std::abs(I(0, 0)) + std::abs(I(1, 1)) + std::abs(I(2, 2));
  for (int i = 0; i < 3; ++i)
    if (std::abs(I(i, (i + 1) % 3) - I((i + 1) % 3, i)) > 1e-12 * scale) return false;
  if (!not_negative(I, 1e-12)) return false;
  // The second moment of mass, tr(I)/2 1 - I, has principal values (B + C - A)/2 and so on. Tables have few digits.
  const double half = 0.5 * (I(0, 0) + I(1, 1) + I(2, 2));
  // 1e-4: published inertias have four digits or so.
  return !rigid || not_negative(half * Mat3<double>::identity() - I, 1e-4);
}

double moment_ratio(const Mat3<double>& inertia) {
  const auto moments = symmetric_eigen(inertia).values;  // ascending
  const double others = std::max(moments[0], 0.0) + moments[1];
  return moments[2] > 0 ? moments[2] / others : 0;
}

Robot begin_robot(const RobotData& data, std::size_t joints) {
  if (joints < 1 || joints > kMaxJoints) {
    throw Error(ExitCode::kUsage, "a chain of " + std::to_string(joints) + " joints",
                "It must have 1 to " + std::to_string(kMaxJoints) + ".");
  }
  check_pose(data.base, "base");
  check_pose(data.tool, "tool");
  if (!is_finite_number(data.gravity)) throw Error(ExitCode::kUsage, "gravity: not finite");
  Robot robot;
  robot.name = data.name;
  robot.source = data.source;
  robot.gravity = data.gravity;
  robot.joints = static_cast<int>(joints);
  robot.joint.resize(joints);
  robot.form.resize(joints);
  robot.link.resize(joints);
  robot.body.resize(joints);
  return robot;
}

void set_link(Robot& robot, std::size_t i, const Pose<double>& offset, const LinkData& link) {
  check_link(i, link);
  const std::string number = std::to_string(i);
  robot.joint[i] = link.joint;
  if (link.joint.name.empty()) robot.joint[i].name = "joint " + number;
  robot.link[i] = {link.frame.empty() ? "link " + number : link.frame, static_cast<int>(i), offset};
  robot.body[i] = link.body;
  const Vec3<double> com = offset.R * link.body.com + offset.p;
  const Mat3<double> second = rotate_symmetric(offset.R, link.body.inertia) + point_inertia(link.body.mass, com);
  JointForm<double>& form = robot.form[i];
  form.mass = link.body.mass;
  form.first = link.body.mass * com;
  form.xx = second(0, 0);
  form.yy = second(1, 1);
  form.zz = second(2, 2);
  form.xy = second(0, 1);
  form.xz = second(0, 2);
  form.yz = second(1, 2);
  form.armature = link.armature;
  form.damping = link.damping;
}

void finish_robot(Robot& robot, const Pose<double>& tool) {
  robot.tool = robot.link.back().offset * tool;
  // Notes, not errors: such links are common in published models, and nothing fails on them.
  for (std::size_t i = 0; i < robot.body.size(); ++i) {
    if (!is_inertia(robot.body[i].inertia, true)) {
      robot.notes.push_back("link " + std::to_string(i) +
                            ": one principal moment of inertia is above the sum of the other two, as of no solid body");
    }
  }
  const Body& last = robot.body.back();
  const bool turns = !robot.joint.back().prismatic && robot.form.back().zz > 0;
  if (robot.form.back().armature == 0 && !turns && !(robot.joint.back().prismatic && last.mass > 0))
    robot.notes.push_back("the last joint moves no inertia: kinematics only, its mass matrix is singular");
}

Robot from_dh(const RobotData& data, const std::vector<DhJoint>& joints) { return from_rows(data, joints, false); }
Robot from_modified_dh(const RobotData& data, const std::vector<DhJoint>& joints) {
  return from_rows(data, joints, true);
}

Robot from_gryma(const RobotData& data, const std::vector<GrymaJoint>& rows) {
  RobotData whole = data;
  std::vector<GeneralJoint> joints;
  Pose<double> pending = Pose<double>::identity();  // fixed rows since the last joint
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const GrymaJoint& row = rows[i];
    if (row.theta < 0 || row.theta > 8) refuse_joint(i, "Theta code " + std::to_string(row.theta), "Codes are 0 to 8.");
    if (!is_finite_number(row.d) || !is_finite_number(row.alpha) || !is_finite_number(row.beta))
      refuse_joint(i, "d, alpha or beta is not finite", "");
    pending = pending * shift(row.d);
    if (row.theta > 0) {
      joints.push_back(general(row, pending));
      pending = Pose<double>::identity();
    } else {
      check_link(i, row.link);
      // Bodies before the first joint are fixed to the world and move nothing.
      if (!joints.empty()) joints.back().link.body = merge(joints.back().link.body, row.link.body, pending);
    }
  }
  whole.tool = pending * data.tool;
  return from_joints(whole, joints);
}

Robot from_kernel_form(const RobotData& data, const std::vector<KernelJoint>& joints) {
  Robot robot = begin_robot(data, joints.size());
  robot.base = data.base;
  for (std::size_t i = 0; i < joints.size(); ++i) {
    const KernelJoint& from = joints[i];
    // Cosine and sine are taken as they are, so they must belong to one angle.
    const double circle = from.cos_alpha * from.cos_alpha + from.sin_alpha * from.sin_alpha;
    if (!is_finite_number(from.a) || !is_finite_number(from.b) || !is_finite_number(from.d) ||
        !is_finite_number(from.theta) || !(std::abs(circle - 1) < 1e-9))
      refuse_joint(i, "a constant is not finite, or alpha is no cosine and sine", "");
    check_pose(from.frame, "joint " + std::to_string(i) + ": pose");
    JointForm<double>& form = robot.form[i];
    form.a = from.a;
    form.b = from.b;
    form.d = from.d;
    form.theta = from.theta;
    form.cos_alpha = from.cos_alpha;
    form.sin_alpha = from.sin_alpha;
    set_link(robot, i, from.frame, from.link);
  }
  // The tool of kernel form is given in the last kernel frame already.
  finish_robot(robot, Pose<double>::identity());
  robot.tool = data.tool;
  return robot;
}

Robot from_screws(const RobotData& data, const std::vector<ScrewJoint>& screws) {
  std::vector<GeneralJoint> joints;
  Pose<double> parent = Pose<double>::identity();
  for (std::size_t i = 0; i < screws.size(); ++i) {
    check_pose(screws[i].frame, "joint " + std::to_string(i) + ": frame");
    joints.push_back(general(i, screws[i], parent));
    parent = screws[i].frame;
  }
  RobotData whole = data;
  whole.tool = inverse(parent) * data.tool;
  return from_joints(whole, joints);
}

}  // namespace garra::chain
