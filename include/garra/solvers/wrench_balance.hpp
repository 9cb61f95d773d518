// Decides whether forces inside friction cones can balance a wrench (docs/theory/grasp-model.md,
// section 7).
//
//   find c with  W c + w = 0,  per contact  c in K = { |c_T| <= mu c_n, c_n <= limit }                 (1)
//
// If the joints of contact j's finger have torque limits, each joint i requires |g_ji . c_j + h_ji|
// <= 1: its torque over its limit. A finger may bear several contacts; a whole hand whose joints
// move all of them is one finger. c_j then stands for its contacts' forces together. The c_T of a
// soft contact includes the moment about the normal over the contact's radius: a cone in four
// dimensions. (1) is a convex problem in six equations. By Farkas' lemma either there is such a c,
// or there are a y and, for each such joint, a number l with
//   y.w + sum_j min(0, limit_j (z_n - mu |z_T|)_j) + sum_ji (h_ji l_ji - |l_ji|) > 0,  z_j = W_j^T y + sum_i l_ji g_ji
//   (2)
//
// Then every c of K leaves at least that value over |y| unbalanced (y = 0: some finger cannot stand
// there at all). Each answer comes with its c or its y and l. A contact without a limit may press
// with kMaxForce times the wrench.
//
// Contacts of a pad (R = kPads) have one limit for the sum of their normal forces. In (2), limit
// times the least value of a contact of the pad then stands for the sum over its contacts.
//
// Method: closed candidates first; then a primal-dual interior-point method (Nesterov and Todd's
// scaling; L. Vandenberghe, "The CVXOPT linear and quadratic cone program solvers", 2010) for
//
//   min tau  with  W c + w = tau q,  c in K,  |g_ji . c_j + h_ji| <= 1 + tau r_ji,  q = W c0 + w,      (3)
//
// which begins inside of the cones at c0 with tau = 1; r is nonzero only if a finger's own weight
// takes half of a torque. The forces balance w if tau reaches 0; otherwise the multipliers are
// those of (2). Each step solves one system of six equations.
#pragma once

#include "garra/core/factor.hpp"
#include "garra/solvers/friction_problem.hpp"
#include "garra/solvers/second_order_cone.hpp"

