// Minimal singular subsets among neighboring joints: the intervals a..b of the chain that have lost
// a dimension of those that they span almost everywhere, while no interval inside them has. Also
// the joints whose screws are dependent there.
#pragma once

#include <cstdint>

#include "garra/systems/singularity/measures.hpp"

namespace garra::singularity {

/// Longest interval: more than six screws are always dependent.
inline constexpr int kWindow = 6;

/// Dimension of joints a .. a+c almost everywhere; at most kWindow joints. A property of the arm.
template <int J>
struct IntervalDims {
  int of[J][kWindow];
  int generic_rank;  ///< of all joints
};

/// In place of a generic rank G: that of the arm, which is known when the program runs.
inline constexpr int kAnyRank = 0;
template <int G, int J>
GARRA_HD constexpr int numerical_rank([[maybe_unused]] const IntervalDims<J>& dims) {
  if constexpr (G == kAnyRank)
    return dims.generic_rank;
  else
    return G;
}

/// Sets of joints as numbers: joint k (from 0) is worth 2^k.
constexpr double joint_bit(int joint) { return static_cast<double>(std::uint64_t{1} << joint); }

namespace kernel {

/// A growing set of at most six screws, orthonormalized: screw c is sum_{k <= c} r(k, c) q_k.
template <class S>
struct Window {
  Vec<S, 6> q[kWindow];  ///< zero if a screw depends on those before it
  Mat<S, 6, 6> r;        ///< above the diagonal
  Vec<S, 6> inverse;     ///< of r's diagonal; zero if q is
};

/// Adds screw number c. True where it is independent of those before it.
template <int C, class S>
GARRA_HD MaskOf<S> grow(Window<S>& w, const Screw<S>& screw, double tolerance) {
  Vec<S, 6> v = to_vector(screw);
  const S size = dot(v, v);
  for_each_index<C>([&](auto k) { w.r(k, C) = S(0); });
  for_each_index<2>([&](int) {  // twice is enough (L. Giraud, J. Langou, M. Rozloznik, Comput. Math. Appl. 50, 2005)
    for_each_index<C>([&](auto k) {
      const S along = dot(w.q[k], v);
      w.r(k, C) += along;
      v = axpy(-along, w.q[k], v);
    });
  });
  const S left = dot(v, v);
  const MaskOf<S> independent = left > S(RealOf<S>(tolerance * tolerance)) * size;
  const S inverse = S(1) / sqrt(select(independent, left, S(1)));
  w.inverse[C] = select(independent, inverse, S(0));
  w.q[C] = w.inverse[C] * v;
  return independent;
}

/// The first screw that makes a window singular, counted from the window's first, and the set of
/// screws that it depends on.
template <class S>
struct FirstDependent {
  S at;       ///< -1: none
  S members;  ///< set of joints
};

/// Joints in the null vector with coefficients x of the columns before column `at`, whose own coefficient is 1.
template <class S>
GARRA_HD S support(const Vec<S, 6>& x, const S& at, int first_joint, double tolerance) {
  S largest = S(1), members = S(0);
  for_each_index<6>([&](auto k) { largest = max(largest, abs(x[k])); });
  for_each_index<6>([&](auto k) {
    const auto needed = abs(x[k]) > S(RealOf<S>(tolerance)) * largest || at == S(static_cast<int>(k));
    members += select(needed, S(joint_bit(first_joint + k)), S(0));
  });
  return members;
}

/// Finds the first dependent screw of the window that starts at joint a.
template <class S, int J>
GARRA_HD FirstDependent<S> first_dependent(const ScaledScrews<S, J>& screws, int a, const IntervalDims<J>& dims,
                                           double rank_tolerance, double support_tolerance) {
  Window<S> w;
  Vec<S, 6> right = Vec<S, 6>::zero();
  S dim = S(0), at = S(-1);
  for_each_index<6>([&](auto c) {
    const bool inside = a + c < J && c < dims.generic_rank;
    w.inverse[c] = S(0);
    for_each_index<c>([&](auto k) { w.r(k, c) = S(0); });
    if (inside) {
      dim += select(grow<c>(w, screws.joint[a + c], rank_tolerance), S(1), S(0));
      const auto first = dim < S(dims.of[a][c]) && at < S(0);
      at = select(first, S(static_cast<int>(c)), at);
      for_each_index<c>([&](auto k) { right[k] = select(first, w.r(k, c), right[k]); });
    }
  });
  Vec<S, 6> x = Vec<S, 6>::zero();
  for_each_index<6>([&](auto from_end) {
    constexpr int k = 5 - from_end;
    S sum = right[k];
    for_each_index<from_end>([&](auto j) { sum = fma(w.r(k, k + 1 + j), x[k + 1 + j], sum); });
    x[k] = -(sum * w.inverse[k]);
  });
  return {at, select(at < S(0), S(0), support(x, at, a, support_tolerance))};
}

}  // namespace kernel

/// Minimal singular subsets of neighboring joints, by their first joint: at most one starts at each.
template <class S, int J>
struct Subsets {
  Vec<S, J> last;     ///< its last joint, from 0; -1: none starts here
  Vec<S, J> members;  ///< joints with a coefficient in its null vector: without any of them the others are independent
  S count;
};

template <class S, int J>
GARRA_HD Subsets<S, J> singular_subsets(const ScaledScrews<S, J>& screws, const IntervalDims<J>& dims,
                                        double rank_tolerance, double support_tolerance) {
  Subsets<S, J> out;
  out.count = S(0);
  S next = S(J);  // end of the first singular interval inside
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
  for (int a = J - 1; a >= 0; --a) {
    const auto found = kernel::first_dependent(screws, a, dims, rank_tolerance, support_tolerance);
    const S last = S(a) + found.at;
    const auto minimal = found.at >= S(0) && last < next;
    out.last[a] = select(minimal, last, S(-1));
    out.members[a] = select(minimal, found.members, S(0));
    out.count += select(minimal, S(1), S(0));
    next = select(minimal, last, next);
  }
  return out;
}

namespace kernel {

template <int J>
void raise_dims(const ScaledScrews<double, J>& screws, double tolerance, IntervalDims<J>& dims) {
  for (int a = 0; a < J; ++a) {
    Window<double> w;
    int dim = 0;
    for_each_index<kWindow>([&](auto c) {
      if (a + c >= J) return;
      dim += grow<c>(w, screws.joint[a + c], tolerance) ? 1 : 0;
      dims.of[a][c] = max(dims.of[a][c], dim);
    });
  }
  dims.generic_rank = max(dims.generic_rank, static_cast<int>(rank(singular_values(screws), tolerance)));
}

}  // namespace kernel

/// Dimensions that the arm's intervals of joints reach at eight configurations spread over all
/// joints' turns; screws(q) are the scaled ones. Host only.
template <int J, class Screws>
[[nodiscard]] IntervalDims<J> find_interval_dims(const Screws& screws) {
  constexpr double kRankTolerance = 1e-8, kGolden = 0.6180339887498949;
  IntervalDims<J> dims{};
  for (int sample = 1; sample <= 8; ++sample) {
    Vec<double, J> q;
    for (int i = 0; i < J; ++i) {
      const double turns = kGolden * sample * (i + 1) + 0.137 * i * i;
      q[i] = 6.283185307179586 * (turns - std::floor(turns));
    }
    kernel::raise_dims(screws(q), kRankTolerance, dims);
  }
  return dims;
}
template <int J>
[[nodiscard]] IntervalDims<J> interval_dims(const Model<double, J>& m) {
  return find_interval_dims<J>([&](const Vec<double, J>& q) {
    const auto lines = joint_lines(m, chain::angles(m, q));
    return scaled_screws(m, lines, natural_scaling(m, lines));
  });
}

}  // namespace garra::singularity
