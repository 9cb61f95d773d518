// Sequential comparisons against what is known of the candidates: errors over repeats, and what they save.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "study/elimination.hpp"

namespace garra::study {
namespace {

TEST(Evidence, OfAFairCoinSeldomGrows) {
  std::mt19937_64 coin(1);
  int wrong = 0;
  constexpr int kRepeats = 2000;
  for (int r = 0; r < kRepeats; ++r) {
    Discordant pairs;
    bool sure = false;
    for (int n = 0; n < 1000 && !sure; ++n) {
      ++((coin() & 1) != 0 ? pairs.only_first : pairs.only_second);
      sure = log_evidence(pairs) >= std::log(20);
    }
    wrong += sure;
  }
  // At most a twentieth, looked at after every flip; three standard deviations.
  EXPECT_LE(wrong, 0.05 * kRepeats + 3 * std::sqrt(0.05 * 0.95 * kRepeats));
  EXPECT_GT(wrong, 0) << "a test that is never wrong wastes samples";
}

TEST(Evidence, GrowsAsFastAsABettorCan) {
  // Forty pairs for the first and none for the second: at most 2^40, at least an eighth of what the boldest makes of
  // it.
  EXPECT_LT(log_evidence({40, 0}), 40 * std::log(2));
  EXPECT_GT(log_evidence({40, 0}), 40 * std::log(1.98) - std::log(8) - 1e-9);
  EXPECT_LT(log_evidence({0, 40}), 0);
  EXPECT_EQ(log_evidence({0, 0}), 0);
}

TEST(AlwaysValid, HoldsTheTruthAtEveryLook) {
  std::mt19937_64 random(2);
  constexpr int kRepeats = 1000;
  for (const double p : {0.5, 0.9, 0.999}) {
    std::bernoulli_distribution success(p);
    int missed = 0;
    for (int r = 0; r < kRepeats; ++r) {
      std::int64_t successes = 0;
      bool inside = true;
      for (std::int64_t n = 1, look = 1; n <= 2000; ++n) {
        successes += success(random);
        if (n < look) continue;
        look = n + n / 8 + 1;
        const Interval i = always_valid(successes, n, 0, 0.95);
        inside = inside && i.low <= p && p <= i.high;
      }
      missed += !inside;
    }
    EXPECT_LE(missed, 0.05 * kRepeats + 3 * std::sqrt(0.05 * 0.95 * kRepeats)) << p;
  }
}

TEST(AlwaysValid, IsWiderThanTheExactOneAndWidensWithTheUnsolved) {
  const Interval always = always_valid(900, 1000, 0, 0.95), once = clopper_pearson(900, 1000);
  EXPECT_LT(always.low, once.low);
  EXPECT_GT(always.high, once.high);
  EXPECT_LT(always.high - always.low, 2 * (once.high - once.low));
  const Interval open = always_valid(900, 1000, 50, 0.95);
  EXPECT_LT(open.low, always.low);
  EXPECT_GT(open.high, always.high);
  EXPECT_EQ(always_valid(0, 100, 0, 0.95).low, 0);
  EXPECT_EQ(always_valid(100, 100, 0, 0.95).high, 1);
}

/// Candidates that hold where a draw is below their probability; the draw is half their own and half common, made
/// uniform.
struct Race {
  std::vector<double> probability;
  std::mt19937_64 random;
  std::vector<std::vector<bool>> held = {};  ///< [candidate][sample]

  void draw(std::int64_t samples) {
    std::normal_distribution<double> normal;
    for (std::int64_t i = 0; i < samples; ++i) {
      const double common = normal(random);
      for (std::size_t g = 0; g < probability.size(); ++g) {
        const double z = std::sqrt(0.5) * (common + normal(random));
        held[g].push_back(0.5 * std::erfc(-z / std::sqrt(2.0)) < probability[g]);
      }
    }
  }
  [[nodiscard]] Discordant pairs(std::size_t a, std::size_t b) const {
    Discordant d;
    for (std::size_t i = 0; i < held[a].size(); ++i) {
      d.only_first += held[a][i] && !held[b][i];
      d.only_second += held[b][i] && !held[a][i];
    }
    return d;
  }
  [[nodiscard]] std::vector<std::size_t> leaders(const Elimination& race, std::int64_t wanted) const {
    std::vector<std::size_t> order = race.survivors();
    const auto share = [&](std::size_t g) { return std::count(held[g].begin(), held[g].end(), true); };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return share(a) > share(b); });
    order.resize(std::min(order.size(), static_cast<std::size_t>(wanted)));
    return order;
  }
};

struct Outcome {
  bool right, decided;
  std::int64_t samples, equal;  ///< drawn for survivors, and what an equal share for all would have taken
};

Outcome race_of(const std::vector<double>& probability, std::int64_t wanted, unsigned seed, std::int64_t most) {
  Race race{probability, std::mt19937_64(seed)};
  race.held.resize(probability.size());
  Elimination elimination(std::ssize(probability), wanted, 0.95);
  Outcome out{true, false, 0, 0};
  std::int64_t n = 0;
  while (n < most && !elimination.is_decided()) {
    const std::int64_t more = std::max<std::int64_t>(32, n / 4);
    race.draw(more);
    n += more;
    out.samples += more * std::ssize(elimination.survivors());
    elimination.drop_worse(race.leaders(elimination, wanted),
                           [&](std::size_t a, std::size_t b) { return race.pairs(a, b); });
  }
  out.decided = elimination.is_decided();
  out.equal = n * std::ssize(probability);
  // The first `wanted` are the true best.
  for (std::size_t g = 0; g < static_cast<std::size_t>(wanted); ++g)
    out.right = out.right && std::find(elimination.survivors().begin(), elimination.survivors().end(), g) !=
                                 elimination.survivors().end();
  return out;
}

TEST(Elimination, KeepsTheTrueBestInThousandRepeats) {
  const std::vector<double> probability = {0.95, 0.94, 0.9, 0.88, 0.86, 0.8, 0.7, 0.6, 0.5, 0.3, 0.2, 0.1};
  int wrong = 0, decided = 0;
  for (unsigned r = 0; r < 1000; ++r) {
    const Outcome o = race_of(probability, 2, r, 2000);
    wrong += !o.right;
    decided += o.decided;
  }
  EXPECT_LE(wrong, 50);
  EXPECT_GT(decided, 900);
}

TEST(Elimination, NeedsAFifthOfEqualShares) {
  // Two hundred candidates, ten of them good: most are given up after a few samples.
  std::vector<double> probability;
  for (int g = 0; g < 10; ++g) probability.push_back(0.97 - 0.002 * g);
  for (int g = 0; g < 190; ++g) probability.push_back(0.9 - 0.0045 * g);
  const Outcome o = race_of(probability, 10, 7, 20'000);
  EXPECT_TRUE(o.right && o.decided);
  EXPECT_LT(static_cast<double>(o.samples), 0.2 * static_cast<double>(o.equal));
}

TEST(Elimination, NeverDecidesBetweenEqualCandidates) {
  const Outcome o = race_of({0.9, 0.9, 0.9}, 1, 3, 3000);
  EXPECT_FALSE(o.decided);
}

}  // namespace
}  // namespace garra::study
