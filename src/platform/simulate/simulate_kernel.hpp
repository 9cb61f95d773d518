// One sample of a batch of motions, from its start to its end, as a body that every executor runs; and its rows. Host
// and device.
#pragma once

#include <cstdint>
#include <type_traits>

#include "garra/batch/tiles.hpp"
#include "garra/batch/uninterrupted.hpp"
#include "garra/platform_simulate.hpp"
#include "garra/systems/platform/simulate.hpp"

namespace garra::platform {

/// Equal steps between two moments at which a sample must be: outputs, samples of the forces, the end. All samples of a
/// batch take the same ones.
struct MotionSpan {
  double from, to, h;   ///< [s]
  std::int64_t steps;   ///< of h
  std::int64_t output;  ///< row to write at `to`, or -1
  std::int64_t force;   ///< row of the forces before, and the one after: the same where they are held
  std::int64_t force_next;
  double share, share_of_step;  ///< of the way from one to the other: at `from`, and per step
};

/// Start of a sample.
template <class S>
struct MotionStart {
  Place<S> place;     ///< in base axes
  Twist6<S> twist;    ///< [m/s, rad/s], base axes
  Wrench6<S> wrench;  ///< constant, on the platform at C, base axes [N, N m]
  S good;             ///< 1: all numbers are finite
};
/// 1 if all numbers are finite and the quaternion can be normalized; `forces`: also the forces of
/// the sample.
GARRA_HD MotionStart<double> motion_start(const Place<double>& place, const Vec<double, 6>& velocity,
                                          const Vec<double, 6>& wrench, bool forces) {
  bool good = forces && dot(place.p, place.p) > 0;
  for (int k = 0; k < 3; ++k) good = good && is_finite(place.r[k]);
  for (int k = 0; k < 4; ++k) good = good && is_finite(place.p[k]);
  for (int k = 0; k < 6; ++k) good = good && is_finite(velocity[k]) && is_finite(wrench[k]);
  return {place,
          {{{velocity[0], velocity[1], velocity[2]}}, {{velocity[3], velocity[4], velocity[5]}}},
          {{{wrench[0], wrench[1], wrench[2]}}, {{wrench[3], wrench[4], wrench[5]}}},
          good ? 1.0 : 0.0};
}

/// A platform and its limits.
template <class T>
struct MotionPlant {
  Model<T> model;
  Limits<T> limits;
};

/// An output row, and the row of a sample's end.
template <class S>
struct MotionOutput {
  Vec<S, 13> motion;  ///< position, quaternion, velocity (v, w)
  Vec<S, 6> lengths;
  S kinetic, potential, work, balance, drift;
};
template <class S>
struct MotionEnd {
  Vec<S, 13> motion;
  S time, balance, worst_balance, worst_drift, steps, corrections, status;
};
/// Offsets of their numbers.
enum MotionField {
  kMotionPosition = 0,
  kMotionQuaternion = 3,
  kMotionVelocity = 7,
  kMotionLengths = 13,
  kMotionKinetic = 19,
  kMotionPotential,
  kMotionWork,
  kMotionBalance,
  kMotionDrift,
  kMotionFields
};
enum MotionEndField {
  kEndPosition = 0,
  kEndQuaternion = 3,
  kEndVelocity = 7,
  kEndTime = 13,
  kEndBalance,
  kEndWorstBalance,
  kEndWorstDrift,
  kEndSteps,
  kEndCorrections,
  kEndStatus,
  kEndFields
};
static_assert(sizeof(MotionOutput<double>) == kMotionFields * sizeof(double));
static_assert(sizeof(MotionEnd<double>) == kEndFields * sizeof(double));

/// Data shared by all samples.
struct MotionSetup {
  MotionPlant<double> plant;  ///< where they share one
  Stages method;              ///< coefficients of the Runge-Kutta method
  Friction friction;
  SingularityRule singularity;  ///< limit 0: not watched
  bool watch_joints;            ///< ends at strokes, cones and collisions
  bool output_at_start;         ///< output 0 is the start
  bool full;                    ///< Integrator::kHybrid, with what follows
  double baumgarte, correct_above;
};

/// Value of one lane, for numbers and masks; a scalar has one.
GARRA_HD double motion_lane(double value, int) { return value; }
GARRA_HD bool motion_lane(bool value, int) { return value; }
template <class S>
GARRA_HD auto motion_lane(const S& value, int lane) {
  return value[lane];
}

/// Arrays of some samples. Rows are written one by one.
struct MotionArrays {
  std::int64_t count, spans, outputs, force_rows;
  bool own_force;        ///< force [count, force_rows, 6], else [force_rows, 6]
  const double* plants;  ///< tiles, where every sample has its own platform
  const double* starts;  ///< tiles
  const double* force;   ///< [N]
  const MotionSpan* span;
  double* trajectory;  ///< [count, outputs, kMotionFields]; NaN where not written
  double* end;         ///< [count, kEndFields]

