// The restarts beyond Newton: whole classes without one problem left over, one contact against a root finder of its
// own, and friction of any size. Answers are checked by the law written out here, not by the certificate.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <random>
#include <vector>

#include "contact/problems/classes_general.hpp"
#include "garra/contact.hpp"
#include "garra/solvers/friction_newton.hpp"
#include "reference.hpp"
#include "same_bits.hpp"

namespace garra {
namespace {

using contact::Problems;
using contact::Solutions;

const Device kScalar{Executor::kScalar, 1, 0};
const Device kLanes{Executor::kLanes, 2, 0};

std::vector<double> part(const std::vector<double>& values, std::size_t stride, std::size_t k) {
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(k * stride);
  return {begin, begin + static_cast<std::ptrdiff_t>(stride)};
}
Problems only(const Problems& all, std::size_t k) {
  const auto n = static_cast<std::size_t>(all.contacts);
  return {all.contacts, 1, part(all.A, 9 * n * n, k), part(all.b, 3 * n, k), part(all.mu, n, k)};
}

/// How far a force is from the law of one problem, in the units of the problem's largest diagonal entry of A and
/// largest |b|, relative to the larger of the force, the acceleration and 1: c in K_mu, a~ = a + mu |a_T| e_n in its
/// dual, which is a_n >= 0, and c perpendicular to a~.
double law_violation(const Problems& p, const std::vector<double>& c) {
  const auto n = static_cast<std::size_t>(3 * p.contacts);
  double size_a = 0, size_b = 0;
  for (std::size_t i = 0; i < n; ++i) {
    size_a = std::max(size_a, p.A[i * n + i]);
    size_b = std::max(size_b, std::abs(p.b[i]));
  }
  double largest = 1, worst = 0, product = 0;
  for (std::size_t j = 0; j < n; j += 3) {
    double f[3], a[3];
    for (std::size_t i = 0; i < 3; ++i) {
      f[i] = c[j + i] * size_a / size_b;
      a[i] = p.b[j + i] / size_b;
      for (std::size_t k = 0; k < n; ++k) a[i] += p.A[(j + i) * n + k] * c[k] / size_b;
      largest = std::max({largest, std::abs(f[i]), std::abs(a[i])});
    }
    const double mu = p.mu[j / 3];
    worst = std::max({worst, -f[0], -a[0], std::hypot(f[1], f[2]) - mu * f[0]});
    product = std::max(product, std::abs(f[0] * a[0] + mu * f[0] * std::hypot(a[1], a[2]) + f[1] * a[1] + f[2] * a[2]));
  }
  return std::max(worst / largest, product / (largest * largest));
}

/// Problems that Newton's steps leave unsolved, told by their iterations.
std::vector<std::size_t> beyond_newton(const Solutions& s) {
  std::vector<std::size_t> out;
  for (std::size_t k = 0; k < s.iterations.size(); ++k)
    if (s.iterations[k] > solvers::kMaxNewtonSteps) out.push_back(k);
  return out;
}

struct Case {
  const char* name;
  Problems (*draw)(const bench::Draw&);
  bench::Draw size;
  std::size_t beyond;  ///< problems that Newton does not solve, at least
};
class WholeClass : public testing::TestWithParam<Case> {};
// With bounded effort next to none is left, with full effort none.
TEST_P(WholeClass, HasNoProblemThatFullEffortLeavesUnsolved) {
  const Problems p = GetParam().draw(GetParam().size);
  const Solutions s = contact::solve(p, {}, kLanes);
  const auto n = static_cast<std::size_t>(3 * p.contacts);
  std::int64_t unsolved = 0;
  for (std::size_t k = 0; k < s.status.size(); ++k) {
    if (s.status[k] == Status::kConverged) continue;
    ++unsolved;
    EXPECT_NE(s.status[k], Status::kNoSolution) << k;
    const Status longer = contact::solve(only(p, k), {.full_effort = true}, kLanes).status[0];
    EXPECT_TRUE(longer == Status::kConverged || longer == Status::kIllConditioned) << k;
  }
  EXPECT_LE(unsolved, p.count / 500);
  const std::vector<std::size_t> hard = beyond_newton(s);
  EXPECT_GE(hard.size(), GetParam().beyond);
  for (const std::size_t k : hard) {
    if (s.status[k] != Status::kConverged) continue;
    const std::vector<double> c = part(s.c, n, k);
    EXPECT_LE(law_violation(only(p, k), c), 1e-7) << k;
    const Solutions alone = contact::solve(only(p, k), {}, kScalar);
    EXPECT_TRUE(test::same_bits(alone.c, c)) << k;
    EXPECT_EQ(alone.iterations[0], s.iterations[k]) << k;
  }
}
INSTANTIATE_TEST_SUITE_P(Kinds, WholeClass,
                         testing::Values(Case{"scaled_gram_n1", bench::scaled_gram, {1, 100000, 0}, 5},
                                         Case{"scaled_gram_n3", bench::scaled_gram, {3, 100000, 0}, 2},
                                         Case{"six_equations_n3", bench::six_equations, {3, 30000, 0}, 25},
                                         Case{"six_equations_n4", bench::six_equations, {4, 20000, 0}, 30},
                                         Case{"six_equations_n5", bench::six_equations, {5, 10000, 0}, 20},
                                         Case{"six_equations_n8", bench::six_equations, {8, 2000, 0}, 5}),
                         [](const auto& info) { return info.param.name; });

TEST(HardProblems, ThatMostSolversLeaveAreSolved) {
  const nlohmann::json all = test::read_reference_json("contact/last_restart.json");
  ASSERT_GE(all["problems"].size(), 19U);
  for (const nlohmann::json& given : all["problems"]) {
    const Problems p = {given["contacts"], 1, given["A"], given["b"], given["mu"]};
    const contact::Options full = {.full_effort = true};
    const Solutions s = contact::solve(p, full, kLanes);
    const std::string name = given["class"].get<std::string>() + " " + std::to_string(given["index"].get<int>());
    ASSERT_EQ(s.status[0], Status::kConverged) << name;
    EXPECT_LE(law_violation(p, s.c), 1e-7) << name;
    EXPECT_TRUE(test::same_bits(contact::solve(p, full, kScalar).c, s.c)) << name;
  }
}

/// The problem beside a body of one contact that is coupled with nothing and has `size` times its loads.
Problems beside_a_body(const Problems& p, double size) {
  const auto n = static_cast<std::size_t>(3 * p.contacts);
  Problems out{p.contacts + 1, 1, std::vector<double>((n + 3) * (n + 3)), p.b, p.mu};
  for (std::size_t i = 0; i < n + 3; ++i)
    for (std::size_t k = 0; k < n + 3; ++k)
      out.A[i * (n + 3) + k] = i < n && k < n ? p.A[i * n + k] : static_cast<double>(i == k);
  double largest = 0;
  for (const double x : p.b) largest = std::max(largest, std::abs(x));
  for (const double x : {-size * largest, 0.2 * size * largest, 0.0}) out.b.push_back(x);
  out.mu.push_back(0.5);
  return out;
}

TEST(Bodies, OneThatIsCoupledWithNoneChangesNoStatus) {
  Problems all = bench::six_equations({4, 300, 0});
  // Loads that rigid fingers cannot all have: some problems have no solution.
  std::mt19937_64 g(1);
  std::normal_distribution<double> normal;
  for (double& x : all.b) x += 5 * normal(g);
  const Solutions found = contact::solve(all, {}, kLanes);
  ASSERT_GE(std::ranges::count(found.status, Status::kStalled), 10);
  ASSERT_GE(std::ranges::count(found.status, Status::kConverged), 10);
  for (std::size_t k = 0; k < found.status.size(); ++k)
    for (const double size : {1e-6, 1.0, 1e6}) {
      const Problems p = only(all, k);
      const Solutions alone = contact::solve(p, {}, kScalar),
                      beside = contact::solve(beside_a_body(p, size), {}, kScalar);
      EXPECT_EQ(beside.status[0], alone.status[0]) << k << ' ' << size;
      if (beside.status[0] != Status::kConverged) continue;
      EXPECT_LE(law_violation(p, part(beside.c, static_cast<std::size_t>(3 * p.contacts), 0)), 1e-7)
          << k << ' ' << size;
    }
}

TEST(Limit, EndsTheRestartsAndWhatFollows) {
  const Problems all = bench::scaled_gram({1, 100000, 0});
  const std::vector<std::size_t> hard = beyond_newton(contact::solve(all, {}, kLanes));
  ASSERT_GE(hard.size(), 5U);
  contact::Options options;
  for (const int limit : {1, solvers::kMaxNewtonSteps - 1, solvers::kMaxNewtonSteps, solvers::kMaxNewtonSteps + 1}) {
    options.max_iterations = limit;
    for (const std::size_t k : hard) {
      const Solutions s = contact::solve(only(all, k), options, kLanes);
      EXPECT_LE(s.iterations[0], limit);
      if (s.status[0] != Status::kConverged && s.status[0] != Status::kIllConditioned) {
        EXPECT_EQ(s.status[0], Status::kIterationLimit);
        EXPECT_EQ(s.iterations[0], limit);
      }
    }
  }
}

/// Every solution of a one-contact problem: no force, stick, or slip in a direction in which the acceleration, too,
/// points.
std::vector<Vec3<double>> all_solutions(const Problems& p) {
  const auto W = [&](int i, int k) { return p.A[static_cast<std::size_t>(3 * i + k)]; };
  const double mu = p.mu[0];
  std::vector<Vec3<double>> found;
  if (p.b[0] >= 0) found.push_back(Vec3<double>::zero());
  struct Slip {
    double cn, across, along;
    Vec3<double> c;
  };
  const auto slip = [&](double angle) {
    const double t = std::cos(angle), o = std::sin(angle);
    const double cn = -p.b[0] / (W(0, 0) + mu * (W(0, 1) * t + W(0, 2) * o));
    const Vec3<double> c = vec3<double>(cn, mu * cn * t, mu * cn * o);
    double a[3];
    for (int i = 0; i < 3; ++i)
      a[i] = p.b[static_cast<std::size_t>(i)] + W(i, 0) * c[0] + W(i, 1) * c[1] + W(i, 2) * c[2];
    return Slip{cn, t * a[2] - o * a[1], t * a[1] + o * a[2], c};
  };
  constexpr int kSteps = 20000;
  for (int k = 0; k < kSteps; ++k) {
    double low = 2 * std::numbers::pi * k / kSteps, high = 2 * std::numbers::pi * (k + 1) / kSteps;
    if ((slip(low).across > 0) == (slip(high).across > 0)) continue;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (low + high);
      ((slip(middle).across > 0) == (slip(low).across > 0) ? low : high) = middle;
    }
    const Slip at = slip(low);
    if (at.cn > 0 && at.along <= 1e-9) found.push_back(at.c);
  }
  const double d00 = W(1, 1) * W(2, 2) - W(1, 2) * W(2, 1), d01 = W(1, 0) * W(2, 2) - W(1, 2) * W(2, 0),
               d02 = W(1, 0) * W(2, 1) - W(1, 1) * W(2, 0);
  const double det = W(0, 0) * d00 - W(0, 1) * d01 + W(0, 2) * d02;
  Vec3<double> stick;  // Cramer's rule
  for (int k = 0; k < 3; ++k) {
    double m[9];
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) m[3 * i + j] = j == k ? -p.b[static_cast<std::size_t>(i)] : W(i, j);
    stick[k] =
        (m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6])) /
        det;
  }
  if (stick[0] >= 0 && std::hypot(stick[1], stick[2]) <= mu * stick[0] * (1 + 1e-9)) found.push_back(stick);
  return found;
}

