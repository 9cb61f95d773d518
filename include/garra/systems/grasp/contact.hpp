// Contacts and object of a grasp: frames, wrench matrices, mass matrix (docs/theory/grasp-model.md, section 2).
#pragma once

#include "garra/core/factor.hpp"
#include "garra/math/pose.hpp"

namespace garra::grasp {

/// A contact in the palm frame P: its point, and E = [n t o] with n the inward normal of the object
/// (right-handed). E is R_PC with the columns (z, x, y): the papers' B_f in the order of their text
/// (erratum to (37)).
template <class S>
struct ContactPlace {
  Vec3<S> p;
  Mat3<S> E;
};

/// A contact on the surface of the object, in the object frame, before any deviation.
struct SurfacePoint {
  Vec3<double> point;
  Vec3<double> n, t, o;
  double curvature_t, curvature_o;  ///< [1/m]
};

/// Deviations of one contact: along the surface [m], and of the true normal from the modeled one.
template <class S>
struct ContactDeviation {
  S slide_t, slide_o;
  S tilt, tilt_direction;  ///< angle and direction of the true normal's tilt [rad]
  S scale;                 ///< factor on the object's lengths
};

/// Moves a point along its surface and tilts its normal. With curvature k along a direction the
/// normal turns by atan(k slide) and the point follows the arc; the frame moves along. Exact on
/// spheres, cylinders and planes, to second order if the two curvatures differ. `scale` makes the
/// object larger, not the slides.
template <class S>
GARRA_HD ContactPlace<S> place_on_surface(const SurfacePoint& s, const ContactDeviation<S>& d) {
  const Vec3<S> n0 = cast<S>(s.n), t0 = cast<S>(s.t), o0 = cast<S>(s.o);
  const S kt = S(s.curvature_t) / d.scale, ko = S(s.curvature_o) / d.scale;
  // The inward normal tilts against the displacement: on a sphere p = -r n.
  Vec3<S> n = axpy(-(d.slide_t * kt), t0, axpy(-(d.slide_o * ko), o0, n0));
  n = (S(1) / norm(n)) * n;
  const S x = s.curvature_t != 0 ? -dot(n, t0) / kt : d.slide_t;
  const S y = s.curvature_o != 0 ? -dot(n, o0) / ko : d.slide_o;
  const S drop = fma(kt * x, x, ko * y * y) / (S(1) + dot(n, n0));  // r (1 - cos) on a sphere
  const Vec3<S> p = axpy(x, t0, axpy(y, o0, axpy(drop, n0, d.scale * cast<S>(s.point))));
  Vec3<S> t = axpy(-dot(t0, n), n, t0);
  t = (S(1) / norm(t)) * t;
  Vec3<S> o = cross(n, t);
  // Tilt of the true normal: a turn by `tilt` about the tangent direction at `tilt_direction`.
  const auto lean = sincos(d.tilt);
  const auto way = sincos(d.tilt_direction);
  const Vec3<S> e = way.cos * t + way.sin * o;  // tilts toward e
  const Vec3<S> f = way.cos * o - way.sin * t;  // axis direction, unchanged
  const Vec3<S> e2 = lean.cos * e - lean.sin * n;
  n = lean.cos * n + lean.sin * e;
  t = way.cos * e2 - way.sin * f;
  o = way.sin * e2 + way.cos * f;
  ContactPlace<S> out;
  out.p = p;
  for (int i = 0; i < 3; ++i) {
    out.E(i, 0) = n[i];
    out.E(i, 1) = t[i];
    out.E(i, 2) = o[i];
  }
  return out;
}

/// Transforms from the object frame to P.
template <class S>
GARRA_HD ContactPlace<S> operator*(const Pose<S>& object, const ContactPlace<S>& c) {
  return {object.R * c.p + object.p, object.R * c.E};
}

/// The object's inertia and motion, P axes, about its center of mass.
template <class S>
struct Body {
  S mass;           ///< [kg]
  Mat3<S> inertia;  ///< [kg m^2]
  Mat3<S> inverse_inertia;
  Vec3<S> p_cm;      ///< [m]
  Vec3<S> v, omega;  ///< [m/s], [rad/s]
};

/// W_j = [E; (p - about)^ E]: contact force (n, t, o) to wrench (force; moment) about a point
/// (papers' (38), (39), taken about the center of mass, erratum to (41)).
template <class S>
GARRA_HD Mat<S, 6, 3> wrench_matrix(const ContactPlace<S>& c, const Vec3<S>& about) {
  Mat<S, 6, 3> W;
  const Vec3<S> rho = c.p - about;
  for (int k = 0; k < 3; ++k) {
    const Vec3<S> e = column(c.E, k);
    const Vec3<S> m = cross(rho, e);
    for (int i = 0; i < 3; ++i) {
      W(i, k) = e[i];
      W(i + 3, k) = m[i];
    }
  }
  return W;
}

/// Mass matrix of the object about any point, with the coupling blocks that the papers' (41) omits
/// (parallel axes). About the center of mass it is diag(m E, I).
template <class S>
GARRA_HD Mat<S, 6, 6> mass_matrix(const Body<S>& body, const Vec3<S>& about) {
  const Vec3<S> r = body.p_cm - about;
  Mat<S, 6, 6> M = Mat<S, 6, 6>::zero();
  const S hat[3][3] = {{S(0), -r[2], r[1]}, {r[2], S(0), -r[0]}, {-r[1], r[0], S(0)}};
  const S rr = dot(r, r);
  for (int i = 0; i < 3; ++i) {
    M(i, i) = body.mass;
    for (int j = 0; j < 3; ++j) {
      M(i, j + 3) = -(body.mass * hat[i][j]);
      M(i + 3, j) = body.mass * hat[i][j];
      M(i + 3, j + 3) = body.inertia(i, j) + body.mass * (S(i == j ? 1 : 0) * rr - r[i] * r[j]);
    }
  }
  return M;
}

/// M_obj^-1 W_j about the center of mass.
template <class S>
GARRA_HD Mat<S, 6, 3> inverse_mass_times(const Body<S>& body, const Mat<S, 6, 3>& W) {
  Mat<S, 6, 3> out;
  const S inv_mass = S(1) / body.mass;
  for (int k = 0; k < 3; ++k) {
    Vec3<S> m;
    for (int i = 0; i < 3; ++i) m[i] = W(i + 3, k);
    const Vec3<S> turn = body.inverse_inertia * m;
    for (int i = 0; i < 3; ++i) {
      out(i, k) = inv_mass * W(i, k);
      out(i + 3, k) = turn[i];
    }
  }
  return out;
}

}  // namespace garra::grasp
