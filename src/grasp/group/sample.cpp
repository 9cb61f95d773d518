// One sample of a group: objects, contacts and fingers, then A and b (docs/theory/grasp-groups.md).
#include <algorithm>
#include <cmath>

#include "garra/systems/grasp/assemble.hpp"
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

/// Velocity of a point of a body.
Vec3<double> velocity_at(const Body<double>& body, const Vec3<double>& p) {
  return body.v + cross(body.omega, p - body.p_cm);
}

}  // namespace

Vec3<double> relative_velocity(const GroupModel& m, const GroupSample& s, std::size_t j) {
  const GroupContact& c = m.contacts[j];
  const Vec3<double>& p = s.place[j].p;
  const Vec3<double> other = c.partner.kind == Partner::Kind::kObject
                                 ? velocity_at(s.body[static_cast<std::size_t>(c.partner.number)], p)
                                 : s.side[j].velocity;
  return velocity_at(s.body[static_cast<std::size_t>(c.object)], p) - other;
}

/// The velocity part of b at one contact: velocity_term() of one object and a point finger, for two curved bodies. The
/// contact point moves with the rate p' along the surfaces, such that both keep one normal:
///   omega_a x n - k_a (p' - v_a) = omega_b x n + k_b (p' - v_b)     (D. J. Montana, Int. J. Robotics Research 7(3),
///   1988)
Vec3<double> velocity_of_contact(const GroupModel& m, const GroupSample& s, std::size_t j) {
  const GroupContact& c = m.contacts[j];
  const Body<double>& body = s.body[static_cast<std::size_t>(c.object)];
  const Mat3<double>& E = s.place[j].E;
  const Vec3<double> n = column(E, 0), zero = Vec3<double>::zero();
  const Vec3<double> v_a = velocity_at(body, s.place[j].p);
  ContactSide other = s.side[j];
  Vec3<double> v_cm = zero;
  if (c.partner.kind == Partner::Kind::kObject) {
    const Body<double>& second = s.body[static_cast<std::size_t>(c.partner.number)];
    other = {velocity_at(second, s.place[j].p), second.omega, zero};
    v_cm = second.v;
  }
  const Vec3<double> sliding = relative_velocity(m, s, j);
  const double k_a[2] = {c.surface.curvature_t, c.surface.curvature_o};
  const double k_b[2] = {c.partner.curvature_t, c.partner.curvature_o};
  Vec3<double> p_rate = other.velocity, n_rate = zero;
  for (int k = 0; k < 2; ++k) {
    const Vec3<double> e = column(E, k + 1);
    const double turning = dot(e, cross(body.omega, n));
    if (c.partner.kind == Partner::Kind::kFinger) {  // a point: it is the contact point
      n_rate = axpy(turning + k_a[k] * dot(e, sliding), e, n_rate);
      continue;
    }
    const double sum = k_a[k] + k_b[k], turning_b = dot(e, cross(other.omega, n));
    const double v_b = dot(e, other.velocity);
    // Two planes have no contact point of their own: that of the first object is taken.
    const double rate = sum > 0 ? (turning - turning_b + k_a[k] * dot(e, v_a) + k_b[k] * v_b) / sum : dot(e, v_a);
    p_rate = axpy(rate - v_b, e, p_rate);
    n_rate = axpy(turning_b + k_b[k] * (rate - v_b), e, n_rate);
  }
  const Vec3<double> first = cross(body.omega, p_rate - body.v);
  const Vec3<double> second = c.partner.kind == Partner::Kind::kFinger ? other.bias : cross(other.omega, p_rate - v_cm);
  Vec3<double> out = transpose_times(E, first - second);
  out[0] += dot(n_rate, axpy(-dot(sliding, n), n, sliding));
  return out;
}

