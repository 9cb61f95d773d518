// Philox4x32-10 and what is drawn from it.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "garra/core/lanes.hpp"
#include "garra/core/normal.hpp"
#include "garra/core/philox.hpp"

namespace garra {
namespace {

using Words = std::array<std::uint32_t, 4>;

struct KnownAnswer {
  Words counter;
  PhiloxKey key;
  Words expected;
};

// From Random123's kat_vectors, lines "philox4x32 10".
const KnownAnswer kKnownAnswers[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

template <class S>
PhiloxBlock<S> broadcast(const Words& w) {
  using Word = PhiloxWord<S>;
  using W = RealOf<Word>;
  return {{Word(W(w[0])), Word(W(w[1])), Word(W(w[2])), Word(W(w[3]))}};
}
std::uint64_t lane(std::uint64_t w, int) { return w; }
std::uint64_t lane(std::uint32_t w, int) { return w; }
template <class T>
std::uint64_t lane(const Lanes<T>& w, int l) {
  return w[l];
}
double value(double x, int) { return x; }
float value(float x, int) { return x; }
template <class T>
T value(const Lanes<T>& x, int l) {
  return x[l];
}

template <class S>
class Philox : public testing::Test {};
using Scalars = testing::Types<double, float, Lanes<double>, Lanes<float>>;
TYPED_TEST_SUITE(Philox, Scalars);

TYPED_TEST(Philox, ReproducesRandom123sKnownAnswersInEveryLane) {
  for (const KnownAnswer& known : kKnownAnswers) {
    const PhiloxBlock<TypeParam> block = philox<TypeParam>(broadcast<TypeParam>(known.counter), known.key);
    for (int k = 0; k < 4; ++k)
      for (int l = 0; l < kWidth<TypeParam>; ++l)
        EXPECT_EQ(lane(block.word[k], l), known.expected[static_cast<std::size_t>(k)]);
  }
}

TYPED_TEST(Philox, GivesEachLaneTheNumbersOfItsSampleAlsoAcrossTheCarryIntoTheHighWord) {
  using S = TypeParam;
  for (const std::uint64_t first : {0ull, 1000ull, 0xfffffffcull, 0xffffffffull, 0x7fffffffffffff00ull}) {
    std::vector<std::uint64_t> scattered;
    for (int l = 0; l < kWidth<S>; ++l) scattered.push_back(first ^ (0x100000000ull * static_cast<unsigned>(l * l)));
    S u0, u1, v0, v1;
    uniform_pair(77u, SampleIndex<S>::consecutive(first), 3u, u0, u1);
    uniform_pair(77u, SampleIndex<S>::gather(scattered.data()), 3u, v0, v1);
    for (int l = 0; l < kWidth<S>; ++l) {
      using R = RealOf<S>;
      R a0, a1, b0, b1;
      uniform_pair(77u, SampleIndex<R>::consecutive(first + static_cast<unsigned>(l)), 3u, a0, a1);
      uniform_pair(77u, SampleIndex<R>::gather(&scattered[static_cast<std::size_t>(l)]), 3u, b0, b1);
      EXPECT_EQ(value(u0, l), a0);
      EXPECT_EQ(value(u1, l), a1);
      EXPECT_EQ(value(v0, l), b0);
      EXPECT_EQ(value(v1, l), b1);
    }
  }
}

TEST(Uniform, StaysInsideTheOpenIntervalForTheExtremeWords) {
  EXPECT_EQ(open_uniform<double>(0u, 0u), 0x1p-53);
  EXPECT_EQ(open_uniform<double>(0xffffffffu, 0xffffffffu), 1.0 - 0x1p-53);
  EXPECT_EQ(open_uniform<float>(0u, 0u), 0x1p-24f);
  EXPECT_EQ(open_uniform<float>(0xffffffffu, 0xffffffffu), 1.0f - 0x1p-24f);
}

TEST(Uniform, InFloatIsTheDoubleSampleLessFinelyCut) {
  for (std::uint64_t i = 0; i < 1000; ++i) {
    double u0, u1;
    float v0, v1;
    uniform_pair(5u, SampleIndex<double>::consecutive(i), 0u, u0, u1);
    uniform_pair(5u, SampleIndex<float>::consecutive(i), 0u, v0, v1);
    EXPECT_NEAR(u0, double{v0}, 0x1p-24);
    EXPECT_NEAR(u1, double{v1}, 0x1p-24);
  }
}

TEST(Uniform, ChangesWithSeedIndexAndDraw) {
  const auto first = [](std::uint64_t seed, std::uint64_t index, std::uint32_t draw) {
    double u0, u1;
    uniform_pair(seed, SampleIndex<double>::consecutive(index), draw, u0, u1);
    EXPECT_NE(u0, u1);
    return u0;
  };
  const double base = first(1, 1, 1);
  EXPECT_NE(base, first(2, 1, 1));
  EXPECT_NE(base, first(1ull << 32 | 1, 1, 1));
  EXPECT_NE(base, first(1, 2, 1));
  EXPECT_NE(base, first(1, 1ull << 32 | 1, 1));
  EXPECT_NE(base, first(1, 1, 2));
}

// With a fixed seed this is a fixed computation; the bounds are 4 standard deviations of the
// sampled quantity, so a correct generator would fail for about one seed in ten thousand.
TEST(Uniform, HasTheMomentsAndTheFlatHistogramOfAUniformNumber) {
  constexpr int kSamples = 1 << 17;  // two numbers each
  constexpr int kBins = 256;
  std::vector<int> histogram(kBins, 0);
  double sum = 0, sum_sq = 0, sum_product = 0;
  for (int i = 0; i < kSamples; ++i) {
    double u0, u1;
    uniform_pair(2024u, SampleIndex<double>::consecutive(static_cast<unsigned>(i)), 0u, u0, u1);
    for (const double u : {u0, u1}) {
      sum += u - 0.5;
      sum_sq += (u - 0.5) * (u - 0.5);
      ++histogram[static_cast<std::size_t>(u * kBins)];
    }
    sum_product += (u0 - 0.5) * (u1 - 0.5);
  }
  const double n = 2.0 * kSamples;
  EXPECT_NEAR(sum / n, 0.0, 4 * std::sqrt(1 / 12.0 / n));
  EXPECT_NEAR(sum_sq / n, 1 / 12.0, 4 * std::sqrt(1 / 180.0 / n));
  EXPECT_NEAR(sum_product / kSamples, 0.0, 4 / 12.0 / std::sqrt(kSamples));
  double chi_square = 0;
  for (const int count : histogram) chi_square += (count - n / kBins) * (count - n / kBins) / (n / kBins);
  EXPECT_NEAR(chi_square, kBins - 1, 4 * std::sqrt(2.0 * (kBins - 1)));
}

TEST(NormalQuantile, InvertsTheDistributionFunction) {
  // dp/dx is the density, so an error of x shows in p relatively as x e / (p / density); erfc
  // itself adds a few ulp.
  for (double x = -37.0; x <= 0.0; x += 0.0173) {
    const double p = normal_cdf(x);
    if (p < 1e-300) continue;
    EXPECT_NEAR(normal_quantile(p), x, 2e-15 * std::fmax(1.0, std::fabs(x))) << "p = " << p;
  }
}

TEST(NormalQuantile, MatchesPublishedPercentagePoints) {
  // AS 241's own check values, then the 97.5 % point.
  EXPECT_NEAR(normal_quantile(0.25), -0.6744897501960817, 1e-15);
  EXPECT_NEAR(normal_quantile(0.001), -3.090232306167814, 4e-15);
  EXPECT_NEAR(normal_quantile(1e-20), -9.262340089798408, 1e-14);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 2e-15);
  EXPECT_EQ(normal_quantile(0.5), 0.0);
}

TEST(NormalQuantile, IsAntisymmetricAndHandlesTheEnds) {
  for (const double p : {0x1p-53, 1e-9, 0.01, 0.07, 0.3}) {
    const double rounded = 1.0 - (1.0 - p);
    EXPECT_EQ(normal_quantile(rounded), -normal_quantile(1.0 - p));
  }
  EXPECT_EQ(normal_quantile(0.0), -INFINITY);
  EXPECT_EQ(normal_quantile(1.0), INFINITY);
  EXPECT_TRUE(std::isnan(normal_quantile(-0.1)));
  EXPECT_TRUE(std::isnan(normal_quantile(1.1)));
  EXPECT_TRUE(std::isnan(normal_quantile(std::nan(""))));
}

TEST(NormalQuantile, GivesTheSameBitsInLanesAsInScalarCode) {
  using S = Lanes<double>;
  for (int block = 0; block < 2000; ++block) {
    const std::uint64_t first = static_cast<std::uint64_t>(block) * kWidth<S>;
    S u0, u1;
    uniform_pair(9u, SampleIndex<S>::consecutive(first), 0u, u0, u1);
    u1 = u1 * u1 * u1 * u1 * u1 * u1 * u1 * u1;  // reaches the far tail
    u1 = u1 * u1 * u1 * u1;
    const S z0 = normal_quantile(u0), z1 = normal_quantile(u1);
    for (int l = 0; l < kWidth<S>; ++l) {
      EXPECT_EQ(z0[l], normal_quantile(u0[l]));
      EXPECT_EQ(z1[l], normal_quantile(u1[l]));
    }
  }
}

TEST(NormalQuantile, OfUniformSamplesHasMomentsZeroOneAndThree) {
  constexpr int kSamples = 1 << 17;
  double sum = 0, sum2 = 0, sum4 = 0;
  for (int i = 0; i < kSamples; ++i) {
    double u0, u1;
    uniform_pair(31u, SampleIndex<double>::consecutive(static_cast<unsigned>(i)), 7u, u0, u1);
    const double z = normal_quantile(u0);
    sum += z;
    sum2 += z * z;
    sum4 += z * z * z * z;
  }
  const double n = kSamples;  // 4 standard deviations: variances of z, z^2, z^4 are 1, 2, 96
  EXPECT_NEAR(sum / n, 0.0, 4 * std::sqrt(1 / n));
  EXPECT_NEAR(sum2 / n, 1.0, 4 * std::sqrt(2 / n));
  EXPECT_NEAR(sum4 / n, 3.0, 4 * std::sqrt(96 / n));
}

}  // namespace
}  // namespace garra
