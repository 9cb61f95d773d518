// Elimination that turns the closure of a loop of six joints into an eigenvalue problem of 16 rows
// (docs/theory/chain.md, "All solutions").
//
// With frames along the joint axes, the loop B_1 Z_1 B_2 Z_2 ... B_6 Z_6 = 1 has constant poses B and turns (or slides)
// Z about z axes; the target is part of one B. Neither the direction l nor the origin p of axis 6 depend on Z_6:
//
//   Z_3 g(4, 5) = h(1, 2),   both sides (l, p), and the 14 functions of Raghavan and Roth,
//   p, l, p.p, p.l, p x l, (p.p) l - 2 (p.l) p,                       (J. Mech. Des. 115 (1993) 502)
//
// are linear in the products of (cos, sin, 1) of two joints on either side. Joints 1 and 2 leave by projection on the
// complement of their 8 columns. Of the 6 equations that are left, 4 are of degree one and 2 of degree two in x_3 =
// tan(theta_3 / 2), once the factor (1 + x_3^2)^4 is removed by a complement too. Multiplied by x_4 they are 12
// equations in 12 products x_4^i x_5^j, and their degrees add up to 16 (compare D. Kohli, M. Osvatic, J. Mech. Des. 115
// (1993) 922; D. Manocha, J. Canny, IEEE Trans. Robot. Autom. 10 (1994) 648).
#pragma once

#include "garra/core/eigenvalues.hpp"
#include "garra/core/elementary.hpp"
#include "garra/core/factor.hpp"
#include "garra/math/pose.hpp"

namespace garra::chain::branches {

inline constexpr int kLoop = 6;        ///< joints of a loop
inline constexpr int kMost = 16;       ///< solutions, complex ones included
inline constexpr int kFunctions = 14;  ///< six that a turn about z leaves alone, then four pairs

/// Which joint of the loop has which role. The sliding joints have neither role 3 nor role 6.
struct Roles {
  int start = 0;          ///< role r = 0..5 is that of joint (start + r) mod 6, or of the same joint counted backwards
  bool reversed = false;  ///< the loop is passed from the tool to the base
  double offset = 0.7;    ///< of theta_3: tan(theta_3 / 2) is infinite elsewhere than at pi [rad]

  [[nodiscard]] GARRA_HD int joint(int role) const {
    const int k = (start + role) % kLoop;
    return reversed ? kLoop - 1 - k : k;
  }
};

/// A loop in the order of its roles; lengths over a unit, so that they are of the order of 1.
template <class S>
struct Loop {
  Pose<S> link[kLoop];
  bool slides[kLoop];
};

namespace kernel {

/// Rz(theta) or Tz(q) in front of a point or direction.
template <class S>
struct JointValue {
  S cos, sin, slide;
};
template <class S>
GARRA_HD Vec3<S> turn_only(const JointValue<S>& z, const Vec3<S>& v) {
  return vec3<S>(fnma(z.sin, v[1], z.cos * v[0]), fma(z.sin, v[0], z.cos * v[1]), v[2]);
}
template <class S>
GARRA_HD Vec3<S> apply(const JointValue<S>& z, const Vec3<S>& p) {
  Vec3<S> out = turn_only(z, p);
  out[2] += z.slide;
  return out;
}
/// Of the inverse joint.
template <class S>
GARRA_HD JointValue<S> opposite(const JointValue<S>& z) {
  return {z.cos, -z.sin, -z.slide};
}

/// Nodes of interpolation of a joint's three functions: turns of 0 and +-120 degrees, or slides of 0 and +-1.
template <class S>
GARRA_HD JointValue<S> node_value(bool slides, int k) {
  constexpr double kSine = 0.8660254037844386;
  if (slides) return {S(1), S(0), S(k == 0 ? 0 : k == 1 ? 1 : -1)};
  return {S(k == 0 ? 1.0 : -0.5), S(k == 0 ? 0.0 : k == 1 ? kSine : -kSine), S(0)};
}

/// Coefficients of (cos, sin, 1) or (q^2, q, 1) from values at the nodes.
GARRA_HD Mat3<double> to_basis(bool slides) {
  constexpr double kThird = 1.0 / 3, kRoot = 0.5773502691896258;
  if (slides) return {{-1, 0.5, 0.5, 0, 0.5, -0.5, 1, 0, 0}};
  return {{2 * kThird, -kThird, -kThird, 0, kRoot, -kRoot, kThird, kThird, kThird}};
}
/// Coefficients of (x^2, x, 1), x = tan(theta / 2), over 1 + x^2; of a slide x = q.
GARRA_HD Mat3<double> to_monomials(bool slides) {
  const Mat3<double> half = {{-1, 0, 1, 0, 2, 0, 1, 0, 1}};
  return slides ? to_basis(true) : half * to_basis(false);
}

/// Rows of nine values at pairs of nodes in the coefficients of other functions: both factors by a matrix each.
template <class S>
GARRA_HD void convert(const Mat3<double>& first, const Mat3<double>& second, S* row) {
  S half[9];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      S sum = S(first(i, 0)) * row[j];
      for (int k = 1; k < 3; ++k) sum = fma(S(first(i, k)), row[3 * k + j], sum);
      half[3 * i + j] = sum;
    }
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      S sum = S(second(j, 0)) * half[3 * i];
      for (int k = 1; k < 3; ++k) sum = fma(S(second(j, k)), half[3 * i + k], sum);
      row[3 * i + j] = sum;
    }
}

