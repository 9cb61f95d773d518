// Can forces inside friction cones balance a wrench at all? (docs/grasp-model.md, section 7)
//
//   find c with  W c + w = 0,  per contact  c in K = { |c_T| <= mu c_n, c_n <= limit }                 (1)
//
// and, where the joints of contact j's finger have torque limits, for each joint i  |g_ji . c_j + h_ji| <= 1: its
// torque over its limit. A convex problem in six equations: by Farkas' lemma either there is such a c, or there are a y
// and, for each such joint, a number l with
//   y.w + sum_j min(0, limit_j (z_n - mu |z_T|)_j) + sum_ji (h_ji l_ji - |l_ji|) > 0,  z_j = W_j^T y + sum_i l_ji g_ji
//   (2)
// and then every c of K leaves at least that value over |y| unbalanced (y = 0: some finger cannot stand there at all).
// Each answer comes with its c or its y and l. Without a limit a contact may press with kLargestForce times the wrench.
//
// Method: closed candidates first; then a primal-dual interior-point method (Nesterov and Todd's scaling; L.
// Vandenberghe, "The CVXOPT linear and quadratic cone program solvers", 2010) for
//   min tau  with  W c + w = tau q,  c in K,  |g_ji . c_j + h_ji| <= 1 + tau r_ji,  q = W c0 + w,      (3)
// which begins inside of the cones at c0 with tau = 1; r is 0 but where a finger's own weight takes half of a torque.
// Where tau reaches 0 the forces balance w; where it cannot, the multipliers are those of (2). One system of six
// equations a step.
#pragma once

#include "garra/core/factor.hpp"
#include "garra/solve/friction_problem.hpp"
#include "garra/solve/second_order_cone.hpp"

