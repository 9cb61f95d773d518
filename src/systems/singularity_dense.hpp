// Small dense matrices of run-time size in plain double, for the host's exact analysis of one configuration.
#pragma once

#include <cstddef>
#include <vector>

namespace garra::singularity {

/// Row-major.
struct Matrix {
  int rows = 0, cols = 0;
  std::vector<double> a;

  Matrix() = default;
  Matrix(int r, int c) : rows(r), cols(c), a(static_cast<std::size_t>(r * c), 0.0) {}
  [[nodiscard]] double& operator()(int i, int j) { return a[static_cast<std::size_t>(i * cols + j)]; }
  [[nodiscard]] double operator()(int i, int j) const { return a[static_cast<std::size_t>(i * cols + j)]; }
};

[[nodiscard]] Matrix operator*(const Matrix& a, const Matrix& b);
[[nodiscard]] Matrix operator*(double s, const Matrix& a);
[[nodiscard]] Matrix operator+(const Matrix& a, const Matrix& b);
[[nodiscard]] Matrix transpose(const Matrix& a);
/// Columns first ... first + count - 1.
[[nodiscard]] Matrix columns(const Matrix& a, int first, int count);
[[nodiscard]] double row_norm(const Matrix& a, int row);

/// a = U diag(sigma) V': U and V square and orthogonal, min(rows, cols) singular values, falling. The trailing columns
/// of U and V are bases of the left and right null space.
struct Svd {
  Matrix U, V;
  std::vector<double> sigma;
};
/// One-sided Jacobi rotations (M. R. Hestenes, J. SIAM 6, 1958).
[[nodiscard]] Svd svd(const Matrix& a);
[[nodiscard]] std::vector<double> singular_values(const Matrix& a);

/// Number of sigma > tolerance * sigma_1; 0 for a zero matrix.
[[nodiscard]] int rank_of(const std::vector<double>& sigma, double tolerance);
[[nodiscard]] int rank_of(const Matrix& a, double tolerance);

/// sigma_k, counted from 1; 0 where there are fewer.
[[nodiscard]] double sigma_at(const std::vector<double>& sigma, int k);

/// Eigenvalues of a symmetric matrix, falling (two-sided Jacobi rotations).
[[nodiscard]] std::vector<double> symmetric_eigenvalues(Matrix a);

}  // namespace garra::singularity
