// Any serial chain in kernel form: the joint axes as lines, and the common normal from each to the next.
//
// At q = 0, frame i has z along axis i and x along the common normal from axis i to axis i+1 (modified
// Denavit-Hartenberg; Khalil, Kleinfinger 1986). Where that leaves a choice (docs/reference/robots.md):
//   skew lines       x points to axis i+1, a > 0
//   nearly parallel  the same x, the origin where theta = d = 0 put it: b of (1) in model.hpp takes the rest
//   meeting lines    the sign of x that keeps theta in (-90, 90] degrees
//   parallel lines   the normal through the origin that theta = d = 0 give
//   same line        theta = d = 0
//   prismatic axis   has a direction only: through the origin of the frame before
//   last frame       theta = d = 0
//   frame 0          z along axis 1, origin its point nearest to the base's origin: base and frame 0 are the same where
//                    axis 1 is the base's z axis
#include <cmath>

#include "chain/model/robot.hpp"

namespace garra::chain {

namespace {

/// Rounding of a dozen products of rotations: what is nearer to 0 or +-1 is meant to be 0 or +-1.
constexpr double kSnap = 1e-14;
/// Tilt [rad] below which lines are taken as parallel: rounding of directions that products of rotations give.
constexpr double kParallel = 1e-13;

/// 0 for what is 0 but for rounding.
double snapped(double x, double tolerance) { return std::abs(x) <= tolerance ? 0 : x; }
double snapped_cosine(double x) {
  if (std::abs(std::abs(x) - 1) <= kSnap) return std::copysign(1.0, x);
  return snapped(x, kSnap);
}
// Lengths have no scale of their own: they are compared with that of the whole chain.
Pose<double> snapped(Pose<double> x, double length) {
  for (double& r : x.R.m) r = snapped_cosine(r);
  for (double& p : x.p.m) p = snapped(p, kSnap * length);
  return x;
}

struct Line {
  Vec3<double> direction, point;
};

/// From frame i-1 with theta = d = 0 to axis i: the two constants of joint i-1 that are still open, and a, alpha of i.
struct Normal {
  double cos_theta = 1, sin_theta = 0, d = 0, a = 0, b = 0, cos_alpha = 1, sin_alpha = 0;
};

/// A unit direction (c, s) in the plane with exact zeros.
void set_direction(double x, double y, double& c, double& s) {
  const double length = std::hypot(x, y);
  c = snapped_cosine(x / length);
  s = snapped_cosine(y / length);
}

/// Axes that are parallel: alpha is 0 or 180 degrees, and the normal through the origin is taken.
Normal parallel_normal(const Line& axis, double length) {
  Normal n;
  // The axis may point the other way: alpha = 180 degrees.
  n.cos_alpha = std::copysign(1.0, axis.direction[2]);
  n.a = snapped(std::hypot(axis.point[0], axis.point[1]), kSnap * length);
  if (n.a > 0) set_direction(axis.point[0], axis.point[1], n.cos_theta, n.sin_theta);
  return n;
}

/// The axis in coordinates whose z is the axis before.
Normal common_normal(const Line& axis, double length) {
  const Vec3<double>&u = axis.direction, &p = axis.point;
  const double tilt = std::hypot(u[0], u[1]);
  if (tilt <= kParallel) return parallel_normal(axis, length);
  Normal n;
  set_direction(-u[1], u[0], n.cos_theta, n.sin_theta);  // z x u
  n.a = snapped(n.cos_theta * p[0] + n.sin_theta * p[1], kSnap * length);
  // Foot on z: go along the axis until its offset is along the normal, (n x z) . (p + t u) = 0.
  const double across = n.sin_theta * p[0] - n.cos_theta * p[1];
  n.d = snapped(p[2] - across / tilt * u[2], kSnap * length);
  if (std::abs(n.d) > kFarNormal * norm(axpy(-dot(p, u), u, p))) {
    n.d = 0;
    n.b = snapped(dot(cross(u, {{n.cos_theta, n.sin_theta, 0}}), p), kSnap * length);
  }
  set_direction(u[2], tilt, n.cos_alpha, n.sin_alpha);
  // Both directions of the normal describe the same chain: one is agreed on (docs/reference/robots.md).
  const bool flip = n.a != 0 ? n.a < 0 : n.cos_theta < 0 || (n.cos_theta == 0 && n.sin_theta < 0);
  if (flip) {
    n.a = -n.a;
    n.b = -n.b;
    n.cos_theta = -n.cos_theta;
    n.sin_theta = -n.sin_theta;
    n.sin_alpha = -n.sin_alpha;
  }
  return n;
}

Pose<double> about_z(const Normal& n) {
  return {{{n.cos_theta, -n.sin_theta, 0, n.sin_theta, n.cos_theta, 0, 0, 0, 1}}, {{0, 0, n.d}}};
}
Pose<double> about_x(const Normal& n) {
  return {{{1, 0, 0, 0, n.cos_alpha, -n.sin_alpha, 0, n.sin_alpha, n.cos_alpha}},
          {{n.a, n.cos_alpha * n.b, n.sin_alpha * n.b}}};
}

/// Frame 0 in the base, on axis 1.
Pose<double> first_frame(const Line& axis, double length) {
  Vec3<double> x, y;
  complete_frame(axis.direction, x, y);
  Pose<double> out;
  for (int i = 0; i < 3; ++i) {
    out.R(i, 0) = x[i];
    out.R(i, 1) = y[i];
    out.R(i, 2) = axis.direction[i];
  }
  // The point of the axis next to the base's origin.
  out.p = axpy(-dot(axis.point, axis.direction), axis.direction, axis.point);
  return snapped(out, length);
}

/// The unit axis of a joint whose frame is given; a prismatic one may lie anywhere: at the origin.
Line joint_line(const GeneralJoint& joint, const Pose<double>& frame) {
  const Vec3<double> u = frame.R * ((1 / norm(joint.axis)) * joint.axis);
  Line line{u, joint.link.joint.prismatic ? Vec3<double>::zero() : frame.p};
  for (double& x : line.direction.m) x = snapped_cosine(x);
  return line;
}

double check_joints(const RobotData& data, const std::vector<GeneralJoint>& joints) {
  double length = norm(data.tool.p);
  for (std::size_t i = 0; i < joints.size(); ++i) {
    const std::string where = "joint " + std::to_string(i);
    check_pose(joints[i].placement, where + ": placement");
    check_pose(joints[i].after, where + ": after");
    const double axis = norm(joints[i].axis);
    if (!(axis > 0) || !std::isfinite(axis))
      refuse_joint(i, "the axis is zero or not finite", "Give its direction, such as (0, 0, 1).");
    length += norm(joints[i].placement.p) + norm(joints[i].after.p);
  }
  return length;
}

}  // namespace

Robot from_joints(const RobotData& data, const std::vector<GeneralJoint>& joints) {
  Robot robot = begin_robot(data, joints.size());
  const double length = check_joints(data, joints);
  const Pose<double> first = first_frame(joint_line(joints[0], joints[0].placement), length);
  robot.base = data.base * first;
  robot.form[0].cos_alpha = 1;
  // Link i in frame i as it is with theta = d = 0; all that follows is relative to it, so rounding does not add up.
  Pose<double> link = snapped(inverse(first) * joints[0].placement * joints[0].after, length);
  for (std::size_t i = 1; i < joints.size(); ++i) {
    const Pose<double> joint = link * joints[i].placement;
    const Normal n = common_normal(joint_line(joints[i], joint), length);
    robot.form[i - 1].theta = std::atan2(n.sin_theta, n.cos_theta);
    robot.form[i - 1].d = n.d;
    robot.form[i].a = n.a;
    robot.form[i].b = n.b;
    robot.form[i].cos_alpha = n.cos_alpha;
    robot.form[i].sin_alpha = n.sin_alpha;
    set_link(robot, i - 1, snapped(inverse(about_z(n)) * link, length), joints[i - 1].link);
    link = snapped(inverse(about_z(n) * about_x(n)) * joint * joints[i].after, length);
  }
  set_link(robot, joints.size() - 1, link, joints.back().link);
  finish_robot(robot, data.tool);
  return robot;
}

}  // namespace garra::chain
