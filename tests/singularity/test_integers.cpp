// Singular intervals of random integer screws against enumeration in exact arithmetic, and their escapes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

#include "garra/singularity.hpp"
#include "singularity_cases.hpp"

namespace garra::singularity {
namespace {

using namespace reference;

/// Rank of integer screws, without rounding: elimination without fractions (E. H. Bareiss, 1968).
int exact_rank(std::vector<std::array<std::int64_t, 6>> rows) {
  std::size_t rank = 0;
  std::int64_t previous = 1;
  for (std::size_t col = 0; col < 6 && rank < rows.size(); ++col) {
    std::size_t pivot = rank;
    while (pivot < rows.size() && rows[pivot][col] == 0) ++pivot;
    if (pivot == rows.size()) continue;
    std::swap(rows[pivot], rows[rank]);
    for (std::size_t r = rank + 1; r < rows.size(); ++r) {
      for (std::size_t k = col + 1; k < 6; ++k)
        rows[r][k] = (rows[r][k] * rows[rank][col] - rows[r][col] * rows[rank][k]) / previous;
      rows[r][col] = 0;
    }
    previous = rows[rank][col];
    ++rank;
  }
  return static_cast<int>(rank);
}

using IntegerScrew = std::array<std::int64_t, 6>;

/// Axes through nearby lattice points; many are parallel, some repeated, some prismatic.
std::vector<IntegerScrew> integer_screws(std::mt19937_64& gen) {
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(gen() % n); };
  std::vector<IntegerScrew> all;
  const std::size_t n = 3 + gen() % 6;
  while (all.size() < n) {
    if (!all.empty() && below(5) == 0) {
      all.push_back(all[gen() % all.size()]);
      continue;
    }
    const std::int64_t kind = below(5);
    const std::int64_t s[3] = {kind == 0 || kind == 3, kind == 1 || kind == 3 || kind == 4, kind == 2 || kind == 4};
    const std::int64_t p[3] = {below(5) - 2, below(5) - 2, below(3) - 1};
    if (below(7) == 0)
      all.push_back({0, 0, 0, s[0], s[1], s[2]});
    else
      all.push_back(
          {s[0], s[1], s[2], p[1] * s[2] - p[2] * s[1], p[2] * s[0] - p[0] * s[2], p[0] * s[1] - p[1] * s[0]});
  }
  return all;
}

ScrewSet real_screws(const std::vector<IntegerScrew>& all) {
  ScrewSet set;
  for (const IntegerScrew& s : all) {
    const auto real = [&](std::size_t k) { return static_cast<double>(s[k]); };
    set.screw.push_back({{{real(0), real(1), real(2)}}, {{real(3), real(4), real(5)}}});
  }
  return set;
}

Joints members(unsigned mask) {
  Joints out;
  for (int k = 0; mask >> k; ++k)
    if (mask >> k & 1u) out.push_back(k);
  return out;
}

/// All minimal dependent subsets of at most six screws, by exact enumeration.
std::vector<Joints> exact_circuits(const std::vector<IntegerScrew>& all) {
  std::vector<unsigned> dependent;
  std::vector<Joints> found;
  std::vector<unsigned> masks;
  for (unsigned mask = 1; mask < 1u << all.size(); ++mask)
    if (std::popcount(mask) <= 6) masks.push_back(mask);
  std::stable_sort(masks.begin(), masks.end(),
                   [](unsigned a, unsigned b) { return std::popcount(a) < std::popcount(b); });
  for (const unsigned mask : masks) {
    const bool minimal = std::none_of(dependent.begin(), dependent.end(), [&](unsigned d) { return (mask & d) == d; });
    if (!minimal) continue;
    std::vector<IntegerScrew> rows;
    for (const int k : members(mask)) rows.push_back(all[static_cast<std::size_t>(k)]);
    if (exact_rank(rows) == static_cast<int>(rows.size())) continue;
    dependent.push_back(mask);
    found.push_back(members(mask));
  }
  return found;
}

/// The circuits whose hull of neighbors holds no other hull and at most six joints.
std::vector<Joints> minimal_hulls(const std::vector<Joints>& all) {
  std::vector<Joints> out;
  for (const Joints& a : all) {
    if (a.back() - a.front() >= 6) continue;
    const bool minimal = std::none_of(all.begin(), all.end(), [&](const Joints& b) {
      return b != a && b.front() >= a.front() && b.back() <= a.back();
    });
    if (minimal) out.push_back(a);
  }
  return sorted(out);
}

TEST(Singularity, IntervalsOfRandomIntegerScrewsAreThoseOfExactEnumeration) {
  std::mt19937_64 gen(3);
  AnalyzeOptions options = paper_rule();
  options.clearing_sets = false;
  options.max_set_size = 1;
  int dependent = 0;
  for (int trial = 0; trial < 300; ++trial) {
    SCOPED_TRACE(trial);
    const std::vector<IntegerScrew> all = integer_screws(gen);
    const ScrewSet set = real_screws(all);
    const std::vector<Joints> exact = exact_circuits(all);
    EXPECT_EQ(sorted(circuits(set)), sorted(exact));
    const Analysis a = analyze(set, options);
    EXPECT_EQ(a.rank, exact_rank(all));
    std::vector<Joints> sets;
    for (const Interval& i : a.intervals) sets.push_back(i.dependent_joints);
    EXPECT_EQ(sorted(sets), minimal_hulls(exact));
    dependent += !exact.empty();
  }
  EXPECT_GT(dependent, 200);  // else the test has lost its object
}

TEST(Singularity, EscapesOfRandomIntegerScrewsGrowAsPredicted) {
  constexpr double kStep = 1e-4;
  std::mt19937_64 gen(4);
  int singular = 0;
  for (int trial = 0; trial < 300; ++trial) {
    SCOPED_TRACE(trial);
    const ScrewSet set = real_screws(integer_screws(gen));
    const Analysis a = analyze(set);
    if (!a.arm_singular) continue;
    ++singular;
    EXPECT_FALSE(a.escape_sets.empty());
    for (const EscapeSet& e : a.escape_sets) {
      ASSERT_GT(e.order, 0);
      const double sigma = sigma_after(set, a, motion(set, a, e, kStep));
      EXPECT_NEAR(sigma / std::pow(kStep, e.order), e.rate, 0.02 * e.rate);
    }
    for (const JointEscape& e : a.escape) {
      if (e.order > 0) {
        EXPECT_EQ(std::max(e.rank_plus, e.rank_minus), a.generic_rank);
      }
    }
  }
  EXPECT_GT(singular, 30);  // else the test has lost its object
}

}  // namespace
}  // namespace garra::singularity
