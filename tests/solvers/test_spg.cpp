// Spectral projected gradient against minimizers that were drawn first and on nonconvex functions.
#include <gtest/gtest.h>

#include "garra/solvers/spectral_projected_gradient.hpp"
#include "merits.hpp"

namespace garra {
namespace {

using solvers::SpectralProjectedGradient;
using Wide = Lanes<double>;

template <int V>
Vec<double, V> filled(double value) {
  Vec<double, V> x;
  for (int i = 0; i < V; ++i) x[i] = value;
  return x;
}

template <int V>
void expect_known_minimizers(int count) {
  for (int k = 0; k < count; ++k) {
    const test::KnownQuadratic<V> known(static_cast<unsigned>(k));
    SpectralProjectedGradient minimizer;
    minimizer.eps = 1e-9;
    const auto s = test::minimize(minimizer, known.merit, filled<V>(0.3));
    for (int i = 0; i < V; ++i) EXPECT_NEAR(s.at.x[i], known.solution[i], 1e-7) << "V " << V << " problem " << k;
    EXPECT_LE(s.at.projected_gradient, 1e-9) << "V " << V << " problem " << k;
    EXPECT_LE(s.at.effort.evaluations, 1000);
  }
}
TEST(SpectralProjectedGradient, FindsTheMinimizersOfConvexQuadratics) {
  expect_known_minimizers<3>(50);
  expect_known_minimizers<6>(50);
  expect_known_minimizers<24>(50);
}

TEST(SpectralProjectedGradient, FindsTheMinimumOfRosenbrock) {
  const Vec<double, 2> x0{{-1.2, 1}};
  const auto open = test::minimize(SpectralProjectedGradient{}, test::RosenbrockMerit<double, false>{10}, x0);
  EXPECT_NEAR(open.at.x[0], 1, 1e-8);
  EXPECT_NEAR(open.at.x[1], 1, 1e-8);
  const auto boxed = test::minimize(SpectralProjectedGradient{}, test::RosenbrockMerit<double, true>{10}, x0);
  EXPECT_EQ(boxed.at.x[0], 0.5);
  EXPECT_NEAR(boxed.at.x[1], 0.25, 1e-9);
}

TEST(SpectralProjectedGradient, EndsAtStationaryPointsAndNeverAboveItsLastTenValues) {
  SpectralProjectedGradient minimizer;
  minimizer.eps = 1e-8;
  for (unsigned k = 0; k < 50; ++k) {
    const auto merit = test::random_quartic<24>(k);
    auto s = minimizer.start(merit, filled<24>(0.01));
    std::vector<double> f{s.at.f};
    while (s.at.running > 0) {
      minimizer.step(merit, s);
      const std::size_t window = std::min<std::size_t>(f.size(), 10);
      ASSERT_LE(s.at.f, *std::max_element(f.end() - static_cast<std::ptrdiff_t>(window), f.end()));
      f.push_back(s.at.f);
    }
    EXPECT_LE(s.at.projected_gradient, 1e-8) << k;
    EXPECT_LE(test::difference_projected_gradient(merit, s.at.x), 1e-7) << k;
    EXPECT_GE(s.at.effort.evaluations, s.at.effort.outer + 1);
    EXPECT_EQ(s.at.effort.outer + 1, static_cast<double>(f.size()));
  }
}

TEST(SpectralProjectedGradient, StopsAtItsLimitsAndAtOnceWhereAnythingIsNaN) {
  auto merit = test::random_quartic<6>(1);
  SpectralProjectedGradient minimizer;
  minimizer.max_iterations = 2;
  auto s = test::minimize(minimizer, merit, filled<6>(0.01));
  EXPECT_EQ(s.at.effort.outer, 2);
  EXPECT_EQ(s.at.status, static_cast<int>(Status::kIterationLimit));
  minimizer = {};
  minimizer.max_evaluations = 3;
  s = test::minimize(minimizer, merit, filled<6>(0.01));
  EXPECT_LE(s.at.effort.evaluations, 3);
  EXPECT_EQ(s.at.status, static_cast<int>(Status::kIterationLimit));
  for (const double bad : {std::nan(""), solvers::kInfinite}) {
    merit.a[3] = bad;
    s = test::minimize(SpectralProjectedGradient{}, merit, filled<6>(0.01));
    EXPECT_EQ(s.at.effort.outer, 0);
    EXPECT_EQ(s.at.status, static_cast<int>(Status::kStalled));
  }
}

TEST(SpectralProjectedGradient, InLanesGivesTheBitsOfTheScalarExecutorBesideBadNeighbors) {
  std::vector<test::QuarticMerit<double, 24>> merits;
  for (unsigned k = 0; k < 43; ++k) merits.push_back(test::random_quartic<24>(k));
  merits[5].a[2] = std::nan("");
  merits[17].a[0] = solvers::kInfinite;
  const std::vector<Vec<double, 24>> starts(43, filled<24>(0.01));
  const auto lanes = test::minimize_in_lanes<test::QuarticMerit<Wide, 24>>(SpectralProjectedGradient{}, merits, starts);
  for (std::size_t i = 0; i < 43; ++i)
    EXPECT_TRUE(test::same_iterate(test::minimize(SpectralProjectedGradient{}, merits[i], starts[i]), lanes[i])) << i;
}

}  // namespace
}  // namespace garra
