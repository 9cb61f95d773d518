// The proof of uniqueness against problems whose solutions are known, and against searches from other starts.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>

#include "contact/batch/uniqueness.hpp"
#include "garra/core/lanes.hpp"
#include "garra/solvers/friction_newton.hpp"

namespace garra::contact {
namespace {

using solvers::FrictionNewton;
using solvers::FrictionProblem;
using Random = std::mt19937_64;

double between(Random& g, double low, double high) { return std::uniform_real_distribution<double>(low, high)(g); }

/// One contact with a_n = c_n + coupling c_t: it jams under c = (1, -used, 0), where a = 0.
FrictionProblem<double, 1> jamming(double coupling, double used, double mu) {
  FrictionProblem<double, 1> p;
  p.A = Mat3<double>{{1, coupling, 0, coupling, 2 * coupling * coupling, 0, 0, 0, coupling * coupling}};
  p.b = -(p.A * vec3(1.0, -used, 0.0));
  p.mu[0] = mu;
  return p;
}

// b_n = used * coupling - 1 > 0: the open contact, c = 0, is a second solution. For this A the bound is sharp.
TEST(ProofOfUniqueness, EndsWhereASecondSolutionBegins) {
  Random g(3);
  for (int k = 0; k < 1000; ++k) {
    const double used = between(g, 0.05, 0.9), mu = between(g, used, 1), product = between(g, 0.5, 1.5);
    const auto p = jamming(product / used, used, mu);
    const bool proven = is_only_solution<double, 1, 3>(p, vec3(1.0, -used, 0.0));
    EXPECT_EQ(proven, product <= kUnique * (1 + 1e-12)) << used << " " << product;
    if (p.b[0] > 0) {
      EXPECT_FALSE(proven || (is_only_solution<double, 1, 3>(p, Vec3<double>::zero())));
    }
  }
}

/// A grasp-like problem: a body of six freedoms between three fingers, whose mobilities differ by `spread`.
FrictionProblem<double, 3> problem_of(Random& g, double spread, double friction) {
  FrictionProblem<double, 3> p;
  Mat<double, 9, 9> half;
  for (double& x : half.m) x = between(g, -1, 1);
  p.A = half * transpose(half);
  for (int i = 0; i < 9; ++i) p.A(i, i) += between(g, 1, 1 + spread);
  for (int j = 0; j < 3; ++j) {
    p.b[3 * j] = between(g, -8, 2);
    p.b[3 * j + 1] = between(g, -3, 3);
    p.b[3 * j + 2] = between(g, -3, 3);
    p.mu[j] = between(g, 0.3, 1) * friction;
  }
  return p;
}

TEST(ProofOfUniqueness, HoldsForEveryStartOfTheSolver) {
  Random g(5);
  int proven = 0, solved = 0;
  for (int k = 0; k < 400; ++k) {
    const auto p = problem_of(g, 6, k % 2 == 0 ? 0.5 : 2);
    const FrictionNewton newton;
    const auto first = newton.solve<double, 3>(p);
    if (first.status != static_cast<int>(Status::kConverged)) continue;
    ++solved;
    if (!is_only_solution<double, 3, 3>(p, first.c)) continue;
    ++proven;
    for (int start = 0; start < 20; ++start) {
      Vec<double, 9> guess;
      for (double& x : guess.m) x = between(g, -10, 10);
      auto state = newton.start(p, guess);
      while (newton.running(state)) newton.step(state);
      const auto other = certify(p, newton.candidate(state), newton.tolerance);
      if (other.status != static_cast<int>(Status::kConverged)) continue;
      for (int i = 0; i < 9; ++i) ASSERT_NEAR(other.a[i], first.a[i], 1e-6);
    }
  }
  EXPECT_GT(solved, 380);
  EXPECT_GT(proven, 80);
}

TEST(ProofOfUniqueness, NeedsADefiniteMatrixAndForces) {
  Random g(7);
  auto p = problem_of(g, 6, 0.01);
  const auto c = FrictionNewton{}.solve<double, 3>(p).c;
  EXPECT_TRUE((is_only_solution<double, 3, 3>(p, c)));
  EXPECT_FALSE((is_only_solution<double, 3, 3>(p, std::nan("") * c)));
  for (int k = 0; k < 9; ++k) p.A(4, k) = p.A(k, 4) = p.A(1, k);
  p.A(4, 4) = p.A(1, 1);
  EXPECT_FALSE((is_only_solution<double, 3, 3>(p, c)));
}

TEST(ProofOfUniqueness, IsTheSameInLanes) {
  using S = Lanes<double>;
  Random g(11);
  FrictionProblem<S, 3> p;
  Vec<S, 9> c;
  bool expected[S::kSize];
  for (int lane = 0; lane < S::kSize; ++lane) {
    const auto one = problem_of(g, 6, 0.3 + 0.2 * lane);
    const auto found = FrictionNewton{}.solve<double, 3>(one).c;
    expected[lane] = is_only_solution<double, 3, 3>(one, found);
    for (int i = 0; i < 81; ++i) p.A[i].set(lane, one.A[i]);
    for (int i = 0; i < 9; ++i) p.b[i].set(lane, one.b[i]), c[i].set(lane, found[i]);
    for (int j = 0; j < 3; ++j) p.mu[j].set(lane, one.mu[j]);
  }
  const auto proven = is_only_solution<S, 3, 3>(p, c);
  for (int lane = 0; lane < S::kSize; ++lane) EXPECT_EQ(proven[lane], expected[lane]);
}

}  // namespace
}  // namespace garra::contact
