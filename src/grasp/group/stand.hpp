// Steps of a sample of a group at one instant: inputs, objects and contacts, fingers, then A and b
// (docs/theory/grasp-groups.md). Host and device.
#pragma once

#include "grasp/group/assemble.hpp"
#include "grasp/group/finger.hpp"
#include "grasp/group/rooms.hpp"
#include "grasp/sample/fingers.hpp"

namespace garra::grasp {

/// Divides memory for a sample.
GARRA_HD_CALL inline GroupSampleView cut_sample(const GroupParts<Shown>& m, Cutter<double>& memory) {
  const std::size_t objects = m.objects.size(), contacts = m.contacts.size();
  const int rows = m.rows(), joints = m.joints(), of_objects = 6 * static_cast<int>(objects);
  const auto of_rows = static_cast<std::size_t>(rows), of_joints = static_cast<std::size_t>(joints);
  GroupSampleView s;
  memory.list(s.inputs, m.constant.size());
  memory.list(s.reached, m.fingers.size());
  memory.list(s.pose, objects);
  memory.list(s.body, objects);
  memory.list(s.load, objects);
  memory.list(s.place, contacts);
  memory.list(s.told, contacts);
  memory.list(s.mu, contacts);
  memory.list(s.side, contacts);
  for (View<double>* one : {&s.q, &s.qd, &s.gravity, &s.hold, &s.pushed, &s.tau, &s.effort})
    memory.list(*one, of_joints);
  for (View<double>* one : {&s.velocity_part, &s.b_obj, &s.b_man}) memory.list(*one, of_rows);
  for (auto* one : {&s.W, &s.inverse_mass_W}) memory.matrix(*one, of_objects, rows);
  for (auto* one : {&s.M_man, &s.factor}) memory.matrix(*one, joints, joints);
  for (auto* one : {&s.A_obj, &s.A_man}) memory.matrix(*one, rows, rows);
  memory.matrix(s.J, rows, joints);
  memory.matrix(s.inverse_mass_J, joints, rows + 1);
  return s;
}

/// The inputs of sample `index`; `uniforms`, if not null, takes the uniform number of each draw, `stride` apart.
GARRA_HD void draw_sample(const auto& m, std::int64_t index, double* uniforms, std::int64_t stride, auto& x) {
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = m.constant[k];
  const auto sample = SampleIndex<double>::consecutive(static_cast<std::uint64_t>(index));
  for (std::size_t k = 0; k < m.draws.size(); k += 2) {
    double u[2];
    uniform_pair<double>(m.seed, sample, static_cast<std::uint32_t>(k / 2), u[0], u[1]);
    for (std::size_t h = 0; h < 2 && k + h < m.draws.size(); ++h) {
      x[static_cast<std::size_t>(m.draws[k + h].slot)] = study::quantile(m.draws[k + h].distribution, u[h]);
      if (uniforms != nullptr) uniforms[static_cast<std::int64_t>(k + h) * stride] = u[h];
    }
  }
}
/// Nominal inputs: medians, no random wrench, no tilt.
GARRA_HD void nominal_sample(const auto& m, auto& x) {
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = m.constant[k];
  x[kForceSize] = x[kTorqueSize] = 0;
  for (std::size_t j = 0; j < m.contacts.size(); ++j)
    x[static_cast<std::size_t>(contact_slot(static_cast<int>(j), kTilt))] = 0;
}

/// Weight, external and gyroscopic wrench on object k.
GARRA_HD Vec<double, 6> object_load(const GroupParts<Shown>& m, const GroupSampleView& s, std::size_t k) {
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

/// Places objects and contacts, whose inputs are known.
GARRA_HD_CALL inline void place_sample(const GroupParts<Shown>& m, GroupSampleView& s) {
  const double* x = s.inputs.data();
  for (std::size_t k = 0; k < m.objects.size(); ++k) {
    const GroupObject& o = m.objects[k];
    s.pose[k] = pose_of_object(o.pose, x + o.slot);
    s.body[k] = body_of_object(o.gyration2, x + o.slot, s.pose[k]);
    s.body[k].v = o.v;
    s.body[k].omega = o.omega;
    s.load[k] = object_load(m, s, k);
  }
  for (std::size_t j = 0; j < m.contacts.size(); ++j) {
    const GroupContact& c = m.contacts[j];
    const auto object = static_cast<std::size_t>(c.object);
    const double* own = x + contact_slot(static_cast<int>(j), 0);
    s.place[j] =
        s.pose[object] * place_of_contact(c.surface, own, x[m.objects[object].slot + kScale], x[kAngle] * c.angle_sign);
    const double mu = c.common_friction ? own[kFriction] * x[kCommonFriction] : own[kFriction];
    s.mu[j] = c.law == ContactLaw::kFrictionless ? 0 : mu;
    const double push = x[c.grip_force_slot] + own[kGripForceError];
    s.told[j] = c.partner.kind == Partner::Kind::kFinger ? axpy(push, c.push, c.balance) : Vec3<double>::zero();
  }
}

/// The task of a finger: its contacts on the last link, or their mean, where it brings its tool.
GARRA_HD FingerTask<double> task_of_finger(const GroupParts<Shown>& m, const GroupSampleView& s, std::size_t finger) {
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

/// Finger f at its task; K and J are those of its size, Fill as in fill_finger().
template <chain::Joints K, int J, int Fill>
GARRA_HD_CALL void stand_finger(const GroupParts<Shown>& m, std::size_t f, GroupSampleView& s) {
  const FingerModel& model = m.fingers[f];
  const FingerTask<double> task = task_of_finger(m, s, f);
  const auto stance = finger_stance<K, J>(model, task, m.moving, s.reached[f]);
  const auto first = static_cast<std::size_t>(m.first_joint[f]);
  for_finger_joints(m, f, [&](std::size_t at) {
    const int i = static_cast<int>(at - first);
    s.q[at] = stance.q[i];
    s.qd[at] = m.rates[at] == m.rates[at] ? m.rates[at] : stance.qd[i];
  });
  fill_finger<Fill>(
      m, FingerOfGroup<double>{f, m.gravity, m.moving, true}, [](std::size_t, const auto&) {}, s);
  for_finger_joints(m, f, [&](std::size_t at) {
    const std::size_t i = at - first;
    const double hold = s.hold[at];
    double told = model.torque_given ? model.tau[i] : fma(task.compensation, hold, s.pushed[at]);
    if (model.torque_limited) told = max(min(told, model.torque_limit[i]), -model.torque_limit[i]);
    s.tau[at] = told;
    s.effort[at] = hold - told;
  });
}

/// Matrices of a sample whose fingers stand.
GARRA_HD_CALL inline void finish_sample(const GroupParts<Shown>& m, GroupSampleView& s) {
  for (std::size_t j = 0; m.moving && j < m.contacts.size(); ++j) {
    const Vec3<double> part = velocity_of_contact(m, s, j);
    for (int k = 0; k < 3; ++k)
      s.velocity_part[static_cast<std::size_t>(m.numbers) * j + static_cast<std::size_t>(k)] = part[k];
  }
  fill_wrenches(m, s);
  assemble_group(m, s);
}

}  // namespace garra::grasp
