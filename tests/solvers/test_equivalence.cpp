// When a stationary point is a solution: classes of matrices against definitions, and the two theorems of
// docs/theory/equivalence.md on linear problems that separate them.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "garra/solvers/friction_merit.hpp"
#include "garra/solvers/merit/equivalence.hpp"
#include "garra/solvers/projected_lm.hpp"

namespace garra::solvers {
namespace {

using equivalence::Classes;
using equivalence::Square;
using Lcp = SlidingLcp<3>;

/// P0 and not row sufficient; the only solution is (0, 3, 1).
constexpr Square kExample{3, {{0, 1, 1}, {0, 0, 1}, {0, -1, 2}}};
Lcp::Data<double> example() {
  Lcp::Data<double> d;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) d.M(i, j) = kExample.at[i][j];
  d.q = vec3<double>(-2, -1, 1);
  return d;
}

template <class Merit>
auto minimize_from(const Lcp::Data<double>& d, const Vec<double, 3>& x0) {
  const MncpSolver<Lcp, Merit, ProjectedLm> solver;
  auto s = solver.template start<double>(d, x0);
  while (solver.running(s)) solver.template step<double>(s);
  return s;
}
template <class State>
MncpSolution<Lcp, double> certified(const Lcp::Data<double>& d, const State& s) {
  return certify_mncp<Lcp, double>(d, MncpSolver<Lcp, PapersMerit, ProjectedLm>::candidate<double>(s), 1e-8);
}

TEST(Equivalence, TellsTheClassesOfMatrices) {
  const auto classes = [](const Square& m) {
    const Classes c = equivalence::classify(m);
    return std::array{c.p, c.p0, c.semidefinite};
  };
  EXPECT_EQ(classes(kExample), (std::array{false, true, false}));
  EXPECT_EQ(classes({2, {{1, -3}, {0, 1}}}), (std::array{true, true, false}));  // a triangle: P, not semidefinite
  EXPECT_EQ(classes({2, {{0, 1}, {-1, 0}}}), (std::array{false, true, true}));  // skew
  EXPECT_EQ(classes({2, {{1, 2}, {2, 1}}}), (std::array{false, false, false}));
  EXPECT_EQ(classes({2, {{1e9, 2e9}, {1e-9, 3}}}), (std::array{true, true, false}));  // sizes do not count
  // Units of unknowns do not count either: the minors of the last two rows have the signs of -3 and 3.
  EXPECT_EQ(classes({3, {{1, 0, 0}, {1, 5e-7, 1e-6}, {1, 1e-6, 5e-7}}}), (std::array{false, false, false}));
  EXPECT_EQ(classes({3, {{1, 0, 0}, {1, 1e-6, 5e-7}, {1, 5e-7, 1e-6}}}), (std::array{true, true, false}));
  EXPECT_EQ(classes({1, {{-1}}}), (std::array{false, false, false}));
}

// M is P exactly if it reverses the sign of no vector (Fiedler and Ptak).
TEST(Equivalence, CallsNoMatrixPThatReversesTheSignOfAVector) {
  std::mt19937_64 engine(3);
  std::normal_distribution<double> normal;
  int p = 0;
  for (int k = 0; k < 300; ++k) {
    Square m{4, {}};
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) m.at[i][j] = normal(engine) + (i == j ? 2 : 0);
    if (!equivalence::classify(m).p) continue;
    ++p;
    for (int trial = 0; trial < 2000; ++trial) {
      double x[4];
      for (double& v : x) v = normal(engine);
      double largest = -1;
      for (int i = 0; i < 4; ++i) {
        double product = 0;
        for (int j = 0; j < 4; ++j) product += m.at[i][j] * x[j];
        largest = std::max(largest, x[i] * product);
      }
      ASSERT_GT(largest, 0) << k;
    }
  }
  EXPECT_GT(p, 50);
}

