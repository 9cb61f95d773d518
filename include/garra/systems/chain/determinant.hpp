// |det J| of six joints without a division, by minors. A body for recording, which drops known
// zeros: for an arm with a spherical wrist a product of two small determinants remains.
#pragma once

#include "garra/systems/chain/kernels_singular.hpp"

namespace garra::chain {

/// Frame and order of the expansion: they change its known zeros, not the determinant.
struct Expansion {
  int frame = 2;                 ///< the joints' screws are taken about this link frame's origin
  bool before_turn = false;      ///< in the axes before the turn of that joint
  int first_w = 0, first_v = 0;  ///< row by which a minor of the angular, linear rows is expanded
};
inline constexpr int kExpansions = 6 * 2 * 3 * 3;
inline Expansion expansion(int number) { return {number % 6, number / 6 % 2 == 1, number / 12 % 3, number / 36 % 3}; }

namespace kernel {

/// Computes all six screws in one frame.
template <class S, class T, int J>
GARRA_HD void screws_in(const Model<T, J>& m, const Angles<S, J>& x, const Expansion& e, Screw<S>* s) {
  Angles<S, J> y = x;  // inward
  if (e.before_turn) y.cos[e.frame] = S(1), y.sin[e.frame] = S(0);
  for (int j = 0; j < 6; ++j) {
    if (j < e.frame) {
      const Screw<S> before = screw_before<Joints::kMixed>(m, y, j + 1);
      const S c = y.cos[j + 1], sn = y.sin[j + 1];
      s[j] = {turn_back(c, sn, before.w), turn_back(c, sn, before.v)};
      for (int i = j + 2; i <= e.frame; ++i) s[j] = carry_in<Joints::kMixed>(m, y, i, s[j]);
    } else if (j == e.frame) {
      const Vec3<S> z = vec3<S>(S(0), S(0), S(1));
      s[j] = m.prismatic[j] ? Screw<S>{Vec3<S>::zero(), z} : Screw<S>{z, Vec3<S>::zero()};
    } else {
      s[j] = screw_after<Joints::kMixed, S>(m, j - 1);
      for (int i = j - 1; i > e.frame; --i) s[j] = carry_out<Joints::kMixed>(m, x, i, s[j]);
      if (e.before_turn) {
        const S c = x.cos[e.frame], sn = x.sin[e.frame];
        s[j] = {turn(c, sn, s[j].w), turn(c, sn, s[j].v)};
      }
    }
  }
}

/// a . (b x c), expanded by entry `first` of each.
template <class S>
GARRA_HD S triple(const Vec3<S>& a, const Vec3<S>& b, const Vec3<S>& c, int first) {
  const int p = (first + 1) % 3, q = (first + 2) % 3;
  const auto minor = [&](const Vec3<S>& u, const Vec3<S>& v) { return fma(u[p], v[q], -(u[q] * v[p])); };
  return fma(a[first], minor(b, c), fnma(b[first], minor(a, c), c[first] * minor(a, b)));
}

}  // namespace kernel

/// Of six joints (J is 6 or kAnyJoints). Laplace's expansion: minors of the angular rows times those of the linear rows
/// in the other three columns.
template <class S, class T, int J>
GARRA_HD S expanded_determinant(const Model<T, J>& m, const Angles<S, J>& x, const Expansion& e) {
  Screw<S> s[6];
  kernel::screws_in(m, x, e, s);
  S sum = S(0);
  for (int a = 0; a < 6; ++a)
    for (int b = a + 1; b < 6; ++b)
      for (int c = b + 1; c < 6; ++c) {
        int rest[3], k = 0;
        for (int i = 0; i < 6; ++i)
          if (i != a && i != b && i != c) rest[k++] = i;
        const S top = kernel::triple(s[a].w, s[b].w, s[c].w, e.first_w);
        const S bottom = kernel::triple(s[rest[0]].v, s[rest[1]].v, s[rest[2]].v, e.first_v);
        const bool odd = (a + b + c) % 2 == 0;  // of columns counted from 1, against rows 1, 2, 3
        sum = fma(odd ? -top : top, bottom, sum);
      }
  return sum;
}

}  // namespace garra::chain
