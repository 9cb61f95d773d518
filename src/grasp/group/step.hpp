// The step of a group in time (docs/theory/grasp-groups.md, "In time"), on doubles or in lanes, on host and device. A
// step runs these bodies: place (objects, their contacts), fingers one after another (contacts, torques), problem, and
// after the solver take (its forces) and close (they take effect, measures). SI units, palm frame P.
#pragma once

#include "garra/solvers/friction_problem.hpp"
#include "grasp/group/assemble.hpp"
#include "grasp/group/finger.hpp"
#include "grasp/group/rooms.hpp"
#include "grasp/group/surfaces.hpp"
#include "grasp/time/fingers.hpp"
#include "grasp/time/problem.hpp"

namespace garra::grasp {

/// Rules that all samples share. A GPU gets them by plain copy.
struct GroupRules {
  GroupParts<Shown> model;
  StepRules step;
  Drive drive;
  Controller controller;
  double slip, drop, drop_turn, duration;  ///< of InTime
  Shown<FingerLimits> limits;
  Shown<ContactKind> kinds;
  bool shaken;

  [[nodiscard]] GARRA_HD int contacts() const { return static_cast<int>(model.contacts.size()); }
  [[nodiscard]] GARRA_HD bool springs() const { return drive == Drive::kController; }
};

/// A sample before its first step.
struct StartedSample {
  GroupSample now;
  std::vector<ObjectMotion<double>> object;
  std::vector<ContactShape<double>> shape;
  ShakePhases<double> shake;
};

/// What the solver says of a step.
template <class S>
struct StepSolution {
  S status, residual, iterations;
};

/// State of samples between two steps, and what a step leaves to its next body.
template <class S>
struct GroupStep {
  GroupInstant<S, View> now;  ///< at the step's configuration
  View<ObjectMotion<S>> object;
  View<ContactShape<S>> shape;
  View<ShakePhases<S>> shake;  ///< none if nothing shakes
  View<Vec3<S>> gravity;       ///< as the objects feel it
  View<S> compensation;
  View<S> q, qd, first, kept;  ///< of all joints; kept: the first step's torques
  View<S> slack;               ///< of the joints: 1: spring and damper act, 0: the torque is at its limit
  View<S> peak;                ///< of the fingers: largest |torque| over its limit in this step
  View<S> gap, touched;        ///< of the contacts; touched: carried force in the step before
  View<S> before, after;       ///< relative velocities at the start of the step, and at its end
  View<S> forces;              ///< of the step before
  View<S> reached;             ///< of the contacts: 1: it may carry force
  View<StepSolution<S>> solved;
  View<S> kinetic;  ///< energy at the step's start [J]
};

/// Memory of a block of samples. `kept` and `scratch` have the numbers of lanes side by side; the others are tiles,
/// those of the solver with room for padding contacts behind each sample's numbers (contact/batch/padded.hpp).
struct GroupMemory {
  GroupRoom kept;
  GroupRoom scratch, rest;  ///< while a body runs, and while GroupRestKernel does; 0 numbers: all samples share one
  GroupRoom problems, guesses, candidates, solutions;  ///< of the solver
  GroupRoom moves;                                     ///< largest relative velocity at the step's start
  GroupRoom measures, lost;                            ///< MotionMeasures; of each object, 1: it was dropped or turned
};

/// Divides the memory of the samples from one on. Only what lasts from one body to the next is kept.
template <class S>
GARRA_HD GroupStep<S> cut_step(const GroupRules& r, Cutter<S>& kept, Cutter<S> scratch) {
  const GroupParts<Shown>& m = r.model;
  const std::size_t objects = m.objects.size(), contacts = m.contacts.size();
  const int rows = m.rows(), joints = m.joints();
  const auto of_rows = static_cast<std::size_t>(rows), of_joints = static_cast<std::size_t>(joints);
  GroupStep<S> x;
  GroupInstant<S, View>& s = x.now;
  kept.list(x.object, objects);
  kept.list(x.shape, contacts);
  kept.list(x.shake, r.shaken ? 1 : 0);
  kept.list(x.gravity, 1);
  for (View<S>* one : {&x.compensation, &x.kinetic}) kept.list(*one, 1);
  for (View<S>* list : {&x.q, &x.qd, &x.first, &x.kept, &x.slack, &s.gravity, &s.tau, &s.effort})
    kept.list(*list, of_joints);
  kept.list(x.peak, m.fingers.size());
  for (View<S>* list : {&x.gap, &x.touched, &x.reached, &s.mu}) kept.list(*list, contacts);
  for (View<S>* list : {&x.before, &x.after, &x.forces}) kept.list(*list, of_rows);
  kept.list(x.solved, 1);
  kept.list(s.told, contacts);
  kept.list(s.pose, objects);
  kept.list(s.body, objects);
  kept.list(s.load, objects);
  kept.list(s.place, contacts);
  kept.list(s.side, contacts);
  kept.matrix(s.W, 6 * static_cast<int>(objects), rows);
  kept.matrix(s.J, rows, joints);
  kept.matrix(s.M_man, joints, joints);
  kept.matrix(s.factor, joints, joints);
  for (View<S>* list : {&s.q, &s.qd, &s.hold, &s.pushed}) scratch.list(*list, of_joints);
  for (View<S>* list : {&s.b_obj, &s.b_man, &s.velocity_part}) scratch.list(*list, of_rows);
  scratch.matrix(s.inverse_mass_W, s.W.rows, rows);
  scratch.matrix(s.inverse_mass_J, joints, rows + 1);
  scratch.matrix(s.A_obj, rows, rows);
  scratch.matrix(s.A_man, rows, rows);
  return x;
}

/// The samples from number i on.
template <class S>
GARRA_HD GroupStep<S> step_at(const GroupRules& r, const GroupMemory& memory, std::int64_t i) {
  Cutter<S> kept{reinterpret_cast<S*>(memory.kept.first + i * memory.kept.fields)};
  return cut_step(r, kept, {reinterpret_cast<S*>(memory.scratch.first + i * memory.scratch.fields)});
}

/// Motion of each object, for find_velocities().
template <class S>
GARRA_HD auto object_screws(const GroupStep<S>& x) {
  return [&x](int k) {
    const ObjectMotion<S>& o = x.object[static_cast<std::size_t>(k)];
    return Screw<S>{o.w, o.v};
  };
}

/// Torque of a joint's spring and damper at a step's end with `rate`, but for the first two of the step's start.
template <class S>
GARRA_HD S spring_torque(const GroupRules& r, const GroupStep<S>& x, std::size_t at, const S& rate) {
  if (!r.springs()) return S(0);
  const Controller& c = r.controller;
  return -x.slack[at] *
         (S(c.joint_stiffness) * (x.q[at] - x.first[at] + S(r.step.step) * rate) + S(c.joint_damping) * rate);
}

/// Measures of a sample in a tile: those of the whole, and those of contacts or fingers, which stay there.
template <class S>
class MeasuresOf {
 public:
  enum List { kSlip, kPeakForce, kPeakTorque, kLists };
  MotionMeasures<S, 1> whole;  ///< its lists are not read

