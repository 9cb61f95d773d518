// The friction contact problem of N contacts and the judge of its answers (docs/contact-solver.md).
//
//   a = A c + b,   per contact   K* ∋ a + mu |a_T| e_n  ⟂  c ∈ K = { |c_T| <= mu c_n }            (1)
//
// which is the papers' all-rolling problem (15)-(18), (20) in the form of De Saxcé. Contact-major order
// (n, t, o per contact); c is the force on the object [N], a the relative acceleration of the contact point
// [m/s^2] (object minus finger, a_n > 0 separates), A in 1/kg, b in m/s^2, mu without unit.
//
// A soft contact of torsion radius r also bears a moment tau about its normal: D = 4, c = (c_n, c_t, c_o, tau / r) in
// the cone |c_T| <= mu c_n of four dimensions (R. D. Howe, M. R. Cutkosky, Int. J. Robotics Research 15(6), 1996, 531),
// and a has r times the relative angular acceleration about the normal beside a_t and a_o. (1) stays as it is.
#pragma once

#include "garra/core/far_mat.hpp"
#include "garra/core/mat.hpp"
#include "garra/core/status.hpp"
#include "garra/solve/effort.hpp"

namespace garra::solvers {

/// Whether problems of N contacts have their matrices in memory on the host, and not in registers. Measured for solvers
/// and certificates of five and of eight contacts.
template <int N>
inline constexpr bool kInMemory = N > 4;

/// Its matrix is its own, whole or as a SymmetricMat, or elsewhere (FarMat). D: numbers of a contact's force, 3, or 4
/// of soft contacts (below).
template <class S, int N, int D = 3, class Matrix = Mat<S, D * N, D * N>>
struct FrictionProblem {
  Matrix A;
  Vec<S, D * N> b;
  Vec<S, N> mu;
};

/// Contacts that slide already (the papers' set S): the force on the object is c_T = -mu c_n v with the unit slip
/// direction v = v_T / |v_T| (papers, 19), and a_T is not restricted. Zeros mark a contact that may roll.
template <class S, int N, int D = 3>
struct SlidingContacts {
  Vec<S, (D - 1) * N> v;

