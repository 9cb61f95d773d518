// Alternating direction method of multipliers for the friction contact problem, De Saxcé's shift
// renewed in each iteration.
//
// Sources: A. Tasora, D. Mangoni, S. Benatti, R. Garziera, Int. J. Numer. Meth. Eng. 122, 2021; V.
// Acary, in Siconos' fc3d ADMM; J. Carpentier, Q. Le Lidec, L. Montaut, "From compliant to rigid
// contact simulation", RSS 2024; S. Boyd et al., Found. Trends Mach. Learn. 3, 2011, for the
// method, 3.4.1 residual balancing, 3.4.3 over-relaxation.
//
// With z the force in the cones K, w the multiplier (at a solution w = a + mu |a_T| e_n in K*), s =
// mu |w_T| e_n:
//
//     (A + rho I) c = rho z + w - b - s                                                                             (6)
//
//     z+ = P_K(v - w / rho),   v = alpha c + (1 - alpha) z                                                          (7)
//     w+ = w - rho (v - z+)                                                                                         (8)
#pragma once

#include "garra/solvers/friction_splitting.hpp"

namespace garra::solvers {

/// State of ADMM on one problem, in scaled and preconditioned units. All members are S.
template <class S, int N, class Matrix = Mat<S, 3 * N, 3 * N>>
struct AdmmState {
  FrictionProblem<S, N, 3, Matrix> problem;                 ///< D A D, D b, mu n / t
  friction_splitting::Preconditioner<S, N> preconditioner;  ///< D
  Matrix inverse;                                           ///< (A + rho I)^-1
  Vec<S, 3 * N> z;                                          ///< force, in the cones
  Vec<S, 3 * N> w;                                          ///< multiplier
  S rho;
  LoadScale<S, N> scale;  ///< unit of changes of the load
  S unit;                 ///< force unit
  S iterations;           ///< taken so far
  S running;              ///< 1 while unfinished
  static constexpr auto parts() {
    return std::tuple{&AdmmState::problem,    &AdmmState::preconditioner,
                      &AdmmState::inverse,    &AdmmState::z,
                      &AdmmState::w,          &AdmmState::rho,
                      &AdmmState::scale,      &AdmmState::unit,
                      &AdmmState::iterations, &AdmmState::running};
  }
};

struct FrictionAdmm {
  double tolerance = 1e-8;     ///< stop: relative change of the load <= tolerance / 2 (the certificate tests tolerance)
  int max_iterations = 10000;  ///< stop: iterations >= max_iterations
  int iterations_per_step = 10;  ///< iterations between two tests; rho changes at a test only
  double relaxation = 1.3;       ///< alpha
  double rho = 3;                ///< first rho; the preconditioned A has diagonal entries of about 1
  double imbalance = 1.5;        ///< rho changes: ratio of primal to dual residual > this or < 1 / this

  template <class S, int N, class Matrix>
  GARRA_HD AdmmState<S, N, Matrix> start(const FrictionProblem<S, N, 3, Matrix>& given) const;

  template <class S, int N, class Matrix>
  GARRA_HD void step(AdmmState<S, N, Matrix>& s) const;

  template <class S, int N, class Matrix>
  static GARRA_HD MaskOf<S> running(const AdmmState<S, N, Matrix>& state) {
    return state.running > S(0);
  }

  template <class S, int N, class Matrix>
  [[nodiscard]] GARRA_HD Candidate<S, N> candidate(const AdmmState<S, N, Matrix>& state) const {
    const auto& d = state.preconditioner;
    return make_candidate<S, N>(state.unit * friction_splitting::times_diagonal<S, N>(d.n, d.t, state.z),
                                stop_reason(state.iterations, max_iterations),
                                friction_splitting::make_effort(state.iterations));
  }

