// Batches of LCPs: reference data, the promises of a batch, and Lemke against the enumeration.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "answers.hpp"
#include "contact/problems/classes.hpp"
#include "garra/core/error.hpp"
#include "garra/core/lanes.hpp"
#include "garra/lcp.hpp"
#include "garra/solvers/lcp.hpp"
#include "reference.hpp"

namespace garra {
namespace {

const Device kScalar{Executor::kScalar, 1, 0};
const Device kLanes{Executor::kLanes, 2, 0};

/// The papers' (45)-(48) for random grasps whose contacts all slide.
template <int N>
lcp::Problems sliding_problems(std::int64_t count) {
  const auto grasps = bench::sliding_grasps(bench::Sliding::all, {N, count});
  lcp::Problems out{N, count, {}, {}};
  for (std::int64_t k = 0; k < count; ++k) {
    solvers::FrictionProblem<double, N> p;
    std::copy_n(grasps.A.data() + k * 9 * N * N, 9 * N * N, p.A.m);
    std::copy_n(grasps.b.data() + k * 3 * N, 3 * N, p.b.m);
    std::copy_n(grasps.mu.data() + k * N, N, p.mu.m);
    solvers::SlidingContacts<double, N> sliding;
    for (int j = 0; j < N; ++j) {
      const double* v = grasps.slip_velocity.data() + (k * N + j) * 2;
      sliding.v[2 * j] = v[0] / std::hypot(v[0], v[1]);
      sliding.v[2 * j + 1] = v[1] / std::hypot(v[0], v[1]);
    }
    solvers::eliminate_sliding(p, sliding);
    const auto normal = solvers::normal_problem(p);
    out.M.insert(out.M.end(), normal.M.m, normal.M.m + N * N);
    out.q.insert(out.q.end(), normal.q.m, normal.q.m + N);
  }
  return out;
}

lcp::Problems first(const lcp::Problems& all, std::int64_t count) {
  const auto n = static_cast<std::ptrdiff_t>(count), k = static_cast<std::ptrdiff_t>(all.size);
  return {all.size, count, {all.M.begin(), all.M.begin() + n * k * k}, {all.q.begin(), all.q.begin() + n * k}};
}

// lcp_z and lcp_w are by another Lemke code, 500 / 300 / 200 problems.
template <int N>
void agrees_with_reference() {
  const std::string file = "contact/random_n" + std::to_string(N) + ".h5";
  const auto A = test::read_reference(file, "A"), b = test::read_reference(file, "b");
  const auto z = test::read_reference(file, "lcp_z"), w = test::read_reference(file, "lcp_w");
  lcp::Problems in{N, static_cast<std::int64_t>(A.count()), {}, {}};
  for (std::size_t k = 0; k < A.count(); ++k)
    for (int i = 0; i < N; ++i) {
      in.q.push_back(b.item(k)[3 * i]);
      for (int j = 0; j < N; ++j) in.M.push_back(A.item(k)[3 * i * 3 * N + 3 * j]);
    }
  const auto s = lcp::solve(in, {}, kLanes);
  ASSERT_GT(s.count, 100);
  for (std::size_t k = 0; k < s.z.size(); ++k) {
    ASSERT_EQ(s.status[k / N], Status::kConverged);
    EXPECT_NEAR(s.z[k], z.values[k], 1e-10 * (1 + std::abs(z.values[k])));
    EXPECT_NEAR(s.w[k], w.values[k], 1e-10 * (1 + std::abs(w.values[k])));
  }
}
TEST(LcpBatch, SolvesTheFrictionlessReferenceProblems) {
  agrees_with_reference<3>();
  agrees_with_reference<4>();
  agrees_with_reference<8>();
}

// All-sliding problems with none or two solutions, proved by an independent enumeration.
TEST(LcpBatch, GivesTheStatesOfTheNonUniqueProblems) {
  const auto all = test::read_reference_json("grasp/lcp_nonunique.json");
  int none = 0, several = 0;
  for (const auto& p : all) {
    lcp::Problems in{p["n"].get<int>(), 1, {}, p["q"].get<std::vector<double>>()};
    for (const auto& row : p["M"])
      for (const double m : row) in.M.push_back(m);
    const auto e = lcp::enumerate(in);
    const auto solutions = p["solutions"].get<std::vector<std::vector<double>>>();
    ASSERT_EQ(e.solutions(0), static_cast<std::int64_t>(solutions.size())) << p["id"];
    EXPECT_EQ(e.decision[0], solutions.empty() ? solvers::LcpStatus::kNoSolution : solvers::LcpStatus::kSeveral);
    EXPECT_NE(e.p_matrix[0], solvers::PMatrix::kYes);
    (solutions.empty() ? none : several) += 1;
    const auto matches = [&](const double* z, const std::vector<double>& known) {
      for (std::size_t i = 0; i < known.size(); ++i)
        if (!(std::abs(z[i] - known[i]) <= 1e-9 * (1 + std::abs(known[i])))) return false;
      return true;
    };
    const auto s = lcp::solve(in, {}, kScalar);
    EXPECT_EQ(s.status[0] == Status::kConverged, p["lemke_ok"].get<bool>()) << p["id"];
    int enumerated = 0, pivoted = 0;
    for (const auto& known : solutions) {
      for (std::int64_t i = 0; i < e.solutions(0); ++i) enumerated += matches(e.z.data() + i * in.size, known);
      pivoted += matches(s.z.data(), known);
    }
    EXPECT_EQ(enumerated, static_cast<int>(solutions.size()));
    EXPECT_EQ(pivoted, solutions.empty() ? 0 : 1);
  }
  EXPECT_GT(none, 0);
  EXPECT_GT(several, 0);
}

TEST(LcpBatch, OfSlidingGraspsIsWhatTheEnumerationSays) {
  const auto in = sliding_problems<4>(2000);
  const auto s = lcp::solve(in, {}, kLanes);
  const auto e = lcp::enumerate(in);
  int solved = 0;
  for (std::size_t k = 0; k < 2000; ++k) {
    if (e.decision[k] == solvers::LcpStatus::kNoSolution) {
      EXPECT_EQ(s.status[k], Status::kStalled);
    }
    if (e.p_matrix[k] == solvers::PMatrix::kYes) {
      EXPECT_EQ(s.status[k], Status::kConverged);
    }
    if (s.status[k] != Status::kConverged) continue;
    ++solved;
    bool found = false;
    for (std::int64_t i = e.first[k]; i < e.first[k + 1]; ++i) {
      bool here = true;
      for (std::size_t j = 0; j < 4; ++j) {
        const double z = e.z[static_cast<std::size_t>(i) * 4 + j];
        here = here && std::abs(s.z[k * 4 + j] - z) <= 1e-10 * (1 + std::abs(z));
      }
      found = found || here;
    }
    EXPECT_TRUE(found) << k;
  }
  EXPECT_GT(solved, 1900);
}

template <int N>
void same_everywhere(std::int64_t count) {
  SCOPED_TRACE(N);
  const auto in = sliding_problems<N>(count);
  test::expect_same_on_every_executor([&](const Device& d) { return test::make_answer(lcp::solve(in, {}, d)); });
}
TEST(LcpBatch, EveryExecutorGivesTheSameBits) {
  same_everywhere<1>(200);
  same_everywhere<2>(500);
  same_everywhere<3>(3000);
  same_everywhere<5>(1000);
  same_everywhere<6>(500);
  same_everywhere<7>(500);
  same_everywhere<8>(1003);
}

// Ties by construction: small integers, repeated rows, zeros in q. The lexicographic branch runs in single lanes.
TEST(LcpBatch, EveryExecutorGivesTheSameBitsOnDegenerateProblems) {
  bench::Random random(5);
  const auto digit = [&] { return std::floor(random.uniform(-2, 3)); };
  lcp::Problems in{4, 1003, {}, {}};
  for (int k = 0; k < 1003; ++k) {
    double b[4];
    for (double& x : b) x = digit();
    b[3] = b[0];
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) in.M.push_back(b[i] * b[j] + (i == j && i != 1 ? 1 : 0));
    for (int i = 0; i < 4; ++i) in.q.push_back(digit());
  }
  test::expect_same_on_every_executor([&](const Device& d) { return test::make_answer(lcp::solve(in, {}, d)); });
}

TEST(LcpBatch, EverySizeGivesTheSameAnswers) {
  constexpr std::int64_t width = kWidth<Lanes<double>>;
  const auto all = sliding_problems<3>(1003);
  const auto reference = lcp::solve(all, {}, kScalar);
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{1}, width - 1, width, width + 1, std::int64_t{1003}}) {
    const auto s = lcp::solve(first(all, count), {}, kLanes);
    ASSERT_EQ(s.count, count);
    EXPECT_TRUE(count == 0 || std::memcmp(s.z.data(), reference.z.data(), s.z.size() * sizeof(double)) == 0) << count;
  }
  EXPECT_EQ(lcp::enumerate(first(all, 0)).first.size(), 1u);
}

