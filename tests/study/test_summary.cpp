// Influence of an input on an event, against closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "study/summary.hpp"

namespace garra::study {
namespace {

constexpr int kBins = kInputBins;

/// Counts of `n` samples, as many held in each bin as the mean of f over it says; f(u) given by its integral.
Tally counted(std::int64_t n, const std::function<double(double)>& integral) {
  Tally t;
  t.counts.assign(2 * kBins, 0);
  for (int b = 0; b < kBins; ++b) {
    const double low = static_cast<double>(b) / kBins, high = static_cast<double>(b + 1) / kBins;
    t.counts[static_cast<std::size_t>(b)] = std::llround(static_cast<double>(n) * (integral(high) - integral(low)));
    t.counts[static_cast<std::size_t>(kBins + b)] = n / kBins;
  }
  return t;
}

const InputCounts kCounts{0, kBins};

/// P = u/w below w, else 1: mean 1 - w/2, mean square 1 - 2w/3.
TEST(Influence, OfAProbabilityThatFallsInTheLowestBinIsNotLost) {
  for (const double w : {0.03, 0.05, 0.2, 1.0}) {
    const Tally t = counted(160'000'000, [w](double u) { return u < w ? u * u / (2 * w) : u - w / 2; });
    const double p = 1 - w / 2, truth = (1 - 2 * w / 3 - p * p) / (p * (1 - p));
    const Influence i = compute_influence(t, kCounts);
    EXPECT_NEAR(i.value / truth, 1, 0.015) << w;
    EXPECT_LE(truth - i.value, i.unresolved) << w;
    EXPECT_LT(i.unresolved, 0.2 * truth) << w;
  }
}

/// An event that the input alone decides: the bin with the jump is lost, and `unresolved` says so.
TEST(Influence, BoundsWhatAJumpLoses) {
  constexpr std::int64_t kSamples = 16'000'000;
  constexpr double kChance = static_cast<double>(kBins - 1) / kSamples;  // taken off, though these counts have none
  for (const double jump : {0.0131, 0.0523, 0.3337, 0.7777}) {
    const Tally t = counted(kSamples, [jump](double u) { return std::max(0.0, u - jump); });
    const Influence i = compute_influence(t, kCounts);
    EXPECT_LE(1 - i.value, i.unresolved + kChance) << jump;
    EXPECT_LT(i.unresolved, 1 - i.value + 0.001) << jump;
    EXPECT_GT(i.value, 0.8) << jump;
  }
}

/// Of few samples, too: what chance explains is a share of what the input leaves unexplained.
TEST(Influence, OfAnInputThatDecidesIsNotTakenForLessByChance) {
  const Tally t = counted(20'000, [](double u) { return std::max(0.0, u - 0.5131); });
  const Influence i = compute_influence(t, kCounts);
  EXPECT_GT(i.value, 0.99);
  EXPECT_LE(1 - i.value, i.unresolved);
}

/// Chance is not resolved: few samples are counted in 20 bins, whose noise is that of docs/theory/monte-carlo.md (4).
TEST(Influence, OfFewSamplesStaysCoarse) {
  Tally t;
  std::uint64_t state = 1;
  const auto next = [&] {
    return static_cast<double>((state = state * 6364136223846793005u + 1442695040888963407u) >> 11) * 0x1p-53;
  };
  int fine = 0, above = 0;
  for (int k = 0; k < 200; ++k) {
    t.counts.assign(2 * kBins, 0);
    for (int i = 0; i < 4000; ++i) {
      const auto bin = static_cast<std::size_t>(next() * kBins);
      ++t.counts[kBins + bin];
      t.counts[bin] += next() < 0.3;
    }
    const Influence i = compute_influence(t, kCounts);
    fine += i.bins > kShownInputBins;
    above += i.value > i.noise;
    if (i.bins == kShownInputBins) {
      EXPECT_DOUBLE_EQ(i.noise, 2 * std::sqrt(2.0 * 19) / 4000);
    }
  }
  EXPECT_LT(fine, 20);  // two standard deviations: about one in forty
  EXPECT_LT(above, 20);
}

TEST(Influence, OfAnEventThatAlwaysHappensIsZero) {
  const Tally t = counted(16'000, [](double u) { return u; });
  EXPECT_EQ(compute_influence(t, kCounts).value, 0);
}

TEST(Influence, BinsThatAreShownHoldAllSamples) {
  const Tally t = counted(16'000, [](double u) { return u * u / 2; });
  const Json decided = shown_bins(t, kCounts.decided, kCounts);
  ASSERT_EQ(decided.size(), static_cast<std::size_t>(kShownInputBins));
  for (const auto& n : decided) EXPECT_EQ(n, 800);
}

}  // namespace
}  // namespace garra::study
