// One affine problem, in the form that the merit functions take (garra/solvers/mncp.hpp), and its methods.
#pragma once

#include <cmath>
#include <optional>

#include "contact/mcp/affine.hpp"
#include "garra/core/heap_mat.hpp"
#include "garra/solvers/mncp.hpp"

namespace garra::mcp {

using Numbers = Vec<double, kAnyUnknowns>;
using Matrix = Mat<double, kAnyUnknowns, kAnyUnknowns>;

/// A row of AffineProblems.
struct AffineRow {
  int n;
  const double *M, *q, *lower, *upper;

  [[nodiscard]] double value(int i, const double* x) const {
    double sum = q[i];
    for (int j = 0; j < n; ++j) sum = std::fma(M[i * n + j], x[j], sum);
    return sum;
  }
  [[nodiscard]] bool is_finite() const {
    return std::all_of(M, M + std::ptrdiff_t{n} * n, [](double a) { return std::isfinite(a); }) &&
           std::all_of(q, q + n, [](double a) { return std::isfinite(a); });
  }
};

struct AffineProblem {
  static constexpr int kComplementary = kAnyUnknowns, kFree = 0;
  template <class S>
  struct Data {
    const AffineRow* row;
  };
  using Given = Data<double>;

  static Numbers evaluate(const Given& d, const Numbers& x) {
    Numbers F;
    for (int i = 0; i < d.row->n; ++i) F[i] = d.row->value(i, x.m);
    return F;
  }
  template <class S>
  static Matrix jacobian(const Given& d, const Numbers&) {
    Matrix J;
    std::copy_n(d.row->M, Matrix::count(), J.m);
    return J;
  }
  template <class S>
  static double lower(const Given& d, int i) {
    return d.row->lower[i];
  }
  template <class S>
  static double upper(const Given& d, int i) {
    return d.row->upper[i];
  }
  template <class S>
  static bool valid(const Given& d) {
    return d.row->is_finite();
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
/// Semismooth Newton on the natural or the Fischer-Burmeister residual.
AffineEnd run_affine_newton(const AffineRow& row, const AffineOptions& options, bool natural, const double* start);

}  // namespace garra::mcp
