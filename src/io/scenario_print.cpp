// A scenario written back as TOML, with everything filled in.
#include <algorithm>
#include <cmath>

#include "garra/io/scenario.hpp"
#include "garra/math/rotation.hpp"
#include "io/number.hpp"
#include "io/pose_reader.hpp"
#include "io/robot_table.hpp"
#include "io/scenario_text.hpp"
#include "io/time_reader.hpp"

namespace garra::io {

namespace {

using grasp::Contact;
using grasp::Finger;
using grasp::Object;
using grasp::Scenario;
using grasp::Shape;
using study::Distribution;
using Kind = Distribution::Kind;

void write_dimensions(const Object& object, Writer& w) {
  switch (object.shape) {
    case Shape::kSphere:
      w.line("shape", "\"sphere\"");
      return w.quantity("radius", object.radius, kLength);
    case Shape::kBox:
      w.line("shape", "\"box\"");
      return w.quantity("size", object.size, kLength);
    case Shape::kCylinder:
      w.line("shape", "\"cylinder\"");
      w.quantity("radius", object.radius, kLength);
      return w.quantity("height", object.height, kLength);
    case Shape::kPoints: {
      w.line("shape", "\"points\"");
      const Vec3<double>& g = object.gyration2;
      return w.quantity("gyration", vec3(std::sqrt(g[0]), std::sqrt(g[1]), std::sqrt(g[2])), kLength);
    }
  }
}

void write_object(const Object& object, Writer& w) {
  w.table("object");
  write_dimensions(object, w);
  w.line("scale", text(object.scale, kRatio), "of all its lengths");
  w.quantity("mass", object.mass, kMass);
  w.quantity("position", object.position, kLength);
  w.quantity("shift", object.shift, kLength);
  w.quantity("rpy", object.rpy, kAngle);
  w.quantity("turn", object.turn, kAngle);
}

void write_contact(const Contact& c, Writer& w) {
  w.table("[contact]");
  w.quantity("point", c.point, kLength);
  w.line("normal", text(column(c.frame, 2), kRatio), "inward");
  w.line("tangent", text(column(c.frame, 0), kRatio), "t; o = normal x tangent");
  w.line("curvature", "[" + shortest(c.curvature_t) + ", " + shortest(c.curvature_o) + "]", "1/m, along t and o");
  w.line("angle_sign", shortest(c.angle_sign), "how contacts.angle moves it along o");
  w.line("friction", c.common_friction ? "{ each = " + text(c.friction, kRatio) + " }" : text(c.friction, kRatio));
  w.line("slide", "[" + text(c.slide_t, kLength) + ", " + text(c.slide_o, kLength) + "]", "m, along t and o");
  w.quantity("tilt", c.tilt, kAngle);
  w.quantity("squeeze_error", c.squeeze_error, kForce);
  if (std::isfinite(c.force_limit)) w.quantity("force_limit", c.force_limit, kForce);
  if (c.squeeze) w.quantity("squeeze", *c.squeeze, kForce);
  if (c.force) w.line("force", text(*c.force, kForce), "N, along n, t, o: the whole command");
}

/// What all contacts share.
void write_common(const Scenario& s, Writer& w) {
  const auto any = [&](auto has) { return std::any_of(s.contacts.begin(), s.contacts.end(), has); };
  const bool friction = any([](const Contact& c) { return c.common_friction; });
  const bool moves = any([](const Contact& c) { return c.angle_sign != 0; });
  if (!friction && !moves) return;
  w.table("contacts");
  if (moves) w.line("angle", text(s.angle, kAngle), "rad, deviation of the common contact angle");
  if (friction) w.line("friction", "{ common = " + text(s.common_friction, kRatio) + " }", "one draw for all contacts");
}

bool same(const Mat3<double>& a, const Mat3<double>& b) {
  for (int i = 0; i < 9; ++i)
    if (a[i] != b[i]) return false;
  return true;
}
bool same(const Vec3<double>& a, const Vec3<double>& b) { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2]; }

bool same(const chain::DhJoint& a, const chain::DhJoint& b) {
  const chain::LinkData &x = a.link, &y = b.link;
  return a.a == b.a && a.d == b.d && a.alpha == b.alpha && a.theta == b.theta &&
         x.joint.prismatic == y.joint.prismatic && x.armature == y.armature && x.body.mass == y.body.mass &&
         same(x.body.com, y.body.com) && same(x.body.inertia, y.body.inertia);
}

/// "[of joint 1, of joint 2, ...]"
template <class Of>
std::string per_joint(const Finger& finger, Of of) {
  std::string out = "[";
  for (const chain::DhJoint& joint : finger.joints) out += (&joint == &finger.joints.front() ? "" : ", ") + of(joint);
  return out + "]";
}

void write_chain(const Finger& finger, Writer& w) {
  using Joint = chain::DhJoint;
  w.line("dh",
         per_joint(finger,
                   [](const Joint& j) {
                     return "[" + shortest(j.a) + ", " + shortest(j.d) + ", " + text(j.alpha, kAngle) + ", " +
                            text(j.theta, kAngle) + "]";
                   }),
         "a m, d m, alpha, theta_offset");
  w.line("modified", text(finger.modified), "true: Craig's convention");
  w.line("prismatic", per_joint(finger, [](const Joint& j) { return text(j.link.joint.prismatic); }));
  w.line("mass", per_joint(finger, [](const Joint& j) { return shortest(j.link.body.mass); }), "kg");
  w.line("com", per_joint(finger, [](const Joint& j) { return text(j.link.body.com, kLength); }),
         "m, in the link's frame");
  w.line("inertia", per_joint(finger, [](const Joint& j) { return inertia_text(j.link.body.inertia); }),
         "kg*m^2 about com");
  w.line("armature", per_joint(finger, [](const Joint& j) { return shortest(j.link.armature); }), "kg*m^2");
  w.line("tool", pose_text(finger.tool));
}

/// The built-in arm by its name, else false.
bool write_puma(const Finger& finger, Writer& w) {
  const Pose<double> tool = {Mat3<double>::identity(), {{0, 0, finger.tool.p[2]}}};
  if (finger.modified || !same(finger.tool.R, tool.R) || !same(finger.tool.p, tool.p)) return false;
  for (const bool armature : {true, false}) {
    const std::vector<chain::DhJoint> puma = chain::puma560(armature);
    const auto equal = [](const auto& a, const auto& b) { return same(a, b); };
    if (!std::equal(finger.joints.begin(), finger.joints.end(), puma.begin(), puma.end(), equal)) continue;
    w.line("model", "\"puma560\"");
    w.quantity("tool", tool.p[2], kLength);
    w.line("armature", text(armature));
    return true;
  }
  return false;
}

void write_file(const Finger& finger, Writer& w) {
  w.line("file", text(finger.file.name), finger.robot->name + ", from " + finger.file.path);
  if (!finger.file.root_link.empty()) w.line("root_link", text(finger.file.root_link));
  if (!finger.file.tip.empty()) w.line("tip", text(finger.file.tip));
  write_locks(*finger.robot, finger.file.path, w);
}

void write_finger(const Finger& finger, Writer& w) {
  w.table("[hand.finger]");
  const bool puma = !finger.robot && write_puma(finger, w);
  if (finger.robot)
    write_file(finger, w);
  else if (!puma)
    write_chain(finger, w);
  w.line("base", pose_text(finger.base));
  w.line("ik", finger.ik == grasp::Ik::kPuma ? "\"puma\"" : "\"numeric\"");
  if (puma) {
    const std::string branch = {finger.arm > 0 ? 'r' : 'l', finger.elbow > 0 ? 'u' : 'd', finger.wrist > 0 ? 'n' : 'f'};
    w.line("branch", text(branch));
  }
  if (finger.ik == grasp::Ik::kNumeric) {
    std::string start;
    for (std::size_t i = 0; i < finger.joint_count(); ++i)
      start += (i == 0 ? "" : ", ") + text(finger.start[i], finger.prismatic(i) ? kLength : kAngle);
    w.line("start", "[" + start + "]");
  }
  if (!finger.tau.empty())
    w.line("tau", list(finger.tau, static_cast<int>(finger.tau.size()), kRatio), "N*m or N: the whole command");
  if (!finger.gravity_compensation) w.line("gravity_compensation", "false");
  if (finger.torque_limit.empty()) return;
  std::vector<double> limit = finger.torque_limit;
  for (double& x : limit) x = std::min(x, 1e300);  // TOML's numbers are finite here: none
  w.line("torque_limit", list(limit, static_cast<int>(limit.size()), kRatio), "N*m or N, of each joint");
}

/// One entry of load.wrench.
std::string magnitude(const std::string& what, const Distribution& d, const Dimension& dimension) {
  if (d.kind == Kind::kBallRadius) return what + "_ball = " + text(d.a, dimension);
  return what + "_magnitude = " + text(d, dimension);
}

void write_load(const Scenario& s, Writer& w) {
  w.table("load");
  w.quantity("gravity", s.gravity, kAcceleration);
  w.quantity("squeeze", s.squeeze, kForce);
  w.line("compensation", text(s.compensation, kRatio), "factor on the fingers' gravity compensation");
  w.quantity("nominal_mass", s.nominal_mass > 0 ? s.nominal_mass : s.object.mass.nominal(), kMass);
  w.line("wrench",
         "{ " + magnitude("force", s.force_magnitude, kForce) + ", " +
             magnitude("torque", s.torque_magnitude, kTorque) + ", force = " + text(s.force, kForce) +
             ", torque = " + text(s.torque, kTorque) + " }",
         "N, N*m");
  if (!s.time) {
    w.table("held");
    w.line("imbalance", shortest(s.held_imbalance),
           "of weight and external wrench, that the command may leave unbalanced");
  }
  w.table("motion");
  w.quantity("velocity", s.velocity, kVelocity);
  w.quantity("angular_velocity", s.angular_velocity, kAngularVelocity);
}

void write_plan(const Scenario& s, Writer& w) {
  w.table("solver");
  w.line("method", "\"auto\"");
  w.line("tol", shortest(s.tol));
  w.line("max_iterations", std::to_string(s.max_iterations));
  w.line("max_unsolved", shortest(s.plan.max_unsolved), "share of the samples");
  if (!s.time) w.line("check_uniqueness", text(s.check_uniqueness));
  w.table("sampling");
  w.line("samples", std::to_string(s.plan.samples));
  w.line("chunk", std::to_string(s.plan.chunk));
  if (s.plan.stop_half_width > 0) w.line("stop", "{ half_width = " + shortest(s.plan.stop_half_width) + " }");
  if (s.plan.time_limit > 0) w.quantity("time_limit", s.plan.time_limit, kTime);
  w.table("output");
  w.line("keep", text(s.plan.keep));
}

}  // namespace

std::string resolved_toml(const Scenario& s) {
  Writer w;
  w.line("schema", "1");
  w.line("job", "\"grasp\"");
  w.line("title", text(s.title));
  w.line("seed", std::to_string(s.plan.seed));
  w.table("hand");
  w.line("model", "\"fingers\"");
  for (const Finger& finger : s.fingers) write_finger(finger, w);
  write_object(s.object, w);
  write_common(s, w);
  for (const Contact& c : s.contacts) write_contact(c, w);
  write_load(s, w);
  if (s.time) write_time(*s.time, w);
  write_plan(s, w);
  return w.take();
}

}  // namespace garra::io
