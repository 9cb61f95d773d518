// One sample of a batch of motions by Integrator::kHybrid, in the full form. Host and device.
#pragma once

#include "platform/simulate/full_steps.hpp"
#include "platform/simulate/simulate_kernel.hpp"

namespace garra::platform {

/// As MotionRun.
struct FullMotionRun {
  MotionSetup setup;
  MotionArrays a;

  template <class S>
  struct State {
    FullState<S> full;
    S time, first_energy, balance, worst_balance;
  };

  template <class S, class T, class Between>
  GARRA_HD void run(std::int64_t i, const Model<T>& model, const MotionPlant<S>& plant, const Between& between) const {
    const MotionStart<S> from = batch::load<S, MotionStart<S>>(a.starts, i);
    const Loads<S> loads{Vec<S, 6>::zero(), from.wrench, setup.friction};
    const HybridRule rule{{setup.baumgarte}, setup.correct_above};
    const HybridWatch ends{setup.singularity, setup.watch_joints};
    State<S> s;
    start(model, plant, ends, from, s);
    if (setup.output_at_start) record(i, model, began(s), 0, s);
    for (std::int64_t n = 0; n < a.spans && any(moves(s)); ++n) {
      const MotionSpan& span = a.span[n];
      const ForceSpan<S> force = a.force_at<S>(i, span);
      const S before = s.full.steps;
      for (std::int64_t k = 0; k < span.steps && any(moves(s)); ++k) {
        // Computed from the first step: rounding errors do not accumulate over many steps.
        const StepOf step{span.h, fma(static_cast<double>(k), span.share_of_step, span.share), span.share_of_step};
        hybrid_step(model, plant.limits, loads, force, step, rule, ends, s.full);
        between();
      }
      // The steps taken by a sample determine its end time. The last step ends exactly at the
      // output time: outputs are recognized by equality of times.
      const S taken = s.full.steps - before;
      const S there =
          select(taken == S(static_cast<double>(span.steps)), S(span.to), fma(taken, S(span.h), S(span.from)));
      s.time = select(taken > S(0), there, s.time);
      if (span.output >= 0) record(i, model, began(s) && s.time == S(span.to), span.output, s);
    }
    finish(i, model, s);
  }

 private:
  template <class S>
  static GARRA_HD MaskOf<S> moves(const State<S>& s) {
    return s.full.status == S(0);
  }
  template <class S>
  static GARRA_HD MaskOf<S> began(const State<S>& s) {
    return s.full.status != S(static_cast<double>(MotionStatus::kInvalidInput));
  }

  template <class S, class T>
  GARRA_HD_CALL void start(const Model<T>& model, const MotionPlant<S>& plant, const HybridWatch& ends,
                           const MotionStart<S>& from, State<S>& s) const {
    // Also computed for invalid input, which gives NaN and is marked afterwards: lanes cannot
    // branch.
    s.full = hybrid_start(model, plant.limits, ends, {from.place.r, normalized(from.place.p)}, from.twist);
    const Energy<S> e = full_energy(model, s.full.q);
    s.first_energy = e.kinetic + e.potential;
    s.time = s.balance = s.worst_balance = S(0);
    // Also what is finite by itself and overflows together, such as speeds of 1e200 m/s.
    const auto good = from.good > S(0) && is_finite(s.first_energy);
    s.full.status = select(good, s.full.status, S(static_cast<double>(MotionStatus::kInvalidInput)));
  }

  /// T + V minus the work, as in MotionRun.
  template <class S, class T>
  GARRA_HD Energy<S> balance_now(const Model<T>& model, State<S>& s) const {
    const Energy<S> e = full_energy(model, s.full.q);
    s.balance = e.kinetic + e.potential - s.first_energy - s.full.work;
    s.worst_balance = max(s.worst_balance, abs(s.balance));
    return e;
  }

  template <class S>
  static GARRA_HD Vec<S, 13> to_numbers(const FullState<S>& s) {
    const Place<S>&at = s.q.at.platform, &rate = s.q.rate.platform;
    const auto p = normalized(at.p);
    const Vec3<S> w = turning(at.p, rate.p);
    return {{at.r[0], at.r[1], at.r[2], p[0], p[1], p[2], p[3], rate.r[0], rate.r[1], rate.r[2], w[0], w[1], w[2]}};
  }

  template <class S, class T>
  GARRA_HD_CALL void record(std::int64_t i, const Model<T>& model, const MaskOf<S>& where, std::int64_t output,
                            State<S>& s) const {
    const S worst = s.worst_balance;
    const Energy<S> e = balance_now(model, s);
    s.worst_balance = select(where, s.worst_balance, worst);
    // Lengths that the links have, not those of the pose: between corrections they differ by the drift.
    Vec<S, 6> lengths;
    for (int k = 0; k < kLegs; ++k) lengths[k] = driven_length(model.leg[k], s.full.q.at, k);
    a.put<S>(i, where, output,
             {to_numbers(s.full), lengths, e.kinetic, e.potential, s.full.work, s.balance, s.full.drift});
  }

  template <class S, class T>
  GARRA_HD_CALL void finish(std::int64_t i, const Model<T>& model, State<S>& s) const {
    balance_now(model, s);
    a.put<S>(i, {to_numbers(s.full), s.time, s.balance, s.worst_balance, s.full.worst_drift, s.full.steps,
                 s.full.corrections, s.full.status});
  }
};

}  // namespace garra::platform
