// Friction contact by minimizing a merit function on a box, as in the papers
// (docs/theory/friction-merit.md): their rolling contacts (29)-(36) as a mixed complementarity
// problem for mncp.hpp, and a solver templated on merit function and minimizer.
//
//   u = (c_n, lambda),   F = (A_n c + b_n,  s = mu^2 c_n^2 - c_t^2 - c_o^2)                                      (1)
//
//   v = (c_t, c_o, a_t, a_o),   G = (mu c_n a_t + c_t lambda,  mu c_n a_o + c_o lambda,  a_T - A_T c - b_T)      (2)
//
// A contact without friction (mu = 0; also a sliding one after eliminate_sliding) has s = -|c_T|^2
// and undetermined lambda. Its rows of s and of friction become s = 1, c_t = 0, c_o = 0.
#pragma once

#include "garra/solvers/friction_newton.hpp"
#include "garra/solvers/mncp.hpp"
#include "garra/solvers/projected_lm.hpp"

namespace garra::solvers {

/// The papers' problem: x is direction-major, as in the papers; A, b and mu stay contact-major and
/// are already scaled (friction_scale).
template <int N>
struct FrictionMncp {
  static constexpr int kComplementary = 2 * N, kFree = 4 * N, kSize = 6 * N;
  template <class S>
  using Data = FrictionProblem<S, N>;

  /// Indices of the unknowns of contact j, and of the rows of F and G.
  static GARRA_HD constexpr int c_n(int j) { return j; }
  static GARRA_HD constexpr int lambda(int j) { return extent<N>() + j; }
  static GARRA_HD constexpr int c_t(int j) { return extent<2 * N>() + j; }
  static GARRA_HD constexpr int c_o(int j) { return extent<3 * N>() + j; }
  static GARRA_HD constexpr int a_t(int j) { return extent<4 * N>() + j; }
  static GARRA_HD constexpr int a_o(int j) { return extent<5 * N>() + j; }
  /// Component i (n, t, o) of the force at contact j.
  static GARRA_HD constexpr int force(int i, int j) { return i == 0 ? j : (i + 1) * extent<N>() + j; }

  template <class S, class X>
  static GARRA_HD Vec<X, kSize> evaluate(const Data<S>& d, const Vec<X, kSize>& x) {
    Vec<X, kSize> y;
    for (int j = 0; j < extent<N>(); ++j) {
      Vec3<X> a = vec3<X>(X(d.b[3 * j]), X(d.b[3 * j + 1]), X(d.b[3 * j + 2]));
      for (int k = 0; k < extent<3 * N>(); ++k)
        for_each_index<3>([&](int i) { a[i] = fma(d.A(3 * j + i, k), x[force(k % 3, k / 3)], a[i]); });
      const X limit = d.mu[j] * x[c_n(j)], t = x[c_t(j)], o = x[c_o(j)];
      const auto rubs = d.mu[j] > S(0);
      y[c_n(j)] = a[0];
      y[lambda(j)] = select(rubs, fma(limit, limit, -fma(t, t, o * o)), X(1));
      y[c_t(j)] = select(rubs, fma(limit, x[a_t(j)], t * x[lambda(j)]), t);
      y[c_o(j)] = select(rubs, fma(limit, x[a_o(j)], o * x[lambda(j)]), o);
      y[a_t(j)] = x[a_t(j)] - a[1];
      y[a_o(j)] = x[a_o(j)] - a[2];
    }
    return y;
  }

