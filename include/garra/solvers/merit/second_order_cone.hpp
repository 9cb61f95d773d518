// Friction contact as a merit function on the cone itself (docs/theory/friction-merit.md): 3 unknowns a contact.
//
//   x = (mu c_n, c_T),   y = (a_n + mu |a_T|, mu a_T),   a = A c + b:   K ∋ x ⟂ y ∈ K = { |x_T| <= x_0 }           (1)
//
//   phi(x, y) = x + y - (x∘x + y∘y)^(1/2),   f(c) = sum_j |phi(x_j, y_j)|^2   on c_n >= 0                         (2)
//
// (1) is Coulomb's law in De Saxcé's form, with ∘ the product of the cone's Jordan algebra: (x∘y)_0 = x'y,
// (x∘y)_T = x_0 y_T + y_0 x_T. phi is its Fischer-Burmeister function, zero exactly where (1) holds (M. Fukushima,
// Z.-Q. Luo, P. Tseng, SIAM J. Optim. 12 (2001) 436-460).
// A contact without friction has the rows phi(c_n, a_n) of numbers, c_t, c_o.
#pragma once

#include "garra/solvers/friction_merit.hpp"

namespace garra::solvers {

namespace cone_merit {

/// phi of (2) and its derivatives. At x = y = 0, where there is none, the element of the generalized Jacobian in the
/// direction x = y = (1, 0); where w is on the boundary of the cone, a point next to it.
template <class S>
struct Phi {
  Vec3<S> value;
  Mat<S, 3, 3> dx, dy;
};

template <class S>
struct Root {
  Vec3<S> w;       ///< (x∘x + y∘y)^(1/2)
  S small, large;  ///< its spectral values
};

/// The square root, from the spectral values of x∘x + y∘y. With its direction e the smaller one is a sum of squares,
/// (z_0 - z_T'e)^2 + |z_T - (z_T'e) e|^2 over z = x, y, which does not cancel.
template <class S>
GARRA_HD Root<S> root(const Vec3<S>& x, const Vec3<S>& y) {
  const S qt = S(2) * fma(x[0], x[1], y[0] * y[1]), qo = S(2) * fma(x[0], x[2], y[0] * y[2]);
  const S m = sqrt(fma(qt, qt, qo * qo)), inverse = S(1) / select(m > S(0), m, S(1));
  const S et = select(m > S(0), qt * inverse, S(1)), eo = qo * inverse;
  const auto part = [&](const Vec3<S>& z) {
    const S along = z[0] - fma(z[1], et, z[2] * eo), across = fma(z[1], eo, -(z[2] * et));
    return fma(along, along, across * across);
  };
  const S low = part(x) + part(y);
  Root<S> out;
  out.small = sqrt(low);
  out.large = sqrt(fma(S(2), m, low));
  const S sum = out.small + out.large, over = S(1) / select(sum > S(0), sum, S(1));
  out.w = vec3<S>(S(0.5) * sum, qt * over, qo * over);
  return out;
}

template <class S>
GARRA_HD Vec3<S> value(const Vec3<S>& x, const Vec3<S>& y) {
  return (x + y) - root(x, y).w;
}

/// 1 - L_w^-1 L_x, with (L_x v) = x∘v.
template <class S>
GARRA_HD Mat<S, 3, 3> slope(const Root<S>& r, const Vec3<S>& x) {
  const auto apex = !(r.large > S(0));
  const S w0 = select(apex, S(1), r.w[0]);
  // On the boundary the numerators vanish with the smaller value.
  const S det = select(apex, S(1), max(r.small, S(1e-12) * r.large) * r.large), inverse = S(1) / det;
  const S over = S(1) / w0;
  Mat<S, 3, 3> D;
  for_each_index<3>([&](int k) {
    const S v0 = x[k], vt = k == 0 ? x[1] : (k == 1 ? x[0] : S(0)), vo = k == 0 ? x[2] : (k == 2 ? x[0] : S(0));
    const S u0 = (w0 * v0 - fma(r.w[1], vt, r.w[2] * vo)) * inverse;
    const S kink = k == 0 ? S(0.70710678118654752) : S(0);
    D(0, k) = (k == 0 ? S(1) : S(0)) - select(apex, kink, u0);
    D(1, k) = (k == 1 ? S(1) : S(0)) - select(apex, k == 1 ? S(0.70710678118654752) : S(0), (vt - u0 * r.w[1]) * over);
    D(2, k) = (k == 2 ? S(1) : S(0)) - select(apex, k == 2 ? S(0.70710678118654752) : S(0), (vo - u0 * r.w[2]) * over);
  });
  return D;
}

template <class S>
GARRA_HD Phi<S> phi(const Vec3<S>& x, const Vec3<S>& y) {
  const Root<S> r = root(x, y);
  return {(x + y) - r.w, slope(r, x), slope(r, y)};
}

}  // namespace cone_merit

/// The forces alone, contact-major, as unknowns; A, b and mu are already scaled (friction_scale).
template <int N>
struct ConeFriction {
  static constexpr int kComplementary = 0, kFree = 3 * N, kSize = 3 * N;
  template <class S>
  using Data = FrictionProblem<S, N>;

