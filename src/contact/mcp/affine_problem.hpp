// One affine problem and its methods. Newton's methods run on every executor, the others on the host.
#pragma once

#include <cmath>
#include <vector>

#include "contact/mcp/affine.hpp"
#include "contact/mcp/row_problem.hpp"
#include "garra/batch/rows.hpp"
#include "garra/solvers/mcp/semismooth_newton.hpp"

namespace garra::mcp {

/// A row of AffineProblems.
struct AffineRow {
  int n;
  const double *M, *q, *lower, *upper;

  [[nodiscard]] GARRA_HD double value(int i, const double* x) const {
    double sum = q[i];
    for (int j = 0; j < n; ++j) sum = std::fma(M[i * n + j], x[j], sum);
    return sum;
  }
  template <int U>
  [[nodiscard]] GARRA_HD Vec<double, U> value(const Vec<double, U>& x) const {
    Vec<double, U> F;
    for (int i = 0; i < n; ++i) F[i] = value(i, x.m);
    return F;
  }
  template <int U>
  [[nodiscard]] GARRA_HD Mat<double, U, U> jacobian(const Vec<double, U>&) const {
    Mat<double, U, U> J;
    for (int k = 0; k < n * n; ++k) J.m[k] = M[k];
    return J;
  }
  [[nodiscard]] GARRA_HD double low(int i) const { return lower[i]; }
  [[nodiscard]] GARRA_HD double high(int i) const { return upper[i]; }
  /// Whether M and q are finite.
  [[nodiscard]] GARRA_HD bool usable() const { return are_finite(M, n * n) && are_finite(q, n); }
  static GARRA_HD bool are_finite(const double* a, int count) {
    for (int k = 0; k < count; ++k)
      if (!(std::abs(a[k]) < solvers::kInfinite)) return false;
    return true;
  }
};

/// End of a method: x for the certificate, and the status to report if x is no solution.
struct AffineEnd {
  std::vector<double> x;
  Status reason = Status::kStalled;
  int steps = 0;
};

AffineEnd run_lemke(const AffineRow& row, const AffineOptions& options);
AffineEnd run_interior_point(const AffineRow& row, const AffineOptions& options);

/// The answer of one row; x and F [n] are the caller's.
struct AffineAnswer {
  double *x, *F;
  double residual = NAN;
  int steps = 0;
  int method = 0;
  Status status = Status::kInvalidInput;

  /// Sets x and F to NaN and the status to kInvalidInput. Returns whether the problem can be solved.
  GARRA_HD bool begin(const AffineRow& row, const double* start) const {
    for (int i = 0; i < row.n; ++i) x[i] = F[i] = NAN;
    return row.usable() && AffineRow::are_finite(start, row.n);
  }
  /// Judges the last iterate of a method by e(x) of docs/theory/mcp.md (2). Returns whether the problem is finished.
  GARRA_HD bool take(const AffineRow& row, const double* tried, Status reason, double tolerance) {
    double error = 0;
    for (int i = 0; i < row.n; ++i) {
      F[i] = row.value(i, tried);
      const double e = max(min(F[i], tried[i] - row.lower[i]), tried[i] - row.upper[i]);
      error = max(error, std::abs(e)) + (F[i] - F[i]) + (tried[i] - tried[i]);  // NaN if a number is NaN or infinite
    }
    const bool solved = error <= tolerance;
    if (solved || !(error >= residual)) residual = error;
    status = solved ? Status::kConverged : reason == Status::kConverged ? Status::kStalled : reason;
    for (int i = 0; i < row.n; ++i) {
      if (solved)
        x[i] = tried[i];
      else
        F[i] = NAN;
    }
    return solved || reason == Status::kNoSolution;
  }
};

/// Semismooth Newton on the natural residual ("pivoting") and on that of Fischer and Burmeister.
template <int U>
struct AffineNewton {
  using Problem = RowProblem<const AffineRow, U>;
  mncp::detail::SolverOf<Problem, solvers::NaturalMerit, solvers::SemismoothNewton> natural;
  mncp::detail::SolverOf<Problem, solvers::FischerBurmeisterMerit, solvers::SemismoothNewton> smooth;

  explicit AffineNewton(const AffineOptions& options) {
    natural.tolerance = smooth.tolerance = options.tolerance;
    if (options.max_iterations > 0)
      natural.minimizer.max_iterations = smooth.minimizer.max_iterations = options.max_iterations;
  }

  /// Runs a method from `start`. Returns whether the problem is finished.
  GARRA_HD bool run(AffineMethod method, const AffineRow& row, const double* start, AffineAnswer& out) const {
    out.method = static_cast<int>(method);
    return method == AffineMethod::kPivoting ? run(natural, row, start, out) : run(smooth, row, start, out);
  }

 private:
  template <class Solver>
  static GARRA_HD bool run(const Solver& solver, const AffineRow& row, const double* start, AffineAnswer& out) {
    const typename Problem::Given data{&row};
    Vec<double, U> x;
    for (int i = 0; i < row.n; ++i) x[i] = start[i];
    auto state = solver.template start<double>(data, x);
    while (solver.running(state)) solver.step(state);
    const auto found = solver.candidate(state);
    out.steps += static_cast<int>(found.effort.outer);
    return out.take(row, found.x.m, static_cast<Status>(static_cast<int>(found.reason)), solver.tolerance);
  }
};

/// Job of the kernel (kernels/contact/affine.cu): columns M, q, lower, upper, start; and x, F, residual, status, steps,
/// method.
struct DeviceAffine {
  int unknowns;
  AffineOptions options;
};

}  // namespace garra::mcp