  template <class S, int N>
  [[nodiscard]] GARRA_HD FrictionSolution<S, N> solve(const FrictionProblem<S, N>& given) const {
    AdmmState<S, N> state = start(given);
    while (any(running(state))) step(state);
    return certify(given, candidate(state), tolerance);
  }
};

namespace friction_admm {

/// (A + rho I)^-1 by Gauss-Jordan in place, without pivoting: the matrix is positive definite, or
/// close to it after the elimination of sliding contacts. A vanishing pivot is replaced, so that
/// finite input stays finite.
template <class S, int M, class Matrix>
GARRA_HD Matrix shifted_inverse(const Matrix& A, const S& rho) {
  Matrix g = copied(A);
  for_each_index<M>([&](int i) { g(i, i) = g(i, i) + rho; });
  for_each_index<M>([&](int k) {
    const S inv = S(1) / select(abs(g(k, k)) > S(1e-14), g(k, k), S(1e-14));
    g(k, k) = S(1);
    for_each_index<M>([&](int j) { g(k, j) = g(k, j) * inv; });
    for_each_index<M>([&](int i) {
      if (i == k) return;
      const S f = -g(i, k);
      g(i, k) = S(0);
      for_each_index<M>([&](int j) { g(i, j) = fma(f, g(k, j), g(i, j)); });
    });
  });
  return g;
}

/// Primal and dual residual of one iteration: |v - z+| and rho |z+ - z|.
template <class S>
struct Residuals {
  S primal2, dual2;
};

/// Runs one iteration (6)-(8).
template <class S, int N, class Matrix>
GARRA_HD Residuals<S> iterate(AdmmState<S, N, Matrix>& s, const MaskOf<S>& active, double relaxation) {
  using namespace friction_splitting;
  const FrictionProblem<S, N, 3, Matrix>& p = s.problem;
  const S inv_rho = S(1) / s.rho;
  const Vec<S, 3 * N> right = axpy(s.rho, s.z, s.w - shifted<S, N>(s.w, p.mu) + s.w) - p.b;
  const Vec<S, 3 * N> c = s.inverse * right;
  const Vec<S, 3 * N> v = axpy(S(relaxation), c - s.z, s.z);
  const Vec<S, 3 * N> z = project_on_cones<S, N>(axpy(-inv_rho, s.w, v), p.mu);
  const Vec<S, 3 *N> gap = c - z, moved = z - s.z;
  s.w = select(active, axpy(-s.rho, v - z, s.w), s.w);
  s.z = select(active, z, s.z);
  return {dot(gap, gap), (s.rho * s.rho) * dot(moved, moved)};
}

/// Residual balancing by the square root of the ratio, within [1e-4, 1e4].
template <class S>
GARRA_HD S balanced(const S& rho, const Residuals<S>& r, double imbalance) {
  const S ratio = sqrt(r.primal2 / select(r.dual2 > S(0), r.dual2, S(1)));
  const auto change = r.dual2 > S(0) && r.primal2 > S(0) && (ratio > S(imbalance) || ratio < S(1 / imbalance));
  const S factor = min(max(sqrt(ratio), S(0.1)), S(10));
  return select(change, min(max(rho * factor, S(1e-4)), S(1e4)), rho);
}

}  // namespace friction_admm

template <class S, int N, class Matrix>
GARRA_HD AdmmState<S, N, Matrix> FrictionAdmm::start(const FrictionProblem<S, N, 3, Matrix>& given) const {
  using namespace friction_splitting;
  const Scaled<S, N, 3, Matrix> in = scaled(given);
  AdmmState<S, N, Matrix> s;
  s.preconditioner = friction_splitting::preconditioner<S, N>(in.problem.A);
  s.problem = preconditioned(in.problem, s.preconditioner);
  s.z = s.w = Vec<S, 3 * N>::zero();
  s.rho = S(rho);
  s.inverse = friction_admm::shifted_inverse<S, 3 * N>(s.problem.A, s.rho);
  s.unit = in.unit;
  s.scale = load_scale(in.problem);
  s.iterations = S(0);
  const auto first = check_scaled_iterate(in.problem, s.scale, s.z, in.problem.b, tolerance);
  s.running = select(!first.lost && !first.solved && S(max_iterations) > S(0), S(1), S(0));
  return s;
}

template <class S, int N, class Matrix>
GARRA_HD void FrictionAdmm::step(AdmmState<S, N, Matrix>& s) const {
  const auto active = running(s);
  friction_admm::Residuals<S> residuals{S(0), S(0)};
  for (int k = 0; k < iterations_per_step; ++k) residuals = friction_admm::iterate<S, N>(s, active, relaxation);
  s.iterations += select(active, S(iterations_per_step), S(0));
  const auto now = friction_splitting::check_scaled_iterate<S, N>(s.problem, s.preconditioner, s.scale, s.z, tolerance);
  s.running = select(!now.solved && !now.lost && s.iterations < S(max_iterations), s.running, S(0));
  const S next = friction_admm::balanced(s.rho, residuals, imbalance);
  const auto change = running(s) && next != s.rho;
  if (!any(change)) return;
  s.rho = select(change, next, s.rho);
  s.inverse = select(change, friction_admm::shifted_inverse<S, 3 * N>(s.problem.A, s.rho), s.inverse);
}

}  // namespace garra::solvers
