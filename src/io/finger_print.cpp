// A finger written back as TOML, with everything filled in.
#include <algorithm>

#include "io/finger_reader.hpp"
#include "io/number.hpp"
#include "io/pose_reader.hpp"
#include "io/robot_table.hpp"

namespace garra::io {

namespace {

using grasp::Finger;

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
  std::vector<JointLock> unused;
  const std::string locked = locks(unused, *finger.robot, finger.file.path).text();
  if (!locked.empty()) w.line("lock", locked);
}

}  // namespace

void write_finger(const Finger& finger, Writer& w) {
  const bool puma = !finger.robot && write_puma(finger, w);
  if (finger.robot)
    write_file(finger, w);
  else if (!puma)
    write_chain(finger, w);
  w.line("base", pose_text(finger.base));
  w.line("ik", text(std::string(name_of(finger.ik))));
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

}  // namespace garra::io
