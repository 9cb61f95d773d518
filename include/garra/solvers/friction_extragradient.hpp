// Projected extragradient for the friction contact problem, with a self-adaptive step.
//
// Sources: E. N. Khobotov, USSR Comput. Math. Math. Phys. 27, 1987; B. S. He, L. Z. Liao, J. Optim.
// Theory Appl. 112, 2002; V. Acary, M. Brémond, O. Huber, "On solving contact problems with Coulomb
// friction: formulations and numerical comparisons", 2018.
//
// With F(c) = A c + b + mu |a_T| e_n per contact, P the projection on the cones and rho > 0
//
//     y = P(c - rho F(c)),   c <- P(c - rho F(y))   if   r := rho |F(c) - F(y)| / |c - y| <= kAccept           (9)
//
// Otherwise c stays and rho shrinks to rho (2/3) min(1, 1/r); after an accepted step with r <
// kTimid rho grows by 3/2.
#pragma once

#include "garra/solvers/friction_splitting.hpp"

namespace garra::solvers {

/// State of the solver on one problem, in scaled and preconditioned units. All members are S.
template <class S, int N, class Matrix = Mat<S, 3 * N, 3 * N>>
struct ExtragradientState {
  FrictionProblem<S, N, 3, Matrix> problem;                 ///< D A D, D b, mu n / t
  friction_splitting::Preconditioner<S, N> preconditioner;  ///< D
  Vec<S, 3 * N> c;                                          ///< iterate D^-1 (force)
  Vec<S, 3 * N> F;                                          ///< F(c)
  S rho;                                                    ///< step
  LoadScale<S, N> scale;                                    ///< unit of changes of the load
  S unit;                                                   ///< force unit
  S iterations;                                             ///< taken so far, rejected ones included
  S running;                                                ///< 1 while unfinished
  static constexpr auto parts() {
    return std::tuple{&ExtragradientState::problem, &ExtragradientState::preconditioner,
                      &ExtragradientState::c,       &ExtragradientState::F,
                      &ExtragradientState::rho,     &ExtragradientState::scale,
                      &ExtragradientState::unit,    &ExtragradientState::iterations,
                      &ExtragradientState::running};
  }
};

struct FrictionExtragradient {
  double tolerance = 1e-8;     ///< stop: relative change of the load <= tolerance / 2 (the certificate tests tolerance)
  int max_iterations = 20000;  ///< stop: iterations >= max_iterations
  int iterations_per_step = 10;  ///< iterations between two tests
  bool extrapolate = true;       ///< after each step's iterations try (10), and keep it if it lowers the error

  template <class S, int N, class Matrix>
  GARRA_HD ExtragradientState<S, N, Matrix> start(const FrictionProblem<S, N, 3, Matrix>& given) const {
    using namespace friction_splitting;
    const Scaled<S, N, 3, Matrix> in = scaled(given);
    ExtragradientState<S, N, Matrix> s;
    s.preconditioner = friction_splitting::preconditioner<S, N>(in.problem.A);
    s.problem = preconditioned(in.problem, s.preconditioner);
    s.c = Vec<S, 3 * N>::zero();
    s.F = shifted<S, N>(s.problem.b, s.problem.mu);
    s.rho = S(1);
    s.unit = in.unit;
    s.scale = load_scale(in.problem);
    s.iterations = S(0);
    const auto first = check_scaled_iterate(in.problem, s.scale, s.c, in.problem.b, tolerance);
    s.running = select(!first.lost && !first.solved && S(max_iterations) > S(0), S(1), S(0));
    return s;
  }

  template <class S, int N, class Matrix>
  GARRA_HD void step(ExtragradientState<S, N, Matrix>& s) const;

  template <class S, int N, class Matrix>
  static GARRA_HD MaskOf<S> running(const ExtragradientState<S, N, Matrix>& state) {
    return state.running > S(0);
  }