  /// Rows of the forces before and after a span.
  template <class S>
  [[nodiscard]] GARRA_HD ForceSpan<S> force_at(std::int64_t i, const MotionSpan& over) const {
    const Vec<S, 6> from = force_row<S>(i, over.force), to = force_row<S>(i, over.force_next);
    return {from, to - from};
  }
  template <class S>
  [[nodiscard]] GARRA_HD Vec<S, 6> force_row(std::int64_t i, std::int64_t row) const {
    Vec<S, 6> f;
    for (int k = 0; k < kLegs; ++k) {
      if constexpr (kWidth<S> == 1) {
        f[k] = force[((own_force ? i : 0) * force_rows + row) * kLegs + k];
      } else {
        for (int l = 0; l < kWidth<S>; ++l) {
          // Lanes beyond the batch read the last sample's forces: its neighbors' memory would be out of bounds.
          const std::int64_t own = i + l < count ? i + l : count - 1;
          f[k].set(l, force[((own_force ? own : 0) * force_rows + row) * kLegs + k]);
        }
      }
    }
    return f;
  }

  /// Output row `output` of the lanes of a mask.
  template <class S>
  GARRA_HD void put(std::int64_t i, const MaskOf<S>& where, std::int64_t output, const MotionOutput<S>& row) const {
    const S* numbers = reinterpret_cast<const S*>(&row);
    for (int l = 0; l < kWidth<S> && i + l < count; ++l) {
      if (!motion_lane(where, l)) continue;
      double* to = trajectory + ((i + l) * outputs + output) * kMotionFields;
      for (int k = 0; k < kMotionFields; ++k) to[k] = motion_lane(numbers[k], l);
    }
  }
  /// Stores only the status of a sample that did not start; its other outputs stay NaN.
  template <class S>
  GARRA_HD void put(std::int64_t i, const MotionEnd<S>& row) const {
    const S* numbers = reinterpret_cast<const S*>(&row);
    for (int l = 0; l < kWidth<S> && i + l < count; ++l) {
      double* to = end + (i + l) * kEndFields;
      const bool began = motion_lane(row.status, l) != static_cast<double>(MotionStatus::kInvalidInput);
      for (int k = 0; k < kEndFields; ++k)
        if (began || k == kEndTime || k >= kEndSteps) to[k] = motion_lane(numbers[k], l);
    }
  }
};

/// Runs a sample, or a group of them in lanes.
struct MotionRun {
  MotionSetup setup;
  MotionArrays a;

  template <class S>
  struct State {
    MovingVector<S> x;
    S time, steps, status, running, first_energy, drift, worst_drift, balance, worst_balance, determinant;
  };

