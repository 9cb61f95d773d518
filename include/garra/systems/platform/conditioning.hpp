// Conditioning of the pose by the lengths: singular values of the length Jacobian, with radians
// converted to lengths by a characteristic length L (docs/theory/platform.md).
#pragma once

#include "garra/core/factor.hpp"
#include "garra/math/smallest_eigenvalue.hpp"
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
  const Mat3<S> A = rotation_matrix(place.p);
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

/// The Jacobian with its last three columns divided by L: radians become lengths.
template <class S>
GARRA_HD Mat<S, 6, 6> in_lengths(Mat<S, 6, 6> J, const S& L) {
  const S per_length = S(1) / L;
  for_each_index<6>([&](auto i) { for_each_index<3>([&](auto j) { J(i, 3 + j) = per_length * J(i, 3 + j); }); });
  return J;
}

template <class S>
struct Conditioning {
  S determinant;           ///< of the plain Jacobian: its sign distinguishes modes
  S sigma_min, sigma_max;  ///< of the Jacobian whose last three columns are divided by L
  Vec<S, 6> free_motion;   ///< unit right singular vector of sigma_min: (v, L w)
};

/// Computed by one-sided Jacobi rotations of the columns, accumulated in an identity matrix.
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

/// Smallest singular value of the Jacobian whose last three columns are divided by L, to 1e-7 of it
/// or better: an eigenvalue of J J^T, or by Jacobi's rotations if that would lose digits.
template <class S>
GARRA_HD_CALL void sigma_min_into(const Mat<S, 6, 6>& plain, const S& L, S& sigma) {
  constexpr double kEnough = 1e-8;  // of the trace
  const Mat<S, 6, 6> J = in_lengths(plain, L);
  Mat<S, 6, 6> N;
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
  const S least = smallest_eigenvalue(N);
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
