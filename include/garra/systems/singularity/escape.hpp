// Escape from a singular configuration: the joints that take part in the lost motion, the single
// joint that restores the rank, and the order and rate of the growth.
//
// U0 (of wrenches) and V0 (of joint motions) are the null spaces of the Jacobian A; d = g - rank
// dimensions are lost. With a step t of joint j alone, the d zero singular values grow as those of
//
//   E(t) = t M + t^2 N,   M = U0' A1 V0,   N = U0' (A2 - A1 A^+ A1) V0,                                          (1)
//
// A(t) = A + t A1 + t^2 A2 + ... by Lie products of screws: column k > j of A1 is [$j $k], of A2
// [$j [$j $k]] / 2.
#pragma once

#include "garra/systems/singularity/windows.hpp"

namespace garra::singularity {

/// Tolerances below which a number counts as zero, relative to quantities of size one, since the
/// screws are scaled.
struct Tolerances {
  double rank = 1e-10;    ///< of singular values, relative to the largest
  double support = 1e-8;  ///< of coefficients of null vectors
  double rate = 1e-8;     ///< of singular values of M and N
};

/// Most lost dimensions for which escapes are computed.
inline constexpr int kMaxLost = 3;

/// Escape by a step of joint j alone: sigma_g = rate |step|^order, step in rad, or in scaling
/// lengths of a prismatic joint.
template <class S, int J>
struct Escape {
  Vec<S, J> order;  ///< 1 or 2; 0: neither restores the rank
  Vec<S, J> rate;
  Vec<S, J> sign;      ///< of the steps for which sigma_g grows faster by the next order; 0: both alike, or unknown for
                       ///< order 2
  S joint;             ///< with the lowest order, then the highest rate; from 0; -1: none
  S dependent_joints;  ///< set of joints that take part in motions without effect (windows.hpp: joint_bit)
  /// Wrenches that the arm bears without joint torque: moment about the center and force times
  /// length, world axes; the first `lost` are set. For arms with g < 6 they include wrenches that
  /// the structure bears everywhere.
  Vec<S, 6> wrench[kMaxLost];
};

namespace kernel {

template <int A, int B>
inline constexpr int kMin = A < B ? A : B;
/// Sides of M and N.
template <int U, int V>
inline constexpr int kShort = U < V ? U : V;
template <int U, int V>
inline constexpr int kLong = U < V ? V : U;

/// Growth of the d-th singular value of t M + t^2 N from zero.
template <class S>
struct Growth {
  S order, rate, sign;
};

/// Vectors: rows (or columns) of M, and behind each that of N. Turned until the M parts are orthogonal. `d`: a number,
/// or an integral_constant where it is known when the program is compiled.
template <class D, class S, int N, int W>
GARRA_HD Growth<S> growth(VectorSet<S, N, W> a, D d, double tolerance) {
  constexpr int L = W / 2;
  make_orthogonal<L>(a);
  Vec<S, N> first = head_lengths<L>(a);
  sort_descending(first, a);
  const S zero = S(RealOf<S>(tolerance));
  VectorSet<S, N, L> rest;  // N on the null spaces of M
  VectorSet<S, N, L> unit;
  S rank = S(0);
  for_each_index<N>([&](auto k) {
    const auto grows = first[k] > zero;
    const S inverse = select(grows, S(1), S(0)) / select(grows, first[k], S(1));
    for_each_index<L>([&](auto i) {
      unit.v[k][i] = inverse * a.v[k][i];
      rest.v[k][i] = select(grows, S(0), a.v[k][L + i]);
    });
    rank += select(grows, S(1), S(0));
  });
  Vec<S, L> last;  // N's row beside the d-th singular value of M
  for_each_index<L>([&](auto i) { last[i] = a.v[d - 1][L + i]; });
  const S slope = dot(last, unit.v[d - 1]);
  for_each_index<N>([&](auto k) {
    for_each_index<N>([&](auto i) { rest.v[k] = axpy(-dot(rest.v[k], unit.v[i]), unit.v[i], rest.v[k]); });
  });
  make_orthogonal<L>(rest);
  Vec<S, N> second = head_lengths<L>(rest);
  sort_descending(second);
  S curve = S(0);
  for_each_index<kMin<N, kMaxLost>>([&](auto k) {
    if (k < d) curve = select(rank == S(static_cast<int>(d - 1 - k)), second[k], curve);
  });
  const auto linear = first[d - 1] > zero, quadratic = curve > zero;
  return {select(linear, S(1), select(quadratic, S(2), S(0))),
          select(linear, first[d - 1], select(quadratic, curve, S(0))),
          select(linear, select(slope > zero, S(1), select(slope < -zero, S(-1), S(0))), S(0))};
}

/// Null spaces of a Jacobian of rank R.
template <int R, class S, int J>
struct NullSpaces {
  VectorSet<S, 6 - R, 6> left;
  VectorSet<S, J - R, J> right;
};

template <int R, class S, int J>
GARRA_HD NullSpaces<R, S, J> null_spaces(const Decomposition<S, J>& a) {
  NullSpaces<R, S, J> out;
  if constexpr (J < 6) {
    out.left = complement<R>(a.left);
    for_each_index<J - R>([&](auto k) { out.right.v[k] = a.right.v[R + k]; });
  } else {
    out.right = complement<R>(a.right);
    for_each_index<6 - R>([&](auto k) { out.left.v[k] = a.left.v[R + k]; });
  }
  return out;
}

/// sum_{k > j} y_k $k
template <class S, int J>
GARRA_HD Screw<S> motion_behind(const ScaledScrews<S, J>& screws, int j, const Vec<S, J>& y) {
  Screw<S> sum = {Vec3<S>::zero(), Vec3<S>::zero()};
  for_each_index<J>([&](auto k) {
    if (k > j) sum = {axpy(y[k], screws.joint[k].w, sum.w), axpy(y[k], screws.joint[k].v, sum.v)};
  });
  return sum;
}

/// A^+ b
template <int R, class S, int J>
GARRA_HD Vec<S, J> least_motion(const Decomposition<S, J>& a, const Vec<S, 6>& b) {
  Vec<S, J> y = Vec<S, J>::zero();
  for_each_index<R>([&](auto k) { y = axpy(dot(a.left.v[k], b) / a.sigma[k], a.right.v[k], y); });
  return y;
}

/// M and N of (1) for a step of joint j, in the form that growth() takes.
template <int R, class S, int J>
GARRA_HD auto step_terms(const ScaledScrews<S, J>& screws, const Decomposition<S, J>& a,
                         const NullSpaces<R, S, J>& null, int j) {
  constexpr int U = 6 - R, V = J - R, L = kLong<U, V>;
  VectorSet<S, kShort<U, V>, 2 * L> out;
  const Screw<S>& joint = screws.joint[j];
  for_each_index<V>([&](auto c) {
    const Screw<S> first = cross(joint, motion_behind(screws, j, null.right.v[c]));
    const Vec<S, 6> b = to_vector(first);
    const Screw<S> back = cross(joint, motion_behind(screws, j, least_motion<R>(a, b)));
    const Vec<S, 6> second = axpy(S(0.5), to_vector(cross(joint, first)), -to_vector(back));
    for_each_index<U>([&](auto r) {
      const int wrench = r, motion = c;
      const int row = U <= V ? wrench : motion, at = U <= V ? motion : wrench;
      out.v[row][at] = dot(null.left.v[r], b);
      out.v[row][L + at] = dot(null.left.v[r], second);
    });
  });
  return out;
}

template <class S, int J>
GARRA_HD Escape<S, J> no_escape() {
  Escape<S, J> out;
  for_each_index<J>([&](auto j) { out.order[j] = out.rate[j] = out.sign[j] = S(0); });
  out.joint = S(-1);
  out.dependent_joints = S(0);
  for_each_index<kMaxLost>([&](auto k) { out.wrench[k] = Vec<S, 6>::zero(); });
  return out;
}

/// As if the rank were R in all lanes, with d dimensions lost.
template <int R, class D, class S, int J>
GARRA_HD Escape<S, J> escape_from(const ScaledScrews<S, J>& screws, const Decomposition<S, J>& a, D d,
                                  const Tolerances& tolerance) {
  const NullSpaces<R, S, J> null = null_spaces<R>(a);
  Escape<S, J> out = no_escape<S, J>();
  for_each_index<kMin<6 - R, kMaxLost>>([&](auto k) {
    if (k < d) out.wrench[k] = null.left.v[k];
  });
  for_each_index<J>([&](auto k) {
    S squares = S(0);
    for_each_index<J - R>([&](auto c) { squares = fma(null.right.v[c][k], null.right.v[c][k], squares); });
    const auto moves = squares > S(RealOf<S>(tolerance.support * tolerance.support));
    out.dependent_joints += select(moves, S(joint_bit(k)), S(0));
  });
  S best_order = S(0), best_rate = S(0);
  // The first joint moves all screws, the last none: neither changes a rank.
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
  for (int j = 1; j < J - 1; ++j) {
    const Growth<S> g = growth(step_terms<R>(screws, a, null, j), d, tolerance.rate);
    out.order[j] = g.order;
    out.rate[j] = g.rate;
    out.sign[j] = g.sign;
    const auto sooner = g.order > S(0) && (best_order == S(0) || g.order < best_order);
    const auto better = sooner || (g.order == best_order && g.rate > best_rate);
    best_order = select(better, g.order, best_order);
    best_rate = select(better, g.rate, best_rate);
    out.joint = select(better, S(j), out.joint);
  }
  return out;
}

/// Assigns field by field; all are of type S.
template <class S, class T>
GARRA_HD void assign_where(const MaskOf<S>& mask, const T& from, T& to) {
  const S* a = reinterpret_cast<const S*>(&from);
  S* b = reinterpret_cast<S*>(&to);
  for (int k = 0; k < static_cast<int>(sizeof(T) / sizeof(S)); ++k) b[k] = select(mask, a[k], b[k]);
}

/// Rare, and large: inlined into analyze() it took the compiler longer than all the rest.
template <int R, class D, class S, int J>
GARRA_HD_CALL void escape_apart(const ScaledScrews<S, J>& screws, const Decomposition<S, J>& a, D d,
                                const Tolerances& tolerance, Escape<S, J>& out) {
  out = escape_from<R>(screws, a, d, tolerance);
}
template <int R, class D, class S, int J>
GARRA_HD Escape<S, J> find_escape(const ScaledScrews<S, J>& screws, const Decomposition<S, J>& a, D d,
                                  const Tolerances& tolerance) {
#if !defined(__CUDA_ARCH__)  // where a call would cost every thread a stack
  if constexpr (R < 5) {
    const ScaledScrews<S, J> copy = screws;  // the original may stay in registers
    const Decomposition<S, J> factors = a;
    Escape<S, J> out;
    escape_apart<R>(copy, factors, d, tolerance, out);
    return out;
  } else
#endif
    return escape_from<R>(screws, a, d, tolerance);
}

template <int G, int D, class S, int J>
GARRA_HD void escape_where_lost(const ScaledScrews<S, J>& screws, const Decomposition<S, J>& a, const S& lost,
                                const Tolerances& tolerance, Escape<S, J>& out) {
  if constexpr (D <= kMaxLost && D < G) {
    const MaskOf<S> here = lost == S(D);
    if (any(here))
      assign_where<S>(here, find_escape<G - D>(screws, a, std::integral_constant<int, D>{}, tolerance), out);
    escape_where_lost<G, D + 1>(screws, a, lost, tolerance, out);
  }
}

/// The same of an arm with any generic rank below 6.
template <int R, class S, int J>
GARRA_HD void escape_with_rank(const ScaledScrews<S, J>& screws, const Decomposition<S, J>& a, const S& lost,
                               int generic, const Tolerances& tolerance, Escape<S, J>& out) {
  if constexpr (R < 5) {
    const int d = generic - R;
    const MaskOf<S> here = lost == S(d);
    if (d >= 1 && d <= kMaxLost && any(here)) assign_where<S>(here, find_escape<R>(screws, a, d, tolerance), out);
    escape_with_rank<R + 1>(screws, a, lost, generic, tolerance, out);
  }
}

}  // namespace kernel

/// Escapes of the lanes that lost 1 to kMaxLost dimensions; zero in the others. On a GPU a body of its own needs fewer
/// registers than analyze().
template <int G, class S, int J>
GARRA_HD Escape<S, J> escapes(const ScaledScrews<S, J>& screws, const Decomposition<S, J>& a,
                              const Tolerances& tolerance, int generic = G) {
  static_assert(G <= kValues<J>);
  Escape<S, J> out = kernel::no_escape<S, J>();
  const S lost = S(generic) - rank(a.sigma, tolerance.rank);
  if constexpr (G == kAnyRank)
    kernel::escape_with_rank<1>(screws, a, lost, generic, tolerance, out);
  else
    kernel::escape_where_lost<G, 1>(screws, a, lost, tolerance, out);
  return out;
}

/// Analysis of a singular configuration of an arm with generic rank G.
template <class S, int J>
struct Findings {
  Vec<S, kValues<J>> sigma;  ///< singular values, descending
  S rank, lost;              ///< lost = G - rank: dimensions of most configurations that this one lacks
  Subsets<S, J> subsets;     ///< minimal singular subsets of neighboring joints
  Escape<S, J> escape;       ///< zero if no dimension is lost, or more than kMaxLost
};

/// For the configurations that singular_values() found near a singularity. The rank is by tolerance.rank:
/// a near singularity can be analyzed as the one it is near to.
template <int G, class S, int J>
GARRA_HD Findings<S, J> analyze(const ScaledScrews<S, J>& screws, const IntervalDims<J>& dims,
                                const Tolerances& tolerance) {
  const Decomposition<S, J> a = decompose(screws);
  Findings<S, J> out;
  out.sigma = a.sigma;
  out.rank = rank(a.sigma, tolerance.rank);
  out.lost = S(numerical_rank<G>(dims)) - out.rank;
  out.subsets = singular_subsets(screws, dims, tolerance.rank, tolerance.support);
  out.escape = escapes<G>(screws, a, tolerance, numerical_rank<G>(dims));
  return out;
}

}  // namespace garra::singularity
