#include "systems/singularity_dense.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace garra::singularity {

namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr int kSweeps = 60;  ///< six to ten are usual; this bounds matrices that are not finite

double column_dot(const Matrix& a, int i, int j) {
  double sum = 0;
  for (int r = 0; r < a.rows; ++r) sum += a(r, i) * a(r, j);
  return sum;
}

void rotate_columns(Matrix& a, int i, int j, double c, double s) {
  for (int r = 0; r < a.rows; ++r) {
    const double x = a(r, i), y = a(r, j);
    a(r, i) = c * x - s * y;
    a(r, j) = s * x + c * y;
  }
}

/// cos and sin of the smaller rotation that makes [x z; z y] diagonal.
struct Rotation {
  double c, s;
};
Rotation jacobi_rotation(double x, double y, double z) {
  const double zeta = (y - x) / (2 * z);
  const double t = std::copysign(1.0, zeta) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
  const double c = 1 / std::sqrt(1 + t * t);
  return {c, c * t};
}

/// Rotates the columns of `a` until they are orthogonal, `v` with them. Columns that have become rounding errors of the
/// whole are left alone: no direction is left in them.
void orthogonalize(Matrix& a, Matrix& v) {
  double total = 0;
  for (const double x : a.a) total += x * x;
  const double zero = kEps * kEps * total;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool rotated = false;
    for (int i = 0; i < a.cols; ++i) {
      for (int j = i + 1; j < a.cols; ++j) {
        const double x = column_dot(a, i, i), y = column_dot(a, j, j), z = column_dot(a, i, j);
        if (x <= zero || y <= zero || std::abs(z) <= kEps * std::sqrt(x * y)) continue;
        const Rotation r = jacobi_rotation(x, y, z);
        rotate_columns(a, i, j, r.c, r.s);
        rotate_columns(v, i, j, r.c, r.s);
        rotated = true;
      }
    }
    if (!rotated) return;
  }
}

Matrix identity(int n) {
  Matrix e(n, n);
  for (int i = 0; i < n; ++i) e(i, i) = 1;
  return e;
}

Matrix permute_columns(const Matrix& a, const std::vector<int>& order) {
  Matrix out(a.rows, a.cols);
  for (int j = 0; j < a.cols; ++j)
    for (int i = 0; i < a.rows; ++i) out(i, j) = a(i, order[static_cast<std::size_t>(j)]);
  return out;
}

/// Fills in columns from `known` on so that all are orthonormal: each is the unit vector that the columns before it
/// span least, orthogonalized twice.
void complete_basis(Matrix& u, int known) {
  for (int j = known; j < u.cols; ++j) {
    int best = 0;
    double most = -1;
    for (int e = 0; e < u.rows; ++e) {
      double left = 1;
      for (int k = 0; k < j; ++k) left -= u(e, k) * u(e, k);
      if (left > most) {
        most = left;
        best = e;
      }
    }
    for (int r = 0; r < u.rows; ++r) u(r, j) = r == best ? 1 : 0;
    for (int pass = 0; pass < 2; ++pass) {
      for (int k = 0; k < j; ++k) {
        const double along = column_dot(u, k, j);
        for (int r = 0; r < u.rows; ++r) u(r, j) -= along * u(r, k);
      }
    }
    const double length = std::sqrt(column_dot(u, j, j));
    for (int r = 0; r < u.rows; ++r) u(r, j) /= length;
  }
}

}  // namespace

Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix p(a.rows, b.cols);
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < b.cols; ++j)
      for (int k = 0; k < a.cols; ++k) p(i, j) += a(i, k) * b(k, j);
  return p;
}

Matrix operator*(double s, const Matrix& a) {
  Matrix p = a;
  for (double& x : p.a) x *= s;
  return p;
}

Matrix operator+(const Matrix& a, const Matrix& b) {
  Matrix p = a;
  for (std::size_t k = 0; k < p.a.size(); ++k) p.a[k] += b.a[k];
  return p;
}

