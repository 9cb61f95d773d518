// One sample of a group: objects, contacts and fingers, then A and b (docs/theory/grasp-groups.md).
#include <algorithm>
#include <cmath>

#include "grasp/group/assemble.hpp"
#include "grasp/group/finger.hpp"
#include "grasp/sample/fingers.hpp"

namespace garra::grasp {

namespace {

const double* object_inputs(const GroupModel& m, const Column& inputs, std::size_t k) {
  return inputs.data() + m.objects[k].slot;
}
const double* contact_inputs(const Column& inputs, std::size_t j) {
  return inputs.data() + contact_slot(static_cast<int>(j), 0);
}

/// Weight, external and gyroscopic wrench on object k.
Vec<double, 6> object_load(const GroupModel& m, const GroupSample& s, std::size_t k) {
  Vec<double, 6> w = Vec<double, 6>::zero();
  if (k == 0) {
    const double* x = s.inputs.data();
    const auto force = ball_vector(x[kForceSize], x[kForceCosine], x[kForceAzimuth]);
    const auto torque = ball_vector(x[kTorqueSize], x[kTorqueCosine], x[kTorqueAzimuth]);
    for (int i = 0; i < 3; ++i) {
      w[i] = m.wrench[i] + force[i];
      w[i + 3] = m.wrench[i + 3] + torque[i];
    }
  }
  const Body<double>& body = s.body[k];
  const Vec3<double> gyroscopic = cross(body.omega, body.inertia * body.omega);
  for (int i = 0; i < 3; ++i) {
    w[i] += body.mass * m.gravity[i];
    w[i + 3] -= gyroscopic[i];
  }
  return w;
}

double friction(const GroupModel& m, const Column& inputs, std::size_t j) {
  const GroupContact& c = m.contacts[j];
  if (c.law == ContactLaw::kFrictionless) return 0;
  const double mu = contact_inputs(inputs, j)[kFriction];
  return c.common_friction ? mu * inputs[kCommonFriction] : mu;
}

/// The finger at its task in a sample.
void evaluate_finger(const GroupModel& m, std::size_t f, GroupSample& s) {
  const FingerModel& model = m.fingers[f];
  const FingerTask<double> task = task_of_finger(m, s, f);
  const int first = m.first_joint[f], n = m.first_joint[f + 1] - first;
  with_finger_size(model.size, [&](auto joints, auto size) {
    double reached = 0;
    const auto stance = finger_stance<joints, size>(model, task, m.moving, reached);
    s.reached = s.reached && reached > 0;
    std::copy_n(stance.q.m, n, s.q.begin() + first);
    std::copy_n(stance.qd.m, n, s.qd.begin() + first);
  });
  if (!m.rates[f].empty()) std::copy_n(m.rates[f].data(), n, s.qd.begin() + first);
  const chain::JointsInUse all(n);
  fill_finger<chain::kAnyJoints>(
      m, FingerOfGroup<double>{f, m.gravity, m.moving, true}, [](std::size_t, const auto&) {}, s);
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(first + i);
    const double hold = s.hold[at];
    double told = model.torque_given ? model.tau[i] : fma(task.compensation, hold, s.pushed[at]);
    if (model.torque_limited) told = std::clamp(told, -model.torque_limit[i], model.torque_limit[i]);
    s.tau[at] = told;
    s.effort[at] = hold - told;
  }
}

}  // namespace

Column draw_group(const GroupModel& m, std::int64_t index, double* uniforms, std::int64_t stride) {
  Column x = m.constant;
  const auto sample = SampleIndex<double>::consecutive(static_cast<std::uint64_t>(index));
  for (std::size_t k = 0; k < m.draws.size(); k += 2) {
    double u[2];
    uniform_pair<double>(m.seed, sample, static_cast<std::uint32_t>(k / 2), u[0], u[1]);
    for (std::size_t h = 0; h < 2 && k + h < m.draws.size(); ++h) {
      x[static_cast<std::size_t>(m.draws[k + h].slot)] = study::quantile(m.draws[k + h].distribution, u[h]);
      if (uniforms != nullptr) uniforms[static_cast<std::int64_t>(k + h) * stride] = u[h];
    }
  }
  return x;
}

Column nominal_group(const GroupModel& m) {
  Column x = m.constant;
  x[kForceSize] = x[kTorqueSize] = 0;
  for (std::size_t j = 0; j < m.contacts.size(); ++j)
    x[static_cast<std::size_t>(contact_slot(static_cast<int>(j), kTilt))] = 0;
  return x;
}

