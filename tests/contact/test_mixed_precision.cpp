// Mixed precision: the answers of double precision, with one step in double or two, on every executor to the bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "answers.hpp"
#include "contact/problems/classes.hpp"

namespace garra {
namespace {

using contact::Problems;
using contact::Solutions;

const contact::Options kMixed{.precision = contact::Precision::kMixed};

std::int64_t add_groups(const std::vector<std::int32_t>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
}

TEST(MixedPrecision, HasTheSameBitsOnEveryExecutor) {
  for (int contacts = 1; contacts <= contact::kMaxOwnSize; ++contacts) {
    SCOPED_TRACE(contacts);
    const Problems p =
        contacts == 1 ? bench::random_grasps({1, 33, 0}) : bench::sliding_grasps(bench::Sliding::some, {contacts, 257});
    test::expect_same_on_every_executor(
        [&](const Device& d) { return test::make_answer(contact::solve(p, kMixed, d)); });
  }
}

// Solutions need not be unique, but of these nearly all are (data/reference/README.md).
TEST(MixedPrecision, FindsTheForcesOfDoublePrecisionInOneStepOrTwoOfDouble) {
  for (const int contacts : {1, 2, 3, 5, 8}) {
    SCOPED_TRACE(contacts);
    const Problems p = bench::random_grasps({contacts, 2000, 0});
    const Solutions plain = contact::solve(p), mixed = contact::solve(p, kMixed);
    const std::size_t size = 3 * static_cast<std::size_t>(contacts);
    int solved = 0, elsewhere = 0, many_steps = 0;
    for (std::size_t i = 0; i < 2000; ++i) {
      ASSERT_TRUE(plain.status[i] != Status::kConverged || mixed.status[i] == Status::kConverged) << i;
      if (plain.status[i] != Status::kConverged || mixed.stalls[i] > 0) continue;
      ++solved;
      many_steps += mixed.iterations[i] > 2;
      double off = 0, largest = 0;
      for (std::size_t k = i * size; k < (i + 1) * size; ++k) {
        off = std::max(off, std::abs(plain.c[k] - mixed.c[k]));
        largest = std::max(largest, std::abs(plain.c[k]));
      }
      elsewhere += off > 1e-5 * largest;
    }
    EXPECT_GT(solved, 1960);
    EXPECT_LE(elsewhere, 10);
    EXPECT_LE(many_steps, 10);
    // With fewer contacts double's first guess, the stick force, often is the answer.
    if (contacts < 3) continue;
    EXPECT_LT(add_groups(mixed.iterations), add_groups(plain.iterations));
  }
}

// Friction that no float holds, and a problem that is none: the first is solved as if single precision had not been
// tried, the other is named, and their neighbors in a register do not notice.
TEST(MixedPrecision, BeginsAnewWhereSinglePrecisionDoesNotDo) {
  Problems p = bench::random_grasps({3, 40, 0});
  const Solutions before = contact::solve(p, kMixed);
  p.mu[3 * 5 + 1] = 1e39;
  p.b[9 * 6] = std::numeric_limits<double>::quiet_NaN();
  const Solutions plain = contact::solve(p), mixed = contact::solve(p, kMixed);
  EXPECT_EQ(mixed.stalls[5], 1);
  EXPECT_EQ(mixed.iterations[5], plain.iterations[5]);
  EXPECT_EQ(plain.status[5], Status::kConverged);
  for (std::size_t k = 9 * 5; k < 9 * 6; ++k) EXPECT_EQ(mixed.c[k], plain.c[k]);
  EXPECT_EQ(mixed.status[6], Status::kInvalidInput);
  EXPECT_EQ(mixed.iterations[6], 0);
  for (std::size_t i = 0; i < 40; ++i) {
    if (i == 5 || i == 6) continue;
    for (std::size_t k = 9 * i; k < 9 * (i + 1); ++k) EXPECT_EQ(mixed.c[k], before.c[k]) << i;
  }
}

// Units far beyond the range of floats: a power of two changes no digit.
TEST(MixedPrecision, DoesNotDependOnUnits) {
  const Problems p = bench::random_grasps({2, 64, 0});
  Problems far = p;
  for (double& a : far.A) a = std::ldexp(a, -160);
  for (double& b : far.b) b = std::ldexp(b, 140);
  const Solutions near = contact::solve(p, kMixed), found = contact::solve(far, kMixed);
  EXPECT_EQ(add_groups(near.stalls), 0);
  for (std::size_t k = 0; k < near.c.size(); ++k) EXPECT_EQ(found.c[k], std::ldexp(near.c[k], 300)) << k;
}

TEST(MixedPrecision, IsRefusedWhereThereIsNone) {
  contact::Options options = kMixed;
  options.method = contact::Method::kNsgs;
  EXPECT_THROW((void)contact::solve(bench::random_grasps({3, 1, 0}), options), Error);
  EXPECT_THROW((void)contact::solve(bench::random_grasps({9, 1, 0}), kMixed), Error);
  EXPECT_THROW((void)contact::parse_precision("fp16"), Error);
}

}  // namespace
}  // namespace garra