  [[nodiscard]] GARRA_HD MaskOf<S> slides(int j) const {
    auto any = v[(D - 1) * j] != S(0);
    for (int i = 1; i < D - 1; ++i) any = any || v[(D - 1) * j + i] != S(0);
    return any;
  }
};

/// A solution and its certificate. Whole numbers are stored as S.
template <class S, int N, int D = 3>
struct FrictionSolution {
  Vec<S, D * N> c;       ///< contact force; NaN unless converged
  Vec<S, D * N> a;       ///< A c + b; NaN unless converged
  S residual;            ///< scale-invariant natural-map error, what `converged` is judged by
  S residual_raw;        ///< the same of the problem as given, without scaling
  S minimum;             ///< final value of the merit function that the solver minimized; NaN for the others
  S projected_gradient;  ///< of the same
  S status;              ///< garra::Status
  Effort<S> effort;
};

/// What a solver hands over to the certificate.
template <class S, int N, int D = 3>
struct Candidate {
  Vec<S, D * N> c;       ///< force in the problem's units
  S minimum;             ///< see FrictionSolution
  S projected_gradient;  ///< see FrictionSolution
  S reason;              ///< garra::Status to report where the tolerance is not met
  Effort<S> effort;
};

/// The candidate of a solver that minimizes nothing.
template <class S, int N, int D = 3>
GARRA_HD Candidate<S, N, D> candidate_of(const Vec<S, D * N>& c, const S& reason, const Effort<S>& effort) {
  const S nan = S(__builtin_nan(""));
  return {c, nan, nan, reason, effort};
}

/// Nearest point of the friction cone K_mu to the force (n, t, o), in the Euclidean norm.
template <class S, int D>
GARRA_HD Vec<S, D> project_on_cone(const Vec<S, D>& y, const S& given_mu) {
  // The square of a larger one overflows; a cone of 1e100 lies within 1e-100 |y| of it.
  const S mu = min(given_mu, S(1e100));
  const S yt = tangential_length(y);
  const auto inside = yt <= mu * y[0];
  const auto polar = fma(mu, yt, y[0]) <= S(0);  // in the polar cone: the apex is nearest
  // One division serves both n = (y_n + mu |y_t|) / (1 + mu^2) and the factor mu n / |y_t| on the tangent.
  const S length = select(yt > S(0), yt, S(1));
  const S over = fma(mu, yt, y[0]) / (fma(mu, mu, S(1)) * length);
  const S n = over * length, scale = mu * over;
  Vec<S, D> p = scale * y;
  p[0] = n;
  p = select(inside, y, p);
  return select(polar, Vec<S, D>::zero(), p);  // last: without friction a pull (y_n < 0, y_t = 0) passes for inside
}

/// Above this coefficient the natural map says too little: a contact without force that approaches with a_n < 0 is only
/// |a_n| / mu away from it, while rounding in a_T counts mu times.
inline constexpr double kLargeFriction = 100;

/// What is wrong at a contact with large friction, in the law's own parts: (min(c_n, a_n), c_T - P_disk(c_T - a_T))
/// with the disk of radius mu c_n. Zero exactly where the natural map is, and of the size of rounding at a solution.
template <class S, int D>
GARRA_HD Vec<S, D> parted_defect(const S& mu, const Vec<S, D>& c, const Vec<S, D>& a) {
  const Vec<S, D> y = c - a;
  const S length = tangential_length(y), radius = mu * max(c[0], S(0));
  const auto outside = length > radius;
  const S shrink = select(outside, radius / select(outside, length, S(1)), S(1));
  Vec<S, D> d = axpy(-shrink, y, c);
  d[0] = min(c[0], a[0]);
  return d;
}

/// One contact's part of the natural map of (1) with rho = 1, or parted_defect where friction is large.
template <class S, int D>
GARRA_HD Vec<S, D> natural_defect(const S& mu, const Vec<S, D>& c, const Vec<S, D>& a) {
  Vec<S, D> y = c - a;
  y[0] = c[0] - fma(mu, tangential_length(a), a[0]);
  Vec<S, D> d = c - project_on_cone(y, mu);
  const auto large = mu > S(kLargeFriction);
  if (any(large)) d = select(large, parted_defect(mu, c, a), d);
  return d;
}

/// Force or acceleration of contact j.
template <class S, int N, int D = 3>
GARRA_HD Vec<S, D> contact(const Vec<S, D * N>& v, int j) {
  Vec<S, D> vj;
  for_each_index<D>([&](int i) { vj[i] = v[D * j + i]; });
  return vj;
}

template <class S, int N, int D = 3>
GARRA_HD void set_contact(Vec<S, D * N>& v, int j, const Vec<S, D>& vj) {
  for_each_index<D>([&](int i) { v[D * j + i] = vj[i]; });
}

/// |c - P_K(c - a~)| / max(|b|, |c|, |a|) in 2-norms, from the squares: of natural_defect over all contacts, and of the
/// vectors.
template <class S>
GARRA_HD S natural_map_error(const S& error2, const S& b2, const S& c2, const S& a2) {
  const S scale2 = max(b2, max(c2, a2));
  return select(scale2 > S(0), sqrt(error2 / select(scale2 > S(0), scale2, S(1))), S(0));
}

/// The same of a problem at c. 0 where b, c and a all vanish. `a` is A c + b, computed by the caller from
/// the problem it wants judged.
template <class S, int N, int D = 3>
GARRA_HD S natural_map_error(const Vec<S, N>& mu, const Vec<S, D * N>& b, const Vec<S, D * N>& c,
                             const Vec<S, D * N>& a) {
  S error2 = S(0);
  for_each_index<N>([&](int j) {
    const Vec<S, D> d = natural_defect(mu[j], contact<S, N, D>(c, j), contact<S, N, D>(a, j));
    error2 += dot(d, d);
  });
  return natural_map_error(error2, dot(b, b), dot(c, c), dot(a, a));
}

/// The papers' merit value (4), with the rolling rows (29)-(36), at a force c and a = A c + b: lambda = |a_T|, slack
/// variables z = max(0, (a_n, s)). Zero at a solution, but no measure of accuracy (it is quadratic at the cone's apex).
template <class S, int N>
GARRA_HD S papers_merit(const Vec<S, N>& mu, const Vec<S, 3 * N>& c, const Vec<S, 3 * N>& a) {
  S squares = S(0), product = S(0);
  for (int j = 0; j < N; ++j) {
    const S cn = c[3 * j], ct = c[3 * j + 1], co = c[3 * j + 2];
    const S an = a[3 * j], at = a[3 * j + 1], ao = a[3 * j + 2];
    const S lambda = sqrt(fma(at, at, ao * ao));
    const S s = fma(mu[j] * cn, mu[j] * cn, -fma(ct, ct, co * co));
    const S g1 = fma(mu[j] * cn, at, ct * lambda), g2 = fma(mu[j] * cn, ao, co * lambda);
    const S f1 = min(an, S(0)), f2 = min(s, S(0));
    squares += fma(g1, g1, g2 * g2) + fma(f1, f1, f2 * f2);
    product += fma(cn, max(an, S(0)), lambda * max(s, S(0)));
  }
  return fma(product, product, squares);
}

/// Scales that make the problem's size and units irrelevant: A / size_a has largest diagonal entry 1, b / size_b
/// largest entry 1. Degenerate sizes (0) become 1.
template <class S>
struct FrictionScale {
  S size_a, size_b;
};
template <class S, int M, class Diagonal>
GARRA_HD FrictionScale<S> friction_scale(const Diagonal& diagonal, const Vec<S, M>& b) {
  S size_a = S(0), size_b = S(0);
  for (int i = 0; i < M; ++i) {
    size_a = max(size_a, diagonal(i));
    size_b = max(size_b, abs(b[i]));
  }
  return {select(size_a > S(0), size_a, S(1)), select(size_b > S(0), size_b, S(1))};
}
template <class S, int N, int D, class Matrix>
GARRA_HD FrictionScale<S> friction_scale(const FrictionProblem<S, N, D, Matrix>& p) {
  return friction_scale<S, D * N>([&](int i) { return p.A(i, i); }, p.b);
}

/// A relative error says nothing about a force that ran away: where no solution exists c grows without bound and (3)
/// with it in the denominator tends to 0. So a certificate also asks for an absolute error, in units of the largest
/// |b|.
inline constexpr double kLargestAbsoluteError = 0.1;

/// Part of a force that rounding may swallow: one above 1e14 in these units would hide any acceleration, c - a~ being
/// c.
inline constexpr double kRounding = 1e-15;

/// Row i of A where contact j's tangential force follows from its normal one, A_n becomes A_n - (v_t A_t + v_o A_o):
/// v is mu times its slip direction, zero where it may roll. The row is any x with x(k) for A(i, k).
template <class S, int N, class Row>
GARRA_HD void eliminate_in_row(const Row& row, int i, int j, const MaskOf<S>& slides, const S& vt, const S& vo) {
  const int n = 3 * j, t = n + 1, o = n + 2;
  row(n) = fma(-vo, row(o), fma(-vt, row(t), row(n)));
  row(t) = select(slides && i != t, S(0), row(t));
  row(o) = select(slides && i != o, S(0), row(o));
  if (i != t && i != o) return;
  for (int k = 0; k < 3 * N; ++k) row(k) = select(slides && k != i, S(0), row(k));
}

/// The papers' elimination (25)-(28), in place: a sliding contact's tangential force follows from its normal force, so
/// it becomes a contact without friction, its column of A turns into A_n - mu (A_t v_t + A_o v_o) and its tangential
/// rows are decoupled from the rest. The problem keeps its shape and every solver for (1) can take it; A loses its
/// symmetry.
template <class S, int N, class Matrix>
GARRA_HD_CALL void eliminate_sliding(FrictionProblem<S, N, 3, Matrix>& p, const SlidingContacts<S, N>& sliding) {
  for (int j = 0; j < N; ++j) {
    const auto slides = sliding.slides(j);
    const S vt = p.mu[j] * sliding.v[2 * j], vo = p.mu[j] * sliding.v[2 * j + 1];  // zero where it may roll
    for (int i = 0; i < 3 * N; ++i)
      eliminate_in_row<S, N>([&](int k) -> S& { return p.A(i, k); }, i, j, slides, vt, vo);
    p.b[3 * j + 1] = select(slides, S(0), p.b[3 * j + 1]);
    p.b[3 * j + 2] = select(slides, S(0), p.b[3 * j + 2]);
    p.mu[j] = select(slides, S(0), p.mu[j]);
  }
}

/// The tangential forces that eliminate_sliding has taken out, from the normal forces.
template <class S, int N, int D = 3>
GARRA_HD void restore_sliding(Vec<S, D * N>& c, const Vec<S, N>& mu, const SlidingContacts<S, N, D>& sliding) {
  for (int j = 0; j < N; ++j)
    for (int i = 0; i < D - 1; ++i)
      c[D * j + 1 + i] = select(sliding.slides(j), -(mu[j] * c[D * j]) * sliding.v[(D - 1) * j + i], c[D * j + 1 + i]);
}

namespace friction_problem_detail {

/// 0 where all these numbers are finite and no friction coefficient is negative, else NaN or 1.
template <class S, int N, int D = 3>
GARRA_HD S defects(const Vec<S, D * N>& v, const Vec<S, N>& mu) {
  S sum = S(0);
  for (int i = 0; i < D * N; ++i) sum += v[i] - v[i];
  for (int j = 0; j < N; ++j) sum += select(mu[j] >= S(0) && is_finite(mu[j]), S(0), S(1));
  return sum;
}
/// Of a whole problem.
template <class S, int N, int D, class Matrix>
GARRA_HD S defects(const FrictionProblem<S, N, D, Matrix>& p) {
  S sum = S(0);
  for (int i = 0; i < kNumbers<Matrix>; ++i) sum += p.A[i] - p.A[i];
  return sum + defects<S, N, D>(p.b, p.mu);
}

/// What a certificate takes from a row of A: A may lie in a tile, and a GPU thread need not hold it.
template <class S>
struct SeenRow {
  S a;        ///< A c + b
  S defects;  ///< 0 where the row is finite, else NaN
  S size;     ///< sum of absolute values
};
template <int M, class S, class Entry>
GARRA_HD SeenRow<S> see_row(const Entry& A, const Vec<S, M>& b, const Vec<S, M>& c, int i) {
  S product = S(0), defects = S(0), size = S(0);
#if defined(__CUDA_ARCH__)
#pragma unroll  // c stays in registers
#endif
  for (int k = 0; k < M; ++k) {
    const S x = A(i, k);
    product = k == 0 ? x * c[k] : fma(x, c[k], product);
    defects += x - x;
    size += abs(x);
  }
  return {product + b[i], defects, size};
}

/// A natural_map_error, contact after contact.
template <class S>
struct MapSums {
  S error2, b2, c2, a2;

