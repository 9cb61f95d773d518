// Computes the data that all samples share from a scenario: the drawn inputs, the object, the nominal balance.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "garra/core/error.hpp"
#include "garra/grasp_set.hpp"
#include "garra/math/rotation.hpp"
#include "grasp/sample/finger_command.hpp"
#include "grasp/sample/fingers.hpp"
#include "grasp/study/grasp_study.hpp"
#include "grasp/study/setup_parts.hpp"

namespace garra::grasp {

namespace {

/// Visits every scalar input: its slot, name, unit and distribution.
using Visit = std::function<void(int, const std::string&, const std::string&, const Distribution&)>;
void for_each_input(const Scenario& s, const Visit& visit) {
  const Distribution none = Distribution::constant(0);
  // Without a force its direction is undefined: nothing is drawn for it.
  const auto cosine = [&](const Distribution& size) {
    return size.is_constant() && size.a == 0 ? none : Distribution::uniform(-1, 1);
  };
  const auto azimuth = [&](const Distribution& size) {
    return size.is_constant() && size.a == 0 ? none : Distribution::uniform(-M_PI, M_PI);
  };
  const auto visit_object = [&](const Object& o, int slot, const std::string& name) {
    const char* axis[3] = {"x", "y", "z"};
    visit(slot + kMass, name + "mass", "kg", o.mass);
    visit(slot + kScale, name + "scale", "1", o.scale);
    for (int i = 0; i < 3; ++i) {
      visit(slot + kShiftX + i, name + "position " + axis[i], "m", o.shift[i]);
      visit(slot + kTurnX + i, name + "turn " + axis[i], "rad", o.turn[i]);
    }
  };
  visit_object(s.object, 0, s.object.name.empty() ? "object " : "object " + s.object.name + " ");
  visit(kAngle, "contact angle", "rad", s.angle);
  visit(kGripForce, "grip force", "N", s.grip_force);
  visit(kCompensation, "gravity compensation", "1", s.compensation);
  visit(kForceSize, "force size", "N", s.force_magnitude);
  visit(kForceCosine, "force cos(polar angle)", "1", cosine(s.force_magnitude));
  visit(kForceAzimuth, "force azimuth", "rad", azimuth(s.force_magnitude));
  visit(kTorqueSize, "torque size", "N m", s.torque_magnitude);
  visit(kTorqueCosine, "torque cos(polar angle)", "1", cosine(s.torque_magnitude));
  visit(kTorqueAzimuth, "torque azimuth", "rad", azimuth(s.torque_magnitude));
  visit(kCommonFriction, "friction common to all contacts", "1", s.common_friction);
  for (std::size_t k = 0; k < s.others.size(); ++k) {
    const Object& o = s.others[k];
    const int slot = object_slot(static_cast<int>(k) + 1, static_cast<int>(s.contacts.size()));
    visit_object(o, slot, "object " + o.name + " ");
  }
  for (std::size_t j = 0; j < s.contacts.size(); ++j) {
    const Contact& c = s.contacts[j];
    const std::string name = "contact " + std::to_string(j) + " ";
    const int slot = contact_slot(static_cast<int>(j), 0);
    visit(slot + kFriction, name + (c.common_friction ? "friction factor" : "friction"), "1", c.friction);
    visit(slot + kSlideT, name + "slide t", "m", c.slide_t);
    visit(slot + kSlideO, name + "slide o", "m", c.slide_o);
    visit(slot + kTilt, name + "normal tilt", "rad", c.tilt);
    visit(slot + kTiltDirection, name + "tilt direction", "rad", azimuth(c.tilt));
    visit(slot + kGripForceError, name + "grip force error", "N", c.grip_force_error);
    const Distribution told = Distribution::constant(c.force ? (*c.force)[0] : 0);
    visit(slot + kOwnGripForce, name + "grip force", "N", c.grip_force.value_or(told));
  }
}

}  // namespace

std::vector<double> list_inputs(const Scenario& s, std::vector<Draw>& draws) {
  const auto objects = static_cast<int>(s.others.size()), contacts = static_cast<int>(s.contacts.size());
  std::vector<double> constant(static_cast<std::size_t>(object_slot(objects + 1, contacts)));
  for_each_input(s, [&](int slot, const std::string&, const std::string&, const Distribution& d) {
    // Constant inputs are read like drawn ones, from `constant`, which draws overwrite.
    constant[static_cast<std::size_t>(slot)] = d.nominal();
    if (!d.is_constant()) draws.push_back({slot, d});
  });
  return constant;
}

SurfacePoint surface_point(const Contact& c) {
  // The frame's columns are (t, o, n), SurfacePoint takes n first.
  return {c.point,
          column(c.frame, 2),
          column(c.frame, 0),
          column(c.frame, 1),
          significant_curvature(c.curvature_t),
          significant_curvature(c.curvature_o)};
}

Vec3<double> gyration2(const Object& o) {
  // Homogeneous solids.
  const double r2 = o.radius * o.radius, h2 = o.height * o.height;
  switch (o.shape) {
    case Shape::kSphere:
      return {{0.4 * r2, 0.4 * r2, 0.4 * r2}};
    case Shape::kCylinder:
      return {{r2 / 4 + h2 / 12, r2 / 4 + h2 / 12, r2 / 2}};
    case Shape::kBox: {
      const double x = o.size[0] * o.size[0], y = o.size[1] * o.size[1], z = o.size[2] * o.size[2];
      return {{(y + z) / 12, (x + z) / 12, (x + y) / 12}};
    }
    case Shape::kPoints:
      return o.gyration2;
  }
  return {{1, 1, 1}};
}

namespace {

/// A finger's chain with the palm as its world.
chain::Robot finger_robot(const Scenario& s, const Finger& f) {
  if (f.robot) {
    chain::Robot robot = *f.robot;
    // The finger's base is the pose of its robot's own base in the palm.
    robot.base = f.base * robot.base;
    robot.tool = robot.tool * f.tool;
    robot.gravity = s.gravity;
    return robot;
  }
  const chain::RobotData data{.name = "finger", .base = f.base, .tool = f.tool, .gravity = s.gravity};
  return f.modified ? chain::from_modified_dh(data, f.joints) : chain::from_dh(data, f.joints);
}

bool six_revolute(const chain::Robot& robot) { return robot.joints == 6 && fits_revolute(chain::make_model<6>(robot)); }

FingerSize choose_finger_size(const chain::Robot& robot) {
  if (!robot.coupled.empty()) return FingerSize::kSixteen;  // the only size that follows leaders
  if (six_revolute(robot)) return FingerSize::kSix;
  return robot.joints <= 4 ? FingerSize::kFour : robot.joints <= 8 ? FingerSize::kEight : FingerSize::kSixteen;
}

void set_chain(const chain::Robot& robot, FingerModel& f) {
  f.size = choose_finger_size(robot);
  switch (f.size) {
    case FingerSize::kFour:
      f.four = padded_chain<4>(robot);
      break;
    case FingerSize::kSix:
      f.six = padded_chain<6>(robot);
      break;
    case FingerSize::kEight:
      f.eight = padded_chain<8>(robot);
      break;
    case FingerSize::kSixteen:
      f.sixteen = padded_chain<16>(robot);
      break;
  }
}

}  // namespace

void set_finger(const Scenario& s, std::size_t j, FingerModel& f) {
  const Finger& from = s.fingers[j];
  set_chain(finger_robot(s, from), f);
  f.closed_form = from.ik == Ik::kPuma;
  if (f.closed_form && !(f.size == FingerSize::kSix && chain::is_puma_like(f.six.model)))
    throw Error(ExitCode::kInvalidFile,
                "finger " + std::to_string(j) +
                    ": the closed-form inverse kinematics "
                    "needs an arm built like the PUMA",
                "use ik = \"numeric\" for this finger");
  f.branch = {from.arm, from.elbow, from.wrist};
  f.tip_radius = from.tip_radius;
  f.numeric.joints = static_cast<int>(from.joint_count());
  if (from.robot) f.numeric.followers = chain::find_followers(*from.robot);
  std::copy(std::begin(from.start), std::end(from.start), f.numeric.start);
  f.torque_given = !from.tau.empty();
  std::copy(from.tau.begin(), from.tau.end(), f.tau);
  f.compensates = from.gravity_compensation ? 1 : 0;
  // Infinite limits beyond the given ones: a missing joint is never at its limit.
  std::fill_n(f.torque_limit, chain::kMaxJoints, std::numeric_limits<double>::infinity());
  std::copy(from.torque_limit.begin(), from.torque_limit.end(), f.torque_limit);
  f.torque_limited = !from.torque_limit.empty();
}

namespace {

void copy_fingers(const Scenario& s, GraspModel& m) {
  for (std::size_t j = 0; j < s.fingers.size(); ++j) {
    set_finger(s, j, m.finger[j]);
    m.torque_limited = m.torque_limited || m.finger[j].torque_limited;
    m.most_joints = std::max(m.most_joints, static_cast<int>(s.fingers[j].joint_count()));
  }
  m.hold.limited = m.torque_limited;
}

void check_arm(const Scenario& s) {
  const Arm& arm = *s.arm;
  const auto own = static_cast<std::size_t>(arm.carrier.joints);
  bool fits = own > 0 && own <= kMaxArmJoints && arm.q.size() == own && arm.fingers.size() == s.fingers.size();
  for (std::size_t j = 0; fits && j < s.fingers.size(); ++j)
    fits =
        arm.fingers[j].joint.size() == own + s.fingers[j].joint_count() && arm.fingers[j].joints <= chain::kMaxJoints;
  if (!fits)
    throw Error(ExitCode::kInvalidFile, "the arm and the fingers on it do not fit together",
                "give an arm of 1 to " + std::to_string(kMaxArmJoints) +
                    " joints, and for each finger the chain of its joints and the finger's, at most " +
                    std::to_string(chain::kMaxJoints));
}

/// Copies the arm, placed such that its palm is that of the fingers.
void copy_arm(const Scenario& s, GraspModel& m) {
  if (!s.arm) return;
  check_arm(s);
  constexpr int J = chain::kMaxJoints;
  constexpr auto kMixed = chain::Joints::kMixed;
  ArmModel& arm = m.arm;
  arm.joints = s.arm->carrier.joints;
  Vec<double, J> q = Vec<double, J>::zero();
  for (int i = 0; i < arm.joints; ++i) q[i] = arm.q[i] = s.arm->q[static_cast<std::size_t>(i)];
  const auto standing = [&](chain::Robot robot, const Pose<double>& base) {
    robot.base = base * robot.base;
    robot.gravity = s.gravity;
    return padded_chain<J>(robot);
  };
  const auto alone = standing(s.arm->carrier, Pose<double>::identity()).model;
  const Pose<double> palm = chain::frames<kMixed>(alone, chain::angles<kMixed>(alone, q)).tool;
  const Pose<double> base = s.fingers[0].base * inverse(palm);
  const auto carrier = standing(s.arm->carrier, base).model;
  const auto rest = chain::inertia_and_gravity<kMixed>(carrier, chain::angles<kMixed>(carrier, q));
  for (int r = 0; r < arm.joints; ++r) {
    arm.gravity[r] = rest.g[r];
    for (int c = 0; c <= r; ++c) arm.inertia[packed(r, c)] = rest.H(r, c);
  }
  for (std::size_t j = 0; j < s.fingers.size(); ++j) {
    arm.chain[j] = standing(s.arm->fingers[j], base);
    std::fill_n(arm.torque_limit[j], J, std::numeric_limits<double>::infinity());
    const std::vector<double>& limits = s.fingers[j].torque_limit;
    std::copy(limits.begin(), limits.end(), arm.torque_limit[j] + arm.joints);
  }
  // For fingers coupled by an arm the metrics do not know how the squeeze changes the drift.
  m.hold.any_grip_force = false;
}

void copy_contacts(const Scenario& s, GraspModel& m) {
  for (std::size_t j = 0; j < s.contacts.size(); ++j) {
    const Contact& c = s.contacts[j];
    m.surface[j] = surface_point(c);
    m.angle_sign[j] = c.angle_sign;
    m.force_limit[j] = c.force_limit;
    m.hold.limited = m.hold.limited || std::isfinite(c.force_limit);
    m.common_friction[j] = c.common_friction;
    const bool own = c.grip_force || c.force;
    m.grip_force_slot[j] = own ? contact_slot(static_cast<int>(j), kOwnGripForce) : static_cast<int>(kGripForce);
    // min_grip_force asks how far the common grip force may decrease, so it must act on some contact.
    m.hold.any_grip_force = m.hold.any_grip_force || (!own && s.fingers[j].tau.empty());
  }
}

void copy_inputs(const Scenario& s, GraspModel& m) {
  std::vector<Draw> draws;
  const std::vector<double> constant = list_inputs(s, draws);
  std::fill(std::copy(constant.begin(), constant.end(), m.constant), std::end(m.constant), 0.0);
  std::copy(draws.begin(), draws.end(), m.draw);
  m.draws = static_cast<int>(draws.size());
}

}  // namespace

Inputs<double> nominal_inputs(const GraspModel& m) {
  Inputs<double> in;
  for (int k = 0; k < kSlots; ++k) in.x[k] = m.constant[k];
  // A random force has no median direction: the nominal one is zero. The same holds for a tilt.
  in.x[kForceSize] = in.x[kTorqueSize] = 0;
  for (int j = 0; j < m.contacts; ++j) in.x[contact_slot(j, kTilt)] = 0;
  return in;
}

namespace {

/// Force commanded at contact j before anything is balanced (n, t, o).
Vec3<double> told_force(const Scenario& s, const GraspModel& m, const Inputs<double>& in, int j) {
  const auto at = static_cast<std::size_t>(j);
  if (s.contacts[at].force) return *s.contacts[at].force;
  return {{s.fingers[at].tau.empty() ? in.x[m.grip_force_slot[j]] : 0, 0, 0}};
}

/// The controller's force: squeeze along the nominal normals, plus the smallest change that balances the nominal
/// weight, c = c0 - V^T (V V^T)^-1 (W c0 + w), with V of the contacts that balances() is true for. Without these
/// contacts the command is c0, and all contacts share the controller's later wrenches on the object.
template <int N>
void balance_weight(const Scenario& s, GraspModel& m, const Inputs<double>& in) {
  const Pose<double> pose = object_pose(m, in);
  const double mass = s.nominal_mass > 0 ? s.nominal_mass : s.object.mass.nominal();
  const bool balanced = any_balances(s);
  Mat<double, 6, 3 * N> W, V;  // V: of those that balance
  ContactPlace<double> place[N];
  Vec<double, 3 * N> c0 = Vec<double, 3 * N>::zero();
  for (int j = 0; j < N; ++j) {
    place[j] = contact_place(m, in, pose, j);
    const auto Wj = wrench_matrix(place[j], pose.p);
    for (int r = 0; r < 6; ++r)
      for (int k = 0; k < 3; ++k) {
        W(r, 3 * j + k) = Wj(r, k);
        V(r, 3 * j + k) = !balanced || balances(s, static_cast<std::size_t>(j)) ? Wj(r, k) : 0;
      }
    const Vec3<double> told = told_force(s, m, in, j);
    for (int k = 0; k < 3; ++k) c0[3 * j + k] = told[k];
  }
  Vec<double, 6> load = W * c0;
  for (int i = 0; i < 3; ++i) load[i] += mass * m.gravity[i] + m.wrench[i];
  for (int i = 3; i < 6; ++i) load[i] += m.wrench[i];
  // Least squares through the eigenvalues: two fingers cannot balance a moment about their line.
  const auto eigen = symmetric_eigen(V * transpose(V));
  const auto least_forces = [&](const Vec<double, 6>& wrench) {
    Vec<double, 6> y = Vec<double, 6>::zero();
    for (int k = 0; k < 6; ++k) {
      // Skips directions that no force reaches, up to rounding: (15) of docs/theory/grasp-model.md.
      if (eigen.values[k] <= 1e-10 * eigen.values[5]) continue;
      const Vec<double, 6> v = column(eigen.vectors, k);
      y = axpy(dot(v, wrench) / eigen.values[k], v, y);
    }
    return transpose_times(V, y);
  };
  const auto in_palm = [&](const Vec<double, 3 * N>& c, int j) {
    return place[j].E * Vec3<double>{{c[3 * j], c[3 * j + 1], c[3 * j + 2]}};
  };
  const Vec<double, 3 * N> change = balanced ? least_forces(load) : Vec<double, 3 * N>::zero();
  for (int j = 0; j < N; ++j) {
    m.push[j] = column(place[j].E, 0);
    // Contacts with their own squeeze, a force or torques do not follow the common squeeze.
    m.squeezed[j] = m.grip_force_slot[j] == kGripForce && !m.finger[j].torque_given ? m.push[j] : Vec3<double>::zero();
    // The squeeze itself is added in the sample (push), because it is an input.
    m.balance[j] = place[j].E * Vec3<double>{{0, c0[3 * j + 1], c0[3 * j + 2]}} - in_palm(change, j);
  }
  // Least-norm forces are linear in the wrench, so six columns represent them for every wrench.
  for (int k = 0; k < 6; ++k) {
    Vec<double, 6> unit = Vec<double, 6>::zero();
    unit[k] = 1;
    const Vec<double, 3 * N> c = least_forces(unit);
    for (int j = 0; j < N; ++j) {
      const Vec3<double> f = in_palm(c, j);
      for (int i = 0; i < 3; ++i) m.share[j](i, k) = f[i];
    }
  }
}

/// Largest distance of a contact from the tool point of its finger's last link [m].
constexpr double kMaxOffTool = 0.1;

/// Whether the joints move the tool in all three directions, at a configuration in general position.
template <chain::Joints K, int J>
bool moves_in_space(const FingerChain<J>& finger) {
  Vec<double, J> q;
  for (int i = 0; i < J; ++i) q[i] = 0.4 + 0.3 * i;
  const auto frames = chain::frames<K>(finger.model, chain::angles<K>(finger.model, q));
  auto jac = chain::jacobian<K>(finger.model, frames, frames.tool.p, last_joint<K>(finger));
  chain::lead_columns(finger.followers, jac);
  Mat<double, 3, 3> square = Mat<double, 3, 3>::zero();
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c)
      for (int i = 0; i < finger.joints; ++i) square(r, c) += jac(r, i) * jac(c, i);
  const auto values = symmetric_eigen(square).values;  // ascending
  return values[0] > 1e-6 * values[2];
}

/// Moves the tool to the last link's point at the contact, after the finger has come as near as its joints allow:
/// fingers that move in a plane or along a line touch with any point of their pads. Others have to reach the contact.
/// Returns its distance from the tool [m].
template <chain::Joints K, int J>
double touch_with_link(const Vec3<double>& at, const Vec<double, J>& q, FingerChain<J>& finger) {
  const Pose<double> tool = chain::frames<K>(finger.model, chain::angles<K>(finger.model, q)).tool;
  const Vec3<double> off = at - tool.p;
  if (norm(off) <= kMaxOffTool && !moves_in_space<K>(finger))
    finger.model.tool.p += finger.model.tool.R * transpose_times(tool.R, off);
  return norm(off);
}

}  // namespace