  GARRA_HD MeasuresOf(const GroupRules& r, const GroupMemory& memory, std::int64_t i)
      : tile_(memory.measures, i), contacts_(r.contacts()) {
    for (int k = 0; k < kWhole; ++k) number(k) = tile_.at(k);
  }
  [[nodiscard]] GARRA_HD S at(List list, int k) const { return tile_.at(kWhole + list * contacts_ + k); }
  GARRA_HD void put(List list, int k, const S& value) const { tile_.put(kWhole + list * contacts_ + k, value); }
  GARRA_HD void store() {
    for (int k = 0; k < kWhole; ++k) tile_.put(k, number(k));
  }

 private:
  static constexpr int kWhole = batch::kFields<S, MotionMeasures<S, 1>> - kLists;
  GARRA_HD S& number(int k) { return reinterpret_cast<S*>(&whole)[k]; }
  TileOf<S> tile_;
  int contacts_;
};

/// First body of a run: fills the memory of the samples. On the host.
struct GroupStartKernel {
  const GroupRules* rules;
  GroupMemory memory;
  const std::vector<StartedSample>* samples;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    GroupStep<S> x = step_at<S>(*rules, memory, i);
    for (int lane = 0; lane < kWidth<S>; ++lane)  // the last sample pads the last lanes
      put_sample((*samples)[std::min(static_cast<std::size_t>(i + lane), samples->size() - 1)], lane, x);
    for (S& slack : x.slack) slack = S(1);
    for (S& touched : x.touched) touched = S(1);
    MotionMeasures<S, kAnyContacts> m;
    batch::for_each_run<S>(
        [](int count, S* numbers) {
          for (int k = 0; k < count; ++k) numbers[k] = S(0);
        },
        m);
    m.slipped_first = S(-1);
    m.slip_time = m.open_time = m.least_margin = S(kInfinity);
    m.end = select(x.object[0].running > S(0), S(-1), S(static_cast<int>(MotionEnd::kUnreachable)));
    batch::store<S>(memory.measures.first, i, m);
  }

