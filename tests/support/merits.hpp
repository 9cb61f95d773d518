// Merit functions with known answers for the tests of the minimizers, and the loops that run them on both executors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "garra/core/lanes.hpp"
#include "garra/solvers/least_squares.hpp"

namespace garra::test {

using solvers::kInfinite;

/// f = |L'(x - c)|^2 on [-1, 1]^V, a convex quadratic with second derivatives 2 L L'.
template <class S, int V>
struct QuadraticMerit {
  using Scalar = S;
  static constexpr int kVariables = V, kResiduals = V;
  Mat<S, V, V> L;
  Vec<S, V> c;

  static double lower(int) { return -1; }
  static double upper(int) { return 1; }
  Vec<S, V> residual(const Vec<S, V>& x) const { return transpose_times(L, x - c); }
  Mat<S, V, V> jacobian(const Vec<S, V>&) const { return transpose(L); }
  void add_curvature(const Vec<S, V>&, const Vec<S, V>&, Mat<S, V, V>&) const {}
};

/// A quadratic whose minimizer is drawn first: a third of the variables at a bound with a multiplier of the right sign,
/// then c so that the gradient 2 L L'(x - c) is the multipliers.
template <int V>
struct KnownQuadratic {
  QuadraticMerit<double, V> merit;
  Vec<double, V> solution;

  explicit KnownQuadratic(unsigned seed) {
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<double> u(-1, 1);
    auto& L = merit.L = Mat<double, V, V>::zero();
    for (int i = 0; i < V; ++i) {
      for (int j = 0; j < i; ++j) L(i, j) = u(engine) / std::sqrt(V);
      L(i, i) = 1 + 0.5 * u(engine);
    }
    Vec<double, V> w;
    for (int i = 0; i < V; ++i) {
      const double kind = u(engine), multiplier = 0.1 + std::abs(u(engine));
      solution[i] = kind < -1.0 / 3 ? -1 : kind > 1.0 / 3 ? 1 : 0.9 * u(engine);
      w[i] = solution[i] == -1 ? multiplier : solution[i] == 1 ? -multiplier : 0;
    }
    for (int i = 0; i < V; ++i) {  // L y = w / 2
      w[i] *= 0.5;
      for (int j = 0; j < i; ++j) w[i] -= L(i, j) * w[j];
      w[i] /= L(i, i);
    }
    for (int i = V - 1; i >= 0; --i) {  // L'(x - c) = y
      for (int j = i + 1; j < V; ++j) w[i] -= L(j, i) * w[j];
      w[i] /= L(i, i);
    }
    merit.c = solution - w;
  }
};

/// Rosenbrock's function; with `Boxed` on [-1.5, 0.5] x [-10, 10], where the minimizer is (0.5, 0.25).
template <class S, bool Boxed>
struct RosenbrockMerit {
  using Scalar = S;
  static constexpr int kVariables = 2, kResiduals = 2;
  S steepness;  ///< 10

  static double lower(int i) { return !Boxed ? -kInfinite : i == 0 ? -1.5 : -10; }
  static double upper(int i) { return !Boxed ? kInfinite : i == 0 ? 0.5 : 10; }
  Vec<S, 2> residual(const Vec<S, 2>& x) const { return {{steepness * fma(-x[0], x[0], x[1]), S(1) - x[0]}}; }
  Mat<S, 2, 2> jacobian(const Vec<S, 2>& x) const { return {{S(-2) * steepness * x[0], steepness, S(-1), S(0)}}; }
  void add_curvature(const Vec<S, 2>&, const Vec<S, 2>& w, Mat<S, 2, 2>& H) const {
    H(0, 0) -= S(2) * steepness * w[0];
  }
};

/// r_i = x_i^2 + a_i x_{i + 1} - 1 on [-2, 1.5]^V: its second derivatives are indefinite around zero.
template <class S, int V>
struct QuarticMerit {
  using Scalar = S;
  static constexpr int kVariables = V, kResiduals = V;
  Vec<S, V> a;