  template <class S>
  static GARRA_HD Mat<S, kSize, kSize> jacobian(const Data<S>& d, const Vec<S, kSize>& x) {
    auto J = Mat<S, kSize, kSize>::zero();
    for (int j = 0; j < extent<N>(); ++j) {
      for (int k = 0; k < extent<3 * N>(); ++k) {
        const int column = force(k % 3, k / 3);
        J(c_n(j), column) = d.A(3 * j, k);
        J(a_t(j), column) = -d.A(3 * j + 1, k);
        J(a_o(j), column) = -d.A(3 * j + 2, k);
      }
      const S mu = max(d.mu[j], S(0)), rubs = select(d.mu[j] > S(0), S(1), S(0));
      const S limit = mu * x[c_n(j)];
      J(lambda(j), c_n(j)) = S(2) * mu * limit;
      J(lambda(j), c_t(j)) = S(-2) * rubs * x[c_t(j)];
      J(lambda(j), c_o(j)) = S(-2) * rubs * x[c_o(j)];
      J(c_t(j), c_n(j)) = mu * x[a_t(j)];
      J(c_o(j), c_n(j)) = mu * x[a_o(j)];
      J(c_t(j), a_t(j)) = J(c_o(j), a_o(j)) = limit;
      J(c_t(j), lambda(j)) = rubs * x[c_t(j)];
      J(c_o(j), lambda(j)) = rubs * x[c_o(j)];
      J(c_t(j), c_t(j)) = J(c_o(j), c_o(j)) = select(rubs > S(0), x[lambda(j)], S(1));
      J(a_t(j), a_t(j)) = J(a_o(j), a_o(j)) = S(1);
    }
    return J;
  }

  template <class S>
  static GARRA_HD void add_curvature(const Data<S>& d, const Vec<S, kSize>&, const Vec<S, kSize>& w,
                                     Mat<S, kSize, kSize>& H) {
    const auto add = [&](int i, int k, const S& value) {
      H(i, k) += value;
      H(k, i) += value;
    };
    for (int j = 0; j < extent<N>(); ++j) {
      const S mu = max(d.mu[j], S(0)), rubs = select(d.mu[j] > S(0), S(1), S(0));
      H(c_n(j), c_n(j)) += S(2) * mu * mu * w[lambda(j)];
      H(c_t(j), c_t(j)) -= S(2) * rubs * w[lambda(j)];
      H(c_o(j), c_o(j)) -= S(2) * rubs * w[lambda(j)];
      add(c_n(j), a_t(j), mu * w[c_t(j)]);
      add(c_n(j), a_o(j), mu * w[c_o(j)]);
      add(c_t(j), lambda(j), rubs * w[c_t(j)]);
      add(c_o(j), lambda(j), rubs * w[c_o(j)]);
    }
  }

  /// Forces of these unknowns, or of the first 4 N of them.
  template <class S, int V>
  static GARRA_HD Vec<S, 3 * N> forces(const Vec<S, V>& x) {
    Vec<S, 3 * N> c;
    for (int k = 0; k < extent<3 * N>(); ++k) c[k] = x[force(k % 3, k / 3)];
    return c;
  }

  template <class S>
  static GARRA_HD S error(const Data<S>& d, const Vec<S, kSize>& x);

  /// How far inside of the bounds interior() is, in scaled units (largest |b| and largest A_ii are 1).
  struct Depth {
    double normal = 0.1;  ///< c_n >= this part of the largest
    double cone = 0.9;    ///< factor on c_T
    double lambda = 0.3;  ///< lambda = max(|a_T|, this)
  };
  /// J'w, without J.
  template <class S>
  static GARRA_HD Vec<S, kSize> pull_back(const Data<S>& d, const Vec<S, kSize>& x, const Vec<S, kSize>& w);

  /// Unknowns around a guessed force, in the interior. At c = 0, lambda = 0 the rows of s and of
  /// friction have no gradient and every merit function has a stationary point; starts on the
  /// boundary run into it.
  template <class S>
  static GARRA_HD Vec<S, kSize> interior(const Data<S>& d, Vec<S, 3 * N> c, const Depth& depth = {});
  /// Unknowns of a force: a_T = A_T c + b_T, lambda = |a_T|.
  template <class S>
  static GARRA_HD Vec<S, kSize> unknowns(const Data<S>& d, const Vec<S, 3 * N>& c);