namespace garra::solvers {

/// Torque limits of the contacts' fingers, at most R joints each; nothing where R is 0.
template <class S, int N, int R>
struct TorqueRows {
  Vec3<S> gain[N][R];  ///< g: a joint's torque over its limit, of a contact force (n, t, o) [1/N]
  S own[N][R];         ///< h: the same of the finger's own weight
  int rows;            ///< joints that are looked at; of those that a finger does not have both are 0
};
template <class S, int N>
struct TorqueRows<S, N, 0> {};

/// l of (2) [N].
template <class S, int N, int R>
struct TorqueShares {
  S share[N][R];
};
template <class S, int N>
struct TorqueShares<S, N, 0> {};

/// Moments are divided by a length, so that all rows are forces [N].
template <class S, int N, int R = 0>
struct WrenchBalance : TorqueRows<S, N, R> {
  Mat<S, 6, 3 * N> W;  ///< contact forces (n, t, o) to a wrench
  Vec<S, 6> w;         ///< the wrench to balance
  Vec<S, N> mu;
  Vec<S, N> limit;  ///< of the normal force [N]; infinity: none
};

template <class S, int N, int R = 0>
struct BalanceAnswer : TorqueShares<S, N, R> {
  S balanced;        ///< 1: `c` balances w; 0: nothing does, `y` shows it; NaN: not decided, or a number is not finite
  Vec<S, 3 * N> c;   ///< [N]
  Vec<S, 6> y;       ///< unit vector; with torque limits (y, l) is one
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

/// Calls visit(j, i) for joint i of contact j's finger.
template <class S, int N, int R, class Visit>
GARRA_HD void for_each_joint(const WrenchBalance<S, N, R>& p, const Visit& visit) {
  for (int j = 0; j < N; ++j)
    for (int i = 0; i < p.rows; ++i) visit(j, i);
}

/// A joint's torque over its limit.
template <class S, int N, int R>
GARRA_HD S torque_share(const WrenchBalance<S, N, R>& p, const Vec<S, 3 * N>& c, int j, int i) {
  return p.own[j][i] + dot(p.gain[j][i], contact<S, N>(c, j));
}

/// Whether c lies in the cones and below the limits.
template <class S, int N, int R>
GARRA_HD MaskOf<S> in_cones(const WrenchBalance<S, N, R>& p, const Vec<S, 3 * N>& c) {
  S worst = S(0);
  for (int j = 0; j < N; ++j) {
    worst = max(worst, tangential_length(contact<S, N>(c, j)) - c[3 * j]);
    worst = max(worst, c[3 * j] - p.limit[j]);
  }
  if constexpr (R > 0)
    for_each_joint(p, [&](int j, int i) { worst = max(worst, abs(torque_share(p, c, j, i)) - S(1)); });
  return worst <= S(0);
}

/// The value of (2).
template <class S, int N, int R>
GARRA_HD S farkas(const WrenchBalance<S, N, R>& p, const Vec<S, 6>& y, const TorqueShares<S, N, R>& l) {
  Vec<S, 3 * N> z = transpose_times(p.W, y);
  S value = dot(y, p.w);
  if constexpr (R > 0)
    for_each_joint(p, [&](int j, int i) {
      set_contact<S, N>(z, j, axpy(l.share[j][i], p.gain[j][i], contact<S, N>(z, j)));
      value += fma(p.own[j][i], l.share[j][i], -abs(l.share[j][i]));
    });
  for (int j = 0; j < N; ++j) {
    const S least = z[3 * j] - tangential_length(contact<S, N>(z, j));
    value += p.limit[j] * min(least, S(0));
  }
  return value;
}

/// |(y, l)|.
template <class S, int N, int R>
GARRA_HD S size_of(const WrenchBalance<S, N, R>& p, const Vec<S, 6>& y, const TorqueShares<S, N, R>& l) {
  S sum = dot(y, y);
  if constexpr (R > 0) for_each_joint(p, [&](int j, int i) { sum = fma(l.share[j][i], l.share[j][i], sum); });
  return sqrt(sum);
}

/// Brings each z of (2) that lies outside of its cone by a little into it, by torque multipliers of its finger, where
/// that costs less than what the force limit charges: without a limit 1e-9 outside weighs as much as 1e-5 of the
/// wrench, and the iteration, when it has come as far as rounding lets it, leaves more.
template <class S, int N, int R>
GARRA_HD void push_into_cones(const WrenchBalance<S, N, R>& p, const Vec<S, 6>& y, TorqueShares<S, N, R>& l) {
  const Vec<S, 3 * N> image = transpose_times(p.W, y);
  for (int j = 0; j < N; ++j) {
    Vec3<S> z = contact<S, N>(image, j);
    Mat3<S> reach = Mat3<S>::zero();  // of the finger's torques
    for (int i = 0; i < p.rows; ++i) {
      const Vec3<S>& g = p.gain[j][i];
      z = axpy(l.share[j][i], g, z);
      for (int r = 0; r < 3; ++r)
        for (int k = 0; k < 3; ++k) reach(r, k) = fma(g[r], g[k], reach(r, k));
    }
    const S outside = tangential_length(z) - z[0];
    const auto factors = factor_ldlt(reach);
    const Vec3<S> push = solve(factors, vec3<S>(S(1 + 1e-6) * outside, S(0), S(0)));
    S price = S(0);
    for (int i = 0; i < p.rows; ++i) {
      const S &h = p.own[j][i], &now = l.share[j][i], then = now + dot(p.gain[j][i], push);
      price += (abs(then) - h * then) - (abs(now) - h * now);
    }
    const auto worth = outside > S(0) && factors.bad_pivots == S(0) && price < p.limit[j] * outside;
    for (int i = 0; i < p.rows; ++i) l.share[j][i] += select(worth, dot(p.gain[j][i], push), S(0));
  }
}

/// Takes c or the direction of (y, l) as the answer where one of them is a certificate and none is known yet.
template <class S, int N, int R>
GARRA_HD void certify(const WrenchBalance<S, N, R>& p, const Vec<S, 3 * N>& c, const Vec<S, 6>& y,
                      TorqueShares<S, N, R> l, BalanceAnswer<S, N, R>& out) {
  const S nan = S(__builtin_nan(""));
  const auto open = !(out.balanced == out.balanced);
  const S left = norm(p.W * c + p.w), size = size_of(p, y, l);
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

/// Multipliers of the torque limits, v of joint torques; or steps of theirs.
template <class S, int N, int R>
struct JointPart {
  S up[N][R], down[N][R];  ///< of g.c + h <= 1 + tau r, of -(g.c + h) <= 1 + tau r
};
template <class S, int N>
struct JointPart<S, N, 0> {};
template <class S, int N, int R>
struct Relaxation {
  S relax[N][R];  ///< r of (3)
};
template <class S, int N>
struct Relaxation<S, N, 0> {};

/// State of the iteration.
template <class S, int N, int R>
struct Interior : JointPart<S, N, R>, Relaxation<S, N, R> {
  Vec<S, 3 * N> c, z;  ///< forces, and their multipliers, inside the cones
  Vec<S, N> v;         ///< multipliers of the limits
  Vec<S, 6> y, q;  ///< multiplier of the equations; W^T y = z - v e - sum (up - down) g, q.y + sum (up + down) r = 1
  S tau;
};

/// inverse of (B^-1 + theta g g^T), in place. (I - k g^T) B (I - k g^T)^T + k k^T / theta, as Joseph's form of Kalman's
/// update: the plain difference has nothing left where B is large and theta is, too.
template <class S>
GARRA_HD void stiffen(const Vec3<S>& g, const S& theta, Mat3<S>& B) {
  const Vec3<S> along = B * g;
  const S rest = S(1) / fma(theta, dot(g, along), S(1)), share = theta * rest;
  const Vec3<S> k = share * along;
  Mat3<S> half;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) half(r, c) = fma(-k[r], along[c], B(r, c));
  const Vec3<S> left = half * g;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c <= r; ++c)
      B(r, c) = B(c, r) = fma(share * rest * along[r], along[c], fma(-left[r], k[c], half(r, c)));
}

/// A contact's block of the Newton system: inverse of H + (v / s) e e^T, H the scaling matrix of (c, z).
template <class S>
GARRA_HD Mat3<S> inverse_block(const Vec3<S>& c, const Vec3<S>& z, const S& v_over_s) {
  const auto [w, eta2] = cone::scaling_of(c, z);
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

/// Room up to a joint's two limits, and what they add to the Newton system.
template <class S>
struct JointRoom {
  S up, down;
  S stiff, tilt;  ///< sum and difference of multiplier over room
};
template <class S, int N, int R>
GARRA_HD JointRoom<S> joint_room(const Interior<S, N, R>& x, const WrenchBalance<S, N, R>& p, int j, int i) {
  const S share = torque_share(p, x.c, j, i), all = fma(x.tau, x.relax[j][i], S(1));
  const S up = S(1) / (all - share), down = S(1) / (all + share);
  return {up, down, fma(x.up[j][i], up, x.down[j][i] * down), fma(x.up[j][i], up, -(x.down[j][i] * down))};
}

/// What the relaxation r adds to the Newton system.
template <class S, int N, int R>
struct RelaxedPart {
  Vec<S, 3 * N> pull;    ///< sum g r (difference of multiplier over room)
  S by_target, by_dtau;  ///< of q.y + sum (up + down) r
};
template <class S, int N>
struct RelaxedPart<S, N, 0> {};

template <class S, int N, int R>
struct StepSystem : RelaxedPart<S, N, R> {
  Mat3<S> block[N];
  Ldlt<S, 6> factors;    ///< of W block W^T
  Vec<S, 6> q;           ///< q - W block pull
  Vec<S, 6> by_q;        ///< (W block W^T)^-1 of that
  Vec<S, 3 * N> center;  ///< c^-1 - e / s
  Vec<S, 6> by_center;   ///< (W block W^T)^-1 W block center
  Vec<S, 6> by_error;    ///< (W block W^T)^-1 (W c + w - tau q): what rounding has left
};

/// The joints of contact j's finger: its block, its center, what r pulls.
template <class S, int N, int R>
GARRA_HD void add_joints(const Interior<S, N, R>& x, const WrenchBalance<S, N, R>& p, int j, StepSystem<S, N, R>& out) {
  Vec3<S> center = contact<S, N>(out.center, j), pull = Vec3<S>::zero();
  for (int i = 0; i < p.rows; ++i) {
    const Vec3<S>& g = p.gain[j][i];
    const JointRoom<S> room = joint_room(x, p, j, i);
    stiffen(g, room.stiff, out.block[j]);
    center = axpy(room.down - room.up, g, center);
    const S r = x.relax[j][i];
    pull = axpy(r * room.tilt, g, pull);
    out.by_target = fma(r, room.up + room.down, out.by_target);
    out.by_dtau = fma(r * r, room.stiff, out.by_dtau);
  }
  set_contact<S, N>(out.center, j, center);
  set_contact<S, N>(out.pull, j, pull);
}

template <class S, int N, int R>
GARRA_HD_CALL StepSystem<S, N, R> step_system(const Interior<S, N, R>& x, const WrenchBalance<S, N, R>& p) {
  StepSystem<S, N, R> out;
  if constexpr (R > 0) out.by_target = out.by_dtau = S(0);
  Mat<S, 6, 6> G = Mat<S, 6, 6>::zero();
  Vec<S, 3 * N> moved;
  for (int j = 0; j < N; ++j) {
    const Vec3<S> c = contact<S, N>(x.c, j), z = contact<S, N>(x.z, j);
    const S room = p.limit[j] - c[0], depth = S(1) / cone::depth2(c);
    out.block[j] = inverse_block(c, z, x.v[j] / room);
    set_contact<S, N>(out.center, j, vec3<S>(fma(depth, c[0], -(S(1) / room)), -(depth * c[1]), -(depth * c[2])));
    if constexpr (R > 0) add_joints(x, p, j, out);
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
  out.q = x.q;
  if constexpr (R > 0) {
    Vec<S, 3 * N> pulled;
    for (int j = 0; j < N; ++j) set_contact<S, N>(pulled, j, out.block[j] * contact<S, N>(out.pull, j));
    out.q -= p.W * pulled;
    out.by_target += dot(pulled, out.center);
    out.by_dtau -= dot(pulled, out.pull);
  }
  out.by_q = solve(out.factors, out.q);
  out.by_center = solve(out.factors, p.W * moved);
  out.by_error = solve(out.factors, axpy(-x.tau, x.q, p.W * x.c + p.w));
  return out;
}

/// A step towards products c.z of size `target`, and how far it may go.
template <class S, int N, int R>
struct Step : JointPart<S, N, R> {
  Vec<S, 3 * N> dc, dz;
  Vec<S, N> dv;
  Vec<S, 6> dy;
  S dtau;
  S longest;
};

/// Steps of the multipliers of contact j's finger, how far they and the torques may go, and their part of z + dz.
template <class S, int N, int R>
GARRA_HD void step_joints(const Interior<S, N, R>& x, const WrenchBalance<S, N, R>& p, const S& target, int j,
                          Step<S, N, R>& out, Vec3<S>& z) {
  const Vec3<S> dc = contact<S, N>(out.dc, j);
  S most = S(0);  // the reciprocal of how far
  for (int i = 0; i < p.rows; ++i) {
    const Vec3<S>& g = p.gain[j][i];
    const JointRoom<S> room = joint_room(x, p, j, i);
    const S turn = dot(g, dc), wider = x.relax[j][i] * out.dtau;
    const S &u = x.up[j][i], &d = x.down[j][i];
    const S du = out.up[j][i] = fma(room.up, fma(u, turn - wider, target), -u);
    const S dd = out.down[j][i] = fma(room.down, fma(d, -(turn + wider), target), -d);
    z = axpy((u + du) - (d + dd), g, z);
    most = max(max(most, max((turn - wider) * room.up, -((turn + wider) * room.down))), max(-du / u, -dd / d));
  }
  out.longest = select(most > S(0), min(out.longest, S(1) / select(most > S(0), most, S(1))), out.longest);
}

template <class S, int N, int R>
GARRA_HD_CALL Step<S, N, R> step_towards(const Interior<S, N, R>& x, const WrenchBalance<S, N, R>& p,
                                         const StepSystem<S, N, R>& at, const S& target) {
  Step<S, N, R> out;
  const Vec<S, 6> from = axpy(target, at.by_center, at.by_error);
  S gain = dot(at.q, from), loss = dot(at.q, at.by_q);
  if constexpr (R > 0) {
    gain = fma(target, at.by_target, gain);
    loss += at.by_dtau;
  }
  out.dtau = (gain - S(1)) / loss;
  const Vec<S, 6> y = axpy(-out.dtau, at.by_q, from);
  out.dy = y - x.y;
  const Vec<S, 3 * N> image = transpose_times(p.W, y);
  out.longest = S(__builtin_huge_val());
  for (int j = 0; j < N; ++j) {
    const Vec3<S> c = contact<S, N>(x.c, j), z = contact<S, N>(x.z, j), pull = contact<S, N>(image, j);
    Vec3<S> push = axpy(target, contact<S, N>(at.center, j), -pull);
    if constexpr (R > 0) push = axpy(out.dtau, contact<S, N>(at.pull, j), push);
    const Vec3<S> dc = at.block[j] * push;
    set_contact<S, N>(out.dc, j, dc);
    const S inverse = S(1) / (p.limit[j] - c[0]);
    out.dv[j] = fma(inverse, fma(x.v[j], dc[0], target), -x.v[j]);
    Vec3<S> dz = pull - z;  // z + dz = W^T y + (v + dv) e + sum (up + dup - down - ddown) g
    dz[0] += x.v[j] + out.dv[j];
    if constexpr (R > 0) step_joints(x, p, target, j, out, dz);
    set_contact<S, N>(out.dz, j, dz);
    out.longest = min(min(out.longest, cone::way_out(c, dc)), cone::way_out(z, dz));
    const S most = max(dc[0] * inverse, -out.dv[j] / x.v[j]);  // the reciprocal of how far
    out.longest = select(most > S(0), min(out.longest, S(1) / select(most > S(0), most, S(1))), out.longest);
  }
  return out;
}

/// Sum of the products that all go to zero together, over their number.
template <class S, int N, int R>
GARRA_HD S centering(const Interior<S, N, R>& x, const WrenchBalance<S, N, R>& p) {
  S sum = dot(x.c, x.z);
  for (int j = 0; j < N; ++j) sum = fma(p.limit[j] - x.c[3 * j], x.v[j], sum);
  int joints = 0;
  if constexpr (R > 0) joints = p.rows;
  if constexpr (R > 0)
    for_each_joint(p, [&](int j, int i) {
      const S share = torque_share(p, x.c, j, i), all = fma(x.tau, x.relax[j][i], S(1));
      sum = fma(all - share, x.up[j][i], fma(all + share, x.down[j][i], sum));
    });
  return sum * S(1.0 / (2 * N * (1 + joints)));
}

/// Relaxes limits of which the finger's own weight takes more than half, and returns a normal force that stays well
/// within them; then what is relaxed leaves a quarter of each limit on both sides.
template <class S, int N, int R>
GARRA_HD S relax_joints(const WrenchBalance<S, N, R>& p, int j, S start, Interior<S, N, R>& x) {
  for (int i = 0; i < p.rows; ++i) {
    x.relax[j][i] = max(abs(p.own[j][i]) - S(0.5), S(0));
    const S turn = abs(p.gain[j][i][0]);
    start = select(turn * start > S(0.25), S(0.25) / select(turn > S(0), turn, S(1)), start);
  }
  return start;
}

template <class S, int N, int R>
GARRA_HD Interior<S, N, R> first_point(const WrenchBalance<S, N, R>& p) {
  Interior<S, N, R> x;
  for (int j = 0; j < N; ++j) {
    S start = min(S(0.5) * p.limit[j], S(1));
    if constexpr (R > 0) start = relax_joints(p, j, start, x);
    set_contact<S, N>(x.c, j, vec3<S>(start, S(0), S(0)));
    set_contact<S, N>(x.z, j, vec3<S>(S(1) / start, S(0), S(0)));
    x.v[j] = S(1) / (p.limit[j] - start);
  }
  x.q = p.W * x.c + p.w;
  x.y = Vec<S, 6>::zero();
  x.tau = S(1);
  if constexpr (R > 0)
    for_each_joint(p, [&](int j, int i) {
      const S share = torque_share(p, x.c, j, i), all = x.relax[j][i] + S(1);
      x.up[j][i] = S(1) / (all - share);
      x.down[j][i] = S(1) / (all + share);
    });
  return x;
}

/// Where no answer is known: steps until one is.
template <class S, int N, int R>
GARRA_HD_CALL void iterate(const WrenchBalance<S, N, R>& p, const GraspGram<S, N>& g, BalanceAnswer<S, N, R>& out) {
  constexpr int kMostSteps = 60;
  Interior<S, N, R> x = first_point(p);
  for (int step = 0; step < kMostSteps; ++step) {
    const auto running = !(out.balanced == out.balanced) && is_finite(x.tau);
    if (!any(running)) break;
    out.steps += select(running, S(1), S(0));
    const StepSystem<S, N, R> system = step_system(x, p);
    const S mean = centering(x, p);
    const S far = min(step_towards(x, p, system, S(0)).longest, S(1)), rest = S(1) - far;
    // Mild: who reduces the products by more than a step has shown to be possible gets stuck beside a cone where the
    // forces have to grow a hundredfold (a grasp that just closes), and takes more steps elsewhere, too.
    const S share = max(min(S(1.5) * rest, S(1)), S(0.1));
    const Step<S, N, R> to = step_towards(x, p, system, share * mean);
    S length = min(S(0.9) * to.longest, S(1));
    length = select(fma(length, to.dtau, x.tau) < S(0), -x.tau / to.dtau, length);  // balanced: no farther
    x.c = axpy(length, to.dc, x.c);
    x.z = axpy(length, to.dz, x.z);
    x.v = axpy(length, to.dv, x.v);
    x.y = axpy(length, to.dy, x.y);
    x.tau = fma(length, to.dtau, x.tau);
    TorqueShares<S, N, R> l;
    if constexpr (R > 0)
      for_each_joint(p, [&](int j, int i) {
        x.up[j][i] = fma(length, to.up[j][i], x.up[j][i]);
        x.down[j][i] = fma(length, to.down[j][i], x.down[j][i]);
        l.share[j][i] = x.up[j][i] - x.down[j][i];
      });
    certify(p, balancing(p.W, g, p.w, x.c), x.y, l, out);
  }
}

}  // namespace balance

/// Decides (1). `guess`: forces to begin with, of any kind [N].
template <class S, int N, int R>
[[nodiscard]] GARRA_HD_CALL BalanceAnswer<S, N, R> balance_wrench(WrenchBalance<S, N, R> p,
                                                                  const Vec<S, 3 * N>& guess) {
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
  auto weightless = size == zero;  // no wrench: no force needed, if the fingers can hold themselves
  if constexpr (R > 0)
    balance::for_each_joint(p, [&](int j, int i) {
      p.gain[j][i][0] *= select(size > zero, size, one);
      for (int k = 1; k < 3; ++k) p.gain[j][i][k] *= p.mu[j] * select(size > zero, size, one);
      weightless = weightless && abs(p.own[j][i]) <= one;
    });
  const GraspGram<S, N> g = balance::gram<S, N>(p.W);
  BalanceAnswer<S, N, R> out;
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
  TorqueShares<S, N, R> none;
  if constexpr (R > 0) balance::for_each_joint(p, [&](int j, int i) { out.share[j][i] = none.share[j][i] = zero; });
  balance::certify(p, c, g.shift * solve(g.factors, p.W * c + p.w), none, out);
  if (any(!(out.balanced == out.balanced))) balance::iterate(p, g, out);
  for (int j = 0; j < N; ++j) {
    out.c[3 * j] *= size;
    for (int k = 1; k < 3; ++k) out.c[3 * j + k] *= size * p.mu[j];
  }
  if constexpr (R > 0) balance::for_each_joint(p, [&](int j, int i) { out.share[j][i] *= size; });
  out.balanced = select(weightless, one, out.balanced);
  out.gap = select(weightless, zero, out.gap);
  return out;
}

}  // namespace garra::solvers