  static GARRA_HD MapSums zero() { return {S(0), S(0), S(0), S(0)}; }
  template <int D>
  GARRA_HD void add(const S& mu, const Vec<S, D>& b, const Vec<S, D>& c, const Vec<S, D>& a) {
    const Vec<S, D> d = natural_defect(mu, c, a);
    error2 += dot(d, d);
    for_each_index<D>([&](int i) {
      b2 = fma(b[i], b[i], b2);
      c2 = fma(c[i], c[i], c2);
      a2 = fma(a[i], a[i], a2);
    });
  }
  [[nodiscard]] GARRA_HD S error() const { return natural_map_error(error2, b2, c2, a2); }
};

/// A contact's vector without what the law says nothing of: the tangential part where it slides.
template <class S, int D>
GARRA_HD Vec<S, D> judged_part(Vec<S, D> v, const MaskOf<S>& slides) {
  for (int i = 1; i < D; ++i) v[i] = select(slides, S(0), v[i]);
  return v;
}

/// f(j) for each contact; not written out where there are so many that a GPU thread has no registers for it.
template <int N, class F>
GARRA_HD void for_each_contact(const F& f) {
  if constexpr (kInMemory<N>) {
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (int j = 0; j < N; ++j) f(j);
  } else {
    for_each_index<N>(f);
  }
}

/// The same of all contacts.
template <class S, int N, int D = 3>
GARRA_HD Vec<S, D * N> judged_part(Vec<S, D * N> v, const SlidingContacts<S, N, D>& sliding) {
  for (int j = 0; j < N; ++j) set_contact<S, N, D>(v, j, judged_part(contact<S, N, D>(v, j), sliding.slides(j)));
  return v;
}

}  // namespace friction_problem_detail

/// The forces of all contacts, each projected on its cone.
template <class S, int N, int D = 3>
GARRA_HD Vec<S, D * N> project_on_cones(Vec<S, D * N> y, const Vec<S, N>& mu) {
  for_each_index<N>([&](int j) { set_contact<S, N, D>(y, j, project_on_cone(contact<S, N, D>(y, j), mu[j])); });
  return y;
}

/// Contacts that nobody has, from `first` on: with them a problem comes to a size that there is code for.
template <class S>
struct SpareContacts {
  int first;
  S stiffness;  ///< of each, in every direction [1/kg]
  S force;      ///< that they press with, along the axes of their cones [N]
};
/// Adds them where A and b are zero: every one stands for itself, so that none changes what the others do. Without
/// force they have no part in any norm either: residuals are those of the rest.
template <class S, int N, int D = 3, class Matrix>
GARRA_HD void add_spare(const SpareContacts<S>& spare, Matrix& A, Vec<S, D * N>& b) {
  for (int j = spare.first; j < N; ++j) {
    for (int k = D * j; k < D * (j + 1); ++k) A(k, k) = spare.stiffness;
    b[D * j] = -(spare.stiffness * spare.force);
  }
}

/// The problem in the units of friction_scale, in which every solver works: largest diagonal entry of A and largest |b|
/// are 1.
template <class S, int N, int D = 3, class Matrix = Mat<S, D * N, D * N>>
struct Scaled {
  FrictionProblem<S, N, D, Matrix> problem;
  S unit;  ///< force unit: size_b / size_a
};
template <class S, int N, int D, class Matrix>
GARRA_HD Scaled<S, N, D, Matrix> scaled(const FrictionProblem<S, N, D, Matrix>& given) {
  Scaled<S, N, D, Matrix> out;
  take_room(out.problem.A, given.A);
  const FrictionScale<S> scale = friction_scale(given);
  const S inv_a = S(1) / scale.size_a;
  for (int k = 0; k < kNumbers<Matrix>; ++k) out.problem.A[k] = inv_a * given.A[k];
  out.problem.b = (S(1) / scale.size_b) * given.b;
  out.problem.mu = given.mu;
  out.unit = scale.size_b * inv_a;
  return out;
}

/// Whether the certificate would take an iterate of the scaled problem, with half of its bounds; a = A c + b.
template <class S>
struct Judgement {
  S error;  ///< natural map of the scaled problem
  S size2;  ///< larger of |c|^2 and |a|^2
  MaskOf<S> solved;
  MaskOf<S> lost;  ///< not finite: nothing more comes of this
};
template <class S>
GARRA_HD Judgement<S> judgement(const S& error, const S& size2, double tol) {
  return {error, size2, error <= S(0.5 * tol) && error * sqrt(size2) <= S(0.5 * kLargestAbsoluteError),
          !is_finite(error)};
}
template <class S, int N, int D, class Matrix>
GARRA_HD Judgement<S> judge(const FrictionProblem<S, N, D, Matrix>& p, const Vec<S, D * N>& c, const Vec<S, D * N>& a,
                            double tol) {
  return judgement(natural_map_error<S, N, D>(p.mu, p.b, c, a), max(dot(c, c), dot(a, a)), tol);
}

/// Why a problem that is not converged ended: at the iteration limit, or at a point that is no solution.
template <class S>
GARRA_HD S stop_reason(const S& iterations, int max_iterations) {
  return select(iterations >= S(max_iterations), S(int(Status::kIterationLimit)), S(int(Status::kStalled)));
}

/// papers_merit where some contacts slide: there only 0 <= c_n ⟂ a_n >= 0 is left of the law.
template <class S, int N>
GARRA_HD S papers_merit(Vec<S, N> mu, const SlidingContacts<S, N>& sliding, const Vec<S, 3 * N>& c,
                        const Vec<S, 3 * N>& a) {
  using friction_problem_detail::judged_part;
  for (int j = 0; j < N; ++j) mu[j] = select(sliding.slides(j), S(0), mu[j]);
  return papers_merit<S, N>(mu, judged_part<S, N>(c, sliding), judged_part<S, N>(a, sliding));
}

/// The certificate: computes a = A c + b from the problem as given and both residuals, judges `converged`, and
/// replaces the outputs of an unsolved problem by NaN. Independent of how `c` was found. Tangential forces at sliding
/// contacts are computed here from the normal ones, so of them only the law of the normal direction is left to be
/// judged. Inlined, so that a GPU thread that judges a problem needs no memory for it: A(i, k) gives the entries,
/// wherever they are.
template <class S, int N, int D = 3, class Entry>
GARRA_HD FrictionSolution<S, N, D> certified(const Entry& A, const Vec<S, D * N>& b, const Vec<S, N>& given_mu,
                                             const SlidingContacts<S, N, D>& sliding, const Candidate<S, N, D>& found,
                                             double tol) {
  using namespace friction_problem_detail;
  FrictionSolution<S, N, D> out;
  Vec<S, D* N> c = found.c;
  S wild = S(0);
  for (int i = 0; i < D * N; ++i) wild += c[i] - c[i];
  c = select(wild == S(0), c, Vec<S, D * N>::zero());  // a force that overflowed is judged as no force
  restore_sliding<S, N, D>(c, given_mu, sliding);
  const FrictionScale<S> scale = friction_scale<S, D * N>([&](int i) { return A(i, i); }, b);
  const S force = scale.size_a / scale.size_b;
  const S inv_b = S(1) / scale.size_b;
  Vec<S, D * N> a;
  S defects_of_a = S(0);
  // A contact that no force can move (its normal row of A vanishes) and that approaches all the same: no solution.
  auto impossible = MaskOf<S>(false);
  auto raw = MapSums<S>::zero(), scaled = MapSums<S>::zero();
  const auto see = [&](int j) {
    for_each_index<D>([&](int i) {
      const SeenRow<S> row = see_row<D * N, S>(A, b, c, D * j + i);
      a[D * j + i] = row.a;
      defects_of_a += row.defects;
      if (i == 0) impossible = impossible || (row.size == S(0) && b[D * j] < S(0));
    });
    const auto slides = sliding.slides(j);
    const S mu = select(slides, S(0), given_mu[j]);
    const Vec<S, D> bj = judged_part(contact<S, N, D>(b, j), slides), cj = judged_part(contact<S, N, D>(c, j), slides),
                    aj = judged_part(contact<S, N, D>(a, j), slides);
    raw.add(mu, bj, cj, aj);
    scaled.add(mu, inv_b * bj, force * cj, inv_b * aj);
  };
  for_each_contact<N>(see);
  out.residual_raw = raw.error();
  out.residual = scaled.error();
  S slip_defects = S(0);  // a slip direction that is NaN
  for (int i = 0; i < (D - 1) * N; ++i) slip_defects += sliding.v[i] - sliding.v[i];
  const auto valid = defects_of_a + defects<S, N, D>(b, given_mu) + slip_defects == S(0);
  const S size2 = max(raw.c2 * (force * force), raw.a2 * (inv_b * inv_b));
  const auto absolute = (out.residual + S(kRounding)) * sqrt(size2) <= S(kLargestAbsoluteError);
  const auto converged = valid && absolute && out.residual <= S(tol);  // false for NaN
  const S failure = select(impossible, S(int(Status::kNoSolution)), found.reason);
  out.status = select(valid, select(converged, S(int(Status::kConverged)), failure), S(int(Status::kInvalidInput)));
  const S nan = S(__builtin_nan(""));
  for (int i = 0; i < D * N; ++i) {
    out.c[i] = select(converged, c[i], nan);
    out.a[i] = select(converged, a[i], nan);
  }
  out.minimum = found.minimum;
  out.projected_gradient = found.projected_gradient;
  out.effort = found.effort;
  return out;
}

/// The same of a problem.
template <class S, int N, int D, class Matrix>
GARRA_HD FrictionSolution<S, N, D> certified(const FrictionProblem<S, N, D, Matrix>& p,
                                             const SlidingContacts<S, N, D>& sliding, const Candidate<S, N, D>& found,
                                             double tol) {
  return certified<S, N, D>([&](int i, int k) { return p.A(i, k); }, p.b, p.mu, sliding, found, tol);
}

/// The same as a function of its own.
template <class S, int N, int D, class Matrix>
GARRA_HD_CALL FrictionSolution<S, N, D> certify(const FrictionProblem<S, N, D, Matrix>& p,
                                                const SlidingContacts<S, N, D>& sliding,
                                                const Candidate<S, N, D>& found, double tol) {
  return certified(p, sliding, found, tol);
}

/// Both where every contact may roll.
template <class S, int N, int D, class Matrix>
GARRA_HD FrictionSolution<S, N, D> certified(const FrictionProblem<S, N, D, Matrix>& p, const Candidate<S, N, D>& found,
                                             double tol) {
  return certified(p, SlidingContacts<S, N, D>{Vec<S, (D - 1) * N>::zero()}, found, tol);
}
template <class S, int N, int D, class Matrix>
GARRA_HD FrictionSolution<S, N, D> certify(const FrictionProblem<S, N, D, Matrix>& p, const Candidate<S, N, D>& found,
                                           double tol) {
  return certify(p, SlidingContacts<S, N, D>{Vec<S, (D - 1) * N>::zero()}, found, tol);
}

}  // namespace garra::solvers