 private:
  /// Puts the numbers of `from` into a lane of `to`.
  template <class T, class U>
  static void put(const U& from, int lane, T& to) {
    constexpr std::size_t count = sizeof(U) / sizeof(double), width = sizeof(T) / sizeof(U);
    const double* source = reinterpret_cast<const double*>(&from);
    double* target = reinterpret_cast<double*>(&to);
    for (std::size_t k = 0; k < count; ++k) target[k * width + static_cast<std::size_t>(lane)] = source[k];
  }
  template <class T, class U>
  static void put_list(const U& from, int lane, const View<T>& to) {
    for (std::size_t k = 0; k < to.size(); ++k) put(from[k], lane, to[k]);
  }
  template <class S>
  void put_sample(const StartedSample& from, int lane, GroupStep<S>& x) const {
    put_list(from.object, lane, x.object);
    put_list(from.shape, lane, x.shape);
    if (rules->shaken) put(from.shake, lane, x.shake[0]);
    put(from.now.inputs[kCompensation], lane, x.compensation[0]);
    put_list(from.now.q, lane, x.q);
    put_list(from.now.q, lane, x.first);
    put_list(from.now.qd, lane, x.qd);
    put_list(from.now.mu, lane, x.now.mu);
    put_list(from.now.told, lane, x.now.told);
  }
};

/// Pose of the first object of contact j.
template <class S>
GARRA_HD const Pose<S>& pose_at_contact(const GroupRules& r, std::size_t j, const GroupStep<S>& x) {
  return x.now.pose[static_cast<std::size_t>(r.model.contacts[j].object)];
}
template <class S>
GARRA_HD void touched_at(const PlaceAndGap<S>& at, std::size_t j, GroupStep<S>& x) {
  x.now.place[j] = at.place;
  x.gap[j] = at.gap;
}

/// First body of a step: places objects and the contacts between them and with fixtures at its middle.
struct GroupPlaceKernel {
  const GroupRules* rules;
  GroupMemory memory;
  StepNow step;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    GroupStep<S> x = step_at<S>(*rules, memory, i);
    if (!any(x.object[0].running > S(0))) return;
    x.gravity[0] = cast<S>(step.now.known_gravity - step.now.carried);
    if (rules->shaken) x.gravity[0] -= palm_acceleration(step.now, x.shake[0]);
    place_objects(x);
    place_contacts(x);
  }

 private:
  template <class S>
  GARRA_HD void place_objects(GroupStep<S>& x) const {
    const S half = S(0.5 * rules->step.step);
    for (std::size_t k = 0; k < x.object.size(); ++k) {
      const ObjectMotion<S>& o = x.object[k];
      const Quaternion<S> turn = turned(o.turn, half * o.w);
      x.now.pose[k] = {rotation_matrix(turn), axpy(half, o.v, o.p)};
      x.now.body[k] = body_at(o, x.now.pose[k].p, turn);
      x.now.load[k] = load_on(x.now.body[k], x.gravity[0], k == 0 ? o.wrench + cast<S>(step.now.wrench) : o.wrench);
    }
  }
  template <class S>
  GARRA_HD void place_contacts(GroupStep<S>& x) const {
    const GroupParts<Shown>& m = rules->model;
    for (std::size_t j = 0; j < m.contacts.size(); ++j) {
      const Partner& p = m.contacts[j].partner;
      if (p.kind == Partner::Kind::kFinger) continue;
      const Pose<S> second =
          p.kind == Partner::Kind::kObject ? x.now.pose[static_cast<std::size_t>(p.number)] : Pose<S>::identity();
      touched_at(touch_of_objects(rules->kinds[j], x.shape[j], pose_at_contact(*rules, j, x), second), j, x);
    }
  }
};

