// A robot written as TOML in kernel form (docs/robots.md): the same bits when it is read again.
#include <cmath>

#include "base/files/number.hpp"
#include "chain/files/pose_reader.hpp"
#include "chain/files/robot_table.hpp"
#include "garra/io/robot.hpp"

namespace garra::io {

namespace {

using chain::Robot;

void write_limits(const chain::Joint& joint, Writer& w) {
  const Dimension position = joint.prismatic ? kLength : kAngle;
  // Limits come in pairs: one that is missing is written as a number that no joint reaches.
  const auto end = [&](double x) { return text(std::isinf(x) ? std::copysign(1e300, x) : x, position); };
  if (!std::isinf(joint.lower) || !std::isinf(joint.upper))
    w.line("limits", "[" + end(joint.lower) + ", " + end(joint.upper) + "]", si_unit(position));
  if (!std::isinf(joint.velocity_limit))
    w.quantity("velocity_limit", joint.velocity_limit, joint.prismatic ? kVelocity : kAngularVelocity);
  if (!std::isinf(joint.effort_limit))
    w.quantity("effort_limit", joint.effort_limit, joint.prismatic ? kForce : kTorque);
}

void write_joint(const Robot& robot, std::size_t i, Writer& w) {
  const chain::Joint& joint = robot.joint[i];
  const chain::JointForm<double>& form = robot.form[i];
  const chain::Body& body = robot.body[i];
  w.table("[joint]");
  w.line("name", text(joint.name));
  w.line("type", joint.prismatic ? "\"prismatic\"" : "\"revolute\"");
  w.quantity("a", form.a, kLength);
  // Cosine and sine, not the angle: they read back to the last bit.
  w.line("cos_alpha", shortest(form.cos_alpha));
  w.line("sin_alpha", shortest(form.sin_alpha));
  w.quantity("d", form.d, kLength);
  w.quantity("theta", form.theta, kAngle);
  write_limits(joint, w);
  w.line("frame", text(robot.link[i].name));
  w.line("pose", pose_text(robot.link[i].offset), "of the link frame in the kernel frame");
  w.quantity("mass", body.mass, kMass);
  w.line("com", text(body.com, kLength), "m, in the link frame");
  w.line("inertia", inertia_text(body.inertia), "kg*m^2, about com, link axes");
  w.quantity("armature", form.armature, joint.prismatic ? kMass : kInertia);
  w.quantity("damping", form.damping, joint.prismatic ? kSlidingDamping : kTurningDamping);
}

}  // namespace

std::string robot_toml(const Robot& robot) {
  Writer w;
  w.line("schema", "1");
  w.line("robot", text(robot.name));
  if (!robot.source.empty()) w.line("source", text(robot.source));
  w.line("convention", "\"kernel\"", "X = Rx(alpha) Tx(a) Rz(theta) Tz(d), q added to theta or d");
  w.quantity("gravity", robot.gravity, kAcceleration);
  w.line("base", pose_text(robot.base), "of kernel frame 0 in the world");
  w.line("tool", pose_text(robot.tool), "in the last kernel frame");
  for (std::size_t i = 0; i < robot.joint.size(); ++i) write_joint(robot, i, w);
  for (const chain::LockedJoint& joint : robot.locked) {
    w.table("[locked]");
    w.line("joint", text(joint.name));
    w.line("type", joint.prismatic ? "\"prismatic\"" : "\"revolute\"");
    w.quantity("q", joint.q, joint.prismatic ? kLength : kAngle);
    w.quantity("mass", joint.mass, kMass);
  }
  return w.take();
}

}  // namespace garra::io
