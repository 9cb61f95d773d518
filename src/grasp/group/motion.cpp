#include "grasp/group/motion.hpp"

#include <algorithm>
#include <cmath>

#include "contact/batch/arrays.hpp"
#include "garra/batch/interrupt.hpp"
#include "garra/core/error.hpp"
#include "garra/systems/grasp/object_step.hpp"
#include "grasp/group/finger.hpp"
#include "grasp/group/process.hpp"
#include "grasp/group/series.hpp"
#include "grasp/group/surfaces.hpp"
#include "grasp/sample/finger_command.hpp"
#include "grasp/sample/fingers.hpp"
#include "grasp/set/run_hand.hpp"
#include "grasp/study/grasp_study.hpp"
#include "grasp/study/study_solver.hpp"
#include "grasp/time/host.hpp"

namespace garra::grasp {

namespace {

using Kind = Partner::Kind;
/// Of contacts with D numbers each (GroupModel::numbers).
template <int D>
using Problem = solvers::FrictionProblem<double, kAnyContacts, D>;
template <int D>
using Solution = solvers::FrictionSolution<double, kAnyContacts, D>;

void refuse(bool wrong, const std::string& key, const std::string& problem) {
  if (wrong) throw Error(ExitCode::kInvalidFile, key + ": " + problem, "leave it out for a group of objects");
}

void check_options(const InTime& t) {
  refuse(t.scheme == Scheme::kExplicit, "simulation.scheme", "a group takes \"moreau-jean\"");
  refuse(t.drive == Drive::kSampled, "simulation.drive", "a group takes no table of torques");
  const Controller& c = t.controller;
  refuse(c.stiffness != 0 || c.damping != 0 || c.turn_stiffness != 0 || c.turn_damping != 0, "simulation.drive",
         "gains of the object are not taken by a group, those of the joints are");
}

/// Forces that leave this share of the load are a start at rest: below the tolerance of the certificate.
constexpr double kStartsWithin = 2e-10;

/// State of one sample between two steps, and its measures.
struct State {
  GroupSample now;  ///< at the step's configuration
  std::vector<ObjectMotion<double>> object;
  std::vector<ContactShape> shape;
  Column q, qd, first, kept;  ///< of all joints; kept: the first step's torques
  Column gap, touched;        ///< of the contacts: touched: carried force in the step before
  Column before;              ///< relative velocities at the start of the step
  Column forces;              ///< of the step before
  Column slack;               ///< of the joints: 1: spring and damper act, 0: the torque is at its limit
  Trajectory t;
  double kinetic = 0, energy_start = 0, work = 0, balance = 0;
  Vec3<double> momentum = {{0, 0, 0}}, gravity = momentum;
  bool running = true;
};

/// Rules of a study that all samples share.
struct Rules {
  const Scenario& scenario;
  const GroupModel& model;
  StepRules step;
  LoadClock clock;
  std::vector<FingerLimits> limits;
  bool shaken = false;
  Vec3<double> shake_rms = {{0, 0, 0}};
  std::int64_t steps = 0;

