// mcp::solve_affine on the GPU: the processor's bits, and what it refuses.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "contact/mcp/affine.hpp"
#include "garra/core/error.hpp"
#include "on_every_executor.hpp"

namespace garra::mcp {
namespace {

constexpr Device kGpu{Executor::kCuda, 0, 0};

/// Random problems with every kind of bound. Every fourth has a zero block, whose solutions are many or none.
struct Batch {
  int n;
  std::int64_t count;
  std::vector<double> M, q, lower, upper, start;

  Batch(int unknowns, std::int64_t problems, unsigned seed) : n(unknowns), count(problems) {
    std::mt19937 draw(seed);
    std::uniform_real_distribution<double> u(-1, 1);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (std::int64_t k = 0; k < count; ++k)
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j)
          M.push_back(k % 4 == 3 && i >= n / 2 && j >= n / 2 ? 0 : u(draw) + (i == j) * n * 0.7);
        q.push_back(3 * u(draw));
        lower.push_back(i % 5 == 1 ? -kInfinity : i % 5 == 2 ? -0.2 : 0);
        upper.push_back(i % 5 == 2 ? 0.3 : i % 5 == 3 ? 0 : kInfinity);
        start.push_back(u(draw));
      }
  }
  [[nodiscard]] AffineProblems view() const { return {n, count, M, q, lower, upper, start}; }

  /// Largest violation of the conditions of unknown i, counted here once more.
  [[nodiscard]] double error(const std::vector<double>& x, std::int64_t k) const {
    double worst = 0;
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(k * n + i);
      double F = q[at];
      for (int j = 0; j < n; ++j)
        F += M[at * static_cast<std::size_t>(n) + static_cast<std::size_t>(j)] * x[static_cast<std::size_t>(k * n + j)];
      EXPECT_LE(lower[at], x[at]);
      EXPECT_LE(x[at], upper[at]);
      // F > 0 only at the lower bound, F < 0 only at the upper one.
      worst = std::max(worst, F > 0 ? std::min(F, x[at] - lower[at]) : std::min(-F, upper[at] - x[at]));
    }
    return worst;
  }
};

TEST(AffineDevice, HasTheBitsOfTheProcessor) {
  if (!test::gpu_here()) GTEST_SKIP() << "no GPU";
  for (const int n : {1, 3, 12, kMostKernelUnknowns})
    for (const AffineMethod method : {AffineMethod::kPivoting, AffineMethod::kSemismoothNewton}) {
      SCOPED_TRACE(std::to_string(n) + " " + kAffineMethods[static_cast<int>(method)]);
      const Batch batch(n, n < 20 ? 40 : 3, static_cast<unsigned>(n));
      const AffineOptions options{.method = method};
      const Solutions here = solve_affine(batch.view(), options), there = solve_affine(batch.view(), options, kGpu);
      const auto bytes = [](const std::vector<double>& a) {
        return std::string(reinterpret_cast<const char*>(a.data()), a.size() * sizeof(double));
      };
      EXPECT_EQ(bytes(here.x), bytes(there.x));
      EXPECT_EQ(bytes(here.FG), bytes(there.FG));
      EXPECT_EQ(bytes(here.residual), bytes(there.residual));
      EXPECT_EQ(here.status, there.status);
      EXPECT_EQ(here.outer, there.outer);
      EXPECT_EQ(here.method, there.method);
    }
}

TEST(AffineDevice, SolvesWhatItCallsConvergedAndMostProblems) {
  if (!test::gpu_here()) GTEST_SKIP() << "no GPU";
  Batch batch(8, 60, 5);
  batch.q[3] = NAN;
  const Solutions found = solve_affine(batch.view(), {}, kGpu);
  int solved = 0;
  for (std::int64_t k = 0; k < batch.count; ++k) {
    const auto at = static_cast<std::size_t>(k);
    if (found.status[at] != Status::kConverged) continue;
    ++solved;
    EXPECT_LE(batch.error(found.x, k), 1e-7);
  }
  EXPECT_EQ(found.status[0], Status::kInvalidInput);
  EXPECT_TRUE(std::isnan(found.x[0]));
  EXPECT_GE(solved, 44);  // all that have no zero block
}

TEST(AffineDevice, NamesWhatHasNoKernel) {
  const Batch large(kMostKernelUnknowns + 1, 1, 1), small(2, 1, 1);
  EXPECT_THROW((void)solve_affine(large.view(), {}, kGpu), Error);
  EXPECT_THROW((void)solve_affine(small.view(), {.method = AffineMethod::kLemke}, kGpu), Error);
}

}  // namespace
}  // namespace garra::mcp