  /// Further starts, k = 1, 2, ...: forces spread in the cones, a sweep, the interior.
  template <class S>
  static GARRA_HD Vec<S, kSize> start(const Data<S>& d, const Vec<S, kSize>& x0, const S& k);
};

namespace friction_merit {

/// Relative change of the load of the force alone, with a = A c + b recomputed.
template <class S, int N>
GARRA_HD S force_error(const FrictionProblem<S, N>& d, const Vec<S, 3 * N>& c) {
  return check_iterate(d, load_scale(d), c, d.A * c + d.b, 1).error;
}

inline constexpr double kRegularized = 1e-8;  ///< added to the diagonal of A for the stick force, in case A is singular
inline constexpr double kUseful = 10;         ///< a stick force with a larger entry is not used
inline constexpr double kSpread = 3;          ///< further starts: normal forces from 0 to kSpread / A_nn
inline constexpr int kSweeps = 3;             ///< sweeps of projected Gauss-Seidel in the first start, if it has them
inline constexpr int kSpreadSweeps = 1;       ///< the same in further starts

/// -A^-1 b, refined once, projected on the cones; zero if it is not useful.
template <class S, int N>
GARRA_HD Vec<S, 3 * N> stick_force(const FrictionProblem<S, N>& p) {
  Mat<S, 3 * N, 3 * N> A = p.A;
  for (int i = 0; i < extent<3 * N>(); ++i) A(i, i) += S(kRegularized);
  const auto factors = factor_ldlt(A);
  Vec<S, 3 * N> c = solve(factors, -p.b);
  c = c - solve(factors, p.A * c + p.b);
  S largest = S(0);
  for (int i = 0; i < extent<3 * N>(); ++i) largest = max(largest, abs(c[i]));
  const auto useful = largest <= S(kUseful);
  for (int j = 0; j < extent<N>(); ++j) {
    const Vec3<S> cj = project_on_cone(contact<S, N>(c, j), p.mu[j]);
    for (int i = 0; i < 3; ++i) c[3 * j + i] = select(useful, cj[i], S(0));
  }
  return c;
}

/// Sweeps of projected Gauss-Seidel.
template <class S, int N>
GARRA_HD Vec<S, 3 * N> sweep(const FrictionProblem<S, N>& p, Vec<S, 3 * N> c, int sweeps) {
  FrictionState<S, N> s;
  s.problem = p;
  for (int j = 0; j < extent<N>(); ++j) {
    const auto rho = friction_newton::diagonal_rho<S, N>(p.A, j);
    s.rho_n[j] = rho.n / friction_newton::normal_share(p.mu[j]);
    s.rho_t[j] = rho.t;
  }
  for (int k = 0; k < sweeps; ++k) c = friction_newton::sweep<S, N>(s, c);
  return c;
}

/// Fractional part of a number from 0 to 1e15.
template <class S>
GARRA_HD S fraction(const S& a) {
  const S rest = a - ((a + S(0x1p52)) - S(0x1p52));  // minus the nearest whole number
  return select(rest < S(0), rest + S(1), rest);
}

/// Force of the k-th further start: normal forces and, inside the cones, tangential ones spread by Weyl sequences, then
/// a sweep.
template <class S, int N>
GARRA_HD Vec<S, 3 * N> spread_force(const FrictionProblem<S, N>& d, const S& k) {
  Vec<S, 3 * N> c = Vec<S, 3 * N>::zero();
  for (int j = 0; j < extent<N>(); ++j) {
    const auto spread = [&](double step, double by_contact) { return fraction(fma(k, S(step), S(by_contact * j))); };
    const S w = spread(0.6180339887498949, 0.7548776662466927);
    c[3 * j] = S(kSpread) * (w * w * w) * friction_newton::diagonal_rho<S, N>(d.A, j).n;
    const S limit = S(1.4142135623730951) * max(d.mu[j], S(0)) * c[3 * j];  // of the square inside of the circle, twice
    c[3 * j + 1] = limit * (spread(0.5698402909980532, 0.4) - S(0.5));
    c[3 * j + 2] = limit * (spread(0.4142135623730951, 0.3) - S(0.5));
  }
  return sweep<S, N>(d, c, kSpreadSweeps);
}

}  // namespace friction_merit

template <int N>
template <class S>
GARRA_HD S FrictionMncp<N>::error(const Data<S>& d, const Vec<S, kSize>& x) {
  return friction_merit::force_error(d, forces(x));
}

template <int N>
template <class S>
GARRA_HD Vec<S, FrictionMncp<N>::kSize> FrictionMncp<N>::interior(const Data<S>& d, Vec<S, 3 * N> c,
                                                                  const Depth& depth) {
  S largest = S(0), trace = S(0);
  for (int j = 0; j < extent<N>(); ++j) largest = max(largest, c[3 * j]);
  for (int i = 0; i < extent<3 * N>(); ++i) trace += d.A(i, i);
  const S guess = norm(d.b) * S(extent<3 * N>()) / select(trace > S(0), trace, S(1));  // |b| over the mean of A_ii
  const S least = select(largest > S(0), S(depth.normal) * largest, guess);
  for (int j = 0; j < extent<N>(); ++j) {
    c[3 * j] = max(c[3 * j], least);
    for (int i = 1; i < 3; ++i) c[3 * j + i] = S(depth.cone) * c[3 * j + i];
  }
  Vec<S, kSize> x = unknowns(d, c);
  for (int j = 0; j < extent<N>(); ++j) x[lambda(j)] = max(x[lambda(j)], S(depth.lambda));
  return x;
}

template <int N>
template <class S>
GARRA_HD Vec<S, FrictionMncp<N>::kSize> FrictionMncp<N>::unknowns(const Data<S>& d, const Vec<S, 3 * N>& c) {
  const Vec<S, 3 * N> a = d.A * c + d.b;
  Vec<S, kSize> x;
  for (int j = 0; j < extent<N>(); ++j) {
    const S t = a[3 * j + 1], o = a[3 * j + 2];
    for (int i = 0; i < 3; ++i) x[force(i, j)] = c[3 * j + i];
    x[a_t(j)] = t;
    x[a_o(j)] = o;
    x[lambda(j)] = sqrt(fma(t, t, o * o));
  }
  return x;
}

namespace friction_merit {

/// What the rows of s and of friction of contact j add to J'w, a_T being a variable or not; `along` is A'w by the rows
/// of a_n and a_T, at this contact.
template <class Unknowns, class S, int V>
GARRA_HD void pull_back_contact(int j, S mu, const Vec3<S>& along, const Vec<S, 2>& a_T, const Vec<S, V>& x,
                                const Vec<S, V>& w, Vec<S, V>& g) {
  const S rubs = select(mu > S(0), S(1), S(0));
  mu = max(mu, S(0));
  const int n = Unknowns::c_n(j), l = Unknowns::lambda(j), t = Unknowns::c_t(j), o = Unknowns::c_o(j);
  const S own = select(rubs > S(0), x[l], S(1)), twice = S(2) * w[l];
  g[n] = fma(mu, fma(twice * mu, x[n], fma(a_T[0], w[t], a_T[1] * w[o])), along[0]);
  g[l] = rubs * fma(x[t], w[t], x[o] * w[o]);
  g[t] = fma(own, w[t], along[1]) - rubs * (twice * x[t]);
  g[o] = fma(own, w[o], along[2]) - rubs * (twice * x[o]);
}

}  // namespace friction_merit

template <int N>
template <class S>
GARRA_HD Vec<S, FrictionMncp<N>::kSize> FrictionMncp<N>::pull_back(const Data<S>& d, const Vec<S, kSize>& x,
                                                                   const Vec<S, kSize>& w) {
  Vec<S, 3 * N> rows;
  for (int j = 0; j < extent<N>(); ++j) {
    rows[3 * j] = w[c_n(j)];
    rows[3 * j + 1] = -w[a_t(j)];
    rows[3 * j + 2] = -w[a_o(j)];
  }
  const Vec<S, 3 * N> along = transpose_times(d.A, rows);
  Vec<S, kSize> g;
  for (int j = 0; j < extent<N>(); ++j) {
    friction_merit::pull_back_contact<FrictionMncp>(j, d.mu[j], contact<S, N>(along, j),
                                                    Vec<S, 2>{{x[a_t(j)], x[a_o(j)]}}, x, w, g);
    const S limit = max(d.mu[j], S(0)) * x[c_n(j)];
    g[a_t(j)] = fma(limit, w[c_t(j)], w[a_t(j)]);
    g[a_o(j)] = fma(limit, w[c_o(j)], w[a_o(j)]);
  }
  return g;
}

template <int N>
template <class S>
GARRA_HD Vec<S, FrictionMncp<N>::kSize> FrictionMncp<N>::start(const Data<S>& d, const Vec<S, kSize>&, const S& k) {
  return interior(d, friction_merit::spread_force(d, k));
}

/// The same with a_T = A_T c + b_T put into G, for merit functions without slack variables: the first 4 N of the
/// unknowns (c_n; lambda; c_t; c_o), and of the rows. Its Jacobian is smaller, its Hessian fuller.
template <int N>
struct EliminatedFriction {
  using Full = FrictionMncp<N>;
  static constexpr int kComplementary = 2 * N, kFree = 2 * N, kSize = 4 * N;
  template <class S>
  using Data = FrictionProblem<S, N>;

