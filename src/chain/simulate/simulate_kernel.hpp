// One sample of a batch of simulations, from its first state to its last, as a body that every executor runs. Host and
// device.
#pragma once

#include "chain/simulate/state.hpp"
#include "garra/batch/uninterrupted.hpp"

namespace garra::chain {

/// `kVaries`: every sample has its own chain.
template <int J_, Joints K_, bool kVaries, Integrator... kOnly>
struct SimulateKernel {
  static constexpr int J = J_;
  static constexpr Joints K = K_;
  template <class S>
  using Own = std::conditional_t<kVaries, OwnModel<S, J>, NoModel>;
  template <class S>
  using State = SimulateState<S, J, Own<S>>;
  template <class S>
  using ModelOf = Model<std::conditional_t<kVaries, S, double>, J>;
  template <class S>
  using PlantOf = Plant<S, ModelOf<S>, J, K>;

  SimulateSetup<J> setup;
  SimulateArrays a;

  /// kOnly where it is given: a kernel with one method in it needs fewer registers.
  [[nodiscard]] GARRA_HD Integrator method() const {
    static_assert(sizeof...(kOnly) <= 1);
    if constexpr (sizeof...(kOnly) == 1) return (kOnly, ...);
    return setup.method;
  }

  // Into and out of the arrays.

  /// Rows i, i + 1, ... in lanes; those beyond the end repeat the last sample.
  template <class S>
  GARRA_HD Vec<S, J> rows(const double* from, std::int64_t i, const Vec<double, J>& otherwise) const {
    Vec<S, J> v;
    for (int k = 0; k < extent<J>(); ++k) v[k] = S(otherwise[k]);
    if (from == nullptr) return v;
    for (int k = 0; k < setup.joints; ++k) v[k] = number<S>(from + k, i, setup.joints);
    return v;
  }
  /// Entry i (and its neighbors, in lanes) of an array with this stride.
  template <class S>
  GARRA_HD S number(const double* from, std::int64_t i, std::int64_t stride) const {
    if constexpr (kWidth<S> == 1) {
      return from[i * stride];
    } else {
      S v;
      // The last sample repeats where there are no more: its lanes never run (start()).
      for (int l = 0; l < kWidth<S>; ++l) v.set(l, from[(i + l < a.count ? i + l : a.count - 1) * stride]);
      return v;
    }
  }

  /// The sample's own chain: nominal numbers, then its columns. Nothing where all share one.
  template <class S>
  GARRA_HD void fill_own(std::int64_t i, State<S>& s) const {
    if constexpr (kVaries) {
      for (int k = 0; k < extent<J>(); ++k) {
        const double* from = reinterpret_cast<const double*>(&setup.nominal.joint[k]);
        S* to = reinterpret_cast<S*>(&s.joint[k]);
        for (int f = 0; f < batch::kFields<double, JointForm<double>>; ++f) to[f] = S(from[f]);
      }
      s.base = cast_pose<S>(setup.nominal.base);
      s.tool = cast_pose<S>(setup.nominal.tool);
      s.gravity = cast<S>(setup.nominal.gravity);
      for (int c = 0; c < a.column_count; ++c) {
        const Column& column = a.columns[c];
        const S value = number<S>(a.values + c * a.values_stride, i, 1);
        apply(column, value, s.joint[column.joint]);
        if (column.quantity == Quantity::kSize && column.tool) s.tool.p = value * s.tool.p;
      }
    }
  }
  /// By value where the sample has its own, else the shared one itself.
  template <class S>
  GARRA_HD decltype(auto) model_of_sample([[maybe_unused]] const State<S>& s) const {
    if constexpr (kVaries) {
      ModelOf<S> m;
      for (int k = 0; k < extent<J>(); ++k) {
        m.joint[k] = s.joint[k];
        m.prismatic[k] = setup.nominal.prismatic[k];
      }
      m.base = s.base;
      m.tool = s.tool;
      m.gravity = s.gravity;
      return m;
    } else {
      return (setup.nominal);
    }
  }
  /// What the steps act on: the sample's chain, its controller with the nominal one, damping and amplitude.
  template <class S>
  GARRA_HD PlantOf<S> plant(const ModelOf<S>& m, const State<S>& s) const {
    return {m, setup.nominal, setup.law, setup.tool, setup.friction, s.damping, s.amplitude};
  }

