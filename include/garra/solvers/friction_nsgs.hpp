// Nonsmooth Gauss-Seidel for the friction contact problem: solves contact after contact exactly
// with the forces of the others held.
//
// Sources: M. Jean, J. J. Moreau; F. Jourdan, P. Alart, M. Jean, Comput. Methods Appl. Mech. Eng.
// 155, 1998; V. Acary, B. Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, Springer
// 2008, 13.7.4.
//
// One sweep, j = 1 .. N:  c_j <- solution of the one-contact problem with W = A_jj, b = a_j - A_jj
// c_j,           (5) where a_j is the acceleration under the newest forces.
#pragma once

#include "garra/solvers/friction_splitting.hpp"
#include "garra/solvers/one_contact.hpp"

namespace garra::solvers {

/// State of the solver on one problem, in scaled units. All members are S.
template <class S, int N, class Matrix = Mat<S, 3 * N, 3 * N>>
struct NsgsState {
  FrictionProblem<S, N, 3, Matrix> problem;  ///< largest diagonal entry of A and largest |b| are 1
  Vec<S, 3 * N> c;                           ///< iterate (force), in the cones
  LoadScale<S, N> scale;                     ///< unit of changes of the load
  S unit;                                    ///< force unit
  S sweeps;                                  ///< taken so far
  S running;                                 ///< 1 while unfinished
  static constexpr auto parts() {
    return std::tuple{&NsgsState::problem, &NsgsState::c,      &NsgsState::scale,
                      &NsgsState::unit,    &NsgsState::sweeps, &NsgsState::running};
  }
};

struct FrictionNsgs {
  double tolerance = 1e-8;     ///< stop: relative change of the load <= tolerance / 2 (the certificate tests tolerance)
  int max_iterations = 10000;  ///< stop: sweeps >= max_iterations
  int sweeps_per_step = 4;     ///< sweeps between two tests; the extrapolation needs two
  bool extrapolate = true;     ///< after each step's sweeps try (10), and keep it if it lowers the change of the load
  double relaxation = 1;       ///< c_j <- projection on the cone of c_j + relaxation * (exact - c_j)

  template <class S, int N, class Matrix>
  GARRA_HD NsgsState<S, N, Matrix> start(const FrictionProblem<S, N, 3, Matrix>& given) const {
    const Scaled<S, N, 3, Matrix> in = scaled(given);
    NsgsState<S, N, Matrix> s{in.problem, Vec<S, 3 * N>::zero(), load_scale(in.problem), in.unit, S(0), S(0)};
    const auto first = friction_splitting::check_scaled_iterate(s.problem, s.scale, s.c, s.problem.b, tolerance);
    // An invalid problem (NaN) never runs; certify names it.
    s.running = select(!first.lost && !first.solved && S(max_iterations) > S(0), S(1), S(0));
    return s;
  }

  template <class S, int N, class Matrix>
  GARRA_HD void step(NsgsState<S, N, Matrix>& s) const;

  template <class S, int N, class Matrix>
  static GARRA_HD MaskOf<S> running(const NsgsState<S, N, Matrix>& state) {
    return state.running > S(0);
  }

  template <class S, int N, class Matrix>
  [[nodiscard]] GARRA_HD Candidate<S, N> candidate(const NsgsState<S, N, Matrix>& state) const {
    return make_candidate<S, N>(state.unit * state.c, stop_reason(state.sweeps, max_iterations),
                                friction_splitting::make_effort(state.sweeps));
  }

  template <class S, int N>
  [[nodiscard]] GARRA_HD FrictionSolution<S, N> solve(const FrictionProblem<S, N>& given) const {
    NsgsState<S, N> state = start(given);
    while (any(running(state))) step(state);
    return certify(given, candidate(state), tolerance);
  }
};

namespace friction_nsgs {

/// New force of contact j by (5).
template <class S, int N, class Matrix>
GARRA_HD Vec3<S> updated(const FrictionProblem<S, N, 3, Matrix>& p, const Vec<S, 3 * N>& c, int j, double relaxation) {
  const int n = 3 * j;
  Vec3<S> b = contact<S, N>(p.b, j);
  Mat3<S> W;
  for_each_index<3>([&](int i) {
    for_each_index<3 * N>([&](int k) {
      if (k / 3 != j) b[i] = fma(p.A(n + i, k), c[k], b[i]);
    });
    for_each_index<3>([&](int k) { W(i, k) = p.A(n + i, n + k); });
  });
  const Vec3<S> exact = solve_one_contact(W, b, p.mu[j]);
  if (relaxation == 1) return exact;
  const Vec3<S> old = contact<S, N>(c, j);
  return project_on_cone(axpy(S(relaxation), exact - old, old), p.mu[j]);
}

}  // namespace friction_nsgs

template <class S, int N, class Matrix>
GARRA_HD void FrictionNsgs::step(NsgsState<S, N, Matrix>& s) const {
  using namespace friction_splitting;
  const FrictionProblem<S, N, 3, Matrix>& p = s.problem;
  const auto active = running(s);
  Vec<S, 3 *N> c0 = s.c, c1 = s.c, c = s.c;
  for (int sweep = 0; sweep < sweeps_per_step; ++sweep) {
    c0 = c1;
    c1 = c;
    for (int j = 0; j < extent<N>(); ++j) set_contact<S, N>(c, j, friction_nsgs::updated<S, N>(p, c, j, relaxation));
  }
  auto now = check_scaled_iterate(p, s.scale, c, affine(p.A, c, p.b), tolerance);
  if (extrapolate) {
    const Vec<S, 3 * N> further = extrapolated<S, N>(p.mu, c0, c1, c);
    const auto then = check_scaled_iterate(p, s.scale, further, affine(p.A, further, p.b), tolerance);
    const auto better = then.error < now.error;
    c = select(better, further, c);
    now.solved = select_mask(better, then.solved, now.solved);
  }
  s.c = select(active, c, s.c);
  s.sweeps += select(active, S(sweeps_per_step), S(0));
  s.running = select(!now.solved && !now.lost && s.sweeps < S(max_iterations), s.running, S(0));
}

}  // namespace garra::solvers
