// Distributions: quantiles against closed forms, truncation, and draws that have the right
// distribution.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "garra/study/distribution.hpp"

namespace garra {
namespace {

using study::Distribution;
using study::quantile;
using Kind = Distribution::Kind;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// A few roundings of the quantile function and of the closed form.
constexpr double kRounding = 1e-13;

Distribution lognormal(double median, double sigma) { return {Kind::kLognormal, median, sigma, 0, 1}; }
Distribution ball(double radius) { return {Kind::kBallRadius, radius, 0, 0, 1}; }
Distribution cone(double half_angle) {
  const double s = std::sin(half_angle / 2);
  return {Kind::kConeAngle, half_angle, 2 * s * s, 0, 1};
}

const std::pair<const char*, Distribution> kAll[] = {
    {"uniform", Distribution::uniform(-2, 3)},
    {"normal", Distribution::normal(0.4, 0.08)},
    {"lognormal", lognormal(0.5, 0.3)},
    {"ball", ball(3)},
    {"cone", cone(0.05)},
    {"wide cone", cone(1.5)},
    {"truncated normal", Distribution::normal(0.4, 0.2).truncated(0.3, 0.9)},
    {"truncated lognormal", lognormal(0.5, 0.3).truncated(-kInfinity, 0.6)},
};

TEST(Distribution, QuantilesHaveTheirClosedForms) {
  for (const double u : {1e-9, 0.01, 0.3, 0.5, 0.77, 0.999}) {
    EXPECT_EQ(quantile(Distribution::constant(7), u), 7);
    EXPECT_NEAR(quantile(Distribution::uniform(-2, 3), u), -2 + 5 * u, kRounding);
    EXPECT_NEAR(quantile(ball(3), u), 3 * std::cbrt(u), kRounding);
    EXPECT_NEAR(quantile(cone(1.5), u), std::acos(1 - u * (1 - std::cos(1.5))), 1e-11);
  }
  // Tabulated quantiles of the standard normal distribution.
  EXPECT_NEAR(quantile(Distribution::normal(0, 1), 0.975), 1.959963984540054, kRounding);
  EXPECT_NEAR(quantile(Distribution::normal(10, 2), 0.0013498980316300933), 4, 1e-12);
  EXPECT_NEAR(quantile(lognormal(2, 0.5), 0.8413447460685429), 2 * std::exp(0.5), kRounding);
}

TEST(Distribution, ASmallConeAngleKeepsItsDigits) {
  // For a -> 0 the direction is uniform in a disc: angle = a sqrt(u).
  EXPECT_NEAR(quantile(cone(1e-6), 0.25) / 0.5e-6, 1, 1e-12);
}

TEST(Distribution, ProbabilityBelowInvertsTheQuantile) {
  for (const auto& [name, d] : kAll) {
    double before = -kInfinity;
    for (int k = 1; k < 200; ++k) {
      const double u = k / 200.0, x = quantile(d, u);
      EXPECT_GT(x, before) << name;
      before = x;
      const double whole = d.low + u * (d.high - d.low);
      EXPECT_NEAR(d.probability_below(x), whole, 1e-12) << name << " at u = " << u;
    }
  }
}

TEST(Distribution, ProbabilityBelowIsZeroAndOneOutsideTheRange) {
  EXPECT_EQ(Distribution::uniform(1, 2).probability_below(0.5), 0);
  EXPECT_EQ(Distribution::uniform(1, 2).probability_below(2.5), 1);
  EXPECT_EQ(lognormal(1, 1).probability_below(0), 0);
  EXPECT_EQ(ball(2).probability_below(-1), 0);
  EXPECT_EQ(ball(2).probability_below(2.1), 1);
  EXPECT_EQ(cone(0.1).probability_below(0), 0);
  EXPECT_EQ(cone(0.1).probability_below(0.2), 1);
  EXPECT_EQ(Distribution::constant(3).probability_below(2.9), 0);
  EXPECT_EQ(Distribution::constant(3).probability_below(3), 1);
  EXPECT_EQ(Distribution::normal(0, 1).probability_below(-kInfinity), 0);
  EXPECT_EQ(Distribution::normal(0, 1).probability_below(kInfinity), 1);
}

TEST(Distribution, TruncatedDrawsStayInsideAndAreRenormalised) {
  const Distribution d = Distribution::normal(0.4, 0.08).truncated(0.3, 0.45);
  EXPECT_NEAR(quantile(d, 0x1p-53), 0.3, 1e-12);
  EXPECT_NEAR(quantile(d, 1 - 0x1p-53), 0.45, 1e-12);
  // The median halves the probability that is left.
  const double half = (normal_cdf((0.45 - 0.4) / 0.08) + normal_cdf((0.3 - 0.4) / 0.08)) / 2;
  EXPECT_NEAR(normal_cdf((d.nominal() - 0.4) / 0.08), half, kRounding);
}

TEST(Distribution, TruncatingTwiceKeepsTheTighterLimits) {
  const Distribution once = Distribution::normal(0, 1).truncated(-1, 2);
  const Distribution twice = once.truncated(-3, 1);
  EXPECT_EQ(twice.low, once.low);
  EXPECT_NEAR(twice.high, normal_cdf(1), kRounding);
}

TEST(Distribution, ANormalDistributionMayBeCutOnOneSideFarOut) {
  const Distribution d = Distribution::normal(1, 0.15).truncated(0.3, kInfinity);
  EXPECT_EQ(d.high, 1);
  EXPECT_NEAR(d.low, 1.5306e-6, 1e-9);  // 4.67 standard deviations
}

TEST(Distribution, TheNominalValueIsTheMedian) {
  EXPECT_EQ(Distribution::constant(2).nominal(), 2);
  EXPECT_EQ(Distribution::normal(0.3, 0.1).nominal(), 0.3);
  EXPECT_EQ(Distribution::uniform(1, 4).nominal(), 2.5);
  EXPECT_NEAR(lognormal(0.5, 0.7).nominal(), 0.5, kRounding);
}

/// Largest distance between the distribution function of a set and the wanted one (Kolmogorov,
/// Smirnov).
template <class Below>
double ks_distance(const Distribution& d, Below below) {
  constexpr int kPoints = 4000;
  double worst = 0;
  for (int k = 0; k < kPoints; ++k) {
    // Evenly spread uniform numbers: their own distance is 1 / (2 kPoints), so any more is the
    // quantile's fault.
    const double u = (k + 0.5) / kPoints;
    worst = std::max(worst, std::abs(below(quantile(d, u)) - u));
  }
  return worst;
}

TEST(Distribution, DrawsFollowTheGeometryTheyStandFor) {
  // Shares of volume and of area, from the formulas of the ball and of the spherical cap.
  EXPECT_LT(ks_distance(ball(2), [](double r) { return r * r * r / 8; }), 1e-12);
  EXPECT_LT(ks_distance(cone(0.4), [](double a) { return (1 - std::cos(a)) / (1 - std::cos(0.4)); }), 1e-12);
  const double below = normal_cdf(-1), above = normal_cdf(0.5);
  EXPECT_LT(ks_distance(Distribution::normal(5, 2).truncated(3, 6),
                        [&](double x) { return (normal_cdf((x - 5) / 2) - below) / (above - below); }),
            1e-12);
}

}  // namespace
}  // namespace garra