/// Direction and origin of an axis.
template <class S>
struct Line {
  Vec3<S> l, p;
};
template <class S>
GARRA_HD Line<S> carry(const Pose<S>& link, const JointValue<S>& z, const Line<S>& line) {
  return {link.R * turn_only(z, line.l), link.R * apply(z, line.p) + link.p};
}

/// The 14 functions: those along z first, then pairs (x, y).
template <class S>
GARRA_HD void fill_functions(const Line<S>& a, Vec<S, kFunctions>& to) {
  const S pp = dot(a.p, a.p), pl = dot(a.p, a.l);
  const Vec3<S> x = cross(a.p, a.l);
  const Vec3<S> y = axpy(S(-2) * pl, a.p, pp * a.l);
  to = {{a.p[2], a.l[2], pp, pl, x[2], y[2], a.p[0], a.p[1], a.l[0], a.l[1], x[0], x[1], y[0], y[1]}};
}

/// g(4, 5): the axis of joint 6 in the frame behind joint 3.
template <class S>
GARRA_HD Line<S> line_of_g(const Loop<S>& loop, const JointValue<S>& z4, const JointValue<S>& z5) {
  const Line<S> axis{column(loop.link[5].R, 2), loop.link[5].p};
  return carry(loop.link[3], z4, carry(loop.link[4], z5, axis));
}
/// h(1, 2): the same axis by the other way around the loop.
template <class S>
GARRA_HD Line<S> line_of_h(const Pose<S>* inverse, const JointValue<S>& z1, const JointValue<S>& z2) {
  const Line<S> axis{column(inverse[0].R, 2), inverse[0].p};
  return carry(inverse[2], opposite(z2), carry(inverse[1], opposite(z1), axis));
}

/// Turns the four pairs about z.
template <class S>
GARRA_HD void turn_pairs(const S& c, const S& s, Vec<S, kFunctions>& f) {
  for (int k = 6; k < kFunctions; k += 2) {
    const S x = f[k], y = f[k + 1];
    f[k] = fnma(s, y, c * x);
    f[k + 1] = fma(s, x, c * y);
  }
}

/// Orthonormal basis of what is orthogonal to the columns of a factored matrix.
template <class S, int R, int C>
GARRA_HD Mat<S, R, R - C> complement(const Qr<S, R, C>& f) {
  Mat<S, R, R - C> out = Mat<S, R, R - C>::zero();
  for (int c = 0; c < R - C; ++c) {
    out(C + c, c) = S(1);
    for (int k = C - 1; k >= 0; --k) {
      S along = S(0);
      for (int i = k; i < R; ++i) along = fma(f.qr(i, k), out(i, c), along);
      along = along * f.beta[k];
      for (int i = k; i < R; ++i) out(i, c) = fnma(f.qr(i, k), along, out(i, c));
    }
  }
  return out;
}

/// Rows of the equations in (x_4^2, x_4, 1) x (x_5^2, x_5, 1).
template <class S>
struct Reduced {
  Mat<S, 4, 9> constant, linear;       ///< constant + x_3 linear = 0
  Mat<S, 2, 9> zeroth, first, second;  ///< zeroth + x_3 first + x_3^2 second = 0
};

/// g at the nodes of joints 4 and 5, and the equations of joints 1 and 2.
template <class S>
struct Sides {
  Mat<S, kFunctions, 9> g;
  Qr<S, kFunctions, 8> h;  ///< of the coefficients in the products of joints 1 and 2, without the constant
  Vec<S, kFunctions> constant;
};

