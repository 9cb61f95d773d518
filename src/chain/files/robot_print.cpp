// A robot in words and numbers.
#include <cmath>

#include "base/files/number.hpp"
#include "garra/io/robot.hpp"
#include "garra/math/rotation.hpp"

namespace garra::io {

namespace {

using chain::Robot;

constexpr double kDegree = M_PI / 180;

/// Ten digits: rounding of the conversion does not show.
std::string format_number(double x) { return std::isinf(x) ? (x > 0 ? "inf" : "-inf") : shortest(rounded(x, 10)); }
/// For directions and angles: the rounding of a URDF's decimals of pi does not show.
std::string text_of_order_one(double x) { return format_number(std::abs(x) < 1e-9 ? 0 : x); }

std::string format_number(const Vec3<double>& v) {
  return "(" + format_number(v[0]) + ", " + format_number(v[1]) + ", " + format_number(v[2]) + ")";
}
std::string format_direction(const Vec3<double>& v) {
  return "(" + text_of_order_one(v[0]) + ", " + text_of_order_one(v[1]) + ", " + text_of_order_one(v[2]) + ")";
}

std::string format_number(const Pose<double>& pose) {
  return "position " + format_number(pose.p) + " m, rpy " +
         format_direction((1 / kDegree) * rpy_from_rotation(pose.R)) + " deg";
}

/// X_{i-1,i} at q = 0, equation (1) of model.hpp.
Pose<double> step(const chain::JointForm<double>& f) {
  double c, s;
  exact_cos_sin(f.theta, c, s);
  const Pose<double> x{{{1, 0, 0, 0, f.cos_alpha, -f.sin_alpha, 0, f.sin_alpha, f.cos_alpha}}, Vec3<double>::zero()};
  const Pose<double> z{{{c, -s, 0, s, c, 0, 0, 0, 1}}, {{f.a, f.b, f.d}}};
  return x * z;
}

std::string toml_line(const std::string& label, const std::string& value) {
  return label + std::string(label.size() < 16 ? 16 - label.size() : 1, ' ') + value + "\n";
}

std::string range(double low, double high, double unit, const char* name) {
  if (std::isinf(low) && std::isinf(high)) return "none";
  return format_number(low / unit) + " to " + format_number(high / unit) + " " + name;
}

std::string limits(const chain::Joint& joint) {
  std::string out =
      joint.prismatic ? range(joint.lower, joint.upper, 1, "m") : range(joint.lower, joint.upper, kDegree, "deg");
  if (!std::isinf(joint.velocity_limit))
    out += "; velocity " + format_number(joint.velocity_limit) + (joint.prismatic ? " m/s" : " rad/s");
  if (!std::isinf(joint.effort_limit))
    out += "; effort " + format_number(joint.effort_limit) + (joint.prismatic ? " N" : " N*m");
  return out;
}

std::string describe_joint(const Robot& robot, std::size_t i, const Pose<double>& frame) {
  const chain::Joint& joint = robot.joint[i];
  const chain::JointForm<double>& f = robot.form[i];
  const chain::Body& body = robot.body[i];
  const bool continuous = !joint.prismatic && std::isinf(joint.lower) && std::isinf(joint.upper);
  const char* kind = joint.prismatic ? "prismatic" : continuous ? "revolute without limits" : "revolute";
  const std::string number = "joint " + std::to_string(i);
  std::string out = "\n" + number + ": " + (joint.name == number ? "" : joint.name + ", ") + kind + "\n";
  const std::string through = joint.prismatic ? "" : ", through " + format_number(frame.p) + " m";
  out += toml_line("  axis", format_direction(column(frame.R, 2)) + through);
  out += toml_line("  limits", limits(joint));
  for (const chain::Coupling& c : robot.coupled)
    if (static_cast<std::size_t>(c.joint) == i)
      out += toml_line("  follows", robot.joint[static_cast<std::size_t>(c.leader)].name +
                                        ": q = " + format_number(c.ratio) + " of it, plus " +
                                        format_number(joint.prismatic ? c.offset : c.offset / kDegree) +
                                        (joint.prismatic ? " m" : " deg"));
  out += toml_line("  kernel form", "a " + format_number(f.a) + (f.b != 0 ? " m, b " + format_number(f.b) : "") +
                                        " m, alpha " +
                                        text_of_order_one(std::atan2(f.sin_alpha, f.cos_alpha) / kDegree) + " deg, d " +
                                        format_number(f.d) + (joint.prismatic ? " + q m, theta " : " m, theta ") +
                                        text_of_order_one(f.theta / kDegree) + (joint.prismatic ? " deg" : " deg + q"));
  out +=
      toml_line("  link frame", robot.link[i].name + ", in the kernel frame: " + format_number(robot.link[i].offset));
  out += toml_line(
      "  mass", format_number(body.mass) + " kg, center of mass " + format_number(body.com) + " m in the link frame");
  const Mat3<double>& I = body.inertia;
  out += toml_line("  inertia", "ixx " + format_number(I(0, 0)) + ", iyy " + format_number(I(1, 1)) + ", izz " +
                                    format_number(I(2, 2)) + ", ixy " + format_number(I(0, 1)) + ", ixz " +
                                    format_number(I(0, 2)) + ", iyz " + format_number(I(1, 2)) +
                                    " kg*m^2, about the center of mass, link axes");
  if (f.armature > 0) out += toml_line("  armature", format_number(f.armature) + (joint.prismatic ? " kg" : " kg*m^2"));
  if (f.damping > 0)
    out += toml_line("  damping", format_number(f.damping) + (joint.prismatic ? " N*s/m" : " N*m*s/rad"));
  return out;
}

}  // namespace

std::string describe_robot(const Robot& robot) {
  double mass = 0;
  for (const chain::Body& body : robot.body) mass += body.mass;
  std::string out = toml_line("robot", robot.name);
  if (!robot.source.empty()) out += toml_line("source", robot.source);
  out += toml_line("joints", std::to_string(robot.joints));
  out += toml_line("moving mass", format_number(mass) + " kg");
  out += toml_line("gravity", format_number(robot.gravity) + " m/s^2");
  std::string joints;
  Pose<double> frame = robot.base;
  for (std::size_t i = 0; i < robot.form.size(); ++i) {
    frame = frame * step(robot.form[i]);
    joints += describe_joint(robot, i, frame);
  }
  out += toml_line("kernel base", format_number(robot.base));
  out += toml_line("tool at q = 0", format_number(frame * robot.tool));
  for (const chain::LockedJoint& joint : robot.locked) {
    const std::string behind = joint.mass > 0 ? ", " + format_number(joint.mass) + " kg behind it" : "";
    out += toml_line("locked", joint.name + " at " + format_number(joint.prismatic ? joint.q : joint.q / kDegree) +
                                   (joint.prismatic ? " m" : " deg") + behind);
  }
  for (const std::string& note : robot.notes) out += toml_line("note", note);
  return out + "\nAxes and points at q = 0, in world axes." + "\n" + joints;
}

}  // namespace garra::io
