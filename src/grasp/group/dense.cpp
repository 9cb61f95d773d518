#include "grasp/group/dense.hpp"

#include <algorithm>
#include <cmath>

namespace garra::grasp {

namespace {

/// Rotates rows and columns p and q of the symmetric `a` such that a(p, q) = 0 (Jacobi); `vectors` collects the
/// rotations.
void rotate(Dense& a, Dense& vectors, int p, int q) {
  if (a(p, q) == 0) return;
  const double theta = (a(q, q) - a(p, p)) / (2 * a(p, q));
  const double t = (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
  const double c = 1 / std::sqrt(t * t + 1), s = t * c;
  for (int k = 0; k < a.rows; ++k) {
    const double x = a(k, p), y = a(k, q);
    a(k, p) = c * x - s * y;
    a(k, q) = s * x + c * y;
  }
  for (int k = 0; k < a.rows; ++k) {
    const double x = a(p, k), y = a(q, k);
    a(p, k) = c * x - s * y;
    a(q, k) = s * x + c * y;
  }
  for (int k = 0; k < a.rows; ++k) {
    const double x = vectors(k, p), y = vectors(k, q);
    vectors(k, p) = c * x - s * y;
    vectors(k, q) = s * x + c * y;
  }
}

/// Turns the symmetric `a` into its eigenvalues on the diagonal; returns the eigenvectors as columns.
Dense diagonalize(Dense& a) {
  Dense vectors(a.rows, a.rows);
  for (int k = 0; k < a.rows; ++k) vectors(k, k) = 1;
  constexpr int kSweeps = 12;  // they converge quadratically
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    double off = 0, size = 0;
    for (int p = 0; p < a.rows; ++p)
      for (int q = 0; q < a.rows; ++q) (p == q ? size : off) += a(p, q) * a(p, q);
    if (off <= 1e-30 * size) break;
    for (int p = 0; p < a.rows; ++p)
      for (int q = p + 1; q < a.rows; ++q) rotate(a, vectors, p, q);
  }
  return vectors;
}

}  // namespace

Dense transpose_times(const Dense& a, const Dense& b) {
  Dense out(a.cols, b.cols);
  for (int k = 0; k < a.rows; ++k)
    for (int i = 0; i < a.cols; ++i) {
      const double x = a(k, i);
      if (x == 0) continue;  // most of them: blocks of other objects and fingers
      for (int j = 0; j < b.cols; ++j) out(i, j) += x * b(k, j);
    }
  return out;
}

Column transpose_times(const Dense& a, const Column& x) {
  Column out(static_cast<std::size_t>(a.cols));
  for (int k = 0; k < a.rows; ++k)
    for (int i = 0; i < a.cols; ++i) out[static_cast<std::size_t>(i)] += a(k, i) * x[static_cast<std::size_t>(k)];
  return out;
}

Column multiplied(const Dense& a, const Column& x) {
  Column out(static_cast<std::size_t>(a.rows));
  for (int k = 0; k < a.rows; ++k)
    for (int i = 0; i < a.cols; ++i) out[static_cast<std::size_t>(k)] += a(k, i) * x[static_cast<std::size_t>(i)];
  return out;
}

Column least_squares(const Dense& v, const Column& y) {
  // By the eigenvalues of V V^T: it has fewer rows than V^T V.
  Dense transposed(v.cols, v.rows);
  for (int r = 0; r < v.rows; ++r)
    for (int c = 0; c < v.cols; ++c) transposed(c, r) = v(r, c);
  Dense gram = transpose_times(transposed, transposed);
  const Dense vectors = diagonalize(gram);
  double largest = 0;
  for (int k = 0; k < gram.rows; ++k) largest = std::max(largest, gram(k, k));
  Column x(static_cast<std::size_t>(v.rows));
  for (int k = 0; k < gram.rows; ++k) {
    // 1e-10: (15) of docs/theory/grasp-model.md.
    if (!(gram(k, k) > 1e-10 * largest)) continue;
    double share = 0;
    for (int i = 0; i < v.rows; ++i) share += vectors(i, k) * y[static_cast<std::size_t>(i)];
    for (int i = 0; i < v.rows; ++i) x[static_cast<std::size_t>(i)] += share / gram(k, k) * vectors(i, k);
  }
  return transpose_times(v, x);
}

}  // namespace garra::grasp
