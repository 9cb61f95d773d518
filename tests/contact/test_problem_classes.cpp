// The generators of src/contact/problems/classes.hpp: what benchmarks and solver tests are measured on must be what it
// says.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../../bench/certificate.hpp"
#include "contact/problems/classes.hpp"
#include "gtest/gtest.h"
#include "reference.hpp"

namespace garra::bench {
namespace {

constexpr ManufacturedClass kClasses[] = {ManufacturedClass::compliant, ManufacturedClass::rigid};
constexpr Mode kModes[] = {Mode::mixed, Mode::stick, Mode::slide, Mode::break_};

/// Rank of the n x n matrix by elimination with complete pivoting; a pivot below 1e-9 of the first counts as zero.
int numerical_rank(std::vector<double> m, std::size_t n) {
  double first = 0;
  for (std::size_t step = 0; step < n; ++step) {
    std::size_t row = step, col = step;
    for (std::size_t i = step; i < n; ++i)
      for (std::size_t j = step; j < n; ++j)
        if (std::abs(m[i * n + j]) > std::abs(m[row * n + col])) row = i, col = j;
    const double pivot = m[row * n + col];
    if (step == 0) first = std::abs(pivot);
    if (std::abs(pivot) <= 1e-9 * first) return static_cast<int>(step);
    for (std::size_t j = 0; j < n; ++j) std::swap(m[step * n + j], m[row * n + j]);
    for (std::size_t i = 0; i < n; ++i) std::swap(m[i * n + step], m[i * n + col]);
    for (std::size_t i = step + 1; i < n; ++i) {
      const double factor = m[i * n + step] / pivot;
      for (std::size_t j = step; j < n; ++j) m[i * n + j] -= factor * m[step * n + j];
    }
  }
  return static_cast<int>(n);
}

std::vector<double> matrix_of(const contact::Problems& problems, std::int64_t index) {
  const auto entries = static_cast<std::ptrdiff_t>(9 * problems.contacts * problems.contacts);
  const auto begin = problems.A.begin() + static_cast<std::ptrdiff_t>(index) * entries;
  return {begin, begin + entries};
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

// 1e-12 leaves room for another machine's log and cos; the entries are of size 1 to 50.
TEST(ProblemClasses, RandomGraspsEqualTheStoredReference) {
  for (const int contacts : {3, 4, 8}) {
    const std::string file = "contact/random_n" + std::to_string(contacts) + ".h5";
    SCOPED_TRACE(file);
    const test::ReferenceArray b = test::read_reference(file, "b");
    const contact::Problems p = random_grasps({contacts, static_cast<std::int64_t>(b.count())});
    EXPECT_LE(largest_difference(p.A, test::read_reference(file, "A").values), 1e-12);
    EXPECT_LE(largest_difference(p.b, b.values), 1e-12);
    EXPECT_LE(largest_difference(p.mu, test::read_reference(file, "mu").values), 1e-12);
  }
}

// The stored solutions have a relative error below 1e-12 without scaling; scaling moves it by less than ten.
TEST(ProblemClasses, TheCertificateAcceptsTheStoredSolutions) {
  for (const int contacts : {3, 4, 8}) {
    const test::ReferenceArray c = test::read_reference("contact/random_n" + std::to_string(contacts) + ".h5", "c");
    const contact::Problems p = random_grasps({contacts, static_cast<std::int64_t>(c.count())});
    for (std::size_t k = 0; k < c.count(); ++k) {
      const std::span<const double> force(c.item(k), c.stride());
      EXPECT_LE(scale_invariant_error(p, static_cast<std::int64_t>(k), force), 1e-11) << contacts << " contacts, " << k;
    }
  }
}

TEST(ProblemClasses, ALaterSeedContinuesTheSameRandomGrasps) {
  const contact::Problems all = random_grasps({3, 8});
  const contact::Problems tail = random_grasps({3, 3, 5});
  EXPECT_TRUE(std::equal(tail.A.begin(), tail.A.end(), all.A.end() - static_cast<std::ptrdiff_t>(tail.A.size())));
  EXPECT_TRUE(std::equal(tail.b.begin(), tail.b.end(), all.b.end() - static_cast<std::ptrdiff_t>(tail.b.size())));
}

TEST(ProblemClasses, TheManufacturedForceSolvesItsProblem) {
  for (const ManufacturedClass kind : kClasses)
    for (const Mode mode : kModes)
      for (const int contacts : {1, 2, 3, 5, 8}) {
        const Manufactured m = manufactured(kind, mode, {contacts, 500, 11});
        const auto size = static_cast<std::size_t>(3 * contacts);
        double worst = 0;
        for (std::int64_t k = 0; k < m.problems.count; ++k) {
          const std::span<const double> c(m.c.data() + static_cast<std::size_t>(k) * size, size);
          worst = std::max(worst, scale_invariant_error(m.problems, k, c));
        }
        EXPECT_LE(worst, 1e-12) << contacts << " contacts, class " << int(kind) << ", mode " << int(mode);
      }
}

TEST(ProblemClasses, RigidFingersLeaveRankSixAndCompliantOnesFullRank) {
  for (const Mode mode : kModes) {
    const Manufactured rigid = manufactured(ManufacturedClass::rigid, mode, {3, 50, 2});
    const Manufactured compliant = manufactured(ManufacturedClass::compliant, mode, {3, 50, 2});
    for (std::int64_t k = 0; k < 50; ++k) {
      EXPECT_EQ(numerical_rank(matrix_of(rigid.problems, k), 9), 6) << k;
      EXPECT_EQ(numerical_rank(matrix_of(compliant.problems, k), 9), 9) << k;
    }
  }
}

TEST(ProblemClasses, MixedMeans45PercentStick40Slide15Break) {
  const Manufactured m = manufactured(ManufacturedClass::compliant, Mode::mixed, {3, 10000, 1});
  double stick = 0, slide = 0, apart = 0;
  for (std::size_t i = 0; i < m.c.size(); i += 3) {
    const bool moves = m.a[i] != 0 || m.a[i + 1] != 0 || m.a[i + 2] != 0;
    (m.c[i] == 0 ? apart : moves ? slide : stick) += 1 / 30000.0;
  }
  // Five standard deviations of a share over 30,000 contacts are 0.014.
  EXPECT_NEAR(stick, 0.45, 0.015);
  EXPECT_NEAR(slide, 0.40, 0.015);
  EXPECT_NEAR(apart, 0.15, 0.015);
}

TEST(ProblemClasses, TheSeedAloneDecidesTheNumbers) {
  const auto b = [](std::int64_t count, std::uint64_t seed) {
    return manufactured(ManufacturedClass::rigid, Mode::mixed, {3, count, seed}).problems.b;
  };
  const std::vector<double> short_run = b(5, 3), long_run = b(50, 3);
  EXPECT_TRUE(std::equal(short_run.begin(), short_run.end(), long_run.begin()));
  EXPECT_NE(b(5, 3), b(5, 4));
}

TEST(ProblemClasses, NothingIsDrawnForAnEmptyBatch) {
  EXPECT_TRUE(random_grasps({3, 0}).A.empty());
  EXPECT_TRUE(manufactured(ManufacturedClass::rigid, Mode::mixed, {3, 0}).problems.b.empty());
}

TEST(ProblemClasses, AWrongOrMissingForceIsNeverCheckedSolved) {
  const Manufactured m = manufactured(ManufacturedClass::compliant, Mode::slide, {3, 1, 1});
  std::vector<double> c = m.c;
  c[1] *= 1 + 1e-3;
  EXPECT_GT(scale_invariant_error(m.problems, 0, c), kSolved);
  c[1] = std::nan("");
  EXPECT_GT(scale_invariant_error(m.problems, 0, c), kSolved);
}

}  // namespace
}  // namespace garra::bench
