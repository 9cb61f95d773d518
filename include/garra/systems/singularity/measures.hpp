// Distance of a configuration from a singularity: singular values of the scaled Jacobian and
// quantities derived from them.
#pragma once

#include "garra/math/extreme_singular_values.hpp"
#include "garra/systems/singularity/orthogonal.hpp"
#include "garra/systems/singularity/scaled_screws.hpp"

namespace garra::singularity {

/// Number of singular values of J screws.
template <int J>
inline constexpr int kValues = J < 6 ? J : 6;

/// Singular values of the scaled Jacobian, descending; errors are rounding of the largest.
template <class S, int J>
GARRA_HD Vec<S, kValues<J>> singular_values(const ScaledScrews<S, J>& screws) {
  auto rows = kernel::triangular(chain::kernel::jacobian_vectors(columns(screws)));
  kernel::make_orthogonal<kValues<J>>(rows);
  Vec<S, kValues<J>> sigma = kernel::head_lengths<kValues<J>>(rows);
  kernel::sort_descending(sigma);
  return sigma;
}

/// sigma_1 / sigma_g; infinite if the screws lack one of the `generic` dimensions that they span
/// almost everywhere.
template <class S, int N>
GARRA_HD S condition(const Vec<S, N>& sigma, int generic) {
  return sigma[0] / sigma[generic - 1];
}

/// Volume that the screws span: the product of the first `generic` singular values.
template <class S, int N>
GARRA_HD S manipulability(const Vec<S, N>& sigma, int generic) {
  S product = sigma[0];
  for (int k = 1; k < generic; ++k) product *= sigma[k];
  return product;
}

/// The same without singular values if all min(6, J) count.
template <class S, int J>
GARRA_HD S manipulability(const ScaledScrews<S, J>& screws) {
  auto vectors = chain::kernel::jacobian_vectors(columns(screws));
  return sqrt(chain::kernel::squared_volume(vectors));
}

/// The same for six revolute joints in units of `length` about any center, without screws: |det J|
/// is the same in every frame.
template <class S, class T>
GARRA_HD S manipulability_of_revolute(const Model<T, 6>& m, const Angles<S, 6>& x, const S& length) {
  return chain::manipulability<Joints::kRevolute>(m, x) / (length * length * length);
}

/// sigma_1, sigma_g and the product of the first g singular values of the scaled Jacobian: what a map counts. G = g, or
/// less than all where g is known when the program runs.
template <int G, class S, int J>
GARRA_HD ExtremeSingularValues<S> extremes(const ScaledScrews<S, J>& screws, int generic = G) {
  if constexpr (G < kValues<J>) {  // those beyond the first G are zero almost everywhere
    const auto sigma = singular_values(screws);
    return {sigma[0], sigma[generic - 1], manipulability(sigma, generic)};
  } else if constexpr (J > 6) {
    return extreme_singular_values(transpose(columns(screws)));
  } else {
    return extreme_singular_values(columns(screws));
  }
}

/// Number of singular values above `tolerance` sigma_1.
template <class S, int N>
GARRA_HD S rank(const Vec<S, N>& sigma, double tolerance) {
  const S least = S(RealOf<S>(tolerance)) * sigma[0];
  S count = S(0);
  for_each_index<N>([&](auto k) { count += select(sigma[k] > least, S(1), S(0)); });
  return count;
}

/// Singular values with their vectors: sum_k sigma_k left_k right_k'. The longer side (6 or J) has
/// only the first rank(...) vectors; the shorter side's are always an orthonormal basis.
template <class S, int J>
struct Decomposition {
  Vec<S, kValues<J>> sigma;                   ///< descending
  kernel::VectorSet<S, kValues<J>, 6> left;   ///< of screws
  kernel::VectorSet<S, kValues<J>, J> right;  ///< of joint motions
};

namespace kernel {

/// Singular values and vectors of vectors in the first L entries, each followed by its row of the
/// accumulated rotation. Not inlined: it is the largest part of every caller.
template <int J, class S, int N, int W>
GARRA_HD_CALL Decomposition<S, J> decompose_rotated(VectorSet<S, N, W> a) {
  constexpr int L = W - N;
  make_orthogonal<L>(a);
  Decomposition<S, J> out;
  out.sigma = head_lengths<L>(a);
  sort_descending(out.sigma, a);
  for_each_index<N>([&](auto k) {
    const auto none = out.sigma[k] == S(0);
    const S inverse = S(1) / select(none, S(1), out.sigma[k]);
    Vec<S, L> outer;
    Vec<S, N> inner;
    for_each_index<L>([&](auto i) { outer[i] = inverse * a.v[k][i]; });
    for_each_index<N>([&](auto i) { inner[i] = a.v[k][L + i]; });
    if constexpr (J < 6) {
      out.left.v[k] = outer;
      out.right.v[k] = inner;
    } else {
      out.left.v[k] = inner;
      out.right.v[k] = outer;
    }
  });
  return out;
}

}  // namespace kernel

template <class S, int J>
GARRA_HD Decomposition<S, J> decompose(const ScaledScrews<S, J>& screws) {
  constexpr int N = kValues<J>, L = J < 6 ? 6 : J;
  const auto vectors = chain::kernel::jacobian_vectors(columns(screws));
  kernel::VectorSet<S, N, L + N> a;
  for_each_index<N>([&](auto k) {
    for_each_index<L>([&](auto i) { a.v[k][i] = vectors.v[k][i]; });
    for_each_index<N>([&](auto i) { a.v[k][L + i] = S(i == k ? 1 : 0); });
  });
  return kernel::decompose_rotated<J>(a);
}

}  // namespace garra::singularity
