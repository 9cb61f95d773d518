#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "balance_cases.hpp"
#include "reference.hpp"

namespace garra::solvers {
namespace {

using Json = nlohmann::json;
constexpr double kInf = std::numeric_limits<double>::infinity();

template <int N>
WrenchBalance<double, N> make_problem(const Json& c, double factor) {
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

/// A contact's force is in its cone and below its limit; what it gains at the most along z goes into the value.
template <class Problem, class Answer>
void add_contact(const Problem& p, const Answer& a, int j, const double* z, test::BalanceSums& sums) {
  const double least = z[0] - p.mu[j] * std::hypot(z[1], z[2]);
  if (least < 0) sums.value += least * std::min(p.limit[j], kMaxForce * sums.size);
  if (a.balanced == 1) {
    EXPECT_LE(std::hypot(a.c[3 * j + 1], a.c[3 * j + 2]), p.mu[j] * a.c[3 * j] + 1e-12 * (1 + std::abs(a.c[3 * j])));
    EXPECT_LE(a.c[3 * j], p.limit[j] * (1 + 1e-12));
  }
}

/// By the definitions alone: c in the cones, below the limits, balancing; or no force of any contact gains against y.
template <int N>
void expect_certificate(const WrenchBalance<double, N>& p, const BalanceAnswer<double, N>& a) {
  test::BalanceSums sums = test::balance_sums(p, a);
  for (int j = 0; j < N; ++j) {
    double z[3] = {0, 0, 0};
    for (int k = 0; k < 3; ++k)
      for (int r = 0; r < 6; ++r) z[k] += p.W(r, 3 * j + k) * a.y[r];
    add_contact(p, a, j, z, sums);
  }
  test::expect_decided(a.balanced, sums);
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
    const auto p = make_problem<N>(c, factor);
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

constexpr int kJoints = 8;  // there is room for

template <int N>
WrenchBalance<double, N, kJoints> limited_of(const Json& c, double factor) {
  WrenchBalance<double, N, kJoints> p;
  p.rows = 7;
  for (int r = 0; r < 6; ++r) {
    for (int k = 0; k < 3 * N; ++k) p.W(r, k) = c["W"][r][k];
    p.w[r] = factor * c["w"][r].get<double>();
  }
  for (int j = 0; j < N; ++j) {
    p.mu[j] = c["mu"][j];
    p.limit[j] = c["limit"];
    const Json &gain = c["gain"][j], &own = c["own"][j];
    for (int i = 0; i < kJoints; ++i) {
      const bool there = i < static_cast<int>(own.size());
      for (int k = 0; k < 3; ++k) p.gain[j][i][k] = there ? gain[i][k].get<double>() : 0;
      p.own[j][i] = there ? own[i].get<double>() : 0;
    }
  }
  return p;
}

/// By the definitions alone: forces that no joint is too weak for; or prices of torque and wrench that no force meets.
template <int N>
void expect_certificate(const WrenchBalance<double, N, kJoints>& p, const BalanceAnswer<double, N, kJoints>& a) {
  test::BalanceSums sums = test::balance_sums(p, a);
  for (int j = 0; j < N; ++j) {
    double z[3] = {0, 0, 0};
    for (int k = 0; k < 3; ++k)
      for (int r = 0; r < 6; ++r) z[k] += p.W(r, 3 * j + k) * a.y[r];
    for (int i = 0; i < p.rows; ++i) {
      double torque = p.own[j][i];
      for (int k = 0; k < 3; ++k) {
        torque += p.gain[j][i][k] * a.c[3 * j + k];
        z[k] += a.share[j][i] * p.gain[j][i][k];
      }
      sums.value += p.own[j][i] * a.share[j][i] - std::abs(a.share[j][i]);
      if (a.balanced == 1) {
        EXPECT_LE(std::abs(torque), 1 + 1e-12) << j << ' ' << i;
      }
    }
    add_contact(p, a, j, z, sums);
  }
  test::expect_decided(a.balanced, sums);
}

template <int N>
void compare_limited(const Json& c, Count& count) {
  const auto bounds = c["bounds"].get<std::vector<double>>();  // the smallest and largest wrench, or nothing at all
  const std::vector<std::pair<double, double>> tries =
      bounds.empty() ? std::vector<std::pair<double, double>>{{1.0, 0.0}, {1e-2, 0.0}}
                     : std::vector<std::pair<double, double>>{{0.9999 * bounds[1] + 1e-4 * bounds[0], 1.0},
                                                              {0.5 * (bounds[0] + bounds[1]), 1.0},
                                                              {1.0001 * bounds[1], 0.0}};
  for (const auto& [factor, expected] : tries) {
    const auto p = limited_of<N>(c, factor);
    const auto a = balance_wrench(p, Vec<double, 3 * N>::zero());
    ++count.cases;
    count.steps += a.steps;
    count.most = std::max(count.most, a.steps);
    if (std::isnan(a.balanced)) {
      ++count.undecided;
      continue;
    }
    EXPECT_EQ(a.balanced, expected) << N << " contacts, " << c["kind"] << ", " << factor << ", gap " << a.gap;
    expect_certificate(p, a);
  }
}

TEST(TorqueLimits, AgreeWithConeAndLinearProgramsJustBelowAndJustAboveTheLargestWrench) {
  const Json all = test::read_reference_json("grasp/torque_limits.json");
  Count count;
  for (const Json& c : all["cases"]) {
    switch (c["contacts"].get<int>()) {
      case 2:
        compare_limited<2>(c, count);
        break;
      case 3:
        compare_limited<3>(c, count);
        break;
      case 5:
        compare_limited<5>(c, count);
        break;
      default:
        compare_limited<8>(c, count);
    }
  }
  EXPECT_GT(count.cases, 250);
  EXPECT_LE(count.undecided, 2);  // all are within 1e-4 of where the answer changes
  RecordProperty("mean_newton_steps", std::to_string(count.steps / count.cases));
  RecordProperty("most_newton_steps", std::to_string(count.most));
}

/// pinch() by fingers whose first joint feels the normal force at a lever, and whose second holds what is lifted.
WrenchBalance<double, 2, 2> weak_pinch(double grip_force_limit, double lift_limit, double own,
                                       const Vec<double, 6>& w) {
  const auto p = pinch(0.5, kInf, w);
  WrenchBalance<double, 2, 2> out;
  out.W = p.W;
  out.w = w;
  out.mu = p.mu;
  out.limit = p.limit;
  out.rows = 2;
  for (int j = 0; j < 2; ++j) {
    out.gain[j][0] = {{1 / grip_force_limit, 0, 0}};
    out.gain[j][1] = {{0, 1 / lift_limit, 0}};
    out.own[j][0] = 0;
    out.own[j][1] = own / lift_limit;
  }
  return out;
}

TEST(TorqueLimits, TwoFingersCarryAWeightUpToWhatTheirWeakestJointsLeave) {
  const auto carries = [](const WrenchBalance<double, 2, 2>& p) {
    return balance_wrench(p, Vec<double, 6>::zero()).balanced;
  };
  for (const double force : {1.999, 2.001}) {
    const Vec<double, 6> w = {{0, 0, -force, 0, 0, 0}};
    EXPECT_EQ(carries(weak_pinch(2, 1e3, 0, w)), force < 2 ? 1 : 0) << "2 mu times the grip_force";
    EXPECT_EQ(carries(weak_pinch(100, 1, 0, w)), force < 2 ? 1 : 0) << "twice the lift";
    EXPECT_EQ(carries(weak_pinch(100, 1.5, 0.5, w)), force < 2 ? 1 : 0) << "less each finger's own weight";
  }
  const Vec<double, 6> nothing = Vec<double, 6>::zero();
  EXPECT_EQ(carries(weak_pinch(100, 1, 0.999, nothing)), 1);
  // Each would have to lean on the object, which nothing holds.
  EXPECT_EQ(carries(weak_pinch(100, 1, 1.001, nothing)), 0);
  // Held up from outside it carries the fingers, too.
  EXPECT_EQ(carries(weak_pinch(100, 1, 1.001, {{0, 0, 1, 0, 0, 0}})), 1);
}

template <class S>
using ThreeProblem = WrenchBalance<S, 3>;
template <class S>
using ThreeAnswer = BalanceAnswer<S, 3>;

TEST(WrenchBalance, LanesGiveTheBitsOfScalarCodeBesideAnyNeighbors) {
  const Json all = test::read_reference_json("grasp/wrench_balance.json");
  std::vector<WrenchBalance<double, 3>> list;
  for (const Json& c : all["cases"])
    if (c["contacts"] == 3)
      list.push_back(make_problem<3>(c, std::min(1.0001 * c["largest"].get<double>() + 1e-3, 100.0)));
  test::expect_same_balances_in_lanes<ThreeProblem, ThreeAnswer>(list, 5);
}

}  // namespace
}  // namespace garra::solvers
