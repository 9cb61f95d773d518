// The interval of a probability and the tally.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "garra/study/study.hpp"
#include "garra/study/tally.hpp"

namespace garra::study {
namespace {

/// P(X = j) of n draws, j = 0 ... n, from the ratios of neighbors, the largest first; normalized.
std::vector<double> binomial(int n, double p) {
  std::vector<double> chance(static_cast<std::size_t>(n) + 1, 0.0);
  const int mode = std::min(n, static_cast<int>((n + 1) * p));
  const auto at = [&](int j) -> double& { return chance[static_cast<std::size_t>(j)]; };
  at(mode) = 1;
  for (int j = mode; j < n; ++j) at(j + 1) = at(j) * (n - j) / (j + 1.0) * p / (1 - p);
  for (int j = mode; j > 0; --j) at(j - 1) = at(j) * j / (n - j + 1.0) * (1 - p) / p;
  const double sum = std::accumulate(chance.begin(), chance.end(), 0.0);
  for (double& x : chance) x /= sum;
  return chance;
}

TEST(ClopperPearson, LeavesTwoAndAHalfPercentBeyondEachEnd) {
  for (const auto& [k, n] : {std::pair{1, 2}, {3, 10}, {1, 15}, {16, 17}, {50, 100}, {999, 1000}, {123456, 1000000}}) {
    const Interval i = clopper_pearson(k, n);
    const std::vector<double> at_low = binomial(n, i.low), at_high = binomial(n, i.high);
    EXPECT_NEAR(std::accumulate(at_low.begin() + k, at_low.end(), 0.0), 0.025, 1e-9) << k << " of " << n;
    EXPECT_NEAR(std::accumulate(at_high.begin(), at_high.begin() + k + 1, 0.0), 0.025, 1e-9) << k << " of " << n;
  }
}

TEST(ClopperPearson, CoversWithItsLevelWhateverTheProbability) {
  for (const int n : {1, 5, 50, 200, 1024}) {
    std::vector<Interval> of;
    for (int k = 0; k <= n; ++k) of.push_back(clopper_pearson(k, n));
    std::vector<double> probabilities = {1 - 0.175 / n, 0.9999, 0.999, 0.99, 0.95, 0.87, 0.5, 0.03, 1e-4};
    // Coverage is least just outside of an interval's end.
    for (const Interval& i : of) probabilities.push_back(i.low * (1 - 1e-9)), probabilities.push_back(i.high + 1e-9);
    for (const double p : probabilities) {
      if (p <= 0 || p >= 1) continue;
      const std::vector<double> chance = binomial(n, p);
      double coverage = 0;
      for (std::size_t k = 0; k < of.size(); ++k) coverage += of[k].low <= p && p <= of[k].high ? chance[k] : 0;
      EXPECT_GE(coverage, 0.95 - 1e-6) << p << " of " << n;
    }
  }
}

TEST(ClopperPearson, AgreesWithScipysForManyTrials) {
  // scipy.stats.binomtest(k, n).proportion_ci(method="exact"), SciPy 1.17.1
  const Interval billion = clopper_pearson(869'470'000, 1'000'000'000), rare = clopper_pearson(3, 1'000'000'000);
  EXPECT_NEAR(billion.low, 0.8694491184274141, 1e-11);
  EXPECT_NEAR(billion.high, 0.8694908794337952, 1e-11);
  EXPECT_NEAR(rare.low / 6.186721233228957e-10, 1, 1e-6);
  EXPECT_NEAR(rare.high / 8.76727308867756e-09, 1, 1e-6);
}

TEST(ClopperPearson, AtTheEdgesStaysInsideAndIsNeverASinglePoint) {
  EXPECT_EQ(clopper_pearson(0, 0).low, 0);
  EXPECT_EQ(clopper_pearson(0, 0).high, 1);
  EXPECT_EQ(clopper_pearson(0, 50).low, 0);
  EXPECT_NEAR(clopper_pearson(0, 50).high, 1 - std::pow(0.025, 1 / 50.0), 1e-15);
  EXPECT_EQ(clopper_pearson(50, 50).high, 1);
  EXPECT_NEAR(clopper_pearson(50, 50).low, std::pow(0.025, 1 / 50.0), 1e-15);
  EXPECT_NEAR(clopper_pearson(0, 1).high, 0.975, 1e-15);
}

TEST(ClopperPearson, IsWidenedByUnsolvedSamplesOnBothSides) {
  const Interval plain = clopper_pearson(80, 100), wide = clopper_pearson_with_unsolved(80, 100, 10);
  EXPECT_LT(wide.low, plain.low);
  EXPECT_GT(wide.high, plain.high);
  EXPECT_EQ(wide.low, clopper_pearson(80, 110).low);
  EXPECT_EQ(wide.high, clopper_pearson(90, 110).high);
}

TEST(Histogram, PutsEveryValueSomewhere) {
  const Histogram h{0, 1, 10, 5};
  EXPECT_EQ(h.place(0), 5);
  EXPECT_EQ(h.place(0.999999), 14);
  EXPECT_EQ(h.place(std::nextafter(1.0, 0.0)), 14);
  EXPECT_EQ(h.place(-1e-9), 15);
  EXPECT_EQ(h.place(1), 16);
  EXPECT_EQ(h.place(INFINITY), 16);
  EXPECT_EQ(h.place(NAN), 17);
}

TEST(Ranking, DoesNotDependOnTheOrderOfArrival) {
  Ranking forward, backward, merged, odd;
  for (int i = 0; i < 100; ++i) forward.add({std::fmod(i * 7.3, 5.0), i, 0, 0});
  for (int i = 99; i >= 0; --i) backward.add({std::fmod(i * 7.3, 5.0), i, 0, 0});
  for (int i = 0; i < 100; ++i) (i % 2 ? odd : merged).add({std::fmod(i * 7.3, 5.0), i, 0, 0});
  merged.merge(odd);
  ASSERT_EQ(forward.list().size(), Ranking::kLimit);
  for (std::size_t k = 0; k < Ranking::kLimit; ++k) {
    EXPECT_EQ(forward.list()[k].sample, backward.list()[k].sample);
    EXPECT_EQ(forward.list()[k].sample, merged.list()[k].sample);
  }
}

}  // namespace
}  // namespace garra::study
