// Can forces inside friction cones balance a wrench at all? (docs/grasp-model.md, section 7)
//
//   find c with  W c + w = 0,  per contact  c in K = { |c_T| <= mu c_n, c_n <= limit }                 (1)
//
// A convex problem in six equations: by Farkas' lemma either there is such a c, or there is a y with
//   y.w + sum_j min(0, limit_j (z_n - mu |z_T|)_j) > 0,  z = W^T y,                                    (2)
// and then every c of K leaves at least that value over |y| unbalanced. Each answer comes with its c or its y. Without
// a limit a contact may press with kLargestForce times the wrench.
//
// Method: closed candidates first; then a primal-dual interior-point method (Nesterov and Todd's scaling; L.
// Vandenberghe, "The CVXOPT linear and quadratic cone program solvers", 2010) for
//   min tau  with  W c + w = tau q,  c in K,  q = W c0 + w,                                            (3)
// which begins inside of the cones at c0 with tau = 1. Where tau reaches 0 the forces balance w; where it cannot, the
// multiplier of the six equations is a y of (2). One system of six equations a step.
#pragma once

#include "garra/core/factor.hpp"
#include "garra/solve/friction_problem.hpp"

namespace garra::solvers {

/// Moments are divided by a length, so that all rows are forces [N].
template <class S, int N>
struct WrenchBalance {
  Mat<S, 6, 3 * N> W;  ///< contact forces (n, t, o) to a wrench
  Vec<S, 6> w;         ///< the wrench to balance
  Vec<S, N> mu;
  Vec<S, N> limit;  ///< of the normal force [N]; infinity: none
};

template <class S, int N>
struct BalanceAnswer {
  S balanced;        ///< 1: `c` balances w; 0: nothing does, `y` shows it; NaN: not decided, or a number is not finite
  Vec<S, 3 * N> c;   ///< [N]
  Vec<S, 6> y;       ///< unit vector
  S gap;             ///< value of (2), of what is left over where balanced is 1, over |w|
  S rank_deficient;  ///< 1 where W has less than rank 6: some wrenches no forces balance
  S closed;  ///< 1 where squeezing alone keeps any wrench in W's range in the cones: internal forces inside of all
  S steps;   ///< Newton steps
};

inline constexpr double kLargestForce = 1e4;       ///< without a limit, in units of the wrench
inline constexpr double kBalanceTolerance = 1e-9;  ///< balanced: |W c + w| <= this |w|; not: (2) > this |y| |w|
inline constexpr double kRankTolerance = 1e-10;    ///< eigenvalues of W W^T below this share of their sum count as zero

/// W W^T, shifted so that it can be factored whatever its rank.
template <class S, int N>
struct GraspGram {
  Ldlt<S, 6> factors;
  S shift;
  S deficient;  ///< 1 where an eigenvalue is zero
};

// Here all is over |w|, and tangential forces are over their friction coefficient, W's columns times it: every cone is
// |c_T| <= c_n.
namespace balance {

template <class S, int N>
GARRA_HD_CALL GraspGram<S, N> gram(const Mat<S, 6, 3 * N>& W) {
  Mat<S, 6, 6> g;
  S trace = S(0);
  for (int r = 0; r < 6; ++r) {
    for (int c = 0; c <= r; ++c) {
      S sum = W(r, 0) * W(c, 0);
      for (int k = 1; k < 3 * N; ++k) sum = fma(W(r, k), W(c, k), sum);
      g(r, c) = g(c, r) = sum;
    }
    trace += g(r, r);
  }
  GraspGram<S, N> out;
  constexpr double kShift = 1e-14;
  out.shift = S(kShift) * trace;
  for (int r = 0; r < 6; ++r) g(r, r) += out.shift;
  out.factors = factor_ldlt(g);
  // sum of shift / (eigenvalue + shift): near 1 for each that is zero.
  const Mat<S, 6, 6> half = solve_lower(out.factors, Mat<S, 6, 6>::identity());
  S inverse_trace = S(0);
  for (int r = 0; r < 6; ++r)
    for (int c = 0; c <= r; ++c) inverse_trace = fma(half(r, c) * half(r, c), out.factors.inv_d[r], inverse_trace);
  out.deficient =
      select(out.shift * inverse_trace > S(kShift / kRankTolerance) || out.factors.bad_pivots > S(0), S(1), S(0));
  return out;
}

/// c - W^+ (W c + w), which balances w as far as W's range goes; refined once.
template <class S, int N>
GARRA_HD_CALL Vec<S, 3 * N> balancing(const Mat<S, 6, 3 * N>& W, const GraspGram<S, N>& g, const Vec<S, 6>& w,
                                      Vec<S, 3 * N> c) {
  for (int pass = 0; pass < 2; ++pass) c -= transpose_times(W, solve(g.factors, W * c + w));
  return c;
}

/// Whether c lies in the cones and below the limits.
template <class S, int N>
GARRA_HD MaskOf<S> in_cones(const WrenchBalance<S, N>& p, const Vec<S, 3 * N>& c) {
  S worst = S(0);
  for (int j = 0; j < N; ++j) {
    worst = max(worst, tangential_length(contact<S, N>(c, j)) - c[3 * j]);
    worst = max(worst, c[3 * j] - p.limit[j]);
  }
  return worst <= S(0);
}

/// y.w + sum_j min of (W_j^T y).c over K, of (2).
template <class S, int N>
GARRA_HD S farkas(const WrenchBalance<S, N>& p, const Vec<S, 6>& y) {
  const Vec<S, 3 * N> z = transpose_times(p.W, y);
  S value = dot(y, p.w);
  for (int j = 0; j < N; ++j) {
    const S least = z[3 * j] - tangential_length(contact<S, N>(z, j));
    value += p.limit[j] * min(least, S(0));
  }
  return value;
}

/// Takes c or the direction of y as the answer where one of them is a certificate and none is known yet.
template <class S, int N>
GARRA_HD void certify(const WrenchBalance<S, N>& p, const Vec<S, 3 * N>& c, const Vec<S, 6>& y,
                      BalanceAnswer<S, N>& out) {
  const S nan = S(__builtin_nan(""));
  const auto open = !(out.balanced == out.balanced);
  const S left = norm(p.W * c + p.w), size = norm(y);
  const auto balances = in_cones(p, c) && left <= S(kBalanceTolerance);
  const Vec<S, 6> unit = (S(1) / select(size > S(0), size, S(1))) * y;
  const S value = farkas(p, unit);
  const auto yes = open && balances, no = open && !balances && value > S(kBalanceTolerance);
  out.balanced = select(yes, S(1), select(no, S(0), select(open, nan, out.balanced)));
  out.c = select(yes, c, out.c);
  out.y = select(no, unit, out.y);
  out.gap = select(yes, left, select(no, value, out.gap));
}

/// x0^2 - |x_T|^2 of a vector of the cone |x_T| <= x0, without the cancellation of the squares.
template <class S>
GARRA_HD S depth2(const Vec3<S>& x) {
  const S xt = tangential_length(x);
  return (x[0] - xt) * (x[0] + xt);
}

/// Largest a with x + a d in the cone |x_T| <= x0, for x inside of it; infinity where it never leaves.
template <class S>
GARRA_HD S way_out(const Vec3<S>& x, const Vec3<S>& d) {
  const S A = depth2(d), B = fma(x[0], d[0], -fma(x[1], d[1], x[2] * d[2])), C = max(depth2(x), S(0));
  const S root = sqrt(max(fma(B, B, -(A * C)), S(0)));
  const auto falls = A < S(0) || (B < S(0) && B * B >= A * C);
  const S below = select(B < S(0), root - B, -(B + root));  // the root that does not cancel, times A
  const S a = select(B < S(0), C / select(below > S(0), below, S(1)), below / select(A < S(0), A, S(-1)));
  return select(falls, a, S(__builtin_huge_val()));
}

/// State of the iteration.
template <class S, int N>
struct Interior {
  Vec<S, 3 * N> c, z;  ///< forces, and their multipliers, inside the cones
  Vec<S, N> v;         ///< multipliers of the limits
  Vec<S, 6> y, q;      ///< multiplier of the equations; W^T y = z - v e, q.y = 1
  S tau;
};

/// A contact's block of the Newton system: inverse of H + (v / s) e e^T, H the scaling matrix of (c, z).
template <class S>
GARRA_HD Mat3<S> inverse_block(const Vec3<S>& c, const Vec3<S>& z, const S& v_over_s) {
  const S dc = sqrt(depth2(c)), dz = sqrt(depth2(z));
  const S ic = S(1) / dc, iz = S(1) / dz;
  const Vec3<S> cn = ic * c, zn = iz * z;
  const S half = S(1) / sqrt(S(2) * (S(1) + dot(cn, zn)));
  const Vec3<S> w = vec3<S>(half * (cn[0] + zn[0]), half * (cn[1] - zn[1]), half * (cn[2] - zn[2]));
  const S eta2 = dc * iz;
  Mat3<S> H;  // inverse of H: eta^2 (2 w w^T - J)
  for (int r = 0; r < 3; ++r)
    for (int k = 0; k < 3; ++k) {
      const S diagonal = r != k ? S(0) : S(r == 0 ? -1 : 1);
      H(r, k) = eta2 * fma(S(2) * w[r], w[k], diagonal);
    }
  const S share = v_over_s / fma(v_over_s, H(0, 0), S(1));
  const Vec3<S> e = column(H, 0);
  for (int r = 0; r < 3; ++r)
    for (int k = 0; k < 3; ++k) H(r, k) = fma(-(share * e[r]), e[k], H(r, k));
  return H;
}

template <class S, int N>
struct StepSystem {
  Mat3<S> block[N];
  Ldlt<S, 6> factors;    ///< of W block W^T
  Vec<S, 6> by_q;        ///< (W block W^T)^-1 q
  Vec<S, 3 * N> center;  ///< c^-1 - e / s
  Vec<S, 6> by_center;   ///< (W block W^T)^-1 W block center
  Vec<S, 6> by_error;    ///< (W block W^T)^-1 (W c + w - tau q): what rounding has left
};

template <class S, int N>
GARRA_HD_CALL StepSystem<S, N> step_system(const Interior<S, N>& x, const WrenchBalance<S, N>& p) {
  StepSystem<S, N> out;
  Mat<S, 6, 6> G = Mat<S, 6, 6>::zero();
  Vec<S, 3 * N> moved;
  for (int j = 0; j < N; ++j) {
    const Vec3<S> c = contact<S, N>(x.c, j), z = contact<S, N>(x.z, j);
    const S room = p.limit[j] - c[0], depth = S(1) / depth2(c);
    out.block[j] = inverse_block(c, z, x.v[j] / room);
    set_contact<S, N>(out.center, j, vec3<S>(fma(depth, c[0], -(S(1) / room)), -(depth * c[1]), -(depth * c[2])));
    set_contact<S, N>(moved, j, out.block[j] * contact<S, N>(out.center, j));
    for (int r = 0; r < 6; ++r) {
      const Vec3<S> row = vec3<S>(p.W(r, 3 * j), p.W(r, 3 * j + 1), p.W(r, 3 * j + 2));
      const Vec3<S> image = out.block[j] * row;
      for (int k = 0; k <= r; ++k)
        G(r, k) =
            fma(image[0], p.W(k, 3 * j), fma(image[1], p.W(k, 3 * j + 1), fma(image[2], p.W(k, 3 * j + 2), G(r, k))));
    }
  }
  S trace = S(0);
  for (int r = 0; r < 6; ++r) trace += G(r, r);
  for (int r = 0; r < 6; ++r) G(r, r) = fma(S(1e-14), trace, G(r, r));  // W may lack rank
  out.factors = factor_ldlt(G);
  out.by_q = solve(out.factors, x.q);
  out.by_center = solve(out.factors, p.W * moved);
  out.by_error = solve(out.factors, axpy(-x.tau, x.q, p.W * x.c + p.w));
  return out;
}

/// A step towards products c.z of size `target`, and how far it may go.
template <class S, int N>
struct Step {
  Vec<S, 3 * N> dc, dz;
  Vec<S, N> dv;
  Vec<S, 6> dy;
  S dtau;
  S longest;
};

template <class S, int N>
GARRA_HD_CALL Step<S, N> step_towards(const Interior<S, N>& x, const WrenchBalance<S, N>& p, const StepSystem<S, N>& at,
                                      const S& target) {
  Step<S, N> out;
  const Vec<S, 6> from = axpy(target, at.by_center, at.by_error);
  out.dtau = (dot(x.q, from) - S(1)) / dot(x.q, at.by_q);
  const Vec<S, 6> y = axpy(-out.dtau, at.by_q, from);
  out.dy = y - x.y;
  const Vec<S, 3 * N> image = transpose_times(p.W, y);
  out.longest = S(__builtin_huge_val());
  for (int j = 0; j < N; ++j) {
    const Vec3<S> c = contact<S, N>(x.c, j), z = contact<S, N>(x.z, j), pull = contact<S, N>(image, j);
    const Vec3<S> dc = at.block[j] * axpy(target, contact<S, N>(at.center, j), -pull);
    set_contact<S, N>(out.dc, j, dc);
    const S inverse = S(1) / (p.limit[j] - c[0]);
    out.dv[j] = fma(inverse, fma(x.v[j], dc[0], target), -x.v[j]);
    Vec3<S> dz = pull - z;  // z + dz = W^T y + (v + dv) e
    dz[0] += x.v[j] + out.dv[j];
    set_contact<S, N>(out.dz, j, dz);
    out.longest = min(min(out.longest, way_out(c, dc)), way_out(z, dz));
    const S most = max(dc[0] * inverse, -out.dv[j] / x.v[j]);  // the reciprocal of how far
    out.longest = select(most > S(0), min(out.longest, S(1) / select(most > S(0), most, S(1))), out.longest);
  }
  return out;
}

/// Sum of the products that all go to zero together, over their number.
template <class S, int N>
GARRA_HD S centering(const Interior<S, N>& x, const WrenchBalance<S, N>& p) {
  S sum = dot(x.c, x.z);
  for (int j = 0; j < N; ++j) sum = fma(p.limit[j] - x.c[3 * j], x.v[j], sum);
  return sum * S(1.0 / (2 * N));
}

template <class S, int N>
GARRA_HD Interior<S, N> first_point(const WrenchBalance<S, N>& p) {
  Interior<S, N> x;
  for (int j = 0; j < N; ++j) {
    const S start = min(S(0.5) * p.limit[j], S(1));
    set_contact<S, N>(x.c, j, vec3<S>(start, S(0), S(0)));
    set_contact<S, N>(x.z, j, vec3<S>(S(1) / start, S(0), S(0)));
    x.v[j] = S(1) / (p.limit[j] - start);
  }
  x.q = p.W * x.c + p.w;
  x.y = Vec<S, 6>::zero();
  x.tau = S(1);
  return x;
}

/// Where no answer is known: steps until one is.
template <class S, int N>
GARRA_HD_CALL void iterate(const WrenchBalance<S, N>& p, const GraspGram<S, N>& g, BalanceAnswer<S, N>& out) {
  constexpr int kMostSteps = 60;
  Interior<S, N> x = first_point(p);
  for (int step = 0; step < kMostSteps; ++step) {
    const auto running = !(out.balanced == out.balanced) && is_finite(x.tau);
    if (!any(running)) break;
    out.steps += select(running, S(1), S(0));
    const StepSystem<S, N> system = step_system(x, p);
    const S mean = centering(x, p);
    const S far = min(step_towards(x, p, system, S(0)).longest, S(1)), rest = S(1) - far;
    const Step<S, N> to = step_towards(x, p, system, max(rest * rest * rest, S(1e-3)) * mean);
    S length = min(S(0.95) * to.longest, S(1));
    length = select(fma(length, to.dtau, x.tau) < S(0), -x.tau / to.dtau, length);  // balanced: no farther
    x.c = axpy(length, to.dc, x.c);
    x.z = axpy(length, to.dz, x.z);
    x.v = axpy(length, to.dv, x.v);
    x.y = axpy(length, to.dy, x.y);
    x.tau = fma(length, to.dtau, x.tau);
    certify(p, balancing(p.W, g, p.w, x.c), x.y, out);
  }
}

}  // namespace balance

/// Decides (1). `guess`: forces to begin with, of any kind [N].
template <class S, int N>
[[nodiscard]] GARRA_HD_CALL BalanceAnswer<S, N> balance_wrench(WrenchBalance<S, N> p, const Vec<S, 3 * N>& guess) {
  const S nan = S(__builtin_nan("")), zero = S(0), one = S(1);
  const S size = norm(p.w), unit = one / select(size > zero, size, one);
  p.w = unit * p.w;
  Vec<S, 3 * N> c = unit * guess;
  for (int j = 0; j < N; ++j) {
    p.limit[j] = min(unit * p.limit[j], S(kLargestForce));
    p.mu[j] = min(p.mu[j], S(kLargestForce));
    const S inverse = select(p.mu[j] > zero, one / select(p.mu[j] > zero, p.mu[j], one), zero);
    for (int k = 1; k < 3; ++k) {
      c[3 * j + k] *= inverse;
      for (int r = 0; r < 6; ++r) p.W(r, 3 * j + k) *= p.mu[j];
    }
  }
  const GraspGram<S, N> g = balance::gram<S, N>(p.W);
  BalanceAnswer<S, N> out;
  out.balanced = out.gap = nan;
  out.c = Vec<S, 3 * N>::zero();
  out.y = Vec<S, 6>::zero();
  out.rank_deficient = g.deficient;
  out.steps = zero;
  // The guess, balanced, and pressed into the cones by internal forces.
  c = balance::balancing(p.W, g, p.w, c);
  Vec<S, 3 * N> normals = Vec<S, 3 * N>::zero();
  for (int j = 0; j < N; ++j) normals[3 * j] = one;
  const Vec<S, 3 * N> squeeze = balance::balancing(p.W, g, Vec<S, 6>::zero(), normals);
  S room = one, needed = zero;
  for (int j = 0; j < N; ++j) {
    const Vec3<S> q = contact<S, N>(squeeze, j), cj = contact<S, N>(c, j);
    const S inside = q[0] - tangential_length(q);
    room = min(room, inside);
    needed = max(needed, (tangential_length(cj) - cj[0]) / select(inside > zero, inside, one));
  }
  out.closed = select(room > S(1e-6), one, zero);
  c = axpy(select(out.closed > zero, needed * S(1 + 1e-12), zero), squeeze, c);
  // What no forces reach at all: the part of the remainder outside of W's range, freed from rounding.
  balance::certify(p, c, g.shift * solve(g.factors, p.W * c + p.w), out);
  if (any(!(out.balanced == out.balanced))) balance::iterate(p, g, out);
  for (int j = 0; j < N; ++j) {
    out.c[3 * j] *= size;
    for (int k = 1; k < 3; ++k) out.c[3 * j + k] *= size * p.mu[j];
  }
  const auto nothing = size == zero;  // no wrench: no force needed
  out.balanced = select(nothing, one, out.balanced);
  out.gap = select(nothing, zero, out.gap);
  return out;
}

}  // namespace garra::solvers