namespace {

/// The finger at its task in a sample.
template <chain::Joints K, int J>
void evaluate_finger(const GroupModel& m, std::size_t f, GroupSample& s) {
  const FingerModel& model = m.fingers[f];
  const FingerTask<double> task = task_of_finger(m, s, f);
  double reached = 0;
  const auto stance = finger_stance<K, J>(model, task, m.moving, reached);
  s.reached = s.reached && reached > 0;
  const int first = m.first_joint[f], n = finger_chain<J>(model).joints;
  std::copy_n(stance.q.m, n, s.q.begin() + first);
  const Column& rates = m.rates[f];
  std::copy_n(rates.empty() ? stance.qd.m : rates.data(), n, s.qd.begin() + first);
  fill_finger<K, J>(
      m, {f, m.gravity, m.moving}, [](int, const chain::Frames<double, J>&) {}, s);
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

void fill_wrenches(const GroupModel& m, GroupSample& s) {
  for (std::size_t j = 0; j < m.contacts.size(); ++j) {
    const GroupContact& c = m.contacts[j];
    const auto add = [&](int object, double sign) {
      const auto W = wrench_matrix(s.place[j], s.body[static_cast<std::size_t>(object)].p_cm);
      const int first = m.numbers * static_cast<int>(j);
      for (int r = 0; r < 6; ++r)
        for (int k = 0; k < 3; ++k) s.W(6 * object + r, first + k) = sign * W(r, k);
      for (int r = 0; m.numbers > 3 && r < 3; ++r)
        s.W(6 * object + 3 + r, first + 3) = sign * c.torsion_radius * s.place[j].E(r, 0);
    };
    add(c.object, 1);
    if (c.partner.kind == Partner::Kind::kObject) add(c.partner.number, -1);
  }
}

void assemble_group(const GroupModel& m, GroupSample& s) {
  Dense inverse_mass_W(s.W.rows, s.W.cols);
  Column w(static_cast<std::size_t>(s.W.rows));
  for (std::size_t k = 0; k < s.body.size(); ++k) {
    const int row = 6 * static_cast<int>(k);
    for (int c = 0; c < s.W.cols; ++c) {
      const Vec3<double> moment = vec3(s.W(row + 3, c), s.W(row + 4, c), s.W(row + 5, c));
      const Vec3<double> turn = s.body[k].inverse_inertia * moment;
      for (int i = 0; i < 3; ++i) {
        inverse_mass_W(row + i, c) = 1 / s.body[k].mass * s.W(row + i, c);
        inverse_mass_W(row + 3 + i, c) = turn[i];
      }
    }
    std::copy_n(s.load[k].m, 6, w.begin() + row);
  }
  s.A_obj = transpose_times(s.W, inverse_mass_W);
  s.b_obj = transpose_times(inverse_mass_W, w);
  // M_man^-1 (J^T | effort), finger by finger.
  Dense x(s.J.cols, s.J.rows + 1);
  for (std::size_t f = 0; f < m.fingers.size(); ++f) {
    const int first = m.first_joint[f], n = m.first_joint[f + 1] - first;
    Dense M(n, n), right(n, x.cols);
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < n; ++k) M(i, k) = s.M_man(first + i, first + k);
      for (int k = 0; k < s.J.rows; ++k) right(i, k) = s.J(k, first + i);
      right(i, s.J.rows) = s.effort[static_cast<std::size_t>(first + i)];
    }
    right = solve_definite(M, right);
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < x.cols; ++k) x(first + i, k) = right(i, k);
  }
  const int rows = s.J.rows;
  s.A_man = Dense(rows, rows);
  s.b_man.assign(static_cast<std::size_t>(rows), 0);
  for (int r = 0; r < rows; ++r)
    for (int i = 0; i < s.J.cols; ++i) {
      if (s.J(r, i) == 0) continue;
      for (int c = 0; c < rows; ++c) s.A_man(r, c) += s.J(r, i) * x(i, c);
      s.b_man[static_cast<std::size_t>(r)] += s.J(r, i) * x(i, rows);
    }
  // A contact that bears no moment among soft ones: its diagonal entry is a placeholder.
  for (int r = 3; m.numbers > 3 && r < rows; r += 4)
    if (!m.bears(r)) s.A_obj(r, r) = s.A_obj(r - 3, r - 3);
  // Symmetric to the last bit.
  for (Dense* a : {&s.A_obj, &s.A_man})
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < r; ++c) (*a)(c, r) = (*a)(r, c);
}

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
  const int rows = m.rows(), joints = m.joints();
  s.W = Dense(6 * static_cast<int>(m.objects.size()), rows);
  s.J = Dense(rows, joints);
  s.M_man = Dense(joints, joints);
  for (Column* list : {&s.q, &s.qd, &s.gravity, &s.hold, &s.pushed, &s.tau, &s.effort})
    list->assign(static_cast<std::size_t>(joints), 0);
  s.velocity_part.assign(static_cast<std::size_t>(rows), 0);
  s.side.assign(m.contacts.size(), ContactSide());
}

GroupSample evaluate_group(const GroupModel& m, Column inputs) {
  GroupSample s = place_group(m, std::move(inputs));
  allot_group(m, s);
  for (std::size_t f = 0; f < m.fingers.size(); ++f)
    with_finger_size(m.fingers[f].size, [&](auto joints, auto size) { evaluate_finger<joints, size>(m, f, s); });
  for (std::size_t j = 0; m.moving && j < m.contacts.size(); ++j) {
    const Vec3<double> part = velocity_of_contact(m, s, j);
    std::copy_n(part.m, 3, s.velocity_part.begin() + m.numbers * static_cast<std::ptrdiff_t>(j));
  }
  fill_wrenches(m, s);
  assemble_group(m, s);
  return s;
}

}  // namespace garra::grasp