void make_finger_reach(const FingerTask<double>& task, bool moving, std::size_t j, FingerModel& f) {
  double reached = 0, off = 0, away = 0;
  // The samples' own inverse kinematics, so that both agree on what is within reach.
  with_finger_size(f.size, [&](auto joints, auto size) {
    const auto stance = finger_stance<joints, size>(f, task, moving, reached);
    if (reached > 0) return;
    const auto& model = finger_chain<size>(f).model;
    const auto frames = chain::frames<joints>(model, chain::angles<joints>(model, Vec<double, size>::zero()));
    away = norm(task.place.p - frames.frame[0].p);
    if (f.closed_form) return;
    off = touch_with_link<joints, size>(tip_center(f, task.place), stance.q,
                                        const_cast<FingerChain<size>&>(finger_chain<size>(f)));
    static_cast<void>(finger_stance<joints, size>(f, task, moving, reached));
  });
  if (reached > 0) return;
  const std::string by = f.closed_form ? "" : ": its tool misses by " + std::to_string(1e3 * off) + " mm";
  throw Error(
      ExitCode::kInvalidFile,
      "finger " + std::to_string(j) + " cannot reach its contact in the nominal grasp, " + std::to_string(away) +
          " m from its first joint" + by,
      "move its base or the object, choose another branch, or give another `start` for the numeric solver; plain "
      "numbers are meters");
}