  template <class S, int N, class Matrix>
  [[nodiscard]] GARRA_HD Candidate<S, N> candidate(const ExtragradientState<S, N, Matrix>& state) const {
    const auto& d = state.preconditioner;
    return make_candidate<S, N>(state.unit * friction_splitting::times_diagonal<S, N>(d.n, d.t, state.c),
                                stop_reason(state.iterations, max_iterations),
                                friction_splitting::make_effort(state.iterations));
  }

  template <class S, int N>
  [[nodiscard]] GARRA_HD FrictionSolution<S, N> solve(const FrictionProblem<S, N>& given) const {
    ExtragradientState<S, N> state = start(given);
    while (any(running(state))) step(state);
    return certify(given, candidate(state), tolerance);
  }
};

namespace friction_extragradient {

inline constexpr double kAccept = 0.9;  ///< L of Khobotov's test
inline constexpr double kTimid = 0.3;   ///< Lmin: below it the step grows
inline constexpr double kShrink = 2.0 / 3, kGrow = 1.5;

/// F(c) = A c + b + mu |a_T| e_n.
template <class S, int N, class Matrix>
GARRA_HD Vec<S, 3 * N> map(const FrictionProblem<S, N, 3, Matrix>& p, const Vec<S, 3 * N>& c) {
  return friction_splitting::shifted<S, N>(friction_splitting::affine(p.A, c, p.b), p.mu);
}

/// One iteration (9) of the lanes in `active`.
template <class S, int N, class Matrix>
GARRA_HD void iterate(ExtragradientState<S, N, Matrix>& s, const MaskOf<S>& active) {
  using namespace friction_splitting;
  const FrictionProblem<S, N, 3, Matrix>& p = s.problem;
  const Vec<S, 3 * N> y = project_on_cones<S, N>(axpy(-s.rho, s.F, s.c), p.mu);
  const Vec<S, 3 * N> Fy = map(p, y);
  const Vec<S, 3 *N> moved = s.c - y, change = s.F - Fy;
  const S moved2 = dot(moved, moved);
  const S r = s.rho * sqrt(dot(change, change) / select(moved2 > S(0), moved2, S(1)));
  const auto accept = active && r <= S(kAccept), refuse = active && !(r <= S(kAccept));
  s.c = select(accept, project_on_cones<S, N>(axpy(-s.rho, Fy, s.c), p.mu), s.c);
  s.F = select(accept, map(p, s.c), s.F);
  const S shrunk = s.rho * S(kShrink) * min(S(1), S(1) / r);
  s.rho = select(refuse, shrunk, select(accept && r < S(kTimid), S(kGrow) * s.rho, s.rho));
}

}  // namespace friction_extragradient

template <class S, int N, class Matrix>
GARRA_HD void FrictionExtragradient::step(ExtragradientState<S, N, Matrix>& s) const {
  const auto active = running(s);
  Vec<S, 3 *N> c0 = s.c, c1 = s.c;
  for (int k = 0; k < iterations_per_step; ++k) {
    c0 = c1;
    c1 = s.c;
    friction_extragradient::iterate<S, N>(s, active);
  }
  s.iterations += select(active, S(iterations_per_step), S(0));
  auto now = friction_splitting::check_scaled_iterate<S, N>(s.problem, s.preconditioner, s.scale, s.c, tolerance);
  if (extrapolate) {
    const Vec<S, 3 * N> further = friction_splitting::extrapolated<S, N>(s.problem.mu, c0, c1, s.c);
    const auto then =
        friction_splitting::check_scaled_iterate<S, N>(s.problem, s.preconditioner, s.scale, further, tolerance);
    const auto better = active && then.error < now.error;
    s.c = select(better, further, s.c);
    s.F = select(better, friction_extragradient::map(s.problem, s.c), s.F);
    now.solved = select_mask(better, then.solved, now.solved);
  }
  s.running = select(!now.solved && !now.lost && s.iterations < S(max_iterations), s.running, S(0));
}

}  // namespace garra::solvers