  template <class S, class X>
  static GARRA_HD Vec<X, kSize> evaluate(const Data<S>& d, const Vec<X, kSize>& x) {
    const Vec<X, 3 * N> a = accelerations(d, x);
    Vec<X, kSize> y;
    for (int j = 0; j < extent<N>(); ++j) {
      const X limit = d.mu[j] * x[Full::c_n(j)], t = x[Full::c_t(j)], o = x[Full::c_o(j)], l = x[Full::lambda(j)];
      const auto rubs = d.mu[j] > S(0);
      y[Full::c_n(j)] = a[3 * j];
      y[Full::lambda(j)] = select(rubs, fma(limit, limit, -fma(t, t, o * o)), X(1));
      y[Full::c_t(j)] = select(rubs, fma(limit, a[3 * j + 1], t * l), t);
      y[Full::c_o(j)] = select(rubs, fma(limit, a[3 * j + 2], o * l), o);
    }
    return y;
  }

  template <class S>
  static GARRA_HD Mat<S, kSize, kSize> jacobian(const Data<S>& d, const Vec<S, kSize>& x) {
    auto J = Mat<S, kSize, kSize>::zero();
    const Vec<S, 3 * N> a = accelerations(d, x);
    for (int j = 0; j < extent<N>(); ++j) {
      const S mu = max(d.mu[j], S(0)), rubs = select(d.mu[j] > S(0), S(1), S(0)), limit = mu * x[Full::c_n(j)];
      for (int k = 0; k < extent<3 * N>(); ++k) {
        const int column = Full::force(k % 3, k / 3);
        J(Full::c_n(j), column) = d.A(3 * j, k);
        J(Full::c_t(j), column) = limit * d.A(3 * j + 1, k);
        J(Full::c_o(j), column) = limit * d.A(3 * j + 2, k);
      }
      J(Full::lambda(j), Full::c_n(j)) = S(2) * mu * limit;
      J(Full::lambda(j), Full::c_t(j)) = S(-2) * rubs * x[Full::c_t(j)];
      J(Full::lambda(j), Full::c_o(j)) = S(-2) * rubs * x[Full::c_o(j)];
      const S own = select(rubs > S(0), x[Full::lambda(j)], S(1));
      for_each_index<2>([&](int i) {
        const int row = Full::force(i + 1, j);
        J(row, Full::c_n(j)) += mu * a[3 * j + 1 + i];
        J(row, row) += own;
        J(row, Full::lambda(j)) = rubs * x[row];
      });
    }
    return J;
  }