TEST(LcpBatch, ANanStaysInItsProblem) {
  auto in = sliding_problems<3>(64);
  const auto clean = lcp::solve(in, {}, kLanes);
  in.M[9 * 11 + 4] = std::numeric_limits<double>::quiet_NaN();
  in.q[3 * 40 + 2] = std::numeric_limits<double>::infinity();
  const auto s = lcp::solve(in, {}, kLanes);
  for (std::size_t k = 0; k < 64; ++k) {
    if (k == 11 || k == 40) {
      EXPECT_EQ(s.status[k], Status::kInvalidInput);
      EXPECT_TRUE(std::isnan(s.z[3 * k]));
      continue;
    }
    EXPECT_EQ(s.status[k], clean.status[k]);
    EXPECT_EQ(std::memcmp(&s.z[3 * k], &clean.z[3 * k], 3 * sizeof(double)), 0);
  }
}

// M has a positive definite symmetric part, so that there is one solution; the test reads it from its definition.
TEST(LcpBatch, OfManyPairsHasTheOneSolutionOnEveryExecutorOfTheProcessor) {
  for (const int n : {9, 16, 31, 32}) {
    SCOPED_TRACE(n);
    constexpr std::size_t kCount = 37;
    bench::Random random(static_cast<std::uint64_t>(n));
    const auto k = static_cast<std::size_t>(n);
    lcp::Problems in{n, kCount, {}, {}};
    for (std::size_t i = 0; i < kCount; ++i)
      for (std::size_t r = 0; r < k; ++r) {
        in.q.push_back(random.normal());
        for (std::size_t m = 0; m < k; ++m) in.M.push_back((r == m ? 3 * std::sqrt(n) : 0) + random.normal());
      }
    const lcp::Solutions found = lcp::solve(in, {}, kScalar);
    for (std::size_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(found.status[i], Status::kConverged) << i;
      for (std::size_t r = 0; r < k; ++r) {
        double w = in.q[i * k + r];
        for (std::size_t m = 0; m < k; ++m) w += in.M[(i * k + r) * k + m] * found.z[i * k + m];
        EXPECT_NEAR(std::min(w, found.z[i * k + r]), 0, 1e-12) << i;
      }
    }
    test::expect_same_on(test::other_host_executors(),
                         [&](const Device& d) { return test::make_answer(lcp::solve(in, {}, d)); });
  }
}

