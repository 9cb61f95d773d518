// Soft contacts: cones in four dimensions, against another cone solver and the definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "balance_cases.hpp"
#include "reference.hpp"

namespace garra::solvers {
namespace {

using Json = nlohmann::json;
template <int N>
using Problem = WrenchBalance<double, N, 0, 1, 4>;
template <int N>
using Answer = BalanceAnswer<double, N, 0, 1, 4>;
template <class S>
using PairProblem = WrenchBalance<S, 2, 0, 1, 4>;
template <class S>
using PairAnswer = BalanceAnswer<S, 2, 0, 1, 4>;
constexpr double kSize = 0.05;  ///< of the objects [m]: moments over it are forces

Vec3<double> three(const Json& c) { return vec3<double>(c[0], c[1], c[2]); }

/// The frames are any: cones have no direction of their own.
template <int N>
Problem<N> make_problem(const Json& c, double factor) {
  Problem<N> p;
  for (int r = 0; r < 6; ++r) p.w[r] = factor * c["w"][r].get<double>() / (r < 3 ? 1 : kSize);
  for (int j = 0; j < N; ++j) {
    const Vec3<double> point = three(c["point"][j]), given = three(c["normal"][j]), n = (1 / norm(given)) * given;
    const Vec3<double> across = cross(n, std::abs(n[0]) < 0.6 ? vec3(1.0, 0.0, 0.0) : vec3(0.0, 1.0, 0.0));
    const Vec3<double> t = (1 / norm(across)) * across, axes[3] = {n, t, cross(n, t)};
    for (int k = 0; k < 3; ++k)
      for (int r = 0; r < 3; ++r) {
        p.W(r, 4 * j + k) = axes[k][r];
        p.W(r + 3, 4 * j + k) = cross(point, axes[k])[r] / kSize;
      }
    for (int r = 0; r < 3; ++r) {
      p.W(r, 4 * j + 3) = 0;
      p.W(r + 3, 4 * j + 3) = c["radius"][j].get<double>() * n[r] / kSize;
    }
    p.mu[j] = c["mu"][j];
    p.limit[j] = c["limit"][j];
  }
  return p;
}

/// By the definitions alone: forces and moments in the cones, below the limits, balancing; or a y against which those
/// of no contact gain anything, of which a cone has in every direction the most of z . c = c_n (z_n - mu |z_T|).
template <int N>
void expect_certificate(const Problem<N>& p, const Answer<N>& a) {
  test::BalanceSums sums = test::balance_sums(p, a);
  for (int j = 0; j < N; ++j) {
    double z[4] = {0, 0, 0, 0};
    for (int k = 0; k < 4; ++k)
      for (int r = 0; r < 6; ++r) z[k] += p.W(r, 4 * j + k) * a.y[r];
    const double least = z[0] - p.mu[j] * std::hypot(std::hypot(z[1], z[2]), z[3]);
    if (least < 0) sums.value += least * std::min(p.limit[j], kMaxForce * sums.size);
    if (a.balanced == 1) {
      const double* c = a.c.m + 4 * j;
      EXPECT_LE(std::hypot(std::hypot(c[1], c[2]), c[3]), p.mu[j] * c[0] + 1e-12 * (1 + std::abs(c[0])));
      EXPECT_LE(c[0], p.limit[j] * (1 + 1e-12));
    }
  }
  test::expect_decided(a.balanced, sums);
}

struct Count {
  int cases = 0, undecided = 0, by_torsion = 0;
};

template <int N>
void compare(const Json& all, Count& count) {
  for (const Json& c : all["cases"]) {
    if (c["mu"].size() != N) continue;
    const double largest = c["largest"];
    // The reference's own accuracy is 1e-7 of its optimum.
    for (const double of : {0.1, 0.9999, 1.0001}) {
      if (largest == 0 && of < 1) continue;
      const double factor = largest == 0 ? 1 : of * largest;
      if (factor >= 9000) continue;  // the reference stops at 1e4
      const auto p = make_problem<N>(c, factor);
      const auto a = balance_wrench(p, Vec<double, 4 * N>::zero());
      ++count.cases;
      if (std::isnan(a.balanced)) {
        ++count.undecided;
        continue;
      }
      EXPECT_EQ(a.balanced, largest > 0 && of < 1 ? 1 : 0) << N << " contacts, " << of << " of " << largest;
      expect_certificate(p, a);
      const Json& of_points = c["largest_of_points"];
      count.by_torsion += a.balanced == 1 && of_points.is_number() && of_points.get<double>() < 0.9 * factor;
    }
  }
}

TEST(SoftBalance, AgreesWithAnotherSolverJustBelowAndJustAboveTheLargestWrench) {
  const Json all = test::read_reference_json("grasp/soft_balance.json");
  Count count;
  compare<1>(all, count);
  compare<2>(all, count);
  compare<3>(all, count);
  compare<4>(all, count);
  compare<5>(all, count);
  compare<8>(all, count);
  EXPECT_GT(count.cases, 300);
  EXPECT_GT(count.by_torsion, 50) << "that points cannot balance";
  EXPECT_LE(count.undecided, 2);  // all are within 1e-4 of where the answer changes
}

/// How many are balanced.
template <int N>
int expect_points(const Json& all) {
  int held = 0;
  for (const Json& c : all["cases"]) {
    if (c["mu"].size() != N) continue;
    const Json& most = c["largest_of_points"];
    Problem<N> soft = make_problem<N>(c, most.is_number() && most > 0 ? 0.5 * most.get<double>() : 1);
    WrenchBalance<double, N> hard;
    hard.w = soft.w;
    hard.mu = soft.mu;
    hard.limit = soft.limit;
    for (int r = 0; r < 6; ++r)
      for (int j = 0; j < N; ++j) {
        soft.W(r, 4 * j + 3) = 0;
        for (int k = 0; k < 3; ++k) hard.W(r, 3 * j + k) = soft.W(r, 4 * j + k);
      }
    const auto a = balance_wrench(soft, Vec<double, 4 * N>::zero());
    const auto b = balance_wrench(hard, Vec<double, 3 * N>::zero());
    EXPECT_EQ(a.balanced, b.balanced);
    EXPECT_EQ(a.steps, b.steps);
    for (int j = 0; j < N; ++j) {
      EXPECT_EQ(a.c[4 * j + 3], 0);
      for (int k = 0; k < 3; ++k) EXPECT_EQ(a.c[4 * j + k], b.c[3 * j + k]);
    }
    held += b.balanced == 1;
  }
  return held;
}

TEST(SoftBalance, ContactsWithoutARadiusArePoints) {
  const Json all = test::read_reference_json("grasp/soft_balance.json");
  EXPECT_GT(expect_points<3>(all) + expect_points<4>(all) + expect_points<5>(all) + expect_points<8>(all), 15);
}

TEST(SoftBalance, LanesGiveTheBitsOfScalarCodeBesideAnyNeighbors) {
  const Json all = test::read_reference_json("grasp/soft_balance.json");
  std::vector<Problem<2>> list;
  for (const Json& c : all["cases"])
    if (c["mu"].size() == 2) list.push_back(make_problem<2>(c, std::max(1.0001 * c["largest"].get<double>(), 1e-3)));
  test::expect_same_balances_in_lanes<PairProblem, PairAnswer>(list, 5);
}

}  // namespace
}  // namespace garra::solvers
