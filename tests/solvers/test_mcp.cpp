// Complementarity problems with bounds: merit functions and derivatives, the functor in batches, functions called back.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "contact/mcp/solve.hpp"
#include "garra/mncp.hpp"
#include "garra/solvers/mcp/semismooth_newton.hpp"

namespace garra {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// Two suppliers with capacities and contracts, one price: l_i <= u_i <= h_i, the price is free.
struct BoundedMarket {
  static constexpr int kComplementary = 2, kFree = 1;
  template <class S>
  struct Data {
    S a1, b1, a2, b2, d, s;
    Vec<S, 2> low, high;
  };
  template <class S, class X>
  static GARRA_HD Vec<X, 3> evaluate(const Data<S>& m, const Vec<X, 3>& x) {
    return {{m.a1 + m.b1 * x[0] - x[2], m.a2 + m.b2 * x[1] - x[2], x[0] + x[1] - m.d * exp(-(x[2] / m.s))}};
  }
  /// J'w.
  template <class S>
  static GARRA_HD Vec<S, 3> pull_back(const Data<S>& m, const Vec<S, 3>& x, const Vec<S, 3>& w) {
    return {{m.b1 * w[0] + w[2], m.b2 * w[1] + w[2], m.d / m.s * exp(-(x[2] / m.s)) * w[2] - w[0] - w[1]}};
  }
  template <class S>
  static GARRA_HD S lower(const Data<S>& m, int i) {
    return m.low[i];
  }
  template <class S>
  static GARRA_HD S upper(const Data<S>& m, int i) {
    return m.high[i];
  }
  template <class S>
  static GARRA_HD MaskOf<S> valid(const Data<S>& m) {
    return m.a1 - m.a1 == S(0);  // bounds may be infinite
  }
};

using Markets = std::vector<BoundedMarket::Data<double>>;

Markets drawn_markets(std::size_t count) {
  std::mt19937_64 generator(7);
  const auto draw = [&](double lo, double hi) { return std::uniform_real_distribution<double>(lo, hi)(generator); };
  Markets markets(count);
  for (std::size_t k = 0; k < count; ++k) {
    auto& m = markets[k];
    m = {draw(1, 5),  draw(.1, 2), draw(1, 5),        draw(.1, 2),
         draw(1, 20), draw(1, 8),  {{0, draw(0, 1)}}, {{draw(0.2, 2), kInf}}};
    if (k % 3 == 1) m.low[0] = -kInf;
    if (k % 3 == 2) m.low[1] = m.high[1] = 0.5;
  }
  return markets;
}

/// J and the curvature against central differences, whose error is about h^2 + eps / h.
template <class Merit>
void expect_derivatives() {
  using View = typename Merit::template View<BoundedMarket, double>;
  constexpr int V = View::kVariables, R = View::kResiduals;
  std::mt19937_64 generator(3);
  std::uniform_real_distribution<double> uniform(0.2, 3.0);
  for (const auto& market : drawn_markets(30)) {
    const View view(market);
    Vec<double, V> x;
    Vec<double, R> w;
    for (int i = 0; i < V; ++i) x[i] = uniform(generator);
    for (int k = 0; k < R; ++k) w[k] = 1.0 / (k + 1);
    const auto J = view.jacobian(x);
    const auto g = view.pull_back(x, w), Jw = transpose_times(J, w);
    for (int i = 0; i < V; ++i) EXPECT_NEAR(g[i], Jw[i], 1e-13 * (1 + std::abs(Jw[i]))) << i;
    auto H = Mat<double, V, V>::zero();
    view.add_curvature(x, w, H);
    const double h = 1e-5;
    for (int j = 0; j < V; ++j) {
      Vec<double, V> above = x, below = x;
      above[j] += h;
      below[j] -= h;
      const auto dr = 0.5 / h * (view.residual(above) - view.residual(below));
      const auto dw = 0.5 / h * (transpose_times(view.jacobian(above), w) - transpose_times(view.jacobian(below), w));
      for (int k = 0; k < R; ++k) EXPECT_NEAR(J(k, j), dr[k], 1e-6 * (1 + std::abs(dr[k]))) << k << " " << j;
      for (int k = 0; k < V; ++k) EXPECT_NEAR(H(k, j), dw[k], 1e-6 * (1 + std::abs(dw[k]))) << k << " " << j;
    }
  }
}

TEST(BoundedMerits, HaveTheDerivativesOfDifferences) {
  expect_derivatives<solvers::PapersMerit>();
  expect_derivatives<solvers::ComponentwiseMerit>();
  expect_derivatives<solvers::FischerBurmeisterMerit>();
}

TEST(BoundedMerits, VanishExactlyAtTheSolutions) {
  // x = 0, 1/2, 2 in [0, 2] with F = 1, 0, -1; an unknown without bounds with F = 0.
  using View = solvers::FischerBurmeisterMerit::View<BoundedMarket, double>;
  BoundedMarket::Data<double> m{};
  m.low = {{0, -kInf}};
  m.high = {{2, kInf}};
  const View view(m);
  for (const auto& [x, F] : {std::pair{0.0, 1.0}, {0.5, 0.0}, {2.0, -1.0}}) EXPECT_EQ(view.pair(0, x, F).value, 0);
  EXPECT_EQ(view.pair(1, 7.0, 0.0).value, 0);
  EXPECT_GT(view.pair(0, 0.0, -1.0).value * view.pair(0, 0.0, -1.0).value, 0.1);
  EXPECT_GT(std::abs(view.pair(0, 2.0, 1.0).value), 0.1);
}

/// Distance of x to the median of l, h and x - F: zero exactly at solutions.
double natural_error(const BoundedMarket::Data<double>& m, const double* x) {
  const auto FG = BoundedMarket::evaluate(m, Vec<double, 3>{{x[0], x[1], x[2]}});
  double error = std::abs(FG[2]);
  for (int i = 0; i < 2; ++i)
    error = std::max(error, std::abs(x[i] - std::min(std::max(x[i] - FG[i], m.low[i]), m.high[i])));
  return error;
}

template <class Merit, class Minimizer>
void expect_solutions(double least) {
  const Markets markets = drawn_markets(203);
  const mncp::Options options{.tolerance = 1e-9, .starts = 4};
  const auto found = mncp::solve<BoundedMarket, Merit, Minimizer>(markets, {1, 1, 1}, options);
  const auto scalar = mncp::solve<BoundedMarket, Merit, Minimizer>(markets, {1, 1, 1}, options, {Executor::kScalar});
  EXPECT_GE(found.solved_share(), least);
  for (std::size_t k = 0; k < markets.size(); ++k) {
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(std::bit_cast<std::uint64_t>(found.x[3 * k + static_cast<std::size_t>(i)]),
                std::bit_cast<std::uint64_t>(scalar.x[3 * k + static_cast<std::size_t>(i)]));
    if (found.status[k] != Status::kConverged) continue;
    EXPECT_LE(natural_error(markets[k], &found.x[3 * k]), 1e-9);
  }
}

TEST(BoundedFunctor, IsSolvedWithTheSameBitsInLanesAndScalarCode) {
  expect_solutions<solvers::FischerBurmeisterMerit, solvers::SemismoothNewton>(1);
  expect_solutions<solvers::NaturalMerit, solvers::SemismoothNewton>(0.99);
  expect_solutions<solvers::ComponentwiseMerit, solvers::ProjectedLm>(1);
  expect_solutions<solvers::PapersMerit, solvers::BoxQuacan>(0.95);
}

/// l <= u <= h with F(u) = u - 3, and no test of its own of the numbers.
struct Interval {
  static constexpr int kComplementary = 1, kFree = 0;
  template <class S>
  struct Data {
    S low, high;
  };
  template <class S, class X>
  static GARRA_HD Vec<X, 1> evaluate(const Data<S>&, const Vec<X, 1>& x) {
    return {{x[0] - S(3)}};
  }
  template <class S>
  static GARRA_HD S lower(const Data<S>& m, int) {
    return m.low;
  }
  template <class S>
  static GARRA_HD S upper(const Data<S>& m, int) {
    return m.high;
  }
};

template <class Merit>
void expect_refused_bounds() {
  const std::vector<Interval::Data<double>> given{{5, 1}, {NAN, 1},      {0, NAN},   {NAN, NAN}, {kInf, kInf},  {0, 1},
                                                  {4, 4}, {-kInf, kInf}, {-kInf, 2}, {5, kInf},  {-kInf, -kInf}};
  const std::vector<double> truth{NAN, NAN, NAN, NAN, NAN, 1, 4, 3, 2, 5, NAN};
  for (const Executor executor : {Executor::kScalar, Executor::kLanes}) {
    const auto found = mncp::solve<Interval, Merit>(given, {0.0}, {.starts = 3}, {executor});
    for (std::size_t i = 0; i < given.size(); ++i) {
      const bool valid = !std::isnan(truth[i]);
      EXPECT_EQ(found.status[i], valid ? Status::kConverged : Status::kInvalidInput) << i;
      if (valid) {
        EXPECT_NEAR(found.x[i], truth[i], 1e-8) << i;
      }
    }
  }
}

TEST(BoundedFunctor, RefusesBoundsThatExcludeEachOther) {
  expect_refused_bounds<solvers::FischerBurmeisterMerit>();
  expect_refused_bounds<solvers::ComponentwiseMerit>();
  expect_refused_bounds<solvers::PapersMerit>();
}

/// F(x) = x - target with bounds, for `count` problems of n unknowns.
struct Targets {
  int n;
  std::int64_t count;
  std::vector<double> target, lower, upper, start;
  int calls = 0;