/// Second body: finger f in code for J joints, its contacts and torques.
template <int J>
struct GroupFingerKernel {
  const GroupRules* rules;
  GroupMemory memory;
  bool first;  ///< step
  int finger;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    GroupStep<S> x = step_at<S>(*rules, memory, i);
    if (!any(x.object[0].running > S(0))) return;
    const auto f = static_cast<std::size_t>(finger);
    if constexpr (J < 0) {
      const chain::JointsInUse all(rules->model.first_joint[f + 1] - rules->model.first_joint[f]);
      place_finger(f, x);
    } else {
      place_finger(f, x);
    }
    drive_finger(f, x);
  }

 private:
  template <class S>
  GARRA_HD void place_finger(std::size_t f, GroupStep<S>& x) const {
    const S half = S(0.5 * rules->step.step);
    for_finger_joints(rules->model, f, [&](std::size_t k) {
      x.now.q[k] = x.q[k] + half * x.qd[k];
      x.now.qd[k] = x.qd[k];
    });
    fill_finger<J>(
        rules->model, FingerOfGroup<S>{f, x.gravity[0], true, false},
        [&](std::size_t j, const auto& frames) {
          const Pose<S>& frame = frames.frame[rules->kinds[j].link];
          const Vec3<S> tip = frame.R * x.shape[j].tip + frame.p;
          touched_at(touch_of_finger(rules->kinds[j], x.shape[j], pose_at_contact(*rules, j, x), tip), j, x);
        },
        x.now);
  }

  /// Torques of finger f and what they leave.
  template <class S>
  GARRA_HD void drive_finger(std::size_t f, GroupStep<S>& x) const {
    const FingerModel& model = rules->model.fingers[f];
    const bool kept = rules->drive == Drive::kConstant && !first;
    const S stiffness = S(rules->springs() ? rules->controller.joint_stiffness : 0);
    const S damping = S(rules->springs() ? rules->controller.joint_damping : 0), dt = S(rules->step.step);
    const S compensation = x.compensation[0] * S(model.compensates);
    GroupInstant<S, View>& s = x.now;
    x.peak[f] = S(0);
    for_finger_joints(rules->model, f, [&](std::size_t at) {
      const std::size_t i = at - static_cast<std::size_t>(rules->model.first_joint[f]);
      S tau = model.torque_given ? S(model.tau[i]) : kept ? x.kept[at] : fma(compensation, s.hold[at], s.pushed[at]);
      x.kept[at] = tau;
      x.slack[at] = S(1);
      if (rules->limits[f].torque[i] < kInfinity) {
        const S limit = S(rules->limits[f].torque[i]);
        const S wanted = tau - stiffness * (x.q[at] - x.first[at]) - damping * x.qd[at];
        const auto beyond = abs(wanted) > limit;
        x.peak[f] = max(x.peak[f], abs(wanted) / limit);
        tau = select(beyond, max(min(wanted, limit), -limit), tau);
        x.slack[at] = select(beyond, S(0), S(1));
      }
      s.tau[at] = tau;
      // Springs and dampers are linearly implicit.
      const S soft = -x.slack[at] * (stiffness * (x.q[at] - x.first[at] + dt * x.qd[at]) + damping * x.qd[at]);
      s.effort[at] = s.hold[at] - tau - soft;
    });
  }
};

