// The linear complementarity problem and Lemke's method, in batch (docs/theory/lcp.md).
//
//   0 <= z  ⟂  w = M z + q >= 0                                                                        (1)
//
// Lemke's scheme I (R. W. Cottle, J.-S. Pang, R. E. Stone, "The Linear Complementarity Problem",
// 1992, 4.4; CPS below) with the covering vector (1, .., 1) and the lexicographic ratio test (CPS
// 4.9), which cannot cycle. It follows
//
//   w = M z + q + e z_0                                                                                (2)
//
// through almost complementary bases: z_0 is basic, and for one pair (w_r, z_r), the missing one,
// neither variable is. The layout of the dictionary, basic = q + T nonbasic, encodes that
// structure, so that a lane needs no list of the variables' places:
//
//   - row i: the basic variable of pair i (row r: unused); a separate row for z_0;
//   - column i: the nonbasic variable of pair i (column r: the one that left last);
//   - a separate column for the driving variable, the one of pair r that is about to enter.
//
// If row s leaves, the driving variable goes to row r, and column s and the driving column are
// exchanged: a pivot is one rank-1 update and masked moves of one row and one column.
#pragma once

#include "garra/core/factor.hpp"
#include "garra/core/mat.hpp"
#include "garra/core/members.hpp"
#include "garra/core/status.hpp"
#include "garra/solvers/friction_problem.hpp"

namespace garra::solvers {

template <class S, int N>
struct LcpProblem {
  Mat<S, N, N> M;
  Vec<S, N> q;
  static constexpr auto parts() { return std::tuple{&LcpProblem::M, &LcpProblem::q}; }
};

/// A solution and its certificate. Whole numbers are stored as S.
template <class S, int N>
struct LcpSolution {
  Vec<S, N> z;  ///< NaN unless converged or ill-conditioned
  Vec<S, N> w;  ///< M z + q as computed from the problem given; NaN as z
  S residual;   ///< largest |delta_i| / |q|: certify
  S pivots;     ///< exchanges of a basic and a nonbasic variable, that of z_0 included
  S status;     ///< garra::Status: stalled means an end on a ray, which proves nothing unless M is of a special class
  static constexpr auto parts() {
    return std::tuple{&LcpSolution::z, &LcpSolution::w, &LcpSolution::residual, &LcpSolution::pivots,
                      &LcpSolution::status};
  }
};

/// State of a Lemke run, scaled by powers of two: largest |M_ij| and |q_i| are in [1, 2).
template <class S, int N>
struct LemkeState {
  Mat<S, N, N> T;   ///< coefficients of the nonbasic variables
  Vec<S, N> q;      ///< values of the basic variables
  Vec<S, N> drive;  ///< column of the driving variable
  Vec<S, N> cover;  ///< row of z_0
  S cover_q;        ///< value of z_0
  S cover_drive;    ///< its coefficient of the driving variable
  Vec<S, N> is_z;   ///< 1 if z_i is basic, 0 if w_i is; at r: which of the two is driving
  S missing;        ///< r
  S unit;           ///< unit of z
  S inv_q;          ///< 1 / unit of q
  S pivots;
  S reason;   ///< garra::Status of a run that has ended: converged means that z_0 has left
  S running;  ///< 1 while unfinished
};

/// Number of almost complementary bases: r, times the basic variable of every other pair. A
/// lexicographic run meets none twice.
template <int N>
GARRA_HD constexpr int pivot_bound() {
  return extent<N>() <= 16 ? extent<N>() << (extent<N>() - 1) : 1 << 19;
}

/// A solver by Lemke's method. Options are inequalities tested as written.
struct Lemke {
  double tolerance = 1e-8;  ///< converged: residual <= tolerance, rounding included
  int max_pivots = 0;       ///< iteration limit: pivots >= max_pivots; 0: N 2^(N-1), which only rounding can exceed

  template <class S, int N>
  GARRA_HD LemkeState<S, N> start(const LcpProblem<S, N>& given) const;