  Targets(int size, std::int64_t rows) : n(size), count(rows) {
    for (std::int64_t k = 0; k < rows * size; ++k) {
      target.push_back(std::sin(static_cast<double>(k)) * 3);
      lower.push_back(k % 3 == 0 ? -kInf : -1);
      upper.push_back(k % 2 == 0 ? kInf : 1);
      start.push_back(0.5);
    }
  }
  mcp::Problems problems() {
    return {n,
            count,
            lower,
            upper,
            start,
            [this](const double* x, double* F) {
              ++calls;
              for (std::size_t k = 0; k < target.size(); ++k) F[k] = x[k] - target[k];
            },
            [this](const double*, double* J) {
              std::fill_n(J, target.size() * static_cast<std::size_t>(n), 0.0);
              for (std::size_t k = 0; k < target.size(); ++k)
                J[k * static_cast<std::size_t>(n) + k % static_cast<std::size_t>(n)] = 1;
            }};
  }
};

TEST(CalledBack, EverySizeOfABatchIsSolved) {
  for (const int n : {1, 2, 7, 8, 9, 300})
    for (const std::int64_t count : {0, 1, 5}) {
      Targets given(n, count);
      const auto found = mcp::solve(given.problems());
      for (std::size_t k = 0; k < given.target.size(); ++k)
        EXPECT_NEAR(found.x[k], std::min(std::max(given.target[k], given.lower[k]), given.upper[k]), 1e-8);
    }
}

TEST(CalledBack, AnExceptionOfTheFunctionReachesTheCallerAndEndsEveryProblem) {
  Targets given(3, 4);
  mcp::Problems problems = given.problems();
  const auto value = problems.value;
  problems.value = [&, value](const double* x, double* F) {
    if (given.calls == 1) throw std::runtime_error("mine");
    value(x, F);
  };
  EXPECT_THROW((void)mcp::solve(problems), std::runtime_error);
}

TEST(CalledBack, BoundsThatAreNoneAndPairsThatDoNotExistAreErrors) {
  Targets given(2, 2);
  given.lower[3] = 5;
  EXPECT_THROW((void)mcp::solve(given.problems()), Error);
  given.lower[3] = std::nan("");
  EXPECT_THROW((void)mcp::solve(given.problems()), Error);
  Targets good(2, 2);
  EXPECT_THROW((void)mcp::solve(good.problems(), {{{mcp::Stage::Merit::kNatural, mcp::Stage::Minimizer::kSpg, 1}}}),
               Error);
  good.start.pop_back();
  EXPECT_THROW((void)mcp::solve(good.problems()), Error);
}

}  // namespace
}  // namespace garra