  [[nodiscard]] const InTime& time() const { return *scenario.time; }
  [[nodiscard]] int contacts() const { return static_cast<int>(model.contacts.size()); }
};

void copy_limits(const std::vector<std::vector<double>>& given, std::size_t f, double* to) {
  if (f < given.size()) std::copy(given[f].begin(), given[f].end(), to);
}

Rules make_group_rules(const Scenario& s, const GroupModel& m) {
  const InTime& time = *s.time;
  Rules r{
      s, m, {false, time.step, time.restitution, time.baumgarte}, LoadClock(time.loads, s.gravity, time.duration), {}};
  const auto torque = torque_limits(s);
  for (std::size_t f = 0; f < s.fingers.size(); ++f) {
    FingerLimits limits = FingerLimits::none();
    copy_limits(torque, f, limits.torque);
    copy_limits(time.lower, f, limits.lower);
    copy_limits(time.upper, f, limits.upper);
    r.limits.push_back(limits);
  }
  for (const TimeLoad& load : time.loads)
    if (load.kind == TimeLoad::Kind::kShake) {
      r.shaken = true;
      r.shake_rms = load.rms;
    }
  r.steps = std::llround(time.duration / time.step);
  return r;
}

/// The point of finger f that touches at its contacts, fixed in its links.
template <chain::Joints K, int J>
void mark_tips(const GroupModel& m, std::size_t f, State& x) {
  const FingerChain<J>& finger = finger_chain<J>(m.fingers[f]);
  Vec<double, J> q = Vec<double, J>::zero();
  std::copy_n(x.q.begin() + m.first_joint[f], finger.joints, q.m);
  const auto frames = chain::frames<K>(finger.model, chain::angles<K>(finger.model, q));
  for (const int j : m.of_finger[f]) {
    const auto at = static_cast<std::size_t>(j);
    const int link = m.contacts[at].partner.link;
    x.shape[at].link = link < 0 ? last_joint<K>(finger) : link;
    const Pose<double>& frame = frames.frame[x.shape[at].link];
    x.shape[at].tip = transpose_times(frame.R, x.now.place[at].p - frame.p);
  }
}

/// `level`: the friction of a level, or NaN.
State start_state(const Rules& r, Column inputs, double level) {
  const GroupModel& m = r.model;
  State x;
  x.now = evaluate_group(m, std::move(inputs));
  if (!std::isnan(level))
    for (std::size_t j = 0; j < x.now.mu.size(); ++j)
      // The deviation drawn about the nominal friction stays.
      if (m.contacts[j].law != ContactLaw::kFrictionless)
        x.now.mu[j] = std::max(level + (x.now.mu[j] - nominal_friction(r.scenario, j)), 0.0);
  x.shape = make_shapes(m, x.now);
  x.q = x.first = x.now.q;
  x.qd = x.now.qd;
  x.kept.assign(x.q.size(), 0);
  x.slack.assign(x.q.size(), 1);
  x.gap.assign(m.contacts.size(), 0);
  x.touched.assign(m.contacts.size(), 1);
  x.before.assign(static_cast<std::size_t>(m.rows()), 0);
  x.forces = x.before;
  for (std::size_t k = 0; k < m.objects.size(); ++k) {
    const Body<double>& body = x.now.body[k];
    const double* in = x.now.inputs.data() + m.objects[k].slot;
    ObjectMotion<double> o{};
    o.p = o.first = x.now.pose[k].p;
    const Mat3<double>& R = x.now.pose[k].R;
    o.turn = o.first_turn = to_quaternion(column(R, 0), column(R, 1), column(R, 2));
    o.v = body.v;
    o.w = body.omega;
    o.mass = body.mass;
    o.moments = (body.mass * in[kScale] * in[kScale]) * m.objects[k].gyration2;
    o.wrench = external_wrench(m, x.now, k);  // the rest belongs to a step
    o.running = 1;
    x.object.push_back(o);
  }
  for (std::size_t f = 0; f < m.fingers.size(); ++f)
    with_finger_size(m.fingers[f].size, [&](auto joints, auto size) { mark_tips<joints, size>(m, f, x); });
  x.t.slip_time = x.t.open_time = x.t.least_margin = INFINITY;
  x.t.end = x.now.reached ? MotionEnd::kHeld : MotionEnd::kUnreachable;
  x.running = x.now.reached;
  return x;
}

/// Torques of finger f and what they leave, at the step's configuration.
void drive_finger(const Rules& r, std::size_t f, const StepNow& step, State& x) {
  const GroupModel& m = r.model;
  const InTime& time = r.time();
  GroupSample& s = x.now;
  const FingerModel& model = m.fingers[f];
  const bool controller = time.drive == Drive::kController, kept = time.drive == Drive::kConstant && !step.first;
  const double stiffness = controller ? time.controller.joint_stiffness : 0;
  const double damping = controller ? time.controller.joint_damping : 0, dt = time.step;
  const double compensation = s.inputs[kCompensation] * model.compensates;
  for (int i = 0; i < m.first_joint[f + 1] - m.first_joint[f]; ++i) {
    const auto at = static_cast<std::size_t>(m.first_joint[f] + i);
    double tau = model.torque_given ? model.tau[i] : kept ? x.kept[at] : fma(compensation, s.hold[at], s.pushed[at]);
    x.kept[at] = tau;
    const double limit = r.limits[f].torque[i];
    const double wanted = tau - stiffness * (x.q[at] - x.first[at]) - damping * x.qd[at];
    const bool beyond = std::abs(wanted) > limit;
    if (std::isfinite(limit)) {
      double& peak = x.t.peak_torque[f];
      peak = std::max(peak, std::abs(wanted) / limit);
    }
    if (beyond) tau = std::clamp(wanted, -limit, limit);
    x.slack[at] = beyond ? 0 : 1;
    s.tau[at] = tau;
    // Springs and dampers are linearly implicit.
    const double soft = -x.slack[at] * (stiffness * (x.q[at] - x.first[at] + dt * x.qd[at]) + damping * x.qd[at]);
    s.effort[at] = s.hold[at] - tau - soft;
  }
}

double spring_torque(const Rules& r, const State& x, std::size_t at, double rate) {
  const InTime& time = r.time();
  if (time.drive != Drive::kController) return 0;
  const Controller& c = time.controller;
  return -x.slack[at] * (c.joint_stiffness * (x.q[at] - x.first[at] + time.step * rate) + c.joint_damping * rate);
}

/// Places objects, fingers and contacts at the middle of the step.
void place_step(const Rules& r, const StepNow& step, const Vec3<double>& gravity, State& x) {
  const GroupModel& m = r.model;
  GroupSample& s = x.now;
  const double half = 0.5 * r.step.step;
  const Vec<double, 6> timed = step.now.wrench;
  for (std::size_t k = 0; k < x.object.size(); ++k) {
    const ObjectMotion<double>& o = x.object[k];
    const Quaternion<double> turn = turned(o.turn, half * o.w);
    s.pose[k] = {rotation_matrix(turn), axpy(half, o.v, o.p)};
    s.body[k] = body_at(o, s.pose[k].p, turn);
    s.load[k] = load_on(s.body[k], gravity, k == 0 ? o.wrench + timed : o.wrench);
  }
  std::fill(s.J.m.begin(), s.J.m.end(), 0);
  std::fill(s.W.m.begin(), s.W.m.end(), 0);
  const auto object_of_contact = [&](std::size_t j) { return s.pose[static_cast<std::size_t>(m.contacts[j].object)]; };
  for (std::size_t j = 0; j < m.contacts.size(); ++j) {
    const Partner& p = m.contacts[j].partner;
    if (p.kind == Kind::kFinger) continue;
    const Pose<double> second =
        p.kind == Kind::kObject ? s.pose[static_cast<std::size_t>(p.number)] : Pose<double>::identity();
    const PlaceAndGap at = touch_of_objects(x.shape[j], object_of_contact(j), second);
    s.place[j] = at.place;
    x.gap[j] = at.gap;
  }
  for (std::size_t k = 0; k < x.q.size(); ++k) s.q[k] = x.q[k] + half * x.qd[k];
  s.qd = x.qd;
  for (std::size_t f = 0; f < m.fingers.size(); ++f) {
    with_finger_size(m.fingers[f].size, [&](auto joints, auto size) {
      const auto place = [&](int j, const chain::Frames<double, size>& frames) {
        const auto of = static_cast<std::size_t>(j);
        const Pose<double>& frame = frames.frame[x.shape[of].link];
        const PlaceAndGap at = touch_of_finger(x.shape[of], object_of_contact(of), frame.R * x.shape[of].tip + frame.p);
        s.place[of] = at.place;
        x.gap[of] = at.gap;
      };
      fill_finger<joints, size>(m, {f, gravity, true}, place, s);
    });
    drive_finger(r, f, step, x);
  }
  fill_wrenches(m, s);
}

/// W^T V - J qd.
Column relative_velocities(const GroupSample& s, const std::vector<ObjectMotion<double>>& object, const Column& qd) {
  Column V;
  for (const ObjectMotion<double>& o : object) {
    V.insert(V.end(), o.v.m, o.v.m + 3);
    V.insert(V.end(), o.w.m, o.w.m + 3);
  }
  Column out = transpose_times(s.W, V);
  const Column fingers = multiplied(s.J, qd);
  for (std::size_t k = 0; k < out.size(); ++k) out[k] -= fingers[k];
  return out;
}

/// Terms of a contact's normal row beside the free velocity: stabilization() of one object (object_step.hpp).
double stabilize(const Rules& r, const State& x, std::size_t j) {
  const StepRules& rules = r.step;
  const double rate = 1 / rules.step, gap = x.gap[j];
  const double back = (gap > 0 ? rate * rate : rules.baumgarte * rate * rate) * gap;
  const double before = x.before[static_cast<std::size_t>(r.model.numbers) * j];
  const double bounce = rules.restitution * rate * std::min(before, 0.0);
  const double round = 0.5 * velocity_of_contact(r.model, x.now, j)[0];
  return round + (gap > 0 ? back + bounce : std::min(back, bounce));
}

/// The contact problem of a step, in forces over it; a is the relative velocity after it over its length.
template <int D>
Problem<D> group_step_problem(const Rules& r, State& x) {
  GroupSample& s = x.now;
  const GroupModel& m = r.model;
  const double rate = 1 / r.step.step;
  x.before = relative_velocities(s, x.object, x.qd);
  for (std::size_t f = 0; f < m.fingers.size(); ++f) {
    const InTime& time = r.time();
    if (time.drive != Drive::kController) break;
    for (int i = m.first_joint[f]; i < m.first_joint[f + 1]; ++i)
      s.M_man(i, i) += x.slack[static_cast<std::size_t>(i)] * time.step *
                       (time.controller.joint_damping + time.step * time.controller.joint_stiffness);
  }
  // Fingers enter J dot qd through their velocities: over a step there is no other.
  for (ContactSide& side : s.side) side.bias = Vec3<double>::zero();
  std::fill(s.velocity_part.begin(), s.velocity_part.end(), 0);
  assemble_group(m, s);
  Problem<D> p;
  const int rows = m.rows();
  for (int i = 0; i < rows; ++i) {
    for (int k = 0; k < rows; ++k) p.A(i, k) = s.A(i, k);
    p.b[i] = fma(rate, x.before[static_cast<std::size_t>(i)], s.b(i));
  }
  for (std::size_t j = 0; j < m.contacts.size(); ++j) {
    const int n = D * static_cast<int>(j);
    p.mu[static_cast<int>(j)] = s.mu[j];
    const double free = r.step.step * p.b[n];
    p.b[n] += stabilize(r, x, j);
    leave_out(p, static_cast<int>(j), !within_reach(r.step, x.gap[j], free));
  }
  return p;
}

/// Whether contacts are redundant, so that their forces are not unique.
bool is_redundant(const GroupModel& m) {
  const auto soft = std::ranges::count(m.contacts, ContactLaw::kSoft, &GroupContact::law);
  const auto rows = 3 * std::ssize(m.contacts) + soft;
  return rows > 6 * std::ssize(m.objects) + m.joints();
}

/// Forces from which the solver starts: those of the step before. Redundant contacts at rest may have other solutions,
/// which move, and the solver might change to one of them: there, and in the first step, the start is at rest if any
/// forces leave all contacts at rest.
template <int D>
Column start_forces(const GroupModel& m, bool first, const State& x, const Problem<D>& p) {
  Column start = x.forces;
  if (first)
    for (std::size_t j = 0; j < x.gap.size(); ++j) start[D * j] = dot(x.now.told[j], column(x.now.place[j].E, 0));
  double moves = 0, load = 0, left = 0;
  for (const double v : x.before) moves = std::max(moves, std::abs(v));
  if (!first && (!is_redundant(m) || moves > kSlipSpeed)) return start;
  for (int r = 0; r < m.rows(); ++r) {
    double a = p.b[r];
    for (int c = 0; c < m.rows(); ++c) a += p.A(r, c) * start[static_cast<std::size_t>(c)];
    load = std::max(load, std::abs(p.b[r]));
    left = std::max(left, std::abs(a));
  }
  if (left <= kStartsWithin * load) return start;
  const Column rest = find_rest_forces(p, start);
  if (!rest.empty()) return rest;
  if (first) std::fill(start.begin(), start.end(), 0);
  return start;
}

/// Length of a contact's numbers without the normal one.
double tangential(const double* v, int numbers) { return std::hypot(v[1], v[2], numbers > 3 ? v[3] : 0); }

/// Kinetic energy at the step's start, in the step's configuration.
double kinetic_energy(const GroupModel& m, const State& x) {
  double sum = 0;
  for (std::size_t k = 0; k < x.object.size(); ++k) {
    const Body<double>& b = x.now.body[k];
    sum += 0.5 * (b.mass * dot(b.v, b.v) + dot(b.omega, b.inertia * b.omega));
  }
  for (int i = 0; i < m.joints(); ++i)
    for (int k = 0; k < m.joints(); ++k)
      sum += 0.5 * x.qd[static_cast<std::size_t>(i)] * x.now.M_man(i, k) * x.qd[static_cast<std::size_t>(k)];
  return sum;
}

void audit_energy(const GroupModel& m, bool first, State& x) {
  const double kinetic = kinetic_energy(m, x);
  Vec3<double> momentum = Vec3<double>::zero();
  for (const ObjectMotion<double>& o : x.object) momentum += o.mass * o.v;
  if (first) {
    x.energy_start = kinetic;
    x.momentum = momentum;
  }
  x.kinetic = kinetic;
  x.balance = kinetic - x.energy_start - x.work;
  x.t.energy_balance = std::max(x.t.energy_balance, std::abs(x.balance));
}

/// Measures of the contacts; returns their mean power.
double close_contacts(const Rules& r, double time, const Column& c, State& x, double (&look)[kLooks]) {
  const double dt = r.step.step;
  const Column after = relative_velocities(x.now, x.object, x.qd);
  double power = 0, slid = 0, least_force = INFINITY, least_margin = INFINITY;
  const int D = r.model.numbers;
  int farthest = 0;
  for (std::size_t j = 0; j < x.gap.size(); ++j) {
    const std::size_t at = static_cast<std::size_t>(D) * j;
    const double* force = c.data() + at;
    const bool closed = force[0] > 0;
    double mean[4];
    for (int i = 0; i < D; ++i) {
      const auto k = static_cast<std::size_t>(i);
      power += 0.5 * force[k] * (x.before[at + k] + after[at + k]);
      mean[k] = x.touched[j] * x.before[at + k] + after[at + k];
    }
    if (closed) {
      x.t.slip[j] += dt * 0.5 * tangential(mean, D);
      if (r.model.contacts[j].law != ContactLaw::kFrictionless)
        least_margin =
            std::min(least_margin, friction_margin(Vec3<double>{{force[0], tangential(force, D), 0}}, x.now.mu[j]));
      x.t.worst_gap = std::max(x.t.worst_gap, std::abs(x.gap[j]));
    }
    x.t.worst_cone = std::max(x.t.worst_cone, tangential(force, D) - x.now.mu[j] * force[0]);
    x.t.peak_force[j] = std::max(x.t.peak_force[j], force[0]);
    if (x.t.slip[j] > slid) farthest = static_cast<int>(j);
    slid = std::max(slid, x.t.slip[j]);
    least_force = std::min(least_force, force[0]);
    x.touched[j] = closed ? 1 : 0;
  }
  if (slid >= r.time().slip && !(x.t.slip_time < INFINITY)) {
    x.t.slip_time = time;
    x.t.slipped_first = farthest;
  }
  if (least_force <= 0 && !(x.t.open_time < INFINITY)) x.t.open_time = time;
  x.t.least_margin = std::min(x.t.least_margin, least_margin);
  look[kMinMargin] = least_margin;
  look[kSlipPath] = slid;
  return power;
}

/// The forces of a step take effect on objects and fingers.
template <int D>
void close_step(const Rules& r, double time, const Solution<D>& solved, State& x, double* look_out) {
  const GroupModel& m = r.model;
  const GroupSample& s = x.now;
  const double dt = r.step.step;
  const bool converged = solved.status == static_cast<int>(Status::kConverged);
  Column c(static_cast<std::size_t>(m.rows()), 0.0);
  if (converged) std::copy_n(solved.c.m, m.rows(), c.begin());
  x.forces = c;
  const Column wrench = multiplied(s.W, c), pushed = transpose_times(s.J, c);
  double power = 0, drift = 0, turn = 0;
  Vec3<double> gained = Vec3<double>::zero();
  for (std::size_t k = 0; k < x.object.size(); ++k) {
    ObjectMotion<double>& o = x.object[k];
    const ObjectMotion<double> before = o;
    Vec<double, 6> contact;
    std::copy_n(wrench.begin() + 6 * static_cast<std::ptrdiff_t>(k), 6, contact.m);
    end_step(r.step, s.body[k], s.load[k], contact, o);
    count_turn(before, dt, o);
    for (int i = 0; i < 3; ++i) {
      power += 0.5 * (before.v[i] + o.v[i]) * s.load[k][i] + 0.5 * (before.w[i] + o.w[i]) * s.load[k][i + 3];
      x.momentum[i] += dt * (s.load[k][i] + contact[i]);
    }
    gained += o.mass * o.v;
    drift = std::max(drift, norm(o.p - o.first));
    turn = std::max(turn, o.turned);
  }
  x.t.momentum_balance = std::max(x.t.momentum_balance, norm(gained - x.momentum));
  bool within = true;
  double work = 0;
  for (std::size_t f = 0; f < m.fingers.size(); ++f) {
    const int first = m.first_joint[f], n = m.first_joint[f + 1] - first;
    Dense M(n, n), right(n, 1);
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(first + i);
      for (int k = 0; k < n; ++k) M(i, k) = s.M_man(first + i, first + k);
      right(i, 0) = -dt * (s.effort[at] + pushed[at]);
    }
    const Dense change = solve_definite(M, right);
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(first + i);
      const double rate = x.qd[at] + change(i, 0), mean = 0.5 * (x.qd[at] + rate);
      work += mean * (s.tau[at] - s.gravity[at] + spring_torque(r, x, at, rate));
      x.q[at] += dt * mean;
      x.qd[at] = rate;
      within = within && x.q[at] >= r.limits[f].lower[i] && x.q[at] <= r.limits[f].upper[i];
    }
  }
  double look[kLooks];
  power += close_contacts(r, time, c, x, look);
  x.work += dt * (work + power);
  look[kDrift] = drift;
  look[kTurn] = turn;
  x.t.peak_drift = std::max(x.t.peak_drift, drift);
  x.t.peak_turn = std::max(x.t.peak_turn, turn);
  x.t.steps += 1;
  x.t.iterations += solved.effort.outer;
  x.t.end_time = time;
  if (converged) x.t.worst_residual = std::max(x.t.worst_residual, solved.residual);
  bool finite = true;
  for (std::size_t k = 0; k < x.object.size(); ++k) {
    const ObjectMotion<double>& o = x.object[k];
    finite = finite && std::isfinite(dot(o.p, o.p) + dot(o.v, o.v) + dot(o.w, o.w));
    if (norm(o.p - o.first) >= r.time().drop || o.turned >= r.time().drop_turn) x.t.objects_lost |= 1u << k;
  }
  const auto because = [&](bool holds, MotionEnd why) {
    if (!holds) return;
    x.t.end = why;
    x.running = false;
  };
  // Later reasons override.
  because(turn >= r.time().drop_turn, MotionEnd::kTurned);
  because(drift >= r.time().drop, MotionEnd::kDropped);
  because(!within, MotionEnd::kJointLimit);
  because(!converged, MotionEnd::kUnsolved);
  because(!finite || solved.status == static_cast<int>(Status::kInvalidInput), MotionEnd::kNonFinite);
  if (look_out != nullptr) {
    std::copy_n(look, static_cast<int>(kLooks), look_out);
    for (int j = 0; j < r.contacts(); ++j) look_out[kLooks + j] = c[static_cast<std::size_t>(D * j)];
  }
}

