// How well the lengths determine the pose: singular values of the length Jacobian, radians made lengths by a
// characteristic length L (docs/platform.md).
#pragma once

#include "garra/core/factor.hpp"
#include "garra/systems/chain/kernels_singular.hpp"
#include "garra/systems/platform/legs.hpp"

namespace garra::platform {

/// All legs of one pose.
template <class S>
struct Legs {
  LegVector<S> leg[kLegs];
};

template <class S, class T>
GARRA_HD Legs<S> legs_at(const Model<T>& m, const Place<S>& place) {
  const Mat3<S> A = rotation_of(place.p);
  Legs<S> legs;
  for_each_index<kLegs>([&](auto i) { legs.leg[i] = leg_vector(m.leg[i], place.r, A); });
  return legs;
}

/// d lengths / dt = J (v, w), base axes.
template <class S>
GARRA_HD Mat<S, 6, 6> length_jacobian(const Legs<S>& legs) {
  Mat<S, 6, 6> J;
  for_each_index<kLegs>([&](auto i) {
    const Vec<S, 6> row = length_row(legs.leg[i]);
    for_each_index<6>([&](auto j) { J(i, j) = row[j]; });
  });
  return J;
}

template <class S>
struct Conditioning {
  S determinant;           ///< of the plain Jacobian: its sign tells modes apart
  S sigma_min, sigma_max;  ///< of the Jacobian whose last three columns are divided by L
  Vec<S, 6> free_motion;   ///< unit right singular vector of sigma_min: (v, L w)
};

/// By one-sided Jacobi rotations of the columns, which take the identity along.
template <class S>
GARRA_HD_CALL void conditioning_into(const Mat<S, 6, 6>& J, const S& L, Conditioning<S>& c) {
  chain::kernel::VectorSet<S, 6, 12> a;
  const S per_length = S(1) / L;
  for_each_index<6>([&](auto k) {
    for_each_index<6>([&](auto i) {
      a.v[k][i] = k < 3 ? J(i, k) : per_length * J(i, k);
      a.v[k][6 + i] = S(k == i ? 1 : 0);
    });
  });
  chain::kernel::make_orthogonal<6>(a);
  c.determinant = determinant(factor_lu(J));
  S least = chain::kernel::head_dot<6>(a.v[0], a.v[0]), most = least;
  for_each_index<6>([&](auto i) { c.free_motion[i] = a.v[0][6 + i]; });
  for_each_index<5>([&](auto k) {
    const S squares = chain::kernel::head_dot<6>(a.v[k + 1], a.v[k + 1]);
    const auto smaller = squares < least;
    for_each_index<6>([&](auto i) { c.free_motion[i] = select(smaller, a.v[k + 1][6 + i], c.free_motion[i]); });
    least = min(least, squares);
    most = max(most, squares);
  });
  c.sigma_min = sqrt(least);
  c.sigma_max = sqrt(most);
}

template <class S>
GARRA_HD Conditioning<S> conditioning(const Mat<S, 6, 6>& J, const S& L) {
  Conditioning<S> c;
  conditioning_into(J, L, c);
  return c;
}

namespace kernel {

/// A symmetric tridiagonal matrix as its characteristic polynomial needs it.
template <class S>
struct Tridiagonal {
  Vec<S, 6> diagonal;
  Vec<S, 5> square;  ///< of the entries beside it
};

/// Column K of a symmetric matrix becomes that of a tridiagonal one (Householder).
template <int K, class S>
GARRA_HD void reflect(Mat<S, 6, 6>& a, Tridiagonal<S>& t) {
  constexpr int N = 5 - K;
  Vec<S, N> v, p;
  for_each_index<N>([&](auto i) { v[i] = a(K + 1 + i, K); });
  const S square = dot(v, v), size = sqrt(square), most = fma(abs(v[0]), size, square);
  t.diagonal[K] = a(K, K);
  t.square[K] = square;
  const auto none = most <= S(std::numeric_limits<RealOf<S>>::min());
  const S h = select(none, S(0), S(1) / select(none, S(1), most));
  v[0] += select(v[0] < S(0), -size, size);
  for_each_index<N>([&](auto i) {
    S sum = a(K + 1 + i, K + 1) * v[0];
    for_each_index<N - 1>([&](auto j) { sum = fma(a(K + 1 + i, K + 2 + j), v[j + 1], sum); });
    p[i] = h * sum;
  });
  const S back = S(0.5) * h * dot(v, p);
  for_each_index<N>([&](auto i) { p[i] = fnma(back, v[i], p[i]); });
  for_each_index<N>([&](auto i) {
    for_each_index<N>([&](auto j) {
      if constexpr (j <= i) {
        const S entry = fnma(v[i], p[j], fnma(p[i], v[j], a(K + 1 + i, K + 1 + j)));
        a(K + 1 + i, K + 1 + j) = entry;
        a(K + 1 + j, K + 1 + i) = entry;
      }
    });
  });
}

/// Smallest eigenvalue of a positive definite one by Laguerre's iteration from 0, which never passes it and converges
/// cubically (B. Parlett, Math. Comp. 18, 1964), or by a factor of 0.3 a step where it is double.
template <class S>
GARRA_HD S smallest_eigenvalue(const Tridiagonal<S>& t) {
  constexpr int kSteps = 30;
  constexpr double kClose = 1e-9;  // relative; what is left then is less
  S x = S(0), active = S(1);
  for (int step = 0; step < kSteps && any(active > S(0)); ++step) {
    S p = t.diagonal[0] - x, q = S(-1), r = S(0);  // of the leading matrices: determinant and its derivatives
    S p1 = S(1), q1 = S(0), r1 = S(0);
    for_each_index<5>([&](auto k) {
      const S a = t.diagonal[k + 1] - x, b = t.square[k];
      const S p2 = fma(a, p, -(b * p1)), q2 = fma(a, q, -fma(b, q1, p)), r2 = fma(a, r, -fma(b, r1, q + q));
      p1 = p, q1 = q, r1 = r;
      p = p2, q = q2, r = r2;
    });
    const S inside = S(5) * fma(S(5) * q, q, S(-6) * (p * r));
    const S change = S(6) * p / (sqrt(max(inside, S(0))) - q);
    const auto going = active > S(0);
    x = select(going, x + change, x);
    active = select(going && change > S(kClose) * x, S(1), S(0));
  }
  return x;
}

}  // namespace kernel

/// Smallest singular value of the Jacobian whose last three columns are divided by L, to 1e-7 of it or better: as an
/// eigenvalue of J J^T, and where that would lose digits by Jacobi's rotations.
template <class S>
GARRA_HD_CALL void sigma_min_into(const Mat<S, 6, 6>& plain, const S& L, S& sigma) {
  constexpr double kEnough = 1e-8;  // of the trace
  Mat<S, 6, 6> J = plain, N;
  const S per_length = S(1) / L;
  for_each_index<6>([&](auto i) { for_each_index<3>([&](auto j) { J(i, 3 + j) = per_length * J(i, 3 + j); }); });
  S trace = S(0);
  for_each_index<6>([&](auto i) {
    for_each_index<6>([&](auto j) {
      if constexpr (j <= i) {
        S sum = J(i, 0) * J(j, 0);
        for_each_index<5>([&](auto k) { sum = fma(J(i, k + 1), J(j, k + 1), sum); });
        N(i, j) = sum;
        N(j, i) = sum;
      }
    });
    trace += N(i, i);
  });
  kernel::Tridiagonal<S> t;
  for_each_index<4>([&](auto k) { kernel::reflect<k>(N, t); });
  t.diagonal[4] = N(4, 4);
  t.diagonal[5] = N(5, 5);
  t.square[4] = N(5, 4) * N(5, 4);
  const S least = kernel::smallest_eigenvalue(t);
  const auto enough = least > S(kEnough) * trace;
  sigma = sqrt(max(least, S(0)));
  if (!all(enough)) sigma = select(enough, sigma, chain::smallest_singular_value(J));
}

template <class S>
GARRA_HD S sigma_min(const Mat<S, 6, 6>& J, const S& L) {
  S sigma;
  sigma_min_into(J, L, sigma);
  return sigma;
}

}  // namespace garra::platform
