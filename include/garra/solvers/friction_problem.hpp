// The friction contact problem of N contacts and the certificate of its solutions
// (docs/theory/contact-solver.md).
//
//   a = A c + b,   per contact   K* ∋ a + mu |a_T| e_n  ⟂  c ∈ K = { |c_T| <= mu c_n }            (1)
//
// (1) is the papers' all-rolling problem (15)-(18), (20) in the form of De Saxcé. Contact-major
// order (n, t, o per contact); c is the force on the object [N], a the relative acceleration of the
// contact point [m/s^2] (object minus finger, a_n > 0 separates), A in 1/kg, b in m/s^2, mu without
// unit.
//
// A soft contact of torsion radius r also bears a moment tau about its normal: D = 4, c = (c_n,
// c_t, c_o, tau / r) in the four-dimensional cone |c_T| <= mu c_n (R. D. Howe, M. R. Cutkosky, Int.
// J. Robotics Research 15(6), 1996, 531). Its a has r times the relative angular acceleration about
// the normal beside a_t and a_o; (1) is unchanged.
#pragma once

#include "garra/core/far_mat.hpp"
#include "garra/core/mat.hpp"
#include "garra/core/status.hpp"
#include "garra/solvers/effort.hpp"

namespace garra::solvers {

/// Whether problems of N contacts have their matrices in memory on the host instead of in
/// registers. Measured for solvers and certificates of five and of eight contacts.
template <int N>
inline constexpr bool kInMemory = N<0 || N> 4;

/// A friction problem. Its matrix is its own, whole or as a SymmetricMat, or stored elsewhere
/// (FarMat). D: numbers of a contact's force, 3, or 4 for soft contacts.
template <class S, int N, int D = 3, class Matrix = Mat<S, D * N, D * N>>
struct FrictionProblem {
  Matrix A;
  Vec<S, D * N> b;
  Vec<S, N> mu;
  static constexpr auto parts() { return std::tuple{&FrictionProblem::A, &FrictionProblem::b, &FrictionProblem::mu}; }
};

/// Slip directions of contacts that already slide (the papers' set S): the force on the object is
/// c_T = -mu c_n v with v = v_T / |v_T| (papers, 19), and a_T is not restricted. Zeros mark a
/// contact that may roll.
template <class S, int N, int D = 3>
struct SlidingContacts {
  Vec<S, (D - 1) * N> v;