/// A sample's number in the order of draws, and the friction of its level: NaN if there are no levels.
struct Drawn {
  std::int64_t number;
  double level;
};

Drawn drawn_sample(const Rules& r, std::int64_t sample) {
  const std::vector<double>& levels = r.time().friction;
  if (levels.empty()) return {sample, NAN};
  return {sample / std::ssize(levels), levels[static_cast<std::size_t>(sample % std::ssize(levels))]};
}

/// Tiles of the solver for a block of samples.
template <int D>
struct SolverTiles : private ContactsInUse {
  HostMemory memory;
  double *problems, *guesses, *candidates, *solutions;

  SolverTiles(int contacts, std::int64_t count) : ContactsInUse(contacts), memory(count) {
    problems = memory.take(batch::fields<double, Problem<D>>());
    guesses = memory.take(D * contacts);
    candidates = memory.take(batch::fields<double, solvers::Candidate<double, kAnyContacts, D>>());
    solutions = memory.take(batch::fields<double, Solution<D>>());
  }
};

/// Instants that are looked at, as MotionModel counts them: the step after which each is recorded.
std::int64_t step_of_instant(const Rules& r, int i) {
  const std::int64_t gaps = r.time().instants - 1;
  return std::max<std::int64_t>(1, (i * r.steps + gaps / 2) / gaps);
}