  /// Sample i (and its neighbors) at t = 0, checked, with its first output. What is not finite does not run.
  template <class S>
  GARRA_HD State<S> start(std::int64_t i) const {
    const S zero = S(0);
    State<S> s;
    fill_own(i, s);
    // As a number: a lane's bookkeeping is of S like all else of the state.
    s.index = S(static_cast<double>(i)) + ScalarTraits<S>::lane_numbers();
    s.at = {rows<S>(a.q, i, Vec<double, J>::zero()), rows<S>(a.qd, i, Vec<double, J>::zero())};
    s.damping = rows<S>(a.damping, i, setup.damping);
    if constexpr (kVaries)
      // A sample's links may bring their own damping; the rows of `damping`, where given, come before.
      if (a.damping == nullptr) for_each_index<J>([&](int k) { s.damping[k] = s.joint[k].damping; });
    s.amplitude = rows<S>(a.amplitude, i, setup.amplitude);
    s.steps = s.rejected = s.t = s.dissipated = s.work = s.stop_loss = s.worst = s.settling = zero;
    s.stop = s.running = s.fresh = S(1);
    // The error of the step before, as the controller starts with it.
    s.control = {S(1e-4), zero};
    for_each_index<J>([&](int k) { s.peak_torque[k] = zero, s.peak_speed[k] = abs(s.at.qd[k]); });
    s.first = {s.at.qd, s.at.qd, zero, zero};
    const ModelOf<S>& m = model_of_sample(s);
    Energy<S> e;
    compute_energy<K>(m, s.at, e);
    s.first_energy = e.kinetic + e.potential;
    // One number in which any NaN or infinity of the sample survives.
    S numbers = s.first_energy;
    for_each_index<J>([&](int k) { numbers = numbers + s.damping[k] + s.amplitude[k]; });
    const auto good = is_finite(numbers) && is_finite_motion(s.at);
    s.running = select(good, S(1), zero);
    s.status = select(good, zero, S(static_cast<double>(SimulationStatus::kInvalidInput)));
    // Lanes beyond the batch do not run.
    if constexpr (kWidth < S >> 1) s.running = select(s.index < S(static_cast<double>(a.count)), s.running, zero);
    const auto begins = s.running > zero;
    if (setup.limits != LimitRule::kIgnore) {
      mind_limits(m, begins, Vec<S, J>::zero(), s);
      compute_energy<K>(m, s.at, e);  // the sample begins within its limits
      s.first_energy = select(begins, e.kinetic + e.potential, s.first_energy);
      s.stop_loss = zero;
    }
    s.h = method() == Integrator::kDopri5 ? begin_adaptive(m, s) : zero;
    if (a.stops.output[0] >= 0) record(m, s, begins, S(a.stops.output[0]));
    return s;
  }

  /// First step of dopri5: as told, or from the state and its first acceleration [s].
  template <class S>
  GARRA_HD S begin_adaptive(const ModelOf<S>& m, State<S>& s) const {
    refresh(m, s);
    const S chosen = setup.first_step > 0 ? S(setup.first_step) : first_step(setup.tolerance, s.at, s.first.qdd);
    return min(S(setup.max_step), chosen);
  }
  /// Computes the first stage anew where it cannot be taken from the last step.
  template <class S>
  GARRA_HD_CALL void refresh(const ModelOf<S>& m, State<S>& s) const {
    // The first stage is the last of the step before, but for a stop: there the torque may jump.
    const auto wanted = s.fresh > S(0);
    const Clock<S> clock = {s.t, gather(a.stops.t, s.stop - S(1))};
    const Rates<S, J> r = rates(plant(m, s), clock, s.at);
    s.first.qdd = select(wanted, r.qdd, s.first.qdd);
    s.first.tau = select(wanted, r.tau, s.first.tau);
    s.first.dissipated = select(wanted, r.dissipated, s.first.dissipated);
    s.first.work = select(wanted, r.work, s.first.work);
    s.fresh = S(0);
  }

