// Sums against rational arithmetic: data/reference/study/exact_sums.txt.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <vector>

#include "garra/study/exact_sum.hpp"
#include "reference.hpp"

namespace garra::study {
namespace {

struct Case {
  double total;
  std::vector<double> numbers;
};

std::vector<Case> cases() {
  std::ifstream in(test::reference_path("study/exact_sums.txt"));
  std::vector<Case> list;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::vector<double> numbers;
    for (std::string word; words >> word;) numbers.push_back(std::strtod(word.c_str(), nullptr));
    list.push_back({numbers.front(), {numbers.begin() + 1, numbers.end()}});
  }
  return list;
}

ExactSum add_groups(const std::vector<double>& numbers) {
  ExactSum sum;
  for (const double x : numbers) sum.add(x);
  return sum;
}

TEST(ExactSum, IsTheRationalSumRoundedOnce) {
  const std::vector<Case> all = cases();
  ASSERT_EQ(all.size(), 400u);
  for (const Case& c : all) EXPECT_EQ(add_groups(c.numbers).value(), c.total) << c.numbers.size();
}

TEST(ExactSum, ForgetsOrderAndPartition) {
  for (const Case& c : cases()) {
    const std::vector<std::int64_t> words = add_groups(c.numbers).words();
    std::vector<double> backward(c.numbers.rbegin(), c.numbers.rend());
    EXPECT_EQ(add_groups(backward).words(), words);
    for (const std::size_t cut : {c.numbers.size() / 3, c.numbers.size() / 2}) {
      const auto at = c.numbers.begin() + static_cast<std::ptrdiff_t>(cut);
      ExactSum late = add_groups({at, c.numbers.end()});
      late.add(add_groups({c.numbers.begin(), at}));
      EXPECT_EQ(late.words(), words);
    }
  }
}

TEST(ExactSum, ComesBackFromItsWords) {
  for (const Case& c : cases()) {
    const ExactSum sum = add_groups(c.numbers);
    const auto again = ExactSum::of(sum.words());
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(again->value(), c.total);
  }
  // Another form of the same sum, a word out of place, a huge one, none at all.
  for (const std::vector<std::int64_t>& words : {std::vector<std::int64_t>{0, 3, 0, 1},
                                                 {0, 3, 1, 0},
                                                 {0, 66, 1, 1},
                                                 {8, 0},
                                                 {0, -1, 1},
                                                 {0, 3, INT64_MAX},
                                                 {},
                                                 {0}})
    EXPECT_FALSE(ExactSum::of(words).has_value());
}

TEST(ExactSum, ManyOfTheLargestNumbersCancel) {
  constexpr double kMax = std::numeric_limits<double>::max();
  ExactSum sum;
  for (int k = 0; k < 100'000; ++k) sum.add(kMax);
  EXPECT_EQ(sum.value(), std::numeric_limits<double>::infinity());
  for (int k = 0; k < 100'000; ++k) sum.add(-kMax);
  sum.add(std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(sum.value(), std::numeric_limits<double>::denorm_min());
}

TEST(ExactSum, SaysWhatIsNotFinite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(add_groups({1, kInfinity}).value(), kInfinity);
  EXPECT_EQ(add_groups({-kInfinity, 1e308}).value(), -kInfinity);
  EXPECT_TRUE(std::isnan(add_groups({kInfinity, 1, -kInfinity}).value()));
  EXPECT_TRUE(std::isnan(add_groups({NAN}).value()));
  EXPECT_EQ(add_groups({}).value(), 0);
  EXPECT_FALSE(std::signbit(add_groups({-0.0}).value()));
}

}  // namespace
}  // namespace garra::study