/// Solves the steps' problems.
template <int D>
void solve_steps(const Rules& r, const HostBackend& backend, const SolverTiles<D>& t, std::int64_t count) {
  const solvers::FrictionNewton solver = contact::make_auto_solver(backend.solver);
  if constexpr (D == 3) {
    backend.iterate(
        contact::IterateKernel<solvers::FrictionNewton, kAnyContacts>{solver, t.problems, nullptr, t.candidates,
                                                                      t.guesses, r.contacts()},
        count);
    backend.certify(contact::CertifyKernel<kAnyContacts>{solver.tolerance, t.problems, nullptr, t.candidates,
                                                         t.solutions, r.contacts()},
                    count);
  } else {
    iterate_soft(backend.executor, {solver, t.problems, t.candidates, t.guesses}, count);
    for (std::int64_t i = 0; i < count; ++i)
      batch::store<double>(
          t.solutions, i,
          certify_soft(batch::load<double, Problem<D>>(t.problems, i),
                       batch::load<double, solvers::Candidate<double, kAnyContacts, D>>(t.candidates, i),
                       solver.tolerance));
  }
}

/// Runs the steps of samples side by side. end_step(step k, its loads, sample i, its solution) ends each.
template <int D, class EndStep>
void run_group_steps(const Rules& r, Executor executor, const std::vector<ShakePhases<double>>& shakes,
                     std::vector<State>& states, const EndStep& end_step) {
  const std::int64_t count = std::ssize(states);
  const SolverTiles<D> tiles(r.contacts(), count);
  const contact::Options options = contact_options(r.scenario);
  const HostBackend backend{executor, nullptr, options};
  for (std::int64_t k = 0; k < r.steps; ++k) {
    check_interrupt();
    if (std::none_of(states.begin(), states.end(), [](const State& x) { return x.running; })) break;
    StepNow step;
    step.now = r.clock.at(static_cast<double>(k) * r.step.step, static_cast<double>(k + 1) * r.step.step);
    step.first = k == 0;
    for (std::int64_t i = 0; i < count; ++i) {
      State& x = states[static_cast<std::size_t>(i)];
      if (!x.running) continue;
      x.gravity = step.now.known_gravity - step.now.carried;
      if (r.shaken) x.gravity -= palm_acceleration(step.now, shakes[static_cast<std::size_t>(i)]);
      place_step(r, step, x.gravity, x);
      audit_energy(r.model, k == 0, x);
      const Problem<D> p = group_step_problem<D>(r, x);
      batch::store<double>(tiles.problems, i, p);
      Vec<double, D* kAnyContacts> guess = Vec<double, D * kAnyContacts>::zero();
      const Column start = start_forces(r.model, k == 0, x, p);
      std::copy(start.begin(), start.end(), guess.m);
      batch::store<double>(tiles.guesses, i, guess);
    }
    solve_steps(r, backend, tiles, count);
    for (std::int64_t i = 0; i < count; ++i)
      if (states[static_cast<std::size_t>(i)].running)
        end_step(k, step, i, batch::load<double, Solution<D>>(tiles.solutions, i));
  }
}