  /// `model` is that of `plant`, with shared numbers where there are: steps are taken with it, so that they need no
  /// registers for them; all else has one text for both. Calls between() after each step.
  template <class S, class T, class Between>
  GARRA_HD void run(std::int64_t i, const Model<T>& model, const MotionPlant<S>& plant, const Between& between) const {
    const MotionStart<S> from = batch::load<S, MotionStart<S>>(a.starts, i);
    Loads<S> loads{Vec<S, 6>::zero(), from.wrench, setup.friction};
    State<S> s;
    start(i, plant, from, s);
    for (std::int64_t n = 0; n < a.spans; ++n) {
      // A block of lanes continues while one of its samples moves. All samples take the same spans:
      // lanes are not refilled.
      if (!any(s.running > S(0))) break;
      const MotionSpan& span = a.span[n];
      const ForceSpan<S> force = a.force_at<S>(i, span);
      for (std::int64_t k = 0; k < span.steps; ++k) {
        if (!any(s.running > S(0))) break;
        // From k, not summed up: rounding does not grow with the number of steps.
        const StepOf step{span.h, fma(static_cast<double>(k), span.share_of_step, span.share), span.share_of_step};
        const MovingVector<S> next = runge_kutta_step(setup.method, model, loads, force, step, s.x);
        // The last step ends exactly at the output time: outputs are recognized by equality of
        // times.
        const bool last = k + 1 == span.steps;
        accept(plant, next, last ? span.to : fma(static_cast<double>(k + 1), span.h, span.from), s);
        between();
      }
      // A sample that ended before this time has a NaN row; one that ended at it has values.
      if (span.output >= 0) record(i, plant.model, s.time == S(span.to), span.output, s);
    }
    finish(i, plant.model, s);
  }

  template <class S>
  GARRA_HD void start(std::int64_t i, const MotionPlant<S>& plant, const MotionStart<S>& from, State<S>& s) const {
    const S zero = S(0);
    const auto good = from.good > zero;
    // Quaternions of any nonzero length are valid; zero ones give NaN, and `good` is 0.
    s.x = to_vector<S>({{from.place.r, normalized(from.place.p)}, from.twist, zero});
    s.time = s.steps = s.drift = s.worst_drift = s.balance = s.worst_balance = s.determinant = s.first_energy = zero;
    s.status = select(good, zero, S(static_cast<double>(MotionStatus::kInvalidInput)));
    s.running = select(good, S(1), zero);
    Energies<S> e;
    energies_into(plant.model, to_moving(s.x), e);
    // Also what is finite by itself and overflows together, such as speeds of 1e200 m/s.
    s.first_energy = e.kinetic + e.potential;
    end_where(!is_finite(s.first_energy), MotionStatus::kInvalidInput, s);
    // Before the first step: a start beyond a limit ends at once and is still output 0.
    mind_limits(plant, s);
    const auto valid = s.status != S(static_cast<double>(MotionStatus::kInvalidInput));
    // A start that ended at once for a limit has a row; one with invalid input has none.
    if (setup.output_at_start) record(i, plant.model, valid, 0, s);
  }

  /// Ends the running lanes of a mask with a status.
  template <class S>
  GARRA_HD void end_where(const MaskOf<S>& mask, MotionStatus status, State<S>& s) const {
    const auto where = mask && s.running > S(0);
    // If several statuses hold at one step end, the first one counts: only running lanes change.
    s.status = select(where, S(static_cast<double>(status)), s.status);
    s.running = select(where, S(0), s.running);
  }

  /// Accepts a step that ends at `time` in the running lanes.
  template <class S>
  GARRA_HD void accept(const MotionPlant<S>& plant, MovingVector<S> next, double time, State<S>& s) const {
    // Normalized first: drift is what the method did to |p|, and the state that goes on has none of it.
    const S drift = normalize_motion(next);
    // The previous state is kept if the step is not finite: the end state is then finite.
    end_where(!is_finite_motion(next), MotionStatus::kNonFinite, s);
    const auto ok = s.running > S(0);
    s.x = select(ok, next, s.x);
    s.time = select(ok, S(time), s.time);
    s.steps = select(ok, s.steps + S(1), s.steps);
    s.drift = select(ok, drift, s.drift);
    s.worst_drift = select(ok, max(s.worst_drift, drift), s.worst_drift);
    mind_limits(plant, s);
  }

