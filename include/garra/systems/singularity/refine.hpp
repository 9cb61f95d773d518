// Search from a configuration for the nearest singular one, by Newton's iteration on the quantities
// that vanish there.
//
// A = sum_k sigma_k u_k v_k' has to lose d degrees of freedom. U are the left singular vectors from
// number g - d + 1 on and V the right ones (structural null spaces included); the rank drops if U'
// A V = 0. A step delta changes A by sum_j delta_j [$j $k] in the columns k > j, so the linear
// model vanishes after steps with
//
//   sum_j delta_j u_r' [$j, sum_{k>j} v_ck $k] = -u_r' A v_c      for all r, c, in short N delta = -f.              (1)
//
// The search takes the solution that ends nearest to its start q0. With e = q0 - q:
//
//   delta = -N^+ f + (e - N^+ N e),                                                                                 (2)
//
// Newton's least step onto the singular set, and a step along the set. If both vanish, q is
// singular and its distance from q0 stationary (R. Rackwitz, B. Fiessler, Computers & Structures 9,
// 1978). Once the step along the set is short, only the first part is used, which then converges as
// Newton's iteration does.
//
// The equations may be dependent (always if g < 6), and their slopes vanish at double
// singularities. They are therefore solved in least squares, damped by the squared residual (N.
// Yamashita, M. Fukushima, Computing Suppl. 15, 2001: still quadratic convergence).
#pragma once

#include "garra/systems/singularity/arm.hpp"
#include "garra/systems/singularity/nearly_null.hpp"

namespace garra::singularity {

/// Options of the search, and its convergence criteria.
struct RefineOptions {
  double tolerance = 1e-10;   ///< singular: sigma_g <= tolerance * sigma_1
  double near = 0.02;         ///< two degrees of freedom at once are searched if sigma_(g-1) <= near * sigma_1
  double largest_step = 0.5;  ///< of one joint [rad]
  double farthest = 1;        ///< longer motions do not count as a solution [rad]