GroupSample place_group(const GroupModel& m, Column inputs) {
  GroupSample s;
  s.inputs = std::move(inputs);
  const Column& x = s.inputs;
  for (std::size_t k = 0; k < m.objects.size(); ++k) {
    const GroupObject& o = m.objects[k];
    s.pose.push_back(pose_of_object(o.pose, object_inputs(m, x, k)));
    s.body.push_back(body_of_object(o.gyration2, object_inputs(m, x, k), s.pose.back()));
    s.body.back().v = o.v;
    s.body.back().omega = o.omega;
    s.load.push_back(object_load(m, s, k));
  }
  for (std::size_t j = 0; j < m.contacts.size(); ++j) {
    const GroupContact& c = m.contacts[j];
    const auto object = static_cast<std::size_t>(c.object);
    const double* own = contact_inputs(x, j);
    s.place.push_back(s.pose[object] *
                      place_of_contact(c.surface, own, object_inputs(m, x, object)[kScale], x[kAngle] * c.angle_sign));
    s.mu.push_back(friction(m, x, j));
    const double push = x[static_cast<std::size_t>(c.grip_force_slot)] + own[kGripForceError];
    s.told.push_back(c.partner.kind == Partner::Kind::kFinger ? axpy(push, c.push, c.balance) : Vec3<double>::zero());
  }
  return s;
}

FingerTask<double> task_of_finger(const GroupModel& m, const GroupSample& s, std::size_t finger) {
  FingerTask<double> task{};
  int count = 0;
  Vec3<double> sum = Vec3<double>::zero(), velocity = sum;
  for (const int j : m.of_finger[finger]) {
    const auto at = static_cast<std::size_t>(j);
    const GroupContact& c = m.contacts[at];
    const int last = m.first_joint[finger + 1] - m.first_joint[finger] - 1;
    if (c.partner.link >= 0 && c.partner.link < last) continue;
    // The frame is that of the first of them.
    if (count++ == 0) task.place.E = s.place[at].E;
    sum += s.place[at].p;
    Vec3<double> surface = velocity_at(s.body[static_cast<std::size_t>(c.object)], s.place[at].p);
    const Vec3<double> n = column(s.place[at].E, 0);
    // Where the contact slides the fingertip stands still along the surface, unless the slip is given as infinitely
    // slow.
    if (c.slips_by_motion) surface = dot(n, surface) * n;
    velocity += surface;
  }
  task.place.p = (1.0 / count) * sum;
  task.velocity = (1.0 / count) * velocity;
  task.compensation = s.inputs[kCompensation] * m.fingers[finger].compensates;
  return task;
}

Vec<double, 6> external_wrench(const GroupModel& m, const GroupSample& s, std::size_t k) {
  const Body<double>& body = s.body[k];
  const Vec3<double> gyroscopic = cross(body.omega, body.inertia * body.omega);
  Vec<double, 6> out = s.load[k];
  for (int i = 0; i < 3; ++i) {
    out[i] -= body.mass * m.gravity[i];
    out[i + 3] += gyroscopic[i];
  }
  return out;
}

void allot_group(const GroupModel& m, GroupSample& s) {
  const int rows = m.rows(), joints = m.joints(), objects = static_cast<int>(m.objects.size());
  s.W = s.inverse_mass_W = Dense(6 * objects, rows);
  s.J = Dense(rows, joints);
  s.M_man = s.factor = Dense(joints, joints);
  s.A_obj = s.A_man = Dense(rows, rows);
  s.inverse_mass_J = Dense(joints, rows + 1);
  for (Column* list : {&s.q, &s.qd, &s.gravity, &s.hold, &s.pushed, &s.tau, &s.effort})
    list->assign(static_cast<std::size_t>(joints), 0);
  for (Column* list : {&s.velocity_part, &s.b_obj, &s.b_man}) list->assign(static_cast<std::size_t>(rows), 0);
  s.side.assign(m.contacts.size(), ContactSide<double>());
}

GroupSample stand_group(const GroupModel& m, Column inputs) {
  GroupSample s = place_group(m, std::move(inputs));
  allot_group(m, s);
  for (std::size_t f = 0; f < m.fingers.size(); ++f) evaluate_finger(m, f, s);
  return s;
}

GroupSample evaluate_group(const GroupModel& m, Column inputs) {
  GroupSample s = stand_group(m, std::move(inputs));
  for (std::size_t j = 0; m.moving && j < m.contacts.size(); ++j) {
    const Vec3<double> part = velocity_of_contact(m, s, j);
    std::copy_n(part.m, 3, s.velocity_part.begin() + m.numbers * static_cast<std::ptrdiff_t>(j));
  }
  fill_wrenches(m, s);
  assemble_group(m, s);
  return s;
}

}  // namespace garra::grasp
