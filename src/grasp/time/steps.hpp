// The object's part of a step: orders, contact problem, close. Host and device.
#pragma once

#include "contact/batch/padded.hpp"
#include "garra/solvers/friction_newton.hpp"
#include "grasp/sample/problem_in_tile.hpp"
#include "grasp/time/fingers.hpp"
#include "grasp/time/problem.hpp"

namespace garra::grasp {

/// Wrench that the controller wants on the object beside the nominal command: impedance at the pose (p, turn), and the
/// known rotation of gravity.
template <class S>
GARRA_HD Vec<S, 6> wanted_wrench(const MotionRules& rules, const ObjectMotion<S>& x, const Vec3<S>& p,
                                 const Quaternion<S>& turn, const Vec3<double>& known_gravity) {
  const Controller& c = rules.controller;
  // Rotation back to the first orientation; twice its vector part is the rotation vector to second order.
  const Quaternion<S> e = product(x.first_turn, conjugate(turn));
  // The quaternions e and -e are one rotation; a positive real part is the shorter way.
  const S twice = select(e[0] < S(0), S(-2 * c.turn_stiffness), S(2 * c.turn_stiffness));
  Vec<S, 6> wrench;
  for (int i = 0; i < 3; ++i) {
    // Gravity that has rotated with the palm no longer acts where the nominal command balances it: (9) of
    // docs/theory/grasp-time.md.
    const double lighter = rules.controller_mass * (rules.grasp.gravity[i] - known_gravity[i]);
    wrench[i] = fma(S(c.stiffness), x.first[i] - p[i], fnma(S(c.damping), x.v[i], S(lighter)));
    wrench[i + 3] = fma(twice, e[i + 1], -(S(c.turn_damping) * x.w[i]));
  }
  return wrench;
}

/// First body of a step: the object's pose, and the orders for its fingers.
struct OrderKernel {
  const MotionRules* rules;
  MotionTiles tiles;
  Instant now;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto x = batch::load<S, ObjectMotion<S>>(tiles.objects, i);
    // The explicit scheme evaluates everything at the step's start, the other at its middle.
    const S half = S(rules->step.explicit_step ? 0.0 : 0.5 * rules->step.step);
    FingerOrder<S> order;
    order.p = axpy(half, x.v, x.p);
    order.turn = turned(x.turn, half * x.w);
    order.gravity = cast<S>(now.known_gravity);
    // On the palm its own acceleration acts like reversed gravity.
    if (rules->shaken) order.gravity -= palm_acceleration(now, batch::load<S, ShakePhases<S>>(tiles.shakes, i));
    if (rules->carried) order.gravity -= cast<S>(now.carried);
    order.running = x.running;
    const Vec<S, 6> wrench = wanted_wrench(*rules, x, order.p, order.turn, now.known_gravity);
    for (int j = 0; j < rules->grasp.contacts; ++j) {
      const auto task = batch::load<S, FingerTask<S>>(tiles.parts.task_tile(j), i);
      order.compensation = task.compensation;
      order.force = task.force + cast<S>(rules->grasp.share[j]) * wrench;
      batch::store<S>(tiles.order_tile(j), i, order);
    }
  }
};

/// The object, its load and its fingers in the current step.
template <class S, int N>
struct StepParts {
  ObjectMotion<S> object;
  FingerOrder<S> order;  ///< of the first finger: pose of the object
  FingerStep<S> fingers[kCapacity<N>];
  Body<S> body;
  Vec<S, 6> load;
};

/// Loads the data of a sample's step.
template <class S, int N>
GARRA_HD StepParts<S, N> step_parts(const MotionTiles& tiles, const Instant& now, std::int64_t i) {
  StepParts<S, N> s;
  s.object = batch::load<S, ObjectMotion<S>>(tiles.objects, i);
  s.order = batch::load<S, FingerOrder<S>>(tiles.order_tile(0), i);
  for (int j = 0; j < extent<N>(); ++j) s.fingers[j] = batch::load<S, FingerStep<S>>(tiles.step_tile(j), i);
  s.body = body_at(s.object, s.order.p, s.order.turn);
  s.load = load_on(s.body, s.order.gravity, s.object.wrench + cast<S>(now.wrench));
  return s;
}

