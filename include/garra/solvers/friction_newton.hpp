// Semismooth Newton on the Alart-Curnier function, with restarts (docs/theory/contact-solver.md).
//
// Written as start / step / running so that an executor schedules the steps: a scalar loop, a GPU
// thread, or SIMD lanes in which a finished lane takes the next problem. A lane's arithmetic never
// depends on its neighbors, so every schedule gives the same bits.
//
// With rho_n, rho_t > 0, y = c_t - rho_t a_t and kappa = max(0, c_n - rho_n a_n), a root of
//
//     F_n = c_n - kappa,   F_t = c_t - (projection of y on the disk of radius mu kappa)                  (4)
//
// solves the friction problem. Per contact F is in one of three pieces, each with its own rows of
// the Jacobian:
//
//     open   kappa = 0:          F = c                                                                   (5a)
//     stick  |y| <= mu kappa:    F = (rho_n a_n, rho_t a_t)                                              (5b)
//     slip   otherwise:          F_n = rho_n a_n,  F_t = c_t - mu kappa y / |y|                          (5c)
#pragma once

#include "garra/core/factor.hpp"
#include "garra/solvers/friction_problem.hpp"

namespace garra::solvers {

/// State of the solver on one problem, in scaled units (friction_scale). All members are S, except
/// the matrix if it is stored elsewhere (FarMat): the problem's, with memory for another behind it.
template <class S, int N, int D = 3, class Matrix = Mat<S, D * N, D * N>>
struct FrictionState {
  FrictionProblem<S, N, D, Matrix> problem;  ///< largest diagonal entry of A and largest |b| are 1
  Vec<S, D * N> c;                           ///< iterate (force)
  Vec<S, D * N> a;                           ///< A c + b at the iterate
  Vec<S, D * N> base;                        ///< force from which the sweeps of the next restart continue
  /// 1 / (max(1, mu) A_nn) and 2 / (A_tt + A_oo). A longer step along the normal turns errors of
  /// a_n into mu times as much friction: with steps of 1 / A_nn an eighth of the problems with mu
  /// up to 1e9 were not solved.
  Vec<S, N> rho_n, rho_t;
  LoadScale<S, N> scale;  ///< unit of changes of the load
  S unit;                 ///< force unit: size_b / size_a of friction_scale
  S rho;                  ///< factor on rho_n and rho_t in this stage
  S stage;                ///< number of the restart
  S stage_steps;          ///< Newton steps since the restart
  S steps;                ///< Newton steps taken in all
  S shortened;            ///< consecutive steps that the line search shortened
  S weyl;                 ///< low-discrepancy number in [0, 1) that spreads the random starts
  S lost;                 ///< 1: passed to other solvers before the limit
  S running;              ///< 1 while unfinished
  static constexpr auto parts() {
    return std::tuple{
        &FrictionState::problem,   &FrictionState::c,     &FrictionState::a,           &FrictionState::base,
        &FrictionState::rho_n,     &FrictionState::rho_t, &FrictionState::scale,       &FrictionState::unit,
        &FrictionState::rho,       &FrictionState::stage, &FrictionState::stage_steps, &FrictionState::steps,
        &FrictionState::shortened, &FrictionState::weyl,  &FrictionState::lost,        &FrictionState::running};
  }
};

/// Newton steps before the fallback solvers (friction_fallback.hpp), two starts: interior points
/// solve the remaining problems at less cost (docs/theory/contact-solver.md, "Effort"). The second
/// number is for full effort and for problems without fallback solvers.
inline constexpr int kMaxNewtonSteps = 20, kMaxFullSteps = 112;

/// The main friction contact solver. An option is an inequality that is tested as written.
struct FrictionNewton {
  double tolerance = 1e-8;    ///< stop: relative change of the load <= tolerance / 2 (the certificate tests tolerance)
  int max_iterations = 1000;  ///< stop: steps >= max_iterations, over all stages, those of other solvers included
  int stage_steps = 10;       ///< restart: stage_steps >= this
  int first_sweeps = 3;       ///< projected Gauss-Seidel sweeps after the stick force, none after a given guess
  bool cold = false;          ///< start from zero instead of the stick force (to look for a second solution)
  bool restarts = true;       ///< false: no restarts; a problem that does not converge at once is stalled
  bool full = false;          ///< unlimited effort: kMaxFullSteps steps, then every solver to its own limit