  /// Output number `output` of the lanes of a mask.
  template <class S, class Mask>
  GARRA_HD_CALL void record(const ModelOf<S>& m, State<S>& s, const Mask& where, const S& output) const {
    Energy<S> e;
    Vec3<S> tip;
    compute_energy<K>(m, s.at, e);
    compute_tip<K>(m, s.at.q, tip);
    const S balance = energy_balance(s, e);
    s.worst = select(where, max(s.worst, abs(balance)), s.worst);
    const int n = setup.joints, fields = trajectory_fields(n);
    // Rows are the samples' own: lanes arrive at different times, so they write one by one.
    for (int l = 0; l < kWidth<S>; ++l) {
      if (!get_lane(where, l)) continue;
      const auto i = static_cast<std::int64_t>(get_lane(s.index, l)),
                 k = static_cast<std::int64_t>(get_lane(output, l));
      double* row = a.trajectory + (i * a.outputs + k) * fields;
      for (int j = 0; j < n; ++j) {
        row[j] = get_lane(s.at.q[j], l);
        row[n + j] = get_lane(s.at.qd[j], l);
      }
      for (int j = 0; j < 3; ++j) row[2 * n + j] = get_lane(tip[j], l);
      double* energies = row + 2 * n + 3;
      energies[kKinetic] = get_lane(e.kinetic, l);
      energies[kPotential] = get_lane(e.potential, l);
      energies[kDissipated] = get_lane(s.dissipated, l);
      energies[kWork] = get_lane(s.work, l);
      energies[kStopLoss] = get_lane(s.stop_loss, l);
      energies[kBalance] = get_lane(balance, l);
    }
  }
  /// (E - E_0) + dissipated + lost at stops - work [J]: 0 but for the method's error.
  template <class S>
  GARRA_HD S energy_balance(const State<S>& s, const Energy<S>& e) const {
    return (e.kinetic + e.potential - s.first_energy) + s.dissipated + s.stop_loss - s.work;
  }

  /// The row of a sample that has ended.
  GARRA_HD void finish(std::int64_t i, const State<double>& s) const {
    const int n = setup.joints;
    double* row = a.summary + i * summary_fields(n);
    for (int j = 0; j < n; ++j) {
      row[j] = s.at.q[j];
      row[n + j] = s.at.qd[j];
      row[2 * n + j] = s.peak_speed[j];
      row[3 * n + j] = s.peak_torque[j];
    }
    const ModelOf<double>& m = model_of_sample(s);
    Energy<double> e;
    compute_energy<K>(m, s.at, e);
    const double balance = energy_balance(s, e);
    const bool reached = s.status == 0, moving = is_moving(s.at);
    double* end = row + 4 * n;
    end[kEndTime] = s.t;
    end[kEndStatus] = s.status;
    end[kSteps] = s.steps;
    end[kRejected] = s.rejected;
    // A sample that still moves, or did not complete, has not settled.
    end[kSettling] = reached && !moving ? s.settling : std::numeric_limits<double>::infinity();
    end[kEndDissipated] = s.dissipated;
    end[kEndWork] = s.work;
    end[kEndStopLoss] = s.stop_loss;
    end[kEndBalance] = balance;
    end[kWorst] = max(s.worst, abs(balance));
  }

  // Events at the end of a step.

  /// Whether some joint is faster than settle_speed, or away from its place where there is one.
  template <class S>
  GARRA_HD MaskOf<S> is_moving(const Motion<S, J>& at) const {
    MaskOf<S> moving = false;
    for_each_index<J>([&](int i) {
      const auto fast = abs(at.qd[i]) > S(setup.settle_speed);
      const auto away = abs(at.q[i] - S(setup.settle_at[i])) > S(setup.settle_band);
      moving = moving || fast || (setup.settle_at_place && away);
    });
    return moving;
  }

  /// Where a step from motion to rest comes to rest, as a share of its length h. Between its ends, q is the cubic with
  /// their values and speeds.
  template <class S>
  GARRA_HD_CALL S rest_within_step(const Motion<S, J>& from, const Motion<S, J>& to, const S& h) const {
    constexpr int kHalvings = 30;
    S low = S(0), high = S(1);
    for (int k = 0; k < kHalvings; ++k) {
      const S x = S(0.5) * (low + high);
      Motion<S, J> at = from;
      for_each_index<J>([&](int i) {
        const S d = to.q[i] - from.q[i], u = h * from.qd[i], v = h * to.qd[i];
        const S square = S(3) * d - S(2) * u - v, cube = u + v - S(2) * d;
        at.q[i] = from.q[i] + x * (u + x * (square + x * cube));
        at.qd[i] = (u + x * (S(2) * square + S(3) * x * cube)) / h;
      });
      const auto moving = is_moving(at);
      low = select(moving, x, low);
      high = select(moving, high, x);
    }
    return low;
  }