  template <class S>
  static GARRA_HD void add_curvature(const Data<S>& d, const Vec<S, kSize>&, const Vec<S, kSize>& w,
                                     Mat<S, kSize, kSize>& H) {
    for (int j = 0; j < extent<N>(); ++j) {
      const S mu = max(d.mu[j], S(0)), rubs = select(d.mu[j] > S(0), S(1), S(0));
      const int n = Full::c_n(j), l = Full::lambda(j);
      H(n, n) += S(2) * mu * mu * w[l];
      for_each_index<2>([&](int i) {
        const int row = Full::force(i + 1, j);
        H(row, row) -= S(2) * rubs * w[l];
        H(row, l) += rubs * w[row];
        H(l, row) += rubs * w[row];
        for (int k = 0; k < extent<3 * N>(); ++k) {
          const int column = Full::force(k % 3, k / 3);
          const S value = mu * w[row] * d.A(3 * j + 1 + i, k);
          H(n, column) += value;
          H(column, n) += value;
        }
      });
    }
  }

  /// J'w, without J.
  template <class S>
  static GARRA_HD Vec<S, kSize> pull_back(const Data<S>& d, const Vec<S, kSize>& x, const Vec<S, kSize>& w) {
    const Vec<S, 3 * N> a = accelerations(d, x);
    Vec<S, 3 * N> rows;
    for (int j = 0; j < extent<N>(); ++j) {
      const S limit = max(d.mu[j], S(0)) * x[Full::c_n(j)];
      rows[3 * j] = w[Full::c_n(j)];
      rows[3 * j + 1] = limit * w[Full::c_t(j)];
      rows[3 * j + 2] = limit * w[Full::c_o(j)];
    }
    const Vec<S, 3 * N> along = transpose_times(d.A, rows);
    Vec<S, kSize> g;
    for (int j = 0; j < extent<N>(); ++j)
      friction_merit::pull_back_contact<Full>(j, d.mu[j], contact<S, N>(along, j),
                                              Vec<S, 2>{{a[3 * j + 1], a[3 * j + 2]}}, x, w, g);
    return g;
  }

