// Mixed complementarity problems: merit functions and their derivatives, the driver, the batch.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "garra/mncp.hpp"
#include "garra/solvers/mncp_problems.hpp"
#include "on_every_executor.hpp"
#include "same_bits.hpp"

namespace garra {
namespace {

using solvers::BoxQuacan;
using solvers::ComponentwiseMerit;
using solvers::FischerBurmeisterMerit;
using solvers::PapersMerit;
using solvers::ProjectedLm;
using solvers::SpectralProjectedGradient;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int kWidthOfLanes = Lanes<double>::kSize;

std::uint64_t bits(double a) { return std::bit_cast<std::uint64_t>(a); }

/// Two suppliers, one price, as in examples/mncp_market.cpp.
struct Market {
  static constexpr int kComplementary = 2, kFree = 1;
  template <class S>
  struct Data {
    S a1, b1, a2, b2, d, s;
  };
  template <class S, class X>
  static GARRA_HD Vec<X, 3> evaluate(const Data<S>& m, const Vec<X, 3>& x) {
    return {{m.a1 + m.b1 * x[0] - x[2], m.a2 + m.b2 * x[1] - x[2], x[0] + x[1] - m.d * exp(-(x[2] / m.s))}};
  }
};

/// Nothing but numbers of the type itself, with derivatives, error and starts of its own: u = 1 + k for start k fails
/// unless k = 2.
struct ByHand {
  static constexpr int kComplementary = 1, kFree = 0;
  template <class S>
  struct Data {};
  template <class S, class X>
  static GARRA_HD Vec<X, 1> evaluate(const Data<S>&, const Vec<X, 1>& x) {
    return {{(x[0] - 3) * (x[0] - 3) + 1 - X(1)}};
  }
  template <class S>
  static GARRA_HD Mat<S, 1, 1> jacobian(const Data<S>&, const Vec<S, 1>&) {
    return {{S(0)}};  // wrong on purpose: every start stands still where it begins
  }
  template <class S>
  static GARRA_HD void add_curvature(const Data<S>&, const Vec<S, 1>&, const Vec<S, 1>&, Mat<S, 1, 1>&) {}
  template <class S>
  static GARRA_HD S error(const Data<S>&, const Vec<S, 1>& x) {
    return abs(x[0] - S(3));
  }
  template <class S>
  static GARRA_HD Vec<S, 1> start(const Data<S>&, const Vec<S, 1>& x0, const S& k) {
    return {{x0[0] + k}};
  }
};

std::vector<Market::Data<double>> drawn_markets(std::size_t count) {
  std::mt19937_64 generator(7);
  const auto draw = [&](double lo, double hi) { return std::uniform_real_distribution<double>(lo, hi)(generator); };
  std::vector<Market::Data<double>> markets(count);
  for (auto& m : markets) m = {draw(1, 5), draw(.1, 2), draw(1, 5), draw(.1, 2), draw(1, 20), draw(1, 8)};
  return markets;
}

// Merit functions.

/// Central differences of r and of J'w at x; their error is about h^2 + eps / h, near 1e-9 for numbers of size one.
template <class View, int V>
void expect_derivatives(const View& view, const Vec<double, V>& x) {
  constexpr int R = View::kResiduals;
  const double h = 1e-5, tolerance = 1e-6;
  Vec<double, R> w;
  for (int k = 0; k < R; ++k) w[k] = 1.0 / (k + 1);
  const auto J = view.jacobian(x);
  auto H = Mat<double, V, V>::zero();
  view.add_curvature(x, w, H);
  const auto full = solvers::hessian(view, x, view.residual(x), J);
  const auto grad = [&](const Vec<double, V>& y) { return solvers::gradient(view.jacobian(y), view.residual(y)); };
  for (int j = 0; j < V; ++j) {
    Vec<double, V> above = x, below = x;
    above[j] += h;
    below[j] -= h;
    const auto dr = 0.5 / h * (view.residual(above) - view.residual(below));
    const auto dw = 0.5 / h * (transpose_times(view.jacobian(above), w) - transpose_times(view.jacobian(below), w));
    const auto dg = 0.5 / h * (grad(above) - grad(below));
    for (int k = 0; k < R; ++k) EXPECT_NEAR(J(k, j), dr[k], tolerance * (1 + std::abs(dr[k]))) << k << " " << j;
    for (int k = 0; k < V; ++k) {
      EXPECT_NEAR(H(k, j), dw[k], tolerance * (1 + std::abs(dw[k]))) << k << " " << j;
      EXPECT_NEAR(full(k, j), dg[k], 10 * tolerance * (1 + std::abs(dg[k]))) << k << " " << j;
    }
  }
}

template <class Merit>
void expect_derivatives_of_merit() {
  using View = typename Merit::template View<Market, double>;
  const auto markets = drawn_markets(20);
  std::mt19937_64 generator(3);
  std::uniform_real_distribution<double> uniform(0.2, 3.0);
  for (const auto& market : markets) {
    Vec<double, View::kVariables> x;
    for (int i = 0; i < View::kVariables; ++i) x[i] = uniform(generator);
    expect_derivatives(View(market), x);
  }
}

TEST(MncpMerit, DerivativesOfThePapersFunctionAgreeWithDifferences) { expect_derivatives_of_merit<PapersMerit>(); }
TEST(MncpMerit, DerivativesOfTheComponentwiseFunctionAgreeWithDifferences) {
  expect_derivatives_of_merit<ComponentwiseMerit>();
}
TEST(MncpMerit, DerivativesOfFischerBurmeisterAgreeWithDifferences) {
  expect_derivatives_of_merit<FischerBurmeisterMerit>();
}

TEST(MncpMerit, FischerBurmeisterVanishesExactlyAtComplementaryPairs) {
  const auto phi = [](double a, double b) { return FischerBurmeisterMerit::phi(a, b); };
  EXPECT_EQ(phi(0, 3).value, 0.0);
  EXPECT_EQ(phi(2e-30, 0).value, 0.0);
  EXPECT_EQ(phi(0, 0).value, 0.0);
  EXPECT_NEAR(phi(1e-9, 1e9).value, 1e-9, 1e-24);  // without cancellation
  EXPECT_DOUBLE_EQ(phi(-1, 0).value, -2.0);
  EXPECT_LT(phi(-1, 5).value, 0.0);
  EXPECT_TRUE(std::isfinite(phi(0, 0).da));
}

// The driver.

TEST(MncpDriver, MoreStartsSolveBillups) {
  const auto problem = solvers::QuarticMncp<1>::cases()[0];
  ASSERT_EQ(problem.name, "billups");
  const Vec<double, 1> start{{0.0}};
  const auto once = mncp::solve_one<solvers::QuarticMncp<1>, FischerBurmeisterMerit, ProjectedLm>(problem.data, start);
  EXPECT_EQ(once.status, static_cast<int>(Status::kStalled));
  EXPECT_NEAR(once.minimum, 4e-4, 1e-6);  // phi(0, -0.01)^2: a local minimum that is no solution
  EXPECT_EQ(once.effort.stalls, 1.0);
  EXPECT_EQ(once.effort.stage, 0.0);
  EXPECT_TRUE(std::isnan(once.x[0]));
  const auto often = mncp::solve_one<solvers::QuarticMncp<1>, FischerBurmeisterMerit, ProjectedLm>(problem.data, start,
                                                                                                   {.starts = 20});
  ASSERT_EQ(often.status, static_cast<int>(Status::kConverged));
  EXPECT_NEAR(often.x[0], 1 + std::sqrt(1.01), 1e-7);
  EXPECT_EQ(often.effort.stalls, often.effort.stage);
  EXPECT_GT(often.effort.outer, once.effort.outer);  // counters go on over the starts
}

TEST(MncpDriver, UsesWhatAProblemBringsAlong) {
  const Vec<double, 1> one{{1.0}};
  using Merit = FischerBurmeisterMerit;
  const auto failed = mncp::solve_one<ByHand, Merit, ProjectedLm>({}, one, {.starts = 2});
  EXPECT_EQ(failed.status, static_cast<int>(Status::kStalled));
  EXPECT_EQ(failed.effort.stalls, 2.0);
  const auto found = mncp::solve_one<ByHand, Merit, ProjectedLm>({}, one, {.starts = 5});
  EXPECT_EQ(found.status, static_cast<int>(Status::kConverged));
  EXPECT_EQ(found.x[0], 3.0);
  EXPECT_EQ(found.effort.stage, 2.0);
  EXPECT_EQ(found.residual, 0.0);
}

TEST(MncpDriver, NumbersThatAreNoneAreInvalidInput) {
  Market::Data<double> market = drawn_markets(1)[0];
  const Vec<double, 3> start{{1, 1, 1}}, bad{{1, kNan, 1}};
  const auto solve = mncp::solve_one<Market, ComponentwiseMerit, ProjectedLm>;
  EXPECT_EQ(solve(market, bad, {.starts = 3}).status, static_cast<int>(Status::kInvalidInput));
  market.b1 = std::numeric_limits<double>::infinity();
  EXPECT_EQ(solve(market, start, {.starts = 3}).status, static_cast<int>(Status::kInvalidInput));
}

TEST(MncpDriver, AStartWithoutFunctionValueIsLeftForTheNext) {
  // At p = 0 Mathiesen's demand is 0 / 0.
  const Vec<double, 4> zero{{0, 0, 0, 0}};
  using P = solvers::MathiesenMncp;
  const auto once = mncp::solve_one<P, ComponentwiseMerit, ProjectedLm>({}, zero);
  EXPECT_EQ(once.status, static_cast<int>(Status::kStalled));
  const auto often = mncp::solve_one<P, ComponentwiseMerit, ProjectedLm>({}, zero, {.starts = 10});
  EXPECT_EQ(often.status, static_cast<int>(Status::kConverged));
  EXPECT_GE(often.effort.stage, 1.0);
}

// The batch.

test::Answer make_answer(const mncp::Solutions& s) {
  using test::Member;
  using T = mncp::Solutions;
  return test::every_member(s, Member{"unknowns", &T::unknowns}, Member{"count", &T::count}, Member{"x", &T::x},
                            Member{"FG", &T::FG}, Member{"residual", &T::residual}, Member{"minimum", &T::minimum},
                            Member{"projected gradient", &T::projected_gradient}, Member{"status", &T::status},
                            Member{"outer", &T::outer}, Member{"evaluations", &T::evaluations},
                            Member{"inner", &T::inner}, Member{"products", &T::products}, Member{"stage", &T::stage},
                            Member{"stalls", &T::stalls});
}

template <class Merit, class Minimizer>
void expect_same_bits(const std::vector<std::size_t>& sizes, const mncp::Options& options) {
  for (const std::size_t count : sizes) {
    const auto markets = drawn_markets(count);
    const std::vector<double> start = {1, 0.5, 2};
    SCOPED_TRACE(count);
    test::expect_same_on_every_host_executor([&](const Device& device) {
      const auto found = mncp::solve<Market, Merit, Minimizer>(markets, start, options, device);
      EXPECT_EQ(found.count, static_cast<std::int64_t>(count));
      return make_answer(found);
    });
  }
}

TEST(MncpBatch, EveryExecutorGivesTheSameBitsForEveryBatchSize) {
  const std::vector<std::size_t> sizes = {0, 1, kWidthOfLanes - 1, kWidthOfLanes, kWidthOfLanes + 1, 1003};
  expect_same_bits<ComponentwiseMerit, ProjectedLm>(sizes, {.starts = 3});
  // A tight budget, so that lanes end at different times, are started again, and some are given up.
  expect_same_bits<ComponentwiseMerit, ProjectedLm>(sizes, {.starts = 3, .max_iterations = 4});
}
TEST(MncpBatch, EveryExecutorGivesTheSameBitsForFischerBurmeister) {
  expect_same_bits<FischerBurmeisterMerit, ProjectedLm>({203}, {.starts = 3, .max_iterations = 5});
}
TEST(MncpBatch, EveryExecutorGivesTheSameBitsForThePapersMethod) {
  expect_same_bits<PapersMerit, BoxQuacan>({203}, {.starts = 2, .max_iterations = 12});
}
TEST(MncpBatch, EveryExecutorGivesTheSameBitsForTheSpectralGradient) {
  expect_same_bits<PapersMerit, SpectralProjectedGradient>({203}, {.starts = 2, .max_iterations = 300});
}

TEST(MncpBatch, SolvesTheMarkets) {
  const auto markets = drawn_markets(1003);
  const auto found = mncp::solve<Market>(markets, {1, 1, 1}, {.tolerance = 1e-10, .starts = 3});
  EXPECT_EQ(found.solved_share(), 1.0);
  for (std::size_t i = 0; i < markets.size(); ++i) {
    // An independent truth: the price by bisection on supply minus demand.
    const auto& m = markets[i];
    const auto excess = [&](double v) {
      return std::max(0.0, (v - m.a1) / m.b1) + std::max(0.0, (v - m.a2) / m.b2) - m.d * std::exp(-v / m.s);
    };
    double low = 0, high = 100;
    for (int k = 0; k < 80; ++k) (excess(0.5 * (low + high)) < 0 ? low : high) = 0.5 * (low + high);
    ASSERT_NEAR(found.x[3 * i + 2], low, 1e-8) << i;
  }
}

TEST(MncpBatch, APoisonedProblemTouchesNoOther) {
  auto markets = drawn_markets(100);
  const auto clean = mncp::solve<Market>(markets, {1, 1, 1});
  markets[37].s = kNan;
  const auto poisoned = mncp::solve<Market>(markets, {1, 1, 1});
  EXPECT_EQ(poisoned.status[37], Status::kInvalidInput);
  EXPECT_TRUE(std::isnan(poisoned.x[3 * 37]));
  for (std::size_t i = 0; i < 100; ++i) {
    if (i == 37) continue;
    EXPECT_EQ(clean.status[i], poisoned.status[i]);
    EXPECT_EQ(clean.outer[i], poisoned.outer[i]);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(bits(clean.x[3 * i + k]), bits(poisoned.x[3 * i + k])) << i;
  }
}

TEST(MncpBatch, MoreStartsRaiseTheSolvedShareFromBadStarts) {
  // Billups' function from the neighborhood of its local minimum.
  using P = solvers::QuarticMncp<1>;
  const std::vector<P::Data<double>> problems(64, P::cases()[0].data);
  std::vector<double> starts(64);
  for (std::size_t i = 0; i < 64; ++i) starts[i] = static_cast<double>(i) / 64;
  const auto once = mncp::solve<P, FischerBurmeisterMerit>(problems, starts, {.starts = 1});
  const auto often = mncp::solve<P, FischerBurmeisterMerit>(problems, starts, {.starts = 20});
  EXPECT_LT(once.solved_share(), 0.5);
  EXPECT_EQ(often.solved_share(), 1.0);
  EXPECT_DOUBLE_EQ(once.stall_share(), 1 - once.solved_share());
}

TEST(MncpBatch, EmptyDataIsAProblemToo) {
  using P = solvers::WalrasMncp;
  const auto found = mncp::solve<P>(std::vector<P::Data<double>>(9), {1, 1, 1, 1}, {.starts = 5});
  EXPECT_EQ(found.solved_share(), 1.0);
}

TEST(MncpBatch, EvaluatesMeritFunctions) {
  using View = PapersMerit::View<Market, double>;
  const auto markets = drawn_markets(21);
  const Vec<double, 3> point{{1, 2, 3}};
  std::vector<double> whole;
  for (const auto& m : markets) {
    const auto x = View(m).lift(point);
    whole.insert(whole.end(), x.m, x.m + View::kVariables);
  }
  const auto scalar = mncp::evaluate<Market, PapersMerit>(markets, whole, {.executor = Executor::kScalar});
  test::expect_same_on_every_host_executor([&](const Device& device) {
    const auto found = mncp::evaluate<Market, PapersMerit>(markets, {1, 2, 3}, device);
    return test::Answer().add("f", found.f).add("gradient", found.gradient).add("residual", found.residual);
  });
  EXPECT_TRUE(
      test::same_bits(scalar.residual, mncp::evaluate_with<Market>(mncp::Merit::kPapers, markets, whole).residual));
  for (std::size_t i = 0; i < 21; ++i) {
    const auto& m = markets[i];
    const double F1 = m.a1 + m.b1 - 3, F2 = m.a2 + 2 * m.b2 - 3, G = 3 - m.d * std::exp(-3 / m.s);
    const double z1 = std::max(F1, 0.0), z2 = std::max(F2, 0.0);
    const double truth = std::pow(F1 - z1, 2) + std::pow(F2 - z2, 2) + G * G + std::pow(z1 + 2 * z2, 2);
    EXPECT_NEAR(scalar.f[i], truth, 1e-12 * (1 + truth));
  }
}

TEST(MncpBatch, MisuseIsAnError) {
  const auto markets = drawn_markets(3);
  EXPECT_THROW((void)mncp::solve<Market>(markets, {1, 1}), Error);
  EXPECT_THROW((void)mncp::solve<Market>(markets, std::vector<double>(12)), Error);
  try {
    (void)mncp::solve<Market>(markets, {1, 1, 1}, {}, {.executor = Executor::kCuda});
    FAIL() << "ran on a GPU that this program was not compiled for";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kNoDevice);
    EXPECT_NE(std::string(error.what()).find("mncp_cuda.cuh"), std::string::npos);
  }
}

}  // namespace
}  // namespace garra