  /// Takes over a step in the lanes of `ok`, which end at t.
  template <class S>
  GARRA_HD void accept(const ModelOf<S>& m, const Step<S, J>& step, const MaskOf<S>& ok, const S& t,
                       State<S>& s) const {
    // The sample moved at the start of the step exactly if it has settled no earlier.
    const auto moving = is_moving(step.motion);
    const auto comes_to_rest = ok && s.settling == s.t && !moving;
    if (any(comes_to_rest))
      s.settling = select(comes_to_rest, fma(t - s.t, rest_within_step(s.at, step.motion, t - s.t), s.t), s.settling);
    s.at.q = select(ok, step.motion.q, s.at.q);
    s.at.qd = select(ok, step.motion.qd, s.at.qd);
    s.dissipated = select(ok, s.dissipated + step.flows.dissipated, s.dissipated);
    s.work = select(ok, s.work + step.flows.work, s.work);
    s.t = select(ok, t, s.t);
    s.steps = select(ok, s.steps + S(1), s.steps);
    // Before the peaks: speeds beyond a stop are none that the sample has.
    mind_limits(m, ok, step.tau, s);
    for_each_index<J>([&](int i) {
      s.peak_speed[i] = select(ok, max(s.peak_speed[i], abs(s.at.qd[i])), s.peak_speed[i]);
      s.peak_torque[i] = select(ok, max(s.peak_torque[i], abs(step.tau[i])), s.peak_torque[i]);
    });
    s.settling = select(ok && (moving || is_moving(s.at)), t, s.settling);  // a stop may have ended the motion
  }

  /// Joints that a step under torques tau has taken beyond a limit: ends the sample or stops them, with what that
  /// costs.
  template <class S>
  GARRA_HD void mind_limits(const ModelOf<S>& m, const MaskOf<S>& ok, const Vec<S, J>& tau, State<S>& s) const {
    if (setup.limits == LimitRule::kIgnore) return;
    const auto over = ok && beyond(setup.lower, setup.upper, s.at.q);
    // Rare, so the lanes pay for it only where it happens.
    if (!any(over)) return;
    if (setup.limits == LimitRule::kFinish)
      end_where(over, SimulationStatus::kJointLimit, s);
    else
      stop_beyond(m, over, tau, s);
  }
  template <class S>
  GARRA_HD_CALL void stop_beyond(const ModelOf<S>& m, const MaskOf<S>& over, const Vec<S, J>& tau, State<S>& s) const {
    Energy<S> before, after;
    Motion<S, J> stopped = s.at;
    compute_energy<K>(m, s.at, before);
    stop_joints<K>(m, setup.law.followers, setup.lower, setup.upper, stopped);
    compute_energy<K>(m, stopped, after);
    // The energy that the inelastic impact took, potential energy of the joints that are put back included.
    S lost = (before.kinetic + before.potential) - (after.kinetic + after.potential);
    // Torques do no work on the way beyond the stop, which no joint goes, and the stop does not take it.
    S back = S(0);
    for_each_index<J>([&](int i) { back += tau[i] * (s.at.q[i] - stopped.q[i]); });
    lost = max(lost - back, S(0));  // less is the method's error: a stop gives nothing
    s.work = select(over, s.work - back, s.work);
    s.at.q = select(over, stopped.q, s.at.q);
    s.at.qd = select(over, stopped.qd, s.at.qd);
    s.stop_loss = select(over, s.stop_loss + lost, s.stop_loss);
    // The motion has jumped: the stored first stage is of another state.
    s.fresh = select(over, S(1), s.fresh);
  }

  /// Ends samples with a status.
  template <class S>
  GARRA_HD void end_where(const MaskOf<S>& where, SimulationStatus status, State<S>& s) const {
    s.status = select(where, S(static_cast<double>(status)), s.status);
    s.running = select(where, S(0), s.running);
  }

  // Fixed steps: all samples take the same ones.

  template <class S>
  GARRA_HD Step<S, J> fixed_step(const PlantOf<S>& p, const Clock<double>& clock, double h,
                                 const Motion<S, J>& at) const {
    if (method() == Integrator::kRk4) return step_rk4(p, clock, h, at);
    if (method() == Integrator::kImplicit1) return step_implicit1(p, clock, h, at);
    return step_implicit2(p, clock, h, at);
  }

  /// All steps from stop to stop, in all lanes at once; a lane that has ended is carried along. Calls between() after
  /// each.
  template <class S, class Between>
  GARRA_HD void run_fixed(State<S>& s, const Between& between) const {
    const ModelOf<S>& m = model_of_sample(s);
    const PlantOf<S> p = plant(m, s);
    for (int stop = 1; stop < a.stops.count && any(s.running > S(0)); ++stop) {
      const double from = a.stops.t[stop - 1], to = a.stops.t[stop], h = a.stops.h[stop];
      const int steps = static_cast<int>(a.stops.steps[stop]);
      for (int k = 0; k < steps; ++k) {
        const auto on = s.running > S(0);
        if (!any(on)) break;
        const Step<S, J> step = fixed_step<S>(p, {from + k * h, from}, h, s.at);
        const auto ok = on && is_finite_step(step);
        // The last step ends exactly at the stop: from + steps h may round to either side.
        accept(m, step, ok, S(k + 1 == steps ? to : from + (k + 1) * h), s);
        // The state stays that before the step: accept() has not taken it.
        end_where<S>(on && !ok, SimulationStatus::kNonFinite, s);
        between();
      }
      const auto arrived = s.running > S(0);
      if (a.stops.output[stop] >= 0 && any(arrived)) record(m, s, arrived, S(a.stops.output[stop]));
    }
  }

