// Buckets of docs/theory/monte-carlo.md, "Quantiles", against sorted values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "garra/study/buckets.hpp"

namespace garra::study {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// The bound that the page states.
constexpr double kBound = 1.0 / 128;

TEST(BucketGrid, PlacesFollowTheOrderOfTheNumbersAndAreNoWiderThanTheBound) {
  std::mt19937_64 rng(1);
  std::uniform_real_distribution<double> power(-13.5, 13.5);
  std::vector<double> values = {-kInfinity, -1e300, -0.0, 0.0, 5e-324, 1e-13, 1e-12, 1, 128, 1e12, 2e12, kInfinity};
  for (int k = 0; k < 20'000; ++k) values.push_back((k % 2 == 0 ? 1 : -1) * std::pow(10, power(rng)));
  std::sort(values.begin(), values.end());
  int last = -1;
  for (const double x : values) {
    const int place = BucketGrid::place(x);
    ASSERT_TRUE(place >= last && place < BucketGrid::kPlaces) << x;
    last = place;
    if (place == BucketGrid::kZero) {
      EXPECT_LT(std::abs(x), 1e-12);
      continue;
    }
    const double low = BucketGrid::low(place), high = BucketGrid::high(place);
    ASSERT_TRUE(low <= x && x <= high) << x << " not in " << low << " ... " << high;
    if (std::abs(x) > 1e12) continue;
    ASSERT_LE(high - low, kBound * std::abs(x) * (1 + 1e-12)) << x;
  }
}

/// The values between which the share p lies, and what a quantile may differ from them.
void expect_quantiles(std::vector<double> values, const char* what) {
  Buckets buckets;
  for (const double x : values) buckets.add(3, x);
  std::erase_if(values, [](double x) { return std::isnan(x); });
  std::sort(values.begin(), values.end());
  for (const double p : {0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99}) {
    // The value whose rank is the first that is not below p n.
    const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(values.size()))) - 1;
    const double exact = values[rank], found = buckets.quantile(3, p);
    EXPECT_LE(std::abs(found - exact), kBound * std::abs(exact) + 1e-12) << what << ", p = " << p;
  }
}

TEST(Buckets, QuantilesAreOffByNoMoreThanTheBoundWhateverTheDistribution) {
  std::mt19937_64 rng(2);
  std::normal_distribution<double> normal;
  const std::vector<std::pair<const char*, std::function<double()>>> draws = {
      {"normal", [&] { return normal(rng); }},
      {"of both signs, mostly negative", [&] { return normal(rng) - 2; }},
      {"over twenty decades", [&] { return std::pow(10, 3 * normal(rng)); }},
      {"narrow", [&] { return 41.1e-3 + 1e-6 * normal(rng); }},
      {"a lump of zeros", [&] { return std::max(0.0, normal(rng)); }},
      {"two lumps", [&] { return normal(rng) < 0 ? -7.0 : 3e5; }},
      {"undefined now and then", [&] { return normal(rng) < -1 ? NAN : normal(rng); }}};
  for (const auto& [what, draw] : draws) {
    std::vector<double> values;
    for (int k = 0; k < 5'000; ++k) values.push_back(draw());
    expect_quantiles(values, what);
  }
}

TEST(Buckets, WhatLiesBeyondThemHasNoQuantile) {
  Buckets buckets;
  EXPECT_TRUE(std::isnan(buckets.quantile(0, 0.5)));
  for (const double x : {-kInfinity, 1.0, 2.0, 3e12}) buckets.add(0, x);
  EXPECT_TRUE(std::isnan(buckets.quantile(0, 0.2)));
  EXPECT_NEAR(buckets.quantile(0, 0.5), 1, kBound);
  EXPECT_TRUE(std::isnan(buckets.quantile(0, 0.9)));
}

TEST(Buckets, AddUpInAnyOrderAndComeBackFromTheirRuns) {
  std::mt19937_64 rng(3);
  std::normal_distribution<double> normal;
  Buckets parts[3], forth, back;
  for (int k = 0; k < 3'000; ++k) parts[k % 3].add(k % 5, std::pow(10, 6 * normal(rng)) * (k % 7 < 3 ? -1 : 1));
  for (int k = 0; k < 3; ++k) forth.add(parts[k]), back.add(parts[2 - k]);
  EXPECT_TRUE(forth == back);
  EXPECT_FALSE(forth == parts[0]);
  Buckets read;
  for (int k = 0; k < forth.numbers(); ++k) EXPECT_TRUE(read.add_runs(k, forth.runs(k)));
  EXPECT_TRUE(read == forth);
  EXPECT_EQ(forth.numbers(), 5);
}

TEST(Buckets, RunsThatNobodyHasWrittenAreRefused) {
  const std::int64_t places = BucketGrid::kPlaces;
  for (const std::vector<std::int64_t>& runs : std::initializer_list<std::vector<std::int64_t>>{
           {0}, {-1, 1}, {0, 0}, {0, -1}, {1, 1}, {BucketGrid::kZero + 1, 1}, {places, 1}, {0, 1, places - 1, 1}})
    EXPECT_FALSE(Buckets().add_runs(0, runs)) << testing::PrintToString(runs);
  EXPECT_TRUE(Buckets().add_runs(0, {0, 1, BucketGrid::kZero - 1, 2, BucketGrid::kAbove - BucketGrid::kZero - 1, 3}));
}

}  // namespace
}  // namespace garra::study
