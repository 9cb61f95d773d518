// The object's surface near a contact, for a fingertip that has moved along it or off it: its
// distance and its normal there (docs/theory/grasp-time.md).
#pragma once

#include "garra/systems/grasp/contact.hpp"

namespace garra::grasp {

/// Surfaces whose nearest point is known in closed form: through the contact point, with its normal and curvatures.
enum class SurfaceKind : int {
  kPlane,
  kCylinderT,  ///< axis t: curved along o only
  kCylinderO,  ///< axis o: curved along t only
  kSphere,
  kNone,  ///< two different curvatures: no closed form
};
[[nodiscard]] constexpr SurfaceKind surface_kind(double curvature_t, double curvature_o) {
  if (curvature_t == 0 && curvature_o == 0) return SurfaceKind::kPlane;
  if (curvature_t == 0) return SurfaceKind::kCylinderT;
  if (curvature_o == 0) return SurfaceKind::kCylinderO;
  return curvature_t == curvature_o ? SurfaceKind::kSphere : SurfaceKind::kNone;
}

/// The surface of one sample, with its deviations and its size. Object frame; all members are S.
template <class S>
struct LocalSurface {
  Vec3<S> point;               ///< of the contact [m]
  Mat3<S> E;                   ///< there: columns n (inward), t, o
  S curvature_t, curvature_o;  ///< [1/m], convex > 0
};

/// Nearest point of the surface to a fingertip.
template <class S>
struct Touch {
  S gap;        ///< distance of the tip from the surface [m], > 0 outside
  Mat3<S> E;    ///< columns n, t, o at the nearest point; t and o follow by the smallest turn of n
  S curvature;  ///< the larger one there [1/m]
};

/// The fingertip `tip` (object frame) against the surface. With (x, y, z) = E^T (tip - point),
/// curvatures k_t, k_o and k the nonzero one, the tip is |q| / k from the center or axis:
///
///   q = (1 - k x, -k_t y, -k_o z),   gap = (k x^2 + k_t y^2 + k_o z^2 - 2 x) / (1 + |q|),   n = E q / |q|.
///
/// The formulas hold for the plane, too (k = 0), and keep their digits for small gaps. `kind` only
/// tells which curvature is zero.
template <class S>
GARRA_HD Touch<S> touch(SurfaceKind kind, const LocalSurface<S>& s, const Vec3<S>& tip) {
  const Vec3<S> d = transpose_times(s.E, tip - s.point);
  if (kind == SurfaceKind::kPlane) return {-d[0], s.E, S(0)};
  const S k = kind == SurfaceKind::kCylinderT ? s.curvature_o : s.curvature_t;
  const S kx = k * d[0], ky = s.curvature_t * d[1], kz = s.curvature_o * d[2];
  const Vec3<S> q = vec3<S>(S(1) - kx, -ky, -kz);
  const S length = norm(q);
  const Vec3<S> n = (S(1) / select(length > S(0), length, S(1))) * q;  // at the center any direction is an outward
                                                                       // normal
  Touch<S> out;
  out.gap = fma(kx, d[0], fma(ky, d[1], fma(kz, d[2], S(-2) * d[0]))) / (S(1) + length);
  out.curvature = k;
  // The smallest turn from e_1 to n. Opposite to the contact it is undefined: t and o stay, and
  // every number is finite.
  const S c = S(1) + n[0], inverse = S(1) / max(c, S(1e-12));
  const S yy = n[1] * n[1], zz = n[2] * n[2], yz = -(n[1] * n[2] * inverse);
  const Mat3<S> turn{{n[0], -n[1], -n[2],                 //
                      n[1], fma(-yy, inverse, S(1)), yz,  //
                      n[2], yz, fma(-zz, inverse, S(1))}};
  out.E = s.E * turn;
  return out;
}

}  // namespace garra::grasp