/// Third body: the step's contact problem, in forces over it; a is the relative velocity after it over its length.
struct GroupProblemKernel {
  const GroupRules* rules;
  GroupMemory memory;
  bool first;  ///< step

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    GroupStep<S> x = step_at<S>(*rules, memory, i);
    if (!any(x.object[0].running > S(0))) return;
    fill_wrenches(rules->model, x.now);
    find_energy(x);
    find_velocities(rules->model, x.now, object_screws(x), x.qd, x.before);
    add_springs(x);
    assemble_group(rules->model, x.now);
    put_problem(i, x);
    put_start(i, x);
  }

 private:
  /// Kinetic energy at the step's start, in the step's configuration.
  template <class S>
  GARRA_HD void find_energy(GroupStep<S>& x) const {
    S sum = S(0);
    for (const Body<S>& b : x.now.body) sum += S(0.5) * (b.mass * dot(b.v, b.v) + dot(b.omega, b.inertia * b.omega));
    for (std::size_t f = 0; f < rules->model.fingers.size(); ++f)
      for_finger_joints(rules->model, f, [&](std::size_t i) {
        for_finger_joints(rules->model, f, [&](std::size_t k) {
          sum += S(0.5) * x.qd[i] * x.now.M_man(static_cast<int>(i), static_cast<int>(k)) * x.qd[k];
        });
      });
    x.kinetic[0] = sum;
  }
  template <class S>
  GARRA_HD void add_springs(GroupStep<S>& x) const {
    if (!rules->springs()) return;
    const double dt = rules->step.step;
    for (int i = 0; i < rules->model.joints(); ++i)
      x.now.M_man(i, i) += x.slack[static_cast<std::size_t>(i)] * S(dt) *
                           S(rules->controller.joint_damping + dt * rules->controller.joint_stiffness);
  }
  /// Stores A, b and mu, the parts of FrictionProblem. Contacts out of reach are left out, as by leave_out().
  template <class S>
  GARRA_HD void put_problem(std::int64_t i, GroupStep<S>& x) const {
    const GroupInstant<S, View>& s = x.now;
    const int D = rules->model.numbers, rows = rules->model.rows(), contacts = rules->contacts();
    const TileOf<S> tile(memory.problems, i);
    const S rate = S(1 / rules->step.step);
    for (int j = 0; j < contacts; ++j) {
      const auto at = static_cast<std::size_t>(j);
      const auto b = [&](int r) { return fma(rate, x.before[static_cast<std::size_t>(r)], s.b(r)); };
      const auto reached = within_reach(rules->step, x.gap[at], S(rules->step.step) * b(D * j));
      for (int r = D * j; r < D * (j + 1); ++r)
        tile.put(rows * rows + r, select(reached, r == D * j ? b(r) + stabilize(x, at) : b(r), S(0)));
      tile.put(rows * rows + rows + j, s.mu[at]);
      x.reached[at] = select(reached, S(1), S(0));
    }
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c <= r; ++c) {
        const S both = x.reached[static_cast<std::size_t>(r / D)] * x.reached[static_cast<std::size_t>(c / D)];
        const S a = r / D == c / D ? s.A(r, c) : select(both > S(0), s.A(r, c), S(0));
        tile.put(r * rows + c, a);
        tile.put(c * rows + r, a);
      }
  }
  /// Terms of a contact's normal row beside the free velocity: stabilization() of one object (object_step.hpp).
  template <class S>
  GARRA_HD S stabilize(const GroupStep<S>& x, std::size_t j) const {
    const StepRules& r = rules->step;
    const double rate = 1 / r.step;
    const auto apart = x.gap[j] > S(0);
    const S back = select(apart, S(rate * rate), S(r.baumgarte * rate * rate)) * x.gap[j];
    const S bounce = S(r.restitution * rate) * min(x.before[static_cast<std::size_t>(rules->model.numbers) * j], S(0));
    const S round = S(0.5) * velocity_of_contact(rules->model, x.now, j)[0];
    return round + select(apart, back + bounce, min(back, bounce));
  }
  /// Forces from which the solver starts: those of the step before, in the first step the squeeze.
  template <class S>
  GARRA_HD void put_start(std::int64_t i, const GroupStep<S>& x) const {
    const int D = rules->model.numbers, rows = rules->model.rows();
    const TileOf<S> tile(memory.guesses, i);
    S moves = S(0);
    for (int r = 0; r < rows; ++r) {
      const auto at = static_cast<std::size_t>(r), j = static_cast<std::size_t>(r / D);
      tile.put(r, first && r % D == 0 ? dot(x.now.told[j], column(x.now.place[j].E, 0)) : x.forces[at]);
      moves = max(moves, abs(x.before[at]));
    }
    batch::store<S>(memory.moves.first, i, moves);
  }
};

