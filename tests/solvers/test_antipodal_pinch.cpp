// An antipodal pinch and a third finger: the pinch resists nothing about its own line, and the third finger can push
// against the wrench there, or with it only.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "garra/solvers/wrench_balance.hpp"

namespace garra::solvers {
namespace {

constexpr double kLength = 0.03;  // [m], of moments
constexpr double kPoint[3][3] = {
    {-0.017791, 0.049278, 0.00935}, {-0.009048, 0.014533, 0.039929}, {0.002532, 0.035091, -0.000914}};
constexpr double kNormal[3][3] = {
    {0.295458, -0.812665, -0.502276}, {0.475243, 0.581105, -0.660652}, {-0.475243, -0.581105, 0.660652}};

WrenchBalance<double, 3> pinch(const Vec3<double>& force, const Vec3<double>& mu) {
  WrenchBalance<double, 3> p;
  for (int j = 0; j < 3; ++j) {
    Vec3<double> n = {{kNormal[j][0], kNormal[j][1], kNormal[j][2]}};
    n = (1 / norm(n)) * n;
    Vec3<double> t = cross(n, vec3<double>(1, 0, 0));
    t = (1 / norm(t)) * t;
    const Vec3<double> axis[3] = {n, t, cross(n, t)}, at = {{kPoint[j][0], kPoint[j][1], kPoint[j][2]}};
    for (int k = 0; k < 3; ++k) {
      const Vec3<double> moment = (1 / kLength) * cross(at, axis[k]);
      for (int i = 0; i < 3; ++i) {
        p.W(i, 3 * j + k) = axis[k][i];
        p.W(i + 3, 3 * j + k) = moment[i];
      }
    }
    p.mu[j] = mu[j];
    p.limit[j] = std::numeric_limits<double>::infinity();
    p.w[j] = force[j];
    p.w[j + 3] = 0;
  }
  return p;
}

/// By the definitions alone.
void check(const WrenchBalance<double, 3>& p, const BalanceAnswer<double, 3>& a) {
  const Vec<double, 9> z = transpose_times(p.W, a.y);
  double value = dot(a.y, p.w);
  for (int j = 0; j < 3; ++j) {
    if (a.balanced == 1) {
      EXPECT_LE(std::hypot(a.c[3 * j + 1], a.c[3 * j + 2]), p.mu[j] * a.c[3 * j] * (1 + 1e-12) + 1e-12);
    }
    value += kMaxForce * norm(p.w) * std::min(z[3 * j] - p.mu[j] * std::hypot(z[3 * j + 1], z[3 * j + 2]), 0.0);
  }
  if (a.balanced == 1)
    EXPECT_LE(norm(p.W * a.c + p.w), 1e-8 * norm(p.w));
  else
    EXPECT_GT(value, 0);
}

/// The moment of the wrench about the pinch's line is that of 0.6 um: nothing takes it where friction is below 1.07
/// times these coefficients. Another solver (Clarabel) says infeasible of each of them.
TEST(AntipodalPinch, IsDecidedThoughItsLineHasNextToNoLever) {
  const Vec3<double> mu = {{0.574799, 0.588198, 0.579135}};
  for (const double factor : {0.8, 0.9, 0.95, 0.98, 1.0, 1.02, 1.05, 1.1, 1.2}) {
    const auto p = pinch({{0.393114, 0.060453, -1.553421}}, factor * mu);
    const auto a = balance_wrench(p, Vec<double, 9>::zero());
    ASSERT_EQ(a.balanced, factor < 1.07 ? 0 : 1) << factor;
    EXPECT_LE(a.steps, 20);
    check(p, a);
  }
}

TEST(AntipodalPinch, IsDecidedUnderRandomPushes) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::normal_distribution<double> normal;
  int undecided = 0;
  for (int i = 0; i < 20'000; ++i) {
    Vec3<double> push = {{normal(random), normal(random), normal(random)}};
    push = (0.5 * std::cbrt(uniform(random)) / norm(push)) * push;
    const Vec3<double> mu = {{0.3 + 0.5 * uniform(random), 0.3 + 0.5 * uniform(random), 0.3 + 0.5 * uniform(random)}};
    const auto p = pinch(vec3<double>(0.1931, 0.0605, -1.4534) + push, mu);
    const auto a = balance_wrench(p, Vec<double, 9>::zero());
    if (a.balanced == 0 || a.balanced == 1)
      check(p, a);
    else
      ++undecided;
  }
  EXPECT_LE(undecided, 2);
}

}  // namespace
}  // namespace garra::solvers
