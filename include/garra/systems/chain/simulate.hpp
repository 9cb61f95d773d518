// One step of the equation of motion H qdd + C qd + g + D qd = tau, by three methods
// (docs/theory/chain-simulation.md). Adaptive steps: simulate_adaptive.hpp.
//
// Large parts (composite bodies, Newton-Euler, torque law) are functions, compiled once for all
// methods: passing a few registers through memory costs a hundredth of their time.
#pragma once

#include "garra/systems/chain/simulate_load.hpp"

namespace garra::chain {

enum class SimulationStatus : int {
  kCompleted = 0,     ///< reached the end
  kNonFinite = 1,     ///< the step diverged; the state is the last finite one
  kStepLimit = 2,     ///< adaptive: max_steps used up, or the step fell below rounding
  kJointLimit = 3,    ///< a joint passed its limit and the sample ends there
  kInvalidInput = 4,  ///< a number of the sample is not finite
};
inline constexpr int kSimulationStatusCount = 5;

/// The chain of a sample, its damping and its torque law. M is Model<double, J> or Model<S, J>.
template <class S, class M, int J, Joints K>
struct Plant {
  const M& model;
  const Model<double, J>& nominal;
  const TorqueLaw<J>& law;
  const ToolForceLaw& tool;
  const FrictionLaw<J>& friction;
  Vec<S, J> damping, amplitude;
};

/// Energies that flow during a step, summed with the method's weights: of its order, and so is the
/// energy balance.
template <class S>
struct Flows {
  S dissipated, work;
};

namespace kernel {

// The large parts, not inlined.
template <Joints K, class S, class M, int J>
GARRA_HD_CALL void call_mass_matrix(const M& m, const Angles<S, J>& x, Mat<S, J, J>& H) {
  H = inertia_matrix<K>(m, x);
}
template <Joints K, class S, class M, int J>
GARRA_HD_CALL void call_bias_torque(const M& m, const Angles<S, J>& x, const Vec<S, J>& qd, Vec<S, J>& bias) {
  bias = bias_torque<K>(m, x, qd);
}
template <class S, int J>
GARRA_HD_CALL void call_solve(const Mat<S, J, J>& A, const Vec<S, J>& b, Vec<S, J>& x) {
  x = solve_definite(A, b);
}

/// On a GPU small chains that all samples share are inlined: their numbers are then operands in
/// constant memory, the sample's are in registers, and no call takes the address of either.
template <class M, int J>
inline constexpr bool kWrittenOut =
#if defined(__CUDA_ARCH__)
    J <= 8 && std::is_same_v<M, Model<double, J>>;
#else
    false;
#endif

}  // namespace kernel

template <Joints K, class S, class M, int J>
GARRA_HD Mat<S, J, J> mass_matrix(const M& m, const Angles<S, J>& x) {
  Mat<S, J, J> H;
  if constexpr (kernel::kWrittenOut<M, J>)
    H = inertia_matrix<K>(m, x);
  else
    kernel::call_mass_matrix<K>(m, x, H);
  return H;
}
/// tau - C qd - g
template <Joints K, class S, class M, int J>
GARRA_HD Vec<S, J> free_force(const M& m, const Angles<S, J>& x, const Vec<S, J>& qd, const Vec<S, J>& tau) {
  Vec<S, J> bias;
  if constexpr (kernel::kWrittenOut<M, J>)
    bias = bias_torque<K>(m, x, qd);
  else
    kernel::call_bias_torque<K>(m, x, qd, bias);
  return tau - bias;
}

template <class M, class S, int J>
GARRA_HD Vec<S, J> solve_for(const Mat<S, J, J>& A, const Vec<S, J>& b) {
  Vec<S, J> x;
  if constexpr (kernel::kWrittenOut<M, J>)
    x = kernel::solve_definite(A, b);
  else
    kernel::call_solve(A, b, x);
  return x;
}

/// tau and the joint torques of the force on the tool, which do work on the chain together.
template <class S, class C, class M, int J, Joints K>
GARRA_HD Vec<S, J> with_tool_load(const Plant<S, M, J, K>& plant, const Clock<C>& clock, const Motion<S, J>& at,
                                  const Vec<S, J>& tau) {
  if (plant.tool.kind == ToolForceKind::kNone) return tau;
  Vec<S, J> load;
  call_tool_load<K>(plant.model, plant.tool, clock.t, at, load);
  return tau + load;
}

/// Acceleration, and powers of dissipation and drive.
template <class S, int J>
struct Rates {
  Vec<S, J> qdd, tau;
  S dissipated, work;
};

template <class S, class C, class M, int J, Joints K>
GARRA_HD Rates<S, J> rates(const Plant<S, M, J, K>& plant, const Clock<C>& clock, const Motion<S, J>& at) {
  const Drive<S, J> d = drive(plant.law, plant.nominal, clock, at.q, at.qd, plant.amplitude);
  const Angles<S, J> x = angles<K>(plant.model, at.q);
  const Vec<S, J> tau = with_tool_load(plant, clock, at, d.tau), b = braking(plant.friction, plant.damping, at.qd);
  Vec<S, J> braked;
  for_each_index<J>([&](int i) { braked[i] = b[i] * at.qd[i]; });
  Mat<S, J, J> H = mass_matrix<K>(plant.model, x);
  Vec<S, J> force = free_force<K>(plant.model, x, at.qd, tau) - braked;
  lead_inertia(plant.law.followers, H);
  lead_torques(plant.law.followers, force);
  Vec<S, J> qdd = solve_for<M>(H, force);
  follow_rates(plant.law.followers, qdd);
  return {qdd, d.tau, dot(braked, at.qd), dot(tau, at.qd)};
}

/// Result of a step: the state after it, the energies that flowed, and the torque at its beginning.
template <class S, int J>
struct Step {
  Motion<S, J> motion;
  Vec<S, J> tau;
  Flows<S> flows;
};

/// Classical Runge-Kutta of order 4.
template <class S, class M, int J, Joints K>
GARRA_HD Step<S, J> step_rk4(const Plant<S, M, J, K>& plant, const Clock<double>& clock, double h,
                             const Motion<S, J>& start) {
  Step<S, J> out = {start, Vec<S, J>::zero(), {S(0), S(0)}};
  Motion<S, J> at = start;
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
  for (int stage = 0; stage < 4; ++stage) {
    const double node = stage == 0 ? 0 : stage == 3 ? 1 : 0.5, next = stage == 2 ? h : 0.5 * h;
    const S weight = S((stage == 0 || stage == 3 ? 1.0 / 6 : 1.0 / 3) * h);
    const Rates<S, J> r = rates(plant, Clock<double>{clock.t + node * h, clock.from}, at);
    out.motion.q = axpy(weight, at.qd, out.motion.q);
    out.motion.qd = axpy(weight, r.qdd, out.motion.qd);
    out.flows.dissipated = fma(weight, r.dissipated, out.flows.dissipated);
    out.flows.work = fma(weight, r.work, out.flows.work);
    if (stage == 0) out.tau = r.tau;
    at.q = axpy(S(next), at.qd, start.q);
    at.qd = axpy(S(next), r.qdd, start.qd);
  }
  return out;
}

/// One implicit stage: V with H (V - v) = step (tau - C w - g - D V), the feedback of w in tau
/// linearized about w:
///
///   (H (1 + step T) + step (D + F)) (V - w) = H (v - w) + step (tau - C w - g - D w)
///
/// w is the velocity in the quadratic terms, F and T are the diagonal matrices of Drive::feel and
/// turn. Solved for (1 + step T) (V - w), the matrix is symmetric. The passes handle feedback that
/// exceeds the damping.
template <class S, int J>
struct Stage {
  Vec<S, J> from, guess, V;  ///< v, w, V
  Vec<S, J> tau, total;      ///< of the motors; with the force on the tool
};

template <class S, int J>
GARRA_HD void follow_turn(const Followers& followers, Drive<S, J>& d) {
  for_each_follower<J>(followers, [&](int i, int l, double) { d.turn[i] = d.turn[l]; });
}

/// Fixed-point passes of a stage: dry friction takes its coefficient from the last pass.
template <int J>
GARRA_HD int passes_of(const FrictionLaw<J>& friction, int smooth) {
  return friction.dry ? 8 : smooth;
}

template <class S, class M, int J, Joints K>
GARRA_HD void solve_stage(const Plant<S, M, J, K>& plant, const Clock<double>& clock, double step, const Vec<S, J>& q,
                          int passes, Stage<S, J>& s) {
  const Angles<S, J> x = angles<K>(plant.model, q);
  const Mat<S, J, J> H = mass_matrix<K>(plant.model, x);
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
  for (int pass = 0; pass < passes; ++pass) {
    Drive<S, J> d = drive(plant.law, plant.nominal, clock, q, s.guess, plant.amplitude);
    // (1 + step T) (V - w) of followers is then their ratio times that of the leader.
    follow_turn(plant.law.followers, d);
    s.total = with_tool_load(plant, clock, {q, s.guess}, d.tau);
    const Vec<S, J> force = free_force<K>(plant.model, x, s.guess, s.total);
    const Vec<S, J> damping = braking(plant.friction, plant.damping, s.guess);
    Mat<S, J, J> A = H;
    const Vec<S, J> gap = s.from - s.guess;
    Vec<S, J> b, grow;
    for_each_index<J>([&](int i) {
      grow[i] = fma(S(step), d.turn[i], S(1));
      A(i, i) = fma(S(step), max(S(0), damping[i] + d.feel[i]) / grow[i], H(i, i));
      S sum = S(step) * fma(-damping[i], s.guess[i], force[i]);
      for_each_index<J>([&](int k) { sum = fma(H(i, k), gap[k], sum); });
      b[i] = sum;
    });
    lead_inertia(plant.law.followers, A);
    lead_torques(plant.law.followers, b);
    Vec<S, J> change = solve_for<M>(A, b);
    follow_rates(plant.law.followers, change);
    for_each_index<J>([&](int i) { s.V[i] = s.guess[i] + change[i] / grow[i]; });
    s.guess = s.V;
    s.tau = d.tau;
  }
}

template <class S, class M, int J, Joints K>
GARRA_HD Flows<S> compute_flows(const Plant<S, M, J, K>& plant, const Stage<S, J>& s) {
  const Vec<S, J> damping = braking(plant.friction, plant.damping, s.V);
  Flows<S> f = {S(0), S(0)};
  for_each_index<J>([&](int i) {
    f.dissipated = fma(damping[i] * s.V[i], s.V[i], f.dissipated);
    f.work = fma(s.total[i], s.V[i], f.work);
  });
  return f;
}

/// Order 1: (H + h D) qd+ = H qd + h (tau - C qd - g), q+ = q + h qd+. Unconditionally stable in the damping.
template <class S, class M, int J, Joints K>
GARRA_HD Step<S, J> step_implicit1(const Plant<S, M, J, K>& plant, const Clock<double>& clock, double h,
                                   const Motion<S, J>& start) {
  Stage<S, J> s = {start.qd, start.qd, start.qd, start.qd, start.qd};
  solve_stage(plant, clock, h, start.q, passes_of(plant.friction, 1), s);
  const Flows<S> f = compute_flows(plant, s);
  return {{axpy(S(h), s.V, start.q), s.V}, s.tau, {S(h) * f.dissipated, S(h) * f.work}};
}

/// Order 2: the L-stable SDIRK method with g = 1 - 1/sqrt(2) and nodes g and 1 (R. Alexander, SIAM
/// J. Numer. Anal. 14(6), 1977). H and the forces are taken at positions predicted before each
/// stage: q + g h qd and q + h V1, whose errors of order h^2 do not change the result's order. The
/// new position is the method's own, q + h ((1 - g) V1 + g V2): no velocity from before a fast
/// decay enters it. Strong damping: D V = tau - g holds at both nodes. Quadratic terms: two passes.
template <class S, class M, int J, Joints K>
GARRA_HD Step<S, J> step_implicit2(const Plant<S, M, J, K>& plant, const Clock<double>& clock, double h,
                                   const Motion<S, J>& start) {
  constexpr double g = 0.2928932188134525;  // 1 - 1/sqrt(2)
  Step<S, J> out = {start, Vec<S, J>::zero(), {S(0), S(0)}};
  Vec<S, J> q = axpy(S(g * h), start.qd, start.q);
  Stage<S, J> s = {start.qd, start.qd, start.qd, start.qd, start.qd};
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
  for (int stage = 0; stage < 2; ++stage) {
    const double node = stage == 0 ? g : 1;
    const S weight = S((stage == 0 ? 1 - g : g) * h);
    solve_stage(plant, Clock<double>{clock.t + node * h, clock.from}, g * h, q, passes_of(plant.friction, 2), s);
    const Flows<S> f = compute_flows(plant, s);
    out.flows.dissipated = fma(weight, f.dissipated, out.flows.dissipated);
    out.flows.work = fma(weight, f.work, out.flows.work);
    out.motion.q = axpy(weight, s.V, out.motion.q);
    if (stage == 0) {
      out.tau = s.tau;
      q = axpy(S(h), s.V, start.q);
      s.from = axpy(S((1 - g) / g), s.V - start.qd, start.qd);
    }
  }
  out.motion.qd = s.V;
  return out;
}

/// Rates after impulses that stop the joints with 1 in `stopped`, the others free: H (after - qd) = impulse on those
/// only. Lanes without a stop keep their bits.
template <class S, int J>
GARRA_HD Vec<S, J> stopped_rates(Mat<S, J, J> H, const Vec<S, J>& qd, const Vec<S, J>& stopped) {
  const int n = extent<J>();
  Vec<S, J> b;
  for (int i = 0; i < n; ++i) {  // change of qd: -qd_i for stopped joints, else sum_k H_ik change_k = 0
    S sum = S(0);
    for (int k = 0; k < n; ++k) sum = fma(stopped[k] * H(i, k), qd[k], sum);
    b[i] = select(stopped[i] > S(0), -qd[i], sum);
  }
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) {
      const auto cut = stopped[i] > S(0) || stopped[k] > S(0);
      H(i, k) = select(cut, S(i == k ? 1.0 : 0.0), H(i, k));
    }
  const Vec<S, J> change = kernel::solve_definite(H, b);
  S touched = S(0);
  for (int i = 0; i < n; ++i) touched = touched + stopped[i];
  Vec<S, J> out;
  for_each_index<J>([&](int i) {
    const S free = select(touched > S(0), qd[i] + change[i], qd[i]);
    out[i] = select(stopped[i] > S(0), S(0), free);
  });
  return out;
}

