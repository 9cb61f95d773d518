// A and b of a = A c + b for a whole grasp (docs/theory/grasp-model.md, section 4; the papers' (21)-(24)).
#pragma once

#include "garra/systems/grasp/finger.hpp"

namespace garra::grasp {

/// Terms of one contact that its finger gives to the assembly.
template <class S>
struct ContactTerms {
  ContactPlace<S> place;
  Mat3<S> A;            ///< J M^-1 J^T
  Vec3<S> drift;        ///< J M^-1 (g + h - tau)
  Vec3<S> bias;         ///< Jdot qd of the contact point
  Vec3<S> velocity;     ///< of the contact point
  Vec<S, 2> curvature;  ///< of the object there along t and o [1/m]; used only if the contact slides
};

/// The velocity part of b at one contact: E^T [omega x (v_f - v_cm) - Jdot qd]. The n row adds ndot
/// . v with v the object's surface velocity relative to the finger. The normal at a point finger
/// turns with the object and along its surface: ndot = omega x n + (k_t v_t) t + (k_o v_o) o. On a
/// sphere this is (v_cm - v_f)_T / r (the papers' (11)).
template <class S>
GARRA_HD Vec3<S> velocity_term(const Body<S>& body, const ContactTerms<S>& c) {
  const Vec3<S> u = body.v - c.velocity;
  const Vec3<S> a = cross(body.omega, -u) - c.bias;
  Vec3<S> b = transpose_times(c.place.E, a);
  const Vec3<S> rel = body.v + cross(body.omega, c.place.p - body.p_cm) - c.velocity;
  const Vec3<S> n = column(c.place.E, 0);
  const Vec3<S> v = transpose_times(c.place.E, axpy(-dot(rel, n), n, rel));
  const Vec3<S> turning = transpose_times(c.place.E, cross(body.omega, n));
  for (int k = 0; k < 2; ++k) b[0] = fma(fma(c.curvature[k], v[k + 1], turning[k + 1]), v[k + 1], b[0]);
  return b;
}

/// A and b of a grasp: A = W^T M_obj^-1 W + blockdiag(J M^-1 J^T), and b = b_vel + W^T M_obj^-1 (m
/// g + w) + J M^-1 (g_m + h_m - tau), the object's gyroscopic term included in w. D: numbers of a
/// contact's force (solvers/friction_problem.hpp); Matrix: type of its matrix.
template <class S, int N, int D = 3, class Matrix = Mat<S, D * N, D * N>>
struct System {
  Matrix A;
  Vec<S, D * N> b;
  Mat<S, 6, D * N> W;               ///< about the center of mass
  Mat<S, 6, D * N> inverse_mass_W;  ///< M_obj^-1 W
};

/// Sets W and M_obj^-1 W of a system.
template <class S, int N, class Matrix>
GARRA_HD void set_wrenches(const Body<S>& body, const ContactTerms<S> (&contacts)[kCapacity<N>],
                           System<S, N, 3, Matrix>& out) {
  for_each_index<N>([&](auto j) {
    const Mat<S, 6, 3> W = wrench_matrix(contacts[j].place, body.p_cm);
    const Mat<S, 6, 3> X = inverse_mass_times(body, W);
    for (int r = 0; r < 6; ++r)
      for (int k = 0; k < 3; ++k) {
        out.W(r, 3 * j + k) = W(r, k);
        out.inverse_mass_W(r, 3 * j + k) = X(r, k);
      }
  });
}

/// Assembles into `out`, whose matrix may be stored anywhere.
template <class S, int N, class Matrix>
GARRA_HD void assemble(const Body<S>& body, const ContactTerms<S> (&contacts)[kCapacity<N>], const Vec<S, 6>& wrench,
                       const Vec3<double>& gravity, bool moving, System<S, N, 3, Matrix>& out) {
  set_wrenches(body, contacts, out);
  Vec<S, 6> load = wrench;
  for (int i = 0; i < 3; ++i) load[i] = fma(body.mass, S(gravity[i]), load[i]);
  if (moving) {
    const Vec3<S> gyroscopic = cross(body.omega, body.inertia * body.omega);
    for (int i = 0; i < 3; ++i) load[i + 3] -= gyroscopic[i];
  }
  for (int j = 0; j < extent<N>(); ++j) {
    const Vec3<S> v = moving ? velocity_term(body, contacts[j]) : Vec3<S>::zero();
    for (int k = 0; k < 3; ++k) {
      S sum = contacts[j].drift[k] + v[k];
      for (int r = 0; r < 6; ++r) sum = fma(out.inverse_mass_W(r, 3 * j + k), load[r], sum);
      out.b[3 * j + k] = sum;
    }
  }
  // Last, so that a GPU thread does not hold it beside the terms of b; in registers if they
  // suffice.
#if defined(__CUDA_ARCH__)
#pragma unroll(N > 4 ? 1 : 3 * N)
#endif
  for (int r = 0; r < extent<3 * N>(); ++r)
#if defined(__CUDA_ARCH__)
#pragma unroll(N > 4 ? 1 : 3 * N)
#endif
    for (int c = r; c < extent<3 * N>(); ++c) {
      S sum = out.W(0, r) * out.inverse_mass_W(0, c);
      for (int k = 1; k < 6; ++k) sum = fma(out.W(k, r), out.inverse_mass_W(k, c), sum);
      if (r / 3 == c / 3) sum += contacts[r / 3].A(r % 3, c % 3);
      out.A(r, c) = sum;
      out.A(c, r) = sum;
    }
}
template <class S, int N>
GARRA_HD System<S, N> assemble(const Body<S>& body, const ContactTerms<S> (&contacts)[kCapacity<N>],
                               const Vec<S, 6>& wrench, const Vec3<double>& gravity, bool moving) {
  System<S, N> out;
  assemble(body, contacts, wrench, gravity, moving, out);
  return out;
}

}  // namespace garra::grasp