  static double lower(int) { return -2; }
  static double upper(int) { return 1.5; }
  Vec<S, V> residual(const Vec<S, V>& x) const {
    Vec<S, V> r;
    for (int i = 0; i < V; ++i) r[i] = fma(x[i], x[i], fma(a[i], x[(i + 1) % V], S(-1)));
    return r;
  }
  Mat<S, V, V> jacobian(const Vec<S, V>& x) const {
    Mat<S, V, V> J = Mat<S, V, V>::zero();
    for (int i = 0; i < V; ++i) {
      J(i, i) = S(2) * x[i];
      J(i, (i + 1) % V) += a[i];
    }
    return J;
  }
  void add_curvature(const Vec<S, V>&, const Vec<S, V>& w, Mat<S, V, V>& H) const {
    for (int i = 0; i < V; ++i) H(i, i) += S(2) * w[i];
  }
};

template <int V>
QuarticMerit<double, V> random_quartic(unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> u(-1.5, 1.5);
  QuarticMerit<double, V> merit;
  for (int i = 0; i < V; ++i) merit.a[i] = u(engine);
  return merit;
}

/// |P(x - grad f) - x| from differences of f alone; good to about 1e-8 where f is of the order of 1.
template <class M>
double difference_projected_gradient(const M& merit, const Vec<double, M::kVariables>& x) {
  const auto f = [&](const auto& y) {
    const auto r = merit.residual(y);
    double sum = 0;
    for (int i = 0; i < M::kResiduals; ++i) sum += r[i] * r[i];
    return sum;
  };
  double squares = 0;
  for (int i = 0; i < M::kVariables; ++i) {
    auto right = x, left = x;
    const double h = 1e-5;
    right[i] += h;
    left[i] -= h;
    const double slope = (f(right) - f(left)) / (2 * h);
    const double moved = std::min(std::max(x[i] - slope, M::lower(i)), M::upper(i)) - x[i];
    squares += moved * moved;
  }
  return std::sqrt(squares);
}

template <class Minimizer, class M>
auto minimize(const Minimizer& minimizer, const M& merit, const Vec<double, M::kVariables>& x0) {
  auto s = minimizer.template start<M>(merit, x0);
  while (s.at.running > 0) minimizer.step(merit, s);
  return s;
}

/// The same in lanes: eight problems at a time, `inputs` of any struct of doubles that `Wide` mirrors in lanes. Returns
/// the states lane by lane.
template <class Wide, class Minimizer, class Narrow, int V>
auto minimize_in_lanes(const Minimizer& minimizer, const std::vector<Narrow>& merits,
                       const std::vector<Vec<double, V>>& starts) {
  using S = Lanes<double>;
  using State = typename Minimizer::template State<double, V>;
  std::vector<State> out(merits.size());
  for (std::size_t first = 0; first < merits.size(); first += static_cast<std::size_t>(S::kSize)) {
    Wide merit;
    Vec<S, V> x0;
    const auto set = [](auto& wide, const auto& narrow, int lane) {
      for (std::size_t k = 0; k < sizeof(narrow) / sizeof(double); ++k)
        reinterpret_cast<S*>(&wide)[k].set(lane, reinterpret_cast<const double*>(&narrow)[k]);
    };
    for (int lane = 0; lane < S::kSize; ++lane) {
      const std::size_t i = std::min(first + static_cast<std::size_t>(lane), merits.size() - 1);
      set(merit, merits[i], lane);
      set(x0, starts[i], lane);
    }
    auto s = minimizer.template start<Wide>(merit, x0);
    while (any(s.at.running > S(0))) minimizer.step(merit, s);
    for (std::size_t i = first; i < std::min(first + static_cast<std::size_t>(S::kSize), merits.size()); ++i)
      for (std::size_t k = 0; k < sizeof(State) / sizeof(double); ++k)
        reinterpret_cast<double*>(&out[i])[k] = reinterpret_cast<const S*>(&s)[k][static_cast<int>(i - first)];
  }
  return out;
}

/// Bits of the Iterate: x, f, projected gradient, status and every counter. NaN counts as NaN whatever its bits.
template <class State>
bool same_iterate(const State& a, const State& b) {
  constexpr std::size_t count = sizeof(a.at) / sizeof(double);
  const double *p = reinterpret_cast<const double*>(&a.at), *q = reinterpret_cast<const double*>(&b.at);
  for (std::size_t k = 0; k < count; ++k)
    if (std::memcmp(p + k, q + k, sizeof(double)) != 0 && !(std::isnan(p[k]) && std::isnan(q[k]))) return false;
  return true;
}

}  // namespace garra::test