/// What is known after the last step.
void finish(const Rules& r, State& x) {
  if (x.t.end == MotionEnd::kHeld && x.t.slip_time < INFINITY) x.t.end = MotionEnd::kSlipped;
  if (torque_limits(r.scenario).empty()) std::fill(std::begin(x.t.peak_torque), std::end(x.t.peak_torque), NAN);
}

ShakePhases<double> shake_of_sample(const Rules& r, std::int64_t draw) {
  return draw_shake<double>(r.model.seed, SampleIndex<double>::consecutive(static_cast<std::uint64_t>(draw)),
                            r.shake_rms);
}

double end_of_step(const Rules& r, std::int64_t k) { return static_cast<double>(k + 1) * r.step.step; }

template <int D>
void run_group_block(const Rules& r, Executor executor, std::int64_t first, std::int64_t at, std::int64_t count,
                     Motions& out) {
  const auto all = static_cast<std::int64_t>(out.trajectory.size());
  const std::int64_t draws = std::ssize(r.model.draws);
  std::vector<State> states;
  std::vector<ShakePhases<double>> shakes;
  for (std::int64_t i = 0; i < count; ++i) {
    const Drawn drawn = drawn_sample(r, first + at + i);
    states.push_back(
        start_state(r, draw_group(r.model, drawn.number, out.uniforms.data() + (at + i) * draws, 1), drawn.level));
    if (r.shaken) shakes.push_back(shake_of_sample(r, drawn.number));
  }
  const int fields = looks(r.contacts());
  std::vector<double> look(static_cast<std::size_t>(fields));
  run_group_steps<D>(r, executor, shakes, states,
                     [&](std::int64_t k, const StepNow&, std::int64_t i, const Solution<D>& solved) {
                       close_step(r, end_of_step(r, k), solved, states[static_cast<std::size_t>(i)], look.data());
                       for (int instant = 0; instant < r.time().instants; ++instant)
                         for (int f = 0; f < fields && step_of_instant(r, instant) == k + 1; ++f)
                           out.looks.data()[(static_cast<std::int64_t>(instant) * fields + f) * all + at + i] =
                               look[static_cast<std::size_t>(f)];
                     });
  for (std::int64_t i = 0; i < count; ++i) {
    State& x = states[static_cast<std::size_t>(i)];
    finish(r, x);
    out.trajectory[static_cast<std::size_t>(at + i)] = x.t;
  }
}

