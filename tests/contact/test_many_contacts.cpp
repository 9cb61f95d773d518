// Problems of more than eight contacts, which are filled up to a size that there is code for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "answers.hpp"
#include "contact/problems/classes.hpp"
#include "contact/problems/classes_general.hpp"
#include "garra/solvers/friction_newton.hpp"
#include "load_change.hpp"
#include "poisoned.hpp"

namespace garra {
namespace {

using contact::Method;
using contact::Problems;
using contact::Solutions;

// 12, 16, 24 and 32 are what there are kernels for; on a GPU the others are filled up.
const std::vector<int> kNumbers = {9, 12, 13, 16, 17, 24, 25, 32};
bool has_kernel(int contacts) { return contacts == 12 || contacts == 16 || contacts == 24 || contacts == 32; }

class ManyContacts : public testing::TestWithParam<Method> {
 protected:
  contact::Options options_{.method = GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Methods, ManyContacts,
                         testing::Values(Method::kAuto, Method::kSemismoothNewton, Method::kNsgs, Method::kAdmm,
                                         Method::kExtragradient),
                         [](const auto& info) {
                           std::string name = contact::to_string(info.param);
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(ManyContacts, GiveTheSameBitsOnEveryExecutor) {
  // Alone each takes hundreds or thousands of iterations for the last problem; so many tell.
  if (options_.method != Method::kAuto) options_.max_iterations = 30;
  for (const int contacts : kNumbers) {
    SCOPED_TRACE(contacts);
    // Of one more than a block of the processor.
    const Problems p = bench::sliding_grasps(bench::Sliding::some, {contacts, contacts == 17 ? 67 : 9});
    const auto solved = [&](const Device& d) { return contact::solve(p, options_, d); };
    if (has_kernel(contacts)) {
      test::expect_same_on_every_executor([&](const Device& d) { return test::make_answer(solved(d)); });
    } else {
      test::expect_same_on(test::other_host_executors(), [&](const Device& d) { return test::make_answer(solved(d)); });
    }
  }
}

// Bounds of rounding count what fills a problem up, so that Newton may take another step.
TEST(ManyContactsOnAGpu, HaveTheAnswersOfTheProcessorWhereTheyAreFilledUp) {
  for (const int contacts : kNumbers) {
    if (has_kernel(contacts)) continue;
    SCOPED_TRACE(contacts);
    const Problems p = bench::random_grasps({contacts, 5, 0});
    const Solutions want = contact::solve(p);
    for (const Device& d : test::other_executors()) {
      const Solutions got = contact::solve(p, {}, d);
      EXPECT_EQ(got.status, want.status);
      for (std::size_t k = 0; k < want.c.size(); ++k) EXPECT_NEAR(got.c[k], want.c[k], 1e-6);
    }
  }
}

TEST_P(ManyContacts, AreRefusedAboveThirtyTwo) {
  try {
    (void)contact::solve(bench::random_grasps({33, 1, 0}), options_, test::kReference);
    FAIL() << "33 contacts were taken";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("33 contacts"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("between 1 and 32"), std::string::npos) << e.what();
  }
}

/// Two problems as one, contacts of one between those of the other as they come: `from[i]` >= 0 is a contact of the
/// first, else -1 - its number in the second.
Problems joined(const Problems& first, const Problems& second, const std::vector<int>& from) {
  const int k = static_cast<int>(from.size());
  Problems out{k, first.count, {}, {}, {}};
  for (std::int64_t i = 0; i < first.count; ++i) {
    const auto part = [&](int j) -> const Problems& { return from[static_cast<std::size_t>(j)] >= 0 ? first : second; };
    const auto place = [&](int j) {
      const int number = from[static_cast<std::size_t>(j)];
      return number >= 0 ? number : -1 - number;
    };
    for (int j = 0; j < k; ++j) {
      const Problems& p = part(j);
      for (int r = 0; r < 3; ++r) {
        for (int m = 0; m < 3 * k; ++m) {
          const std::int64_t row = (i * 3 * p.contacts + 3 * place(j) + r) * 3 * p.contacts;
          const bool same = &part(m / 3) == &p;
          out.A.push_back(same ? p.A[static_cast<std::size_t>(row + 3 * place(m / 3) + m % 3)] : 0);
        }
        out.b.push_back(p.b[static_cast<std::size_t>(i * 3 * p.contacts + 3 * place(j) + r)]);
      }
      out.mu.push_back(p.mu[static_cast<std::size_t>(i * p.contacts + place(j))]);
    }
  }
  return out;
}

/// The contacts of both in an order that has nothing to do with either.
std::vector<int> shuffled(int first, int second) {
  std::vector<int> from;
  for (int j = 0; j < std::max(first, second); ++j) {
    if (j < second) from.push_back(-1 - j);
    if (j < first) from.push_back(j);
  }
  std::rotate(from.begin(), from.begin() + 3, from.end());
  return from;
}

// Two objects that do not touch one another: forces are those of each alone, which code for up to eight contacts finds.
// The tolerance is the solver's, times what A and the scale of the forces make of it.
TEST_P(ManyContacts, ThatAreTwoObjectsHaveTheForcesOfEach) {
  if (options_.method == Method::kSemismoothNewton) GTEST_SKIP() << "the first rung of auto, which is tested";
  for (const auto& [first, second] : {std::pair{4, 5}, {5, 7}, {8, 5}, {8, 8}}) {
    SCOPED_TRACE(first + second);
    const Problems a = bench::random_grasps({first, 20, 100}), b = bench::random_grasps({second, 20, 200});
    const std::vector<int> from = shuffled(first, second);
    const Solutions fa = contact::solve(a, options_), fb = contact::solve(b, options_);
    const Solutions both = contact::solve(joined(a, b, from), options_);
    for (std::size_t i = 0; i < 20; ++i) {
      ASSERT_EQ(both.status[i], Status::kConverged) << i;
      for (std::size_t j = 0; j < from.size(); ++j)
        for (std::size_t r = 0; r < 3; ++r) {
          const bool of_first = from[j] >= 0;
          const auto place = static_cast<std::size_t>(of_first ? from[j] : -1 - from[j]);
          const double alone = of_first ? fa.c[i * 3 * static_cast<std::size_t>(first) + 3 * place + r]
                                        : fb.c[i * 3 * static_cast<std::size_t>(second) + 3 * place + r];
          EXPECT_NEAR(both.c[i * 3 * from.size() + 3 * j + r], alone, 1e-5) << i << ", contact " << j;
        }
    }
  }
}

/// Four objects of eight contacts each.
TEST(ThirtyTwoContacts, ThatAreFourObjectsHaveTheForcesOfEach) {
  const Problems one = bench::random_grasps({8, 8, 0});
  const Solutions alone = contact::solve(one);
  Problems all{32, 2, std::vector<double>(2 * 96 * 96), {}, one.mu};
  for (std::size_t k = 0; k < 8; ++k)
    for (std::size_t r = 0; r < 24; ++r)
      std::copy_n(one.A.begin() + static_cast<std::ptrdiff_t>((k * 24 + r) * 24), 24,
                  all.A.begin() + static_cast<std::ptrdiff_t>((k * 24 + r) * 96 + k % 4 * 24));
  all.b = one.b;
  const Solutions together = contact::solve(all);
  for (std::size_t k = 0; k < together.c.size(); ++k) EXPECT_NEAR(together.c[k], alone.c[k], 1e-5) << k;
}

TEST_P(ManyContacts, WithNanInOneProblemTouchNoOther) {
  for (const int contacts : {9, 17}) test::expect_nan_touches_no_other(contacts, options_);
}

/// The certificate's definition, of problem i.
double residual_of(const Problems& p, std::size_t i, const std::vector<double>& all_c) {
  const auto k = static_cast<std::size_t>(p.contacts);
  const auto part = [i](const std::vector<double>& all, std::size_t width) {
    return std::vector(all.begin() + static_cast<std::ptrdiff_t>(i * width),
                       all.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
  };
  return test::load_change({part(p.A, 9 * k * k), part(p.b, 3 * k), part(p.mu, k)}, part(all_c, 3 * k));
}

// What fills a problem up has no part in its certificate: forces that are off by much have the residual of the formula.
TEST(ManyContactsAreChecked, AsIfNothingFilledThemUp) {
  for (const int contacts : kNumbers) {
    SCOPED_TRACE(contacts);
    const Problems p = bench::random_grasps({contacts, 6, 0});
    std::vector<double> c = contact::solve(p).c;
    for (std::size_t k = 0; k < c.size(); ++k) c[k] += 0.01 * std::sin(static_cast<double>(k));
    const Solutions checked = contact::check_solution(p, c);
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(checked.status[i], Status::kStalled);
      EXPECT_NEAR(checked.residual[i], residual_of(p, i, c), 1e-9 * checked.residual[i]);
    }
  }
}

TEST(ManyContactsAreChecked, AndTheManufacturedAnswersHold) {
  for (int contacts = contact::kMaxOwnSize + 1; contacts <= contact::kMaxContacts; ++contacts) {
    const auto known = bench::manufactured(bench::ManufacturedClass::rigid, bench::Mode::mixed, {contacts, 5, 3});
    const Solutions checked = contact::check_solution(known.problems, known.c);
    for (std::size_t k = 0; k < 5; ++k) {
      EXPECT_EQ(checked.status[k], Status::kConverged) << contacts << " contacts, problem " << k;
      EXPECT_LE(checked.residual[k], 1e-12);
    }
  }
}

TEST(ManyContactsAreChecked, AndTheirStatesAreOfTheContactsThatThereAre) {
  const auto known = bench::manufactured(bench::ManufacturedClass::compliant, bench::Mode::stick, {13, 5, 3});
  const Solutions checked = contact::check_solution(known.problems, known.c);
  ASSERT_EQ(checked.state.size(), 5u * 13);
  EXPECT_EQ(std::ranges::count(checked.state, contact::ContactState::kStick), 5 * 13);
  for (std::size_t i = 0; i < 5; ++i) {
    double margin = 1, critical = 0;
    for (std::size_t j = 13 * i; j < 13 * (i + 1); ++j) {
      const double needed = std::hypot(known.c[3 * j + 1], known.c[3 * j + 2]) / known.c[3 * j];
      margin = std::min(margin, 1 - needed / known.problems.mu[j]);
      critical = std::max(critical, needed);
    }
    EXPECT_NEAR(checked.friction_margin[i], margin, 1e-12);
    EXPECT_NEAR(checked.required_friction[i], critical, 1e-12);
  }
}

// Rank 6 of 27 to 96: what Newton leaves of these is solved by what lies beyond it, with full effort.
TEST(ManyContactsThatAreRedundant, AreAllSolvedByAuto) {
  const auto solved = [](const Problems& p) {
    return std::ranges::count(contact::solve(p, {.full_effort = true}).status, Status::kConverged);
  };
  for (const auto& [contacts, count] : {std::pair{9, 300}, {12, 300}, {16, 100}, {20, 30}, {32, 20}}) {
    const bench::Draw draw{contacts, count, 100};
    EXPECT_EQ(solved(bench::manufactured(bench::ManufacturedClass::rigid, bench::Mode::mixed, draw).problems), count)
        << contacts << " rigid contacts";
    EXPECT_EQ(solved(bench::six_equations(draw)), count) << contacts << " contacts in six equations";
  }
}

// Of 300 Newton leaves some; those are solved on every executor, and alike.
TEST(ManyContactsThatAreRedundant, NeedMoreThanNewton) {
  const Problems all =
      bench::manufactured(bench::ManufacturedClass::rigid, bench::Mode::mixed, {12, 300, 100}).problems;
  const Solutions restarts = contact::solve(all, {.max_iterations = solvers::kMaxNewtonSteps});
  Problems left{12, 0, {}, {}, {}};
  for (std::ptrdiff_t i = 0; i < 300; ++i) {
    if (restarts.status[static_cast<std::size_t>(i)] == Status::kConverged) continue;
    ++left.count;
    left.A.insert(left.A.end(), all.A.begin() + i * 36 * 36, all.A.begin() + (i + 1) * 36 * 36);
    left.b.insert(left.b.end(), all.b.begin() + i * 36, all.b.begin() + (i + 1) * 36);
    left.mu.insert(left.mu.end(), all.mu.begin() + i * 12, all.mu.begin() + (i + 1) * 12);
  }
  ASSERT_GT(left.count, 0);
  EXPECT_EQ(std::ranges::count(contact::solve(left, {.full_effort = true}).status, Status::kConverged), left.count);
  test::expect_same_on_every_executor([&](const Device& d) { return test::make_answer(contact::solve(left, {}, d)); });
}

// A box of 2 kg on a floor that is pushed with a horizontal force: below the limit of friction its points carry the
// weight and the push between them, however many they are.
TEST(ManyContactsThatAreRedundant, CarryABoxOnAFloor) {
  const double mass = 2, g = 9.81, push = 5, mu = 0.5, height = 0.1, side = 0.4, inertia = 0.05;
  for (const int contacts : {9, 16, 25, 32}) {
    SCOPED_TRACE(contacts);
    Problems p{contacts, 1, {}, {}, std::vector<double>(static_cast<std::size_t>(contacts), mu)};
    const int across = static_cast<int>(std::ceil(std::sqrt(contacts)));
    // Contact axes n = z, t = x, o = y; the row of a contact's direction is (direction, lever x direction).
    std::vector<Vec<double, 6>> rows;
    for (int j = 0; j < contacts; ++j) {
      const auto at = vec3<double>(side * (j % across) / (across - 1.0) - side / 2,
                                   side * (j / across) / (across - 1.0) - side / 2, -height);
      for (const auto& d : {vec3<double>(0, 0, 1), vec3<double>(1, 0, 0), vec3<double>(0, 1, 0)}) {
        const Vec3<double> turn = cross(at, d);
        rows.push_back(Vec<double, 6>{{d[0], d[1], d[2], turn[0], turn[1], turn[2]}});
      }
    }
    for (const auto& r : rows) {
      for (const auto& s : rows) {
        double sum = 0;
        for (int k = 0; k < 6; ++k) sum += r[k] * s[k] / (k < 3 ? mass : inertia);
        p.A.push_back(sum);
      }
      p.b.push_back(r[0] * push / mass - r[2] * g);
    }
    const Solutions found = contact::solve(p);
    ASSERT_EQ(found.status[0], Status::kConverged);
    Vec<double, 6> wrench = Vec<double, 6>::zero();
    for (std::size_t k = 0; k < rows.size(); ++k)
      for (int i = 0; i < 6; ++i) wrench[i] += found.c[k] * rows[k][i];
    EXPECT_NEAR(wrench[0], -push, 1e-6);
    EXPECT_NEAR(wrench[2], mass * g, 1e-6);
    for (const int i : {1, 3, 4, 5}) EXPECT_NEAR(wrench[i], 0, 1e-6) << i;
  }
}

TEST(ManyContactsThatAllSlide, AreSolvedButNotCounted) {
  const Problems p = bench::sliding_grasps(bench::Sliding::all, {10, 40, 0});
  const Solutions found = contact::solve(p);
  EXPECT_EQ(std::ranges::count(found.status, Status::kConverged), 40);
  EXPECT_THROW((void)contact::solve(p, {.count_solutions = true}), Error);
  const Solutions pivoted = contact::solve(p, {.method = Method::kLemke});
  EXPECT_EQ(std::ranges::count(pivoted.status, Status::kConverged), 40);
}

TEST(ManyContactsThatSlide, AreEliminatedAsFewAre) {
  const Problems p = bench::sliding_grasps(bench::Sliding::some, {11, 10, 0});
  const Problems rolling = contact::without_sliding(p);
  const Solutions there = contact::solve(rolling), here = contact::solve(p);
  for (std::size_t k = 0; k < here.c.size();
       k += 3)  // tangential forces of contacts that slide are in one of them only
    EXPECT_NEAR(here.c[k], there.c[k], 1e-6) << k;
}

}  // namespace
}  // namespace garra