template <class S>
GARRA_HD_CALL void fill_sides(const Loop<S>& loop, const S& cos_offset, const S& sin_offset, Sides<S>& to) {
  Pose<S> inverses[3];
  for (int k = 0; k < 3; ++k) inverses[k] = inverse(loop.link[k]);
  Mat<S, kFunctions, 9> h;
  Vec<S, kFunctions> f;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      fill_functions(line_of_g(loop, node_value<S>(loop.slides[3], i), node_value<S>(loop.slides[4], j)), f);
      turn_pairs(cos_offset, sin_offset, f);
      for (int k = 0; k < kFunctions; ++k) to.g(k, 3 * i + j) = f[k];
      fill_functions(line_of_h(inverses, node_value<S>(loop.slides[0], i), node_value<S>(loop.slides[1], j)), f);
      for (int k = 0; k < kFunctions; ++k) h(k, 3 * i + j) = f[k];
    }
  const Mat3<double> first = to_basis(loop.slides[0]), second = to_basis(loop.slides[1]);
  Mat<S, kFunctions, 8> products;
  for (int k = 0; k < kFunctions; ++k) {
    convert(first, second, &h(k, 0));
    for (int j = 0; j < 8; ++j) products(k, j) = h(k, j);
    to.constant[k] = h(k, 8);
  }
  to.h = factor_qr(products);
}

/// w (Z_3 g - constant) for a row w of the complement, as three rows at the nodes: alone, by cos and by sin of theta_3.
template <class S>
struct TurnedRow {
  S alone[9], by_cos[9], by_sin[9];
};
template <class S>
GARRA_HD void fill_row(const Sides<S>& sides, const Vec<S, kFunctions>& w, TurnedRow<S>& to) {
  const S constant = -dot(w, sides.constant);
  for (int j = 0; j < 9; ++j) {
    S alone = constant, c = S(0), s = S(0);
    for (int k = 0; k < 6; ++k) alone = fma(w[k], sides.g(k, j), alone);
    for (int k = 6; k < kFunctions; k += 2) {
      const S x = sides.g(k, j), y = sides.g(k + 1, j);
      c = fma(w[k], x, fma(w[k + 1], y, c));
      s = fma(w[k + 1], x, fnma(w[k], y, s));
    }
    to.alone[j] = alone, to.by_cos[j] = c, to.by_sin[j] = s;
  }
}

/// Scales the rows that belong together to a largest entry of about 1.
template <class S>
GARRA_HD void scale_rows(S* a, S* b, S* c) {
  S squares = S(0);
  for (int k = 0; k < 9; ++k) {
    squares = fma(a[k], a[k], fma(b[k], b[k], squares));
    if (c != nullptr) squares = fma(c[k], c[k], squares);
  }
  const S factor = S(1) / sqrt(select(squares > S(0), squares, S(1)));
  for (int k = 0; k < 9; ++k) {
    a[k] = factor * a[k], b[k] = factor * b[k];
    if (c != nullptr) c[k] = factor * c[k];
  }
}

/// The equations are A + C cos + S sin = 0. For n = a + i b in the complement with n (C - i S) = 0, the row (1 - i x) n
/// (A + C cos + S sin) is of degree one in x. The constant of its real part is a (A + C), the factor of x is b (A - C).
/// The vectors (a, b) are a real space of four dimensions.
template <class S>
GARRA_HD_CALL void reduce_equations(const Loop<S>& loop, const Sides<S>& sides, Reduced<S>& to) {
  const Mat<S, kFunctions, 6> N = complement(sides.h);
  Mat<S, 12, 8> pairs;
  for (int k = 0; k < 4; ++k)
    for (int i = 0; i < 6; ++i) {
      const S x = N(6 + 2 * k, i), y = N(7 + 2 * k, i);
      pairs(i, k) = x, pairs(6 + i, k) = -y;
      pairs(i, 4 + k) = y, pairs(6 + i, 4 + k) = x;
    }
  const Mat<S, 12, 4> ab = complement(factor_qr(pairs));
  Mat<S, 6, 4> a;
  for (int i = 0; i < 6; ++i)
    for (int k = 0; k < 4; ++k) a(i, k) = ab(i, k);
  const Mat<S, 6, 2> rest = complement(factor_qr(a));
  const Mat3<double> first = to_monomials(loop.slides[3]), second = to_monomials(loop.slides[4]);
  TurnedRow<S> row, other;
  const auto combine = [&](const auto& weights, int from, int k) {
    Vec<S, kFunctions> w;
    for (int f = 0; f < kFunctions; ++f) {
      S sum = S(0);
      for (int i = 0; i < 6; ++i) sum = fma(N(f, i), weights(from + i, k), sum);
      w[f] = sum;
    }
    return w;
  };
  for (int k = 0; k < 4; ++k) {
    fill_row(sides, combine(ab, 0, k), row);
    fill_row(sides, combine(ab, 6, k), other);
    for (int j = 0; j < 9; ++j) {
      to.constant(k, j) = row.alone[j] + row.by_cos[j];
      to.linear(k, j) = other.alone[j] - other.by_cos[j];
    }
    convert(first, second, &to.constant(k, 0));
    convert(first, second, &to.linear(k, 0));
    scale_rows(&to.constant(k, 0), &to.linear(k, 0), static_cast<S*>(nullptr));
  }
  for (int k = 0; k < 2; ++k) {
    fill_row(sides, combine(rest, 0, k), row);
    for (int j = 0; j < 9; ++j) {
      to.zeroth(k, j) = row.alone[j] + row.by_cos[j];
      to.first(k, j) = S(2) * row.by_sin[j];
      to.second(k, j) = row.alone[j] - row.by_cos[j];
    }
    convert(first, second, &to.zeroth(k, 0));
    convert(first, second, &to.first(k, 0));
    convert(first, second, &to.second(k, 0));
    scale_rows(&to.zeroth(k, 0), &to.first(k, 0), &to.second(k, 0));
  }
}