/// The row of a step that has been closed.
void append_step(const Rules& r, const StepNow& step, double time, const State& x, MotionSeries& out) {
  const auto add = [](std::vector<double>& to, const Vec3<double>& v) { to.insert(to.end(), v.m, v.m + 3); };
  const ObjectMotion<double>& first = x.object[0];
  out.time.push_back(time);
  for (std::size_t k = 0; k < x.object.size(); ++k) append_object(k, x.object[k].p, x.object[k].turn, out);
  add(out.velocity, first.v);
  add(out.spin, first.w);
  const Vec<double, 6> load = first.wrench + step.now.wrench;
  out.load.insert(out.load.end(), load.m, load.m + 6);
  add(out.gravity, x.gravity);
  const auto numbers = static_cast<std::size_t>(r.model.numbers);
  append_contacts(x.now, x.forces, numbers, out);
  append_fingers(r.model, x.q, x.qd, out);
  for (std::size_t f = 0; f < r.model.fingers.size(); ++f)
    for (int i = r.model.first_joint[f]; i < r.model.first_joint[f + 1]; ++i) {
      const auto at = static_cast<std::size_t>(i);
      out.tau[f].push_back(x.now.tau[at] + spring_torque(r, x, at, x.qd[at]));
    }
  out.gap.insert(out.gap.end(), x.gap.begin(), x.gap.end());
  const Column velocity = relative_velocities(x.now, x.object, x.qd);
  for (std::size_t j = 0; j < x.gap.size(); ++j) {
    const bool closed = x.forces[numbers * j] > 0;
    const double speed = closed ? tangential(velocity.data() + numbers * j, r.model.numbers) : 0;
    out.slip_speed.push_back(speed);
    const ContactState state = !closed              ? ContactState::kBreak
                               : speed > kSlipSpeed ? ContactState::kSlip
                                                    : ContactState::kStick;
    out.state.push_back(static_cast<int>(state));
  }
  out.kinetic.push_back(x.kinetic);
  out.balance.push_back(x.balance);
}

