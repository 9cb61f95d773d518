// The projected Levenberg-Marquardt method on least-squares problems whose answers are known.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "contact/problems/classes.hpp"
#include "garra/core/lanes.hpp"
#include "garra/solvers/projected_lm.hpp"

namespace garra::solvers {
namespace {

using L = Lanes<double>;

/// r = (10 (x_1 - x_0^2), 1 - x_0): one zero at (1, 1). The box is a template's business.
template <class S, class Box>
struct Rosenbrock {
  using Scalar = S;
  static constexpr int kVariables = 2, kResiduals = 2;
  static double lower(int i) { return Box::lower[i]; }
  static double upper(int i) { return Box::upper[i]; }
  Vec<S, 2> residual(const Vec<S, 2>& x) const { return {{S(10) * (x[1] - x[0] * x[0]), S(1) - x[0]}}; }
  Mat<S, 2, 2> jacobian(const Vec<S, 2>& x) const { return {{S(-20) * x[0], S(10), S(-1), S(0)}}; }
};
struct NoBox {
  static constexpr double lower[2] = {-kInfinite, -kInfinite}, upper[2] = {kInfinite, kInfinite};
};
struct LowCeiling {  // x_0 <= 1/2: the minimum is (1/2, 1/4) with f = 1/4
  static constexpr double lower[2] = {-2, -2}, upper[2] = {0.5, kInfinite};
};
struct HighFloor {  // x_1 >= 4: f' = 0 on the edge is 400 x (x^2 - 4) = 2 (1 - x), with f' < 0 at x = 0: x near 2
  static constexpr double lower[2] = {0, 4}, upper[2] = {kInfinite, kInfinite};
};

template <class M, class S, int V>
ProjectedLmState<S, V> minimize(const M& merit, const Vec<S, V>& x0, const ProjectedLm& lm = {}) {
  auto state = lm.start(merit, x0);
  while (any(state.at.running > S(0))) lm.step(merit, state);
  return state;
}

TEST(ProjectedLm, FindsRosenbrocksZero) {
  for (const Vec<double, 2>& x0 : {Vec<double, 2>{{-1.2, 1}}, Vec<double, 2>{{0, 0}}, Vec<double, 2>{{5, -5}}}) {
    const auto s = minimize(Rosenbrock<double, NoBox>{}, x0);
    EXPECT_NEAR(s.at.x[0], 1, 1e-12);
    EXPECT_NEAR(s.at.x[1], 1, 1e-12);
    EXPECT_EQ(s.at.status, int(Status::kConverged));  // f = 0 to the last bit
  }
}

TEST(ProjectedLm, StopsAtTheConstrainedMinimumAndCallsItAStall) {
  const auto s = minimize(Rosenbrock<double, LowCeiling>{}, Vec<double, 2>{{-1.2, 1}});
  EXPECT_EQ(s.at.x[0], 0.5);
  EXPECT_NEAR(s.at.x[1], 0.25, 1e-9);  // f = 1/4 + 100 (x_1 - 1/4)^2 resolves sqrt(eps / 400) = 7e-10
  EXPECT_NEAR(s.at.f, 0.25, 1e-12);
  EXPECT_EQ(s.at.status, int(Status::kStalled));
  EXPECT_LE(s.at.projected_gradient, 1e-8);
}

TEST(ProjectedLm, FindsTheMinimumOnAnEdge) {
  const auto s = minimize(Rosenbrock<double, HighFloor>{}, Vec<double, 2>{{1, 9}});
  const double x = s.at.x[0];
  EXPECT_EQ(s.at.x[1], 4);
  EXPECT_NEAR(200 * x * (x * x - 4), 1 - x, 1e-6);  // half of f' along the edge
  EXPECT_NEAR(x, 2, 0.01);
}

TEST(ProjectedLm, StartsOutsideTheBoxAreProjected) {
  const auto s = ProjectedLm{}.start(Rosenbrock<double, LowCeiling>{}, Vec<double, 2>{{7, -9}});
  EXPECT_EQ(s.at.x[0], 0.5);
  EXPECT_EQ(s.at.x[1], -2);
}

/// r = B x - t on 0 <= x <= 1.
template <class S>
struct Linear {
  using Scalar = S;
  static constexpr int kVariables = 5, kResiduals = 7;
  static double lower(int) { return 0; }
  static double upper(int) { return 1; }
  Mat<S, 7, 5> B;
  Vec<S, 7> t;
  Vec<S, 7> residual(const Vec<S, 5>& x) const { return B * x - t; }
  Mat<S, 7, 5> jacobian(const Vec<S, 5>&) const { return B; }
};
Linear<double> random_linear(std::uint64_t seed) {
  bench::Random random(seed);
  Linear<double> m;
  for (double& v : m.B.m) v = random.normal();
  for (double& v : m.t.m) v = 2 * random.normal();
  return m;
}

TEST(ProjectedLm, MeetsTheOptimalityConditionsOfBoundedLinearLeastSquares) {
  int at_bounds = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Linear<double> m = random_linear(seed);
    const auto s = minimize(m, Vec<double, 5>{{0.5, 0.5, 0.5, 0.5, 0.5}});
    const Vec<double, 5> g = transpose_times(m.B, m.B * s.at.x - m.t);
    for (int i = 0; i < 5; ++i) {  // the problem is convex: these conditions are the truth
      const double x = s.at.x[i];
      const double wrong = x == 0 ? -g[i] : x == 1 ? g[i] : std::abs(g[i]);
      EXPECT_LE(wrong, 1e-7) << "problem " << seed << ", variable " << i;
      at_bounds += x == 0 || x == 1;
    }
  }
  EXPECT_GT(at_bounds, 300);
}

/// r = (x^2 + y^2 - 1): a circle of zeros, none isolated, J of rank 1.
struct Circle {
  using Scalar = double;
  static constexpr int kVariables = 2, kResiduals = 1;
  static double lower(int) { return -kInfinite; }
  static double upper(int) { return kInfinite; }
  Vec<double, 1> residual(const Vec<double, 2>& x) const { return {{x[0] * x[0] + x[1] * x[1] - 1}}; }
  Mat<double, 1, 2> jacobian(const Vec<double, 2>& x) const { return {{2 * x[0], 2 * x[1]}}; }
};

TEST(ProjectedLm, ConvergesQuadraticallyToZerosThatAreNotIsolated) {
  const ProjectedLm lm;
  auto s = lm.start(Circle{}, Vec<double, 2>{{1.3, 0.4}});
  int quadratic = 0;
  while (s.at.running > 0) {
    const double before = std::sqrt(s.at.f);
    lm.step(Circle{}, s);
    const double after = std::sqrt(s.at.f);
    if (before < 0.1 && before > 1e-7) {
      EXPECT_LE(after, before * before + 1e-15);
      ++quadratic;
    }
  }
  EXPECT_GE(quadratic, 2);
  EXPECT_LE(s.iterations, 10);
}

TEST(ProjectedLm, CountsWhatItDoes) {
  ProjectedLm lm;
  lm.max_iterations = 7;
  const auto s = minimize(Rosenbrock<double, NoBox>{}, Vec<double, 2>{{-1.2, 1}}, lm);
  EXPECT_EQ(s.at.status, int(Status::kIterationLimit));
  EXPECT_EQ(s.at.effort.outer, 7);
  EXPECT_EQ(s.at.effort.inner, 7);  // one factorization each
  EXPECT_GE(s.at.effort.evaluations, 8);
  EXPECT_LE(s.at.effort.evaluations, 1 + 7 * (1 + lm.halvings));
}

template <class T>
T lane(const auto& state, int k) {
  T out;
  const auto* from = reinterpret_cast<const L*>(&state);
  for (std::size_t f = 0; f < sizeof(T) / sizeof(double); ++f) reinterpret_cast<double*>(&out)[f] = from[f][k];
  return out;
}

TEST(ProjectedLm, LanesEqualScalarToTheBitAndNaNStaysAlone) {
  using State = ProjectedLmState<double, 5>;
  const int poisoned = 1;
  Linear<L> batch;
  for (int k = 0; k < L::kSize; ++k) {
    const Linear<double> m = random_linear(100 + static_cast<std::uint64_t>(k));
    for (int i = 0; i < 35; ++i) batch.B[i].set(k, m.B[i]);
    for (int i = 0; i < 7; ++i) batch.t[i].set(k, m.t[i]);
  }
  batch.t[3].set(poisoned, std::numeric_limits<double>::quiet_NaN());
  const Vec<L, 5> x0{{L(0.5), L(0.5), L(0.5), L(0.5), L(0.5)}};
  const auto lanes = minimize(batch, x0);
  for (int k = 0; k < L::kSize; ++k) {
    const State here = lane<State>(lanes, k);
    if (k == poisoned) {
      EXPECT_EQ(here.at.effort.outer, 0);
      EXPECT_EQ(here.at.status, int(Status::kStalled));
      continue;
    }
    const State alone =
        minimize(random_linear(100 + static_cast<std::uint64_t>(k)), Vec<double, 5>{{0.5, 0.5, 0.5, 0.5, 0.5}});
    EXPECT_EQ(std::memcmp(&here, &alone, sizeof(State)), 0) << "lane " << k;
  }
}

}  // namespace
}  // namespace garra::solvers
