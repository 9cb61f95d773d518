// Proofs about a friction problem, before or after the solvers (docs/theory/contact-solver.md,
// "Proofs"): that it has no solution, that its matrix has no mechanical meaning, or that a solution
// exists. For single problems, host and device.
#pragma once

#include "garra/core/symmetric_mat.hpp"
#include "garra/solvers/friction_problem.hpp"

namespace garra::solvers {

/// The problem as given, before sliding contacts are eliminated. A(i, k) gives the entries,
/// wherever they are stored.
template <class Entry, int N, int D = 3>
struct GivenProblem {
  Entry A;
  Vec<double, D * N> b;
  Vec<double, N> mu;
  SlidingContacts<double, N, D> sliding;

  [[nodiscard]] GARRA_HD_CALL FrictionSolution<double, N, D> certify(const Candidate<double, N, D>& found,
                                                                     double tolerance) const {
    return certified<double, N, D>(A, b, mu, sliding, found, tolerance);
  }
  [[nodiscard]] GARRA_HD bool all_may_roll() const {
    for (int j = 0; j < extent<N>(); ++j)
      if (sliding.slides(j)) return false;
    return true;
  }
};
template <class Entry, int N, int D = 3>
GARRA_HD GivenProblem<Entry, N, D> given_problem(const Entry& A, const Vec<double, D * N>& b, const Vec<double, N>& mu,
                                                 const SlidingContacts<double, N, D>& sliding) {
  return {A, b, mu, sliding};
}

/// Classification of the matrix.
enum class Definiteness : int {
  kUnsymmetric,   ///< more than rounding: no statement
  kIndefinite,    ///< an eigenvalue is negative by more than rounding
  kSemidefinite,  ///< singular within rounding
  kDefinite,
};

namespace friction_proofs {

/// Factors L L^T = G (Cholesky), in place: `size` rows of the lower triangle. False if impossible.
template <class Matrix>
GARRA_HD_CALL bool cholesky(Matrix& G, int size) {
  for (int j = 0; j < size; ++j) {
    double pivot = G(j, j);
    for (int k = 0; k < j; ++k) pivot = fma(-G(j, k), G(j, k), pivot);
    if (!(pivot > 0)) return false;
    const double root = sqrt(pivot);
    G(j, j) = root;
    for (int i = j + 1; i < size; ++i) {
      double sum = G(i, j);
      for (int k = 0; k < j; ++k) sum = fma(-G(i, k), G(j, k), sum);
      G(i, j) = sum / root;
    }
  }
  return true;
}

/// L L^T x = x, in place.
template <class Matrix>
GARRA_HD_CALL void solve_by_cholesky(const Matrix& L, int size, double* x) {
  for (int i = 0; i < size; ++i) {
    for (int k = 0; k < i; ++k) x[i] = fma(-L(i, k), x[k], x[i]);
    x[i] = x[i] / L(i, i);
  }
  for (int i = size - 1; i >= 0; --i) {
    for (int k = i + 1; k < size; ++k) x[i] = fma(-L(k, i), x[k], x[i]);
    x[i] = x[i] / L(i, i);
  }
}

/// Inverse roots of the contacts' scales: in units of these the mean diagonal of A_jj is 1.
template <class Entry, int N, int D>
GARRA_HD Vec<double, N> inverse_roots(const GivenProblem<Entry, N, D>& p) {
  Vec<double, N> out;
  for (int j = 0; j < extent<N>(); ++j) {
    double trace = p.A(D * j, D * j);
    for (int i = 1; i < D; ++i) trace += p.A(D * j + i, D * j + i);
    const double mean = trace / D;
    out[j] = mean > 0 && is_finite(mean) ? 1 / sqrt(mean) : 1;
  }
  return out;
}

/// Classifies A. Eigenvalues within n 2^-52 of the largest count as zero: rounding of A alone
/// produces them. `room`: a matrix with memory for one more of its kind behind it (FarMat).
template <class Entry, int N, int D, class Matrix>
GARRA_HD_CALL Definiteness definiteness(const GivenProblem<Entry, N, D>& p, const Matrix& room) {
  constexpr int M = D * N;
  constexpr double kUnsymmetric = 1e-6;  // of a matrix with mean diagonal 1
  const Vec<double, N> scale = inverse_roots(p);
  Matrix G;
  take_room(G, room);
  double largest = 0, skew = 0;
  for (int i = 0; i < extent<M>(); ++i) {
    double row = 0;
    for (int k = 0; k < extent<M>(); ++k) {
      const double unit = scale[i / D] * scale[k / D], there = unit * p.A(k, i), here = unit * p.A(i, k);
      row += abs(here);
      skew = max(skew, abs(here - there));
    }
    largest = max(largest, row);
  }
  if (!(skew <= kUnsymmetric * max(largest, 1.0))) return Definiteness::kUnsymmetric;
  const double zero = extent<M>() * (0x1p-52 * largest + skew);
  const auto has_factor = [&](double shift) {
    for (int i = 0; i < extent<M>(); ++i)
      for (int k = 0; k <= i; ++k)
        G(i, k) = (scale[i / D] * scale[k / D]) * (0.5 * (p.A(i, k) + p.A(k, i))) + (i == k ? shift : 0);
    return cholesky(G, extent<M>());
  };
  if (has_factor(-zero)) return Definiteness::kDefinite;
  // The factorization itself needs a little more than rounding (N. J. Higham, Accuracy and Stability, 10.1).
  return has_factor(2 * zero + extent<M>() * (extent<M>() + 1) * 0x1p-53) ? Definiteness::kSemidefinite
                                                                          : Definiteness::kIndefinite;
}

/// The problem of y >= 0 with least y.A y + (b.y + 1)^2, of the normal directions alone, in units
/// of `scale`. Method: C. L. Lawson, R. J. Hanson, Solving Least Squares Problems, 1974, 23, on the
/// normal equations, which a ridge of rounding keeps regular.
template <int N>
struct NormalQuadratic {
  SymmetricMat<double, N> A;  ///< A_nn
  Vec<double, N> b;           ///< largest entry 1