template <int D>
MotionSeries group_series(const Rules& r, const Drawn& drawn, const Column& inputs, int instants) {
  std::vector<ShakePhases<double>> shakes = {ShakePhases<double>{}};
  if (r.shaken) shakes[0] = shake_of_sample(r, drawn.number);
  // The first run finds the trajectory's duration, the second records it.
  std::int64_t last = 0;
  MotionSeries out;
  for (const bool recorded : {false, true}) {
    std::vector<State> states = {start_state(r, inputs, drawn.level)};
    State& x = states[0];
    if (recorded) out = begin_series(r.model, x.now);
    run_group_steps<D>(r, Executor::kScalar, shakes, states,
                       [&](std::int64_t k, const StepNow& step, std::int64_t, const Solution<D>& solved) {
                         close_step(r, end_of_step(r, k), solved, x, nullptr);
                         if (recorded && is_shown(k + 1, last, instants))
                           append_step(r, step, end_of_step(r, k), x, out);
                       });
    last = std::max<std::int64_t>(1, std::llround(x.t.steps));
    finish(r, x);
    out.trajectory = x.t;
  }
  const auto moves = [](const TimeLoad& load) {
    return load.kind == TimeLoad::Kind::kShake || load.kind == TimeLoad::Kind::kSampled;
  };
  if (std::ranges::any_of(r.time().loads, moves)) append_palm(r.clock, shakes[0], {r.step.step, r.steps}, out);
  for (const Draw& draw : r.model.draws) out.inputs.push_back(inputs[static_cast<std::size_t>(draw.slot)]);
  return out;
}

}  // namespace