namespace {

void make_reach(GraspModel& m, const Inputs<double>& in) {
  const Pose<double> pose = object_pose(m, in);
  for (int j = 0; j < m.contacts; ++j)
    make_finger_reach(finger_task(m, in, pose, j), m.moving, static_cast<std::size_t>(j), m.finger[j]);
}

template <int N>
void finish_model(const Scenario& s, GraspModel& m) {
  const Inputs<double> in = nominal_inputs(m);
  balance_weight<N>(s, m, in);
  make_reach(m, in);
}

}  // namespace

void make_nominal(GraspModel& grasp) {
  const Inputs<double> in = nominal_inputs(grasp);
  // Nominal values become constants, so that "no draws" and "nominal" coincide.
  grasp.draws = 0;
  std::copy_n(in.x, kSlots, grasp.constant);
}

std::vector<Input> uncertain_inputs(const Scenario& scenario) {
  std::vector<Input> list;
  for_each_input(scenario, [&](int, const std::string& name, const std::string& unit, const Distribution& d) {
    if (!d.is_constant()) list.push_back({name, unit, d});
  });
  return list;
}

double rest_factor(std::span<const Vec3<double>> points, double gyration) {
  constexpr double kAmple = 4;  // contacts a quarter of the radius of gyration from a line are no small pads
  if (points.size() <= 2) return 1;
  const double n = static_cast<double>(points.size());
  Vec3<double> center = Vec3<double>::zero();
  for (const auto& p : points) center += 1 / n * p;
  Mat<double, 3, 3> spread = Mat<double, 3, 3>::zero();
  for (const auto& p : points)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) spread(i, j) += (p[i] - center[i]) * (p[j] - center[j]) / n;
  const auto along = symmetric_eigen(spread).values;  // ascending
  return std::clamp(kAmple * std::sqrt(std::max(along[0] + along[1], 0.0)) / gyration, 1e-3, 1.0);
}