  template <class S>
  static GARRA_HD const Vec<S, kSize>& forces(const Vec<S, kSize>& c) {
    return c;
  }
  template <class S>
  static GARRA_HD S error(const Data<S>& d, const Vec<S, kSize>& c) {
    return friction_merit::force_error(d, c);
  }
  /// The guess itself: the function has no stationary point at the apex of the cone.
  template <class S>
  static GARRA_HD Vec<S, kSize> interior(const Data<S>&, const Vec<S, 3 * N>& c) {
    return c;
  }
  template <class S>
  static GARRA_HD Vec<S, kSize> unknowns(const Data<S>&, const Vec<S, 3 * N>& c) {
    return c;
  }
  template <class S>
  static GARRA_HD Vec<S, kSize> start(const Data<S>& d, const Vec<S, kSize>&, const S& k) {
    return friction_merit::spread_force(d, k);
  }
};

/// The merit function (2).
struct SecondOrderConeMerit {
  template <int N>
  using Friction = ConeFriction<N>;

  template <class P, class T>
  struct View {
    using Scalar = T;
    static constexpr int kVariables = P::kSize, kResiduals = P::kSize;
    const typename P::template Data<T>& data;
    GARRA_HD explicit View(const typename P::template Data<T>& d) : data(d) {}

    static GARRA_HD double lower(int i) { return i % 3 == 0 ? 0.0 : -kInfinite; }
    static GARRA_HD double upper(int) { return kInfinite; }
    GARRA_HD Vec<T, kVariables> lift(const Vec<T, kVariables>& c) const { return c; }

    GARRA_HD Vec<T, kResiduals> residual(const Vec<T, kVariables>& c) const {
      Vec<T, kResiduals> r = data.A * c + data.b;
      for (int j = 0; j < extent<kVariables>() / 3; ++j) {
        const Pair p = pair(c, r, j);
        const Vec3<T> f = select(p.rubs, cone_merit::value(p.x, p.y), p.plain);
        for_each_index<3>([&](int i) { r[3 * j + i] = f[i]; });
      }
      return r;
    }
    GARRA_HD Mat<T, kResiduals, kVariables> jacobian(const Vec<T, kVariables>& c) const {
      Mat<T, kResiduals, kVariables> J;
      const Vec<T, kResiduals> a = data.A * c + data.b;
      for (int j = 0; j < extent<kVariables>() / 3; ++j) {
        const Pair p = pair(c, a, j);
        const cone_merit::Phi<T> f = cone_merit::phi(p.x, p.y);
        const auto scalar = FischerBurmeisterMerit::phi(c[3 * j], a[3 * j]);
        // By a: phi_y times the derivative of y, which is (1, mu e'; 0, mu 1).
        Mat<T, 3, 3> by_a;
        for_each_index<3>([&](int i) {
          by_a(i, 0) = select(p.rubs, f.dy(i, 0), i == 0 ? scalar.db : T(0));
          for_each_index<2>([&](int k) { by_a(i, k + 1) = p.mu * fma(f.dy(i, 0), p.e[k], f.dy(i, k + 1)); });
        });
        for (int k = 0; k < extent<kVariables>(); ++k)
          for_each_index<3>([&](int i) {
            J(3 * j + i, k) = fma(by_a(i, 0), data.A(3 * j, k),
                                  fma(by_a(i, 1), data.A(3 * j + 1, k), by_a(i, 2) * data.A(3 * j + 2, k)));
          });
        for_each_index<3>([&](int i) {
          J(3 * j + i, 3 * j) += select(p.rubs, p.mu * f.dx(i, 0), i == 0 ? scalar.da : T(0));
          for_each_index<2>(
              [&](int k) { J(3 * j + i, 3 * j + k + 1) += select(p.rubs, f.dx(i, k + 1), i == k + 1 ? T(1) : T(0)); });
        });
      }
      return J;
    }
    /// None: minimizers use the Gauss-Newton part of the Hessian.
    GARRA_HD void add_curvature(const Vec<T, kVariables>&, const Vec<T, kResiduals>&,
                                Mat<T, kVariables, kVariables>&) const {}

   private:
    struct Pair {
      Vec3<T> x, y, plain;  ///< plain: (phi(c_n, a_n), c_t, c_o), without friction
      T mu;
      Vec<T, 2> e;  ///< a_T / |a_T|, zero where a_T is
      MaskOf<T> rubs;
    };
    GARRA_HD Pair pair(const Vec<T, kVariables>& c, const Vec<T, kResiduals>& a, int j) const {
      const T mu = max(data.mu[j], T(0)), at = a[3 * j + 1], ao = a[3 * j + 2];
      const T speed = sqrt(fma(at, at, ao * ao)),
              over = select(speed > T(0), T(1) / select(speed > T(0), speed, T(1)), T(0));
      return {vec3<T>(mu * c[3 * j], c[3 * j + 1], c[3 * j + 2]),
              vec3<T>(fma(mu, speed, a[3 * j]), mu * at, mu * ao),
              vec3<T>(FischerBurmeisterMerit::phi(c[3 * j], a[3 * j]).value, c[3 * j + 1], c[3 * j + 2]),
              mu,
              {{over * at, over * ao}},
              data.mu[j] > T(0)};
    }
  };
};

}  // namespace garra::solvers
