// The hold metrics against reference numbers that were checked against a full solver on both sides of each threshold.
#include <gtest/gtest.h>

#include <cmath>

#include "garra/core/lanes.hpp"
#include "grasp/sample/problem.hpp"
#include "reference.hpp"

namespace garra::grasp {
namespace {

using nlohmann::json;

constexpr double kMetric = 1e-10;  // relative; the closed formulas lose two digits to the condition of A

double entry(const json& m, int r, int c) { return m[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)]; }

/// The pieces that hold_metrics reads, for a hand of N contacts.
template <int N>
struct Case {
  HoldUnits units{};
  System<double, N> sys{};
  Vec<double, N> mu;
  explicit Case(const json& e) {
    Mat<double, 6, 6> M;
    for (int r = 0; r < 6; ++r)
      for (int c = 0; c < 6; ++c) M(r, c) = entry(e["M_obj"], r, c);
    for (int r = 0; r < 6; ++r) {
      units.probe[r] = e["wrench1"][static_cast<std::size_t>(r)];
      for (int c = 0; c < 3 * N; ++c) sys.W(r, c) = entry(e["W"], r, c);
    }
    units.length = e["r"];
    units.any_grip_force = true;
    sys.inverse_mass_W = solve(factor_ldlt(M), sys.W);
    for (int r = 0; r < 3 * N; ++r) {
      sys.b[r] = e["b0"][static_cast<std::size_t>(r)];
      for (int c = 0; c < 3 * N; ++c) sys.A(r, c) = entry(e["A"], r, c);
    }
    for (int j = 0; j < N; ++j) mu[j] = e["mu"][static_cast<std::size_t>(j)];
  }
};

template <int N>
void check(const json& e) {
  const Case<N> k(e);
  Vec<double, 3 * N> drift = Vec<double, 3 * N>::zero();
  const auto m = hold_metrics<double, N>(k.units, k.sys, k.mu, drift, 1.0);
  const auto near = [&](double got, double want, const char* what) {
    EXPECT_NEAR(got, want, kMetric * std::max(1.0, std::abs(want))) << what << " of " << e["id"];
  };
  near(m.critical, e["mu_crit"], "required friction");
  near(m.load_factor, e["load_factor"], "load factor");
  near(m.resisted_force_radius, e["wrench_radius"], "resisted force radius");
  double margin = 1e300;
  for (const double v : e["friction_margin"]) margin = std::min(margin, v);
  near(m.margin, margin, "friction margin");
  EXPECT_NEAR(e["friction_margin"][static_cast<std::size_t>(m.first)].get<double>(), margin, 1e-12);
}

TEST(HoldMetrics, AgreeWithTheReference) {
  int cases = 0;
  for (const auto& e : test::read_reference_json("grasp/hold_metrics.json")) {
    switch (e["n"].get<int>()) {
      case 3:
        check<3>(e);
        break;
      case 4:
        check<4>(e);
        break;
      case 5:
        check<5>(e);
        break;
      default:
        FAIL() << "no check for " << e["n"] << " contacts";
    }
    ++cases;
  }
  EXPECT_EQ(cases, 20);
}

TEST(HoldMetrics, MinimumSqueezeIsWhereTheMarginVanishes) {
  int checked = 0;
  for (const auto& e : test::read_reference_json("grasp/hold_metrics.json")) {
    if (e["n"] != 3) continue;
    const Case<3> k(e);
    // A squeeze that pushes each contact along its normal: db / ds = -A e_n, so dc / ds = e_n.
    Vec<double, 9> push = Vec<double, 9>::zero();
    push[0] = push[3] = push[6] = 1;
    const Vec<double, 9> drift = -(k.sys.A * push);
    const auto now = hold_metrics<double, 3>(k.units, k.sys, k.mu, drift, 50.0);
    if (!(now.margin > 0) || !(now.min_grip_force > 0)) continue;
    Case<3> at(e);
    at.sys.b = axpy(now.min_grip_force - 50.0, drift, k.sys.b);
    EXPECT_NEAR((hold_metrics<double, 3>(at.units, at.sys, at.mu, drift, now.min_grip_force).margin), 0, 1e-9);
    ++checked;
  }
  EXPECT_GE(checked, 5);
}

TEST(ConeExit, IsTheFirstPointWhereTheRayLeavesTheCone) {
  const double mu = 0.5;
  const auto exit = [&](Vec3<double> c0, Vec3<double> c1) { return cone_exit<double>(c0, c1, mu); };
  EXPECT_DOUBLE_EQ(exit({{2, 0, 0}}, {{0, 1, 0}}), 1.0);   // sideways
  EXPECT_DOUBLE_EQ(exit({{2, 0, 0}}, {{-1, 0, 0}}), 2.0);  // through the apex
  EXPECT_EQ(exit({{2, 0, 0}}, {{1, 0, 0}}), kInfinity);    // deeper inside
  EXPECT_EQ(exit({{2, 0, 0}}, {{1, 0.4, 0}}), kInfinity);  // inside the cone of directions
  EXPECT_DOUBLE_EQ(exit({{2, 0, 0}}, {{1, 1, 0}}), 2.0);   // |L| = 0.5 (2 + L)
  EXPECT_EQ(exit({{2, 3, 0}}, {{0, -1, 0}}), 0.0);         // already outside
  EXPECT_EQ(exit({{-1, 0, 0}}, {{0, 1, 0}}), 0.0);
}

TEST(FrictionMargin, WithoutFrictionIsNoneOnTheAxisAndBrokenBesideIt) {
  EXPECT_EQ((friction_margin<double>({{0.5, 0, 0}}, 0.0)), 0);
  EXPECT_EQ((friction_margin<double>({{2, 0.1, 0}}, 0.0)), -kInfinity);
  EXPECT_EQ((friction_margin<double>({{-2, 0, 0}}, 0.0)), -kInfinity);
  EXPECT_EQ((friction_margin<double>({{-2, 0, 0}}, 0.5)), -kInfinity);
  EXPECT_EQ((friction_margin<double>({{0, 0.1, 0}}, 0.5)), -kInfinity);
  EXPECT_DOUBLE_EQ((friction_margin<double>({{2, 0.3, -0.4}}, 0.5)), 0.5);
}

// Of rank one the cosine of the solution is 1 up to rounding, on either side of it.
TEST(LargestEigenvalue, OfRankOneIsTheSquareOfTheVector) {
  for (int k = 0; k < 300; ++k) {
    const Vec3<double> u{{std::sin(k + 1.0), std::sin(2.3 * k), std::cos(1.7 * k)}};
    EXPECT_NEAR(largest_eigenvalue(u * transpose(u)), dot(u, u), 1e-14 * dot(u, u)) << k;
  }
}

TEST(SpectralNorm, AgreesWithJacobiEigenvalues) {
  for (int k = 0; k < 200; ++k) {
    Mat<double, 3, 6> g;
    for (int i = 0; i < 18; ++i) g[i] = std::sin(1.7 * i + 3.1 * k) * (1 + k % 7);
    if (k % 5 == 0)
      for (int c = 0; c < 6; ++c) g(2, c) = 0;  // rank 2
    const auto eigen = symmetric_eigen(g * transpose(g));
    EXPECT_NEAR(spectral_norm(g), std::sqrt(eigen.values[2]), 1e-13 * std::sqrt(eigen.values[2]));
  }
  Mat<double, 3, 6> isotropic = Mat<double, 3, 6>::zero();
  for (int i = 0; i < 3; ++i) isotropic(i, i) = 2;
  EXPECT_NEAR(spectral_norm(isotropic), 2, 1e-15);
}

}  // namespace
}  // namespace garra::grasp