  [[nodiscard]] GARRA_HD MaskOf<S> slides(int j) const {
    auto any = v[(D - 1) * j] != S(0);
    for (int i = 1; i < D - 1; ++i) any = any || v[(D - 1) * j + i] != S(0);
    return any;
  }
  static constexpr auto parts() { return std::tuple{&SlidingContacts::v}; }
};

/// A solution and its certificate. Whole numbers are stored as S.
template <class S, int N, int D = 3>
struct FrictionSolution {
  Vec<S, D * N> c;       ///< contact force; NaN unless converged or ill_conditioned
  Vec<S, D * N> a;       ///< A c + b; NaN likewise
  S residual;            ///< relative change of the load for which the forces are exact: largest |delta_j| / s_j
  S contact_residual;    ///< the same relative to each contact's own load: largest |delta_j| / |b_j|
  S minimum;             ///< final value of the merit function that the solver minimized; NaN for the others
  S projected_gradient;  ///< of the same
  S status;              ///< garra::Status
  Effort<S> effort;
  static constexpr auto parts() {
    return std::tuple{&FrictionSolution::c,        &FrictionSolution::a,
                      &FrictionSolution::residual, &FrictionSolution::contact_residual,
                      &FrictionSolution::minimum,  &FrictionSolution::projected_gradient,
                      &FrictionSolution::status,   &FrictionSolution::effort};
  }
};

/// Result of a solver, input of the certificate.
template <class S, int N, int D = 3>
struct Candidate {
  Vec<S, D * N> c;       ///< force in the problem's units
  S minimum;             ///< see FrictionSolution
  S projected_gradient;  ///< see FrictionSolution
  S reason;              ///< garra::Status to report if the tolerance is not met
  Effort<S> effort;
  static constexpr auto parts() {
    return std::tuple{&Candidate::c, &Candidate::minimum, &Candidate::projected_gradient, &Candidate::reason,
                      &Candidate::effort};
  }
};

/// The candidate of a solver that minimizes nothing.
template <class S, int N, int D = 3>
GARRA_HD Candidate<S, N, D> make_candidate(const Vec<S, D * N>& c, const S& reason, const Effort<S>& effort) {
  const S nan = S(__builtin_nan(""));
  return {c, nan, nan, reason, effort};
}

/// Nearest point of the friction cone K_mu to the force (n, t, o), in the Euclidean norm.
template <class S, int D>
GARRA_HD Vec<S, D> project_on_cone(const Vec<S, D>& y, const S& given_mu) {
  // The square of a larger mu overflows; a cone of 1e100 lies within 1e-100 |y| of it.
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
  return select(polar, Vec<S, D>::zero(), p);  // last: without friction a pull (y_n < 0, y_t = 0) tests as inside
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

/// Length of a contact's vector that does not depend on how its tangents are turned: max(|n|, |T|).
template <class S, int D>
GARRA_HD S magnitude(const Vec<S, D>& x) {
  return max(abs(x[0]), tangential_length(x));
}

/// Force and acceleration of a contact that obey the law (2) exactly, for any finite mu.
template <class S, int D>
struct LawfulPair {
  Vec<S, D> c, a;
};
/// One projected step from (c, a), of length 1 / g along the tangents and 1 / (max(1, mu) g) along
/// the normal, any g > 0 (docs/theory/contact-solver.md, 4). Returns (c, a) itself if it obeys the
/// law. A longer step along the normal would turn rounding of a_n into mu times as much friction.
template <class S, int D>
GARRA_HD LawfulPair<S, D> lawful_pair(const Vec<S, D>& c, const Vec<S, D>& a, const S& mu, const S& g) {
  const S step = -(S(1) / g), normal = fma(-(S(1) / (max(S(1), mu) * g)), a[0], c[0]);
  const auto open = normal <= S(0);
  Vec<S, D> y;
  y[0] = normal;
  for_each_index<D - 1>([&](int i) { y[i + 1] = fma(step, a[i + 1], c[i + 1]); });
  const S length = tangential_length(y), radius = mu * max(normal, S(0));
  const auto slips = length > radius;
  const S share = select(slips, radius / select(slips, length, S(1)), S(1));
  const S back = select(slips, g * (share - S(1)), S(0));
  LawfulPair<S, D> out;
  out.c[0] = select(open, S(0), normal);
  out.a[0] = select(open, max(a[0], S(0)), S(0));
  for_each_index<D - 1>([&](int i) {
    out.c[i + 1] = select(open, S(0), share * y[i + 1]);
    out.a[i + 1] = select(open, a[i + 1], back * y[i + 1]);
  });
  return out;
}

/// The acceleration closest to `a` with which the unchanged force c obeys the law, if c is in its
/// cone to rounding.
template <class S, int D>
struct StayingPair {
  Vec<S, D> a;
  MaskOf<S> exists;
};
template <class S, int D>
GARRA_HD StayingPair<S, D> staying_pair(const Vec<S, D>& c, const Vec<S, D>& a, const S& mu) {
  constexpr double kRounding = 1e-14;
  const S length = tangential_length(c), radius = mu * c[0];
  const auto open = c[0] == S(0) && length == S(0);
  const auto slips = length >= S(1 - kRounding) * radius;
  const S inverse = S(1) / select(length > S(0), length, S(1));
  const S power = min(tangential_dot(a, c) * inverse, S(0)) * inverse;
  StayingPair<S, D> out;
  out.exists = c[0] >= S(0) && length <= S(1 + kRounding) * radius;
  out.a[0] = select(open, max(a[0], S(0)), S(0));
  for_each_index<D - 1>([&](int i) { out.a[i + 1] = select(open, a[i + 1], select(slips, power * c[i + 1], S(0))); });
  return out;
}

/// Order of magnitude of the change of the load by a step (dc, da) at its own contact.
template <class S, int D>
GARRA_HD S near_change(const Vec<S, D>& dc, const Vec<S, D>& da, const S& g) {
  return max(g * magnitude(dc), magnitude(da));
}

/// Units of changes of the load, contact by contact (docs/theory/contact-solver.md, 5).
template <class S, int N>
struct LoadScale {
  Vec<S, N> g;      ///< mean of the diagonal of A_jj [1/kg], 1 if it is not positive
  Vec<S, N> per_s;  ///< 1 / s_j: one over the largest load of the contacts coupled with j, in units of j
  static constexpr auto parts() { return std::tuple{&LoadScale::g, &LoadScale::per_s}; }
};

namespace friction_problem_detail {

/// Whether block (j, k) of A has a nonzero number.
template <int D, class S, class Entry>
GARRA_HD MaskOf<S> coupled(const Entry& A, int j, int k) {
  S sum = S(0);
  for_each_index<D>([&](int r) { for_each_index<D>([&](int i) { sum += abs(A(D * j + r, D * k + i)); }); });
  return sum > S(0);
}

/// The largest load among the contacts coupled with each, directly or through others.
template <int N, int D, class S, class Entry>
GARRA_HD_CALL Vec<S, N> largest_of_coupled(const Entry& A, Vec<S, N> load) {
  for (int pass = 0; pass < extent<N>(); ++pass) {
    auto changed = load[0] < S(0);  // false in all lanes
    for (int j = 0; j < extent<N>(); ++j) {
      for (int k = 0; k < j; ++k) {
        const S larger = max(load[j], load[k]);
        const auto differ = load[j] != load[k];
        if (!any(differ)) continue;
        const auto both = differ && (coupled<D, S>(A, j, k) || coupled<D, S>(A, k, j));
        changed = changed || both;
        load[j] = select(both, larger, load[j]);
        load[k] = select(both, larger, load[k]);
      }
    }
    if (!any(changed)) break;
  }
  return load;
}

}  // namespace friction_problem_detail

/// A(i, k) gives the entries. `slides(j)`: b_T of contact j does not enter the law.
template <class S, int N, int D = 3, class Entry, class Slides>
GARRA_HD LoadScale<S, N> load_scale(const Entry& A, const Vec<S, D * N>& b, const Slides& slides) {
  using namespace friction_problem_detail;
  LoadScale<S, N> out;
  Vec<S, N> load, root;
  S largest = S(0);
  for_each_index<N>([&](int j) {
    S trace = A(D * j, D * j);
    for_each_index<D - 1>([&](int i) { trace += A(D * j + i + 1, D * j + i + 1); });
    const S mean = S(1.0 / D) * trace;
    out.g[j] = select(mean > S(0) && is_finite(mean), mean, S(1));
    root[j] = sqrt(out.g[j]);
    const Vec<S, D> bj = contact<S, N, D>(b, j);
    load[j] = select(slides(j), abs(bj[0]), magnitude(bj)) / root[j];
    largest = max(largest, load[j]);
  });
  // Usually contact 0 is coupled with every loaded contact, and all have the largest.
  auto all_coupled = largest >= S(0);
  for (int k = 1; k < extent<N>(); ++k) all_coupled = all_coupled && (coupled<D, S>(A, 0, k) || load[k] == S(0));
  Vec<S, N> share;
  for_each_index<N>([&](int j) { share[j] = largest; });
  if (!all(all_coupled)) share = select(all_coupled, share, largest_of_coupled<N, D, S>(A, load));
  for_each_index<N>([&](int j) {
    const S s = root[j] * share[j];
    out.per_s[j] = S(1) / max(s, S(2.2250738585072014e-308));
  });
  return out;
}
template <class S, int N, int D, class Matrix>
GARRA_HD LoadScale<S, N> load_scale(const FrictionProblem<S, N, D, Matrix>& p) {
  return load_scale<S, N, D>([&](int i, int k) { return p.A(i, k); }, p.b, [](int) { return MaskOf<S>(false); });
}

/// The papers' merit value (4), with the rolling rows (29)-(36), at a force c and a = A c + b: lambda = |a_T|, slack
/// variables z = max(0, (a_n, s)). Zero at a solution, but no measure of accuracy (it is quadratic at the cone's apex).
template <class S, int N>
GARRA_HD S papers_merit(const Vec<S, N>& mu, const Vec<S, 3 * N>& c, const Vec<S, 3 * N>& a) {
  S squares = S(0), product = S(0);
  for (int j = 0; j < extent<N>(); ++j) {
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

/// Scales that remove size and units from the problem: A / size_a has largest diagonal entry 1, b /
/// size_b largest entry 1. Degenerate sizes (0) become 1.
template <class S>
struct FrictionScale {
  S size_a, size_b;
};
template <class S, int M, class Diagonal>
GARRA_HD FrictionScale<S> friction_scale(const Diagonal& diagonal, const Vec<S, M>& b) {
  S size_a = S(0), size_b = S(0);
  for (int i = 0; i < extent<M>(); ++i) {
    size_a = max(size_a, diagonal(i));
    size_b = max(size_b, abs(b[i]));
  }
  return {select(size_a > S(0), size_a, S(1)), select(size_b > S(0), size_b, S(1))};
}
template <class S, int N, int D, class Matrix>
GARRA_HD FrictionScale<S> friction_scale(const FrictionProblem<S, N, D, Matrix>& p) {
  return friction_scale<S, D * N>([&](int i) { return p.A(i, i); }, p.b);
}

// State of a contact by the accelerations of a solution (docs/theory/monte-carlo.md, Outcomes).

/// Accelerations above this share of the problem's own size (FrictionScale::size_b) count as motion.
inline constexpr double kMotion = 1e-6;

/// 2 if the contact opens (a_n > eps), 1 if it slips (|a_T| > eps), 0 if it sticks. a in (n, t, o)
/// and eps in m/s^2.
template <class S, int D>
GARRA_HD S contact_state(const Vec<S, D>& a, const S& eps) {
  const auto open = a[0] > eps;
  const auto slip = tangential_length(a) > eps;
  return select(open, S(2), select(slip, S(1), S(0)));
}

/// Row i of A after contact j's tangential force is eliminated: A_n becomes A_n - (v_t A_t + v_o
/// A_o). v is mu times its slip direction, zero if it may roll. row(k) gives A(i, k).
template <class S, int N, class Row>
GARRA_HD void eliminate_in_row(const Row& row, int i, int j, const MaskOf<S>& slides, const S& vt, const S& vo) {
  const int n = 3 * j, t = n + 1, o = n + 2;
  row(n) = fma(-vo, row(o), fma(-vt, row(t), row(n)));
  row(t) = select(slides && i != t, S(0), row(t));
  row(o) = select(slides && i != o, S(0), row(o));
  if (i != t && i != o) return;
  for (int k = 0; k < extent<3 * N>(); ++k) row(k) = select(slides && k != i, S(0), row(k));
}

/// The papers' elimination (25)-(28), in place. A sliding contact's tangential force follows from
/// its normal force, so it becomes a contact without friction: its column of A turns into A_n - mu
/// (A_t v_t + A_o v_o). Its tangential rows are decoupled from the rest. The problem keeps its
/// shape and every solver for (1) accepts it; A loses its symmetry.
template <class S, int N, class Matrix>
GARRA_HD_CALL void eliminate_sliding(FrictionProblem<S, N, 3, Matrix>& p, const SlidingContacts<S, N>& sliding) {
  for (int j = 0; j < extent<N>(); ++j) {
    const auto slides = sliding.slides(j);
    const S vt = p.mu[j] * sliding.v[2 * j], vo = p.mu[j] * sliding.v[2 * j + 1];  // zero if it may roll
    for (int i = 0; i < extent<3 * N>(); ++i)
      eliminate_in_row<S, N>([&](int k) -> S& { return p.A(i, k); }, i, j, slides, vt, vo);
    p.b[3 * j + 1] = select(slides, S(0), p.b[3 * j + 1]);
    p.b[3 * j + 2] = select(slides, S(0), p.b[3 * j + 2]);
    p.mu[j] = select(slides, S(0), p.mu[j]);
  }
}

/// Computes the tangential forces that eliminate_sliding removed, from the normal forces.
template <class S, int N, int D = 3>
GARRA_HD void restore_sliding(Vec<S, D * N>& c, const Vec<S, N>& mu, const SlidingContacts<S, N, D>& sliding) {
  for (int j = 0; j < extent<N>(); ++j)
    for (int i = 0; i < D - 1; ++i)
      c[D * j + 1 + i] = select(sliding.slides(j), -(mu[j] * c[D * j]) * sliding.v[(D - 1) * j + i], c[D * j + 1 + i]);
}

namespace friction_problem_detail {

/// 0 if all numbers are finite and no friction coefficient is negative, else NaN or 1.
template <class S, int N, int D = 3>
GARRA_HD S defects(const Vec<S, D * N>& v, const Vec<S, N>& mu) {
  S sum = S(0);
  for (int i = 0; i < extent<D * N>(); ++i) sum += v[i] - v[i];
  for (int j = 0; j < extent<N>(); ++j) sum += select(mu[j] >= S(0) && is_finite(mu[j]), S(0), S(1));
  return sum;
}
/// The same for a whole problem.
template <class S, int N, int D, class Matrix>
GARRA_HD S defects(const FrictionProblem<S, N, D, Matrix>& p) {
  S sum = S(0);
  for (int i = 0; i < count_numbers(p.A); ++i) sum += p.A[i] - p.A[i];
  return sum + defects<S, N, D>(p.b, p.mu);
}

/// The part of a contact's vector that the law restricts: without tangents if the contact slides.
template <class S, int D>
GARRA_HD Vec<S, D> checked_part(Vec<S, D> v, const MaskOf<S>& slides) {
  for (int i = 1; i < D; ++i) v[i] = select(slides, S(0), v[i]);
  return v;
}

/// Runs f(j) for each contact; not unrolled if a GPU thread has no registers for the unrolled loop.
template <int N, class F>
GARRA_HD void for_each_contact(const F& f) {
  if constexpr (kInMemory<N>) {
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (int j = 0; j < extent<N>(); ++j) f(j);
  } else {
    for_each_index<N>(f);
  }
}

/// The same for all contacts.
template <class S, int N, int D = 3>
GARRA_HD Vec<S, D * N> checked_part(Vec<S, D * N> v, const SlidingContacts<S, N, D>& sliding) {
  for (int j = 0; j < extent<N>(); ++j)
    set_contact<S, N, D>(v, j, checked_part(contact<S, N, D>(v, j), sliding.slides(j)));
  return v;
}

}  // namespace friction_problem_detail

/// Projects the forces of all contacts on their cones.
template <class S, int N, int D = 3>
GARRA_HD Vec<S, D * N> project_on_cones(Vec<S, D * N> y, const Vec<S, N>& mu) {
  for_each_index<N>([&](int j) { set_contact<S, N, D>(y, j, project_on_cone(contact<S, N, D>(y, j), mu[j])); });
  return y;
}

/// Inactive padding contacts `first` ... N - 1 that extend a problem to a compiled size.
template <class S>
struct SpareContacts {
  int first;
  S stiffness;  ///< diagonal entries of each [1/kg]
  S force;      ///< normal force of each, along the cone's axis [N]
};
/// Adds the padding contacts where A and b are zero. They are uncoupled and do not affect the other
/// contacts. Without force they do not affect norms and residuals either.
template <class S, int N, int D = 3, class Matrix>
GARRA_HD void add_spare(const SpareContacts<S>& spare, Matrix& A, Vec<S, D * N>& b) {
  for (int j = spare.first; j < extent<N>(); ++j) {
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
  for (int k = 0; k < count_numbers(given.A); ++k) out.problem.A[k] = inv_a * given.A[k];
  out.problem.b = (S(1) / scale.size_b) * given.b;
  out.problem.mu = given.mu;
  out.unit = scale.size_b * inv_a;
  return out;
}

/// Whether the certificate would accept an iterate of the scaled problem, with half of its bound.
template <class S>
struct IterateCheck {
  S error;  ///< relative change of the load (5), or near_change() if that is large
  S size2;  ///< larger of |c|^2 and |a|^2
  MaskOf<S> solved;
  MaskOf<S> lost;  ///< not finite: the iteration cannot recover
};
template <class S>
GARRA_HD IterateCheck<S> make_iterate_check(const S& error, const S& c2, const S& a2, double tolerance) {
  const auto finite = is_finite(c2 + a2);
  return {error, max(c2, a2), finite && error <= S(0.5 * tolerance), !finite};
}

/// Above this many tolerances near_change() excludes a solution; below, the product A dc decides.
inline constexpr double kNear = 1e3;

/// Tests an iterate with a = A c + b. The change of the load is da - A dc with the step (dc, da) to
/// forces and accelerations that obey the law.
template <class S, int N, int D, class Matrix>
GARRA_HD IterateCheck<S> check_iterate(const FrictionProblem<S, N, D, Matrix>& p, const LoadScale<S, N>& scale,
                                       const Vec<S, D * N>& c, const Vec<S, D * N>& a, double tolerance) {
  Vec<S, D * N> dc, da;
  S near = S(0);
  for_each_index<N>([&](int j) {
    const Vec<S, D> cj = contact<S, N, D>(c, j), aj = contact<S, N, D>(a, j);
    const LawfulPair<S, D> to = lawful_pair(cj, aj, p.mu[j], scale.g[j]);
    set_contact<S, N, D>(dc, j, to.c - cj);
    set_contact<S, N, D>(da, j, to.a - aj);
    near = max(near, near_change<S, D>(to.c - cj, to.a - aj, scale.g[j]) * scale.per_s[j]);
  });
  const auto close = near <= S(kNear * tolerance);
  S error = near;
  if (any(close)) {
    const Vec<S, D* N> change = da - p.A * dc;
    S exact = S(0);
    for_each_index<N>([&](int j) { exact = max(exact, magnitude(contact<S, N, D>(change, j)) * scale.per_s[j]); });
    error = select(close, exact, near);
  }
  return make_iterate_check(error, dot(c, c), dot(a, a), tolerance);
}

/// Candidates within this many tolerances are refined before the solver gives up.
inline constexpr double kRefined = 1e4;

/// Whether rounding of a force of the scaled problem, whose entries of A are 1 at most, may be an eighth of the
/// tolerance.
template <class S, int N, int M>
GARRA_HD MaskOf<S> rounding_counts(const Vec<S, M>& c, const LoadScale<S, N>& scale, double tolerance) {
  S size = S(0), per_s = S(0);
  for_each_index<M>([&](int i) { size += abs(c[i]); });
  for_each_index<N>([&](int j) { per_s = max(per_s, scale.per_s[j]); });
  return S(extent<M>() * 0x1p-53) * size > S(0.125 * tolerance) / per_s;
}

/// Status of an unconverged problem: at the iteration limit, or at a point that is no solution.
template <class S>
GARRA_HD S stop_reason(const S& iterations, int max_iterations) {
  return select(iterations >= S(max_iterations), S(int(Status::kIterationLimit)), S(int(Status::kStalled)));
}

/// papers_merit for problems with sliding contacts, whose law is only 0 <= c_n ⟂ a_n >= 0.
template <class S, int N>
GARRA_HD S papers_merit(Vec<S, N> mu, const SlidingContacts<S, N>& sliding, const Vec<S, 3 * N>& c,
                        const Vec<S, 3 * N>& a) {
  using friction_problem_detail::checked_part;
  for (int j = 0; j < extent<N>(); ++j) mu[j] = select(sliding.slides(j), S(0), mu[j]);
  return papers_merit<S, N>(mu, checked_part<S, N>(c, sliding), checked_part<S, N>(a, sliding));
}

namespace friction_problem_detail {

/// A row of A c + b - a and its rounding error.
template <class S>
struct RowChange {
  S minus;  ///< A c + b - a
  S value;  ///< A c + b
  S size;   ///< |A| |c|
  S error;  ///< bound of the rounding error of `minus`
};

/// Computed in working precision.
template <int M, class S, class Entry>
GARRA_HD RowChange<S> row_change(const Entry& A, const Vec<S, M>& c, const S& b, const S& a, int i) {
  S product = S(0), size = S(0);
#if defined(__CUDA_ARCH__)
#pragma unroll  // c stays in registers
#endif
  for (int k = 0; k < extent<M>(); ++k) {
    const S x = A(i, k);
    product = k == 0 ? x * c[k] : fma(x, c[k], product);
    size = fma(abs(x), abs(c[k]), size);
  }
  const S value = product + b;
  return {value - a, value, size, S((extent<M>() + 4) * 0x1p-53) * (size + abs(b) + abs(a))};
}

/// x + y, and its rounding error (D. E. Knuth, The Art of Computer Programming 2, 4.2.2).
template <class S>
GARRA_HD S two_sum(const S& x, const S& y, S& rest) {
  const S sum = x + y, part = sum - x;
  rest += (x - (sum - part)) + (y - part);
  return sum;
}

/// Computed with compensated products and sums: as if in twice the precision, then rounded (T.
/// Ogita, S. M. Rump, S. Oishi, SIAM J. Sci. Comput. 26, 2005, Dot2).
template <int M, class S, class Entry>
GARRA_HD RowChange<S> compensated_row_change(const Entry& A, const Vec<S, M>& c, const S& b, const S& a, int i) {
  S sum = b, rest = S(0), size = S(0);
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
  for (int k = 0; k < extent<M>(); ++k) {
    const S x = A(i, k), product = x * c[k];
    rest += fma(x, c[k], -product);
    sum = two_sum(sum, product, rest);
    size = fma(abs(x), abs(c[k]), size);
  }
  const S value = sum + rest;
  S minus = two_sum(sum, -a, rest);
  minus += rest;
  const double rounding = (extent<M>() + 4) * 0x1p-53;
  return {minus, value, size, fma(S(rounding * rounding), size + abs(b) + abs(a), S(0x1p-52) * abs(minus))};
}

/// Change of the load at a contact, all relative to s_j.
template <class S>
struct ContactChange {
  S change;    ///< |delta_j|
  S error;     ///< bound of its rounding
  S rounding;  ///< 2^-53 |A| |c|: change by rounding of c alone
};
template <class S, int D>
GARRA_HD ContactChange<S> contact_change(const RowChange<S> (&rows)[D], const MaskOf<S>& slides, const S& per_s) {
  Vec<S, D> delta, error, size;
  for_each_index<D>([&](int i) {
    const auto enters = !slides || MaskOf<S>(i == 0);
    delta[i] = select(enters, rows[i].minus, S(0));
    error[i] = select(enters, rows[i].error, S(0));
    size[i] = select(enters, rows[i].size, S(0));
  });
  return {magnitude(delta) * per_s, magnitude(error) * per_s, S(0x1p-53) * magnitude(size) * per_s};
}

/// Change of the load at all contacts, in working precision or with compensated products.
template <class S, int M>
struct LoadChange {
  Vec<S, M> a;        ///< A c + b
  S change;           ///< largest |delta_j| / s_j
  S own;              ///< largest |delta_j| / |b_j| of the loaded contacts
  S bound;            ///< largest (|delta_j| + e_j) / s_j
  S rounding;         ///< largest 2^-53 (|A| |c|)_j / s_j
  MaskOf<S> rounded;  ///< every |delta_j| is within the change by rounding of c alone
  MaskOf<S> finite;   ///< all of it
};

/// |delta_j| within this many times 2^-53 |A| |c| is the limit of forces in working precision.
inline constexpr double kRoundings = 16;

template <bool kCompensated, class S, int N, int D, class Entry>
GARRA_HD LoadChange<S, D * N> load_change(const Entry& A, const Vec<S, D * N>& b,
                                          const SlidingContacts<S, N, D>& sliding, const LoadScale<S, N>& scale,
                                          const Vec<S, D * N>& c, const Vec<S, D * N>& a) {
  constexpr int M = D * N;
  LoadChange<S, M> out;
  out.change = out.own = out.bound = out.rounding = S(0);
  out.rounded = out.change == S(0);  // true in all lanes
  S finite = S(0);
  const auto see = [&](int j) {
    const auto slides = sliding.slides(j);
    RowChange<S> rows[D];
    for_each_index<D>([&](int i) {
      const int row = D * j + i;
      if constexpr (kCompensated)
        rows[i] = compensated_row_change<M, S>(A, c, b[row], a[row], row);
      else
        rows[i] = row_change<M, S>(A, c, b[row], a[row], row);
      out.a[row] = rows[i].value;
      finite += rows[i].error - rows[i].error;
    });
    const ContactChange<S> at = contact_change<S, D>(rows, slides, scale.per_s[j]);
    out.change = max(out.change, at.change);
    out.bound = max(out.bound, at.change + at.error);
    out.rounding = max(out.rounding, at.rounding);
    out.rounded = out.rounded && at.change <= S(kRoundings) * at.rounding;
    const Vec<S, D> bj = contact<S, N, D>(b, j);
    const S load = select(slides, abs(bj[0]), magnitude(bj)) * scale.per_s[j];
    out.own = max(out.own, select(load > S(0), at.change / select(load > S(0), load, S(1)), S(0)));
    finite += at.change - at.change;
  };
  for_each_contact<N>(see);
  out.finite = finite == S(0);
  return out;
}

}  // namespace friction_problem_detail

/// The certificate (docs/theory/contact-solver.md, "Certificate"), independent of the solver that
/// found `found.c`. One projected step gives forces c and accelerations a that obey the law
/// exactly. The residual of a = A c + b is a change of the load b. `converged` means that this
/// change is within the tolerance at every contact, rounding included: the forces solve the problem
/// exactly for a load that differs by no more. A sliding contact's tangential force follows from
/// the normal one; only the law of the normal direction is tested. Unsolved problems get NaN,
/// except `ill_conditioned` ones. Inlined, so that a GPU thread needs no memory for it: A(i, k)
/// gives the entries, wherever they are stored.
template <class S, int N, int D = 3, class Entry>
GARRA_HD FrictionSolution<S, N, D> certified(const Entry& A, const Vec<S, D * N>& b, const Vec<S, N>& given_mu,
                                             const SlidingContacts<S, N, D>& sliding, const Candidate<S, N, D>& found,
                                             double tolerance) {
  using namespace friction_problem_detail;
  constexpr int M = D * N;
  FrictionSolution<S, N, D> out;
  Vec<S, M> c = found.c;
  S wild = S(0);
  for (int i = 0; i < extent<M>(); ++i) wild += c[i] - c[i];
  c = select(wild == S(0), c, Vec<S, M>::zero());  // an overflowed force counts as no force
  restore_sliding<S, N, D>(c, given_mu, sliding);
  const LoadScale<S, N> scale = load_scale<S, N, D>(A, b, [&](int j) { return sliding.slides(j); });
  // The step to forces and accelerations that obey the law.
  Vec<S, M> a;
  for_each_contact<N>([&](int j) {
    for_each_index<D>([&](int i) {
      S sum = A(D * j + i, 0) * c[0];
      for (int k = 1; k < extent<M>(); ++k) sum = fma(A(D * j + i, k), c[k], sum);
      a[D * j + i] = sum + b[D * j + i];
    });
  });
  Vec<S, M> to_c, to_a;
  for_each_contact<N>([&](int j) {
    const auto slides = sliding.slides(j);
    const Vec<S, D> cj = checked_part(contact<S, N, D>(c, j), slides),
                    aj = checked_part(contact<S, N, D>(a, j), slides);
    const LawfulPair<S, D> to = lawful_pair(cj, aj, select(slides, S(0), given_mu[j]), scale.g[j]);
    set_contact<S, N, D>(to_c, j, to.c);
    set_contact<S, N, D>(to_a, j, to.a);
  });
  restore_sliding<S, N, D>(to_c, given_mu, sliding);
  LoadChange<S, M> change = load_change<false, S, N, D>(A, b, sliding, scale, to_c, to_a);
  const auto sure = change.bound <= S(tolerance);  // false for NaN
  if (!all(sure)) {
    const LoadChange<S, M> exact = load_change<true, S, N, D>(A, b, sliding, scale, to_c, to_a);
    change.a = select(sure, change.a, exact.a);
    change.change = select(sure, change.change, exact.change);
    change.own = select(sure, change.own, exact.own);
    change.bound = select(sure, change.bound, exact.bound);
    change.rounding = select(sure, change.rounding, exact.rounding);
    change.rounded = select_mask(sure, change.rounded, exact.rounded);
    // Forces that already obey the law need no step, which may spoil them.
    Vec<S, M> stays_a;
    auto stays = !sure;
    for_each_contact<N>([&](int j) {
      const auto slides = sliding.slides(j);
      const StayingPair<S, D> at =
          staying_pair(checked_part(contact<S, N, D>(c, j), slides), checked_part(contact<S, N, D>(a, j), slides),
                       select(slides, S(0), given_mu[j]));
      set_contact<S, N, D>(stays_a, j, at.a);
      stays = stays && at.exists;
    });
    if (any(stays)) {
      const LoadChange<S, M> there = load_change<true, S, N, D>(A, b, sliding, scale, c, stays_a);
      stays = stays && there.bound < change.bound;
      to_c = select(stays, c, to_c);
      change.a = select(stays, there.a, change.a);
      change.change = select(stays, there.change, change.change);
      change.own = select(stays, there.own, change.own);
      change.bound = select(stays, there.bound, change.bound);
      change.rounding = select(stays, there.rounding, change.rounding);
      change.rounded = select_mask(stays, there.rounded, change.rounded);
    }
  }
  // Entries of A that are not finite make A c + b not finite: only then A is tested.
  auto finite = change.finite;
  if (!all(finite)) {
    S defects_of_a = S(0);
    for (int i = 0; i < extent<M>(); ++i)
      for (int k = 0; k < extent<M>(); ++k) defects_of_a += A(i, k) - A(i, k);
    finite = finite || defects_of_a == S(0);
  }
  S slip_defects = S(0);  // a slip direction that is NaN
  for (int i = 0; i < extent<(D - 1) * N>(); ++i) slip_defects += sliding.v[i] - sliding.v[i];
  // Forces that are input and not finite (given_candidate); a solver's overflowed forces only fail.
  const auto refused = !(wild == S(0)) && found.reason == S(int(Status::kInvalidInput));
  const auto valid = finite && defects<S, N, D>(b, given_mu) + slip_defects == S(0) && !refused;
  const auto converged = valid && change.finite && change.bound <= S(tolerance);  // false for NaN
  // A solver's reason is reported only if the numbers confirm it.
  const auto named = found.reason == S(int(Status::kIllConditioned));
  const auto rounded = valid && change.finite && change.rounded && S(4) * change.rounding > S(tolerance);
  S failure = select(named && !rounded, S(int(Status::kStalled)), found.reason);
  out.status = select(valid, select(converged, S(int(Status::kConverged)), failure), S(int(Status::kInvalidInput)));
  const auto kept = converged || (named && rounded);
  const S nan = S(__builtin_nan(""));
  for (int i = 0; i < extent<M>(); ++i) {
    out.c[i] = select(kept, to_c[i], nan);
    out.a[i] = select(kept, change.a[i], nan);
  }
  const auto measured = change.finite && !refused;
  out.residual = select(measured, change.change, nan);
  out.contact_residual = select(measured, change.own, nan);
  out.minimum = found.minimum;
  out.projected_gradient = found.projected_gradient;
  out.effort = found.effort;
  return out;
}

/// The certificate of a problem.
template <class S, int N, int D, class Matrix>
GARRA_HD FrictionSolution<S, N, D> certified(const FrictionProblem<S, N, D, Matrix>& p,
                                             const SlidingContacts<S, N, D>& sliding, const Candidate<S, N, D>& found,
                                             double tolerance) {
  return certified<S, N, D>([&](int i, int k) { return p.A(i, k); }, p.b, p.mu, sliding, found, tolerance);
}

/// The same as a function that is not inlined.
template <class S, int N, int D, class Matrix>
GARRA_HD_CALL FrictionSolution<S, N, D> certify(const FrictionProblem<S, N, D, Matrix>& p,
                                                const SlidingContacts<S, N, D>& sliding,
                                                const Candidate<S, N, D>& found, double tolerance) {
  return certified(p, sliding, found, tolerance);
}

/// Both for problems in which every contact may roll.
template <class S, int N, int D, class Matrix>
GARRA_HD FrictionSolution<S, N, D> certified(const FrictionProblem<S, N, D, Matrix>& p, const Candidate<S, N, D>& found,
                                             double tolerance) {
  return certified(p, SlidingContacts<S, N, D>{Vec<S, (D - 1) * N>::zero()}, found, tolerance);
}
template <class S, int N, int D, class Matrix>
GARRA_HD FrictionSolution<S, N, D> certify(const FrictionProblem<S, N, D, Matrix>& p, const Candidate<S, N, D>& found,
                                           double tolerance) {
  return certify(p, SlidingContacts<S, N, D>{Vec<S, (D - 1) * N>::zero()}, found, tolerance);
}

}  // namespace garra::solvers