Matrix transpose(const Matrix& a) {
  Matrix t(a.cols, a.rows);
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.cols; ++j) t(j, i) = a(i, j);
  return t;
}

Matrix columns(const Matrix& a, int first, int count) {
  Matrix out(a.rows, count);
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < count; ++j) out(i, j) = a(i, first + j);
  return out;
}

double row_norm(const Matrix& a, int row) {
  double sum = 0;
  for (int j = 0; j < a.cols; ++j) sum += a(row, j) * a(row, j);
  return std::sqrt(sum);
}

Svd svd(const Matrix& a) {
  Matrix work = a, v = identity(a.cols);
  orthogonalize(work, v);
  std::vector<double> length(static_cast<std::size_t>(a.cols));
  for (int j = 0; j < a.cols; ++j) length[static_cast<std::size_t>(j)] = std::sqrt(column_dot(work, j, j));
  std::vector<int> order(static_cast<std::size_t>(a.cols));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) {
    return length[static_cast<std::size_t>(i)] > length[static_cast<std::size_t>(j)];
  });
  work = permute_columns(work, order);
  Svd out{Matrix(a.rows, a.rows), permute_columns(v, order), {}};
  const int count = std::min(a.rows, a.cols);
  for (int j = 0; j < count; ++j)
    out.sigma.push_back(length[static_cast<std::size_t>(order[static_cast<std::size_t>(j)])]);
  // Directions of columns that are rounding errors mean nothing: the basis is completed in their place.
  const double zero = out.sigma.empty() ? 0 : 64 * kEps * out.sigma[0];
  int known = 0;
  for (; known < count && out.sigma[static_cast<std::size_t>(known)] > zero; ++known)
    for (int r = 0; r < a.rows; ++r) out.U(r, known) = work(r, known) / out.sigma[static_cast<std::size_t>(known)];
  complete_basis(out.U, known);
  return out;
}

std::vector<double> singular_values(const Matrix& a) {
  Matrix work = a.cols > a.rows ? transpose(a) : a, unused(0, work.cols);
  orthogonalize(work, unused);
  std::vector<double> sigma;
  for (int j = 0; j < work.cols; ++j) sigma.push_back(std::sqrt(column_dot(work, j, j)));
  std::sort(sigma.begin(), sigma.end(), std::greater<>());
  return sigma;
}

int rank_of(const std::vector<double>& sigma, double tolerance) {
  int rank = 0;
  for (const double s : sigma)
    if (s > 0 && s > tolerance * sigma[0]) ++rank;
  return rank;
}

int rank_of(const Matrix& a, double tolerance) { return rank_of(singular_values(a), tolerance); }

double sigma_at(const std::vector<double>& sigma, int k) {
  return k >= 1 && static_cast<std::size_t>(k) <= sigma.size() ? sigma[static_cast<std::size_t>(k - 1)] : 0;
}

std::vector<double> symmetric_eigenvalues(Matrix a) {
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    double off = 0, all = 0;
    for (int i = 0; i < a.rows; ++i)
      for (int j = 0; j < a.cols; ++j) (i == j ? all : off) += a(i, j) * a(i, j);
    if (off <= kEps * kEps * (all + off)) break;
    for (int i = 0; i < a.rows; ++i) {
      for (int j = i + 1; j < a.cols; ++j) {
        if (a(i, j) == 0) continue;
        const Rotation r = jacobi_rotation(a(i, i), a(j, j), a(i, j));
        rotate_columns(a, i, j, r.c, r.s);
        a = transpose(a);
        rotate_columns(a, i, j, r.c, r.s);
      }
    }
  }
  std::vector<double> out;
  for (int i = 0; i < a.rows; ++i) out.push_back(a(i, i));
  std::sort(out.begin(), out.end(), std::greater<>());
  return out;
}

}  // namespace garra::singularity