/// Rows r and r + count of `to`: equation r times x_4, and alone, in x_4^3 .. 1 times x_5^2 .. 1.
template <class S, int R, int K>
GARRA_HD void place_rows(const Mat<S, K, 9>& from, int row, Mat<S, R, 12>& to) {
  for (int k = 0; k < K; ++k)
    for (int j = 0; j < 12; ++j) {
      to(row + k, j) = j < 9 ? from(k, j < 9 ? j : 0) : S(0);
      to(row + K + k, j) = j >= 3 ? from(k, j >= 3 ? j - 3 : 0) : S(0);
    }
}

/// The matrix whose eigenvalues are the x_3: with v the products and y = x_3 Q_2 v,
/// x v = -W^-1 (L_0 v; y), W = (L_1; -Q_2), and x y = -Q_0 v - Q_1 (x v).
template <class S>
GARRA_HD_CALL void fill_companion(const Reduced<S>& e, Mat<S, kMost, kMost>& to) {
  Mat<S, 12, 12> W;
  Mat<S, 12, kMost> right = Mat<S, 12, kMost>::zero();
  Mat<S, 12, 12> L0;
  Mat<S, 4, 12> Q0, Q1;
  const Mat<S, 2, 9> second = -e.second;
  place_rows(e.linear, 0, W);
  place_rows(second, 8, W);
  place_rows(e.constant, 0, L0);
  place_rows(e.zeroth, 0, Q0);
  place_rows(e.first, 0, Q1);
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 12; ++j) right(i, j) = L0(i, j);
  for (int i = 0; i < 4; ++i) right(8 + i, 12 + i) = S(1);
  const Mat<S, 12, kMost> moved = solve(factor_lu(W), right);
  for (int j = 0; j < kMost; ++j) {
    for (int i = 0; i < 12; ++i) to(i, j) = -moved(i, j);
    for (int i = 0; i < 4; ++i) {
      S sum = j < 12 ? -Q0(i, j < 12 ? j : 0) : S(0);
      for (int k = 0; k < 12; ++k) sum = fma(Q1(i, k), moved(k, j), sum);
      to(12 + i, j) = sum;
    }
  }
}

/// The products v at an x_3, to a few digits: one step of inverse iteration.
template <class S>
GARRA_HD_CALL void find_products(const Reduced<S>& e, const S& x, Vec<S, 12>& v) {
  const S weight = S(1) / sqrt(fma(x, x, S(1))), turned = x * weight;  // x = turned / weight
  Mat<S, 12, 12> P;
  Mat<S, 4, 9> linear;
  Mat<S, 2, 9> squared;
  for (int k = 0; k < 36; ++k) linear[k] = fma(weight, e.constant[k], turned * e.linear[k]);
  for (int k = 0; k < 18; ++k)
    squared[k] = fma(weight, fma(weight, e.zeroth[k], turned * e.first[k]), turned * (turned * e.second[k]));
  place_rows(linear, 0, P);
  place_rows(squared, 8, P);
  const Lu<S, 12> f = factor_lu(P);
  const S least(1e-13);
  for (int i = 11; i >= 0; --i) {
    S sum = S(1);
    for (int k = i + 1; k < 12; ++k) sum = fnma(f.lu(i, k), v[k], sum);
    const S pivot = f.lu(i, i);
    v[i] = sum / select(abs(pivot) > least, pivot, select(pivot < S(0), -least, least));
  }
  S most = S(0);
  for (int i = 0; i < 12; ++i) most = max(most, abs(v[i]));
  const S factor = S(1) / most;
  for (int i = 0; i < 12; ++i) v[i] = factor * v[i];
}

