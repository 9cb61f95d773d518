// Spectral projected gradient with Newton steps against minimizers that were drawn first and on nonconvex functions.
#include <gtest/gtest.h>

#include "garra/solvers/merit/spg_newton.hpp"
#include "merits.hpp"

namespace garra {
namespace {

using solvers::SpgNewton;
using Wide = Lanes<double>;

template <int V>
Vec<double, V> filled(double value) {
  Vec<double, V> x;
  for (int i = 0; i < V; ++i) x[i] = value;
  return x;
}

/// Without the tests of progress, which are for functions whose minimum is 0.
SpgNewton patient() {
  SpgNewton minimizer;
  minimizer.newton.window = 300;
  minimizer.newton.stationary = 1e-9;
  return minimizer;
}

template <int V>
void expect_known_minimizers(int count) {
  for (int k = 0; k < count; ++k) {
    const test::KnownQuadratic<V> known(static_cast<unsigned>(k));
    const auto s = test::minimize(patient(), known.merit, filled<V>(0.3));
    for (int i = 0; i < V; ++i) EXPECT_NEAR(s.at.x[i], known.solution[i], 1e-6) << "V " << V << " problem " << k;
    EXPECT_LE(s.at.effort.outer, 60);  // SPG alone takes hundreds of steps
  }
}
TEST(SpgNewton, FindsTheMinimizersOfConvexQuadraticsInFewSteps) {
  expect_known_minimizers<3>(50);
  expect_known_minimizers<6>(50);
  expect_known_minimizers<24>(50);
}

TEST(SpgNewton, FindsTheMinimumOfRosenbrock) {
  const Vec<double, 2> x0{{-1.2, 1}};
  const auto open = test::minimize(patient(), test::RosenbrockMerit<double, false>{10}, x0);
  EXPECT_NEAR(open.at.x[0], 1, 1e-7);
  EXPECT_NEAR(open.at.x[1], 1, 1e-7);
  const auto boxed = test::minimize(patient(), test::RosenbrockMerit<double, true>{10}, x0);
  EXPECT_EQ(boxed.at.x[0], 0.5);
  EXPECT_NEAR(boxed.at.x[1], 0.25, 1e-7);
}

TEST(SpgNewton, StopsAtItsLimitAndAtOnceWhereAnythingIsNaN) {
  auto merit = test::random_quartic<6>(1);
  SpgNewton minimizer;
  minimizer.newton.max_iterations = 2;
  const auto s = test::minimize(minimizer, merit, filled<6>(0.01));
  EXPECT_EQ(s.at.effort.outer, 2);
  EXPECT_EQ(s.at.status, static_cast<int>(Status::kIterationLimit));
  for (const double bad : {std::nan(""), solvers::kInfinite}) {
    merit.a[3] = bad;
    const auto none = test::minimize(SpgNewton{}, merit, filled<6>(0.01));
    EXPECT_EQ(none.at.effort.outer, 0);
    EXPECT_EQ(none.at.status, static_cast<int>(Status::kStalled));
  }
}

TEST(SpgNewton, InLanesGivesTheBitsOfTheScalarExecutorBesideBadNeighbors) {
  std::vector<test::QuarticMerit<double, 24>> merits;
  for (unsigned k = 0; k < 43; ++k) merits.push_back(test::random_quartic<24>(k));
  merits[5].a[2] = std::nan("");
  merits[17].a[0] = solvers::kInfinite;
  const std::vector<Vec<double, 24>> starts(43, filled<24>(0.01));
  const auto lanes = test::minimize_in_lanes<test::QuarticMerit<Wide, 24>>(SpgNewton{}, merits, starts);
  for (std::size_t i = 0; i < 43; ++i)
    EXPECT_TRUE(test::same_iterate(test::minimize(SpgNewton{}, merits[i], starts[i]), lanes[i])) << i;
}

}  // namespace
}  // namespace garra