GroupMotion::GroupMotion(const Scenario& scenario) : scenario_(scenario) {
  check_options(*scenario.time);
  check_times(*scenario.time);
  model_ = make_group(scenario);
  static_cast<void>(make_shapes(*model_, place_group(*model_, nominal_group(*model_))));
}

Motions GroupMotion::run(std::int64_t first, std::int64_t count, const Device& device) const {
  if (device.executor == Executor::kCuda)
    throw Error(ExitCode::kNoDevice, gpu_refusal(scenario_) + " run on the CPU only", "Leave out --device.");
  const Rules rules = make_group_rules(scenario_, *model_);
  const auto n = static_cast<std::size_t>(count);
  Motions out{rules.contacts(),
              scenario_.time->instants,
              static_cast<int>(model_->draws.size()),
              std::vector<Trajectory>(n),
              {},
              {}};
  out.uniforms.resize(n * model_->draws.size());
  out.looks.resize(static_cast<std::size_t>(count * out.instants * looks(out.contacts)));
  std::fill_n(out.looks.data(), count * out.instants * looks(out.contacts), NAN);
  const auto run_block = model_->numbers > 3 ? run_group_block<4> : run_group_block<3>;
  for (std::int64_t at = 0; at < count; at += kInFlight)
    run_block(rules, device.executor, first, at, std::min(kInFlight, count - at), out);
  return out;
}

MotionSeries GroupMotion::series(std::int64_t sample, int instants) const {
  const Rules rules = make_group_rules(scenario_, *model_);
  const Drawn drawn = drawn_sample(rules, sample);
  const auto run = model_->numbers > 3 ? group_series<4> : group_series<3>;
  return run(rules, drawn, draw_group(*model_, drawn.number, nullptr, 0), instants);
}

MotionSeries GroupMotion::nominal(int instants) const {
  const auto run = model_->numbers > 3 ? group_series<4> : group_series<3>;
  return run(make_group_rules(scenario_, *model_), {0, NAN}, nominal_group(*model_), instants);
}

}  // namespace garra::grasp
