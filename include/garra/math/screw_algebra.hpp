// Axes and pitches of screws, reciprocity, and the rigid motions that screws generate. The Lie
// product is cross() of screw.hpp. Equation numbers: docs/theory/singularity.md.
#pragma once

#include <limits>

#include "garra/core/elementary.hpp"
#include "garra/math/pose.hpp"
#include "garra/math/wrench.hpp"

namespace garra {

/// A screw as an axis and a pitch.
template <class S>
struct ScrewAxis {
  Vec3<S> direction;  ///< s, unit vector
  Vec3<S> point;      ///< p, of the axis [m]; for a pure translation: the reference point
  S pitch;            ///< h: travel by turn [m/rad]; infinite for a pure translation
};

/// (s; p x s + h s): unit screw of a revolute (h = 0) or helical joint.
template <class S>
GARRA_HD Screw<S> turn_about(const ScrewAxis<S>& axis) {
  return {axis.direction, axpy(axis.pitch, axis.direction, cross(axis.point, axis.direction))};
}
/// (0; d): unit screw of a prismatic joint.
template <class S>
GARRA_HD Screw<S> slide_along(const Vec3<S>& direction) {
  return {Vec3<S>::zero(), direction};
}

/// h = s . s0 / s . s [m/rad]; infinite for a translation.
template <class S>
GARRA_HD S screw_pitch(const Screw<S>& a) {
  using R = RealOf<S>;
  const S squares = dot(a.w, a.w);
  const MaskOf<S> slides = squares == S(R(0));
  return select(slides, S(std::numeric_limits<R>::infinity()), dot(a.w, a.v) / select(slides, S(R(1)), squares));
}

/// Axis and pitch of a screw of any magnitude; `point` is the one nearest to the reference point.
/// The zero screw gives NaN.
template <class S>
GARRA_HD ScrewAxis<S> screw_axis(const Screw<S>& a) {
  using R = RealOf<S>;
  const S squares = dot(a.w, a.w);
  const MaskOf<S> slides = squares == S(R(0));
  const S unit = S(R(1)) / select(slides, S(R(1)), squares);
  const Vec3<S> along = select(slides, a.v, a.w);
  return {(S(R(1)) / norm(along)) * along, unit * cross(a.w, a.v), screw_pitch(a)};
}

/// Klein form s_a . s0_b + s0_a . s_b: 0 where the screws are reciprocal. Unchanged by every motion of both.
template <class S>
GARRA_HD S klein_form(const Screw<S>& a, const Screw<S>& b) {
  return dot(a.w, b.v) + dot(a.v, b.w);
}

/// The same screw about the reference point c: (s; s0 - c x s).
template <class S>
GARRA_HD Screw<S> about(const Vec3<S>& c, const Screw<S>& a) {
  return {a.w, a.v - cross(c, a.w)};
}
/// The same wrench about the reference point c.
template <class S>
GARRA_HD Wrench<S> about(const Vec3<S>& c, const Wrench<S>& f) {
  return {f.force, f.moment - cross(c, f.force)};
}

/// Ad(X): the screw moved by X, or the conversion of its coordinates from B to A by X_AB.
template <class S>
GARRA_HD Screw<S> adjoint(const Pose<S>& X, const Screw<S>& a) {
  const Vec3<S> w = X.R * a.w;
  return {w, X.R * a.v + cross(X.p, w)};
}

/// The motion exp(a): a turn by |a.w| [rad] about the axis with travel pitch * |a.w|, or a
/// translation by a.v [m] if a.w = 0.
///
///     R = 1 + A [w] + B [w]^2,  p = v + B w x v + C w x (w x v),  x = w . w, t = sqrt x,
///
///     A = sin t / t,  B = (1 - cos t) / x = (sin(t/2) / (t/2))^2 / 2,  C = (1 - A) / x.                            (2)
///
/// Exact to rounding for every angle. Below 0.01 rad A, B, C are three terms of their series;
/// above, cancellation in C changes p little.
template <class S>
GARRA_HD Pose<S> exp(const Screw<S>& a) {
  using R = RealOf<S>;
  const S one = S(R(1)), x = dot(a.w, a.w);
  const MaskOf<S> small = x < S(R(1e-4));
  const S angle = sqrt(select(small, one, x));
  const SinCos<S> half = sincos(S(R(0.5)) * angle);
  const S sinc_half =
      select(small, fma(x * S(R(-1.0 / 24)), fma(x, S(R(-1.0 / 80)), one), one), S(R(2)) * half.sin / angle);
  const S A = select(small, fma(x * S(R(-1.0 / 6)), fma(x, S(R(-1.0 / 20)), one), one), sinc_half * half.cos);
  const S B = S(R(0.5)) * sinc_half * sinc_half;
  const S C = select(small, S(R(1.0 / 6)) * fma(x * S(R(-1.0 / 20)), fma(x, S(R(-1.0 / 42)), one), one),
                     (one - A) / (angle * angle));
  const Vec3<S>& w = a.w;
  const S xy = B * w[0] * w[1], yz = B * w[1] * w[2], zx = B * w[2] * w[0];
  const S xx = w[0] * w[0], yy = w[1] * w[1], zz = w[2] * w[2];
  const Mat3<S> turn = {{fnma(B, yy + zz, one), fnma(A, w[2], xy), fma(A, w[1], zx),  //
                         fma(A, w[2], xy), fnma(B, xx + zz, one), fnma(A, w[0], yz),  //
                         fnma(A, w[1], zx), fma(A, w[0], yz), fnma(B, xx + yy, one)}};
  const Vec3<S> once = cross(w, a.v);
  return {turn, axpy(C, cross(w, once), axpy(B, once, a.v))};
}

}  // namespace garra
