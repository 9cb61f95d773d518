// Torques that drive a simulated chain: functions of time, and feedback (docs/theory/chain-simulation.md, "Torques").
#pragma once

#include "garra/systems/chain/followers.hpp"
#include "garra/systems/chain/formula.hpp"
#include "garra/systems/chain/kernels.hpp"

namespace garra::chain {

enum class TorqueKind : int {
  kConstant,    ///< A
  kStep,        ///< A from `start` on
  kRamp,        ///< from 0 at `start` to A at `end`
  kSine,        ///< A sin(2 pi f t + phase)
  kSampled,     ///< A times a polygon through given points, held after the last one
  kPd,          ///< A (kp (set - q) - kd qd), plus gravity if compensated
  kComputed,    ///< A (H a + C qd + D qd + g) of the nominal chain, with a = kp (set - q) - kd qd
  kExpression,  ///< A times a formula of t, q and qd per joint
};

/// Time of a stage, and begin of its interval between two stops. A torque that jumps at a stop has
/// its old value before and its new one after it, whatever rounding does to t.
template <class S>
struct Clock {
  S t, from;
};

/// Torques of the joints, and their derivatives by the velocities, for the implicit methods:
///
///   d tau_i = -feel_i d qd_i - sum_k H_ik turn_k d qd_k
///
/// Both are 0 if the actuator is at its limit. H is the sample's, which approximates the
/// controller's.
template <class S, int J>
struct Drive {
  Vec<S, J> tau, feel, turn;
};

/// p[i] for every lane.
template <class S>
GARRA_HD S gather(const double* p, const S& i) {
  if constexpr (kWidth<S> == 1) {
    return p[static_cast<std::int64_t>(i)];
  } else {
    S v(0.0);
    for (int l = 0; l < kWidth<S>; ++l) v.set(l, p[static_cast<std::int64_t>(i[l])]);
    return v;
  }
}

/// Whole part of 0 <= x < 2^51.
template <class C>
GARRA_HD C round_down(const C& x) {
  const C r = (x + C(0x1p52)) - C(0x1p52);
  return r - select(r > x, C(1), C(0));
}

/// Rows of numbers at 0, interval, ...
struct PolygonShape {
  int rows, columns;
  double interval;  ///< [s]
};
/// Column `column` of the rows at time t: linear between two rows, held after the last.
template <class C>
GARRA_HD C polygon_at(const double* points, const PolygonShape& shape, int column, const C& t) {
  const C last = C(shape.rows - 1), at = max(C(0), min(last, t / C(shape.interval)));
  const C before = min(round_down(at), max(last - C(1), C(0))), share = at - before;
  const C a = gather(points, fma(before, C(shape.columns), C(column)));
  const C b = gather(points, fma(min(before + C(1), last), C(shape.columns), C(column)));
  return fma(share, b - a, a);
}

/// The torque law, shared by all samples, each of which has its own A. Padding joints and followers have gains 0;
/// torques act on leaders.
template <int J>
struct TorqueLaw {
  TorqueKind kind;
  bool compensate_gravity, limited, motor;
  double start, end;                ///< [s]
  Vec<double, J> frequency, phase;  ///< [Hz], [rad]
  Vec<double, J> set_point, kp, kd;
  Vec<double, J> limit;  ///< of |tau|, read if `limited`
  Vec<double, J> stall,
      slope;             ///< of the torque-speed line, read if `motor`: |tau + slope qd| <= stall [N m; N m s/rad]
  const double* code;    ///< of formulas (formula.hpp)
  const double* points;  ///< [points_count, joints]
  int points_count, joints;
  double interval;  ///< between two points, the first of which is at t = 0 [s]
  Followers followers;

  [[nodiscard]] GARRA_HD bool feedback() const { return kind == TorqueKind::kPd || kind == TorqueKind::kComputed; }

  /// The torque divided by A; the same for all joints except for sines and polygons.
  template <class C>
  GARRA_HD Vec<C, J> waveform(const Clock<C>& clock) const {
    Vec<C, J> w;
    for_each_index<J>([&](int i) { w[i] = C(1); });
    if (kind == TorqueKind::kStep) {
      const C on = select(clock.from >= C(start), C(1), C(0));
      for_each_index<J>([&](int i) { w[i] = on; });
    } else if (kind == TorqueKind::kRamp) {
      const C share = max(C(0), min(C(1), (clock.t - C(start)) / C(end - start)));
      for_each_index<J>([&](int i) { w[i] = share; });
    } else if (kind == TorqueKind::kSine) {
      for (int i = 0; i < extent<J>(); ++i) w[i] = sin(fma(C(6.283185307179586 * frequency[i]), clock.t, C(phase[i])));
    } else if (kind == TorqueKind::kSampled) {
      for (int i = 0; i < extent<J>(); ++i)
        w[i] = polygon_at(points, {points_count, joints, interval}, i < joints ? i : 0, clock.t);
    }
    return w;
  }