  template <class S, int N, int D, class Matrix>
  GARRA_HD FrictionState<S, N, D, Matrix> start(const FrictionProblem<S, N, D, Matrix>& given) const {
    return start(given, Vec<S, D * N>::zero());
  }

  /// Starts from an approximate force, in the problem's own units: the guess projected on the
  /// cones. A guess that is zero or not finite is ignored.
  template <class S, int N, int D, class Matrix>
  GARRA_HD FrictionState<S, N, D, Matrix> start(const FrictionProblem<S, N, D, Matrix>& given,
                                                const Vec<S, D * N>& guess) const;

  template <class S, int N, int D, class Matrix>
  GARRA_HD void step(FrictionState<S, N, D, Matrix>& state) const;

  template <class S, int N, int D, class Matrix>
  static GARRA_HD MaskOf<S> running(const FrictionState<S, N, D, Matrix>& state) {
    return state.running > S(0);
  }

  /// Whether fallback solvers follow the restarts: not in the search for a second solution, where
  /// they would find the first again.
  [[nodiscard]] GARRA_HD bool goes_on() const { return restarts && !cold; }
  /// Step limit of this solver. With `numbers` = 4 a contact no fallback solvers follow.
  [[nodiscard]] GARRA_HD int most_steps(int numbers = 3) const {
    const int mine = restarts ? (goes_on() && !full && numbers == 3 ? kMaxNewtonSteps : kMaxFullSteps) : max_iterations;
    return min(mine, max_iterations);
  }

  /// The candidate for the certificate: the iterate in the problem's own units.
  template <class S, int N, int D, class Matrix>
  [[nodiscard]] GARRA_HD Candidate<S, N, D> candidate(const FrictionState<S, N, D, Matrix>& state) const {
    return candidate<S, N, D>(state.unit * state.c, ended(state), state.steps, state.stage);
  }
  /// kStalled is ignored if the certificate accepts the candidate. kIterationLimit means that
  /// fallback solvers may follow; it also applies if rounding of the forces might spoil the result.
  template <class S, int N, int D, class Matrix>
  [[nodiscard]] GARRA_HD S ended(const FrictionState<S, N, D, Matrix>& state) const {
    const auto limit =
        state.steps >= S(most_steps(D)) || state.lost > S(0) || rounding_counts(state.c, state.scale, tolerance);
    return select(limit, S(int(Status::kIterationLimit)), S(int(Status::kStalled)));
  }
  template <class S, int N, int D = 3>
  [[nodiscard]] GARRA_HD Candidate<S, N, D> candidate(const Vec<S, D * N>& c, const S& reason, const S& steps,
                                                      const S& stage) const {
    Effort<S> effort = Effort<S>::none();
    effort.outer = steps;
    effort.stage = stage;
    return make_candidate<S, N, D>(c, reason, effort);
  }