/// Takes the forces from the solver's certified solutions; 0 if there are none.
struct GroupTakeKernel {
  const GroupRules* rules;
  GroupMemory memory;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const GroupStep<S> x = step_at<S>(*rules, memory, i);
    const TileOf<S> tile(memory.solutions, i);
    // FrictionSolution: c and a of the contacts, then what does not depend on their number.
    using One = solvers::FrictionSolution<double, 1>;
    const auto tail = [&](std::size_t offset) {
      return tile.at(2 * rules->model.rows() + static_cast<int>(offset / sizeof(double)) - 6);
    };
    const S status = tail(offsetof(One, status));
    const auto converged = status == S(static_cast<int>(Status::kConverged));
    for (std::size_t k = 0; k < x.forces.size(); ++k)
      x.forces[k] = select(converged, tile.at(static_cast<int>(k)), S(0));
    x.solved[0] = {status, tail(offsetof(One, residual)), tail(offsetof(One, effort))};  // effort.outer
  }
};

/// Last body of a step: its forces take effect on objects and fingers, measures.
struct GroupCloseKernel {
  const GroupRules* rules;
  GroupMemory memory;
  double time;      ///< at the step's end [s]
  bool first;       ///< step
  GroupRoom looks;  ///< MotionLook to be filled, or null

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    GroupStep<S> x = step_at<S>(*rules, memory, i);
    const auto on = x.object[0].running > S(0);
    if (looks.first == nullptr && !any(on)) return;
    Measures<S> measures(*rules, memory, i);
    auto& m = measures.whole;
    balance_energy(x, on, measures);
    const StepSolution<S>& solved = x.solved[0];
    S power = S(0), work = S(0), within = S(1);
    S look[kLooks];
    move_objects(on, x, m, power, look);
    for (std::size_t f = 0; f < x.peak.size(); ++f) move_finger(f, on, x, work, within);
    find_velocities(rules->model, x.now, object_screws(x), x.qd, x.after);
    power += close_contacts(on, x, look, measures);
    const auto keep = [&](S& value, const S& with) { value = select(on, with, value); };
    keep(m.work, m.work + S(rules->step.step) * (work + power));
    keep(m.peak_drift, max(m.peak_drift, look[kDrift]));
    keep(m.peak_turn, max(m.peak_turn, look[kTurn]));
    keep(m.steps, m.steps + S(1));
    keep(m.iterations, m.iterations + solved.iterations);
    keep(m.end_time, S(time));
    const auto converged = solved.status == S(static_cast<int>(Status::kConverged));
    keep(m.worst_residual, select(converged, max(m.worst_residual, solved.residual), m.worst_residual));
    finish(i, solved.status, within, look, x, m);
    measures.store();
    if (looks.first != nullptr) put_look(i, on, look, x);
  }

 private:
  template <class S>
  using Measures = MeasuresOf<S>;
  template <class S>
  using Whole = MotionMeasures<S, 1>;

  /// Balance of kinetic energy and work of the whole, at the step's start.
  template <class S>
  GARRA_HD void balance_energy(const GroupStep<S>& x, const MaskOf<S>& on, Measures<S>& measures) const {
    Whole<S>& m = measures.whole;
    if (first) {
      m.energy_start = x.kinetic[0];
      m.momentum = Vec3<S>::zero();
      for (const ObjectMotion<S>& o : x.object) m.momentum += o.mass * o.v;
    }
    m.kinetic = x.kinetic[0];
    m.balance = m.kinetic - m.energy_start - m.work;
    m.energy_balance = select(on, max(m.energy_balance, abs(m.balance)), m.energy_balance);
    for (std::size_t f = 0; f < x.peak.size(); ++f) {
      const int k = static_cast<int>(f);
      const S before = measures.at(Measures<S>::kPeakTorque, k);
      measures.put(Measures<S>::kPeakTorque, k, select(on, max(before, x.peak[f]), before));
    }
  }

  /// Sum of column `row` of W or J with the forces of contacts.
  template <class S>
  GARRA_HD S sum_forces(std::span<const int> contacts, const GroupStep<S>& x, const auto& entry) const {
    const int D = rules->model.numbers;
    S sum = S(0);
    for (const int j : contacts)
      for (int r = D * j; r < D * (j + 1); ++r) sum += entry(r) * x.forces[static_cast<std::size_t>(r)];
    return sum;
  }

  template <class S>
  GARRA_HD void move_objects(const MaskOf<S>& on, GroupStep<S>& x, Whole<S>& m, S& power, S (&look)[kLooks]) const {
    const S dt = S(rules->step.step);
    look[kDrift] = look[kTurn] = S(0);
    Vec3<S> gained = Vec3<S>::zero();
    for (std::size_t k = 0; k < x.object.size(); ++k) {
      ObjectMotion<S>& o = x.object[k];
      const ObjectMotion<S> before = o;
      const Vec<S, 6>& load = x.now.load[k];
      Vec<S, 6> contact;
      for (int i = 0; i < 6; ++i)
        contact[i] = sum_forces(rules->model.of_object[k], x,
                                [&](int r) -> const S& { return x.now.W(6 * static_cast<int>(k) + i, r); });
      end_step(rules->step, x.now.body[k], load, contact, o);
      count_turn(before, rules->step.step, o);
      S pressed = S(0);
      for (int i = 0; i < 6; ++i) pressed = max(pressed, abs(contact[i]));
      count_alone(pressed > S(0), rules->step.step, o);
      for (int i = 0; i < 3; ++i) {
        power += S(0.5) * (before.v[i] + o.v[i]) * load[i] + S(0.5) * (before.w[i] + o.w[i]) * load[i + 3];
        m.momentum[i] = select(on, m.momentum[i] + dt * (load[i] + contact[i]), m.momentum[i]);
      }
      gained += o.mass * o.v;
      look[kDrift] = max(look[kDrift], norm(o.p - o.first));
      look[kTurn] = max(look[kTurn], o.turned);
    }
    m.momentum_balance = select(on, max(m.momentum_balance, norm(gained - m.momentum)), m.momentum_balance);
  }

  template <class S>
  GARRA_HD void move_finger(std::size_t f, const MaskOf<S>& on, GroupStep<S>& x, S& work, S& within) const {
    const GroupParts<Shown>& m = rules->model;
    const GroupInstant<S, View>& s = x.now;
    const S dt = S(rules->step.step);
    const int begin = m.first_joint[f], n = m.first_joint[f + 1] - begin;
    S change[chain::kMaxJoints];
    for (int i = 0; i < n; ++i) {
      const S pushed = sum_forces(m.of_finger[f], x, [&](int r) -> const S& { return s.J(r, begin + i); });
      change[i] = -dt * (s.effort[static_cast<std::size_t>(begin + i)] + pushed);
    }
    solve_finger(begin, n, s, [&](int i) -> S& { return change[i]; });
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(begin + i);
      const S rate = x.qd[at] + change[i], mean = S(0.5) * (x.qd[at] + rate);
      work += mean * (s.tau[at] - s.gravity[at] + spring_torque(*rules, x, at, rate));
      x.q[at] = select(on, x.q[at] + dt * mean, x.q[at]);
      x.qd[at] = select(on, rate, x.qd[at]);
      const auto inside = x.q[at] >= S(rules->limits[f].lower[i]) && x.q[at] <= S(rules->limits[f].upper[i]);
      within = select(inside, within, S(0));
    }
  }

  /// Measures of the contacts; returns their mean power.
  template <class S>
  GARRA_HD S close_contacts(const MaskOf<S>& on, GroupStep<S>& x, S (&look)[kLooks], Measures<S>& measures) const {
    Whole<S>& m = measures.whole;
    const S dt = S(rules->step.step);
    const int D = rules->model.numbers;
    S power = S(0), slid = S(0), farthest = S(0), least_force = S(kInfinity), least_margin = S(kInfinity);
    const auto keep = [&](S& value, const S& with) { value = select(on, with, value); };
    for (std::size_t j = 0; j < x.gap.size(); ++j) {
      const int k = static_cast<int>(j);
      const std::size_t at = static_cast<std::size_t>(D) * j;
      const S *force = &x.forces[at], *before = &x.before[at], *after = &x.after[at];
      const S mu = x.now.mu[j], ct = tangential(force, D);
      const auto closed = force[0] > S(0);
      S mean[4];
      for (int i = 0; i < D; ++i) {
        power += S(0.5) * force[i] * (before[i] + after[i]);
        mean[i] = x.touched[j] * before[i] + after[i];
      }
      S path = measures.at(Measures<S>::kSlip, k), peak = measures.at(Measures<S>::kPeakForce, k);
      keep(path, select(closed, path + dt * S(0.5) * tangential(mean, D), path));
      if (rules->model.contacts[j].law != ContactLaw::kFrictionless)
        least_margin =
            select(closed, min(least_margin, friction_margin(vec3<S>(force[0], ct, S(0)), mu)), least_margin);
      keep(m.worst_gap, select(closed, max(m.worst_gap, abs(x.gap[j])), m.worst_gap));
      keep(m.worst_cone, max(m.worst_cone, ct - mu * force[0]));
      keep(peak, max(peak, force[0]));
      measures.put(Measures<S>::kSlip, k, path);
      measures.put(Measures<S>::kPeakForce, k, peak);
      farthest = select(path > slid, S(k), farthest);
      slid = max(slid, path);
      least_force = min(least_force, force[0]);
      x.touched[j] = select(closed, S(1), S(0));
    }
    const auto slips = on && slid >= S(rules->slip) && !(m.slip_time < S(kInfinity));
    m.slip_time = select(slips, S(time), m.slip_time);
    m.slipped_first = select(slips, farthest, m.slipped_first);
    m.open_time = select(on && least_force <= S(0) && !(m.open_time < S(kInfinity)), S(time), m.open_time);
    keep(m.least_margin, min(m.least_margin, least_margin));
    look[kMinMargin] = least_margin;
    look[kSlipPath] = slid;
    return power;
  }

  /// Whether trajectories end here, and which objects are lost.
  template <class S>
  GARRA_HD void finish(std::int64_t i, const S& status, const S& within, const S (&look)[kLooks], GroupStep<S>& x,
                       Whole<S>& m) const {
    const auto on = x.object[0].running > S(0);
    auto finite = MaskOf<S>(true), alone = MaskOf<S>(false);
    const int objects = static_cast<int>(x.object.size());
    const TileOf<S> lost(memory.lost, i);
    for (int k = 0; k < objects; ++k) {
      const ObjectMotion<S>& o = x.object[static_cast<std::size_t>(k)];
      finite = finite && is_finite(dot(o.p, o.p) + dot(o.v, o.v) + dot(o.w, o.w));
      const auto left = is_left_alone(o, time, rules->step.step, rules->duration);
      alone = alone || left;
      const auto gone = left || norm(o.p - o.first) >= S(rules->drop) || o.turned >= S(rules->drop_turn);
      lost.put(k, select(on && gone, S(1), lost.at(k)));
    }
    S end = S(-1);
    const auto because = [&](const MaskOf<S>& holds, MotionEnd why) {
      end = select(holds, S(static_cast<int>(why)), end);
    };
    // Later reasons override.
    because(alone, MotionEnd::kDropped);
    because(look[kTurn] >= S(rules->drop_turn), MotionEnd::kTurned);
    because(look[kDrift] >= S(rules->drop), MotionEnd::kDropped);
    because(within == S(0), MotionEnd::kJointLimit);
    because(status != S(static_cast<int>(Status::kConverged)), MotionEnd::kUnsolved);
    because(!finite || status == S(static_cast<int>(Status::kInvalidInput)), MotionEnd::kNonFinite);
    const auto ends = on && end >= S(0);
    m.end = select(ends, end, m.end);
    for (ObjectMotion<S>& o : x.object) o.running = select(ends, S(0), o.running);
  }

  template <class S>
  GARRA_HD void put_look(std::int64_t i, const MaskOf<S>& on, const S (&look)[kLooks], const GroupStep<S>& x) const {
    const S nan = S(__builtin_nan(""));
    const TileOf<S> tile(looks, i);
    for (int k = 0; k < kLooks; ++k) tile.put(k, select(on, look[k], nan));
    for (std::size_t j = 0; j < x.gap.size(); ++j)
      tile.put(kLooks + static_cast<int>(j),
               select(on, x.forces[static_cast<std::size_t>(rules->model.numbers) * j], nan));
  }
};

/// Runs one of these bodies on all samples of a block; in grasp/instances/group_steps.cpp.
template <class Body>
void run_step_body(Executor executor, const Body& body, std::int64_t count);

}  // namespace garra::grasp
