// Every method of contact::solve on every executor: the same bits, for every number of contacts that it takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "answers.hpp"
#include "contact/problems/classes.hpp"
#include "contact/problems/classes_general.hpp"
#include "garra/solvers/friction_newton.hpp"
#include "merit_methods.hpp"
#include "reference.hpp"

namespace garra {
namespace {

using contact::Method;
using contact::Problems;

class ContactExecutors : public testing::TestWithParam<int> {};

TEST_P(ContactExecutors, GiveTheSameBits) {
  contact::Options options;
  options.method = static_cast<Method>(GetParam());
  options.starts = 2;
  options.count_solutions = options.method == Method::kLemke;
  const bool merit = test::minimizes_merit(options.method);
  // More contacts: test_many_contacts.cpp, test_merit_methods.cpp.
  const int most = merit ? 4 : std::min(contact::most_contacts(options.method), contact::kMaxOwnSize);
  for (int contacts = 1; contacts <= most; ++contacts) {
    SCOPED_TRACE(contacts);
    const auto sliding = options.method == Method::kLemke ? bench::Sliding::all : bench::Sliding::some;
    // One more than whole tiles and groups of lanes; merit methods take milliseconds for a problem.
    const Problems p =
        contacts == 1 ? bench::random_grasps({1, 33, 0}) : bench::sliding_grasps(sliding, {contacts, merit ? 33 : 257});
    if (contacts == 1 && options.method == Method::kLemke) continue;  // they may roll
    test::expect_same_on(test::other_executors(),
                         [&](const Device& d) { return test::make_answer(contact::solve(p, options, d)); });
  }
}
INSTANTIATE_TEST_SUITE_P(Methods, ContactExecutors, testing::Range(0, contact::kMethodCount), [](const auto& info) {
  return std::string(contact::to_string(static_cast<Method>(info.param))).substr(0, 3) + std::to_string(info.param);
});

// Newton took 400 steps where b holds NaN, the restarts 12,000 where friction is negative, and a warp waited for them.
TEST_P(ContactExecutors, TakeNoStepWhereAProblemIsInvalid) {
  contact::Options options;
  options.method = static_cast<Method>(GetParam());
  if (options.method == Method::kLemke) GTEST_SKIP() << "problems whose contacts all slide";
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  Problems p = bench::random_grasps({2, 41, 0});
  const contact::Solutions before = contact::solve(p, options, test::kReference);
  std::vector<std::size_t> bad;
  const auto spoil = [&](std::vector<double>& array, std::size_t problem, int width, double value) {
    array[problem * static_cast<std::size_t>(width) + 1] = value;
    bad.push_back(problem);
  };
  spoil(p.b, 3, 6, nan);
  spoil(p.b, 8, 6, inf);
  spoil(p.A, 9, 36, nan);
  spoil(p.A, 17, 36, -inf);
  spoil(p.mu, 23, 2, nan);
  spoil(p.mu, 24, 2, inf);
  spoil(p.mu, 40, 2, -0.5);
  for (Device device : {test::kReference, Device{Executor::kLanes, 1, 0}, Device{Executor::kCuda, 0, 0}}) {
    if (device.executor == Executor::kCuda && !test::gpu_here()) continue;
    SCOPED_TRACE(describe(device));
    const contact::Solutions found = contact::solve(p, options, device);
    for (std::size_t k = 0; k < 41; ++k) {
      if (std::ranges::count(bad, k) > 0) {
        EXPECT_EQ(found.status[k], Status::kInvalidInput) << k;
        EXPECT_LE(found.iterations[k], 0) << k;
      } else {
        EXPECT_EQ(found.status[k], before.status[k]) << k;
        EXPECT_EQ(found.iterations[k], before.iterations[k]) << k;
      }
    }
  }
}

TEST(ContactExecutorsOfAnySize, GiveTheSameBits) {
  const Problems all = bench::random_grasps({3, 300, 0});
  for (const std::int64_t n : {0, 1, 7, 8, 9, 31, 32, 33, 255, 256, 257}) {
    SCOPED_TRACE(n);
    const Problems p{3,
                     n,
                     {all.A.begin(), all.A.begin() + n * 81},
                     {all.b.begin(), all.b.begin() + n * 9},
                     {all.mu.begin(), all.mu.begin() + n * 3}};
    test::expect_same_on_every_executor([&](const Device& d) { return test::make_answer(contact::solve(p, {}, d)); });
  }
}

// Symmetric matrices of up to three contacts are a GPU thread's by halves (kernels/contact/newton.cuh).
TEST(ContactExecutorsOfMatrices, ThatAreNotQuiteSymmetricGiveTheSameBits) {
  for (const int contacts : {1, 2, 3}) {
    SCOPED_TRACE(contacts);
    contact::Problems p = bench::random_grasps({contacts, 65, 0});
    const auto entries = static_cast<std::size_t>(9 * contacts * contacts),
               row = static_cast<std::size_t>(3 * contacts);
    p.A[7 * entries + 1] = std::nextafter(p.A[7 * entries + 1], 1.0);
    p.A[40 * entries + row] *= 1.01;
    p.A[41 * entries + 2] = 0, p.A[41 * entries + 2 * row] = -0.0;
    test::expect_same_on_every_executor([&](const Device& d) { return test::make_answer(contact::solve(p, {}, d)); });
  }
}

/// The first few of a class that Newton's restarts leaves.
contact::Problems left_by_newton(const contact::Problems& all, std::int64_t most) {
  const contact::Solutions restarts = contact::solve(all, {.max_iterations = solvers::kMaxNewtonSteps});
  const auto rows = static_cast<std::ptrdiff_t>(3 * all.contacts);
  contact::Problems left{all.contacts, 0, {}, {}, {}};
  const auto take = [](const std::vector<double>& from, std::ptrdiff_t i, std::ptrdiff_t width,
                       std::vector<double>& to) {
    to.insert(to.end(), from.begin() + i * width, from.begin() + (i + 1) * width);
  };
  for (std::ptrdiff_t i = 0; i < all.count && left.count < most; ++i) {
    if (restarts.status[static_cast<std::size_t>(i)] == Status::kConverged) continue;
    ++left.count;
    take(all.A, i, rows * rows, left.A);
    take(all.b, i, rows, left.b);
    take(all.mu, i, rows / 3, left.mu);
  }
  return left;
}

// On a GPU each of the solvers that follow has its matrices elsewhere (kernels/contact/fallback.cu).
TEST(ContactExecutorsBeyondNewton, GiveTheSameBits) {
  for (const auto& [contacts, count] :
       {std::pair{1, 100000}, {2, 100000}, {3, 30000}, {4, 5000}, {5, 3000}, {6, 2000}, {7, 2000}, {8, 2000}}) {
    SCOPED_TRACE(contacts);
    const bench::Draw draw{contacts, count, 0};
    const contact::Problems left =
        left_by_newton(contacts < 3 ? bench::scaled_gram(draw) : bench::six_equations(draw), 4);
    ASSERT_GT(left.count, 0);
    test::expect_same_on_every_executor(
        [&](const Device& d) { return test::make_answer(contact::solve(left, {}, d)); });
  }
}

TEST(ContactExecutorsOfHardProblems, GiveTheSameBits) {
  const nlohmann::json all = test::read_reference_json("contact/last_restart.json");
  for (const std::size_t number : {0U, 5U}) {  // of three contacts, and of five
    const nlohmann::json& given = all["problems"][number];
    const contact::Problems p = {given["contacts"], 1, given["A"], given["b"], given["mu"]};
    SCOPED_TRACE(p.contacts);
    test::expect_same_on_every_executor([&](const Device& d) { return test::make_answer(contact::solve(p, {}, d)); });
  }
}

}  // namespace
}  // namespace garra