  std::uint32_t free = ~0u;  ///< set of joints that may move
};

/// State of a search, which may be interrupted and continued.
template <class S, int J>
struct Search {
  Vec<S, J> start, q;
  S active;         ///< 1: continues, 0: has ended
  S again;          ///< 1: the second search, for two degrees of freedom
  S along;          ///< 1: steps have both parts of (2), 0: only the first
  S length;         ///< of the scaling at the start [m]; 0: not known yet
  S second;         ///< sigma_(g-1) at the start, roughly
  Vec<S, 6> left;   ///< approximate left singular vector of sigma_g
  S rate;           ///< decrease of the residual per length of the last Newton step; 0: none yet
  Vec<S, J> step;   ///< the last one, in rad and lengths of the scaling
  S part;           ///< of the second part of (2) in a step
  Vec<S, J> aside;  ///< the whole second part of the last step
};

template <class S, int J>
GARRA_HD Search<S, J> start_search(const Vec<S, J>& q) {
  const Vec<S, 6> any_direction = {{S(0.31), S(0.47), S(-0.38), S(0.43), S(-0.29), S(0.52)}};
  return {q, q, S(1), S(0), S(1), S(0), S(0), any_direction, S(0), Vec<S, J>::zero(), S(1), Vec<S, J>::zero()};
}

/// Length of the motion from the start [rad; sliding joints in units of the start's length].
template <class S, int J>
GARRA_HD S search_distance(const Arm<J>& arm, const Search<S, J>& s) {
  const Vec<S, J> unit = joint_units(arm, s.length);
  S squares = S(0);
  for_each_index<J>([&](auto j) {
    const S way = (s.q[j] - s.start[j]) / unit[j];
    squares = fma(way, way, squares);
  });
  return sqrt(squares);
}

namespace kernel {

/// Factor by which the iteration continues beyond the tolerance, so that null vectors are exact as
/// well. It never continues below kRounding, from where steps could lead anywhere.
inline constexpr double kBeyond = 1e-3, kRounding = 1e-15;
/// Relative limit of the last step: a Newton step leaves about the square of its length, and is the
/// last one if this is less than kLast of the required accuracy.
inline constexpr double kLast = 1e-2;
/// The motion along the set ends when a step is shorter than kStationary of the distance, which is
/// then accurate to half its square. Newton's step there, from which the direction is read, must be
/// shorter than kStill of it.
inline constexpr double kStationary = 3e-4, kStill = 1e-3;

/// The two parts of step (2).
template <class S, int J>
struct StepParts {
  Vec<S, J> newton, along;
};

/// -N^+ f and e - N^+ N e, with damped least squares for N^+.
template <int E, class S, int J>
GARRA_HD StepParts<S, J> step_parts(const RankEquations<E, S, J>& e, const Vec<S, J>& home) {
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
  const auto least = [&](const Vec<S, E>& f) {  // -N^+ f
    Vec<S, J> step;
    if constexpr (kShort) {
      const Vec<S, E> y = solve(factor, f);
      for_each_index<J>([&](auto j) {
        S sum = S(0);
        for_each_index<E>([&](auto i) { sum = fma(e.slope(i, j), y[i], sum); });
        step[j] = -sum;
      });
    } else {
      Vec<S, J> right;
      for_each_index<J>([&](auto j) {
        S sum = S(0);
        for_each_index<E>([&](auto i) { sum = fma(e.slope(i, j), f[i], sum); });
        right[j] = -sum;
      });
      step = solve(factor, right);
    }
    return step;
  };
  return {least(e.value), home + least(e.slope * home)};
}

/// Bounds of the share of the motion along the set in a step.
inline constexpr double kMinPart = 0.02, kMaxPart = 1.5;
/// Cosine above which two successive steps count as aligned.
inline constexpr double kAligned = 0.95;

/// Factor on Newton's step `delta`. The residual r, falling at `rate`, and its second derivative
/// from the last step's rate, if that step was aligned, make a parabola. At a double root, where
/// Newton's steps only halve the distance, the factor is 2.
template <class S, int J>
GARRA_HD S step_factor(const Search<S, J>& last, const Vec<S, J>& delta, const S& residual, const S& rate) {
  const S moved = norm(last.step), along = dot(last.step, delta);
  const auto known = along > S(kAligned) * (moved * norm(delta)) && rate > S(0);
  const S curvature = max((last.rate - rate) / select(known, moved, S(1)), S(0));
  const S bend = S(2) * residual * curvature / select(known, rate * rate, S(1));
  return select(known, S(2) / (S(1) + sqrt(max(S(1) - bend, S(0)))), S(1));
}

/// Share of the motion `along` the set to take. On a set that bends away from the start, full steps
/// go too far, increasingly so if its curvature times the distance is above 1. Two successive
/// motions give the share, as in Aitken's relaxation (U. Kuettler, W. A. Wall, Computational
/// Mechanics 43, 2008).
template <class S, int J>
GARRA_HD S part_along(const Search<S, J>& last, const Vec<S, J>& along) {
  const Vec<S, J> change = along - last.aside;
  const S squares = dot(change, change), before = dot(last.aside, last.aside);
  const auto known = before > S(0) && squares > S(0);
  const S part = -(last.part * dot(last.aside, change)) / select(known, squares, S(1));
  return select(known, min(max(part, S(kMinPart)), S(kMaxPart)), S(1));
}

/// Motion back to the start, of joints that may move.
template <class S, int J>
GARRA_HD Vec<S, J> way_home(const Search<S, J>& s, const Vec<S, J>& unit, std::uint32_t free) {
  Vec<S, J> out;
  for_each_index<J>([&](auto j) { out[j] = (free >> j & 1u) != 0 ? (s.start[j] - s.q[j]) / unit[j] : S(0); });
  return out;
}

/// Converts slopes to units of the start; the unit of sliding joints differs here.
template <int E, class S, int J>
GARRA_HD void in_units_of_the_start(const Arm<J>& arm, const S& ratio, RankEquations<E, S, J>& e) {
  for_each_index<J>([&](auto j) {
    if (arm.model.prismatic[j]) for_each_index<E>([&](auto i) { e.slope(i, j) *= ratio; });
  });
}

/// Does one step in all active lanes.
template <int G, int D, class S, int J>
GARRA_HD void advance(const Arm<J>& arm, const Posture<S, J>& at, const NearlyNull<S, 6 - G + D, J - G + D, J>& null,
                      const RefineOptions& options, Search<S, J>& s) {
  auto equations = rank_equations(at.screws, null, options.free);
  in_units_of_the_start(arm, s.length / at.scaling.length, equations);
  const Vec<S, J> unit = joint_units(arm, s.length), home = way_home(s, unit, options.free);
  const StepParts<S, J> parts = step_parts(equations, home);
  const MaskOf<S> on_the_set = null.sigma <= S(kRounding) * null.largest;  // the remainder has no direction
  const S residual = norm(equations.value), length = select(on_the_set, S(0), norm(parts.newton)),
          fall = norm(equations.slope * parts.newton);
  const auto moves = length > S(0);
  const S rate = select(moves, fall, S(0)) / select(moves, length, S(1));
  const S wanted = select(moves, step_factor(s, parts.newton, residual, rate), S(0)), most = S(options.largest_step);
  const S share = part_along(s, parts.along);
  const Vec<S, J> delta = axpy(wanted, parts.newton, (share * s.along) * parts.along);
  S longest = most;
  for_each_index<J>([&](auto j) { longest = max(longest, abs(delta[j])); });
  const S part = most / longest;
  const MaskOf<S> active = s.active > S(0);
  for_each_index<J>([&](auto j) { s.q[j] = select(active, fma(part * unit[j], delta[j], s.q[j]), s.q[j]); });
  s.rate = select(active, rate, s.rate);
  s.step = select(active, (part * wanted) * parts.newton, s.step);
  s.part = select(active, share, s.part);
  s.aside = select(active, parts.along, s.aside);

  const S sideways = s.along * norm(parts.along), distance = norm(home);
  const S settled = S(max(kBeyond * options.tolerance, kRounding)), last = S(kLast) * settled;
  const S sigma = null.sigma / null.largest;
  const MaskOf<S> arrived = sigma <= settled || (length * length <= last && sigma * sigma <= settled);
  s.active = select(active && !(arrived && sideways * sideways <= last), S(1), S(0));
  const MaskOf<S> below = sideways < S(kStationary) * distance && length < S(kStill) * distance;
  s.along = select(active && below, S(0), s.along);
}

/// Evaluates the quantities that vanish at q and, for a search that begins, the data of its start.
template <int G, int D, class S, int J>
GARRA_HD NearlyNull<S, 6 - G + D, J - G + D, J> look(const Posture<S, J>& at, Search<S, J>& s) {
  const MaskOf<S> begins = s.length == S(0);
  NearlyNull<S, 6 - G + D, J - G + D, J> null;
  if constexpr (G == 6 && D == 1) {
    const OrthonormalRows<S, J> rows = orthonormal_rows(at.screws);
    auto left = s.left;
    null = nearly_null_of_six(rows, left);
    // Unchanged if the search has ended: others in its register may continue without effect on it.
    for_each_index<6>([&](auto k) { s.left[k] = select(s.active > S(0), left[k], s.left[k]); });
    if (any(begins)) null.before = roughly_second(rows, s.left);
  } else {
    null = nearly_null<G, D>(at.screws);
  }
  s.second = select(begins, null.before, s.second);
  s.length = select(begins, at.scaling.length, s.length);
  return null;
}

}  // namespace kernel

/// A part of a search: a maximum number of steps, along the singular set as well, or only onto it.
struct SearchPart {
  int steps;
  bool along;
};
/// Searches that need more steps continue together, so that few wait for many. The last part no
/// longer minimizes the distance.
inline constexpr SearchPart kSearchParts[] = {{4, true}, {2, true},  {2, true},  {4, true},
                                              {8, true}, {16, true}, {40, true}, {8, false}};

/// Runs a further part of a search for a configuration that lacks D degrees of freedom.
template <int G, int D, class S, int J>
GARRA_HD void search_on(const Arm<J>& arm, const RefineOptions& options, const SearchPart& part, Search<S, J>& s) {
  if (!any(s.active > S(0))) return;
  const S rounding = S(kernel::kRounding);
  if (!part.along) s.along = S(0);
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
  for (int step = 0; step < part.steps; ++step) {
    const Posture<S, J> at = posture(arm, s.q);
    const auto null = kernel::look<G, D>(at, s);
    const MaskOf<S> sideways = s.along > S(0) && null.sigma >= S(0);
    s.active = select(sideways || null.sigma > rounding * null.largest, s.active, S(0));  // NaN has ended as well
    if (!any(s.active > S(0))) break;
    kernel::advance<G, D>(arm, at, null, options, s);
  }
}

/// True if sigma_(g-1) was small at the start as well: the two singular values then share their
/// vectors, neither has a derivative alone, and a search for both together may be necessary.
template <int G, class S, int J>
GARRA_HD MaskOf<S> starts_near_two(const Arm<J>& arm, const Search<S, J>& s, const RefineOptions& options) {
  const auto sigma = singular_values(posture(arm, s.start).screws);
  return sigma[numerical_rank<G>(arm.dims) - 2] <= S(options.near) * sigma[0];
}

// The singular set may have a nearer part than the one to which sigma_g falls from the start. If
// the solution is far away by comparison, further searches start elsewhere.

/// Start of a further search.
enum class Look {
  kSecond,    ///< toward the zero of sigma_(g-1) by its slope, no farther than the best solution
  kOpposite,  ///< the same distance on the other side
  kAround,    ///< beside the start in one joint, as far as the best solution, where a few steps promise most
  kClose      ///< the same, half as far
};

namespace kernel {

/// A further search pays if the best solution is farther away than this share of sigma_(g-1).
/// Measured: docs/theory/singularity-maps.md.
inline constexpr double worth_beyond(Look look) {
  return look == Look::kOpposite ? 0.3 : look == Look::kAround ? 0.1 : 0.2;
}
/// Relative difference below which two distances are equal.
inline constexpr double kSame = 1e-9;

/// Distance of the search's end, or its limit.
template <class S, int J>
GARRA_HD S compute_reach(const Arm<J>& arm, const Search<S, J>& s, const RefineOptions& options) {
  const S farthest = S(options.farthest), distance = search_distance(arm, s);
  return select(s.active == S(0) && distance < farthest, distance, farthest);
}

/// Motion of a search before its first step.
template <int G, class S, int J>
GARRA_HD Vec<S, J> way_to_second(const Arm<J>& arm, Search<S, J>& s, const S& reach, std::uint32_t free) {
  const auto at = posture(arm, s.start);
  const auto pair = singular_pair(decompose(at.screws), numerical_rank<G>(arm.dims) - 2);
  const auto equation = rank_equations(at.screws, pair, free);
  Vec<S, J> slope;
  for_each_index<J>([&](auto j) { slope[j] = equation.slope(0, j); });
  const S steep = max(norm(slope), S(kRounding));
  s.left = pair.left.v[0];
  return (-min(equation.value[0] / steep, reach) / steep) * slope;
}

/// Criteria of a trial from a point beside the start. After steps_aside() steps its distance plus
/// the length of its last step must be at most kPromising times the best distance. Its distance
/// from the best solution must be at least kOther times that.
inline constexpr int steps_aside(Look look) { return look == Look::kClose ? 3 : 5; }
inline constexpr double kPromising = 1.1, kOther = 0.2;
/// Distance of the trial's start from the start, in units of the best distance.
inline constexpr double beside(Look look) { return look == Look::kClose ? 0.5 : 1; }

/// Runs the first steps of a trial from `move` beside the start of `best`.
template <int G, class S, int J>
GARRA_HD Search<S, J> look_aside(Look look, const Arm<J>& arm, const Search<S, J>& best, const Vec<S, J>& move,
                                 const RefineOptions& options) {
  Search<S, J> out = start_search(best.start);
  out.length = best.length;
  out.second = best.second;
  for_each_index<J>([&](auto j) { out.q[j] += move[j]; });
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
  for (int step = 0; step < steps_aside(look); ++step) {
    const Posture<S, J> at = posture(arm, out.q);
    const auto null = kernel::look<G, 1>(at, out);
    advance<G, 1>(arm, at, null, options, out);
  }
  return out;
}

/// Estimate of a trial's end, from its first steps: its distance plus the length of the last step.
template <class S, int J>
GARRA_HD S estimate_promise(const Arm<J>& arm, const Search<S, J>& best, const Search<S, J>& other, const S& reach) {
  const Vec<S, J> unit = joint_units(arm, best.length);
  S squares = S(0);
  for_each_index<J>([&](auto j) {
    const S apart = (other.q[j] - best.q[j]) / unit[j];
    squares = fma(apart, apart, squares);
  });
  const auto elsewhere = squares > S(kOther * kOther) * (reach * reach);
  return select(elsewhere, search_distance(arm, other) + norm(other.step), S(1e30));
}

/// Starts `out` at the most promising point around the start of `best`. If no point is promising,
/// `out` is an ended search at that start.
template <int G, class S, int J>
GARRA_HD void look_around(Look look, const Arm<J>& arm, const Search<S, J>& best, const RefineOptions& options,
                          Search<S, J>& out) {
  const S reach = compute_reach(arm, best, options), aside = S(beside(look)) * reach;
  const Vec<S, J> unit = joint_units(arm, best.length);
  S least = S(kPromising) * reach;
  out.active = S(0);
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
  for (int way = 2; way < 2 * (arm.joints - 1); ++way) {  // the first and the last joint change no rank
    const int joint = way / 2;
    if ((options.free >> joint & 1u) == 0) continue;
    Vec<S, J> move;
    for_each_index<J>([&](auto j) { move[j] = j == joint ? S(way % 2 == 0 ? 1 : -1) * (aside * unit[j]) : S(0); });
    const Search<S, J> other = look_aside<G>(look, arm, best, move, options);
    const S promise = estimate_promise(arm, best, other, reach);
    const MaskOf<S> better = promise < least;
    least = select(better, promise, least);
    out.active = select(better, S(1), out.active);
    out.q = select(better, other.q, out.q);
    out.left = select(better, other.left, out.left);
  }
}

}  // namespace kernel

/// True if a search that has ended may have missed a nearer solution.
template <class S, int J>
GARRA_HD MaskOf<S> deserves(Look look, const Arm<J>& arm, const Search<S, J>& s, const RefineOptions& options) {
  return kernel::compute_reach(arm, s, options) > S(kernel::worth_beyond(look)) * s.second;
}

/// A further search, beside the best one so far. Around tells whether `look` is one of kAround and kClose.
template <int G, bool Around, class S, int J>
GARRA_HD Search<S, J> look_elsewhere(Look look, const Arm<J>& arm, const Search<S, J>& best,
                                     const RefineOptions& options) {
  Search<S, J> out = start_search(best.start);
  out.length = best.length;
  out.second = best.second;
  if constexpr (Around) {
    kernel::look_around<G>(look, arm, best, options, out);
  } else if (look == Look::kSecond) {
    const Vec<S, J> unit = joint_units(arm, best.length),
                    way = kernel::way_to_second<G>(arm, out, kernel::compute_reach(arm, best, options), options.free);
    for_each_index<J>([&](auto j) { out.q[j] = fma(unit[j], way[j], out.q[j]); });
  } else {
    out.left = best.left;
    for_each_index<J>([&](auto j) { out.q[j] = best.start[j] + (best.start[j] - best.q[j]); });
  }
  return out;
}

/// True if a further search has converged, nearer than the best one.
template <class S, int J>
GARRA_HD MaskOf<S> is_nearer(const Arm<J>& arm, const Search<S, J>& best, const Search<S, J>& other,
                             const RefineOptions& options) {
  const S before = kernel::compute_reach(arm, best, options), now = search_distance(arm, other);
  return other.active == S(0) && now > S(0) && now < S(1 - kernel::kSame) * before;
}

}  // namespace garra::singularity