  // Adaptive steps: every lane takes its own.

  template <class S>
  GARRA_HD static MaskOf<S> running(const State<S>& s) {
    return s.running > S(0);
  }

  /// How far a step passes a limit, relative to what is allowed.
  template <class S>
  GARRA_HD S trespass(const Vec<S, J>& q) const {
    S worst = S(0);
    for_each_index<J>([&](int i) { worst = max(worst, max(S(setup.lower[i]) - q[i], q[i] - S(setup.upper[i]))); });
    return worst / S(setup.limit_tolerance);
  }

  /// One trial step of every lane that runs, accepted or not.
  template <class S>
  GARRA_HD void step_adaptive(State<S>& s) const {
    const ModelOf<S>& m = model_of_sample(s);
    const auto on = s.running > S(0);
    if (any(on && s.fresh > S(0))) refresh(m, s);
    const S to = gather(a.stops.t, s.stop);
    const Clock<S> clock = {s.t, gather(a.stops.t, s.stop - S(1))};
    // 1 %: a remainder much shorter than a step would be a step of its own.
    const auto arrives = s.t + S(1.01) * s.h >= to;
    const S h = select(arrives, to - s.t, s.h);
    const EmbeddedStep<S, J> e = step_embedded(plant(m, s), setup.tableau, clock, h, s.at, s.first);
    S error = error_norm(setup.tolerance, setup.joints, e.error, s.at, e.step.motion);
    // A step may pass a limit by its tolerance, else it is tried again, shorter.
    if (setup.limits != LimitRule::kIgnore) error = max(error, trespass(e.step.motion.q));
    const auto ok = on && error <= S(1) && is_finite_step(e.step);
    S next = min(S(setup.max_step), next_step(h, error, ok, s.control));
    // A step that was cut for a stop says nothing against the longer one planned.
    next = select(ok && arrives, max(next, s.h), next);
    s.h = select(on, next, s.h);
    s.first.qdd = select(ok, e.last.qdd, s.first.qdd);
    s.first.tau = select(ok, e.last.tau, s.first.tau);
    s.first.dissipated = select(ok, e.last.dissipated, s.first.dissipated);
    s.first.work = select(ok, e.last.work, s.first.work);
    accept(m, e.step, ok, select(arrives, to, s.t + h), s);
    s.rejected = select(on && !ok, s.rejected + S(1), s.rejected);
    // Below the spacing of doubles at t a step no longer moves the time.
    const auto stuck = s.h <= S(4e-16) * s.t || s.h < S(1e-300);
    const auto broken = !is_finite(error) || !is_finite_step(e.step);
    const auto unfinished = on && s.running > S(0);
    end_where<S>(unfinished && stuck && broken, SimulationStatus::kNonFinite, s);
    end_where<S>(unfinished && ((stuck && !broken) || s.steps + s.rejected >= S(setup.max_steps)),
                 SimulationStatus::kStepLimit, s);
    arrive(m, ok && arrives, s);
  }

  /// Lanes that have come to a stop: output, next stop, end.
  template <class S>
  GARRA_HD void arrive(const ModelOf<S>& m, const MaskOf<S>& where, State<S>& s) const {
    if (!any(where)) return;
    const S output = gather(a.stops.output, s.stop);
    const auto told = where && output >= S(0) && s.status == S(0);
    if (any(told)) record(m, s, told, output);
    s.stop = select(where, s.stop + S(1), s.stop);
    // The torque may jump at a stop.
    s.fresh = select(where, S(1), s.fresh);
    const auto done = where && s.stop >= S(a.stops.count) && s.running > S(0);
    // Lanes that are done keep a valid index to gather from.
    s.stop = min(s.stop, S(a.stops.count - 1));
    s.running = select(done, S(0), s.running);
  }

  /// A sample from start to end: the scalar executor and a GPU thread. Calls between() after each step.
  template <class S, class Between>
  GARRA_HD void run(std::int64_t i, const Between& between) const {
    static_assert(kWidth<S> == 1);
    State<S> s = start<S>(i);
    if (method() == Integrator::kDopri5) {
      while (running<S>(s)) {
        step_adaptive(s);
        between();
      }
    } else {
      run_fixed(s, between);
    }
    finish(i, s);
  }
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    run<S>(i, Uninterrupted{});
  }
};

}  // namespace garra::chain