TEST(OneContact, AnswersAreRootsOfAScanOverAllDirections) {
  const Problems all = bench::scaled_gram({1, 100000, 3});
  const Solutions s = contact::solve(all, {}, kLanes);
  std::vector<std::size_t> chosen = beyond_newton(s);
  EXPECT_GE(chosen.size(), 5U);
  for (std::size_t k = 0; k < 300; ++k) chosen.push_back(k);
  for (const std::size_t k : chosen) {
    ASSERT_EQ(s.status[k], Status::kConverged);
    double nearest = 1e300, size = 1;
    for (const Vec3<double>& c : all_solutions(only(all, k))) {
      const Vec3<double> got = vec3<double>(s.c[3 * k], s.c[3 * k + 1], s.c[3 * k + 2]);
      nearest = std::min(nearest, norm(got - c));
      size = std::max(size, norm(got));
    }
    EXPECT_LE(nearest, 1e-5 * size) << k;  // a residual of 1e-8 times the condition of A
  }
}

// A of rank 1 or 2: b is made from an answer, so that there is one.
TEST(OneContact, WithASingularMatrixIsSolvedWhereItCanBe) {
  bench::Random random(11);
  constexpr std::size_t kCount = 20000;
  Problems p;
  p.contacts = 1;
  p.count = kCount;
  for (std::size_t k = 0; k < kCount; ++k) {
    const std::size_t rank = 1 + k % 2;
    std::vector<double> G(rank * 3), c(3), a(3, 0.0);
    for (double& v : G) v = random.normal();
    const std::vector<double> A = bench::problem_classes_detail::gram(G, rank, {1, 1, 1});
    const double mu = random.uniform(0.05, 1.2), angle = 2 * std::numbers::pi * random.uniform(),
                 force = random.uniform(0.5, 2);
    const double share = k % 3 == 0 ? 1 : random.uniform();  // a third slip
    c = {force, force * mu * share * std::cos(angle), force * mu * share * std::sin(angle)};
    if (k % 3 == 0) a = {0, -random.uniform() * c[1], 0};
    if (k % 3 == 0) a[2] = a[1] * c[2] / c[1];
    bench::problem_classes_detail::append(p.A, A);
    bench::problem_classes_detail::append(p.b, bench::problem_classes_detail::compute_load(A, c, a));
    p.mu.push_back(mu);
  }
  const Solutions s = contact::solve(p, {}, kLanes);
  int left = 0;
  for (std::size_t k = 0; k < kCount; ++k) {
    std::vector<double> c = part(s.c, 3, k);
    if (s.status[k] != Status::kConverged) {
      ++left;
      const Solutions longer = contact::solve(only(p, k), {.full_effort = true}, kLanes);
      ASSERT_EQ(longer.status[0], Status::kConverged) << k;
      c = longer.c;
    }
    ASSERT_LE(law_violation(only(p, k), c), 1e-7) << k;
  }
  EXPECT_LE(left, 2);
}

