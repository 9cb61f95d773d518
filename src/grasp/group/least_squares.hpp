// Least squares by the eigenvalues of a Gram matrix (Jacobi's rotations), in the caller's memory. Matrices are
// row-major. Host and device.
#pragma once

#include "garra/core/scalar.hpp"

namespace garra::grasp {

/// A matrix in the caller's memory.
struct MatrixAt {
  int rows, cols;
  double* m;
  [[nodiscard]] GARRA_HD double& operator()(int r, int c) const { return m[r * cols + c]; }
  /// out = A x.
  GARRA_HD void multiply(const double* x, double* out) const {
    for (int r = 0; r < rows; ++r) {
      out[r] = 0;
      for (int c = 0; c < cols; ++c) out[r] += (*this)(r, c) * x[c];
    }
  }
};

namespace jacobi {

/// Rotates x and y by (c, s).
GARRA_HD void rotate(double& x, double& y, double c, double s) {
  const double before = x;
  x = c * before - s * y;
  y = s * before + c * y;
}

/// Turns the symmetric `a` into its eigenvalues on the diagonal, and `vectors` into the eigenvectors as columns.
GARRA_HD void diagonalize(const MatrixAt& a, const MatrixAt& vectors) {
  const int n = a.rows;
  for (int k = 0; k < n * n; ++k) vectors.m[k] = k % (n + 1) == 0 ? 1 : 0;
  constexpr int kSweeps = 12;  // they converge quadratically
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    double off = 0, size = 0;
    for (int p = 0; p < n; ++p)
      for (int q = 0; q < n; ++q) (p == q ? size : off) += a(p, q) * a(p, q);
    if (off <= 1e-30 * size) break;
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) {
        if (a(p, q) == 0) continue;
        const double theta = (a(q, q) - a(p, p)) / (2 * a(p, q));
        const double t = (theta >= 0 ? 1 : -1) / (abs(theta) + sqrt(theta * theta + 1));
        const double c = 1 / sqrt(t * t + 1), s = t * c;
        for (int k = 0; k < n; ++k) rotate(a(k, p), a(k, q), c, s);
        for (int k = 0; k < n; ++k) rotate(a(p, k), a(q, k), c, s);
        for (int k = 0; k < n; ++k) rotate(vectors(k, p), vectors(k, q), c, s);
      }
  }
}

}  // namespace jacobi

/// Numbers that least_squares() needs for a matrix of `rows` rows.
GARRA_HD constexpr int least_squares_room(int rows) { return 2 * rows * rows + rows; }

/// Least-squares solution `out` of least norm of V x = y, V of any rank; singular values below 1e-5 of the largest one
/// count as zero.
GARRA_HD void least_squares(const MatrixAt& v, const double* y, double* out, double* room) {
  // By the eigenvalues of V V^T: it has fewer rows than V^T V.
  const int n = v.rows;
  const MatrixAt gram{n, n, room}, vectors{n, n, room + n * n};
  double* const x = room + 2 * n * n;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < v.cols; ++k) sum += v(i, k) * v(j, k);
      gram(i, j) = sum;
    }
  jacobi::diagonalize(gram, vectors);
  double largest = 0;
  for (int k = 0; k < n; ++k) largest = max(largest, gram(k, k));
  for (int i = 0; i < n; ++i) x[i] = 0;
  for (int k = 0; k < n; ++k) {
    // 1e-10: (15) of docs/theory/grasp-model.md.
    if (!(gram(k, k) > 1e-10 * largest)) continue;
    double share = 0;
    for (int i = 0; i < n; ++i) share += vectors(i, k) * y[i];
    for (int i = 0; i < n; ++i) x[i] += share / gram(k, k) * vectors(i, k);
  }
  for (int c = 0; c < v.cols; ++c) {
    out[c] = 0;
    for (int k = 0; k < n; ++k) out[c] += v(k, c) * x[k];
  }
}

}  // namespace garra::grasp