  template <class S>
  static GARRA_HD Vec<S, 3 * N> forces(const Vec<S, kSize>& x) {
    return Full::forces(x);
  }
  template <class S>
  static GARRA_HD S error(const Data<S>& d, const Vec<S, kSize>& x) {
    return friction_merit::force_error(d, forces(x));
  }
  template <class S>
  static GARRA_HD Vec<S, kSize> interior(const Data<S>& d, const Vec<S, 3 * N>& c) {
    // Measured: the Fischer-Burmeister function takes nearly half of the iterations nearer to the bounds, products
    // more.
    return head(Full::interior(d, c, {.normal = 0.01, .cone = 0.99, .lambda = 0.1}));
  }
  template <class S>
  static GARRA_HD Vec<S, kSize> unknowns(const Data<S>& d, const Vec<S, 3 * N>& c) {
    return head(Full::unknowns(d, c));
  }
  template <class S>
  static GARRA_HD Vec<S, kSize> start(const Data<S>& d, const Vec<S, kSize>&, const S& k) {
    return interior(d, friction_merit::spread_force(d, k));
  }

 private:
  template <class S>
  static GARRA_HD Vec<S, kSize> head(const Vec<S, Full::kSize>& full) {
    Vec<S, kSize> x;
    for_each_index<kSize>([&](int i) { x[i] = full[i]; });
    return x;
  }
  template <class S, class X>
  static GARRA_HD Vec<X, 3 * N> accelerations(const Data<S>& d, const Vec<X, kSize>& x) {
    const Vec<X, 3 * N> c = Full::forces(x);
    Vec<X, 3 * N> a;
    for_each_index<3 * N>([&](int i) {
      a[i] = X(d.b[i]);
      for (int k = 0; k < extent<3 * N>(); ++k) a[i] = fma(d.A(i, k), c[k], a[i]);
    });
    return a;
  }
};

namespace friction_merit {

/// The contact problem in the unknowns of a merit function: its own Friction, else the papers'.
template <class Merit, int N>
struct ProblemOf : std::type_identity<FrictionMncp<N>> {};
template <class Merit, int N>
requires requires { typename Merit::template Friction<N>; }
struct ProblemOf<Merit, N> : std::type_identity<typename Merit::template Friction<N>> {};
template <int N>
struct ProblemOf<FischerBurmeisterMerit, N> : std::type_identity<EliminatedFriction<N>> {};

}  // namespace friction_merit

namespace friction_merit {

/// Options with which a minimizer works on a merit function. Fischer-Burmeister by Levenberg-Marquardt: a start that is
/// going to stall shows it early.
template <class Minimizer, class Merit>
constexpr Minimizer own_options() {
  Minimizer out;
  if constexpr (std::is_same_v<Merit, FischerBurmeisterMerit> && std::is_same_v<Minimizer, ProjectedLm>) {
    out.window = 8;
    out.progress = 0.7;
  }
  return out;
}

}  // namespace friction_merit

/// Start of a problem's first minimization.
enum class FrictionStart : int {
  kZero,    ///< x = 0, as in the papers
  kStick,   ///< the stick force -A^-1 b if it is a solution; otherwise projected on the cones, then the interior
  kSweeps,  ///< the same after three sweeps of projected Gauss-Seidel
};

namespace friction_merit {

/// Forces of the first start, and 1 where they are the stick forces and a solution, else 0.
template <class S, int N>
struct FirstForces {
  Vec<S, 3 * N> c;
  S solve;
};
/// Of every start but kZero. A function that is not inlined: it is the same for all merit functions and minimizers.
template <class S, int N>
[[nodiscard]] GARRA_HD_CALL FirstForces<S, N> first_forces(const FrictionProblem<S, N>& p, FrictionStart first,
                                                           double tolerance) {
  const Vec<S, 3 * N> stick = stick_force(p);
  const auto sticks = force_error(p, stick) <= S(0.5 * tolerance);
  FirstForces<S, N> out{stick, select(sticks, S(1), S(0))};
  if (first == FrictionStart::kSweeps && !all(sticks)) out.c = select(sticks, stick, sweep<S, N>(p, stick, kSweeps));
  return out;
}

}  // namespace friction_merit

template <class Minimizer, class Merit, class S, int N>
struct FrictionMeritState {
  typename MncpSolver<typename friction_merit::ProblemOf<Merit, N>::type, Merit, Minimizer>::template State<S> mncp;
  S unit;     ///< force unit: size_b / size_a of friction_scale
  S running;  ///< 1 while unfinished
  static constexpr auto parts() {
    return std::tuple{&FrictionMeritState::mncp, &FrictionMeritState::unit, &FrictionMeritState::running};
  }
};

/// Solver of friction contact by minimizing a merit function. Same interface as FrictionNewton.
template <class Minimizer, class Merit>
struct FrictionMerit {
  Minimizer minimizer = friction_merit::own_options<Minimizer, Merit>();
  double tolerance = 1e-8;  ///< stop: relative change of the load <= tolerance / 2 (the certificate tests tolerance)
  int max_iterations =
      0;           ///< stop: outer iterations over all starts >= max_iterations; 0: the minimizer's limit on each
  int starts = 1;  ///< stop: as many starts ended without a solution
  FrictionStart first = FrictionStart::kStick;
  bool check_iterate = true;  ///< false: only the minimizer's own tests stop it, as in the papers
  bool zero_slack = false;    ///< start from z = 0, as in the papers' Table 3, instead of z = max(F, 0)

