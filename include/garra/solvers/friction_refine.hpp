// Refines forces that are nearly a solution, with residuals in twice the precision
// (docs/theory/contact-solver.md, "Refinement"; G. H. Golub, C. F. Van Loan, Matrix Computations,
// 3.5.3). For single problems, host and device.
#pragma once

#include "garra/solvers/friction_newton.hpp"
#include "garra/solvers/friction_proofs.hpp"

namespace garra::solvers {

template <int N, int D = 3>
struct Refined {
  Vec<double, D * N> c;
  FrictionSolution<double, N, D> checked;
  double steps;
};

namespace friction_refine {

/// Solves J x = rhs by elimination with row exchanges, in place; x is zero at vanishing pivots.
template <int M, class Matrix>
GARRA_HD_CALL Vec<double, M> solved_in_place(Matrix& J, Vec<double, M> rhs) {
  for (int k = 0; k < extent<M>(); ++k) {
    int pivot = k;
    for (int i = k + 1; i < extent<M>(); ++i)
      if (abs(J(i, k)) > abs(J(pivot, k))) pivot = i;
    if (pivot != k) {
      for (int i = k; i < extent<M>(); ++i) {
        const double other = J(pivot, i);
        J(pivot, i) = J(k, i);
        J(k, i) = other;
      }
      const double other = rhs[pivot];
      rhs[pivot] = rhs[k];
      rhs[k] = other;
    }
    const double inverse = J(k, k) == 0 ? 0 : 1 / J(k, k);
    for (int i = k + 1; i < extent<M>(); ++i) {
      const double factor = -(J(i, k) * inverse);
      for (int c = k + 1; c < extent<M>(); ++c) J(i, c) = fma(factor, J(k, c), J(i, c));
      rhs[i] = fma(factor, rhs[k], rhs[i]);
    }
    J(k, k) = inverse;
  }
  for (int k = extent<M>() - 1; k >= 0; --k) {
    double sum = rhs[k];
    for (int c = k + 1; c < extent<M>(); ++c) sum = fma(-J(k, c), rhs[c], sum);
    rhs[k] = sum * J(k, k);
  }
  return rhs;
}

/// Newton's direction for an a more accurate than A c + b, without regularization, with pivots.
template <int N, int D, class Matrix>
GARRA_HD_CALL Vec<double, D * N> refine_direction(const FrictionProblem<double, N, D, Matrix>& p,
                                                  const Vec<double, N>& rho_n, const Vec<double, N>& rho_t,
                                                  const Vec<double, D * N>& c, const Vec<double, D * N>& a) {
  using namespace friction_newton;
  constexpr int M = D * N;
  Matrix J;
  take_room(J, p.A);
  Vec<double, M> rhs;
  for (int j = 0; j < extent<N>(); ++j) {
    const Rho<double> rho{rho_n[j], rho_t[j]};
    const Piece<double, D> piece = classify(contact<double, N, D>(c, j), contact<double, N, D>(a, j), p.mu[j], rho);
    const RowWeights<double, D> w = row_weights(piece, rho, p.mu[j], 0);
    for (int r = 0; r < D; ++r) {
      const Vec<double, M> row = newton_row(p, j, r, w);
      for (int k = 0; k < extent<M>(); ++k) J(D * j + r, k) = row[k];
      rhs[D * j + r] = w.rhs[r];
    }
  }
  return solved_in_place<M>(J, rhs);
}

}  // namespace friction_refine

/// Best iterate of Newton steps from `from`. `p`: the problem with its sliding contacts eliminated,
/// in its own units.
template <int N, class Given, int D, class Matrix>
GARRA_HD_CALL Refined<N, D> refined(const Given& given, const FrictionProblem<double, N, D, Matrix>& p,
                                    const Candidate<double, N, D>& from, double tolerance, int most_steps) {
  using namespace friction_problem_detail;
  constexpr int M = D * N, kSteps = 12;
  const int steps = min(kSteps, most_steps);
  Vec<double, N> rho_n, rho_t;
  for (int j = 0; j < extent<N>(); ++j) {
    const auto inverse = [](double x) { return x > 0 ? 1 / x : 1; };
    rho_n[j] = inverse(friction_newton::normal_share(p.mu[j]) * p.A(D * j, D * j));
    double trace = p.A(D * j + 1, D * j + 1);
    for (int i = 2; i < D; ++i) trace += p.A(D * j + i, D * j + i);
    rho_t[j] = inverse(trace / (D - 1));
  }
  Refined<N, D> best{from.c, given.certify(from, tolerance), 0};
  Vec<double, M> c = from.c;
  for (int step = 0; step < steps; ++step) {
    restore_sliding<double, N, D>(c, given.mu, given.sliding);
    Vec<double, M> a, eliminated = c;
    for (int i = 0; i < extent<M>(); ++i)
      a[i] = compensated_row_change<M, double>(given.A, c, given.b[i], 0.0, i).value;
    for (int j = 0; j < extent<N>(); ++j) {
      if (!given.sliding.slides(j)) continue;
      for (int i = 1; i < D; ++i) eliminated[D * j + i] = a[D * j + i] = 0;
    }
    const Vec<double, M> d = friction_refine::refine_direction(p, rho_n, rho_t, eliminated, a);
    c = eliminated + d;
    Candidate<double, N, D> found = from;
    found.c = c;
    const auto checked = given.certify(found, tolerance);
    best.steps += 1;
    if (!(checked.residual < best.checked.residual)) {
      if (step > 2) break;  // no closer: rounding, or another piece
      continue;
    }
    best.c = c;
    best.checked = checked;
    if (checked.status == double(int(Status::kConverged))) break;
  }
  return best;
}

}  // namespace garra::solvers