// Two problems that have nothing to do with one another: the code for eight pairs finds the solution of each.
TEST(LcpBatch, OfTwoProblemsInOneHasTheSolutionOfEach) {
  const auto alone = sliding_problems<8>(40);
  lcp::Problems both{16, 20, std::vector<double>(20 * 16 * 16), alone.q};
  for (std::size_t k = 0; k < 40; ++k)
    for (std::size_t r = 0; r < 8; ++r)
      std::copy_n(alone.M.begin() + static_cast<std::ptrdiff_t>((k * 8 + r) * 8), 8,
                  both.M.begin() + static_cast<std::ptrdiff_t>((k * 8 + r) * 16 + k % 2 * 8));
  const lcp::Solutions want = lcp::solve(alone), found = lcp::solve(both);
  for (std::size_t k = 0; k < 40; ++k) {
    if (found.status[k / 2] != Status::kConverged || want.status[k] != Status::kConverged) continue;
    for (std::size_t r = 8 * k; r < 8 * (k + 1); ++r) EXPECT_NEAR(found.z[r], want.z[r], 1e-9 * (1 + want.z[r])) << k;
  }
  EXPECT_GE(std::ranges::count(found.status, Status::kConverged), 15);
}

TEST(LcpBatch, RefusesArraysOfTheWrongSize) {
  EXPECT_THROW((void)lcp::solve({3, 1, std::vector<double>(9), std::vector<double>(2)}), Error);
  EXPECT_THROW((void)lcp::solve({33, 0, {}, {}}), Error);
  EXPECT_THROW((void)lcp::enumerate({9, 0, {}, {}}), Error);
  EXPECT_THROW((void)lcp::enumerate({0, 0, {}, {}}), Error);
}

}  // namespace
}  // namespace garra
