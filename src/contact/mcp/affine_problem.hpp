// One affine problem and its methods.
#pragma once

#include <cmath>
#include <optional>

#include "contact/mcp/affine.hpp"
#include "contact/mcp/row_problem.hpp"

namespace garra::mcp {

/// A row of AffineProblems.
struct AffineRow {
  int n;
  const double *M, *q, *lower, *upper;

  [[nodiscard]] double value(int i, const double* x) const {
    double sum = q[i];
    for (int j = 0; j < n; ++j) sum = std::fma(M[i * n + j], x[j], sum);
    return sum;
  }
  [[nodiscard]] Numbers value(const Numbers& x) const {
    Numbers F;
    for (int i = 0; i < n; ++i) F[i] = value(i, x.m);
    return F;
  }
  [[nodiscard]] Matrix jacobian(const Numbers&) const {
    Matrix J;
    std::copy_n(M, Matrix::count(), J.m);
    return J;
  }
  [[nodiscard]] double low(int i) const { return lower[i]; }
  [[nodiscard]] double high(int i) const { return upper[i]; }
  /// Whether M and q are finite.
  [[nodiscard]] bool usable() const {
    return std::all_of(M, M + std::ptrdiff_t{n} * n, [](double a) { return std::isfinite(a); }) &&
           std::all_of(q, q + n, [](double a) { return std::isfinite(a); });
  }
};

using AffineProblem = RowProblem<const AffineRow>;

/// End of a method: x for the certificate, and the status to report if x is no solution.
struct AffineEnd {
  std::vector<double> x;
  Status reason = Status::kStalled;
  int steps = 0;
};

AffineEnd run_lemke(const AffineRow& row, const AffineOptions& options);
AffineEnd run_interior_point(const AffineRow& row, const AffineOptions& options);
/// Semismooth Newton on the natural or the Fischer-Burmeister residual.
AffineEnd run_affine_newton(const AffineRow& row, const AffineOptions& options, bool natural, const double* start);

}  // namespace garra::mcp
