// Methods that minimize a merit function, of more contacts than lanes have code of their own for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <string>

#include "answers.hpp"
#include "contact/batch/equivalence.hpp"
#include "contact/problems/classes.hpp"
#include "load_change.hpp"
#include "merit_methods.hpp"
#include "poisoned.hpp"

namespace garra {
namespace {

using contact::Method;
using contact::Problems;
using contact::Solutions;

class MeritMethods : public testing::TestWithParam<Method> {
 protected:
  contact::Options options_{.method = GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Methods, MeritMethods, testing::ValuesIn(test::kMeritMethods), [](const auto& info) {
  std::string name = contact::to_string(info.param);
  std::erase(name, '-');
  return name;
});

TEST_P(MeritMethods, GiveTheSameBitsOnEveryExecutorOfTheProcessor) {
  options_.starts = 2;  // a second start goes on in lanes whose neighbors are in their first
  for (const auto& [contacts, iterations] : {std::pair{5, 40}, {8, 20}, {9, 12}, {12, 8}, {32, 2}}) {
    SCOPED_TRACE(contacts);
    options_.max_iterations = iterations;
    const Problems p = bench::sliding_grasps(bench::Sliding::some, {contacts, 9, 3});
    test::expect_same_on(test::other_host_executors(),
                         [&](const Device& d) { return test::make_answer(contact::solve(p, options_, d)); });
  }
}

/// Problems that are no grasps: A is the identity with a part of a random Gram matrix, so that no contact moves another
/// by more than itself and the accelerations are the only ones.
Problems weakly_coupled(int contacts, std::int64_t count) {
  bench::Random random(11 + static_cast<std::uint64_t>(contacts));
  const auto rows = static_cast<std::size_t>(3 * contacts);
  Problems p{contacts, count, {}, {}, {}};
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<double> G(rows * rows);
    for (double& g : G) g = random.normal();
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t k = 0; k < rows; ++k) {
        double sum = 0;
        for (std::size_t m = 0; m < rows; ++m) sum += G[r * rows + m] * G[k * rows + m];
        p.A.push_back((r == k ? 1 : 0) + 0.2 * sum / static_cast<double>(rows));
      }
    for (std::size_t r = 0; r < rows; ++r) p.b.push_back(random.normal() - (r % 3 == 0 ? 0.5 : 0));
    for (int j = 0; j < contacts; ++j) p.mu.push_back(random.uniform(0.1, 0.9));
  }
  return p;
}

TEST_P(MeritMethods, FindTheAnswersOfNewtonWhereThereIsOne) {
  // Spectral projected gradient is slow: it comes near, from its first start or from none.
  const bool slow = GetParam() == Method::kSpg;
  options_.starts = slow ? 1 : 5;
  options_.tolerance = slow ? 1e-3 : 1e-8;
  for (int contacts = 5; contacts <= 9; ++contacts) {
    SCOPED_TRACE(contacts);
    constexpr std::size_t kCount = 12;
    const auto k = static_cast<std::size_t>(contacts);
    const Problems p = weakly_coupled(contacts, kCount);
    const Solutions newton = contact::solve(p), found = contact::solve(p, options_);
    const auto part = [](const std::vector<double>& all, std::size_t i, std::size_t width) {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(i * width);
      return std::vector(first, first + static_cast<std::ptrdiff_t>(width));
    };
    std::size_t solved = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(newton.status[i], Status::kConverged);
      if (found.status[i] != Status::kConverged) continue;
      ++solved;
      const test::PlainProblem plain{part(p.A, i, 9 * k * k), part(p.b, i, 3 * k), part(p.mu, i, k)};
      EXPECT_LE(test::load_change(plain, part(found.c, i, 3 * k)), 1.001 * options_.tolerance) << i;
      // Both are exact for loads that differ by `tolerance`; A and its inverse are of the order of one.
      for (std::size_t r = 3 * k * i; r < 3 * k * (i + 1); ++r) {
        EXPECT_NEAR(found.a[r], newton.a[r], 100 * options_.tolerance) << i;
        EXPECT_NEAR(found.c[r], newton.c[r], 100 * options_.tolerance) << i;
      }
    }
    EXPECT_GE(solved, kCount / 2);
  }
}

TEST_P(MeritMethods, WithNanInOneProblemTouchNoOther) {
  options_.starts = 2;
  options_.max_iterations = 15;
  test::expect_nan_touches_no_other(5, options_);
}

/// The same for every pair of a merit function and a minimizer.
class Pairs : public testing::TestWithParam<std::string> {
 protected:
  Pairs() { contact::set_method(options_, GetParam()); }
  contact::Options options_;
};
INSTANTIATE_TEST_SUITE_P(Pairs, Pairs, testing::ValuesIn(contact::pair_names()), [](const auto& info) {
  std::string name = info.param;
  std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
  return name;
});

TEST_P(Pairs, GiveTheSameBitsOnEveryExecutorOfTheProcessor) {
  options_.starts = 2;
  for (const auto& [contacts, iterations] : {std::pair{1, 30}, {3, 40}, {6, 10}}) {
    SCOPED_TRACE(contacts);
    options_.max_iterations = iterations;
    const Problems p =
        contacts == 1 ? bench::random_grasps({1, 9, 0}) : bench::sliding_grasps(bench::Sliding::some, {contacts, 9, 3});
    test::expect_same_on(test::other_host_executors(),
                         [&](const Device& d) { return test::make_answer(contact::solve(p, options_, d)); });
  }
}

