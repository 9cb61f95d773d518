// Runge-Kutta steps of order 5 with an error estimate of order 4; every lane chooses its own step
// length (docs/theory/chain-simulation.md, "Adaptive steps").
#pragma once

#include "garra/systems/chain/simulate.hpp"

namespace garra::chain {

/// Coefficients of J. Dormand, P. Prince, J. Comput. Appl. Math. 6(1), 1980: the last stage is the
/// first of the next step. Data of a batch, since a GPU cannot index a constant table at run time.
struct Tableau {
  double a[7][6], c[7], e[7];
};
constexpr Tableau dormand_prince() {
  return {{{0, 0, 0, 0, 0, 0},
           {1.0 / 5, 0, 0, 0, 0, 0},
           {3.0 / 40, 9.0 / 40, 0, 0, 0, 0},
           {44.0 / 45, -56.0 / 15, 32.0 / 9, 0, 0, 0},
           {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729, 0, 0},
           {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656, 0},
           {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}},
          {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1},
          {71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40}};
}

/// The first stage, kept from the last one of the previous step.
template <class S, int J>
struct FirstStage {
  Vec<S, J> qdd, tau;
  S dissipated, work;
};

template <class S, int J>
struct EmbeddedStep {
  Step<S, J> step;
  Motion<S, J> error;
  FirstStage<S, J> last;
};

template <class S, class M, int J, Joints K>
GARRA_HD EmbeddedStep<S, J> step_embedded(const Plant<S, M, J, K>& plant, const Tableau& tab, const Clock<S>& clock,
                                          const S& h, const Motion<S, J>& start, const FirstStage<S, J>& first) {
  Vec<S, J> kq[7], kv[7];
  S dissipated = S(0), work = S(0);
  EmbeddedStep<S, J> out;
  out.step.tau = first.tau;
  out.last = first;
  kq[0] = start.qd;
  kv[0] = first.qdd;
  Motion<S, J> at = start;
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
  for (int s = 1; s < 7; ++s) {
    const S weight = S(tab.a[6][s - 1]) * h;  // of stage s - 1, whose powers are available
    dissipated = fma(weight, out.last.dissipated, dissipated);
    work = fma(weight, out.last.work, work);
    at = start;
    for (int j = 0; j < s; ++j) {
      const S share = S(tab.a[s][j]) * h;
      at.q = axpy(share, kq[j], at.q);
      at.qd = axpy(share, kv[j], at.qd);
    }
    const Rates<S, J> r = rates(plant, Clock<S>{fma(S(tab.c[s]), h, clock.t), clock.from}, at);
    kq[s] = at.qd;
    kv[s] = r.qdd;
    out.last = {r.qdd, r.tau, r.dissipated, r.work};
  }
  out.step.motion = at;
  out.step.flows = {dissipated, work};
  out.error = {Vec<S, J>::zero(), Vec<S, J>::zero()};
  for (int s = 0; s < 7; ++s) {
    const S share = S(tab.e[s]) * h;
    out.error.q = axpy(share, kq[s], out.error.q);
    out.error.qd = axpy(share, kv[s], out.error.qd);
  }
  return out;
}

struct Tolerance {
  double relative, absolute;
};

/// Root mean square of error / (absolute + relative max(|a|, |b|)); `joints` excludes padding,
/// whose error is 0.
template <class S, int J>
GARRA_HD S error_norm(const Tolerance& tolerance, int joints, const Motion<S, J>& error, const Motion<S, J>& a,
                      const Motion<S, J>& b) {
  S sum = S(0);
  for_each_index<J>([&](int i) {
    const S q = error.q[i] / fma(S(tolerance.relative), max(abs(a.q[i]), abs(b.q[i])), S(tolerance.absolute));
    const S qd = error.qd[i] / fma(S(tolerance.relative), max(abs(a.qd[i]), abs(b.qd[i])), S(tolerance.absolute));
    sum = fma(q, q, fma(qd, qd, sum));
  });
  return sqrt(sum / S(2 * joints));
}

/// x^p of a positive x
template <class S>
GARRA_HD S power(const S& x, double p) {
  return exp(S(p) * log(x));
}

/// PI step-size control (K. Gustafsson; E. Hairer, G. Wanner, "Solving Ordinary Differential
/// Equations II", 1996, IV.2, with the constants of their DOPRI5). `before` is the error of the
/// last accepted step, `shy` 1 after a rejected one.
template <class S>
struct StepControl {
  S before, shy;
};

template <class S>
GARRA_HD S next_step(const S& h, const S& error, const MaskOf<S>& accepted, StepControl<S>& control) {
  constexpr double kSafety = 0.9, kBeta = 0.04, kExponent = 0.2 - 0.75 * kBeta;
  const auto usable = error <= S(1e30);  // false for NaN
  const S e = max(select(usable, error, S(1e30)), S(1e-10));
  const S proportional = power(e, kExponent) / S(kSafety);
  const S divisor = max(S(0.1), min(S(5), proportional / power(control.before, kBeta)));
  const S grown = h / divisor, shrunk = h / min(S(5), proportional);
  const S calm = select(control.shy > S(0), min(h, grown), grown);
  control.before = select(accepted, max(e, S(1e-4)), control.before);
  control.shy = select(accepted, S(0), S(1));
  return select(accepted, calm, shrunk);
}

/// First step: a hundredth of the time in which the state would change by its own size.
template <class S, int J>
GARRA_HD S first_step(const Tolerance& tolerance, const Motion<S, J>& at, const Vec<S, J>& qdd) {
  S size = S(0), speed = S(0);
  for_each_index<J>([&](int i) {
    const S sq = S(1) / fma(S(tolerance.relative), abs(at.q[i]), S(tolerance.absolute));
    const S sv = S(1) / fma(S(tolerance.relative), abs(at.qd[i]), S(tolerance.absolute));
    size = fma(at.q[i] * sq, at.q[i] * sq, fma(at.qd[i] * sv, at.qd[i] * sv, size));
    speed = fma(at.qd[i] * sq, at.qd[i] * sq, fma(qdd[i] * sv, qdd[i] * sv, speed));
  });
  const auto tiny = size < S(1e-10) || speed < S(1e-10);
  return select(tiny, S(1e-6), S(0.01) * sqrt(size / select(tiny, S(1), speed)));
}

}  // namespace garra::chain
