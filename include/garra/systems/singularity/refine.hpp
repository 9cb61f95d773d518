// From a configuration to a singular one next to it, by Newton's iteration on what vanishes there.
//
// With A = sum_k sigma_k u_k v_k' and d freedoms to be lost, U the left singular vectors from number g - d + 1 on and V
// the right ones (structural null spaces included), the rank drops where U' A V = 0. A step delta changes A by
// sum_j delta_j [$j $k] in the columns k > j, so the least step that makes the linear model vanish solves
//
//   sum_j delta_j u_r' [$j, sum_{k>j} v_ck $k] = -u_r' A v_c      for all r, c.                                     (1)
//
// The equations may depend on one another (always where g < 6), and their slopes vanish at double singularities; so
// they are solved in least squares, damped by the square of what is left (N. Yamashita, M. Fukushima, Computing Suppl.
// 15, 2001: still quadratic convergence).
#pragma once

#include "garra/systems/singularity/arm.hpp"
#include "garra/systems/singularity/nearly_null.hpp"

namespace garra::singularity {

/// How the search goes, and when it has arrived.
struct RefineOptions {
  double tolerance = 1e-10;   ///< singular: sigma_g <= tolerance * sigma_1
  double near = 0.02;         ///< two freedoms at once are looked for where sigma_(g-1) <= near * sigma_1
  double largest_step = 0.5;  ///< of one joint [rad]
  double farthest = 1;        ///< longer motions do not count as landing [rad]

