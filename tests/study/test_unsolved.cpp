// When unsolved samples fail a study.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "garra/study/study.hpp"

namespace garra::study {
namespace {

std::string fault(std::int64_t held, std::int64_t decided, std::int64_t unsolved,
                  const std::optional<double>& limit = {}) {
  const std::vector<DecisionCounts> one = {{held, decided, unsolved}};
  return unsolved_fault(one, limit);
}

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Unsolved, ThreeAreFewOfAnyNumberOfSamples) {
  // Half of the samples are held: the interval is wide, so that the number alone decides.
  EXPECT_EQ(fault(50, 97, 3), "");
  EXPECT_EQ(fault(1000, 1996, 3), "");
  const std::string four = fault(1000, 1996, 4);
  EXPECT_TRUE(mentions(four, "4 of 2000 samples are unsolved, more than max(3, samples / 1000)")) << four;
}

TEST(Unsolved, OneInAThousandAreFewOfManySamples) {
  EXPECT_EQ(fault(50'000, 99'900, 100), "");
  EXPECT_TRUE(mentions(fault(50'000, 99'899, 101), "101 of 100000 samples"));
  EXPECT_EQ(fault(0, 0, 0), "");
}

TEST(Unsolved, FewAreTooManyWhereTheIntervalIsNarrow) {
  // All of a million are held: the interval is 1 - 0.025^(1/n) wide, 3.7e-6, and an unsolved sample moves its lower
  // end by more than 1e-6.
  constexpr std::int64_t n = 1'000'000;
  EXPECT_EQ(fault(n - 1, n - 1, 1), "");
  const std::string three = fault(n - 3, n - 3, 3);
  EXPECT_TRUE(mentions(three, "3 unsolved samples widen the 95 % interval")) << three;
  // Written from the rule: the width with them is more than twice that without. The lower end with u lost samples is
  // where P(at most u are lost) is 0.025; Poisson's chances at that rate are those of a million draws to 1e-5.
  for (const std::int64_t u : {1, 2, 3}) {
    double rate = 0;
    for (double step = 16; step > 1e-9; step /= 2) {
      double chance = std::exp(-(rate + step)), sum = chance;
      for (std::int64_t j = 1; j <= u; ++j) sum += chance *= (rate + step) / static_cast<double>(j);
      if (sum > 0.025) rate += step;
    }
    EXPECT_EQ(fault(n - u, n - u, u).empty(), rate <= -2 * std::log(0.025)) << u;
  }
}

TEST(Unsolved, ANumberThatTheUserGivesHoldsAsItIs) {
  EXPECT_EQ(fault(50, 90, 10, 0.1), "");
  EXPECT_TRUE(mentions(fault(50, 89, 11, 0.1), "11 % of the samples are unsolved, more than a share of 0.1"));
  EXPECT_NE(fault(1000, 1999, 1, 0.0), "") << "none may be";
  EXPECT_EQ(fault(0, 0, 500, 1.0), "") << "all may be";
  EXPECT_EQ(fault(999'997, 999'997, 3, 1e-5), "") << "however narrow the interval";
}

TEST(Unsolved, OfSeveralGroupsTheNumberIsOfAllAndTheIntervalOfEach) {
  EXPECT_NE(unsolved_fault(std::vector<DecisionCounts>{{50, 98, 2}, {50, 98, 2}}, {}), "");
  EXPECT_EQ(unsolved_fault(std::vector<DecisionCounts>{{50, 98, 2}, {50, 99, 1}}, {}), "");
  const std::vector<DecisionCounts> narrow = {{500'000, 1'000'000, 0}, {999'997, 999'997, 3}};
  EXPECT_TRUE(mentions(unsolved_fault(narrow, {}), "widen"));
  EXPECT_EQ(unsolved_fault({}, {}), "");
  EXPECT_EQ(unsolved_share(std::vector<DecisionCounts>{{1, 3, 1}, {0, 0, 4}}), 5.0 / 8);
}

}  // namespace
}  // namespace garra::study
