// When a stationary point of a merit function is a solution (docs/theory/equivalence.md). With the derivatives of a
// mixed complementarity problem at a point, G_v regular,
//
//   S = F_u - F_v G_v^-1 G_u                                                                                      (1)
//
// and its principal minors decide: for the Fischer-Burmeister function S in P0 suffices, for the papers' function and
// products S in P, or in an affine feasible problem a row sufficient S, in particular a positive semidefinite one.
// Plain code for one point on the host.
#pragma once

#include "garra/core/names.hpp"
#include "garra/solvers/mncp.hpp"

namespace garra::solvers {

/// Whether the hypothesis under which a stationary point is a solution holds at a point.
enum class Equivalence : unsigned char {
  kProven,     ///< it holds: the point is a solution if it is stationary
  kFails,      ///< it does not: a stationary point need not be a solution
  kUndecided,  ///< more than kMostPairs pairs, or a hypothesis that is not tested
};
[[nodiscard]] constexpr auto names_of(Equivalence) { return names("proven", "hypothesis fails", "not decided"); }

namespace equivalence {

inline constexpr int kMostPairs = 8;  ///< 255 principal minors
/// A principal minor of a matrix with rows and columns of largest entry 1 counts as 0 up to this size.
inline constexpr double kRounding = 1e-12;

/// A square matrix of up to kMostPairs rows.
struct Square {
  int rows = 0;
  double at[kMostPairs][kMostPairs] = {};
};

/// Scales rows and columns in turn until their largest entries are near 1: no sign of a determinant changes.
inline void equilibrate(double (&a)[kMostPairs][kMostPairs], int n) {
  constexpr int kPasses = 4;
  for (int pass = 0; pass < 2 * kPasses; ++pass)
    for (int i = 0; i < n; ++i) {
      const auto entry = [&](int j) -> double& { return pass % 2 == 0 ? a[i][j] : a[j][i]; };
      double largest = 0;
      for (int j = 0; j < n; ++j) largest = max(largest, abs(entry(j)));
      for (int j = 0; j < n && largest > 0; ++j) entry(j) /= largest;
    }
}

/// Determinant of the rows and columns in `members`, which are scaled first, by elimination with the largest pivot of a
/// column.
inline double minor_of(const Square& m, unsigned members) {
  int index[kMostPairs], n = 0;
  for (int i = 0; i < m.rows; ++i)
    if (members >> i & 1U) index[n++] = i;
  double a[kMostPairs][kMostPairs], product = 1;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) a[i][j] = m.at[index[i]][index[j]];
  equilibrate(a, n);
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n; ++i)
      if (abs(a[i][k]) > abs(a[pivot][k])) pivot = i;
    if (a[pivot][k] == 0) return 0;
    if (pivot != k) {
      for (int j = k; j < n; ++j) std::swap(a[pivot][j], a[k][j]);
      product = -product;
    }
    product *= a[k][k];
    for (int i = k + 1; i < n; ++i) {
      const double share = a[i][k] / a[k][k];
      for (int j = k + 1; j < n; ++j) a[i][j] -= share * a[k][j];
    }
  }
  return product;
}

/// Classes of a matrix: all principal minors positive (P), none negative (P0); x'Mx >= 0 (positive semidefinite).
struct Classes {
  bool p = true, p0 = true, semidefinite = true;
};

inline Classes classify(const Square& given) {
  Square symmetric = given;
  for (int i = 0; i < given.rows; ++i)
    for (int j = 0; j < given.rows; ++j) symmetric.at[i][j] = 0.5 * (given.at[i][j] + given.at[j][i]);
  Classes out;
  for (unsigned members = 1; members < 1U << given.rows; ++members) {
    const double minor = minor_of(given, members);
    out.p = out.p && minor > kRounding;
    out.p0 = out.p0 && minor >= -kRounding;
    out.semidefinite = out.semidefinite && minor_of(symmetric, members) >= -kRounding;
  }
  return out;
}

/// Hypotheses of the two theorems at a matrix S. `feasible_affine`: F and G are affine and a feasible point is known.
inline Equivalence by_fischer_burmeister(const Classes& s) { return s.p0 ? Equivalence::kProven : Equivalence::kFails; }
inline Equivalence by_slack(const Classes& s, bool feasible_affine) {
  if (s.p || (s.semidefinite && feasible_affine)) return Equivalence::kProven;
  // Row sufficient matrices are P0; whether a P0 matrix is row sufficient is not decided.
  return s.p0 ? Equivalence::kUndecided : Equivalence::kFails;
}

/// S of (1); false where G_v is singular to rounding.
template <class P>
bool reduced_matrix(const typename P::template Data<double>& d, const MncpVec<P, double>& x, Square& s) {
  constexpr int n = kUnknowns<P>;
  const int p = extent<P::kComplementary>(), all = extent<n>();
  const Large J([&] { return mncp_jacobian<P>(d, x); });
  Large work([&] { return *J; });
  // Eliminates v from all rows, by the rows of G.
  for (int k = p; k < all; ++k) {
    int pivot = k;
    double size = 0;
    for (int i = k; i < all; ++i)
      if (abs((*work)(i, k)) > abs((*work)(pivot, k))) pivot = i;
    for (int j = 0; j < all; ++j) size = max(size, abs((*J)(k, j)));
    if (!(abs((*work)(pivot, k)) > kRounding * size)) return false;
    for (int j = 0; j < all; ++j) std::swap((*work)(pivot, j), (*work)(k, j));
    for (int i = 0; i < all; ++i) {
      if (i >= p && i <= k) continue;
      const double share = (*work)(i, k) / (*work)(k, k);
      for (int j = 0; j < all; ++j) (*work)(i, j) -= share * (*work)(k, j);
    }
  }
  s.rows = p;
  for (int i = 0; i < p; ++i)
    for (int j = 0; j < p; ++j) s.at[i][j] = (*work)(i, j);
  return true;
}

/// Whether w = F - z shows that S is not row sufficient: w_i (S'w)_i <= 0 in all components, < 0 in one.
inline bool refutes_row_sufficiency(const Square& s, const double* w) {
  bool strict = false;
  double size = 0;
  for (int i = 0; i < s.rows; ++i) size = max(size, abs(w[i]));
  if (size == 0) return false;
  for (int i = 0; i < s.rows; ++i) {
    double product = 0, scale = 0;
    for (int j = 0; j < s.rows; ++j) {
      product += s.at[j][i] * (w[j] / size);
      scale = max(scale, abs(s.at[j][i]));
    }
    product *= w[i] / size;
    const double rounding = 1e-7 * (scale > 0 ? scale : 1);
    if (product > rounding) return false;
    strict = strict || product < -rounding;
  }
  return strict;
}

}  // namespace equivalence

}  // namespace garra::solvers