  template <class S, int N>
  using State = FrictionMeritState<Minimizer, Merit, S, N>;

  template <class S, int N>
  [[nodiscard]] GARRA_HD_CALL State<S, N> start(const FrictionProblem<S, N>& given) const {
    const Large in([&] { return scaled(given); });
    State<S, N> s{mncp<N>().template start<S>((*in).problem, first_start((*in).problem)), (*in).unit, S(1)};
    s.running = s.mncp.running;
    return s;
  }

  template <class S, int N>
  GARRA_HD void step(State<S, N>& s) const {
    s.mncp.running = select(s.running > S(0), s.mncp.running, S(0));
    if constexpr (kReleases) release<S, N>(s.mncp);
    mncp<N>().template step<S>(s.mncp);
    auto& at = s.mncp.minimizer.at;
    const S outer = s.mncp.before.outer + at.effort.outer;
    const auto late = s.mncp.running > S(0) && S(max_iterations) > S(0) && outer >= S(max_iterations);
    at.status = select(late, S(int(Status::kIterationLimit)), at.status);
    s.mncp.running = select(late, S(0), s.mncp.running);
    s.running = s.mncp.running;
  }

  template <class S, int N>
  static GARRA_HD MaskOf<S> running(const State<S, N>& s) {
    return s.running > S(0);
  }

  /// The candidate for the certificate: the force in the problem's own units. Only rounding can fail one that has
  /// passed the test of iterates; where it cannot, no fallback solver looks at it.
  template <class S, int N>
  [[nodiscard]] GARRA_HD Candidate<S, N> candidate(const State<S, N>& s) const {
    auto found = Mncp<N>::template candidate<S>(s.mncp);
    if (check_iterate) {
      const auto solved = s.mncp.minimizer.at.status == S(int(Status::kConverged));
      const auto sure = !rounding_counts<S, N>(Problem<N>::forces(found.x), load_scale(s.mncp.data), tolerance);
      found.reason = select(solved && sure, S(int(Status::kIllConditioned)), found.reason);
    }
    return {s.unit * Problem<N>::forces(found.x), found.f, found.projected_gradient, found.reason, found.effort};
  }

  /// Solves one problem per lane.
  template <class S, int N>
  [[nodiscard]] GARRA_HD FrictionSolution<S, N> solve(const FrictionProblem<S, N>& given) const {
    State<S, N> state = start(given);
    while (any(running(state))) step(state);
    return certify(given, candidate(state), tolerance);
  }