  /// Keeps the torque on a motor's torque-speed line, where it falls with the speed: feel = slope.
  template <class S>
  GARRA_HD void keep_on_line(const Vec<S, J>& qd, Drive<S, J>& d) const {
    for_each_index<J>([&](int i) {
      const S top = S(stall[i]), moved = fma(S(slope[i]), qd[i], d.tau[i]);
      const auto over = abs(moved) > top;
      d.tau[i] = select(over, fma(-S(slope[i]), qd[i], max(-top, min(top, moved))), d.tau[i]);
      d.feel[i] = select(over, S(slope[i]), d.feel[i]);
      d.turn[i] = select(over, S(0), d.turn[i]);
    });
  }

  template <class S>
  GARRA_HD void clamp(Drive<S, J>& d) const {
    for_each_index<J>([&](int i) {
      const S top = S(limit[i]), wanted = d.tau[i];
      d.tau[i] = max(-top, min(top, wanted));
      d.feel[i] = select(abs(wanted) > top, S(0), d.feel[i]);
      d.turn[i] = select(abs(wanted) > top, S(0), d.turn[i]);
    });
  }
};

/// kp (set - q) - kd qd
template <class S, int J>
GARRA_HD Vec<S, J> feedback(const TorqueLaw<J>& law, const Vec<S, J>& q, const Vec<S, J>& qd) {
  Vec<S, J> a;
  for_each_index<J>([&](int i) { a[i] = fma(S(law.kp[i]), S(law.set_point[i]) - q[i], -(S(law.kd[i]) * qd[i])); });
  return a;
}

/// The torque of a feedback law. `nominal` is the controller's model of the chain, without a
/// sample's own parameters.
template <class S, int J>
GARRA_HD_CALL void controlled_torque(const TorqueLaw<J>& law, const Model<double, J>& nominal, const Vec<S, J>& q,
                                     const Vec<S, J>& qd, Vec<S, J>& tau) {
  Vec<S, J> a = feedback(law, q, qd);
  tau = a;
  if (law.kind == TorqueKind::kComputed) {
    follow_rates(law.followers, a);
    tau = inverse_dynamics(nominal, angles(nominal, q), qd, a) + damping_torque(nominal, qd);
  } else if (law.compensate_gravity) {
    tau += gravity_torque(nominal, angles(nominal, q));
  }
  lead_torques(law.followers, tau);
}

/// The torque at a time and state. Computed torque compensates the chain's damping; stiff damping
/// makes it stiff, so it is in `feel`.
template <class S, class C, int J>
GARRA_HD Drive<S, J> drive(const TorqueLaw<J>& law, const Model<double, J>& nominal, const Clock<C>& clock,
                           const Vec<S, J>& q, const Vec<S, J>& qd, const Vec<S, J>& amplitude) {
  Drive<S, J> out;
  for_each_index<J>([&](int i) { out.feel[i] = out.turn[i] = S(0); });
  if (law.feedback()) {
    Vec<S, J> tau;
    controlled_torque(law, nominal, q, qd, tau);
    const bool pd = law.kind == TorqueKind::kPd;
    for_each_index<J>([&](int i) {
      out.tau[i] = amplitude[i] * tau[i];
      const S gain = amplitude[i] * S(law.kd[i]);
      out.feel[i] = pd ? gain : -(amplitude[i] * S(nominal.joint[i].damping));
      if (!pd) out.turn[i] = gain;
    });
  } else if (law.kind == TorqueKind::kExpression) {
    Vec<S, J> w;
    evaluate_formulas(law.code, S(clock.t), q, qd, w);
    for_each_index<J>([&](int i) { out.tau[i] = amplitude[i] * w[i]; });
  } else {
    const Vec<C, J> w = law.waveform(clock);
    for_each_index<J>([&](int i) { out.tau[i] = amplitude[i] * S(w[i]); });
  }
  if (law.motor) law.keep_on_line(qd, out);
  if (law.limited) law.clamp(out);
  return out;
}

}  // namespace garra::chain
