// Wilson's interval and the tally.
#include <gtest/gtest.h>

#include <cmath>

#include "garra/study/study.hpp"
#include "garra/study/tally.hpp"

namespace garra::study {
namespace {

TEST(Wilson, SolvesItsDefiningEquation) {
  constexpr double z = 1.959963984540054;
  for (const auto& [k, n] : {std::pair{3, 10}, {50, 100}, {999, 1000}, {123456, 1000000}}) {
    const Interval i = wilson(k, n);
    const double p = double(k) / n;
    for (const double edge : {i.low, i.high})  // |p - edge| = z sqrt(edge (1 - edge) / n)
      EXPECT_NEAR(std::abs(p - edge), z * std::sqrt(edge * (1 - edge) / n), 1e-12);
  }
}

TEST(Wilson, AtTheEdgesStaysInsideAndIsNeverASinglePoint) {
  EXPECT_EQ(wilson(0, 0).low, 0);
  EXPECT_EQ(wilson(0, 0).high, 1);
  EXPECT_EQ(wilson(0, 50).low, 0);
  EXPECT_NEAR(wilson(0, 50).high, 0.0713, 1e-4);
  EXPECT_EQ(wilson(50, 50).high, 1);
  EXPECT_NEAR(wilson(50, 50).low, 1 - 0.0713, 1e-4);
}

TEST(Wilson, IsWidenedByUnsolvedSamplesOnBothSides) {
  const Interval plain = wilson(80, 100), wide = wilson_with_unsolved(80, 100, 10);
  EXPECT_LT(wide.low, plain.low);
  EXPECT_GT(wide.high, plain.high);
  EXPECT_EQ(wide.low, wilson(80, 110).low);
  EXPECT_EQ(wide.high, wilson(90, 110).high);
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