  template <class S>
  GARRA_HD_CALL void mind_limits(const MotionPlant<S>& plant, State<S>& s) const {
    const S zero = S(0);
    const Place<S> place = to_moving(s.x).place;
    if (setup.watch_joints) {
      JointMargins<S> margins;
      margins_into(plant.model, plant.limits, place, margins);
      // In the order of docs/theory/platform-dynamics.md: a stroke passed counts before a cone, a cone before a
      // collision.
      end_where(margins.stroke < zero, MotionStatus::kStrokeLimit, s);
      end_where(margins.cone < zero, MotionStatus::kConeLimit, s);
      end_where(margins.clearance < zero, MotionStatus::kCollision, s);
    }
    if (setup.singularity.limit > 0) {
      Regularity<S> now;
      regularity_into(plant.model, setup.singularity, place, now);
      // At the start the determinant is 0, and a product with it is not negative: no sign has changed yet.
      const auto passed = now.determinant * s.determinant < zero;
      end_where(now.sigma_min < S(setup.singularity.limit) || passed, MotionStatus::kSingular, s);
      s.determinant = now.determinant;
    }
  }

  /// Energies at the state, and its balance.
  template <class S>
  GARRA_HD Energies<S> balance_now(const Model<S>& m, State<S>& s) const {
    Energies<S> e;
    energies_into(m, to_moving(s.x), e);
    // T + V minus the work of actuators, friction and wrench: the integration error.
    s.balance = (e.kinetic + e.potential - s.first_energy) - s.x[kMotionNumbers - 1];
    s.worst_balance = max(s.worst_balance, abs(s.balance));
    return e;
  }

  /// Output row `output` of the lanes of a mask.
  template <class S>
  GARRA_HD_CALL void record(std::int64_t i, const Model<S>& m, const MaskOf<S>& where, std::int64_t output,
                            State<S>& s) const {
    const Energies<S> e = balance_now(m, s);
    a.put<S>(i, where, output,
             {to_numbers(s.x), e.lengths, e.kinetic, e.potential, s.x[kMotionNumbers - 1], s.balance, s.drift});
  }

  template <class S>
  GARRA_HD_CALL void finish(std::int64_t i, const Model<S>& m, State<S>& s) const {
    // The worst balance includes the end, whether or not an output is there.
    balance_now(m, s);
    a.put<S>(i, {to_numbers(s.x), s.time, s.balance, s.worst_balance, s.worst_drift, s.steps, S(0), s.status});
  }

  /// End values except the work.
  template <class S>
  static GARRA_HD Vec<S, 13> to_numbers(const MovingVector<S>& x) {
    Vec<S, 13> out;
    for (int k = 0; k < 13; ++k) out[k] = x[k];
    return out;
  }
};

/// `Run`: MotionRun or FullMotionRun. `kOwn`: every sample has its own platform.
template <class Run, bool kOwn>
struct MotionKernel {
  Run all;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    run<S>(i, Uninterrupted{});
  }
  /// Calls between() after each step.
  template <class S, class Between>
  GARRA_HD void run(std::int64_t i, const Between& between) const {
    if constexpr (kOwn) {
      const MotionPlant<S> own = batch::load<S, MotionPlant<S>>(all.a.plants, i);
      all.template run<S, S>(i, own.model, own, between);
      // A scalar needs no cast: the shared plant is used where it lies.
    } else if constexpr (std::is_same_v<S, double>) {
      all.template run<S, S>(i, all.setup.plant.model, all.setup.plant, between);
    } else {
      const MotionPlant<double>& plant = all.setup.plant;
      // Steps with double constants, limits and outputs with lanes: see run().
      all.template run<S, double>(i, plant.model, {cast_model<S>(plant.model), cast_limits<S>(plant.limits)}, between);
    }
  }
};

}  // namespace garra::platform
