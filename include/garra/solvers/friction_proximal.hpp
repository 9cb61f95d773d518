// Proximal point around Newton, for friction problems on which Newton alone fails
// (docs/theory/contact-solver.md).
//
// The center x of an outer step is the force of the step before. A step solves
//     a = (A + alpha I) c + (b - alpha x),   same cones,                                                        (1)
//
// by semismooth Newton from x. (1) is regular even if A is not, and its solution c solves the
// problem itself once c = x. Then x <- c and alpha shrinks; if Newton fails on (1), alpha grows
// instead. (R. T. Rockafellar, SIAM J. Control Optim. 14, 1976; V. Acary, M. Brémond, O. Huber, "On
// solving contact problems with Coulomb friction: formulations and numerical comparisons", 2018,
// whose Siconos calls it PROX.)
#pragma once

#include "garra/solvers/friction_newton.hpp"

namespace garra::solvers {

/// State of the solver on one problem, in scaled units. Members are S, or a matrix elsewhere.
template <class S, int N, int D = 3, class Matrix = Mat<S, D * N, D * N>>
struct ProximalState {
  FrictionProblem<S, N, D, Matrix> problem;  ///< largest diagonal entry of A and largest |b| are 1
  FrictionState<S, N, D, Matrix> newton;     ///< the iteration on (1)
  Vec<S, D * N> x;                           ///< center
  LoadScale<S, N> scale;                     ///< unit of changes of the load
  S alpha;
  S unit;           ///< force unit: size_b / size_a of friction_scale
  S outers;         ///< outer steps of this attempt
  S weyl;           ///< low-discrepancy number in [0, 1) that spreads the centers of later attempts
  S attempt;        ///< number of the attempt: from zero with its own first alpha
  S attempt_steps;  ///< Newton steps taken in this attempt
  S ran_away;       ///< attempts in which the force or alpha diverged
  S steps;          ///< Newton steps taken in all
  S running;        ///< 1 while unfinished
};

struct FrictionProximal {
  double tolerance = 1e-8;    ///< stop: relative change of the load <= tolerance / 2 (the certificate tests tolerance)
  int max_iterations = 6000;  ///< stop: Newton steps >= max_iterations
  int attempt_steps = 200;    ///< restart with another first alpha: Newton steps of this attempt >= this
  int inner_steps = 20;       ///< Newton has failed on (1): steps >= this
  int first_attempt = 0;      ///< attempts differ in the first alpha and in the first center
  int max_runaways = 3;       ///< stop: this many attempts, and all so far, diverged: most likely no solution

  template <class S, int N, int D, class Matrix>
  GARRA_HD ProximalState<S, N, D, Matrix> start(const FrictionProblem<S, N, D, Matrix>& given) const {
    ProximalState<S, N, D, Matrix> state;
    start(given, state);
    return state;
  }
  /// In place: nvcc copies return values.
  template <class S, int N, int D, class Matrix>
  GARRA_HD void start(const FrictionProblem<S, N, D, Matrix>& given, ProximalState<S, N, D, Matrix>& s) const;

  template <class S, int N, int D, class Matrix>
  GARRA_HD void step(ProximalState<S, N, D, Matrix>& state) const;

  template <class S, int N, int D, class Matrix>
  static GARRA_HD MaskOf<S> running(const ProximalState<S, N, D, Matrix>& state) {
    return state.running > S(0);
  }

  /// The candidate for the certificate: the center in the problem's own units.
  template <class S, int N, int D, class Matrix>
  [[nodiscard]] GARRA_HD Candidate<S, N, D> candidate(const ProximalState<S, N, D, Matrix>& state) const {
    Effort<S> effort = Effort<S>::none();
    effort.outer = state.steps;
    effort.stage = state.attempt;
    return make_candidate<S, N, D>(state.unit * state.x, stop_reason(state.steps, max_iterations), effort);
  }