  /// A_nn + b b^T
  [[nodiscard]] GARRA_HD double G(int i, int k) const { return fma(b[i], b[k], A(i, k)); }
};
template <int N>
GARRA_HD_CALL Vec<double, N> least_combination(const NormalQuadratic<N>& q) {
  constexpr double kRidge = 0x1p-52;
  Vec<double, N> y = Vec<double, N>::zero();
  bool in[kCapacity<N>] = {};
  for (int round = 0; round < extent<3 * N>(); ++round) {
    // The steepest descent among the zero entries.
    int enter = -1;
    double steepest = 1e-12;
    for (int i = 0; i < extent<N>(); ++i) {
      if (in[i]) continue;
      double down = -q.b[i];
      for (int k = 0; k < extent<N>(); ++k) down = fma(-q.G(i, k), y[k], down);
      if (down > steepest) {
        steepest = down;
        enter = i;
      }
    }
    if (enter < 0) break;
    in[enter] = true;
    for (int inner = 0; inner <= extent<N>(); ++inner) {
      int who[kCapacity<N>], size = 0;
      for (int i = 0; i < extent<N>(); ++i)
        if (in[i]) who[size++] = i;
      SymmetricMat<double, N> L;
      for (int i = 0; i < size; ++i)
        for (int k = 0; k <= i; ++k) L(i, k) = q.G(who[i], who[k]) + (i == k ? kRidge : 0);
      if (!cholesky(L, size)) return y;
      double to[kCapacity<N>];
      for (int i = 0; i < size; ++i) to[i] = -q.b[who[i]];
      solve_by_cholesky(L, size, to);
      double step = 1;
      for (int i = 0; i < size; ++i)
        if (to[i] <= 0) step = min(step, y[who[i]] / (y[who[i]] - to[i]));
      for (int i = 0; i < size; ++i) {
        double& at = y[who[i]];
        at = fma(step, to[i] - at, at);
        if (to[i] <= 0 && at <= 1e-14 * abs(to[i])) {
          at = 0;
          in[who[i]] = false;
        }
      }
      if (step == 1) break;
    }
  }
  return y;
}

/// Removes from y the error that A_nn sees, by inverse iteration among its nonzero entries.
/// least_combination() is accurate only to the condition of A_nn + b b^T.
template <int N>
GARRA_HD_CALL Vec<double, N> cleared(const NormalQuadratic<N>& q, Vec<double, N> y) {
  constexpr double kPart = 1e-8;  // of the largest entry: less is rounding
  int who[kCapacity<N>], size = 0;
  double largest = 0;
  for (int i = 0; i < extent<N>(); ++i) largest = max(largest, y[i]);
  for (int i = 0; i < extent<N>(); ++i) {
    if (y[i] > kPart * largest)
      who[size++] = i;
    else
      y[i] = 0;
  }
  SymmetricMat<double, N> L;
  for (int i = 0; i < size; ++i)
    for (int k = 0; k <= i; ++k) L(i, k) = q.A(who[i], who[k]) + (i == k ? 8 * extent<N>() * 0x1p-52 : 0);
  if (!cholesky(L, size)) return y;
  double x[kCapacity<N>];
  for (int i = 0; i < size; ++i) x[i] = y[who[i]];
  for (int step = 0; step < 2; ++step) {
    solve_by_cholesky(L, size, x);
    double most = 0;
    for (int i = 0; i < size; ++i) most = max(most, abs(x[i]));
    for (int i = 0; i < size; ++i) x[i] = x[i] / most;
  }
  for (int i = 0; i < size; ++i) y[who[i]] = x[i];
  return y;
}

/// Whether normal forces y that press against one another and accelerate nothing, A E_n y = 0, work
/// against the load, b.y < 0. Then y.a = b.y < 0 for all forces, and some a_n is negative. Rows
/// hold within rounding of A.
template <class Entry, int N, int D>
GARRA_HD_CALL bool closes(const GivenProblem<Entry, N, D>& p) {
  constexpr int M = D * N;
  const Vec<double, N> scale = inverse_roots(p);
  NormalQuadratic<N> q;
  Vec<double, N> size;
  bool approaches = false;
  for (int j = 0; j < extent<N>(); ++j) {
    q.b[j] = scale[j] * p.b[D * j];
    size[j] = abs(q.b[j]);
    approaches = approaches || q.b[j] < 0;
  }
  if (!approaches) return false;
  // Bodies that touch nowhere have a unit each: b.y < 0 in these units holds for one of them.
  size = friction_problem_detail::largest_of_coupled<N, D, double>(p.A, size);
  for (int j = 0; j < extent<N>(); ++j) q.b[j] = size[j] > 0 ? q.b[j] / size[j] : 0;
  for (int i = 0; i < extent<N>(); ++i)
    for (int k = 0; k <= i; ++k) q.A(i, k) = (scale[i] * scale[k]) * (0.5 * (p.A(D * i, D * k) + p.A(D * k, D * i)));
  const Vec<double, N> y = cleared(q, least_combination(q));
  double work = 0, work_size = 0, total = 0;
  for (int j = 0; j < extent<N>(); ++j) {
    work = fma(q.b[j], y[j], work);
    work_size = fma(abs(q.b[j]), y[j], work_size);
    total += y[j];
    if (!(y[j] >= 0)) return false;
  }
  if (!(work < -(extent<M>() * 0x1p-52) * (work_size + total))) return false;
  for (int i = 0; i < extent<M>(); ++i) {
    double sum = 0;
    for (int k = 0; k < extent<N>(); ++k) sum = fma(p.A(i, D * k) * scale[k], y[k], sum);
    if (!(abs(scale[i / D] * sum) <= extent<M>() * 0x1p-52 * total)) return false;
  }
  return true;
}

}  // namespace friction_proofs

}  // namespace garra::solvers