/// Third body of a step: its contact problem.
template <int N>
struct AssembleKernel {
  const MotionRules* rules;
  MotionTiles tiles;
  Instant now;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto s = step_parts<S, N>(tiles, now, i);
    Vec<S, N> mu;
    for (int j = 0; j < extent<N>(); ++j) mu[j] = batch::load<S, FingerTask<S>>(tiles.parts.task_tile(j), i).friction;
    if constexpr (kStaysInTile<S, N>) {
      ProblemInTile<N> problem(tiles.problems, i);
      put_sliding(i, step_problem(rules->step, s.body, s.load, s.fingers, mu, problem.friction));
      problem.write_rest();
    } else {
      solvers::FrictionProblem<S, N> problem;
      put_sliding(i, step_problem(rules->step, s.body, s.load, s.fingers, mu, problem));
      batch::store<S>(tiles.problems, i, problem);
    }
  }

 private:
  template <class S>
  GARRA_HD void put_sliding(std::int64_t i, const solvers::SlidingContacts<S, N>& sliding) const {
    if (tiles.sliding != nullptr) batch::store<S>(tiles.sliding, i, sliding);
  }
};

/// Last body of a step, after the solver and its certificate: the forces take effect, measures.
template <int N>
struct CloseKernel {
  const MotionRules* rules;
  MotionTiles tiles;
  Instant now;
  double time;    ///< at the step's end [s]
  bool first;     ///< step
  double* looks;  ///< MotionLook to be filled, or null

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    auto s = step_parts<S, N>(tiles, now, i);
    auto m = first ? fresh<S>() : batch::load<S, MotionMeasures<S, N>>(tiles.measures, i);
    // Loaded on demand: only the explicit step needs A.
    const contact::TileProblem<S, N> problem(tiles.problems, i, extent<N>());
    const auto on = s.object.running > S(0);
    const Solved<S> solved = solved_at<S>(i);
    audit(s, m, on);
    // Before this step's impulses replace those of the last one.
    const Contacts<S> contacts = measure_contacts(s, touched<S>(i), problem, solved);
    const ObjectMotion<S> before = s.object;
    const Vec<S, 6> wrench = contact_wrench<S, N>(s.body, s.fingers, solved.c);
    end_step(rules->step, s.body, s.load, wrench, s.object);
    count_turn(before, rules->step.step, s.object);
    count(s, before, wrench, solved, contacts, on, m);
    finish(s, solved, on, m);
    for (int j = 0; j < extent<N>(); ++j)
      batch::store<S>(tiles.impulse_tile(j), i, S(rules->step.step) * solvers::contact<S, N>(solved.c, j));
    batch::store<S>(tiles.guesses, i, solved.c);
    batch::store<S>(tiles.objects, i, s.object);
    batch::store<S>(tiles.measures, i, m);
    if (looks != nullptr) batch::store<S>(looks, i, make_look(s.object, solved, contacts, m, on));
    if (tiles.records != nullptr) batch::store<S>(tiles.records, i, make_record(s, solved, contacts, m));
  }

 private:
  /// Initializes the measures before the first step.
  template <class S>
  static GARRA_HD MotionMeasures<S, N> fresh() {
    MotionMeasures<S, N> m;
    batch::for_each_run<S>(
        [](int count, S* numbers) {
          for (int k = 0; k < count; ++k) numbers[k] = S(0);
        },
        m);
    m.end = m.slipped_first = S(-1);
    m.slip_time = m.open_time = m.least_margin = S(kInfinity);
    return m;
  }

  /// The certified solution of a step, zero if there is none.
  template <class S>
  struct Solved {
    Vec<S, 3 * N> c, a;
    S residual, iterations, status;
  };
  /// The contacts after the step.
  template <class S>
  struct Contacts {
    Vec<S, N> speed;  ///< after the step, along the object [m/s]
    Vec<S, N> slide;  ///< mean over the step likewise, by which positions move; without the part before an impact
    Vec<S, N> state, margin;
    S margin_now;  ///< smallest of the closed ones
    S power;       ///< mean over the step [W]
    S gap, cone;
    S step_ratio;  ///< explicit: largest step over its bound
  };

  /// Solution of sample i.
  template <class S>
  GARRA_HD Solved<S> solved_at(std::int64_t i) const {
    const auto s = batch::load<S, solvers::FrictionSolution<S, N>>(tiles.solutions, i);
    const auto solved = s.status == S(int(Status::kConverged));
    // Without a certified force the step is free flight; finish() ends the trajectory there.
    return {select(solved, s.c, Vec<S, 3 * N>::zero()), select(solved, s.a, Vec<S, 3 * N>::zero()), s.residual,
            s.effort.outer, s.status};
  }

  /// Balance of kinetic energy and work of the whole, at the step's start.
  template <class S>
  GARRA_HD void audit(const StepParts<S, N>& s, MotionMeasures<S, N>& m, const MaskOf<S>& on) const {
    const Vec3<S> spin = s.body.inertia * s.body.omega;
    S kinetic = S(0.5) * fma(s.body.mass, dot(s.body.v, s.body.v), dot(s.body.omega, spin));
    S work = m.work;
    for (int j = 0; j < extent<N>(); ++j) {
      // FingerStep passes the finger's energy at the step's start, in time for the same balance.
      kinetic += s.fingers[j].kinetic;
      work += s.fingers[j].work;
      m.peak_torque[j] = select(on, s.fingers[j].peak_torque, m.peak_torque[j]);
    }
    if (first) m.energy_start = kinetic;
    m.kinetic = kinetic;
    m.balance = kinetic - m.energy_start - work;
    m.energy_balance = select(on, max(m.energy_balance, abs(m.balance)), m.energy_balance);
    if (first) m.momentum = s.body.mass * s.body.v;
  }

  /// 1 if a contact carried force in the previous step, or begins with it; else 0.
  template <class S>
  GARRA_HD Vec<S, N> touched(std::int64_t i) const {
    Vec<S, N> out;
    for (int j = 0; j < extent<N>(); ++j) {
      const auto impulse = batch::load<S, Vec3<S>>(tiles.impulse_tile(j), i);
      out[j] = first ? S(1) : select(impulse[0] > S(0), S(1), S(0));
    }
    return out;
  }

  template <class S>
  GARRA_HD Contacts<S> measure_contacts(const StepParts<S, N>& s, const Vec<S, N>& touched,
                                        const contact::TileProblem<S, N>& problem, const Solved<S>& solved) const {
    const StepRules& r = rules->step;
    const S dt = S(r.step);
    Contacts<S> out;
    out.power = out.gap = out.cone = out.step_ratio = S(0);
    out.margin_now = S(kInfinity);
    const S lambda = r.explicit_step ? largest_row_sum(problem) : S(0);
    for (int j = 0; j < extent<N>(); ++j) {
      const Vec3<S> c = solvers::contact<S, N>(solved.c, j), a = solvers::contact<S, N>(solved.a, j);
      const S mu = problem.mu(j);
      const Vec3<S> before = relative_velocity(s.body, s.fingers[j]);
      // a is the velocity after the step over its length, with the stabilization in its normal row: (6).
      Vec3<S> after = dt * a;
      after[0] = fnma(dt, stabilization(r, s.body, s.fingers[j], before), after[0]);
      if (r.explicit_step) after += before;
      const auto closed = c[0] > S(0);
      const S speed = tangential_length(after), ct = tangential_length(c);
      out.speed[j] = select(closed, speed, S(0));
      // By (8): the mean of both velocities, without the one before an impact.
      out.slide[j] = select(closed, S(0.5) * tangential_length(axpy(touched[j], before, after)), S(0));
      out.state[j] = select(closed, select(speed > S(kSlipSpeed), S(int(ContactState::kSlip)), S(0)),
                            S(int(ContactState::kBreak)));
      out.margin[j] = select(closed, friction_margin(c, mu), S(kInfinity));
      out.margin_now = min(out.margin_now, out.margin[j]);
      out.power = fma(S(0.5), dot(c, before + after), out.power);
      out.gap = max(out.gap, select(closed, abs(s.fingers[j].gap), S(0)));
      out.cone = max(out.cone, fnma(mu, c[0], ct));
      if (r.explicit_step) out.step_ratio = max(out.step_ratio, relative_step(lambda, mu, c[0], before));
    }
    return out;
  }

  /// Largest absolute row sum over the tangential rows of all contacts, a bound on the eigenvalues of A_TT.
  template <class S>
  static GARRA_HD S largest_row_sum(const contact::TileProblem<S, N>& problem) {
    S largest = S(0);
    for (int r = 0; r < extent<3 * N>(); ++r) {
      if (r % 3 == 0) continue;
      S sum = S(0);
      for (int k = 0; k < extent<3 * N>(); ++k)
        if (k % 3 != 0) sum += abs(problem.A(r, k));
      largest = max(largest, sum);
    }
    return largest;
  }

  /// Step divided by its bound 2 |v_T| / (mu c_n lambda) for a sliding contact.
  template <class S>
  GARRA_HD S relative_step(const S& lambda, const S& mu, const S& cn, const Vec3<S>& before) const {
    const S speed = tangential_length(before);
    const auto slides = speed > S(kSlipSpeed);
    return select(slides, S(0.5 * rules->step.step) * (mu * cn) * lambda / select(slides, speed, S(1)), S(0));
  }

  template <class S>
  GARRA_HD void count(const StepParts<S, N>& s, const ObjectMotion<S>& before, const Vec<S, 6>& wrench,
                      const Solved<S>& solved, const Contacts<S>& contacts, const MaskOf<S>& on,
                      MotionMeasures<S, N>& m) const {
    const S dt = S(rules->step.step), t = S(time);
    S power = contacts.power;
    for (int i = 0; i < 3; ++i) {
      power = fma(S(0.5) * (before.v[i] + s.object.v[i]), s.load[i], power);
      power = fma(S(0.5) * (before.w[i] + s.object.w[i]), s.load[i + 3], power);
      m.momentum[i] = select(on, fma(dt, s.load[i] + wrench[i], m.momentum[i]), m.momentum[i]);
    }
    m.work = select(on, fma(dt, power, m.work), m.work);
    const auto most = [&](S& value, const S& now) { value = select(on, max(value, now), value); };
    S slid = S(0), farthest = S(0), least_force = S(kInfinity);
    for (int j = 0; j < extent<N>(); ++j) {
      m.slip[j] = select(on, fma(dt, contacts.slide[j], m.slip[j]), m.slip[j]);
      most(m.peak_force[j], solved.c[3 * j]);
      // For equal paths the contact with the smaller number.
      farthest = select(m.slip[j] > slid, S(j), farthest);
      slid = max(slid, m.slip[j]);
      least_force = min(least_force, solved.c[3 * j]);
    }
    const auto first_time = [&](S& when, const MaskOf<S>& happened) {
      when = select(on && happened && !(when < S(kInfinity)), t, when);
    };
    const auto slips_now = on && slid >= S(rules->slip) && !(m.slip_time < S(kInfinity));
    m.slipped_first = select(slips_now, farthest, m.slipped_first);
    first_time(m.slip_time, slid >= S(rules->slip));
    first_time(m.open_time, least_force <= S(0));
    most(m.peak_drift, norm(s.object.p - s.object.first));
    most(m.peak_turn, s.object.turned);
    m.least_margin = select(on, min(m.least_margin, contacts.margin_now), m.least_margin);
    most(m.momentum_balance, norm(axpy(s.object.mass, s.object.v, -m.momentum)));
    most(m.worst_gap, contacts.gap);
    most(m.worst_cone, contacts.cone);
    most(m.worst_ratio, contacts.step_ratio);
    m.iterations += select(on, solved.iterations, S(0));
    m.steps += select(on, S(1), S(0));
    m.unstable_steps += select(on && contacts.step_ratio > S(1), S(1), S(0));
  }

  /// Whether the trajectory ends here, with the first of these reasons that holds.
  template <class S>
  GARRA_HD void finish(StepParts<S, N>& s, const Solved<S>& solved, const MaskOf<S>& on,
                       MotionMeasures<S, N>& m) const {
    S within = S(1), force = S(0);
    for (int j = 0; j < extent<N>(); ++j) {
      within = min(within, s.fingers[j].within);
      force = max(force, solved.c[3 * j]);
    }
    count_alone(force > S(0), rules->step.step, s.object);
    const ObjectMotion<S>& x = s.object;
    // Squares cannot cancel: one test detects NaN or infinity in any of the nine numbers.
    const auto finite = is_finite(dot(x.p, x.p) + dot(x.v, x.v) + dot(x.w, x.w));
    const auto converged = solved.status == S(int(Status::kConverged));
    S end = S(-1);
    const auto because = [&](const MaskOf<S>& holds, MotionEnd why) { end = select(holds, S(int(why)), end); };
    // Later reasons override: meaningless numbers precede any conclusion from them.
    because(is_left_alone(x, time, rules->step.step, rules->duration), MotionEnd::kDropped);
    because(x.turned >= S(rules->drop_turn), MotionEnd::kTurned);
    because(norm(x.p - x.first) >= S(rules->drop), MotionEnd::kDropped);
    because(within == S(0), MotionEnd::kJointLimit);
    because(!converged, MotionEnd::kUnsolved);
    because(solved.status == S(int(Status::kInvalidInput)) || !finite, MotionEnd::kNonFinite);
    because(within < S(0), MotionEnd::kUnreachable);
    const auto ends = on && end >= S(0);
    m.worst_residual = select(on && converged, max(m.worst_residual, solved.residual), m.worst_residual);
    m.end = select(ends, end, m.end);
    m.end_time = select(ends, S(time), m.end_time);
    s.object.running = select(ends, S(0), s.object.running);
  }

  template <class S>
  GARRA_HD MotionLook<S, N> make_look(const ObjectMotion<S>& x, const Solved<S>& solved, const Contacts<S>& contacts,
                                      const MotionMeasures<S, N>& m, const MaskOf<S>& on) const {
    const S nan = S(__builtin_nan(""));
    MotionLook<S, N> out;
    S slid = S(0);
    for (int j = 0; j < extent<N>(); ++j) slid = max(slid, m.slip[j]);
    out.look[kDrift] = norm(x.p - x.first);
    out.look[kTurn] = x.turned;
    out.look[kMinMargin] = contacts.margin_now;
    out.look[kSlipPath] = slid;
    for (int k = 0; k < kLooks; ++k) out.look[k] = select(on, out.look[k], nan);
    for (int j = 0; j < extent<N>(); ++j) out.force[j] = select(on, solved.c[3 * j], nan);
    return out;
  }

  template <class S>
  GARRA_HD StepRecord<S, N> make_record(const StepParts<S, N>& s, const Solved<S>& solved, const Contacts<S>& contacts,
                                        const MotionMeasures<S, N>& m) const {
    StepRecord<S, N> out;
    out.object = s.object;
    out.gravity = s.order.gravity;
    out.kinetic = m.kinetic;
    out.balance = m.balance;
    out.force = solved.c;
    for (int j = 0; j < extent<N>(); ++j) {
      const FingerStep<S>& f = s.fingers[j];
      const Vec3<S> palm = f.E * solvers::contact<S, N>(solved.c, j);
      for (int k = 0; k < 3; ++k) {
        out.normal[3 * j + k] = f.E(k, 0);
        out.palm_force[3 * j + k] = palm[k];
      }
      out.gap[j] = f.gap;
      out.slip_speed[j] = contacts.speed[j];
      out.state[j] = contacts.state[j];
    }
    return out;
  }
};

}  // namespace garra::grasp