  /// Solves one problem per lane.
  template <class S, int N, int D = 3>
  [[nodiscard]] GARRA_HD FrictionSolution<S, N, D> solve(const FrictionProblem<S, N, D>& given) const {
    FrictionState<S, N, D> state = start(given);
    while (any(running(state))) step(state);
    return certify(given, candidate(state), tolerance);
  }
};

namespace friction_newton {

/// Step lengths of the function (4) at one contact.
template <class S>
struct Rho {
  S n, t;
};
template <class S, int N, int D, class Matrix>
GARRA_HD Rho<S> local_rho(const FrictionState<S, N, D, Matrix>& s, int j) {
  return {s.rho * s.rho_n[j], s.rho * s.rho_t[j]};
}

/// Factor by which the step along the normal is shorter: max(1, mu), limited so that rows of the
/// Jacobian keep a size.
template <class S>
GARRA_HD S normal_share(const S& mu) {
  return min(max(S(1), mu), S(1e8));
}

/// 1 / A_nn, and 1 over the mean of the tangential diagonal entries: 2 / (A_tt + A_oo), of a contact's block of A.
template <class S>
GARRA_HD Rho<S> rho_of_means(const S& an, const S& at) {
  // An immobile direction (A_jj = 0) gets the step of an ordinary one; the largest A_jj is 1.
  return {S(1) / select(an > S(1e-12), an, S(1)), S(1) / select(at > S(1e-12), at, S(1))};
}

template <class S>
GARRA_HD Rho<S> diagonal_rho(const S& an, const S& att, const S& aoo) {
  return rho_of_means(an, S(0.5) * (att + aoo));
}

template <class S, int N, int D = 3, class Matrix>
GARRA_HD Rho<S> diagonal_rho(const Matrix& A, int j) {
  S sum = A(D * j + 1, D * j + 1);
  for_each_index<D - 2>([&](int i) { sum = sum + A(D * j + 2 + i, D * j + 2 + i); });
  return rho_of_means(A(D * j, D * j), S(1.0 / (D - 1)) * sum);
}

/// The piece of (4) that a contact is in, F there, and the data for its rows of the Jacobian.
template <class S, int D>
struct Piece {
  MaskOf<S> open, stick;
  Vec<S, D> F;
  Vec<S, D - 1> d;  ///< unit direction of y
  S beta;           ///< mu kappa / |y|, in (0, 1) if the contact slips
};
template <class S, int D>
GARRA_HD Piece<S, D> classify(const Vec<S, D>& c, const Vec<S, D>& a, const S& mu, const Rho<S>& rho) {
  Piece<S, D> p;
  const S kappa = fma(-rho.n, a[0], c[0]);
  Vec<S, D> y;
  y[0] = kappa;
  for_each_index<D - 1>([&](int i) { y[i + 1] = fma(-rho.t, a[i + 1], c[i + 1]); });
  const S length = tangential_length(y);
  const S radius = mu * max(kappa, S(0));
  p.open = kappa <= S(0);
  p.stick = !p.open && length <= radius;
  const S inv = S(1) / select(length > S(0), length, S(1));
  p.beta = radius * inv;
  p.F[0] = select(p.open, c[0], rho.n * a[0]);
  for_each_index<D - 1>([&](int i) {
    p.d[i] = y[i + 1] * inv;
    p.F[i + 1] = select(p.open, c[i + 1], select(p.stick, rho.t * a[i + 1], fma(-radius, p.d[i], c[i + 1])));
  });
  return p;
}

/// |F|^2 of (4).
template <class S, int N, int D, class Matrix>
GARRA_HD S merit(const FrictionState<S, N, D, Matrix>& s, const Vec<S, D * N>& c, const Vec<S, D * N>& a) {
  S sum = S(0);
  for_each_index<N>([&](int j) {
    const Rho<S> rho = local_rho(s, j);
    const Piece<S, D> p = classify(contact<S, N, D>(c, j), contact<S, N, D>(a, j), s.problem.mu[j], rho);
    sum += dot(p.F, p.F);
  });
  return sum;
}

/// One contact's force for a = A c + b in its rows while the others keep theirs: normal force, then
/// friction with its new bound. `column`: change of (a_t, a_o) per unit of normal force.
template <class S, int D, int T>
GARRA_HD Vec<S, D> swept(const Vec<S, D>& c, const Vec<S, D>& a, const S (&column)[T], const S& mu, const Rho<S>& rho) {
  static_assert(T == D - 1);
  const S cn = max(fma(-rho.n, a[0], c[0]), S(0));
  Vec<S, D> y;
  y[0] = cn;
  for_each_index<T>([&](int i) { y[i + 1] = fma(-rho.t, fma(column[i], cn - c[0], a[i + 1]), c[i + 1]); });
  const S length = tangential_length(y);
  const S radius = mu * cn;
  const S shrink = select(length > radius, radius / select(length > S(0), length, S(1)), S(1));
  for_each_index<T>([&](int i) { y[i + 1] = shrink * y[i + 1]; });
  return y;
}

/// Whether |F|^2 = m after a step of length t is a sufficient decrease.
template <class S>
GARRA_HD MaskOf<S> decreases(const S& m, const S& t, const S& before) {
  return m <= (S(1) - S(1e-4) * t) * before;
}

/// 1 / A_nn and 2 / (A_tt + A_oo): the steps of Gauss-Seidel, which takes the normal direction first.
template <class S, int N, int D, class Matrix>
GARRA_HD Rho<S> gauss_seidel_rho(const FrictionState<S, N, D, Matrix>& s, int j) {
  return {s.rho_n[j] * normal_share(s.problem.mu[j]), s.rho_t[j]};
}

/// One sweep of projected Gauss-Seidel over the contacts.
template <class S, int N, int D, class Matrix>
GARRA_HD Vec<S, D * N> sweep(const FrictionState<S, N, D, Matrix>& s, const Vec<S, D * N>& from) {
  const FrictionProblem<S, N, D, Matrix>& p = s.problem;
  Vec<S, D* N> c = from;
  for_each_index<N>([&](int j) {
    const int n = D * j;
    Vec<S, D> a = contact<S, N, D>(p.b, j);
    for_each_index<D>([&](int i) { for_each_index<D * N>([&](int k) { a[i] = fma(p.A(n + i, k), c[k], a[i]); }); });
    S column[D - 1];
    for_each_index<D - 1>([&](int i) { column[i] = p.A(n + 1 + i, n); });
    set_contact<S, N, D>(c, j, swept(contact<S, N, D>(c, j), a, column, p.mu[j], gauss_seidel_rho(s, j)));
  });
  return c;
}

/// Whether a stick force is useful, by its largest component: scaled forces are of order 1 to 10.
template <class S>
GARRA_HD MaskOf<S> is_useful(const S& largest) {
  return largest <= S(100);
}

/// A symmetric scaled A with an eigenvalue below minus this has no mechanical meaning. (Problems
/// with a smaller one may still have a valid solution.)
template <class S>
inline constexpr RealOf<S> kIndefinite = sizeof(RealOf<S>) == 8 ? RealOf<S>(1e-6) : RealOf<S>(1e-3);

/// Whether the least pivot of the scaled A may show such an eigenvalue. If A is singular it may
/// also be rounding; the least pivot of A + kIndefinite 1 then decides.
template <class S>
GARRA_HD MaskOf<S> may_be_indefinite(const S& least_pivot) {
  return least_pivot < S(-kIndefinite<S>);
}

/// Whether A is symmetric to rounding; the factors use its lower triangle only.
template <class S, int N, int D, class Matrix>
GARRA_HD MaskOf<S> is_symmetric(const FrictionProblem<S, N, D, Matrix>& p) {
  S skew = S(0);
  for (int i = 0; i < extent<D * N>(); ++i)
    for (int k = 0; k < i; ++k) skew = max(skew, abs(p.A(i, k) - p.A(k, i)));
  return skew <= S(1e-12);
}

/// Entries of the matrix A + shift 1.
template <class S, class Matrix>
struct ShiftedEntries {
  const Matrix& A;
  S shift;