/// Inelastic stops after a step. Joints beyond a limit are put back to it. Impulses keep them from moving on outward. A
/// stop pushes and never pulls, so the impulses solve a linear complementarity problem: by pivots on the first joint
/// that is pulled, or that moves on (Murty's rule).
template <Joints K, class S, class M, int J>
GARRA_HD_CALL void stop_joints(const M& m, const Followers& followers, const Vec<double, J>& lower,
                               const Vec<double, J>& upper, Motion<S, J>& at) {
  constexpr int kMostPivots = 32;
  constexpr double kRounding = 1e-12;
  Mat<S, J, J> H = mass_matrix<K>(m, angles<K>(m, at.q));
  lead_inertia(followers, H);
  Vec<S, J> stopped, inward;  // inward: the sign of rates that lead away from the limit, 0 within the limits
  for_each_index<J>([&](int i) {
    const auto below = at.q[i]<S(lower[i]), above = at.q[i]> S(upper[i]);
    inward[i] = select(below, S(1), select(above, S(-1), S(0)));
    stopped[i] = select(inward[i] * at.qd[i] < S(0), S(1), S(0));
    at.q[i] = select(below, S(lower[i]), select(above, S(upper[i]), at.q[i]));
  });
  const int n = extent<J>();
  Vec<S, J> after;
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
  for (int pivot = 0; pivot < kMostPivots; ++pivot) {
    after = stopped_rates(H, at.qd, stopped);
    S largest = S(0), wrong = S(-1);
    for (int i = 0; i < n; ++i) largest = max(largest, abs(after[i]));
    for (int i = n - 1; i >= 0; --i) {
      S impulse = S(0), size = S(0);
      for (int k = 0; k < n; ++k) {
        const S part = H(i, k) * (after[k] - at.qd[k]);
        impulse += part;
        size += abs(part);
      }
      const auto pulled = stopped[i] > S(0) && inward[i] * impulse < S(-kRounding) * size;
      const auto moves_on = stopped[i] == S(0) && inward[i] * after[i] < S(-kRounding) * largest;
      wrong = select(pulled || moves_on, S(i), wrong);
    }
    if (!any(wrong >= S(0))) break;
    for (int i = 0; i < n; ++i) stopped[i] = select(wrong == S(i), S(1) - stopped[i], stopped[i]);
  }
  at.qd = after;
  follow(followers, at.q);
  follow_rates(followers, at.qd);
}

template <class S, int J>
GARRA_HD MaskOf<S> beyond(const Vec<double, J>& lower, const Vec<double, J>& upper, const Vec<S, J>& q) {
  MaskOf<S> out = q[0] < S(lower[0]) || q[0] > S(upper[0]);
  for_each_index<J>([&](int i) { out = out || q[i] < S(lower[i]) || q[i] > S(upper[i]); });
  return out;
}

template <class S, int J>
GARRA_HD MaskOf<S> is_finite_motion(const Motion<S, J>& at) {
  S sum = S(0);
  for_each_index<J>([&](int i) { sum = sum + (at.q[i] - at.q[i]) + (at.qd[i] - at.qd[i]); });
  return sum == S(0);
}
template <class S, int J>
GARRA_HD MaskOf<S> is_finite_step(const Step<S, J>& step) {
  return is_finite_motion(step.motion) && is_finite(step.flows.dissipated + step.flows.work);
}

}  // namespace garra::chain
