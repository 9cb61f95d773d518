// Computes how much more than its wrench contacts can resist in every direction
// (docs/theory/grasp-sets.md, "Wrench radius").
//
// Let K = { W c : |c_T| <= mu c_n, 0 <= c_n <= limit } be the wrenches of the contacts, and w a
// wrench to balance. Every wrench within r of w is balanced if the ball of radius r lies in w + K:
//
//   r <= h(y) = w.y + sum_j limit_j max(0, z_n + mu |z_T|)_j,  z_j = W_j^T y,  for all |y| = 1         (1)
//
// Contacts of a pad have one limit for the sum of their normal forces: limit times the largest value
// of a contact of the pad then stands for the sum over its contacts.
//
// h is convex and cheap to evaluate, but its least value on the sphere is a global minimum among
// many. It is bounded from both sides (as in Y. Zheng, IEEE Transactions on Robotics 29(2), 2013,
// 579): each evaluated y gives h(y), an upper bound, and the point of w + K that attains it.
// Simplices between six such points each form a closed surface around the origin. The least
// distance of their planes is a lower bound: each ray from the origin meets a simplex, which lies
// in w + K, no nearer than its plane. The next y is the normal of the nearest plane; its point
// replaces the simplices from which it is visible, so that the surface stays closed.
//
// The lower bound does not require convexity of that surface. A simplex is exchanged only if the
// origin is not between it and the new point, so that every ray still meets a simplex (the degree
// of the surface's projection to the sphere, modulo 2, stays one). Rounding may dent the surface
// but does not make the bound too large.
//
// Host and device, one problem a thread: visible simplices differ between problems, so lanes would
// wait for each other. Loops over simplices run along arrays, for the compiler's vectorizer.
#pragma once

#include <cstdint>

#include "garra/core/hd.hpp"
#include "garra/core/mat.hpp"