  GARRA_HD S operator()(int i, int k) const { return i == k ? A(i, k) + shift : A(i, k); }
};

/// Least pivot of A + shift 1.
template <class S, int N, int D, class Matrix>
GARRA_HD_CALL S least_shifted_pivot(const FrictionProblem<S, N, D, Matrix>& p, const S& shift) {
  Ldlt<S, D * N, Matrix> f;
  take_room(f.l, p.A);
  f.bad_pivots = S(0);
  const ShiftedEntries<S, Matrix> entries{p.A, shift};
  for_each_index<D * N>([&](int j) { factor::ldlt_step(entries, f, j, factor::rounding_noise<S>(extent<D * N>())); });
  S least = S(0);
  for_each_index<D * N>([&](int i) { least = min(least, f.d[i]); });
  return least;
}

/// First iterate: the stick force -A^-1 b projected on the cones, so that a grasp that holds is
/// solved by one factorization. If A is (nearly) singular that force can be huge; then zero.
template <class S, int N, int D, class Matrix>
GARRA_HD Vec<S, D * N> first_guess(const FrictionProblem<S, N, D, Matrix>& p, MaskOf<S>& indefinite) {
  const auto f = factor_ldlt(p.A);
  S least = S(0);
  for_each_index<D * N>([&](int i) { least = min(least, f.d[i]); });
  indefinite = may_be_indefinite(least);
  const Vec<S, D* N> c = solve(f, -p.b);
  S largest = S(0);
  for (int i = 0; i < extent<D * N>(); ++i) largest = max(largest, abs(c[i]));
  // After the solve, because it reuses the memory of the factors.
  if (any(indefinite))
    indefinite = indefinite && is_symmetric(p) && least_shifted_pivot<S, N, D>(p, S(kIndefinite<S>)) < S(0);
  return select(is_useful(largest), project_on_cones<S, N, D>(c, p.mu), Vec<S, D * N>::zero());
}

/// A guess of the force (in the units of the scaled problem), and whether it is useful: not if it
/// is zero or not finite.
template <class S, int N, int D = 3>
struct Guess {
  Vec<S, D * N> c;
  MaskOf<S> useful;
};
template <class S, int N, int D = 3>
GARRA_HD MaskOf<S> says_anything(const Vec<S, D * N>& guess, const S& inv_unit) {
  S size = S(0);
  for (int i = 0; i < extent<D * N>(); ++i) size += abs(guess[i]);
  const S scaled = inv_unit * size;
  return scaled > S(0) && is_finite(scaled);
}
template <class S, int N, int D = 3>
GARRA_HD Guess<S, N, D> scaled_guess(const Vec<S, D * N>& guess, const S& unit) {
  const S inv_unit = S(1) / unit;
  return {inv_unit * guess, says_anything<S, N, D>(guess, inv_unit)};
}

/// Added to the diagonal of the scaled A in the Jacobian (not in F): if A is singular the step
/// stays short along the undetermined internal forces. It raises the solved share of rigid grasps
/// by 0.15 % and saves 14 % of their steps; if A is regular it changes a step by 1e-10.
inline constexpr double kRegularization = 1e-10;

/// Rows of one contact in the Newton system J d = -F: weights on its rows of A, additions to its
/// own block, and the right-hand sides. T numbers are tangential; i and k count them.
template <class S, int D>
struct RowWeights {
  static constexpr int T = D - 1;
  S wn;                ///< J_n = wn A_n
  Mat<S, T, T> w;      ///< J_i = sum over k of w_ik A_k; symmetric
  S nn;                ///< added to J_nn
  Mat<S, T, T> added;  ///< to J_ik: the direct dependence on c; symmetric
  Vec<S, T> taken;     ///< from J_in
  Vec<S, D> rhs;
};
template <class S, int D>
GARRA_HD RowWeights<S, D> row_weights(const Piece<S, D>& p, const Rho<S>& rho, const S& its_mu,
                                      double regularization = kRegularization) {
  constexpr int T = D - 1;
  RowWeights<S, D> out;
  const auto slip = !p.open && !p.stick;
  // Weights on the rows of A: open 0, stick rho I, slip beta rho (I - d d^T).
  const S g = select(slip, p.beta * rho.t, S(0));
  out.wn = select(p.open, S(0), rho.n);
  // Direct dependence on c: open I; slip (1 - beta) I + beta d d^T on the tangential part, and -mu
  // d (d kappa). Here d kappa = dc_n + rho_n a_n because row n demands rho_n da_n = -rho_n a_n.
  const S mu = select(slip, its_mu, S(0));
  const S b = select(slip, p.beta, S(0));
  const S keep = select(p.stick, S(0), S(1) - b);
  out.nn = select(p.open, S(1), out.wn * S(regularization));
  out.rhs[0] = -p.F[0];
  for_each_index<T>([&](auto i) {
    // 1 - d_i^2 is the sum of the other components' squares.
    S others = S(0);
    for_each_index<T>([&](auto k) {
      if (k == i) return;
      const bool first = k == (i == 0 ? 1 : 0);
      others = first ? p.d[k] * p.d[k] : fma(p.d[k], p.d[k], others);
    });
    out.w(i, i) = select(p.stick, rho.t, g * others);
    out.added(i, i) = fma(b, p.d[i] * p.d[i], keep) + out.w(i, i) * S(regularization);
    for_each_index<T>([&](auto k) {
      if (k >= i) return;
      out.w(k, i) = out.w(i, k) = -(g * (p.d[k] * p.d[i]));
      out.added(k, i) = out.added(i, k) = b * (p.d[k] * p.d[i]);
    });
    out.taken[i] = mu * p.d[i];
    out.rhs[i + 1] = fma(out.taken[i], p.F[0], -p.F[i + 1]);
  });
  return out;
}

/// Row r of contact j in the Newton system.
template <class S, int N, int D, class Matrix>
GARRA_HD Vec<S, D * N> newton_row(const FrictionProblem<S, N, D, Matrix>& q, int j, int r, const RowWeights<S, D>& w) {
  constexpr int T = D - 1;
  Vec<S, D * N> row;
  const int n = D * j;
  for_each_index<D * N>([&](int k) {
    if (r == 0) {
      row[k] = w.wn * q.A(n, k);
      return;
    }
    S sum = w.w(r - 1, T - 1) * q.A(n + T, k);
    for_each_index<T - 1>([&](int from_end) {
      const int m = T - 2 - from_end;
      sum = fma(w.w(r - 1, m), q.A(n + 1 + m, k), sum);
    });
    row[k] = sum;
  });
  if (r == 0) {
    row[n] += w.nn;
  } else {
    for_each_index<T>([&](int k) { row[n + 1 + k] += w.added(r - 1, k); });
    row[n] -= w.taken[r - 1];
  }
  return row;
}

/// 1 / pivot; a vanishing pivot is replaced.
template <class S>
GARRA_HD S inverse_pivot(const S& pivot) {
  return S(1) / select(abs(pivot) > S(1e-14), pivot, S(1e-14));
}

/// Upper triangular factor under construction: its diagonal inverted, with the right-hand side.
template <class S, int M, class Matrix>
struct Triangle {
  Matrix U;
  Vec<S, M> rhs;
};

/// Eliminates row i against the rows before it, without pivoting, and adds it to the triangle. The
/// row stays in registers, and neither L nor the unfinished rows are stored: half the working set
/// of an elimination in place. The rows of (5) keep their weight on or near the diagonal: row
/// exchanges solve no more problems and cost 45 % of the time. A vanishing pivot is replaced, so
/// finite input never gives NaN. The line search and the restarts handle poor directions.
template <class S, int M, class Matrix>
GARRA_HD void add_row(Triangle<S, M, Matrix>& tri, int i, Vec<S, M> row, S rhs) {
  for_indices_between<M>(0, i, [&](int k) {
    const S f = -(row[k] * tri.U(k, k));
    for_indices_between<M>(k + 1, extent<M>(), [&](int j) { row[j] = fma(f, tri.U(k, j), row[j]); });
    rhs = fma(f, tri.rhs[k], rhs);
  });
  tri.U(i, i) = inverse_pivot(row[i]);
  for_indices_between<M>(i + 1, extent<M>(), [&](int j) { tri.U(i, j) = row[j]; });
  tri.rhs[i] = rhs;
}

/// Known terms come first in every sum: each sum then waits for one product at most.
template <class S, int M, class Matrix>
GARRA_HD Vec<S, M> back_substitute(const Triangle<S, M, Matrix>& tri) {
  Vec<S, M> x = tri.rhs;
  for_each_index<M>([&](auto from_end) {
    const int k = extent<M>() - 1 - from_end;
    S sum = x[k];
    for_indices_between<M>(0, from_end, [&](int known) {
      const int j = extent<M>() - 1 - known;
      sum = fma(-tri.U(k, j), x[j], sum);
    });
    x[k] = sum * tri.U(k, k);
  });
  return x;
}

/// Newton direction of (4), and |F|^2 at its start.
template <class S, int N, int D, class Matrix>
GARRA_HD Vec<S, D * N> direction(const FrictionState<S, N, D, Matrix>& s, S& merit0) {
  Triangle<S, D * N, Matrix> tri;
  take_room(tri.U, s.problem.A);
  merit0 = S(0);
  const auto contact_rows = [&](int j) {
    const Rho<S> rho = local_rho(s, j);
    const Piece<S, D> p = classify(contact<S, N, D>(s.c, j), contact<S, N, D>(s.a, j), s.problem.mu[j], rho);
    merit0 += dot(p.F, p.F);
    const RowWeights<S, D> w = row_weights(p, rho, s.problem.mu[j]);
    for_each_index<D>([&](int r) { add_row(tri, D * j + r, newton_row(s.problem, j, r, w), w.rhs[r]); });
  };
  for_each_index<N>(contact_rows);
  return back_substitute(tri);
}

/// Restarts: number of sweeps before Newton, factor on rho, and starts spread over the cones' axes.
template <class S>
GARRA_HD S stage_sweeps(const S& stage) {
  return select(stage == S(1), S(30), select(stage == S(3), S(300), S(100)));
}
template <class S>
GARRA_HD S stage_rho(const S& stage) {
  return select(stage == S(2), S(0.3), select(stage == S(3), S(3), S(1)));
}
template <class S>
GARRA_HD S next_weyl(const S& weyl) {
  const S next = weyl + S(0.6180339887498949);
  return select(next >= S(1), next - S(1), next);
}
GARRA_HD double next_shift(double shift) {
  return shift + 0.7548776662466927 >= 1 ? shift + 0.7548776662466927 - 1 : shift + 0.7548776662466927;
}
template <class S>
GARRA_HD S spread_force(const S& weyl, double shift, const S& rho_n) {
  S w = weyl + S(shift);
  w = select(w >= S(1), w - S(1), w);
  return S(30) * (w * w * w) * rho_n;
}

/// Begins the next restart: 30, 100, 300 more sweeps from the end of the last ones, with rho x 1,
/// 0.3, 3; then starts spread over the cones' axes by a Weyl sequence. Newton follows each.
template <class S, int N, int D, class Matrix>
GARRA_HD void next_restart(FrictionState<S, N, D, Matrix>& s, const MaskOf<S>& moving) {
  s.stage = select(moving, s.stage + S(1), s.stage);
  s.weyl = select(moving, next_weyl(s.weyl), s.weyl);
  const auto spread = s.stage > S(3);
  Vec<S, D* N> c = s.base;
  double shift = 0;
  for (int j = 0; j < extent<N>(); ++j) {
    c[D * j] = select(spread, spread_force(s.weyl, shift, gauss_seidel_rho(s, j).n), c[D * j]);
    for (int i = 1; i < D; ++i) c[D * j + i] = select(spread, S(0), c[D * j + i]);
    shift = next_shift(shift);
  }
  const S sweeps = stage_sweeps(s.stage);
  for (int k = 0; k < 300; ++k) {
    const auto on = moving && S(k) < sweeps;
    if (!any(on)) break;
    c = select(on, sweep(s, c), c);
  }
  s.rho = select(moving, stage_rho(s.stage), s.rho);
  s.base = select(moving, c, s.base);
  s.c = select(moving, c, s.c);
  s.a = select(moving, s.problem.A * c + s.problem.b, s.a);
  s.stage_steps = select(moving, S(0), s.stage_steps);
}

/// Whether enough lanes wait for their restart to run it now: its sweeps take as long for one lane
/// as for all. (Separate restarts took a fifth of the time of five rigid contacts.)
template <class S>
GARRA_HD bool enough(const MaskOf<S>& moving) {
  if constexpr (kWidth<S> == 1) {
    return moving;
  } else {
    int lanes = 0;
    for (int lane = 0; lane < kWidth<S>; ++lane) lanes += moving[lane];
    return 2 * lanes >= kWidth<S>;
  }
}

}  // namespace friction_newton

template <class S, int N, int D, class Matrix>
GARRA_HD FrictionState<S, N, D, Matrix> FrictionNewton::start(const FrictionProblem<S, N, D, Matrix>& given,
                                                              const Vec<S, D * N>& guess) const {
  using namespace friction_newton;
  FrictionState<S, N, D, Matrix> s;
  const Scaled<S, N, D, Matrix> in = scaled(given);
  s.problem = in.problem;
  s.unit = in.unit;
  s.scale = load_scale(s.problem);
  s.lost = S(0);
  for_each_index<N>([&](int j) {
    const auto rho = diagonal_rho<S, N, D>(s.problem.A, j);
    s.rho_n[j] = rho.n / normal_share(s.problem.mu[j]);
    s.rho_t[j] = rho.t;
  });
  const Guess<S, N, D> near = scaled_guess<S, N, D>(guess, s.unit);
  s.c = Vec<S, D * N>::zero();
  auto indefinite = MaskOf<S>(false);
  if (!cold && any(!near.useful)) s.c = first_guess(s.problem, indefinite);
  if (any(near.useful)) s.c = select(near.useful, project_on_cones<S, N, D>(near.c, s.problem.mu), s.c);
  s.a = s.problem.A * s.c + s.problem.b;
  s.base = Vec<S, D * N>::zero();
  s.rho = S(1);
  s.stage = s.stage_steps = s.steps = s.shortened = s.weyl = S(0);
  // An invalid problem never runs; certify names it. Entries of A or b that are not finite make A c
  // + b not finite, whatever c is: testing A c + b costs a tenth of testing A.
  const auto valid = friction_problem_detail::defects<S, N, D>(s.a, s.problem.mu) == S(0);
  const auto first = check_iterate(s.problem, s.scale, s.c, s.a, tolerance);
  s.running = select(valid && !first.lost && !first.solved && S(max_iterations) > S(0), S(1), S(0));
  // No mechanical problem: some force accelerates against itself. The fallback solvers decide.
  if (any(indefinite)) {
    s.lost = select(indefinite, S(1), S(0));
    s.running = select(indefinite, S(0), s.running);
  }
  // After a guess sweeps would save Newton steps, too, but take longer than these (three contacts,
  // 1 % off: 325 ns, not 303).
  const auto swept = running(s) && !near.useful;
  for (int k = 0; k < first_sweeps && any(swept); ++k) s.c = select(swept, sweep(s, s.c), s.c);
  s.a = s.problem.A * s.c + s.problem.b;
  return s;
}

template <class S, int N, int D, class Matrix>
GARRA_HD void FrictionNewton::step(FrictionState<S, N, D, Matrix>& s) const {
  using namespace friction_newton;
  const auto active = running(s) && s.stage_steps < S(stage_steps);  // other lanes wait for their restart
  S merit0;
  const Vec<S, D* N> d = direction(s, merit0);
  const Vec<S, D* N> ad = s.problem.A * d;

  // Backtracking on |F|^2; a is affine in c, so a trial costs O(N). After two shortened steps one
  // is taken in full: a monotone search is slow at the kinks of a semismooth merit function.
  S t = S(1);
  const auto free_step = s.shortened >= S(2);
  for (int trial = 0; trial < 4; ++trial) {
    const S m = merit(s, axpy(t, d, s.c), axpy(t, ad, s.a));
    const auto reject = active && !free_step && !decreases(m, t, merit0);
    if (!any(reject)) break;
    t = select(reject, S(0.5) * t, t);
  }
  s.c = select(active, axpy(t, d, s.c), s.c);
  // Recomputed: if A is singular d can be long, and a + t A d would lose significant digits.
  s.a = select(active, s.problem.A * s.c + s.problem.b, s.a);
  s.shortened = select(active, select(free_step || t == S(1), S(0), s.shortened + S(1)), s.shortened);
  s.steps += select(active, S(1), S(0));
  const auto now = check_iterate(s.problem, s.scale, s.c, s.a, tolerance);
  s.stage_steps += select(active, S(1), S(0));
  s.running = select(!now.solved && s.steps < S(most_steps(D)), s.running, S(0));
  const auto moving = running(s) && (s.stage_steps >= S(stage_steps) || now.lost);
  if (!any(moving)) return;
  // Near a solution, limited by working precision: fallback solvers have more digits.
  const auto rounded = moving && now.error <= S(kRefined * tolerance) && rounding_counts(s.c, s.scale, tolerance);
  s.lost = select(rounded, S(1), s.lost);
  s.running = select(rounded, S(0), s.running);
  s.stage_steps = select(moving, S(stage_steps), s.stage_steps);
  if (!restarts) {
    s.running = select(moving, S(0), s.running);
  } else if (enough<S>(moving) || !any(running(s) && !moving)) {
    next_restart(s, moving && running(s));
  }
}

}  // namespace garra::solvers