/// Problems that stick with the force `c`, drawn inside the cones.
struct Sticking {
  Problems problems;
  std::vector<double> c;
};
Sticking sticking(int contacts, double mu, std::int64_t count) {
  Sticking out{bench::scaled_gram({contacts, count, 5}), {}};
  Problems& p = out.problems;
  const auto n = static_cast<std::size_t>(3 * contacts);
  bench::Random random(23);
  std::fill(p.mu.begin(), p.mu.end(), mu);
  p.b.clear();
  for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
    std::vector<double> c(n);
    for (std::size_t i = 0; i < n; ++i) c[i] = i % 3 == 0 ? random.uniform(0.1, 2) : 2 * random.normal();
    bench::problem_classes_detail::append(
        p.b, bench::problem_classes_detail::compute_load(part(p.A, n * n, k), c, std::vector<double>(n, 0.0)));
    bench::problem_classes_detail::append(out.c, c);
  }
  return out;
}

class LargeFriction : public testing::TestWithParam<double> {};
TEST_P(LargeFriction, LeavesTheStickForce) {
  for (const int contacts : {1, 2, 3, 5}) {
    const Sticking given = sticking(contacts, GetParam(), 200);
    const Solutions s = contact::solve(given.problems, {}, kLanes);
    const auto n = static_cast<std::size_t>(3 * contacts);
    for (std::size_t k = 0; k < 200; ++k) {
      ASSERT_EQ(s.status[k], Status::kConverged) << contacts << " contacts, " << k;
      for (std::size_t i = k * n; i < (k + 1) * n; ++i) EXPECT_NEAR(s.c[i], given.c[i], 1e-4) << k;
    }
    EXPECT_TRUE(test::same_bits(s.c, contact::solve(given.problems, {}, kScalar).c));
  }
}