  /// Solves one problem per lane.
  template <class S, int N, int D>
  [[nodiscard]] GARRA_HD FrictionSolution<S, N, D> solve(const FrictionProblem<S, N, D>& given) const {
    ProximalState<S, N, D> state = start(given);
    while (any(running(state))) step(state);
    return certify(given, candidate(state), tolerance);
  }
};

namespace friction_proximal {

inline constexpr double kGrow = 10;               ///< factor on alpha if Newton failed on (1)
inline constexpr double kMin = 1e-8, kMax = 1e3;  ///< bounds of alpha; the largest diagonal entry of A is 1
inline constexpr double kRunaway = 1e8;  ///< a larger scaled force belongs to a problem without solution: restart

/// First alpha of an attempt, and the factor on it after an outer step.
template <class S>
GARRA_HD S first_alpha(const S& attempt) {
  const S turn = attempt - S(4) * floor(S(0.25) * attempt);
  return select(turn == S(0), S(1e-2), select(turn == S(1), S(1), select(turn == S(2), S(1e-3), S(0.1))));
}
template <class S>
GARRA_HD S shrink_factor(const S& attempt) {
  return select(attempt == S(0), S(0.3), S(0.5));
}

/// Every fourth outer step omits alpha: Newton on the problem itself from the center.
template <class S, int N, int D, class Matrix>
GARRA_HD MaskOf<S> direct(const ProximalState<S, N, D, Matrix>& s) {
  return s.outers - S(4) * floor(S(0.25) * s.outers) == S(3);
}

/// Newton for (1), to a hundredth of the tolerance; a hundred times the tolerance is enough to move the center.
GARRA_HD FrictionNewton make_newton(const FrictionProximal& solver) {
  FrictionNewton newton;
  newton.tolerance = 1e-2 * solver.tolerance;
  newton.restarts = false;
  newton.stage_steps = newton.max_iterations = solver.inner_steps;
  return newton;
}

/// Newton's start and step, not inlined: rarely used, compiled once for all callers.
template <class S, int N, int D, class Matrix>
GARRA_HD_CALL void begin_newton(const FrictionNewton& newton, const FrictionProblem<S, N, D, Matrix>& p,
                                const Vec<S, D * N>& guess, FrictionState<S, N, D, Matrix>& out) {
  out = newton.start(p, guess);
}
template <class S, int N, int D, class Matrix>
GARRA_HD_CALL void advance(const FrictionNewton& newton, FrictionState<S, N, D, Matrix>& state) {
  newton.step(state);
}

/// Problem (1) at the center.
template <class S, int N, int D, class Matrix>
GARRA_HD FrictionProblem<S, N, D, Matrix> shifted(const ProximalState<S, N, D, Matrix>& s) {
  FrictionProblem<S, N, D, Matrix> p{copied(s.problem.A), s.problem.b, s.problem.mu};
  const S alpha = select(direct(s), S(0), s.alpha);
  for_each_index<D * N>([&](int i) {
    p.A(i, i) = p.A(i, i) + alpha;
    p.b[i] = fma(-alpha, s.x[i], p.b[i]);
  });
  return p;
}

/// Selects member by member, for structs whose members are all S.
template <class S, class State>
GARRA_HD State select_members(const MaskOf<S>& mask, const State& yes, const State& no) {
  static_assert(sizeof(State) % sizeof(S) == 0);
  State out;
  const S *y = reinterpret_cast<const S*>(&yes), *n = reinterpret_cast<const S*>(&no);
  S* o = reinterpret_cast<S*>(&out);
  for (int i = 0; i < static_cast<int>(sizeof(State) / sizeof(S)); ++i) o[i] = select(mask, y[i], n[i]);
  return out;
}

/// The low-discrepancy number in [0, 1) after this one.
template <class S>
GARRA_HD S next_weyl(const S& weyl) {
  const S next = weyl + S(0.6180339887498949);
  return select(next >= S(1), next - S(1), next);
}

/// One number in [0, 1) for each contact.
template <class S, int N>
GARRA_HD Vec<S, N> spread_numbers(const S& weyl) {
  Vec<S, N> out;
  double shift = 0;
  for (int j = 0; j < extent<N>(); ++j) {
    const S w = weyl + S(shift);
    out[j] = select(w >= S(1), w - S(1), w);
    shift = shift + 0.7548776662466927 >= 1 ? shift + 0.7548776662466927 - 1 : shift + 0.7548776662466927;
  }
  return out;
}

/// Next attempt: the first four from zero, later ones from forces spread as in Newton's restarts.
template <class S, int N, int D, class Matrix>
GARRA_HD void next_attempt(ProximalState<S, N, D, Matrix>& s, const MaskOf<S>& anew) {
  s.attempt = select(anew, s.attempt + S(1), s.attempt);
  s.alpha = select(anew, first_alpha(s.attempt), s.alpha);
  s.attempt_steps = select(anew, S(0), s.attempt_steps);
  s.outers = select(anew, S(0), s.outers);
  s.weyl = select(anew, next_weyl(s.weyl), s.weyl);
  Vec<S, D* N> x = Vec<S, D * N>::zero();
  const Vec<S, N> spread = spread_numbers<S, N>(s.weyl);
  for (int j = 0; j < extent<N>(); ++j) {
    const S w = spread[j];
    x[D * j] =
        select(s.attempt >= S(4), S(30) * (w * w * w) * friction_newton::diagonal_rho<S, N, D>(s.problem.A, j).n, S(0));
  }
  s.x = select(anew, x, s.x);
}

}  // namespace friction_proximal

template <class S, int N, int D, class Matrix>
GARRA_HD void FrictionProximal::start(const FrictionProblem<S, N, D, Matrix>& given,
                                      ProximalState<S, N, D, Matrix>& s) const {
  using namespace friction_proximal;
  const Scaled<S, N, D, Matrix> in = scaled(given);
  s.problem = in.problem;
  s.unit = in.unit;
  s.scale = load_scale(s.problem);
  s.x = Vec<S, D * N>::zero();
  s.outers = s.weyl = s.ran_away = s.attempt_steps = s.steps = S(0);
  s.attempt = S(first_attempt);
  s.alpha = first_alpha(s.attempt);
  begin_newton(make_newton(*this), shifted(s), s.x, s.newton);
  const auto first = check_iterate(s.problem, s.scale, s.x, s.problem.b, tolerance);
  // An invalid problem (NaN) never runs; certify names it.
  s.running = select(!first.lost && !first.solved && S(max_iterations) > S(0), S(1), S(0));
}

template <class S, int N, int D, class Matrix>
GARRA_HD void FrictionProximal::step(ProximalState<S, N, D, Matrix>& s) const {
  using namespace friction_proximal;
  const auto active = running(s);
  const FrictionNewton newton = make_newton(*this);
  const auto stepping = active && newton.running(s.newton);
  if (any(stepping)) {
    advance(newton, s.newton);
    s.steps += select(stepping, S(1), S(0));
    s.attempt_steps += select(stepping, S(1), S(0));
  }
  const auto ended = active && !newton.running(s.newton);
  if (!any(ended)) return;
  const Vec<S, D* N> c = s.newton.unit * s.newton.c;
  const auto inner = shifted(s);
  const auto moved = ended && check_iterate(inner, s.scale, c, inner.A * c + inner.b, 1e2 * tolerance).solved;
  s.x = select(moved, c, s.x);
  const auto now = check_iterate(s.problem, s.scale, s.x, s.problem.A * s.x + s.problem.b, tolerance);
  const S next = select(moved, max(shrink_factor(s.attempt) * s.alpha, S(kMin)), S(kGrow) * s.alpha);
  s.alpha = select(ended && !direct(s), next, s.alpha);
  s.outers += select(ended, S(1), S(0));
  // A start that needs no step (Newton met its tolerance at once) still counts, so that the loop ends.
  s.attempt_steps += select(ended, S(1), S(0));
  s.steps += select(ended, S(1), S(0));
  const auto far = now.size2 > S(kRunaway * kRunaway);
  const auto hopeless = now.lost || far || s.alpha > S(kMax);
  s.ran_away += select(ended && hopeless, S(1), S(0));
  const auto given_up = s.ran_away >= S(max_runaways) && s.ran_away > s.attempt - S(first_attempt);
  const auto over = ended && ((now.solved && !far) || s.steps >= S(max_iterations) || given_up);
  const auto anew = ended && !over && (hopeless || s.attempt_steps >= S(attempt_steps));
  s.running = select(over, S(0), s.running);
  if (any(anew)) next_attempt(s, anew);
  if constexpr (kWidth<S> == 1) {
    begin_newton(newton, shifted(s), s.x, s.newton);
  } else {
    FrictionState<S, N, D, Matrix> fresh;
    begin_newton(newton, shifted(s), s.x, fresh);
    s.newton = select_members<S>(ended, fresh, s.newton);
  }
}

}  // namespace garra::solvers
