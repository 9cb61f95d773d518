// What `garra contact bench` rests on: the check of other solvers' forces, the elimination of sliding contacts for
// them, and the built-in sets.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "contact/problems/classes.hpp"
#include "contact/problems/sets.hpp"
#include "garra/contact.hpp"
#include "garra/core/error.hpp"

namespace garra::contact {
namespace {

using bench::ManufacturedClass;
using bench::Mode;

TEST(SampleCheck, AcceptsTheManufacturedAnswersOfEveryNumberOfContacts) {
  for (int contacts = 1; contacts <= kMaxContacts; ++contacts) {
    const auto known = bench::manufactured(ManufacturedClass::rigid, Mode::mixed, {contacts, 20, 3});
    const Solutions checked = check_solution(known.problems, known.c);
    for (std::size_t k = 0; k < 20; ++k) {
      EXPECT_EQ(checked.status[k], Status::kConverged) << contacts << " contacts, problem " << k;
      EXPECT_LE(checked.residual[k], 1e-12);
    }
  }
}

TEST(SampleCheck, RejectsAnAnswerThatIsSlightlyWrong) {
  auto known = bench::manufactured(ManufacturedClass::compliant, Mode::stick, {3, 20, 3});
  for (double& c : known.c) c *= 1.001;
  const Solutions checked = check_solution(known.problems, known.c);
  for (std::size_t k = 0; k < 20; ++k) {
    EXPECT_EQ(checked.status[k], Status::kStalled);
    EXPECT_GT(checked.residual[k], 1e-6);
    EXPECT_TRUE(std::isnan(checked.c[9 * k]));
  }
}

TEST(SampleCheck, AForceThatIsNaNIsInvalidInput) {
  auto known = bench::manufactured(ManufacturedClass::compliant, Mode::stick, {2, 1, 3});
  known.c[4] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(check_solution(known.problems, known.c).status[0], Status::kInvalidInput);
}

TEST(SampleCheck, WrongSizesAreRefused) {
  const auto known = bench::manufactured(ManufacturedClass::compliant, Mode::stick, {2, 1, 3});
  EXPECT_THROW((void)check_solution(known.problems, {1.0}), Error);
}

// One contact, A = diag(2, 1, 1), b_n = -2: with mu = 1/2 and slip along t, c_n = 1 and c_t = -1/2; A is diagonal, so
// the friction of a sliding contact does not change its normal force.
TEST(WithoutSliding, TurnsASlidingContactIntoOneWithoutFriction) {
  const Problems given{.contacts = 1,
                       .count = 1,
                       .A = {2, 0, 0, 0, 1, 0, 0, 0, 1},
                       .b = {-2, 3, 0},
                       .mu = {0.5},
                       .mode = {1},
                       .slip_velocity = {0.1, 0}};
  const Problems rolling = without_sliding(given);
  EXPECT_TRUE(rolling.mode.empty());
  EXPECT_EQ(rolling.mu[0], 0);
  const Solutions checked = check_solution(given, {1, 7, 7});  // tangential forces are the check's business
  ASSERT_EQ(checked.status[0], Status::kConverged);
  EXPECT_DOUBLE_EQ(checked.c[0], 1);
  EXPECT_DOUBLE_EQ(checked.c[1], -0.5);
  EXPECT_EQ(checked.c[2], 0);
}

// A_nt couples slip to the normal direction: a_n = 2 c_n + 1/2 c_t - 3/2 with c_t = -mu c_n = -c_n, so c_n = 1.
TEST(WithoutSliding, CouplesTheNormalForceThroughFriction) {
  const Problems given{.contacts = 1,
                       .count = 1,
                       .A = {2, 0.5, 0, 0.5, 1, 0, 0, 0, 1},
                       .b = {-1.5, 0, 0},
                       .mu = {1},
                       .mode = {1},
                       .slip_velocity = {2, 0}};
  EXPECT_DOUBLE_EQ(without_sliding(given).A[0], 1.5);
  EXPECT_EQ(check_solution(given, {1, 0, 0}).status[0], Status::kConverged);
  EXPECT_NE(check_solution(given, {0.75, 0, 0}).status[0], Status::kConverged);  // what it would be without friction
}

TEST(ProblemSets, HaveDistinctNamesAndTheSizesTheySay) {
  std::set<std::string> names;
  for (const ProblemSet& set : problem_sets()) {
    EXPECT_TRUE(names.insert(set.name).second) << set.name;
    EXPECT_EQ(find_problem_set(set.name), &set);
    const Problems p = set.draw({7, 1});
    EXPECT_EQ(p.count, 7);
    EXPECT_EQ(std::string(set.name).back() - '0', p.contacts) << set.name;
    EXPECT_EQ(p.A.size(), static_cast<std::size_t>(7 * 9 * p.contacts * p.contacts)) << set.name;
  }
  EXPECT_EQ(find_problem_set("no_such_set"), nullptr);
}

TEST(ProblemSets, AShortDrawIsTheHeadOfALongOne) {
  for (const ProblemSet& set : problem_sets()) {
    const Problems few = set.draw({3, 5}), more = set.draw({6, 5});
    EXPECT_TRUE(std::equal(few.A.begin(), few.A.end(), more.A.begin())) << set.name;
    EXPECT_TRUE(std::equal(few.slip_velocity.begin(), few.slip_velocity.end(), more.slip_velocity.begin())) << set.name;
    EXPECT_NE(few.b, set.draw({3, 6}).b) << set.name;
  }
}

TEST(ProblemSets, MixedProblemsHaveRollingAndSlidingContactsAndSlidingOnesOnlySliding) {
  const Problems mixed = find_problem_set("mixed_n3")->draw({200, 0}),
                 all = find_problem_set("sliding_n3")->draw({200, 0});
  for (std::size_t k = 0; k < 200; ++k) {
    const int sliding = mixed.mode[3 * k] + mixed.mode[3 * k + 1] + mixed.mode[3 * k + 2];
    EXPECT_TRUE(sliding == 1 || sliding == 2) << "problem " << k;
    for (std::size_t j = 3 * k; j < 3 * k + 3; ++j) {
      const double speed = std::hypot(mixed.slip_velocity[2 * j], mixed.slip_velocity[2 * j + 1]);
      EXPECT_EQ(mixed.mode[j] == 1, speed > 0);
      EXPECT_EQ(all.mode[j], 1);
    }
  }
}

}  // namespace
}  // namespace garra::contact
