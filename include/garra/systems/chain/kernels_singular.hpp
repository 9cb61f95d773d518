// Distance of a configuration from a singularity: manipulability and the smallest singular value of
// the tool's Jacobian. Computed by orthogonalization of its rows or columns, never from J J^T,
// which loses half the digits (docs/theory/chain.md, "Kernels").
#pragma once

#include <limits>

#include "garra/systems/chain/kernels_kinematics.hpp"

namespace garra::chain {

namespace kernel {

/// N vectors of length L, adjacent in memory.
template <class S, int N, int L>
struct VectorSet {
  Vec<S, L> v[kCapacity<N>];
};

template <class S, int J>
GARRA_HD VectorSet<S, 6, J> make_rows(const Mat<S, 6, J>& jac) {
  VectorSet<S, 6, J> out;
  for_each_index<6>([&](auto k) { for_each_index<J>([&](auto i) { out.v[k][i] = jac(k, i); }); });
  return out;
}
template <class S, int J>
GARRA_HD VectorSet<S, J, 6> make_columns(const Mat<S, 6, J>& jac) {
  VectorSet<S, J, 6> out;
  for_each_index<J>([&](auto k) { for_each_index<6>([&](auto i) { out.v[k][i] = jac(i, k); }); });
  return out;
}
/// The shorter side of a Jacobian as vectors: its rows, or its columns where there are fewer than six joints.
template <class S, int J>
GARRA_HD auto jacobian_vectors(const Mat<S, 6, J>& jac) {
  static_assert(J > 0);
  if constexpr (J < 6)
    return make_columns(jac);
  else
    return make_rows(jac);
}
/// compute(the same): a number, whatever side it is. The vectors are compute's own: it may change them.
template <class S, int J, class Compute>
GARRA_HD S from_vectors(const Mat<S, 6, J>& jac, const Compute& compute) {
  if constexpr (J > 0) {
    auto vectors = jacobian_vectors(jac);
    return compute(vectors);
  } else if (extent<J>() < 6) {
    auto columns = make_columns(jac);
    return compute(columns);
  } else {
    auto rows = make_rows(jac);
    return compute(rows);
  }
}

/// 1/x, or 0 if x is too small to have a reciprocal: x is then the square of a zero vector.
template <class S>
GARRA_HD S reciprocal_or_zero(const S& x) {
  const auto none = x <= S(std::numeric_limits<RealOf<S>>::min());
  return select(none, S(0), S(1) / select(none, S(1), x));
}

/// Product of the squared lengths after modified Gram-Schmidt: the squared volume that the vectors
/// span. R is as good as Householder's (A. Bjorck, BIT 7, 1967) without square roots or, here, Q. Overwrites a.
template <class S, int N, int L>
GARRA_HD S squared_volume(VectorSet<S, N, L>& a) {
  S product = S(1);
  for_each_index<N>([&](auto k) {
    const S squares = dot(a.v[k], a.v[k]);
    product = k == 0 ? squares : product * squares;
    const S inverse = reciprocal_or_zero(squares);
    for_each_index<N>([&](auto j) {
      if (j > k) {
        const S along = dot(a.v[k], a.v[j]) * inverse;
        for_each_index<L>([&](auto r) { a.v[j][r] = fnma(along, a.v[k][r], a.v[j][r]); });
      }
    });
  });
  return product;
}

}  // namespace kernel

/// sqrt(det(J J^T)), or sqrt(det(J^T J)) for fewer than six joints: the volume that the columns span [m^3 for six
/// revolute].
template <class S, int J>
GARRA_HD S manipulability(const Mat<S, 6, J>& jac) {
  return kernel::from_vectors(jac, [](auto& vectors) { return sqrt(kernel::squared_volume(vectors)); });
}

namespace kernel {

/// Joint i-1's screw in frame i before its turn: a constant of the model unless joint i slides.
template <Joints K, class S, class T, int J>
GARRA_HD Screw<S> screw_before(const Model<T, J>& m, const Angles<S, J>& x, int i) {
  const JointForm<T>& j = m.joint[i];
  const auto [a, b, d] = shift<K>(m, x, i);
  const S c = S(j.cos_alpha), s = S(j.sin_alpha), zero = S(0);
  const Vec3<S> z = vec3<S>(zero, s, c);
  if (slides<K>(m, i - 1)) return {Vec3<S>::zero(), z};
  const S sd = s * d;
  return {z, vec3<S>(K == Joints::kRevolute ? sd : fnma(c, b, sd), c * a, -(s * a))};  // v = z x (a, b, d)
}

/// Joint i+1's screw in frame i after its turn: a constant of the model.
template <Joints K, class S, class T, int J>
GARRA_HD Screw<S> screw_after(const Model<T, J>& m, int i) {
  const JointForm<T>& j = m.joint[i + 1];
  const S a = S(j.a), c = S(j.cos_alpha), s = S(j.sin_alpha), zero = S(0);
  const Vec3<S> z = vec3<S>(zero, -s, c);
  if (slides<K>(m, i + 1)) return {Vec3<S>::zero(), z};
  return {z, vec3<S>(K == Joints::kRevolute ? zero : S(j.b), -(a * c), -(a * s))};  // v = Rx(alpha) (a, b, 0) x z
}

/// Twist of frame i-1 in frame i.
template <Joints K, class S, class T, int J>
GARRA_HD Screw<S> carry_in(const Model<T, J>& m, const Angles<S, J>& x, int i, const Screw<S>& in) {
  const Vec3<S> w = tilt_back(m.joint[i], in.w);
  Vec3<S> v = tilt_back(m.joint[i], in.v);
  subtract_moment<K>(shift<K>(m, x, i), w, v);
  return {turn_back(x.cos[i], x.sin[i], w), turn_back(x.cos[i], x.sin[i], v)};
}
/// Twist of frame i in frame i-1.
template <Joints K, class S, class T, int J>
GARRA_HD Screw<S> carry_out(const Model<T, J>& m, const Angles<S, J>& x, int i, const Screw<S>& in) {
  const Vec3<S> w = turn(x.cos[i], x.sin[i], in.w);
  Vec3<S> v = turn(x.cos[i], x.sin[i], in.v);
  add_moment<K>(shift<K>(m, x, i), w, v);
  return {tilt(m.joint[i], w), tilt(m.joint[i], v)};
}

/// The five coordinates of a screw without that of the middle joint, which is (0, 0, 1; 0, 0, 0)
/// or, sliding, (0, 0, 0; 0, 0, 1).
template <class S>
GARRA_HD Vec<S, 5> beside_middle(const Screw<S>& a, bool middle_slides) {
  return {{a.w[0], a.w[1], a.v[0], a.v[1], middle_slides ? a.w[2] : a.v[2]}};
}

}  // namespace kernel

/// Manipulability of six joints, |det J|, without J. It is the same in every frame and about every
/// point, so the screws are taken in the third joint's frame. Its screw is a unit vector there, the
/// next one is constant, and the angles of the first and last joint do not appear.
template <Joints K = Joints::kMixed, class S, class T>
GARRA_HD S manipulability(const Model<T, 6>& m, const Angles<S, 6>& x) {
  using namespace kernel;
  const bool along = slides<K>(m, 2);
  const auto turned = [&](int i) {
    const Screw<S> in = screw_before<K>(m, x, i);
    return Screw<S>{turn_back(x.cos[i], x.sin[i], in.w), turn_back(x.cos[i], x.sin[i], in.v)};
  };
  const Screw<S> s0 = carry_in<K>(m, x, 2, turned(1)), s1 = turned(2), s3 = screw_after<K, S>(m, 2);
  const Screw<S> s4 = carry_out<K>(m, x, 3, screw_after<K, S>(m, 3));
  const Screw<S> s5 = carry_out<K>(m, x, 3, carry_out<K>(m, x, 4, screw_after<K, S>(m, 4)));
  VectorSet<S, 5, 5> a = {{beside_middle(s3, along), beside_middle(s1, along), beside_middle(s4, along),
                           beside_middle(s0, along), beside_middle(s5, along)}};
  return sqrt(squared_volume(a));
}

namespace kernel {

/// Cosine after which one more rotation suffices: the error is its square times the vector count.
inline constexpr double kNearlyOrthogonal = 1e-9;

/// Most sweeps of one-sided Jacobi: convergence is quadratic, and finished lanes do not change.
inline constexpr int kSingularSweeps = 12;

/// Product of the first L entries; the others are only rotated along.
template <int L, class S, int W>
GARRA_HD S head_dot(const Vec<S, W>& a, const Vec<S, W>& b) {
  S sum = a[0] * b[0];
  for_each_further_index<L>([&](int k) { sum = fma(a[k], b[k], sum); });
  return sum;
}

/// 1/sqrt(x) for x in [1, 2] by Newton's iteration from a parabola: no division, no root, to the last digits.
template <class S>
GARRA_HD S inverse_root_1_2(const S& x) {
  const S u = x - S(1), half = S(0.5) * x;
  S y = fma(fma(S(0.14822), u, S(-0.44111)), u, S(1));
  for_each_index<3>([&](int) { y *= fnma(half * y, y, S(1.5)); });
  return y;
}

/// One-sided Jacobi: rotates p and q until their heads of length L are orthogonal. True in lanes
/// whose angle was too far from a right one for this rotation to be the last. A head shorter than
/// sqrt(`noise`) is rounding and has no angle.
template <int L, class S, int W>
GARRA_HD MaskOf<S> orthogonalize(Vec<S, W>& p, Vec<S, W>& q, const S& noise) {
  const S pp = head_dot<L>(p, p), qq = head_dot<L>(q, q), pq = head_dot<L>(p, q);
  const S gap = qq - pp, twice = pq + pq;
  const S reach = abs(gap) + sqrt(fma(gap, gap, twice * twice));
  const auto nothing = reach <= S(std::numeric_limits<RealOf<S>>::min());
  const S t = select(gap < S(0), -twice, twice) / select(nothing, S(1), reach);
  const S c = inverse_root_1_2(fma(t, t, S(1)));
  const S s = t * c;
  for_each_index<W>([&](auto i) {
    const S pi = p[i], qi = q[i];
    p[i] = fma(c, pi, -(s * qi));
    q[i] = fma(s, pi, c * qi);
  });
  constexpr double kCosine = sizeof(RealOf<S>) == 8 ? kNearlyOrthogonal : 1e-4;
  return pq * pq > S(kCosine * kCosine) * (pp * qq) && min(pp, qq) > noise;
}

/// Rotates the vectors among themselves until their heads of length L are orthogonal (one-sided
/// Jacobi, round robin).
template <int L, class S, int N, int W>
GARRA_HD void make_orthogonal(VectorSet<S, N, W>& a) {
  if constexpr (N > 1 || N < 0) {
    const int players = extent<N>() + extent<N>() % 2;
    // Of a sum of two players.
    const auto in_turn = [&](int k) { return k < players - 1 ? k : k - (players - 1); };
    S noise = S(0);
    for_each_index<N>([&](auto k) { noise += head_dot<L>(a.v[k], a.v[k]); });
    constexpr RealOf<S> kEps = std::numeric_limits<RealOf<S>>::epsilon();
    noise = S(kEps * kEps) * noise;
    MaskOf<S> active = noise == noise;
    for (int sweep = 0; sweep < kSingularSweeps && any(active); ++sweep) {
      // Finished lanes do not change; usually there is none.
      const bool some_done = !all(active);
      VectorSet<S, N, W> before;
      if (some_done) for_each_index<N>([&](auto k) { before.v[k] = a.v[k]; });
      MaskOf<S> turned = !active && active;
      const auto meet = [&](auto round, auto k) {
        const int p = k == 0 ? players - 1 : in_turn(round + k);
        const int q = in_turn(round + players - 1 - k);
        if (p < extent<N>() && q < extent<N>()) {  // on its own line: || of two bools would skip the rotation
          const auto again = orthogonalize<L>(a.v[p < q ? p : q], a.v[p < q ? q : p], noise);
          turned = turned || again;
        }
      };
      if constexpr (N > 0) {
        constexpr int kPlayers = N + N % 2;
        for_each_index<kPlayers - 1>(
            [&](auto round) { for_each_index<kPlayers / 2>([&](auto k) { meet(round, k); }); });
      } else {
        for (int round = 0; round < players - 1; ++round)
          for (int k = 0; k < players / 2; ++k) meet(round, k);
      }
      if (some_done) for_each_index<N>([&](auto k) { a.v[k] = select(active, a.v[k], before.v[k]); });
      active = active && turned;
    }
  }
}

/// Length of the shortest of them after that. Overwrites a.
template <class S, int N, int L>
GARRA_HD S least_length(VectorSet<S, N, L>& a) {
  make_orthogonal<L>(a);
  S smallest = dot(a.v[0], a.v[0]);
  for_each_index<N>([&](auto k) { smallest = min(smallest, dot(a.v[k], a.v[k])); });
  return sqrt(smallest);
}

}  // namespace kernel

/// Smallest singular value of the Jacobian (of its six rows, or of its columns if there are fewer),
/// by one-sided Jacobi rotations: small values keep their digits (J. Demmel, K. Veselic, SIAM J.
/// Matrix Anal. Appl. 13(4), 1992).
template <class S, int J>
GARRA_HD S smallest_singular_value(const Mat<S, 6, J>& jac) {
  return kernel::from_vectors(jac, [](auto& vectors) { return kernel::least_length(vectors); });
}

}  // namespace garra::chain