/// Numerator and denominator of x from a vector that is proportional to (x^(n-1), ..., x, 1), within noise.
template <class S>
struct Ratio {
  S above, below;
};
template <class S>
GARRA_HD Ratio<S> ratio_of_powers(const Vec<S, 12>& v, int count, int stride, int others, int other_stride) {
  S high = S(0), mixed = S(0), low = S(0);
  for (int o = 0; o < others; ++o)
    for (int i = 0; i + 1 < count; ++i) {
      const S a = v[i * stride + o * other_stride], b = v[(i + 1) * stride + o * other_stride];
      high = fma(a, a, high), mixed = fma(a, b, mixed), low = fma(b, b, low);
    }
  const auto large = high > low;
  return {select(large, high, mixed), select(large, mixed, low)};
}

template <class S>
GARRA_HD JointValue<S> value_of_ratio(bool slides, const Ratio<S>& x) {
  if (slides) return {S(1), S(0), x.above / select(x.below == S(0), S(1), x.below)};
  const S n = fma(x.above, x.above, x.below * x.below), inverse = S(1) / select(n > S(0), n, S(1));
  return {inverse * fma(x.below, x.below, -(x.above * x.above)), inverse * (S(2) * (x.above * x.below)), S(0)};
}

}  // namespace kernel

/// What one elimination knows: equations, both sides, and candidates of x_3.
template <class S>
struct Eliminated {
  kernel::Sides<S> sides;
  kernel::Reduced<S> equations;
  Eigenvalues<S, kMost> x;
};

template <class S>
GARRA_HD void eliminate(const Loop<S>& loop, double offset, Eliminated<S>& to) {
  const auto turn = sincos(offset);
  kernel::fill_sides(loop, S(turn.cos), S(turn.sin), to.sides);
  kernel::reduce_equations(loop, to.sides, to.equations);
  Mat<S, kMost, kMost> companion;
  kernel::fill_companion(to.equations, companion);
  to.x = compute_eigenvalues(companion);
}

/// Joint values in the order of the roles that belong to an x_3; slides over the unit of length.
template <class S>
GARRA_HD_CALL void find_joint_values(const Loop<S>& loop, const Eliminated<S>& from, double offset, const S& x,
                                     Vec<S, kLoop>& q) {
  using namespace kernel;
  Vec<S, 12> v;
  find_products(from.equations, x, v);
  const JointValue<S> z4 = value_of_ratio(loop.slides[3], ratio_of_powers(v, 4, 3, 3, 1));
  const JointValue<S> z5 = value_of_ratio(loop.slides[4], ratio_of_powers(v, 3, 1, 4, 3));
  const JointValue<S> half = value_of_ratio(false, Ratio<S>{x, S(1)});
  const auto turn = sincos(offset);
  Vec<S, kFunctions> g;
  fill_functions(line_of_g(loop, z4, z5), g);
  turn_pairs(S(turn.cos), S(turn.sin), g);
  turn_pairs(half.cos, half.sin, g);
  const Vec<S, 8> m = solve(from.sides.h, g - from.sides.constant);
  const auto value = [&](int role, const S& a, const S& b) {
    if (loop.slides[role]) return JointValue<S>{S(1), S(0), b};
    const S n = fma(a, a, b * b), inverse = S(1) / sqrt(select(n > S(0), n, S(1)));
    return JointValue<S>{inverse * a, inverse * b, S(0)};
  };
  const JointValue<S> z[5] = {
      value(0, m[2], m[5]),
      value(1, m[6], m[7]),
      {fnma(half.sin, S(turn.sin), half.cos * S(turn.cos)), fma(half.sin, S(turn.cos), half.cos * S(turn.sin)), S(0)},
      z4,
      z5};
  Pose<S> all = loop.link[0];
  for (int k = 0; k < 5; ++k) {
    const Pose<S> joint{{{z[k].cos, -z[k].sin, S(0), z[k].sin, z[k].cos, S(0), S(0), S(0), S(1)}},
                        vec3<S>(S(0), S(0), z[k].slide)};
    all = all * joint * loop.link[k + 1];
    q[k] = loop.slides[k] ? z[k].slide : atan2(z[k].sin, z[k].cos);
  }
  q[5] = -atan2(all.R(1, 0), all.R(0, 0));
}

}  // namespace garra::chain::branches