namespace garra::solvers {

/// Torque limits of F fingers with K contacts each, at most R joints a finger; empty if R is 0.
template <class S, int F, int R, int K, int D>
struct TorqueRows {
  Vec<S, D * K> gain[kCapacity<F>][R];  ///< g: a joint's torque over its limit, of contact forces (n, t, o) [1/N]
  S own[kCapacity<F>][R];               ///< h: the same of the finger's own weight
  int rows;                             ///< joints used; both are 0 for joints that a finger does not have
};
template <class S, int F, int K, int D>
struct TorqueRows<S, F, 0, K, D> {};
/// In place of R: no torque limits, but pads.
inline constexpr int kPads = -1;
template <class S, int F, int K, int D>
struct TorqueRows<S, F, kPads, K, D> {
  const int* pad;  ///< [F] the first contact of each contact's pad, whose `limit` is that of all its contacts together
};

/// Multipliers l of (2) [N].
template <class S, int F, int R>
struct TorqueShares {
  S share[kCapacity<F>][R];
};
template <class S, int F, int R>
requires(R <= 0) struct TorqueShares<S, F, R> {
};

/// A balance problem. Moments are divided by a length, so that all rows are forces [N]. K: contacts
/// of a finger, 1 or all N of them; matters only with torque limits. D: numbers of a contact's
/// force, 3, or 4 for soft contacts: (n, t, o, tau / r) with the moment tau about the normal. Its
/// column of W is r times that of a unit moment; cones are |(t, o, tau / r)| <= mu n, and r = 0
/// makes a contact a point.
template <class S, int N, int R = 0, int K = 1, int D = 3>
struct WrenchBalance : TorqueRows<S, N / K, R, K, D> {
  Mat<S, 6, D * N> W;  ///< contact forces to a wrench
  Vec<S, 6> w;         ///< the wrench to balance
  Vec<S, N> mu;
  Vec<S, N> limit;  ///< of the normal force [N]; infinity: none
};

template <class S, int N, int R = 0, int K = 1, int D = 3>
struct BalanceAnswer : TorqueShares<S, N / K, R> {
  S balanced;        ///< 1: `c` balances w; 0: no forces do, `y` shows it; NaN: not decided, or not finite
  Vec<S, D * N> c;   ///< [N]
  Vec<S, 6> y;       ///< unit vector; with torque limits (y, l) is one
  S gap;             ///< value of (2), or of the remainder if balanced is 1, over |w|
  S rank_deficient;  ///< 1 if W has less than rank 6: some wrenches cannot be balanced
  S closed;          ///< 1 for force closure: internal forces inside of all cones hold any wrench in W's range
  S steps;           ///< Newton steps
};

inline constexpr double kMaxForce = 1e4;           ///< without a limit, in units of the wrench
inline constexpr double kBalanceTolerance = 1e-9;  ///< balanced: |W c + w| <= this |w|; not: (2) > this |y| |w|
inline constexpr double kRankTolerance = 1e-10;    ///< eigenvalues of W W^T below this share of their sum count as zero

/// W W^T, shifted so that it can be factored for any rank.
template <class S, int N>
struct GraspGram {
  Ldlt<S, 6> factors;
  S shift;
  S deficient;  ///< 1 if an eigenvalue is zero
};

// Units: all forces are over |w|, and tangential forces are over their friction coefficient, W's
// columns times it: every cone is |c_T| <= c_n.
namespace balance {

inline constexpr double kShift = 1e-14;  ///< of W W^T, over its trace

/// Factors W W^T and returns its shift.
template <class S, int M>
GARRA_HD S factor_gram(const Mat<S, 6, M>& W, Ldlt<S, 6>& factors) {
  Mat<S, 6, 6> g;
  S trace = S(0);
  for (int r = 0; r < 6; ++r) {
    for (int c = 0; c <= r; ++c) {
      S sum = W(r, 0) * W(c, 0);
      for (int k = 1; k < extent<M>(); ++k) sum = fma(W(r, k), W(c, k), sum);
      g(r, c) = g(c, r) = sum;
    }
    trace += g(r, r);
  }
  const S shift = S(kShift) * trace;
  for (int r = 0; r < 6; ++r) g(r, r) += shift;
  factors = factor_ldlt(g);
  return shift;
}

template <class S, int N, int D = 3>
GARRA_HD GraspGram<S, N> gram(const Mat<S, 6, D * N>& W) {
  GraspGram<S, N> out;
  out.shift = factor_gram(W, out.factors);
  // Sum of shift / (eigenvalue + shift): near 1 for each zero eigenvalue.
  Mat<S, 6, 6> unit;  // row by row: 36 entries are too many to unroll in one loop
  for_each_index<6>([&](int r) { for_each_index<6>([&](int c) { unit(r, c) = S(r == c ? 1 : 0); }); });
  const Mat<S, 6, 6> half = solve_lower(out.factors, unit);
  S inverse_trace = S(0);
  for (int r = 0; r < 6; ++r)
    for (int c = 0; c <= r; ++c) inverse_trace = fma(half(r, c) * half(r, c), out.factors.inv_d[r], inverse_trace);
  out.deficient =
      select(out.shift * inverse_trace > S(kShift / kRankTolerance) || out.factors.bad_pivots > S(0), S(1), S(0));
  return out;
}

/// c - W^+ (W c + w), which balances w as far as W's range goes; refined once.
template <class S, int M>
GARRA_HD Vec<S, M> balancing(const Mat<S, 6, M>& W, const Ldlt<S, 6>& gram, const Vec<S, 6>& w, Vec<S, M> c) {
  for (int pass = 0; pass < 2; ++pass) c -= transpose_times(W, solve(gram, W * c + w));
  return c;
}

/// The i-th M numbers of all: those of a contact (M = D), or of a finger's K contacts.
template <int M, class S, int All>
GARRA_HD Vec<S, M> get_part(const Vec<S, All>& all, int i) {
  Vec<S, M> out;
  for_each_index<M>([&](int k) { out[k] = all[extent<M>() * i + k]; });
  return out;
}
template <int M, class S, int All>
GARRA_HD void set_part(Vec<S, All>& all, int i, const Vec<S, M>& part) {
  for_each_index<M>([&](int k) { all[extent<M>() * i + k] = part[k]; });
}
/// Vector on the axis of a cone in D dimensions.
template <int D, class S>
GARRA_HD Vec<S, D> on_axis(const S& length) {
  Vec<S, D> out = Vec<S, D>::zero();
  out[0] = length;
  return out;
}

/// Calls visit(f, i) for joint i of finger f.
template <class S, int N, int R, int K, int D, class Visit>
GARRA_HD void for_each_joint(const WrenchBalance<S, N, R, K, D>& p, const Visit& visit) {
  for (int f = 0; f < extent<N / K>(); ++f)
    for (int i = 0; i < p.rows; ++i) visit(f, i);
}

/// A joint's torque over its limit.
template <class S, int N, int R, int K, int D>
GARRA_HD S torque_share(const WrenchBalance<S, N, R, K, D>& p, const Vec<S, D * N>& c, int f, int i) {
  return p.own[f][i] + dot(p.gain[f][i], get_part<D * K>(c, f));
}

/// The first contact of the pad of contact j, which is j without pads.
template <class S, int N, int R, int K, int D>
GARRA_HD int first_of_pad(const WrenchBalance<S, N, R, K, D>& p, int j) {
  if constexpr (R == kPads) return p.pad[j];
  return j;
}
/// Calls visit(i) for the other contacts of the pad that begins with j.
template <class S, int N, int R, int K, int D, class Visit>
GARRA_HD void for_rest_of_pad(const WrenchBalance<S, N, R, K, D>& p, int j, const Visit& visit) {
  if constexpr (R == kPads)
    for (int i = j + 1; i < extent<N>(); ++i)
      if (p.pad[i] == j) visit(i);
}
/// Sum of the normal numbers of c of the pad that begins with j.
template <class S, int N, int R, int K, int D>
GARRA_HD S pressed(const WrenchBalance<S, N, R, K, D>& p, const Vec<S, D * N>& c, int j) {
  S sum = c[D * j];
  for_rest_of_pad(p, j, [&](int i) { sum += c[D * i]; });
  return sum;
}

/// Whether c lies in the cones and below the limits.
template <class S, int N, int R, int K, int D>
GARRA_HD MaskOf<S> in_cones(const WrenchBalance<S, N, R, K, D>& p, const Vec<S, D * N>& c) {
  S worst = S(0);
  for (int j = 0; j < extent<N>(); ++j) {
    worst = max(worst, tangential_length(get_part<D>(c, j)) - c[D * j]);
    if (first_of_pad(p, j) == j) worst = max(worst, pressed(p, c, j) - p.limit[j]);
  }
  if constexpr (R > 0)
    for_each_joint(p, [&](int j, int i) { worst = max(worst, abs(torque_share(p, c, j, i)) - S(1)); });
  return worst <= S(0);
}

/// The value of (2).
template <class S, int N, int R, int K, int D>
GARRA_HD S farkas(const WrenchBalance<S, N, R, K, D>& p, const Vec<S, 6>& y, const TorqueShares<S, N / K, R>& l) {
  Vec<S, D* N> z = transpose_times(p.W, y);
  S value = dot(y, p.w);
  if constexpr (R > 0)
    for_each_joint(p, [&](int f, int i) {
      set_part<D * K>(z, f, axpy(l.share[f][i], p.gain[f][i], get_part<D * K>(z, f)));
      value += fma(p.own[f][i], l.share[f][i], -abs(l.share[f][i]));
    });
  for (int j = 0; j < extent<N>(); ++j) {
    if (first_of_pad(p, j) != j) continue;
    S least = z[D * j] - tangential_length(get_part<D>(z, j));
    for_rest_of_pad(p, j, [&](int i) { least = min(least, z[D * i] - tangential_length(get_part<D>(z, i))); });
    value += p.limit[j] * min(least, S(0));
  }
  return value;
}

/// |(y, l)|.
template <class S, int N, int R, int K, int D>
GARRA_HD S magnitude(const WrenchBalance<S, N, R, K, D>& p, const Vec<S, 6>& y, const TorqueShares<S, N / K, R>& l) {
  S sum = dot(y, y);
  if constexpr (R > 0) for_each_joint(p, [&](int j, int i) { sum = fma(l.share[j][i], l.share[j][i], sum); });
  return sqrt(sum);
}

/// Moves each z of (2) that lies slightly outside of its cone into it, by torque multipliers of its
/// finger, if that costs less than the force limit's term. Without a limit 1e-9 outside costs as
/// much as 1e-5 of the wrench, and the iteration, limited by rounding, leaves more.
template <class S, int N, int R, int D>
GARRA_HD void push_into_cones(const WrenchBalance<S, N, R, 1, D>& p, const Vec<S, 6>& y, TorqueShares<S, N, R>& l) {
  const Vec<S, D* N> image = transpose_times(p.W, y);
  for (int j = 0; j < extent<N>(); ++j) {
    Vec<S, D> z = get_part<D>(image, j);
    Mat<S, D, D> reach = Mat<S, D, D>::zero();  // of the finger's torques
    for (int i = 0; i < p.rows; ++i) {
      const Vec<S, D>& g = p.gain[j][i];
      z = axpy(l.share[j][i], g, z);
      for (int r = 0; r < D; ++r)
        for (int k = 0; k < D; ++k) reach(r, k) = fma(g[r], g[k], reach(r, k));
    }
    const S outside = tangential_length(z) - z[0];
    const auto factors = factor_ldlt(reach);
    const Vec<S, D> push = solve(factors, on_axis<D>(S(S(1 + 1e-6) * outside)));
    S price = S(0);
    for (int i = 0; i < p.rows; ++i) {
      const S &h = p.own[j][i], &now = l.share[j][i], then = now + dot(p.gain[j][i], push);
      price += (abs(then) - h * then) - (abs(now) - h * now);
    }
    const auto worth = outside > S(0) && factors.bad_pivots == S(0) && price < p.limit[j] * outside;
    for (int i = 0; i < p.rows; ++i) l.share[j][i] += select(worth, dot(p.gain[j][i], push), S(0));
  }
}

/// The same for a finger with several contacts: all of its z at once, if that raises the value of
/// (2).
template <class S, int N, int R, int K, int D>
requires(K != 1) GARRA_HD
    void push_into_cones(const WrenchBalance<S, N, R, K, D>& p, const Vec<S, 6>& y, TorqueShares<S, N / K, R>& l) {
  constexpr int M = D * K;
  const Vec<S, D* N> image = transpose_times(p.W, y);
  TorqueShares<S, N / K, R> pushed = l;
  for (int f = 0; f < extent<N / K>(); ++f) {
    Vec<S, M> z = get_part<D * K>(image, f);
    auto reach = Mat<S, M, M>::zero();
    for (int i = 0; i < p.rows; ++i) {
      const Vec<S, M>& g = p.gain[f][i];
      z = axpy(l.share[f][i], g, z);
      for (int r = 0; r < extent<M>(); ++r)
        for (int k = 0; k <= r; ++k) reach(r, k) = fma(g[r], g[k], reach(r, k));
    }
    auto missing = Vec<S, M>::zero();
    for (int k = 0; k < extent<K>(); ++k)
      missing[D * k] = S(1 + 1e-6) * max(tangential_length(get_part<D>(z, k)) - z[D * k], S(0));
    const Vec<S, M> push = solve(factor_ldlt(reach), missing);
    for (int i = 0; i < p.rows; ++i) pushed.share[f][i] += dot(p.gain[f][i], push);
  }
  const auto worth = farkas(p, y, pushed) > farkas(p, y, l);
  for_each_joint(p, [&](int f, int i) { l.share[f][i] = select(worth, pushed.share[f][i], l.share[f][i]); });
}

/// y with a small addition that moves each z = W^T y of an unlimited contact from outside of its
/// cone onto it. A small z moves to 0 (a y that an antipodal pair does not resist). An unlimited
/// force amplifies the error that the iteration, or rounding, leaves outside. W: [6][D n]. The
/// number of contacts is a run-time number: one machine code for all.
template <int D, class S>
GARRA_HD_CALL Vec<S, 6> pushed_into_cones(const S* W, const S* limit, int n, Vec<S, 6> y) {
  for (int pass = 0; pass < 2; ++pass) {
    Mat<S, 6, 6> reach = Mat<S, 6, 6>::zero();
    Vec<S, 6> missing = Vec<S, 6>::zero();
    S trace = S(0);
    for (int j = 0; j < n; ++j) {
      const auto at = [&](int r, int k) -> const S& { return W[r * D * n + D * j + k]; };
      Vec<S, D> z;
      for (int k = 0; k < D; ++k) {
        z[k] = at(0, k) * y[0];
        for (int r = 1; r < 6; ++r) z[k] = fma(at(r, k), y[r], z[k]);
      }
      const S across = tangential_length(z), outside = across - z[0];
      const auto counts = outside > S(0) && limit[j] >= S(kMaxForce);
      const auto small = counts && dot(z, z) <= S(1e-6) * dot(y, y);
      // Rows of the equations: growth of `-outside` with y, or of each number of z.
      for (int e = 0; e < D; ++e) {
        const auto on = select_mask(MaskOf<S>(e == 0), counts, small);
        const S inverse = S(1) / select(counts, across, S(1));
        Vec<S, 6> g;
        for (int r = 0; r < 6; ++r) {
          S slope = at(r, 0);
          for (int k = 1; k < D; ++k) slope = fma(-(inverse * z[k]), at(r, k), slope);
          g[r] = select(small, at(r, e), e == 0 ? slope : S(0));
        }
        const S share = select(on, S(1), S(0)), wanted = select(small, -z[e], S(1 + 1e-6) * outside);
        for (int r = 0; r < 6; ++r) {
          missing[r] = fma(share * wanted, g[r], missing[r]);
          for (int k = 0; k <= r; ++k) reach(r, k) = fma(share * g[r], g[k], reach(r, k));
          trace = fma(share * g[r], g[r], trace);
        }
      }
    }
    for (int r = 0; r < 6; ++r) reach(r, r) += fma(S(kShift), trace, select(trace > S(0), S(0), S(1)));
    y += solve(factor_ldlt(reach), missing);
  }
  return y;
}

/// Takes c or the direction of (y, l) as the answer if one of them is a certificate and no answer
/// is known yet.
template <class S, int N, int R, int K, int D>
GARRA_HD void certify(const WrenchBalance<S, N, R, K, D>& p, const Vec<S, D * N>& c, const Vec<S, 6>& y,
                      TorqueShares<S, N / K, R> l, BalanceAnswer<S, N, R, K, D>& out) {
  const S nan = S(__builtin_nan(""));
  const auto open = !(out.balanced == out.balanced);
  const S left = norm(p.W * c + p.w), size = magnitude(p, y, l);
  const auto balances = in_cones(p, c) && left <= S(kBalanceTolerance);
  const S inverse = S(1) / select(size > S(0), size, S(1));
  const Vec<S, 6> unit = inverse * y;
  if constexpr (R > 0) {
    for_each_joint(p, [&](int j, int i) { l.share[j][i] *= inverse; });
    push_into_cones(p, unit, l);
  }
  const S value = farkas(p, unit, l);
  const auto yes = open && balances, no = open && !balances && value > S(kBalanceTolerance);
  out.balanced = select(yes, S(1), select(no, S(0), select(open, nan, out.balanced)));
  out.c = select(yes, c, out.c);
  out.y = select(no, unit, out.y);
  if constexpr (R > 0)
    for_each_joint(p, [&](int j, int i) { out.share[j][i] = select(no, l.share[j][i], out.share[j][i]); });
  out.gap = select(yes, left, select(no, value, out.gap));
}

/// Multipliers of the torque limits, v of joint torques; or their steps.
template <class S, int F, int R>
struct JointPart {
  S up[kCapacity<F>][R], down[kCapacity<F>][R];  ///< of g.c + h <= 1 + tau r, of -(g.c + h) <= 1 + tau r
};
template <class S, int F, int R>
requires(R <= 0) struct JointPart<S, F, R> {
};
template <class S, int F, int R>
struct Relaxation {
  S relax[kCapacity<F>][R];  ///< r of (3)
};
template <class S, int F, int R>
requires(R <= 0) struct Relaxation<S, F, R> {
};

/// State of the interior-point iteration.
template <class S, int N, int R, int K, int D>
struct Interior : JointPart<S, N / K, R>, Relaxation<S, N / K, R> {
  Vec<S, D * N> c, z;  ///< forces, and their multipliers, inside the cones
  Vec<S, N> v;         ///< multipliers of the limits
  Vec<S, 6> y, q;  ///< multiplier of the equations; W^T y = z - v e - sum (up - down) g, q.y + sum (up + down) r = 1
  S tau;
};

/// Replaces B by the inverse of (B^-1 + theta g g^T), in place. It uses (I - k g^T) B (I - k g^T)^T
/// + k k^T / theta, as Joseph's form of Kalman's update: the plain difference cancels if B and
/// theta are large.
template <class S, int M>
GARRA_HD void stiffen(const Vec<S, M>& g, const S& theta, Mat<S, M, M>& B) {
  const Vec<S, M> along = B * g;
  const S rest = S(1) / fma(theta, dot(g, along), S(1)), share = theta * rest;
  const Vec<S, M> k = share * along;
  Mat<S, M, M> half;
  for (int r = 0; r < extent<M>(); ++r)
    for (int c = 0; c < extent<M>(); ++c) half(r, c) = fma(-k[r], along[c], B(r, c));
  const Vec<S, M> left = half * g;
  for (int r = 0; r < extent<M>(); ++r)
    for (int c = 0; c <= r; ++c)
      B(r, c) = B(c, r) = fma(share * rest * along[r], along[c], fma(-left[r], k[c], half(r, c)));
}

/// A contact's block of the Newton system: inverse of H + (v / s) e e^T, H the scaling matrix of (c, z).
template <class S, int D>
GARRA_HD Mat<S, D, D> inverse_block(const Vec<S, D>& c, const Vec<S, D>& z, const S& v_over_s) {
  const auto [w, eta2] = cone::make_scaling(c, z);
  Mat<S, D, D> H;  // inverse of H: eta^2 (2 w w^T - J)
  for (int r = 0; r < D; ++r)
    for (int k = 0; k < D; ++k) {
      const S diagonal = r != k ? S(0) : S(r == 0 ? -1 : 1);
      H(r, k) = eta2 * fma(S(2) * w[r], w[k], diagonal);
    }
  const S share = v_over_s / fma(v_over_s, H(0, 0), S(1));
  const Vec<S, D> e = column(H, 0);
  for (int r = 0; r < D; ++r)
    for (int k = 0; k < D; ++k) H(r, k) = fma(-(share * e[r]), e[k], H(r, k));
  return H;
}

/// Distances to a joint's two limits, and their terms in the Newton system.
template <class S>
struct JointRoom {
  S up, down;
  S stiff, tilt;  ///< sum and difference of multiplier over distance
};
template <class S, int N, int R, int K, int D>
GARRA_HD JointRoom<S> joint_room(const Interior<S, N, R, K, D>& x, const WrenchBalance<S, N, R, K, D>& p, int f,
                                 int i) {
  const S share = torque_share(p, x.c, f, i), all = fma(x.tau, x.relax[f][i], S(1));
  const S up = S(1) / (all - share), down = S(1) / (all + share);
  return {up, down, fma(x.up[f][i], up, x.down[f][i] * down), fma(x.up[f][i], up, -(x.down[f][i] * down))};
}

/// Terms of the relaxation r in the Newton system.
template <class S, int N, int R, int D>
struct RelaxedPart {
  Vec<S, D * N> pull;    ///< sum g r (difference of multiplier over distance)
  S by_target, by_dtau;  ///< of q.y + sum (up + down) r
};
template <class S, int N, int D>
struct RelaxedPart<S, N, 0, D> {};
template <class S, int N, int D>
struct RelaxedPart<S, N, kPads, D> {
  Vec<S, N> share;  ///< of the pad that begins there: weight of its limit in the inverse
};

template <class S, int N, int R, int K, int D>
struct StepSystem : RelaxedPart<S, N, R, D> {
  Mat<S, D * K, D * K> block[kCapacity<N / K>];
  Vec<S, 6> q;           ///< q - W block pull
  Vec<S, 6> by_q;        ///< (W block W^T)^-1 q
  Vec<S, D * N> center;  ///< c^-1 - e / s
  Vec<S, 6> by_center;   ///< (W block W^T)^-1 W block center
  Vec<S, 6> by_error;    ///< (W block W^T)^-1 (W c + w - tau q): the rounding error
};

/// Adds the joints of finger f: its block, its center, the pull of r.
template <class S, int N, int R, int K, int D>
GARRA_HD void add_joints(const Interior<S, N, R, K, D>& x, const WrenchBalance<S, N, R, K, D>& p, int f,
                         StepSystem<S, N, R, K, D>& out) {
  Vec<S, D*K> center = get_part<D * K>(out.center, f), pull = Vec<S, D * K>::zero();
  for (int i = 0; i < p.rows; ++i) {
    const Vec<S, D* K>& g = p.gain[f][i];
    const JointRoom<S> room = joint_room(x, p, f, i);
    stiffen(g, room.stiff, out.block[f]);
    center = axpy(room.down - room.up, g, center);
    const S r = x.relax[f][i];
    pull = axpy(r * room.tilt, g, pull);
    out.by_target = fma(r, room.up + room.down, out.by_target);
    out.by_dtau = fma(r * r, room.stiff, out.by_dtau);
  }
  set_part<D * K>(out.center, f, center);
  set_part<D * K>(out.pull, f, pull);
}

/// Sets blocks and center of finger f.
template <class S, int N, int R, int K, int D>
GARRA_HD void set_block(const Interior<S, N, R, K, D>& x, const WrenchBalance<S, N, R, K, D>& p, int f,
                        StepSystem<S, N, R, K, D>& out) {
  if constexpr (K != 1) out.block[f] = Mat<S, D * K, D * K>::zero();
  for (int k = 0; k < extent<K>(); ++k) {
    const int j = extent<K>() * f + k;
    const Vec<S, D> c = get_part<D>(x.c, j), z = get_part<D>(x.z, j);
    const int pad = first_of_pad(p, j);
    const S room = p.limit[pad] - pressed(p, x.c, pad), depth = S(1) / cone::depth2(c);
    const Mat<S, D, D> own = inverse_block(c, z, R == kPads ? S(0) : x.v[j] / room);
    for (int r = 0; r < D; ++r)
      for (int i = 0; i < D; ++i) out.block[f](D * k + r, D * k + i) = own(r, i);
    out.center[D * j] = fma(depth, c[0], -(S(1) / room));
    for (int i = 1; i < D; ++i) out.center[D * j + i] = -(depth * c[i]);
  }
  if constexpr (R > 0) add_joints(x, p, f, out);
}

/// Adds the limits of the pads to a product of the blocks.
template <class S, int N, int R, int K, int D>
GARRA_HD void couple_pads(const WrenchBalance<S, N, R, K, D>& p, const StepSystem<S, N, R, K, D>& at,
                          Vec<S, D * N>& product) {
  for (int j = 0; j < extent<N>(); ++j) {
    if (p.pad[j] != j) continue;
    const S sum = at.share[j] * pressed(p, product, j);
    const auto take = [&](int i) {
      set_part<D>(product, i, axpy(-sum, column(at.block[i], 0), get_part<D>(product, i)));
    };
    take(j);
    for_rest_of_pad(p, j, take);
  }
}
/// Sets the shares of the pads, and takes their limits from W block W^T.
template <class S, int N, int R, int K, int D>
GARRA_HD void add_pads(const Interior<S, N, R, K, D>& x, const WrenchBalance<S, N, R, K, D>& p,
                       StepSystem<S, N, R, K, D>& out, Mat<S, 6, 6>& G) {
  for (int j = 0; j < extent<N>(); ++j) {
    if (p.pad[j] != j) continue;
    Vec<S, 6> along = Vec<S, 6>::zero();
    S yield = S(0);
    const auto add = [&](int i) {
      yield += out.block[i](0, 0);
      for (int r = 0; r < 6; ++r)
        for (int k = 0; k < D; ++k) along[r] = fma(p.W(r, D * i + k), out.block[i](k, 0), along[r]);
    };
    add(j);
    for_rest_of_pad(p, j, add);
    const S stiff = x.v[j] / (p.limit[j] - pressed(p, x.c, j));
    out.share[j] = stiff / fma(stiff, yield, S(1));
    for (int r = 0; r < 6; ++r)
      for (int k = 0; k <= r; ++k) G(r, k) = fma(-(out.share[j] * along[r]), along[k], G(r, k));
  }
}

template <class S, int N, int R, int K, int D>
GARRA_HD_CALL StepSystem<S, N, R, K, D> step_system(const Interior<S, N, R, K, D>& x,
                                                    const WrenchBalance<S, N, R, K, D>& p) {
  StepSystem<S, N, R, K, D> out;
  if constexpr (R > 0) out.by_target = out.by_dtau = S(0);
  Mat<S, 6, 6> G = Mat<S, 6, 6>::zero();
  Vec<S, D * N> moved;
  for (int f = 0; f < extent<N / K>(); ++f) {
    set_block(x, p, f, out);
    set_part<D * K>(moved, f, out.block[f] * get_part<D * K>(out.center, f));
    for (int r = 0; r < 6; ++r) {
      Vec<S, D * K> row;
      for_each_index<D * K>([&](int i) { row[i] = p.W(r, extent<D * K>() * f + i); });
      const Vec<S, D* K> image = out.block[f] * row;
      for (int k = 0; k <= r; ++k)
        for_each_index<D * K>([&](int from_end) {
          const int i = extent<D * K>() - 1 - from_end;
          G(r, k) = fma(image[i], p.W(k, extent<D * K>() * f + i), G(r, k));
        });
    }
  }
  S trace = S(0);
  for (int r = 0; r < 6; ++r) trace += G(r, r);
  if constexpr (R == kPads) {
    add_pads(x, p, out, G);
    couple_pads(p, out, moved);
  }
  for (int r = 0; r < 6; ++r) G(r, r) = fma(S(kShift), trace, G(r, r));  // W may lack rank
  const auto factors = factor_ldlt(G);
  out.q = x.q;
  if constexpr (R > 0) {
    Vec<S, D * N> pulled;
    for (int f = 0; f < extent<N / K>(); ++f) set_part<D * K>(pulled, f, out.block[f] * get_part<D * K>(out.pull, f));
    out.q -= p.W * pulled;
    out.by_target += dot(pulled, out.center);
    out.by_dtau -= dot(pulled, out.pull);
  }
  out.by_q = solve(factors, out.q);
  out.by_center = solve(factors, p.W * moved);
  out.by_error = solve(factors, axpy(-x.tau, x.q, p.W * x.c + p.w));
  return out;
}

/// A step toward products c.z of size `target`, and its largest admissible length.
template <class S, int N, int R, int K, int D>
struct Step : JointPart<S, N / K, R> {
  Vec<S, D * N> dc, dz;
  Vec<S, N> dv;
  Vec<S, 6> dy;
  S dtau;
  S longest;
};

/// Steps of the multipliers of finger f, their and the torques' largest admissible length, and
/// their part of z + dz.
template <class S, int N, int R, int K, int D>
GARRA_HD void step_joints(const Interior<S, N, R, K, D>& x, const WrenchBalance<S, N, R, K, D>& p, const S& target,
                          int f, Step<S, N, R, K, D>& out) {
  const Vec<S, D* K> dc = get_part<D * K>(out.dc, f);
  Vec<S, D* K> z = get_part<D * K>(out.dz, f);
  S most = S(0);  // reciprocal of the admissible length
  for (int i = 0; i < p.rows; ++i) {
    const Vec<S, D* K>& g = p.gain[f][i];
    const JointRoom<S> room = joint_room(x, p, f, i);
    const S turn = dot(g, dc), wider = x.relax[f][i] * out.dtau;
    const S &u = x.up[f][i], &d = x.down[f][i];
    const S du = out.up[f][i] = fma(room.up, fma(u, turn - wider, target), -u);
    const S dd = out.down[f][i] = fma(room.down, fma(d, -(turn + wider), target), -d);
    z = axpy((u + du) - (d + dd), g, z);
    most = max(max(most, max((turn - wider) * room.up, -((turn + wider) * room.down))), max(-du / u, -dd / d));
  }
  set_part<D * K>(out.dz, f, z);
  out.longest = select(most > S(0), min(out.longest, S(1) / select(most > S(0), most, S(1))), out.longest);
}

template <class S, int N, int R, int K, int D>
GARRA_HD_CALL Step<S, N, R, K, D> step_towards(const Interior<S, N, R, K, D>& x, const WrenchBalance<S, N, R, K, D>& p,
                                               const StepSystem<S, N, R, K, D>& at, const S& target) {
  Step<S, N, R, K, D> out;
  const Vec<S, 6> from = axpy(target, at.by_center, at.by_error);
  S gain = dot(at.q, from), loss = dot(at.q, at.by_q);
  if constexpr (R > 0) {
    gain = fma(target, at.by_target, gain);
    loss += at.by_dtau;
  }
  out.dtau = (gain - S(1)) / loss;
  const Vec<S, 6> y = axpy(-out.dtau, at.by_q, from);
  out.dy = y - x.y;
  const Vec<S, D* N> image = transpose_times(p.W, y);
  out.longest = S(__builtin_huge_val());
  const auto force_step = [&](int f) {
    Vec<S, D* K> push = axpy(target, get_part<D * K>(at.center, f), -get_part<D * K>(image, f));
    if constexpr (R > 0) push = axpy(out.dtau, get_part<D * K>(at.pull, f), push);
    set_part<D * K>(out.dc, f, at.block[f] * push);
  };
  if constexpr (R == kPads) {
    for (int f = 0; f < extent<N>(); ++f) force_step(f);
    couple_pads(p, at, out.dc);
  }
  for (int f = 0; f < extent<N / K>(); ++f) {
    if constexpr (R != kPads) force_step(f);
    for (int j = extent<K>() * f; j < extent<K>() * (f + 1); ++j) {
      const int pad = first_of_pad(p, j);
      if (pad == j) {
        const S inverse = S(1) / (p.limit[j] - pressed(p, x.c, j));
        out.dv[j] = fma(inverse, fma(x.v[j], pressed(p, out.dc, j), target), -x.v[j]);
      }
      // z + dz = W^T y + (v + dv) e + sum (up + dup - down - ddown) g
      Vec<S, D> dz = get_part<D>(image, j) - get_part<D>(x.z, j);
      dz[0] += x.v[pad] + out.dv[pad];
      set_part<D>(out.dz, j, dz);
    }
    if constexpr (R > 0) step_joints(x, p, target, f, out);
    for (int j = extent<K>() * f; j < extent<K>() * (f + 1); ++j) {
      const Vec<S, D> c = get_part<D>(x.c, j), dc = get_part<D>(out.dc, j);
      out.longest =
          min(min(out.longest, cone::way_out(c, dc)), cone::way_out(get_part<D>(x.z, j), get_part<D>(out.dz, j)));
      if (first_of_pad(p, j) != j) continue;
      // Reciprocal of the admissible length.
      const S inverse = S(1) / (p.limit[j] - pressed(p, x.c, j)),
              most = max(pressed(p, out.dc, j) * inverse, -out.dv[j] / x.v[j]);
      out.longest = select(most > S(0), min(out.longest, S(1) / select(most > S(0), most, S(1))), out.longest);
    }
  }
  return out;
}

/// Mean of the products that go to zero together.
template <class S, int N, int R, int K, int D>
GARRA_HD S centering(const Interior<S, N, R, K, D>& x, const WrenchBalance<S, N, R, K, D>& p) {
  S sum = dot(x.c, x.z);
  int pads = 0;
  for (int j = 0; j < extent<N>(); ++j) {
    if (first_of_pad(p, j) != j) continue;
    sum = fma(p.limit[j] - pressed(p, x.c, j), x.v[j], sum);
    ++pads;
  }
  int joints = 0;
  if constexpr (R > 0) joints = p.rows;
  if constexpr (R > 0)
    for_each_joint(p, [&](int j, int i) {
      const S share = torque_share(p, x.c, j, i), all = fma(x.tau, x.relax[j][i], S(1));
      sum = fma(all - share, x.up[j][i], fma(all + share, x.down[j][i], sum));
    });
  return sum * S(1.0 / (extent<N>() + pads + 2 * extent<N / K>() * joints));
}

/// Share of a joint's remaining limit that a contact may take: a quarter, divided among the
/// contacts that load the joint.
template <int D, class S, int M>
GARRA_HD S first_share(const Vec<S, M>& gain) {
  S felt = S(0);
  for (int k = 0; k < extent<M>(); k += D) felt += select(abs(gain[k]) > S(0), S(1), S(0));
  return S(0.25) / max(felt, S(1));
}

/// Relaxes limits of which the finger's own weight takes more than half, and returns a normal force
/// well within them. The relaxed limits leave a quarter on both sides.
template <class S, int N, int R, int K, int D>
GARRA_HD S relax_joints(const WrenchBalance<S, N, R, K, D>& p, int j, S start, Interior<S, N, R, K, D>& x) {
  const int f = j / extent<K>();
  for (int i = 0; i < p.rows; ++i) {
    x.relax[f][i] = max(abs(p.own[f][i]) - S(0.5), S(0));
    const S turn = abs(p.gain[f][i][D * (j % extent<K>())]), share = first_share<D>(p.gain[f][i]);
    start = select(turn * start > share, share / select(turn > S(0), turn, S(1)), start);
  }
  return start;
}

template <class S, int N, int R, int K, int D>
GARRA_HD Interior<S, N, R, K, D> first_point(const WrenchBalance<S, N, R, K, D>& p) {
  Interior<S, N, R, K, D> x;
  for (int j = 0; j < extent<N>(); ++j) {
    const int pad = first_of_pad(p, j);
    int together = 1;
    for_rest_of_pad(p, pad, [&](int) { ++together; });
    S start = min(S(0.5) * p.limit[pad] * S(1.0 / together), S(1));
    if constexpr (R > 0) start = relax_joints(p, j, start, x);
    set_part<D>(x.c, j, on_axis<D>(start));
    set_part<D>(x.z, j, on_axis<D>(S(S(1) / start)));
    x.v[j] = S(1) / (p.limit[pad] - S(together) * start);
  }
  x.q = p.W * x.c + p.w;
  x.y = Vec<S, 6>::zero();
  x.tau = S(1);
  if constexpr (R > 0)
    for_each_joint(p, [&](int f, int i) {
      const S share = torque_share(p, x.c, f, i), all = x.relax[f][i] + S(1);
      x.up[f][i] = S(1) / (all - share);
      x.down[f][i] = S(1) / (all + share);
    });
  return x;
}

/// Iterates the lanes without an answer until they have one. All arguments are by value: an
/// argument passed by address must lie in memory from the start, even in GPU threads that never get
/// here. For the same reason W W^T is factored again instead of passed.
template <class S, int N, int R, int K, int D>
[[nodiscard]] GARRA_HD_CALL BalanceAnswer<S, N, R, K, D> iterate(WrenchBalance<S, N, R, K, D> p,
                                                                 BalanceAnswer<S, N, R, K, D> out) {
  constexpr int kMaxSteps = 60;
  Ldlt<S, 6> gram;
  factor_gram(p.W, gram);
  Interior<S, N, R, K, D> x = first_point(p);
  for (int step = 0; step < kMaxSteps; ++step) {
    const auto running = !(out.balanced == out.balanced) && is_finite(x.tau);
    if (!any(running)) break;
    out.steps += select(running, S(1), S(0));
    const StepSystem<S, N, R, K, D> system = step_system(x, p);
    const S mean = centering(x, p);
    const S far = min(step_towards(x, p, system, S(0)).longest, S(1)), rest = S(1) - far;
    // Mild reduction: reducing the products by more than a step has shown to be possible stalls
    // beside a cone if the forces have to grow a hundredfold (a grasp that just closes), and takes
    // more steps elsewhere, too.
    const S share = max(min(S(1.5) * rest, S(1)), S(0.1));
    const Step<S, N, R, K, D> to = step_towards(x, p, system, share * mean);
    S length = min(S(0.9) * to.longest, S(1));
    length = select(fma(length, to.dtau, x.tau) < S(0), -x.tau / to.dtau, length);  // balanced: no farther
    x.c = axpy(length, to.dc, x.c);
    x.z = axpy(length, to.dz, x.z);
    for (int j = 0; j < extent<N>(); ++j)
      if (first_of_pad(p, j) == j) x.v[j] = fma(length, to.dv[j], x.v[j]);
    x.y = axpy(length, to.dy, x.y);
    x.tau = fma(length, to.dtau, x.tau);
    TorqueShares<S, N / K, R> l;
    if constexpr (R > 0)
      for_each_joint(p, [&](int j, int i) {
        x.up[j][i] = fma(length, to.up[j][i], x.up[j][i]);
        x.down[j][i] = fma(length, to.down[j][i], x.down[j][i]);
        l.share[j][i] = x.up[j][i] - x.down[j][i];
      });
    Vec<S, 6> y = x.y;
    if constexpr (R <= 0) y = pushed_into_cones<D>(p.W.m, p.limit.m, extent<N>(), x.y);
    certify(p, balancing(p.W, gram, p.w, x.c), y, l, out);
  }
  return out;
}

}  // namespace balance

/// Decides (1). `guess`: forces to begin with, of any kind [N].
template <class S, int N, int R, int K, int D>
[[nodiscard]] GARRA_HD BalanceAnswer<S, N, R, K, D> balance_wrench(WrenchBalance<S, N, R, K, D> p,
                                                                   const Vec<S, D * N>& guess) {
  const S nan = S(__builtin_nan("")), zero = S(0), one = S(1);
  const S size = norm(p.w), unit = one / select(size > zero, size, one);
  p.w = unit * p.w;
  Vec<S, D* N> c = unit * guess;
  for (int j = 0; j < extent<N>(); ++j) {
    p.limit[j] = min(unit * p.limit[j], S(kMaxForce));
    p.mu[j] = min(p.mu[j], S(kMaxForce));
    const S inverse = select(p.mu[j] > zero, one / select(p.mu[j] > zero, p.mu[j], one), zero);
    for (int k = 1; k < D; ++k) {
      c[D * j + k] *= inverse;
      for (int r = 0; r < 6; ++r) p.W(r, D * j + k) *= p.mu[j];
    }
  }
  auto weightless = size == zero;  // no wrench: no force needed, if the fingers can hold themselves
  if constexpr (R > 0)
    balance::for_each_joint(p, [&](int f, int i) {
      for (int j = 0; j < extent<K>(); ++j) {
        p.gain[f][i][D * j] *= select(size > zero, size, one);
        for (int k = 1; k < D; ++k)
          p.gain[f][i][D * j + k] *= p.mu[extent<K>() * f + j] * select(size > zero, size, one);
      }
      weightless = weightless && abs(p.own[f][i]) <= one;
    });
  const GraspGram<S, N> g = balance::gram<S, N, D>(p.W);
  BalanceAnswer<S, N, R, K, D> out;
  out.balanced = out.gap = nan;
  out.c = Vec<S, D * N>::zero();
  out.y = Vec<S, 6>::zero();
  out.rank_deficient = g.deficient;
  out.steps = zero;
  // Balances the guess, and moves it into the cones by internal forces.
  c = balance::balancing(p.W, g.factors, p.w, c);
  Vec<S, D* N> normals = Vec<S, D * N>::zero();
  for (int j = 0; j < extent<N>(); ++j) normals[D * j] = one;
  const Vec<S, D* N> grip_force = balance::balancing(p.W, g.factors, Vec<S, 6>::zero(), normals);
  S room = one, needed = zero;
  for (int j = 0; j < extent<N>(); ++j) {
    const Vec<S, D> q = balance::get_part<D>(grip_force, j), cj = balance::get_part<D>(c, j);
    const S inside = q[0] - tangential_length(q);
    room = min(room, inside);
    needed = max(needed, (tangential_length(cj) - cj[0]) / select(inside > zero, inside, one));
  }
  out.closed = select(room > S(1e-6), one, zero);
  c = axpy(select(out.closed > zero, needed * S(1 + 1e-12), zero), grip_force, c);
  // The part of the remainder outside of W's range, which no forces reach, without rounding.
  TorqueShares<S, N / K, R> none;
  if constexpr (R > 0) balance::for_each_joint(p, [&](int j, int i) { out.share[j][i] = none.share[j][i] = zero; });
  balance::certify(p, c, g.shift * solve(g.factors, p.W * c + p.w), none, out);
  if (any(!(out.balanced == out.balanced))) out = balance::iterate(p, out);
  for (int j = 0; j < extent<N>(); ++j) {
    out.c[D * j] *= size;
    for (int k = 1; k < D; ++k) out.c[D * j + k] *= size * p.mu[j];
  }
  if constexpr (R > 0) balance::for_each_joint(p, [&](int j, int i) { out.share[j][i] *= size; });
  out.balanced = select(weightless, one, out.balanced);
  out.gap = select(weightless, zero, out.gap);
  return out;
}

}  // namespace garra::solvers