  /// Does one pivot in every running lane.
  template <class S, int N>
  GARRA_HD void step(LemkeState<S, N>& state) const;

  template <class S, int N>
  static GARRA_HD MaskOf<S> running(const LemkeState<S, N>& state) {
    return state.running > S(0);
  }

  /// z at the last basis, refined once if that helps. Meaningless unless z_0 has left.
  template <class S, int N>
  [[nodiscard]] static GARRA_HD Vec<S, N> answer(const LcpProblem<S, N>& given, const LemkeState<S, N>& state);

  /// Solves one problem per lane.
  template <class S, int N>
  [[nodiscard]] GARRA_HD LcpSolution<S, N> solve(const LcpProblem<S, N>& given) const;
};

/// M z + q
template <class S, int N>
GARRA_HD Vec<S, N> lcp_slack(const LcpProblem<S, N>& p, const Vec<S, N>& z) {
  Vec<S, N> w = p.q;
  for_each_index<N>([&](int i) { for_each_index<N>([&](int j) { w[i] = fma(p.M(i, j), z[j], w[i]); }); });
  return w;
}

/// Result of a solver, input of the certificate.
template <class S, int N>
struct LcpCandidate {
  Vec<S, N> z;
  S reason;  ///< garra::Status to report if the tolerance is not met; converged becomes stalled
  S pivots;
};

/// Change of q with which z and w obey the law, in units of the largest |q|.
template <class S>
struct LcpChange {
  S change;           ///< largest |delta_i|
  S bound;            ///< with the bound of its rounding
  S rounding;         ///< largest 2^-53 (|M| |z|)_i
  MaskOf<S> rounded;  ///< every |delta_i| is within the change by rounding of z alone
};
template <bool kCompensated, class S, int N>
GARRA_HD LcpChange<S> lcp_change(const LcpProblem<S, N>& p, const Vec<S, N>& z, const Vec<S, N>& w, const S& inv_q) {
  using namespace friction_problem_detail;
  LcpChange<S> out{S(0), S(0), S(0), inv_q == inv_q};
  const auto entry = [&](int i, int k) { return p.M(i, k); };
  for_each_index<N>([&](int i) {
    RowChange<S> row;
    if constexpr (kCompensated)
      row = compensated_row_change<N, S>(entry, z, p.q[i], w[i], i);
    else
      row = row_change<N, S>(entry, z, p.q[i], w[i], i);
    const S change = inv_q * abs(row.minus), rounding = S(0x1p-53) * inv_q * row.size;
    out.change = max(out.change, change);
    out.bound = max(out.bound, change + inv_q * row.error);
    out.rounding = max(out.rounding, rounding);
    out.rounded = out.rounded && change <= S(kRoundings) * rounding;
  });
  return out;
}

/// The certificate (docs/theory/lcp.md). z and w >= 0 with z_i w_i = 0 obey the law exactly: of a
/// pair, the smaller of z_i and w_i in units of |q| / |M| and |q| becomes zero. They solve the
/// problem for q + delta, delta = w - (M z + q). `converged` means |delta_i| <= tolerance |q|,
/// rounding included. Only q may change, and |z| is in no scale. `ill_conditioned`: rounding of z
/// alone exceeds a quarter of that. Outputs of an unsolved problem become NaN.
template <class S, int N>
GARRA_HD LcpSolution<S, N> certify(const LcpProblem<S, N>& p, const LcpCandidate<S, N>& found, double tolerance) {
  LcpSolution<S, N> out;
  S size_m = S(0), size_q = S(0), defect = S(0), wild = S(0);
  for_each_index<N>([&](int i) {
    for_each_index<N>([&](int j) {
      size_m = max(size_m, abs(p.M(i, j)));
      defect += p.M(i, j) - p.M(i, j);
    });
    size_q = max(size_q, abs(p.q[i]));
    defect += p.q[i] - p.q[i];
  });
  const S inv_q = S(1) / select(size_q > S(0), size_q, S(1));
  const S inv_z = select(size_m > S(0), size_m, S(1)) * inv_q;
  Vec<S, N> z, w = lcp_slack(p, found.z);
  for_each_index<N>([&](int i) {
    wild += (found.z[i] - found.z[i]) + (w[i] - w[i]);  // min and max ignore a NaN
    const auto bears = inv_z * found.z[i] > inv_q * w[i];
    z[i] = select(bears, max(found.z[i], S(0)), S(0));
    w[i] = select(bears, S(0), max(w[i], S(0)));
  });
  LcpChange<S> change = lcp_change<false>(p, z, w, inv_q);
  const auto sure = change.bound <= S(tolerance);
  if (!all(sure)) {
    const LcpChange<S> exact = lcp_change<true>(p, z, w, inv_q);
    using C = LcpChange<S>;
    take_members(!sure, exact, change, &C::change, &C::bound, &C::rounding);
    change.rounded = select_mask(sure, change.rounded, exact.rounded);
  }
  const auto valid = defect == S(0), found_basis = wild == S(0) && found.reason == S(int(Status::kConverged));
  const auto converged = valid && found_basis && change.bound <= S(tolerance);
  const auto rounded = valid && found_basis && !converged && change.rounded && S(4) * change.rounding > S(tolerance);
  const S failure = select(rounded, S(int(Status::kIllConditioned)), max(found.reason, S(int(Status::kStalled))));
  out.status = select(valid, select(converged, S(int(Status::kConverged)), failure), S(int(Status::kInvalidInput)));
  const S nan = S(__builtin_nan(""));
  const Vec<S, N> slack = lcp_slack(p, z);
  for_each_index<N>([&](int i) {
    out.z[i] = select(converged || rounded, z[i], nan);
    out.w[i] = select(converged || rounded, slack[i], nan);
  });
  out.residual = select(valid && found_basis, change.change, nan);
  out.pivots = found.pivots;
  return out;
}

/// The papers' (45)-(48): the problem in the normal forces of contacts that all slide, A~_nn c_n +
/// b_n, from the result of eliminate_sliding; with mu = 0 the frictionless problem.
template <class S, int N>
GARRA_HD LcpProblem<S, N> normal_problem(const FrictionProblem<S, N>& eliminated) {
  LcpProblem<S, N> p;
  for_each_index<N>([&](int i) {
    for_each_index<N>([&](int j) { p.M(i, j) = eliminated.A(3 * i, 3 * j); });
    p.q[i] = eliminated.b[3 * i];
  });
  return p;
}

namespace lemke {

inline constexpr double kTie = 0x1p-44;  ///< ratios closer than this, relatively, tie: 256 units of rounding
inline constexpr double kGone =
    0x1p-42;  ///< z_0 may leave if this much of it would remain; the largest |q_i| is 1 to 2
inline constexpr double kPivot = 0x1p-44;  ///< entries below this times the largest of their column count as zero
inline constexpr double kSnap = 0x1p-48;   ///< a difference this small relative to its operands is noise

/// The row that leaves, by the ratio test. Ratios q / a are compared as products: no division.
template <class S>
struct Leaving {
  S row;  ///< N: z_0
  S q;    ///< value of its variable
  S a;    ///< rate at which the driving variable lowers it; 0: no limit of the driving variable
};

/// Coefficient of the k-th power of the lexicographic perturbation q + (t, t^2, ..) in row i != r.
/// If w_r is driving, its perturbation moves every row at the same rate: 0 is equivalent to 1.
template <class S, int N>
GARRA_HD S perturbation(const LemkeState<S, N>& s, int i, int k) {
  return select(s.is_z[k] > S(0), -s.T(i, k), S(i == k ? 1 : 0));
}

/// Whether row i is lexicographically smaller than the row chosen so far.
template <class S, int N>
GARRA_HD MaskOf<S> lexicographically_less(const LemkeState<S, N>& s, int i, const S& a, const Leaving<S>& best) {
  MaskOf<S> less(false), undecided(true);
  for_each_index<N>([&](int k) {
    S other = S(0);
    for_each_index<N>([&](int row) { other = select(best.row == S(row), perturbation<S, N>(s, row, k), other); });
    const S mine = perturbation<S, N>(s, i, k) * best.a;
    other = other * a;
    const auto differ = undecided && abs(mine - other) > S(kTie) * (abs(mine) + abs(other) + a * best.a);
    less = less || (differ && mine < other);
    undecided = undecided && !differ;
  });
  return less;
}

/// Arguments of the same test as a function that is not inlined. It is called only for ties, which
/// are rare; unrolled in all N rows it was most of the code.
template <class S, int N>
struct Tie {
  LemkeState<S, N> state;
  int row;
  S a;
  Leaving<S> best;
};
template <class S, int N>
GARRA_HD_CALL void decide_tie(const Tie<S, N>& tie, MaskOf<S>& less) {
  less = lexicographically_less<S, N>(tie.state, tie.row, tie.a, tie.best);
}
template <class S, int N>
GARRA_HD MaskOf<S> less_in_tie(const LemkeState<S, N>& s, int i, const S& a, const Leaving<S>& best) {
#if defined(__CUDA_ARCH__)
  return lexicographically_less<S, N>(s, i, a, best);  // a call would cost every thread a stack
#else
  MaskOf<S> less(false);
  decide_tie<S, N>(Tie<S, N>{s, i, a, best}, less);
  return less;
#endif
}

/// The lexicographic ratio test over the rows of the pairs. z_0 leaves whenever it can, since that
/// gives a solution, and also if only rounding seems to keep it: a residue of z_0 would end on a
/// ray. The certificate tests the result.
template <class S, int N>
GARRA_HD Leaving<S> leaving_row(const LemkeState<S, N>& s) {
  S largest = abs(s.cover_drive);
  for_each_index<N>([&](int i) { largest = select(s.missing == S(i), largest, max(largest, abs(s.drive[i]))); });
  const S least = S(kPivot) * largest;
  Leaving<S> best{S(-1), S(1), S(0)};
  for_each_index<N>([&](int i) {
    const S a = -s.drive[i];
    const auto limits = s.missing != S(i) && a > least;
    const S mine = s.q[i] * best.a, other = best.q * a;
    auto take = limits && mine < other;
    const auto tie = limits && abs(mine - other) <= S(kTie) * other;
    if (any(tie)) take = select_mask(tie, less_in_tie<S, N>(s, i, a, best), take);
    best = {select(take, S(i), best.row), select(take, s.q[i], best.q), select(take, a, best.a)};
  });
  const S a = -s.cover_drive;
  const auto take = a > least && s.cover_q * best.a <= fma(best.q, a, S(kGone) * best.a);
  return {select(take, S(extent<N>()), best.row), select(take, s.cover_q, best.q), select(take, a, best.a)};
}

/// The rows that a pivot exchanges; all false in an idle lane.
template <class S, int N>
struct Exchange {
  MaskOf<S> leaves[kCapacity<N>], enters[kCapacity<N>];
  MaskOf<S> cover_leaves;
  Vec<S, N> row;  ///< the new row: the driving variable in terms of the nonbasic ones; zero in an idle lane
  S q;            ///< its value
  S inverse;      ///< 1 / pivot, positive
};

template <class S, int N>
GARRA_HD Exchange<S, N> exchange(const LemkeState<S, N>& s, const Leaving<S>& leaving, const MaskOf<S>& moves) {
  Exchange<S, N> e;
  e.cover_leaves = moves && leaving.row == S(extent<N>());
  e.inverse = S(1) / select(moves, leaving.a, S(1));
  e.q = select(moves, leaving.q * e.inverse, S(0));
  for_each_index<N>([&](int j) { e.row[j] = select(e.cover_leaves, s.cover[j], S(0)); });
  for_each_index<N>([&](int i) {
    e.leaves[i] = moves && leaving.row == S(i);
    e.enters[i] = moves && s.missing == S(i);
    for_each_index<N>([&](int j) { e.row[j] = select(e.leaves[i], s.T(i, j), e.row[j]); });
  });
  for_each_index<N>([&](int j) { e.row[j] = e.row[j] * e.inverse; });
  return e;
}

/// Updates one row of the dictionary after the pivot: row += rate * (new row), then exchanges
/// column s and the driving column.
template <class S, int N>
GARRA_HD void update_row(const Exchange<S, N>& e, S* row, S& drive) {
  const S rate = drive;
  const S left = -(rate * e.inverse);  // coefficient of the variable that leaves
  for_each_index<N>([&](int j) {
    const S t = fma(rate, e.row[j], row[j]);
    drive = select(e.leaves[j], t, drive);
    row[j] = select(e.leaves[j], left, t);
  });
}

template <class S, int N>
GARRA_HD void pivot(LemkeState<S, N>& s, const Exchange<S, N>& e) {
  for_each_index<N>([&](int i) {
    // Row r was unused; the new row consists of itself only.
    s.drive[i] = select(e.enters[i], S(1), s.drive[i]);
    for_each_index<N>([&](int j) { s.T(i, j) = select(e.enters[i], S(0), s.T(i, j)); });
    const S before = select(e.enters[i], S(0), s.q[i]);
    const S after = fma(s.drive[i], e.q, before);
    s.q[i] = select(after > S(kSnap) * before, after, S(0));  // true degeneracy gives 0, so ties are detected
    update_row<S, N>(e, &s.T(i, 0), s.drive[i]);
    s.is_z[i] = select(e.leaves[i], S(1) - s.is_z[i], s.is_z[i]);
  });
  s.cover_q = max(fma(s.cover_drive, e.q, s.cover_q), S(0));
  update_row<S, N>(e, &s.cover[0], s.cover_drive);
}

/// First pivot: z_0 replaces the most negative w, the last of equal ones (lexicographically least).
template <class S, int N>
GARRA_HD void cover(LemkeState<S, N>& s) {
  S least = s.q[0];
  s.missing = S(0);
  for_each_index<N>([&](int i) {
    const auto take = s.q[i] <= least;
    least = select(take, s.q[i], least);
    s.missing = select(take, S(i), s.missing);
  });
  for_each_index<N>([&](int j) { s.cover[j] = S(0); });
  for_each_index<N>([&](int i) {
    const auto here = s.missing == S(i);
    s.is_z[i] = select(here, S(1), S(0));
    for_each_index<N>([&](int j) { s.cover[j] = select(here, -s.T(i, j), s.cover[j]); });
  });
  s.cover_q = -least;
  for_each_index<N>([&](int i) {
    for_each_index<N>([&](int j) { s.T(i, j) += s.cover[j]; });
    s.q[i] = s.q[i] - least;
  });
  // z_r drives, w_r takes its column: w_i and z_0 contain + w_r.
  const auto move = [&](S* row, S& drive) {
    drive = S(0);
    for_each_index<N>([&](int j) {
      const auto here = s.missing == S(j);
      drive = select(here, row[j], drive);
      row[j] = select(here, S(1), row[j]);
    });
  };
  for_each_index<N>([&](int i) { move(&s.T(i, 0), s.drive[i]); });
  move(&s.cover[0], s.cover_drive);
}

/// 2^k <= size < 2^(k+1) and its reciprocal; 1 for 0.
template <class S>
GARRA_HD factor::Scale<S> power_of_two(const S& size) {
  return factor::find_scale(Mat<S, 1, 1>{{select(size > S(0), size, S(1))}});
}

}  // namespace lemke

template <class S, int N>
GARRA_HD LemkeState<S, N> Lemke::start(const LcpProblem<S, N>& given) const {
  LemkeState<S, N> s;
  S size_m = S(0), size_q = S(0), defect = S(0), least = S(0);
  for_each_index<N>([&](int i) {  // not over N * N: that loop would not be unrolled
    for_each_index<N>([&](int j) {
      size_m = max(size_m, abs(given.M(i, j)));
      defect += given.M(i, j) - given.M(i, j);
    });
    size_q = max(size_q, abs(given.q[i]));
    least = min(least, given.q[i]);
    defect += given.q[i] - given.q[i];
  });
  const auto m = lemke::power_of_two(size_m), q = lemke::power_of_two(size_q);
  s.unit = q.up * m.down;
  s.inv_q = q.down;
  for_each_index<N>([&](int i) { for_each_index<N>([&](int j) { s.T(i, j) = m.down * given.M(i, j); }); });
  s.q = q.down * given.q;
  lemke::cover(s);
  const auto covered = least < S(0) && defect == S(0);  // else z = 0 is the answer, or there is no problem
  for_each_index<N>([&](int i) { s.is_z[i] = select(covered, s.is_z[i], S(0)); });
  s.pivots = s.running = select(covered, S(1), S(0));
  s.reason = S(int(Status::kConverged));
  return s;
}

template <class S, int N>
GARRA_HD void Lemke::step(LemkeState<S, N>& s) const {
  const auto on = running(s);
  const lemke::Leaving<S> leaving = lemke::leaving_row<S, N>(s);
  const auto ray = on && !(leaving.a > S(0));
  const auto moves = on && leaving.a > S(0);
  const lemke::Exchange<S, N> e = lemke::exchange<S, N>(s, leaving, moves);
  lemke::pivot<S, N>(s, e);
  s.missing = select(moves, leaving.row, s.missing);
  s.pivots += select(moves, S(1), S(0));
  const auto limit = moves && !e.cover_leaves && s.pivots >= S(max_pivots > 0 ? max_pivots : pivot_bound<N>());
  s.reason = select(ray, S(int(Status::kStalled)), select(limit, S(int(Status::kIterationLimit)), s.reason));
  s.running = select(ray || limit || e.cover_leaves, S(0), s.running);
}

template <class S, int N>
GARRA_HD Vec<S, N> Lemke::answer(const LcpProblem<S, N>& given, const LemkeState<S, N>& s) {
  const auto basic = [&](int i) { return s.is_z[i] > S(0); };
  const auto error = [&](const Vec<S, N>& z, const Vec<S, N>& w) {
    S largest = S(0);
    for_each_index<N>([&](int i) { largest = max(largest, abs(min(z[i], (s.unit * s.inv_q) * w[i]))); });
    return largest;
  };
  Vec<S, N> z, refined;
  for_each_index<N>([&](int i) { z[i] = select(basic(i), s.unit * s.q[i], S(0)); });
  // The dictionary holds the inverse of the basic block of M: a step of iterative refinement costs one product.
  const Vec<S, N> w = lcp_slack(given, z);
  for_each_index<N>([&](int i) {
    S correction = S(0);
    for_each_index<N>([&](int j) { correction = fma(select(basic(j), s.T(i, j), S(0)), s.inv_q * w[j], correction); });
    const S zi = fma(-s.unit, correction, z[i]);
    refined[i] = select(basic(i) && zi > S(0), zi, S(0));
  });
  // If the block is nearly singular its exact solution may be negative though z is accurate.
  const auto better = error(refined, lcp_slack(given, refined)) <= error(z, w);
  return select(better, refined, z);
}

template <class S, int N>
GARRA_HD LcpSolution<S, N> Lemke::solve(const LcpProblem<S, N>& given) const {
  LemkeState<S, N> s = start(given);
  while (any(running(s))) step(s);
  return certify(given, LcpCandidate<S, N>{answer(given, s), s.reason, s.pivots}, tolerance);
}

}  // namespace garra::solvers
