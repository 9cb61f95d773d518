// Joint values of the samples of a map: drawn, from a grid, or from targets of the tool. Host and device.
#pragma once

#include <cstdint>

#include "garra/core/philox.hpp"
#include "garra/singularity_map.hpp"
#include "garra/systems/chain/reach.hpp"
#include "garra/systems/singularity/arm.hpp"

namespace garra::singularity {

inline constexpr int kMapJoints = 16;

/// Where joint values come from, by plain numbers.
struct Sampler {
  int joints = 0;
  std::uint64_t seed = 1;
  Sequence sequence = Sequence::kRandom;
  double low[kMapJoints] = {}, span[kMapJoints] = {};  ///< [rad or m]
  bool uniform[kMapJoints] = {};
  /// Joints on a grid: number of nodes, and after how many samples the next one comes; 1: not on a grid.
  std::int64_t points[kMapJoints] = {}, stride[kMapJoints] = {};
  /// Additive recurrence: fraction of 2^64 that each sample adds, and where it starts.
  std::uint64_t advance[kMapJoints] = {}, start[kMapJoints] = {};
  /// Task grid: tool positions, from which joint values follow; the joints' own numbers are then where searches start.
  bool task = false, any_orientation = false;
  double task_low[3] = {}, task_step[3] = {};
  std::int64_t task_points[3] = {1, 1, 1}, starts = 1;
  Mat3<double> orientation = Mat3<double>::identity();
  chain::ReachOptions reach;
};

namespace map_kernel {

/// f(lane) for every lane.
template <class S, class F>
GARRA_HD S from_lanes(F f) {
  if constexpr (kWidth<S> == 1) {
    return S(f(0));
  } else {
    S out = S(0);
    for (int l = 0; l < kWidth<S>; ++l) out.set(l, f(l));
    return out;
  }
}

/// Fraction of index * advance + start.
template <class S>
GARRA_HD S even_number(const BitsOf<S>& index, std::uint64_t advance, std::uint64_t start) {
  using Word = BitsOf<S>;
  // The low 64 bits of a 64 x 64 product, from 32-bit halves: lanes have no wider multiplication.
  const Word a = Word(advance), high = Word(advance >> 32);
  const Word cross = product_of_low_halves(index >> 32, a) + product_of_low_halves(index, high);
  const Word w = product_of_low_halves(index, a) + (cross << 32) + Word(start);
  // A fraction in (0, 1), as Philox's words become one.
  return open_uniform<S>(w >> 32, low_word(w));
}

/// Values of two neighboring joints in (0, 1); which of them are used, the caller knows.
template <class S>
GARRA_HD void uniform_numbers(const Sampler& s, std::int64_t sample, int pair, S& u0, S& u1) {
  const auto index = SampleIndex<S>::consecutive(static_cast<std::uint64_t>(sample));
  if (s.sequence == Sequence::kRandom) {
    uniform_pair(s.seed, index, static_cast<std::uint32_t>(pair), u0, u1);
  } else {
    u0 = even_number<S>(index.low, s.advance[2 * pair], s.start[2 * pair]);
    u1 = even_number<S>(index.low, s.advance[2 * pair + 1], s.start[2 * pair + 1]);
  }
}

}  // namespace map_kernel

/// Joint values of samples `sample` + lane.
template <class S, int J>
GARRA_HD Vec<S, J> draw_joints(const Sampler& s, std::int64_t sample) {
  Vec<S, J> q;
  for_each_index<(J + 1) / 2>([&](auto pair) {
    S u[2] = {S(0), S(0)};
    // Pairs of joints share one block of random numbers; a pair of which none is drawn costs nothing.
    if (s.uniform[2 * pair] || (2 * pair + 1 < J && s.uniform[2 * pair + 1]))
      map_kernel::uniform_numbers<S>(s, sample, pair, u[0], u[1]);
    for_each_index<2>([&](auto k) {
      const int j = 2 * pair + k;
      if (j >= J) return;
      if (s.points[j] > 1)
        // The grid's node from the sample's number, in lanes one by one: integers beyond 2^53 are no lanes' business.
        u[k] = map_kernel::from_lanes<S>([&](int lane) {
          return static_cast<double>((sample + lane) / s.stride[j] % s.points[j]) /
                 static_cast<double>(s.points[j] - 1);
        });
      // Held joints have a span of 0.
      q[j] = fma(u[k], S(s.span[j]), S(s.low[j]));
    });
  });
  return q;
}

namespace map_kernel {

/// Rotation by a random quaternion, all orientations alike (K. Shoemake, Graphics Gems III, 1992).
template <class S>
GARRA_HD Mat3<S> any_rotation(const S& u0, const S& u1, const S& u2) {
  const auto a = sincos(S(6.283185307179586) * u1), b = sincos(S(6.283185307179586) * u2);
  // Shoemake's u0 splits between the two circles; each angle is uniform.
  const S r0 = sqrt(S(1) - u0), r1 = sqrt(u0);
  const S x = r0 * a.sin, y = r0 * a.cos, z = r1 * b.sin, w = r1 * b.cos, one = S(1), two = S(2);
  return {{one - two * (y * y + z * z), two * (x * y - z * w), two * (x * z + y * w),  //
           two * (x * y + z * w), one - two * (x * x + z * z), two * (y * z - x * w),  //
           two * (x * z - y * w), two * (y * z + x * w), one - two * (x * x + y * y)}};
}

/// Target of sample `sample` + lane.
template <class S>
GARRA_HD Pose<S> task_target(const Sampler& s, std::int64_t sample) {
  Pose<S> out;
  out.R = cast<S>(s.orientation);
  // All starts of a target share its orientation: they are searches for one pose.
  const auto target = [&](int lane) { return (sample + lane) / s.starts; };
  if (s.any_orientation) {
    constexpr std::uint32_t kOrientation = 0x726f74;  // draws beside those of the joints
    S u[4];
    for_each_index<4>([&](auto k) {
      // Lane by lane: neighbors in lanes may belong to one target and must draw the same.
      u[k] = from_lanes<S>([&](int lane) {
        double v[2];
        uniform_pair<double>(s.seed, SampleIndex<double>::consecutive(static_cast<std::uint64_t>(target(lane))),
                             kOrientation + k / 2, v[0], v[1]);
        return v[k % 2];
      });
    });
    out.R = any_rotation(u[0], u[1], u[2]);
  }
  for_each_index<3>([&](auto k) {
    const S node = from_lanes<S>([&](int lane) {
      // x runs fastest.
      std::int64_t n = target(lane);
      for (int j = 0; j < k; ++j) n /= s.task_points[j];
      return static_cast<double>(n % s.task_points[k]);
    });
    out.p[k] = fma(node, S(s.task_step[k]), S(s.task_low[k]));
  });
  return out;
}

}  // namespace map_kernel

/// Joint values of samples `sample` + lane, NaN where a task target is not reached.
template <class S, int J>
GARRA_HD Vec<S, J> sample_joints(const Arm<J>& arm, const Sampler& s, std::int64_t sample) {
  Vec<S, J> q = draw_joints<S, J>(s, sample);
  if (!s.task) return q;
  chain::ReachEnd<S> end;
  chain::reach(arm.model, {arm.joints, s.low, s.span}, map_kernel::task_target<S>(s, sample), s.reach, q, end);
  // All joints together: half a configuration would look like an answer.
  for_each_index<J>([&](auto j) { q[j] = select(end.arrived > S(0), q[j], S(__builtin_nan(""))); });
  return q;
}

}  // namespace garra::singularity
