// Checks of a grasp before any sample is drawn.
#include "grasp/sample/nominal.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <utility>

#include "garra/mesh.hpp"
#include "garra/solvers/wrench_balance.hpp"
#include "grasp/sample/fingers.hpp"
#include "grasp/sample/instant.hpp"

namespace garra::grasp {

namespace {

constexpr double kWorthSaying = 0.1;  ///< of the nominal wrench, left unbalanced by the command

std::string describe_direction(const Vec<double, 6>& v, int first, double size) {
  char text[64];
  const auto shown = [&](int k) { return std::round(v[first + k] / size * 1e3) / 1e3 + 0.0; };  // no -0
  std::snprintf(text, sizeof text, "(%g, %g, %g)", shown(0), shown(1), shown(2));
  return text;
}

/// "4 N*m of joint 2 of finger 1, whose torque_limit is 3 N*m".
std::string joint_text(int finger, int joint, bool prismatic, double asked, double limit) {
  char text[160];
  const char* unit = prismatic ? "N" : "N*m";
  std::snprintf(text, sizeof text, "%.3g %s of joint %d of finger %d, whose torque_limit is %.3g %s", asked, unit,
                joint, finger, limit, unit);
  return text;
}

/// The nominal grasp's torques in the joints of finger j.
FingerHold<double> nominal_hold(const GraspModel& m, const FingerTask<double>& task, int j) {
  FingerHold<double> hold;
  with_finger_size(m.finger[j].size, [&](auto joints, auto size) {
    FingerStance<double, size> stance;
    static_cast<void>(FingerKernel<joints, size>{&m, j, {}}.share(task, stance, &hold));
  });
  return hold;
}

/// Whether joint i of a finger slides.
bool slides(const FingerModel& f, int i) {
  bool out = false;
  with_finger_size(f.size, [&](auto, auto size) { out = finger_chain<size>(f).model.prismatic[i]; });
  return out;
}

/// Warnings on fingers whose contact is not the tool point of their last link.
std::vector<std::string> tool_warnings(const Study& study) {
  std::vector<std::string> list;
  for (int j = 0; j < study.model().contacts; ++j) {
    const Finger& given = study.scenario().fingers[static_cast<std::size_t>(j)];
    const FingerModel& f = study.model().finger[j];
    if (!given.robot || f.closed_form) continue;
    double off = 0;
    const Vec3<double> tool = (given.robot->tool * given.tool).p;
    with_finger_size(f.size, [&](auto, auto size) { off = norm(finger_chain<size>(f).model.tool.p - tool); });
    if (!(off > 1e-9)) continue;
    char text[160];
    std::snprintf(
        text, sizeof text,
        "finger %d touches %.3g mm from its tool: its joints cannot bring the tool to the contact, so that the "
        "contact is a point of its last link",
        j, 1e3 * off);
    list.push_back(text);
  }
  return list;
}

/// Surface of a body in closed form; null for others.
std::unique_ptr<mesh::Surface> closed_surface(const Object& o) {
  if (o.shape == Shape::kSphere) return mesh::make_sphere(o.radius);
  if (o.shape == Shape::kCylinder) return mesh::make_cylinder(o.radius, o.height);
  return o.shape == Shape::kBox ? mesh::make_box(o.size) : nullptr;
}

/// Warnings on contacts beside the object's surface, or with a normal that points out of it.
std::vector<std::string> surface_warnings(const Scenario& s) {
  constexpr double kFar = 1e-4, kOutward = 0.1;  // [m], cosine
  std::vector<std::string> list;
  const auto surface = closed_surface(s.object);
  for (std::size_t j = 0; surface && j < s.contacts.size(); ++j) {
    const Vec3<double>& point = s.contacts[j].point;
    const mesh::Nearest at = *mesh::signed_nearest(*surface, point, std::numeric_limits<double>::infinity());
    char text[96];
    std::snprintf(text, sizeof text, "contact %zu is %.3g mm %s the object's surface", j, 1e3 * std::abs(at.distance),
                  at.distance > 0 ? "outside of" : "below");
    if (std::abs(at.distance) > kFar) list.push_back(text);
    if (dot(column(s.contacts[j].frame, 2), at.place.normal) > kOutward)
      list.push_back("the normal of contact " + std::to_string(j) + " points out of the object: normals point into it");
  }
  return list;
}

/// Warnings on joints whose limit the fingers' own weight or the nominal command exceeds.
std::vector<std::string> torque_warnings(const GraspModel& m) {
  std::vector<std::string> list;
  const Inputs<double> in = nominal_inputs(m);
  for (int j = 0; j < m.contacts; ++j) {
    const FingerModel& f = m.finger[j];
    if (!f.torque_limited) continue;
    const FingerTask<double> task = finger_task(m, in, object_pose(m, in), j);
    const FingerHold<double> hold = nominal_hold(m, task, j);
    const Vec3<double> force = transpose_times(task.place.E, task.force);
    for (int i = 0; i < chain::kMaxJoints; ++i) {
      const double limit = f.torque_limit[i], own = hold.own[i];
      const double command = f.torque_given ? f.tau[i] / limit : task.compensation * own + dot(hold.gain[i], force);
      // A finger too weak for its own weight comes first: no command mends that.
      if (std::abs(own) > 1)
        list.push_back("the finger's own weight needs " + joint_text(j, i, slides(f, i), std::abs(own) * limit, limit));
      else if (std::abs(command) > 1)
        list.push_back("the nominal command asks for " +
                       joint_text(j, i, slides(f, i), std::abs(command) * limit, limit) +
                       ": the torque is cut off there");
    }
  }
  return list;
}

}  // namespace

std::vector<Vec<double, 6>> unresisted_wrenches(const GraspModel& m) {
  const Inputs<double> in = nominal_inputs(m);
  const Pose<double> pose = object_pose(m, in);
  // Moments divided by the radius of gyration, so that eigenvalues compare forces with forces.
  const double radius = std::sqrt((m.gyration2[0] + m.gyration2[1] + m.gyration2[2]) / 3) * in.x[kScale];
  Mat<double, 6, 6> gram = Mat<double, 6, 6>::zero();
  for (int j = 0; j < m.contacts; ++j) {
    Mat<double, 6, 3> W = wrench_matrix(contact_place(m, in, pose, j), pose.p);
    for (int r = 3; r < 6; ++r)
      for (int k = 0; k < 3; ++k) W(r, k) /= radius;
    const double mu = in.x[contact_slot(j, kFriction)];
    // Without friction a contact has only its normal force.
    for (int r = 0; r < 6 && mu == 0; ++r) W(r, 1) = W(r, 2) = 0;
    gram += W * transpose(W);
  }
  const auto eigen = symmetric_eigen(gram);
  double sum = 0;
  for (int k = 0; k < 6; ++k) sum += eigen.values[k];
  std::vector<Vec<double, 6>> list;
  // Relative to the trace, as the balance of a sample measures rank (wrench_balance.hpp).
  for (int k = 0; k < 6; ++k)
    if (eigen.values[k] <= solvers::kRankTolerance * sum) list.push_back(column(eigen.vectors, k));
  return list;
}

NominalBalance nominal_balance(const Study& study) {
  const Replay r = nominal_instant(study).replay;
  NominalBalance out{r.resisted, r.metric[metric("imbalance")], {}};
  if (study.group() == nullptr) out.unresisted = unresisted_wrenches(study.model());
  return out;
}

std::string describe_wrench(const Vec<double, 6>& unit) {
  const double force = std::sqrt(unit[0] * unit[0] + unit[1] * unit[1] + unit[2] * unit[2]);
  const double moment = std::sqrt(unit[3] * unit[3] + unit[4] * unit[4] + unit[5] * unit[5]);
  constexpr double kNone = 1e-6;
  if (force < kNone) return "a torque about " + describe_direction(unit, 3, moment);
  if (moment < kNone) return "a force along " + describe_direction(unit, 0, force);
  return "a force along " + describe_direction(unit, 0, force) + " with a torque about " +
         describe_direction(unit, 3, moment);
}

std::vector<std::string> nominal_warnings(const Study& study) {
  const NominalBalance b = nominal_balance(study);
  std::vector<std::string> list;
  const bool in_time = study.scenario().time.has_value();
  char share[32];
  std::snprintf(share, sizeof share, "%.0f %%", 100 * b.imbalance);
  if (b.resisted == 0)
    list.push_back(
        std::string("no forces within the friction cones") + (study.model().hold.limited ? " and limits" : "") +
        " can balance the nominal wrench: " + (in_time ? "objects begin to move" : "no sample near it is held"));
  else if (b.imbalance > kWorthSaying)
    list.push_back("the command leaves " + std::string(share) + " of the nominal wrench unbalanced" +
                   (in_time ? std::string()
                            : "; above " +
                                  std::to_string(static_cast<int>(std::lround(100 * study.scenario().held_imbalance))) +
                                  " % (held.imbalance) a sample counts as command insufficient") +
                   ". Look at load.nominal_mass, compensation and grip force");
  for (const auto& wrench : b.unresisted)
    list.push_back("no contact force resists " + describe_wrench(wrench) + ": the resisted force radius is 0");
  if (study.group() != nullptr) return list;
  for (std::string& text : torque_warnings(study.model())) list.push_back(std::move(text));
  for (std::string& text : tool_warnings(study)) list.push_back(std::move(text));
  for (std::string& text : surface_warnings(study.scenario())) list.push_back(std::move(text));
  return list;
}

}  // namespace garra::grasp