namespace garra::solvers {

inline constexpr double kRadiusGap = 0.02;  ///< stop: the bounds are as close as this share of the upper one, or memory
                                            ///< is full
inline constexpr int kRadiusPoints = 256;
inline constexpr int kRadiusFacets = 16384;
inline constexpr int kRadiusRidges = 16384;
/// Radii below this share of the sum of all forces count as zero.
inline constexpr double kNoRadius = 1e-6;

struct WrenchRadius {
  double low, high;  ///< of r [N]; both 0: w itself cannot be balanced; NaN: undefined without limits
  double y[6];       ///< attains `high`: unit vector; the push in direction -y is resisted least
  int points;        ///< number of evaluations of h
};

/// The contacts, by their columns of W: `dims` of each, 3, or 4 for soft contacts.
struct PressingContacts {
  static constexpr int kMax = 32, kMaxDims = 4;
  int count, dims;
  double column[kMax * kMaxDims][6];
  double mu[kMax], limit[kMax];  ///< limits are finite
  int pad[kMax];                 ///< the first contact of its pad: itself without pads; -1: it takes no part
  bool exactly = false;          ///< pads press with their limits, not with less
  double w[6];
};

inline constexpr double kMaxPulled = 2e-3;

/// Working memory of one problem: 1.4 MB, mostly untouched.
struct RadiusSpace {
  PressingContacts contacts;
  int points, facets, ridges;
  double point[kRadiusPoints][6];
  double plane[6][kRadiusFacets];       ///< a with a.p = 1 in a facet's plane; 1 / |a| is its distance
  double square[kRadiusFacets];         ///< |a|^2
  std::uint64_t corner[kRadiusFacets];  ///< six numbers of points, ascending, the first in the highest byte of six
  std::uint64_t ridge[kRadiusRidges];   ///< of the visible facets, five corners: kNoRidge if two of them share it
  static constexpr int kSlots = 2 * kRadiusRidges;
  std::uint16_t slot[kSlots];  ///< hash table of ridges: place + 1; all zero between uses
  std::uint16_t slot_of[kRadiusRidges];
  double ahead[kRadiusFacets];  ///< a.p of the new point: above 1 if it sees the facet from outside
};

namespace radius {

inline constexpr std::uint64_t kNoRidge = ~std::uint64_t{0};

GARRA_HD double product(const double* a, const double* b) {
  double sum = a[0] * b[0];
  for (int i = 1; i < 6; ++i) sum = fma(a[i], b[i], sum);
  return sum;
}

/// z = W_j^T y of a contact, |z_T|, and its largest product with a force of unit normal part.
struct Gain {
  double z[PressingContacts::kMaxDims], across = 0, most;
};
GARRA_HD Gain find_gain(const PressingContacts& in, int j, const double* y) {
  Gain out;
  for (int c = 0; c < in.dims; ++c) out.z[c] = product(in.column[in.dims * j + c], y);
  for (int c = 1; c < in.dims; ++c) out.across = fma(out.z[c], out.z[c], out.across);
  out.across = sqrt(out.across);
  out.most = fma(in.mu[j], out.across, out.z[0]);
  return out;
}

/// h(y), and the point of w + K that attains it.
inline GARRA_HD_CALL double ask(const PressingContacts& in, const double* y, double* point) {
  for (int i = 0; i < 6; ++i) point[i] = in.w[i];
  for (int j = 0; j < in.count; ++j) {
    if (in.pad[j] != j) continue;
    int at = j;
    Gain best = find_gain(in, j, y);
    for (int k = j + 1; k < in.count; ++k) {
      if (in.pad[k] != j) continue;
      const Gain other = find_gain(in, k, y);
      if (other.most > best.most) best = other, at = k;
    }
    if (!(best.most > 0 || in.exactly)) continue;
    const auto* column = in.column + in.dims * at;
    const double share = best.across > 0 ? in.mu[at] * in.limit[j] / best.across : 0;
    for (int c = 0; c < in.dims; ++c) {
      const double force = c == 0 ? in.limit[j] : share * best.z[c];
      for (int i = 0; i < 6; ++i) point[i] = fma(force, column[c][i], point[i]);
    }
  }
  return product(point, y);
}

/// a with a.p = 1 for six points p, by Gauss' elimination. Rows are exchanged until the pivot is
/// their largest number.
template <class S>
GARRA_HD_CALL Vec<S, 6> find_plane(Mat<S, 6, 6> m) {
  Vec<S, 6> a;
  for (int k = 0; k < 6; ++k) a[k] = S(1);
  for (int k = 0; k < 6; ++k) {
    for (int r = k + 1; r < 6; ++r) {
      const auto larger = abs(m(r, k)) > abs(m(k, k));
      const auto exchange = [&](S& upper, S& lower) {
        const S kept = upper;
        upper = select(larger, lower, kept);
        lower = select(larger, kept, lower);
      };
      for (int c = k; c < 6; ++c) exchange(m(k, c), m(r, c));
      exchange(a[k], a[r]);
    }
    const S inverse = S(1) / m(k, k);
    for (int r = k + 1; r < 6; ++r) {
      const S factor = m(r, k) * inverse;
      for (int c = k + 1; c < 6; ++c) m(r, c) = fma(-factor, m(k, c), m(r, c));
      a[r] = fma(-factor, a[k], a[r]);
    }
  }
  for (int k = 5; k >= 0; --k) {
    for (int c = k + 1; c < 6; ++c) a[k] = fma(-m(k, c), a[c], a[k]);
    a[k] = a[k] / m(k, k);
  }
  return a;
}

template <class S>
GARRA_HD S together(const double* numbers) {
  if constexpr (kWidth<S> == 1)
    return numbers[0];
  else
    return S::load(numbers);
}
template <class S>
GARRA_HD void apart(const S& from, double* numbers) {
  if constexpr (kWidth<S> == 1)
    numbers[0] = from;
  else
    from.store(numbers);
}

/// Computes the planes of the facets from `first` on.
template <class S>
GARRA_HD void set_planes(RadiusSpace& s, int first) {
  constexpr int kTogether = kWidth<S>;
  for (int f = first; f < s.facets; f += kTogether) {
    const int count = min(kTogether, s.facets - f);
    alignas(S) double number[36][kTogether];
    for (int l = 0; l < kTogether; ++l) {
      const std::uint64_t corners = s.corner[f + min(l, count - 1)];
      for (int r = 0; r < 6; ++r)
        for (int c = 0; c < 6; ++c) number[6 * r + c][l] = s.point[corners >> (8 * (5 - r)) & 255][c];
    }
    Mat<S, 6, 6> points;
    for (int k = 0; k < 36; ++k) points[k] = together<S>(number[k]);
    const Vec<S, 6> a = find_plane(points);
    for (int k = 0; k < 6; ++k) apart(a[k], number[k]);
    apart(dot(a, a), number[6]);
    for (int l = 0; l < count; ++l) {
      for (int i = 0; i < 6; ++i) s.plane[i][f + l] = number[i][l];
      s.square[f + l] = number[6][l];
    }
  }
}

/// Adds a ridge, or removes it the second time, since it lies between two visible facets. False:
/// too many ridges.
GARRA_HD bool toggle(RadiusSpace& s, std::uint64_t ridge) {
  auto at = static_cast<std::uint32_t>((ridge * 0x9E3779B97F4A7C15u) >> 40) % RadiusSpace::kSlots;
  for (; s.slot[at] != 0; at = (at + 1) % RadiusSpace::kSlots)
    if (s.ridge[s.slot[at] - 1] == ridge) {
      s.ridge[s.slot[at] - 1] = kNoRidge;
      return true;
    }
  if (s.ridges == kRadiusRidges) return false;
  s.slot_of[s.ridges] = static_cast<std::uint16_t>(at);
  s.ridge[s.ridges] = ridge;
  s.slot[at] = static_cast<std::uint16_t>(++s.ridges);
  return true;
}

/// The ridge of a facet without its k-th corner: later corners move up.
GARRA_HD std::uint64_t without(std::uint64_t corners, int k) {
  const std::uint64_t below = (std::uint64_t{1} << (8 * (5 - k))) - 1;
  return (corners >> 8 & ~below) | (corners & below);
}

/// Starts with points on all axes, so close to the origin that no facet with one of them is left at
/// the end.
template <class S>
GARRA_HD void begin_search(RadiusSpace& s, double distance) {
  for (int k = 0; k < 12; ++k)
    for (int i = 0; i < 6; ++i) s.point[k][i] = i != k / 2 ? 0 : k % 2 == 0 ? distance : -distance;
  for (int k = 0; k < RadiusSpace::kSlots; ++k) s.slot[k] = 0;
  s.points = 12;
  s.facets = 64;
  for (int f = 0; f < s.facets; ++f) {
    s.corner[f] = 0;
    for (int i = 0; i < 6; ++i) s.corner[f] = s.corner[f] << 8 | static_cast<std::uint64_t>(2 * i + (f >> i & 1));
  }
  set_planes<S>(s, 0);
}

/// Moves the new point a little toward the origin, by a different share each time. More than six
/// extreme points of w + K may lie in one plane, and their simplices need not have a plane.
GARRA_HD void pull_in(RadiusSpace& s) {
  const auto scattered = static_cast<std::uint32_t>(s.points) * 0x9E3779B9u >> 8;  // 24 bits
  const double share = 1 - kMaxPulled * (scattered * 0x1p-24);
  for (int i = 0; i < 6; ++i) s.point[s.points][i] *= share;
}

/// The nearest facet.
GARRA_HD int nearest(const RadiusSpace& s) {
  double most = s.square[0];
  for (int f = 1; f < s.facets; ++f) most = max(most, s.square[f]);
  int at = 0;
  while (s.square[at] < most) ++at;
  return at;
}

/// Whether the last point sees a facet; valid after find_rim().
GARRA_HD bool is_seen(const RadiusSpace& s, int facet) { return s.ahead[facet] > 1; }

/// Finds the ridges of the facets that the last point sees, and of facet `always`. False: memory is
/// full.
GARRA_HD bool find_rim(RadiusSpace& s, int always) {
  const double* p = s.point[s.points - 1];
  for (int f = 0; f < s.facets; ++f) {
    double sum = s.plane[0][f] * p[0];
    for (int i = 1; i < 6; ++i) sum = fma(s.plane[i][f], p[i], sum);
    s.ahead[f] = sum;
  }
  s.ahead[always] = 2;
  s.ridges = 0;
  int seen = 0;
  bool room = true;
  for (int f = 0; f < s.facets && room; ++f) {
    if (!is_seen(s, f)) continue;
    ++seen;
    for (int k = 0; k < 6 && room; ++k) room = toggle(s, without(s.corner[f], k));
  }
  int rim = 0;
  for (int k = 0; k < s.ridges; ++k) {
    s.slot[s.slot_of[k]] = 0;
    if (s.ridge[k] != kNoRidge) s.ridge[rim++] = s.ridge[k];
  }
  s.ridges = rim;
  return room && s.facets - seen + rim <= kRadiusFacets;
}

/// Replaces the visible facets by those between the rim and the last point.
template <class S>
GARRA_HD void exchange(RadiusSpace& s) {
  int left = 0;
  for (int f = 0; f < s.facets; ++f) {
    if (is_seen(s, f)) continue;
    for (int i = 0; i < 6; ++i) s.plane[i][left] = s.plane[i][f];
    s.square[left] = s.square[f];
    s.corner[left++] = s.corner[f];
  }
  s.facets = left;
  for (int k = 0; k < s.ridges; ++k) s.corner[s.facets++] = s.ridge[k] << 8 | static_cast<std::uint64_t>(s.points - 1);
  set_planes<S>(s, left);
}

/// Result if a limit is infinite, or a number is not finite.
GARRA_HD WrenchRadius undefined() {
  WrenchRadius out{};
  out.low = out.high = __builtin_nan("");
  return out;
}

}  // namespace radius

/// Radius of the contacts in `s`. S: scalar type for planes, a double or lanes of them, with the
/// same bits.
template <class S>
GARRA_HD_CALL WrenchRadius resisted_force_radius(RadiusSpace& s) {
  using namespace radius;
  WrenchRadius out{0, __builtin_huge_val(), {}, 0};
  double forces = 0;
  for (int j = 0; j < s.contacts.count; ++j) forces += s.contacts.limit[j];
  if (!(forces < out.high)) return undefined();
  const double none = kNoRadius * forces;
  const double start = 0.1 * none;
  begin_search<S>(s, start);
  while (s.points < kRadiusPoints) {
    const int facet = nearest(s);
    const double distance = 1 / sqrt(s.square[facet]);
    if (!(distance > 0)) break;  // a simplex without a plane
    out.low = distance > 2 * start ? distance : 0;
    if (!(distance < (1 - kRadiusGap) * out.high)) break;
    double y[6];
    for (int i = 0; i < 6; ++i) y[i] = distance * s.plane[i][facet];
    const double h = ask(s.contacts, y, s.point[s.points]);
    ++out.points;
    if (!(h == h)) return undefined();
    if (h < out.high) {
      out.high = h;
      for (int i = 0; i < 6; ++i) out.y[i] = y[i];
    }
    if (!(out.high > none)) {
      out.low = out.high = 0;
      break;
    }
    pull_in(s);
    ++s.points;
    if (!find_rim(s, facet)) break;
    exchange<S>(s);
  }
  return out;
}

}  // namespace garra::solvers