TEST_P(Pairs, GiveTheSameBitsOnAGpu) {
  if (!test::gpu_here()) GTEST_SKIP() << "no GPU";
  options_.starts = 2;  // the state of the second start is beside that of the first
  for (const auto& [contacts, iterations] : {std::pair{1, 30}, {2, 20}, {3, 20}, {4, 12}, {8, 6}}) {
    SCOPED_TRACE(contacts);
    options_.max_iterations = iterations;
    const std::int64_t count = contacts > 4 ? 5 : 33;
    const Problems p = contacts == 1 ? bench::random_grasps({1, count, 0})
                                     : bench::sliding_grasps(bench::Sliding::some, {contacts, count});
    test::expect_same_on({{Executor::kCuda, 0, 0}},
                         [&](const Device& d) { return test::make_answer(contact::solve(p, options_, d)); });
  }
}

TEST_P(Pairs, WithNanInOneProblemTouchNoOther) {
  options_.starts = 2;
  options_.max_iterations = 15;
  test::expect_nan_touches_no_other(3, options_);
}

// Names: a pair is a method, the four old names are pairs.
TEST(PairNames, AreMethods) {
  contact::Options options;
  contact::set_method(options, "second-order-cone/spg-newton");
  EXPECT_EQ(options.method, Method::kMerit);
  EXPECT_EQ(contact::pair_of(options),
            (contact::Pair{contact::Merit::kSecondOrderCone, contact::Minimizer::kSpgNewton}));
  EXPECT_EQ(contact::describe_method(options), "merit (second-order-cone, spg-newton)");
  EXPECT_EQ(contact::pair_of({.method = Method::kProjectedLm}),
            (contact::Pair{contact::Merit::kProducts, contact::Minimizer::kProjectedLm}));
  EXPECT_FALSE(contact::pair_of({.method = Method::kAuto}));
  EXPECT_EQ(contact::pair_names().size(), 16U);
  EXPECT_THROW(contact::set_method(options, "papers/newton"), Error);
  EXPECT_THROW(contact::set_method(options, "cone/spg"), Error);
}

TEST(OldNames, GiveTheBitsOfTheirPairs) {
  const Problems p = bench::random_grasps({3, 20, 0});
  for (const auto& [method, pair] : {std::pair{Method::kBoxQuacan, "papers/box-quacan"},
                                     {Method::kProjectedLm, "products/projected-lm"},
                                     {Method::kFischerBurmeister, "fischer-burmeister/projected-lm"}}) {
    contact::Options options;
    contact::set_method(options, pair);
    EXPECT_EQ(contact::solve(p, {.method = method}).c, contact::solve(p, options).c) << pair;
  }
}

// Eight contacts of a hand by the Fischer-Burmeister function and projected Levenberg-Marquardt.
TEST(EightContactsOfAHand, AreSolvedByFischerBurmeister) {
  const Problems p = bench::random_grasps({8, 64, 0});
  contact::Options options{.method = Method::kMerit};
  options.merit = contact::Merit::kFischerBurmeister;
  options.minimizer = contact::Minimizer::kProjectedLm;
  const Solutions newton = contact::solve(p), found = contact::solve(p, options);
  std::size_t solved = 0;
  for (std::size_t i = 0; i < 64; ++i) {
    if (found.status[i] != Status::kConverged) continue;
    ++solved;
    const auto part = [&](const std::vector<double>& all, std::size_t width) {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(i * width);
      return std::vector(first, first + static_cast<std::ptrdiff_t>(width));
    };
    EXPECT_LE(test::load_change({part(p.A, 9 * 64), part(p.b, 24), part(p.mu, 8)}, part(found.c, 24)), 1.001e-8) << i;
  }
  EXPECT_GE(solved, 62U);
  EXPECT_EQ(std::count(newton.status.begin(), newton.status.end(), Status::kConverged), 64);
}

// The theorems of docs/theory/equivalence.md: where the hypothesis holds, a stationary point is a solution.
TEST(Equivalence, OfContactProblemsHasNoStationaryPointThatIsProvenAndNoSolution) {
  Problems p = bench::random_grasps({3, 300, 0});
  p.b[27] = std::nan("");
  for (const auto merit : {contact::Merit::kPapers, contact::Merit::kProducts, contact::Merit::kFischerBurmeister}) {
    const contact::Equivalences e = contact::equivalence(p, merit, contact::Start::kZero);
    int proven = 0, stalled = 0;
    for (std::size_t i = 0; i < 300; ++i) {
      const bool solved = e.status[i] == Status::kConverged, holds = e.hypothesis[i] == solvers::Equivalence::kProven;
      EXPECT_TRUE(solved || e.stationary[i] == 0 || !holds) << i;
      proven += holds;
      stalled += !solved && e.stationary[i] == 1;
    }
    EXPECT_GT(proven, 60);
    EXPECT_GT(stalled, 5);
    EXPECT_EQ(e.status[3], Status::kInvalidInput);
    EXPECT_EQ(e.hypothesis[3], solvers::Equivalence::kUndecided);
  }
  EXPECT_THROW((void)contact::equivalence(p, contact::Merit::kSecondOrderCone), Error);
  EXPECT_THROW((void)contact::equivalence(bench::sliding_grasps(bench::Sliding::all, {2, 1}), contact::Merit::kPapers),
               Error);
}

TEST_P(MeritMethods, TakeUpToThirtyTwoContactsAndEightOnAGpu) {
  EXPECT_EQ(contact::most_contacts(options_.method), 32);
  EXPECT_THROW((void)contact::solve(bench::random_grasps({33, 1, 0}), options_), Error);
  if (!test::gpu_here()) GTEST_SKIP() << "no GPU";
  try {
    (void)contact::solve(bench::random_grasps({9, 1, 0}), options_, {Executor::kCuda, 0, 0});
    FAIL() << "9 contacts were taken";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("up to 8; use --device cpu"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace garra