namespace {

HeldRule held_rule(const Scenario& s) {
  const bool limited =
      std::any_of(s.contacts.begin(), s.contacts.end(), [](const auto& c) { return std::isfinite(c.force_limit); });
  return {s.held_imbalance, s.held_acceleration, limited};
}

}  // namespace

std::unique_ptr<GraspModel> make_group_counts(const Scenario& s) {
  auto m = std::make_unique<GraspModel>();
  m->contacts = static_cast<int>(s.contacts.size());
  std::vector<Draw> draws;
  static_cast<void>(list_inputs(s, draws));
  if (draws.size() > std::size(m->draw))
    throw Error(ExitCode::kInvalidFile, std::to_string(draws.size()) + " uncertain inputs",
                "a study takes up to " + std::to_string(std::size(m->draw)) + ": give some of them as values");
  std::copy(draws.begin(), draws.end(), m->draw);
  m->draws = static_cast<int>(draws.size());
  m->held = held_rule(s);
  return m;
}

std::unique_ptr<GraspModel> make_model(const Scenario& s) {
  if (s.contacts.empty() || s.contacts.size() > static_cast<std::size_t>(kMaxContacts) ||
      s.contacts.size() != s.fingers.size())
    throw Error(ExitCode::kInvalidFile,
                std::to_string(s.fingers.size()) + " fingers and " + std::to_string(s.contacts.size()) + " contacts",
                "give one contact per finger, 1 to " + std::to_string(kMaxContacts));
  require_sound_command(s);
  auto m = std::make_unique<GraspModel>();
  m->contacts = static_cast<int>(s.contacts.size());
  copy_fingers(s, *m);
  copy_contacts(s, *m);
  copy_arm(s, *m);
  copy_inputs(s, *m);
  m->object = {rotation_from_rpy(s.object.rpy), s.object.position};
  m->gyration2 = gyration2(s.object);
  m->gravity = s.gravity;
  for (int i = 0; i < 3; ++i) {
    m->wrench[i] = s.force[i];
    m->wrench[i + 3] = s.torque[i];
    m->hold.probe[i] = s.object.mass.nominal() * s.gravity[i];  // load factor: nominal weights added
    m->hold.probe[i + 3] = 0;
  }
  m->held = held_rule(s);
  std::vector<Vec3<double>> points;
  for (int j = 0; j < m->contacts; ++j) points.push_back(m->surface[j].point);
  m->held.acceleration *= rest_factor(points, std::sqrt((m->gyration2[0] + m->gyration2[1] + m->gyration2[2]) / 3));
  m->hold.length = std::sqrt((m->gyration2[0] + m->gyration2[1] + m->gyration2[2]) / 3 / 0.4);  // r for a sphere
  m->v = s.velocity;
  m->omega = s.angular_velocity;
  m->moving = dot(m->v, m->v) + dot(m->omega, m->omega) > 0;
  m->seed = s.plan.seed;
  using Finish = void (*)(const Scenario&, GraspModel&);
  static constexpr Finish finish[kMaxContacts] = {finish_model<1>, finish_model<2>, finish_model<3>, finish_model<4>,
                                                  finish_model<5>, finish_model<6>, finish_model<7>, finish_model<8>};
  finish[m->contacts - 1](s, *m);
  return m;
}

const char* to_string(Outcome outcome) { return study::name_at(kOutcomeWords, static_cast<int>(outcome)); }

}  // namespace garra::grasp
