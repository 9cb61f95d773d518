// The quantities that vanish at a singular configuration: the singular vectors there, and the
// derivatives of their product by the joints.
#pragma once

#include "garra/systems/singularity/measures.hpp"

namespace garra::singularity::kernel {

/// Value and slopes of the equations (1) of refine.hpp.
template <int E, class S, int J>
struct RankEquations {
  Vec<S, E> value;
  Mat<S, E, J> slope;
};

/// The nearly null vectors of the Jacobian, and the singular value that is to vanish.
template <class S, int U, int V, int J>
struct NearlyNull {
  VectorSet<S, U, 6> left;
  VectorSet<S, V, J> right;
  S sigma, largest;  ///< sigma_(g-d+1), and sigma_1 or a bound of it
  S before = S(0);   ///< sigma_(g-d) if it is known, perhaps roughly
};

/// The pair of singular vectors of sigma_(k+1) alone.
template <class S, int J>
GARRA_HD NearlyNull<S, 1, 1, J> singular_pair(const Decomposition<S, J>& a, int k) {
  NearlyNull<S, 1, 1, J> out;
  out.left.v[0] = a.left.v[k];
  out.right.v[0] = a.right.v[k];
  out.sigma = a.sigma[k];
  out.largest = a.sigma[0];
  return out;
}

template <class S, int U, int V, int J>
GARRA_HD RankEquations<U * V, S, J> rank_equations(const ScaledScrews<S, J>& screws, const NearlyNull<S, U, V, J>& null,
                                                   std::uint32_t free) {
  RankEquations<U * V, S, J> out;
  for_each_index<V>([&](auto c) {
    Vec<S, 6> behind = Vec<S, 6>::zero();  // sum_{k > j} v_k $k
    for_each_index<J>([&](auto from_tip) {
      const int j = J - 1 - from_tip;
      const Screw<S> sum = {vec3<S>(behind[0], behind[1], behind[2]), vec3<S>(behind[3], behind[4], behind[5])};
      const Vec<S, 6> rate = to_vector(cross(screws.joint[j], sum));
      const S moves = S((free >> j & 1u) != 0 ? 1 : 0);
      for_each_index<U>([&](auto r) { out.slope(r * V + c, j) = moves * dot(null.left.v[r], rate); });
      behind = axpy(null.right.v[c][j], to_vector(screws.joint[j]), behind);
    });
    for_each_index<U>([&](auto r) { out.value[r * V + c] = dot(null.left.v[r], behind); });
  });
  return out;
}

/// Computed from all singular vectors.
template <int G, int D, class S, int J>
GARRA_HD NearlyNull<S, 6 - G + D, J - G + D, J> nearly_null(const ScaledScrews<S, J>& screws) {
  static_assert(J >= 6);
  constexpr int R = G - D;
  const Decomposition<S, J> a = decompose(screws);
  NearlyNull<S, 6 - R, J - R, J> out;
  for_each_index<6 - R>([&](auto k) { out.left.v[k] = a.left.v[R + k]; });
  out.right = complement<R>(a.right);
  out.sigma = a.sigma[R];
  out.largest = a.sigma[0];
  if constexpr (R > 0) out.before = a.sigma[R - 1];
  return out;
}

/// Rows of A, orthonormalized: row k is sum_{i <= k} r(i, k) q_i. Twice, for nearly dependent rows.
template <class S, int J>
struct OrthonormalRows {
  VectorSet<S, 6, J> q;
  Mat<S, 6, 6> r;     ///< above the diagonal
  Vec<S, 6> inverse;  ///< of its diagonal
  S squares;          ///< of all entries of A
};

template <class S, int J>
GARRA_HD OrthonormalRows<S, J> orthonormal_rows(const ScaledScrews<S, J>& screws) {
  constexpr double kTiny = 1e-30;  // of a pivot: its row's direction is then arbitrary, and its inverse finite
  const Mat<S, 6, J> rows = columns(screws);
  OrthonormalRows<S, J> out;
  out.squares = S(0);
  for_each_index<6>([&](auto k) {
    Vec<S, J> v;
    for_each_index<J>([&](auto i) { v[i] = rows(k, i); });
    out.squares += dot(v, v);
    for_each_index<k>([&](auto i) { out.r(i, k) = S(0); });
    for_each_index<2>([&](int) {
      for_each_index<k>([&](auto i) {
        const S along = dot(out.q.v[i], v);
        out.r(i, k) += along;
        v = axpy(-along, out.q.v[i], v);
      });
    });
    out.inverse[k] = S(1) / max(norm(v), S(kTiny));
    out.q.v[k] = out.inverse[k] * v;
  });
  return out;
}

/// Inverse iterations on R'R from `u`, which they improve, orthogonal to `other` if it is given.
/// Returns the singular value and w, the right vector in terms of the rows.
template <class S, int J>
GARRA_HD S iterate_inversely(const OrthonormalRows<S, J>& a, Vec<S, 6>& u, Vec<S, 6>& w, const Vec<S, 6>* other) {
  constexpr int kIterations = 3;
  S sigma = S(0);
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    for_each_index<6>([&](auto k) {  // R' w = u
      S sum = u[k];
      for_each_index<k>([&](auto i) { sum = fnma(a.r(i, k), w[i], sum); });
      w[k] = sum * a.inverse[k];
    });
    w = (S(1) / norm(w)) * w;
    for_each_index<6>([&](auto from_end) {  // R u = w
      constexpr int k = 5 - from_end;
      S sum = w[k];
      for_each_index<from_end>([&](auto i) { sum = fnma(a.r(k, k + 1 + i), u[k + 1 + i], sum); });
      u[k] = sum * a.inverse[k];
    });
    if (other != nullptr) u = axpy(-dot(*other, u), *other, u);
    sigma = S(1) / norm(u);
    u = sigma * u;
  }
  return sigma;
}

/// The same for one lost degree of freedom of six, at a fraction of the cost. `u`: approximate left
/// vector, improved here.
template <class S, int J>
GARRA_HD NearlyNull<S, 1, J - 5, J> nearly_null_of_six(const OrthonormalRows<S, J>& a, Vec<S, 6>& u) {
  NearlyNull<S, 1, J - 5, J> out;
  Vec<S, 6> w;
  out.sigma = iterate_inversely<S, J>(a, u, w, nullptr);
  out.largest = sqrt(a.squares);
  out.left.v[0] = u;
  Vec<S, J> v = w[0] * a.q.v[0];
  for_each_index<5>([&](auto k) { v = axpy(w[k + 1], a.q.v[k + 1], v); });
  out.right.v[0] = v;
  if constexpr (J > 6) {
    const VectorSet<S, J - 6, J> free = complement<6>(a.q);
    for_each_index<J - 6>([&](auto k) { out.right.v[k + 1] = free.v[k]; });
  }
  return out;
}

/// sigma_5, to a few percent: enough to decide whether a separate search pays.
template <class S, int J>
GARRA_HD S roughly_second(const OrthonormalRows<S, J>& a, const Vec<S, 6>& smallest) {
  Vec<S, 6> u = {{S(-0.44), S(0.36), S(0.51), S(0.27), S(0.48), S(0.33)}}, w;
  u = axpy(-dot(smallest, u), smallest, u);
  return iterate_inversely(a, u, w, &smallest);
}

}  // namespace garra::singularity::kernel