// No force, though the contacts approach: the natural map alone says |a_n| / mu, which is below any tolerance.
TEST_P(LargeFriction, LetsNoForcePassForAnAnswerThatIsNone) {
  for (const int contacts : {1, 3}) {
    const Sticking given = sticking(contacts, GetParam(), 200);
    const Solutions none = contact::check_solution(given.problems, std::vector<double>(given.c.size(), 0.0), 1e-8);
    const Solutions right = contact::check_solution(given.problems, given.c, 1e-8);
    std::size_t approach = 0;
    for (std::size_t k = 0; k < 200; ++k) {
      EXPECT_EQ(right.status[k], Status::kConverged) << k;
      double least = 0;
      for (std::size_t j = 0; j < static_cast<std::size_t>(contacts); ++j)
        least = std::min(least, given.problems.b[3 * (k * static_cast<std::size_t>(contacts) + j)]);
      if (least > -1e-3) continue;  // all contacts part without a force: that is an answer, too
      EXPECT_NE(none.status[k], Status::kConverged) << k;
      ++approach;
    }
    EXPECT_GE(approach, 50U);
  }
}

// Problems of no known answer: what is called converged obeys the law, with the cone's boundary as a share of |c_T|.
TEST_P(LargeFriction, GivesNoWrongAnswerAnywhere) {
  Problems p = bench::random_grasps({3, 1000, 0});
  std::fill(p.mu.begin(), p.mu.end(), GetParam());
  const Solutions s = contact::solve(p, {}, kLanes);
  std::size_t solved = 0;
  for (std::size_t k = 0; k < 1000; ++k) {
    if (s.status[k] != Status::kConverged) continue;
    ++solved;
    for (std::size_t j = 9 * k; j < 9 * k + 9; j += 3) {
      EXPECT_GE(s.c[j], -1e-6);
      EXPECT_GE(s.a[j], -1e-6);
      EXPECT_LE(std::min(s.c[j], s.a[j]), 1e-6);
      const double ct = std::hypot(s.c[j + 1], s.c[j + 2]), at = std::hypot(s.a[j + 1], s.a[j + 2]);
      EXPECT_LE(ct, GetParam() * std::max(s.c[j], 0.0) + 1e-6);
      if (at <= 1e-5) continue;
      const double power = s.c[j + 1] * s.a[j + 1] + s.c[j + 2] * s.a[j + 2];
      EXPECT_LE(power, -(1 - 1e-4) * ct * at + 1e-5) << k;  // friction opposes what slips
      EXPECT_LE(s.c[j], 1e-5) << "slips though pressed, " << k;
    }
  }
  EXPECT_GE(solved, 900U);
}
// Nothing moves this contact, and it approaches: an acceleration of -1 vanishes beside a force of 1e17.
TEST(Certificate, TakesNoForceBesideWhichTheAccelerationIsLostInRounding) {
  const Problems p{1, 1, std::vector<double>(9, 0.0), {-1, 0, 0}, {0.5}};
  for (const double force : {1.0, 1e9, 1e15, 1e17, 1e200})
    EXPECT_NE(contact::check_solution(p, {force, 0, 0}, 1e-8).status[0], Status::kConverged) << force;
}

INSTANTIATE_TEST_SUITE_P(Sizes, LargeFriction, testing::Values(1e7, 1e8, 1e9, 1e12, 1e100, 1e154, 1e200, 1e300));

}  // namespace
}  // namespace garra