 private:
  template <int N>
  using Problem = typename friction_merit::ProblemOf<Merit, N>::type;
  template <int N>
  using Mncp = MncpSolver<Problem<N>, Merit, Minimizer>;

  static constexpr bool kReleases =
      std::is_same_v<Merit, FischerBurmeisterMerit> && std::is_same_v<Minimizer, ProjectedLm>;
  /// Lets go of contacts that open: c_T = 0, lambda >= |a_T| where c_n = 0 and a_n > 0. The row of s squares the cone,
  /// so that a step only halves c_T there. Before steps 2, 4 and 8 of a start, since f may grow.
  template <class S, int N>
  static GARRA_HD void release(typename Mncp<N>::template State<S>& s) {
    using Full = FrictionMncp<N>;
    auto& at = s.minimizer.at;
    const S& k = s.minimizer.iterations;
    const auto now = at.running > S(0) && (k == S(2) || k == S(4) || k == S(8));
    if (!any(now)) return;
    const Vec<S, 3 * N> a = s.data.A * Problem<N>::forces(at.x) + s.data.b;
    auto x = at.x;
    auto opens = k < S(0);  // false in all lanes
    for (int j = 0; j < extent<N>(); ++j) {
      const S t = a[3 * j + 1], o = a[3 * j + 2];
      const auto open = now && x[Full::c_n(j)] == S(0) && a[3 * j] > S(0) && s.data.mu[j] > S(0);
      opens = opens || open;
      x[Full::c_t(j)] = select(open, S(0), x[Full::c_t(j)]);
      x[Full::c_o(j)] = select(open, S(0), x[Full::c_o(j)]);
      x[Full::lambda(j)] = select(open, max(x[Full::lambda(j)], sqrt(fma(t, t, o * o))), x[Full::lambda(j)]);
    }
    if (!any(opens)) return;
    const auto r = typename Mncp<N>::template View<S>(s.data).residual(x);
    at.x = select(opens, x, at.x);
    at.f = select(opens, dot(r, r), at.f);
    at.effort.evaluations += select(opens, S(1), S(0));
  }

  template <int N>
  [[nodiscard]] GARRA_HD Mncp<N> mncp() const {
    Mncp<N> solver{minimizer};
    solver.tolerance = tolerance;
    solver.starts = starts;
    solver.check_iterate = check_iterate;
    solver.zero_slack = zero_slack;
    return solver;
  }
  template <class S, int N>
  [[nodiscard]] GARRA_HD MncpVec<Problem<N>, S> first_start(const FrictionProblem<S, N>& p) const {
    if (first == FrictionStart::kZero) return MncpVec<Problem<N>, S>::zero();
    const auto from = friction_merit::first_forces(p, first, tolerance);
    const auto solve = from.solve > S(0);
    const auto x = Problem<N>::unknowns(p, from.c);
    return all(solve) ? x : select(solve, x, Problem<N>::interior(p, from.c));
  }
};

/// Sliding or frictionless contacts alone, 0 <= c_n ⟂ a_n = M c_n + q >= 0: with PapersMerit the papers' (45)-(48) and
/// their 2N variables (c_n, a_n).
template <int N>
struct SlidingLcp {
  static constexpr int kComplementary = N, kFree = 0;
  template <class S>
  struct Data {
    Mat<S, N, N> M;  ///< A_nn - mu (A_nt v_t + A_no v_o), column by column (eliminate_sliding)
    Vec<S, N> q;     ///< b_n
  };

  template <class S, class X>
  static GARRA_HD Vec<X, N> evaluate(const Data<S>& d, const Vec<X, N>& x) {
    Vec<X, N> y;
    for_each_index<N>([&](int i) {
      y[i] = X(d.q[i]);
      for_each_index<N>([&](int j) { y[i] = fma(d.M(i, j), x[j], y[i]); });
    });
    return y;
  }
  template <class S>
  static GARRA_HD Mat<S, N, N> jacobian(const Data<S>& d, const Vec<S, N>&) {
    return d.M;
  }
  template <class S>
  static GARRA_HD void add_curvature(const Data<S>&, const Vec<S, N>&, const Vec<S, N>&, Mat<S, N, N>&) {}
};

}  // namespace garra::solvers
