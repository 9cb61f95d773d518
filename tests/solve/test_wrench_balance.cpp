#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "garra/batch/for_each.hpp"
#include "garra/batch/tiles.hpp"
#include "garra/core/lanes.hpp"
#include "garra/solve/wrench_balance.hpp"
#include "reference.hpp"
#include "same_bits.hpp"

namespace garra::solvers {
namespace {

using Json = nlohmann::json;
constexpr double kInf = std::numeric_limits<double>::infinity();

template <int N>
WrenchBalance<double, N> problem_of(const Json& c, double factor) {
  WrenchBalance<double, N> p;
  for (int r = 0; r < 6; ++r)
    for (int k = 0; k < 3 * N; ++k) p.W(r, k) = c["W"][r][k];
  for (int r = 0; r < 6; ++r) p.w[r] = factor * c["w"][r].get<double>();
  for (int j = 0; j < N; ++j) {
    p.mu[j] = c["mu"][j];
    p.limit[j] = c["limit"];
  }
  return p;
}

/// By the definitions alone: c in the cones, below the limits, balancing; or no force of any contact gains against y.
template <int N>
void expect_certificate(const WrenchBalance<double, N>& p, const BalanceAnswer<double, N>& a) {
  double size = 0;
  for (int r = 0; r < 6; ++r) size += p.w[r] * p.w[r];
  size = std::sqrt(size);
  if (a.balanced == 1) {
    double left = 0;
    for (int r = 0; r < 6; ++r) {
      double sum = p.w[r];
      for (int k = 0; k < 3 * N; ++k) sum += p.W(r, k) * a.c[k];
      left += sum * sum;
    }
    EXPECT_LE(std::sqrt(left), 2e-9 * size);
    for (int j = 0; j < N; ++j) {
      EXPECT_LE(std::hypot(a.c[3 * j + 1], a.c[3 * j + 2]), p.mu[j] * a.c[3 * j] + 1e-12 * (1 + std::abs(a.c[3 * j])));
      EXPECT_LE(a.c[3 * j], p.limit[j] * (1 + 1e-12));
    }
  } else {
    double value = 0;
    for (int r = 0; r < 6; ++r) value += a.y[r] * p.w[r];
    for (int j = 0; j < N; ++j) {
      double z[3] = {0, 0, 0};
      for (int k = 0; k < 3; ++k)
        for (int r = 0; r < 6; ++r) z[k] += p.W(r, 3 * j + k) * a.y[r];
      const double least = z[0] - p.mu[j] * std::hypot(z[1], z[2]);
      if (least < 0) value += least * std::min(p.limit[j], kLargestForce * size);
    }
    EXPECT_GT(value, 0);
  }
}

struct Count {
  int cases = 0, undecided = 0;
  double steps = 0, most = 0;
};

template <int N>
void compare(const Json& c, Count& count) {
  const double largest = c["largest"];
  // The reference's own accuracy is 1e-7 of its optimum.
  const std::vector<std::pair<double, double>> tries =
      largest == 0 ? std::vector<std::pair<double, double>>{{1.0, 0.0}, {1e-2, 0.0}}
                   : std::vector<std::pair<double, double>>{
                         {0.9999 * largest, 1.0}, {1.0001 * largest, 0.0}, {0.1 * largest, 1.0}};
  for (const auto& [factor, expected] : tries) {
    if (factor >= 9000) continue;  // the reference stops at 1e4
    const auto p = problem_of<N>(c, factor);
    const auto a = balance_wrench(p, Vec<double, 3 * N>::zero());
    if (std::isnan(a.balanced)) {
      ++count.undecided;
    } else {
      EXPECT_EQ(a.balanced, expected) << N << " contacts, " << factor << " of " << largest << ", gap " << a.gap;
      expect_certificate(p, a);
    }
    ++count.cases;
    count.steps += a.steps;
    count.most = std::max(count.most, a.steps);
  }
}

TEST(WrenchBalance, AgreesWithAnotherSolverJustBelowAndJustAboveTheLargestWrench) {
  const Json all = test::read_reference_json("grasp/wrench_balance.json");
  Count count;
  for (const Json& c : all["cases"]) {
    switch (c["contacts"].get<int>()) {
      case 1:
        compare<1>(c, count);
        break;
      case 2:
        compare<2>(c, count);
        break;
      case 3:
        compare<3>(c, count);
        break;
      case 4:
        compare<4>(c, count);
        break;
      case 5:
        compare<5>(c, count);
        break;
      case 6:
        compare<6>(c, count);
        break;
      case 7:
        compare<7>(c, count);
        break;
      default:
        compare<8>(c, count);
    }
  }
  EXPECT_GT(count.cases, 600);
  EXPECT_LE(count.undecided, 2);  // all are within 1e-4 of where the answer changes
  RecordProperty("mean_newton_steps", std::to_string(count.steps / count.cases));
  RecordProperty("most_newton_steps", std::to_string(count.most));
}

/// Two contacts at +-1 on the x axis that press against each other.
WrenchBalance<double, 2> pinch(double mu, double limit, const Vec<double, 6>& w) {
  WrenchBalance<double, 2> p;
  p.W = Mat<double, 6, 6>::zero();
  const double sign[2] = {-1, 1};
  for (int j = 0; j < 2; ++j) {
    const double s = sign[j];  // point (-s, 0, 0), n = (s, 0, 0), t = (0, 0, 1), o = n x t = (0, -s, 0)
    p.W(0, 3 * j) = s;
    p.W(2, 3 * j + 1) = 1;
    p.W(4, 3 * j + 1) = s;  // (-s, 0, 0) x (0, 0, 1) = (0, s, 0)
    p.W(1, 3 * j + 2) = -s;
    p.W(5, 3 * j + 2) = 1;  // (-s, 0, 0) x (0, -s, 0) = (0, 0, s^2)
    p.mu[j] = mu;
    p.limit[j] = limit;
  }
  p.w = w;
  return p;
}

TEST(WrenchBalance, TwoFingersCarryAWeightUpToTwiceFrictionTimesTheirForce) {
  const Vec<double, 6> zero = Vec<double, 6>::zero();
  for (const double force : {1.999, 2.001}) {
    const auto a = balance_wrench(pinch(0.5, 2.0, {{0, 0, -force, 0, 0, 0}}), zero);
    EXPECT_EQ(a.balanced, force < 2 ? 1 : 0) << force;
  }
  EXPECT_EQ(balance_wrench(pinch(0.5, kInf, {{0, 0, -1e3, 0, 0, 0}}), zero).balanced, 1);
  EXPECT_EQ(balance_wrench(pinch(0, kInf, {{0, 0, -1, 0, 0, 0}}), zero).balanced, 0);
}

TEST(WrenchBalance, TwoFingersCannotResistATorqueAboutTheLineThroughThem) {
  const auto a = balance_wrench(pinch(0.6, kInf, {{0, 0, -1, 1e-6, 0, 0}}), Vec<double, 6>::zero());
  EXPECT_EQ(a.balanced, 0);
  EXPECT_EQ(a.rank_deficient, 1);
  EXPECT_NEAR(std::abs(a.y[3]), 1, 1e-6);  // named: the torque about x
  EXPECT_EQ(balance_wrench(pinch(0.6, kInf, {{0, 0, -1, 0, 0.3, 0.2}}), Vec<double, 6>::zero()).balanced, 1);
}

TEST(WrenchBalance, NothingToBalanceIsBalancedAndNaNIsNotDecided) {
  EXPECT_EQ(balance_wrench(pinch(0.6, kInf, Vec<double, 6>::zero()), Vec<double, 6>::zero()).balanced, 1);
  const auto a = balance_wrench(pinch(0.6, kInf, {{0, NAN, 0, 0, 0, 0}}), Vec<double, 6>::zero());
  EXPECT_TRUE(std::isnan(a.balanced));
  EXPECT_LE(a.steps, 1);
}

template <int N>
struct Body {
  const double* problems;
  double* answers;
  template <class S>
  void operator()(std::int64_t i) const {
    const auto p = batch::load<S, WrenchBalance<S, N>>(problems, i);
    batch::store<S>(answers, i, balance_wrench(p, Vec<S, 3 * N>::zero()));
  }
};

TEST(WrenchBalance, LanesGiveTheBitsOfScalarCodeBesideAnyNeighbors) {
  const Json all = test::read_reference_json("grasp/wrench_balance.json");
  std::vector<WrenchBalance<double, 3>> list;
  for (const Json& c : all["cases"])
    if (c["contacts"] == 3)
      list.push_back(problem_of<3>(c, std::min(1.0001 * c["largest"].get<double>() + 1e-3, 100.0)));
  ASSERT_GE(list.size(), 17u);
  list[5].w[2] = NAN;
  const auto n = static_cast<std::int64_t>(list.size());
  batch::Tiles<WrenchBalance<double, 3>> problems(n);
  for (std::int64_t i = 0; i < n; ++i) problems.set(i, list[static_cast<std::size_t>(i)]);
  problems.pad();
  batch::Tiles<BalanceAnswer<double, 3>> one(n), many(n);
  batch::for_each(Executor::kScalar, n, Body<3>{problems.data(), one.data()});
  batch::for_each(Executor::kLanes, n, Body<3>{problems.data(), many.data()});
  for (std::int64_t i = 0; i < n; ++i) {
    const auto a = one.get(i), b = many.get(i);
    EXPECT_TRUE(test::same_bits(reinterpret_cast<const double*>(&a), reinterpret_cast<const double*>(&b),
                                sizeof a / sizeof(double)))
        << i;
  }
}

}  // namespace
}  // namespace garra::solvers