  std::uint32_t free = ~0u;  ///< set of joints that may move
};

namespace kernel {

/// The iteration goes on beyond the tolerance, by this factor and one more step, so that null vectors are exact as
/// well; but not below what is rounding, from which steps could lead anywhere.
inline constexpr double kBeyond = 1e-3, kRounding = 1e-15;

/// Least step that solves (1) in least squares.
template <int E, class S, int J>
GARRA_HD Vec<S, J> damped_step(const RankEquations<E, S, J>& e) {
  constexpr bool kShort = E <= J;
  constexpr int N = kShort ? E : J, M = kShort ? J : E;
  const auto entry = [&](int i, int k) { return kShort ? e.slope(i, k) : e.slope(k, i); };
  Mat<S, N, N> normal;
  S trace = S(0), squares = S(0);
  for_each_index<N>([&](auto i) {
    for_each_index<N>([&](auto k) {
      if (k > i) return;
      S sum = S(0);
      for_each_index<M>([&](auto m) { sum = fma(entry(i, m), entry(k, m), sum); });
      normal(i, k) = sum;
    });
    trace += normal(i, i);
  });
  for_each_index<E>([&](auto i) { squares = fma(e.value[i], e.value[i], squares); });
  const S damping = fma(S(kShort ? 1e-13 : 1e-10), trace, squares);
  for_each_index<N>([&](auto i) { normal(i, i) += damping; });
  const auto factor = factor_ldlt(normal);
  Vec<S, J> step;
  if constexpr (kShort) {
    const Vec<S, E> y = solve(factor, e.value);
    for_each_index<J>([&](auto j) {
      S sum = S(0);
      for_each_index<E>([&](auto i) { sum = fma(e.slope(i, j), y[i], sum); });
      step[j] = -sum;
    });
  } else {
    Vec<S, J> right;
    for_each_index<J>([&](auto j) {
      S sum = S(0);
      for_each_index<E>([&](auto i) { sum = fma(e.slope(i, j), e.value[i], sum); });
      right[j] = -sum;
    });
    step = solve(factor, right);
  }
  return step;
}

}  // namespace kernel

/// A search under way. It may be broken off and taken up again.
template <class S, int J>
struct Search {
  Vec<S, J> start, q;
  S active;        ///< 1: goes on, 0: has ended
  S again;         ///< 1: this is the second search, for two freedoms
  Vec<S, 6> left;  ///< nearly the left singular vector of sigma_g
  S rate;          ///< fall of the residual per length of the last step; 0: there was none
  Vec<S, J> step;  ///< the last one, in rad and scaling lengths
};

template <class S, int J>
GARRA_HD Search<S, J> start_search(const Vec<S, J>& q) {
  const Vec<S, 6> any_direction = {{S(0.31), S(0.47), S(-0.38), S(0.43), S(-0.29), S(0.52)}};
  return {q, q, S(1), S(0), any_direction, S(0), Vec<S, J>::zero()};
}

namespace kernel {

/// Steps whose angle has at least this cosine follow one line.
inline constexpr double kAligned = 0.95;

/// How much longer than Newton's step `delta` a step should be: residual r, falling at `rate`, and its second
/// derivative from the last step's rate, if that went the same way, make a parabola. At a double root, where Newton's
/// steps only halve the distance, this is 2.
template <class S, int J>
GARRA_HD S stretch(const Search<S, J>& last, const Vec<S, J>& delta, const S& residual, const S& rate) {
  const S moved = norm(last.step), along = dot(last.step, delta);
  const auto known = along > S(kAligned) * (moved * norm(delta)) && rate > S(0);
  const S curvature = max((last.rate - rate) / select(known, moved, S(1)), S(0));
  const S bend = S(2) * residual * curvature / select(known, rate * rate, S(1));
  return select(known, S(2) / (S(1) + sqrt(max(S(1) - bend, S(0)))), S(1));
}

/// One step of all lanes that are active.
template <int G, int D, class S, int J>
GARRA_HD void advance(const Arm<J>& arm, const Posture<S, J>& at, const NearlyNull<S, 6 - G + D, J - G + D, J>& null,
                      const RefineOptions& options, Search<S, J>& s) {
  const auto equations = rank_equations(at.screws, null, options.free);
  const Vec<S, J> delta = damped_step(equations);
  const S residual = norm(equations.value), length = norm(delta), fall = norm(equations.slope * delta);
  const auto moves = length > S(0);
  const S rate = select(moves, fall, S(0)) / select(moves, length, S(1));
  S longest = S(0);
  for_each_index<J>([&](auto j) { longest = max(longest, abs(delta[j])); });
  const S wanted = stretch(s, delta, residual, rate), most = S(options.largest_step);
  const S part = wanted * most / max(most, wanted * longest);
  const Vec<S, J> unit = joint_units(arm, at.scaling.length);
  const MaskOf<S> active = s.active > S(0);
  for_each_index<J>([&](auto j) { s.q[j] = select(active, fma(part * unit[j], delta[j], s.q[j]), s.q[j]); });
  s.rate = select(active, rate, s.rate);
  s.step = select(active, part * delta, s.step);
}

}  // namespace kernel

/// At most `steps` further steps towards a configuration that lacks D freedoms.
template <int G, int D, class S, int J>
GARRA_HD void search_on(const Arm<J>& arm, const RefineOptions& options, int steps, Search<S, J>& s) {
  if (!any(s.active > S(0))) return;
  const S settled = S(max(kernel::kBeyond * options.tolerance, kernel::kRounding)), rounding = S(kernel::kRounding);
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
  for (int step = 0; step < steps; ++step) {
    const Posture<S, J> at = posture(arm, s.q);
    kernel::NearlyNull<S, 6 - G + D, J - G + D, J> null;
    if constexpr (G == 6 && D == 1)
      null = kernel::nearly_null_of_six(at.screws, s.left);
    else
      null = kernel::nearly_null<G, D>(at.screws);
    s.active = select(null.sigma > rounding * null.largest, s.active, S(0));  // NaN has ended as well
    if (!any(s.active > S(0))) break;
    kernel::advance<G, D>(arm, at, null, options, s);
    s.active = select(null.sigma > settled * null.largest, s.active, S(0));
  }
}

/// True where sigma_(g-1) was small at the start as well: then the two singular values share their vectors, each alone
/// has no derivative, and both together may have to be looked for.
template <int G, class S, int J>
GARRA_HD MaskOf<S> starts_near_two(const Arm<J>& arm, const Search<S, J>& s, const RefineOptions& options) {
  const auto sigma = singular_values(posture(arm, s.start).screws);
  return sigma[G - 2] <= S(options.near) * sigma[0];
}

/// Steps of each part of a search: those that need more go on together, so that few wait for many.
inline constexpr int kSearchParts[] = {3, 2, 2, 3, 5, 5};

}  // namespace garra::singularity