TEST(FischerBurmeister, SolvesTheP0ExampleFromEveryStart) {
  ASSERT_EQ(equivalence::by_fischer_burmeister(equivalence::classify(kExample)), Equivalence::kProven);
  std::mt19937_64 engine(1);
  std::uniform_real_distribution<double> uniform(0, 3);
  const auto d = example();
  for (int k = 0; k < 200; ++k) {
    const Vec3<double> x0 = vec3<double>(uniform(engine), uniform(engine), uniform(engine));
    const MncpSolver<Lcp, FischerBurmeisterMerit, ProjectedLm> solver;
    const auto s = minimize_from<FischerBurmeisterMerit>(d, x0);
    const auto found = certify_mncp<Lcp, double>(d, solver.candidate<double>(s), 1e-8);
    ASSERT_EQ(found.status, int(Status::kConverged)) << k;
    EXPECT_NEAR(found.x[0], 0, 1e-6);
    EXPECT_NEAR(found.x[1], 3, 1e-6);
    EXPECT_NEAR(found.x[2], 1, 1e-6);
  }
}

TEST(ThePapersFunction, StopsAtAStationaryPointOfTheP0ExampleThatIsNoSolution) {
  EXPECT_EQ(equivalence::by_slack(equivalence::classify(kExample), true), Equivalence::kUndecided);
  const auto d = example();
  const auto s = minimize_from<PapersMerit>(d, vec3<double>(1.5095, 1.5728, 0.5482));
  const auto& at = s.minimizer.at;
  EXPECT_NEAR(at.f, 0.2821, 1e-4);
  EXPECT_NEAR(at.x[1], 1.5728, 1e-4);
  EXPECT_NEAR(at.x[2], 0.5482, 1e-4);
  EXPECT_LT(at.projected_gradient, 1e-7);
  EXPECT_EQ(certified(d, s).status, int(Status::kStalled));
  // The point itself shows that M is not row sufficient.
  const auto FG = Lcp::evaluate(d, mncp_detail::head<Lcp>(at.x));
  double w[3];
  for (int i = 0; i < 3; ++i) w[i] = FG[i] - at.x[3 + i];
  EXPECT_TRUE(equivalence::refutes_row_sufficiency(kExample, w));
}

// Theorem 1: a problem of a P-matrix has no stationary point that is no solution.
TEST(ThePapersFunction, IsStationaryAtSolutionsOnlyWhereTheMatrixIsP) {
  std::mt19937_64 engine(5);
  std::normal_distribution<double> normal;
  int proven = 0, converged = 0;
  for (int k = 0; k < 400; ++k) {
    Lcp::Data<double> d;
    Square m{3, {}};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) d.M(i, j) = m.at[i][j] = normal(engine) + (i == j ? 1 : 0);
      d.q[i] = normal(engine);
    }
    if (equivalence::by_slack(equivalence::classify(m), false) != Equivalence::kProven) continue;
    ++proven;
    const auto s = minimize_from<PapersMerit>(d, vec3<double>(std::abs(normal(engine)), std::abs(normal(engine)), 0));
    const auto& at = s.minimizer.at;
    const bool stationary = at.projected_gradient <= 1e-7 * std::sqrt(at.f);
    const bool solved = certified(d, s).status == int(Status::kConverged);
    converged += solved;
    EXPECT_TRUE(solved || !stationary) << k << " f " << at.f;
  }
  EXPECT_GT(proven, 50);
  EXPECT_GT(converged, proven / 2);
}

/// F = u - 2 v, G = u + slope v: S = 1 + 2 / slope.
struct Coupled {
  static constexpr int kComplementary = 1, kFree = 1;
  template <class S>
  struct Data {
    S slope;
  };
  template <class S, class X>
  static Vec<X, 2> evaluate(const Data<S>& d, const Vec<X, 2>& x) {
    return {{x[0] - X(2) * x[1], fma(d.slope, x[1], x[0])}};
  }
};

TEST(Equivalence, TakesTheFreeUnknownsOut) {
  Square s;
  ASSERT_TRUE(equivalence::reduced_matrix<Coupled>({1.0}, {{0.5, 0.5}}, s));
  EXPECT_EQ(s.rows, 1);
  EXPECT_DOUBLE_EQ(s.at[0][0], 3);
  EXPECT_FALSE(equivalence::reduced_matrix<Coupled>({0.0}, {{0.5, 0.5}}, s));  // G_v = 0
}

}  // namespace
}  // namespace garra::solvers
