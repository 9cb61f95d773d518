// contact::merit: value and gradient against differences, against the papers' function, on every executor.
#include <gtest/gtest.h>

#include <cmath>

#include "contact/problems/classes.hpp"
#include "garra/contact_gradient.hpp"
#include "garra/core/error.hpp"
#include "on_every_executor.hpp"

namespace garra::contact {
namespace {

constexpr Merit kMerits[] = {Merit::kPapers, Merit::kProducts, Merit::kFischerBurmeister, Merit::kSecondOrderCone};

/// Problems whose second contact has no friction, and points that solve nothing.
struct Case {
  Problems problems;
  std::vector<double> c;

  Case(int contacts, std::int64_t count) : problems(bench::random_grasps({contacts, count, 0})) {
    for (std::size_t i = 1; i < problems.mu.size(); i += 3) problems.mu[i] = 0;
    for (std::size_t i = 0; i < problems.b.size(); ++i)
      c.push_back(0.3 + std::sin(static_cast<double>(7 * i + 1)) * (i % 3 == 0 ? 0.2 : 0.4));
  }
};

TEST(MeritValues, HaveTheGradientsOfDifferences) {
  for (const Merit merit_function : kMerits)
    for (const int contacts : {1, 3, 5}) {
      SCOPED_TRACE(std::string(name_of(merit_function)) + " " + std::to_string(contacts));
      const Case with(contacts, 4);
      const MeritValues found = merit(with.problems, with.c, merit_function);
      const auto v = static_cast<std::size_t>(found.variables);
      for (std::size_t i = 0; i < v; ++i) {
        constexpr double h = 1e-6;
        std::vector<double> right = found.x, left = found.x;
        for (std::size_t k = i; k < right.size(); k += v) right[k] += h, left[k] -= h;
        const std::vector<double> above = merit(with.problems, right, merit_function).value,
                                  below = merit(with.problems, left, merit_function).value;
        for (std::size_t k = 0; k < above.size(); ++k)
          EXPECT_NEAR(found.gradient[k * v + i], (above[k] - below[k]) / (2 * h), 1e-5 * (1 + found.value[k])) << i;
      }
    }
}

TEST(MeritValues, OfThePapersFunctionAreThoseOfSolutions) {
  const Problems p = bench::random_grasps({3, 40, 0});
  const Solutions s = solve(p);
  std::vector<double> other = s.c;
  for (std::size_t i = 0; i < other.size(); ++i) other[i] *= 1 + 0.1 * static_cast<double>(i % 5);
  const MeritValues at_solutions = merit(p, s.c, Merit::kPapers), elsewhere = merit(p, other, Merit::kPapers);
  for (std::size_t k = 0; k < 40; ++k) {
    ASSERT_EQ(s.status[k], Status::kConverged);
    EXPECT_NEAR(at_solutions.value[k], s.merit[k], 1e-14);
    EXPECT_GT(elsewhere.value[k], 1e-6);
  }
}

TEST(MeritValues, AndProjectedGradientsVanishAtSolutions) {
  const Problems p = bench::random_grasps({3, 40, 0});
  const Solutions s = solve(p, {.tolerance = 1e-12});
  for (const Merit merit_function : kMerits) {
    const MeritValues found = merit(p, s.c, merit_function);
    for (std::size_t k = 0; k < 40; ++k) {
      EXPECT_LT(found.value[k], 1e-16) << name_of(merit_function) << " " << k;
      EXPECT_LT(found.projected_gradient[k], 1e-6) << name_of(merit_function) << " " << k;
    }
  }
}

TEST(MeritValues, HaveTheSameBitsOnEveryExecutor) {
  for (const Merit merit_function : kMerits)
    for (const int contacts : {1, 2, 3, 4, 8, 9}) {
      SCOPED_TRACE(std::string(name_of(merit_function)) + " " + std::to_string(contacts));
      const Case with(contacts, contacts > 4 ? 35 : 67);
      const auto answer = [&](const Device& d) {
        const MeritValues found = merit(with.problems, with.c, merit_function, d);
        const MeritValues again = merit(with.problems, found.x, merit_function, d);
        return test::Answer()
            .add("value", found.value)
            .add("gradient", found.gradient)
            .add("projected_gradient", found.projected_gradient)
            .add("x", found.x)
            .add("gradient of x", again.gradient);
      };
      test::expect_same_on(contacts > kMaxOwnSize ? test::other_host_executors() : test::other_executors(), answer);
    }
}

TEST(MeritValues, OfNanTouchNoNeighbor) {
  const Case with(2, 20);
  std::vector<double> spoiled = with.c;
  spoiled[6 * 7 + 1] = std::nan("");
  for (const Merit merit_function : kMerits) {
    const MeritValues before = merit(with.problems, with.c, merit_function),
                      after = merit(with.problems, spoiled, merit_function);
    for (std::size_t k = 0; k < 20; ++k)
      EXPECT_TRUE(k == 7 ? std::isnan(after.value[k]) : after.value[k] == before.value[k]) << k;
  }
}

TEST(MeritValues, OfSizesThatDoNotFitAreRefused) {
  const Case with(2, 3);
  EXPECT_THROW((void)merit(with.problems, std::vector<double>(17), Merit::kPapers), Error);
  EXPECT_NO_THROW((void)merit(with.problems, std::vector<double>(48), Merit::kPapers));
  EXPECT_THROW((void)merit(with.problems, std::vector<double>(48), Merit::kFischerBurmeister), Error);
  const Problems sliding = bench::sliding_grasps(bench::Sliding::all, {2, 3});
  EXPECT_THROW((void)merit(sliding, with.c, Merit::kPapers), Error);
  if (!test::gpu_here()) return;
  const Case nine(9, 1);
  EXPECT_THROW((void)merit(nine.problems, nine.c, Merit::kPapers, {Executor::kCuda, 0, 0}), Error);
}

}  // namespace
}  // namespace garra::contact
