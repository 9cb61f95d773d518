// Singularity kernels: closed forms, invariance, true motion, degenerate arms, and lanes against scalar code.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "garra/chain.hpp"
#include "garra/core/lanes.hpp"
#include "garra/math/rotation.hpp"
#include "random_chain.hpp"
#include "singularity_kernel_cases.hpp"

namespace garra::singularity {
namespace {

using namespace kernel_test;

// What holds for every configuration.

TEST(SingularityKernels, ProductOfThePumasValuesIsItsDeterminantInClosedForm) {
  const auto m = arm_named<6>("PUMA560");
  std::mt19937_64 gen(560);
  for (int sample = 0; sample < 200; ++sample) {
    const auto q = test::random_vector<6>(gen, M_PI);
    const auto at = configuration(m, q);
    const double a2 = 0.4318, a3 = 0.0203, d4 = 0.4318, s23 = std::sin(q[1] + q[2]), c23 = std::cos(q[1] + q[2]);
    const double det = a2 * (a3 * std::sin(q[2]) + d4 * std::cos(q[2])) * (a2 * std::cos(q[1]) + a3 * c23 - d4 * s23) *
                       std::sin(q[4]) / std::pow(at.scaling.length, 3);
    EXPECT_NEAR(manipulability(singular_values(at.screws), 6), std::abs(det), 1e-12);
    EXPECT_NEAR(manipulability(at.screws), std::abs(det), 1e-12);
  }
}

TEST(SingularityKernels, ValuesDependNeitherOnTheBaseNorOnTheUnitOfLength) {
  std::mt19937_64 gen(3);
  for (unsigned seed = 0; seed < 6; ++seed) {
    const auto m = test::random_chain<7>(seed, seed % 2 == 1);
    auto moved = m;
    moved.base = {rotation_from_rpy({{1.1, -0.7, 2.0}}), {{8000, -6000, 3000}}};
    for (auto& joint : moved.joint) {
      joint.a *= 1000;
      joint.b *= 1000;
      joint.d *= 1000;
    }
    for (int sample = 0; sample < 20; ++sample) {
      const auto q = test::random_vector<7>(gen, 3);
      auto stretched = q;
      for (int i = 0; i < 7; ++i)
        if (m.prismatic[i]) stretched[i] *= 1000;
      const auto here = singular_values(configuration(m, q).screws);
      const auto there = singular_values(configuration(moved, stretched).screws);
      for (int k = 0; k < 6; ++k) EXPECT_NEAR(here[k], there[k], 1e-12 * here[0]);
    }
  }
}

TEST(SingularityKernels, DecompositionGivesTheScrewsBack) {
  std::mt19937_64 gen(4);
  const auto check = [&](auto joints) {
    constexpr int J = joints, N = kValues<J>;
    const auto at = configuration(test::random_chain<J>(J, true), test::random_vector<J>(gen, 3));
    const auto a = decompose(at.screws);
    const auto expected = columns(at.screws);
    for (int r = 0; r < 6; ++r)
      for (int c = 0; c < J; ++c) {
        double sum = 0;
        for (int k = 0; k < N; ++k) sum += a.sigma[k] * a.left.v[k][r] * a.right.v[k][c];
        EXPECT_NEAR(sum, expected(r, c), 1e-13);
      }
    const auto sigma = singular_values(at.screws);
    for (int k = 0; k < N; ++k) EXPECT_NEAR(sigma[k], a.sigma[k], 1e-13);
  };
  check(std::integral_constant<int, 3>{});
  check(std::integral_constant<int, 6>{});
  check(std::integral_constant<int, 7>{});
  check(std::integral_constant<int, 12>{});
}

TEST(SingularityKernels, ScalingIsDefinedWhereAxesMeetOrAreMissing) {
  constexpr double kRight = M_PI / 2;
  const auto wrist =
      chain::make_model<3>(chain::from_dh({}, {{0, 0.3, -kRight, 0, {}}, {0, 0, kRight, 0, {}}, {0, 0.2, 0, 0, {}}}));
  const auto at = configuration(wrist, Vec<double, 3>{{0.3, 0, -0.8}});  // axes 1 and 3 in line
  EXPECT_EQ(at.scaling.length, 1);
  EXPECT_NEAR(norm(at.scaling.center + wrist.base.p - vec3(0.0, 0.0, 0.3)), 0, 1e-12);
  const auto found = analyze<3>(at.screws, interval_dims(wrist), kTolerances);
  EXPECT_NEAR(found.sigma[0], std::sqrt(2), 1e-15);
  EXPECT_NEAR(found.sigma[1], 1, 1e-15);
  EXPECT_EQ(found.lost, 1);
  EXPECT_EQ(joints_in(found.escape.dependent_joints), (JointSet{1, 3}));
  EXPECT_EQ(found.escape.joint, 1);
  // Screws (0 0 1), (0 1 0), (sin 0 cos) of the angle t: sigma_3 = sqrt(1 - cos t).
  EXPECT_NEAR(found.escape.rate[1], std::sqrt(0.5), 1e-12);

  std::vector<chain::DhJoint> slides = {{0, 0.1, -kRight, 0, {}}, {0.2, 0.3, kRight, kRight, {}}, {0, 0.2, 0, 0, {}}};
  for (auto& slide : slides) slide.link.joint.prismatic = true;
  const auto gantry = chain::make_model<3>(chain::from_dh({}, slides));
  const auto box = configuration(gantry, Vec<double, 3>{{0.1, 0.2, 0.3}});
  EXPECT_EQ(box.scaling.length, 1);
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(singular_values(box.screws)[k], 1, 1e-15);
}

/// With a tolerance above it, a near singularity is analyzed as the one that it is near to.
TEST(SingularityKernels, NearSingularitiesAreAnalyzedByTheirTolerance) {
  const auto m = arm_named<6>("PUMA560");
  const auto dims = interval_dims(m);
  const Vec<double, 6> q = {{0.3, -0.7, 0.5, 0.9, 0.01, -0.4}};  // axes 4 and 6 nearly in line
  const auto at = configuration(m, q);
  EXPECT_EQ(analyze<6>(at.screws, dims, kTolerances).lost, 0);
  const auto near = analyze<6>(at.screws, dims, {0.02, 0.05, 1e-3});
  EXPECT_EQ(near.lost, 1);
  EXPECT_EQ(joints_in(near.escape.dependent_joints), (JointSet{4, 6}));
  EXPECT_EQ(near.escape.joint, 4);
  EXPECT_EQ(near.subsets.count, 1);
  EXPECT_NEAR(near.escape.rate[4], near.sigma[5] / 0.01, 0.01 * near.escape.rate[4]);
}

/// sigma_g after a small true step is rate times step.
TEST(SingularityKernels, PredictedRatesAreThoseOfTrueMotion) {
  const auto m = arm_named<7>("SRS7");
  const auto dims = interval_dims(m);
  std::mt19937_64 gen(11);
  int signs = 0;
  constexpr double kStep = 1e-4;
  for (int sample = 0; sample < 40; ++sample) {
    auto q = test::random_vector<7>(gen, 1.3);
    q[3] = 0;  // stretched elbow
    const auto at = configuration(m, q);
    const auto found = analyze<6>(at.screws, dims, kTolerances);
    ASSERT_EQ(found.lost, 1);
    for (int j = 0; j < 7; ++j) {
      auto forth = q, back = q;
      forth[j] += kStep;
      back[j] -= kStep;
      const double plus = sigma_at<6>(m, forth, at.scaling), minus = sigma_at<6>(m, back, at.scaling);
      const double rate = found.escape.order[j] == 1 ? found.escape.rate[j] : 0;
      EXPECT_NEAR(0.5 * (plus + minus), rate * kStep, 1e-3 * rate * kStep + 1e-12);
      if (std::abs(plus - minus) < 1e-3 * kStep * kStep) continue;
      EXPECT_EQ(found.escape.sign[j], plus > minus ? 1 : -1);
      ++signs;
    }
  }
  EXPECT_GT(signs, 20);
}

// Lanes.

template <class S, int J>
struct Everything {
  ScalingOf<S> scaling;
  Vec<S, kValues<J>> sigma;
  S volume;
  Findings<S, J> analysis;
};
template <int G, class S, int J>
__attribute__((noinline)) Everything<S, J> everything(const Model<double, J>& m, const IntervalDims<J>& dims,
                                                      const Vec<S, J>& q) {
  Everything<S, J> out;
  const auto lines = joint_lines(m, chain::angles(m, q));
  out.scaling = natural_scaling(m, lines);
  const auto screws = scaled_screws(m, lines, out.scaling);
  out.sigma = singular_values(screws);
  out.volume = manipulability(screws);
  out.analysis = analyze<G>(screws, dims, kTolerances);
  return out;
}

/// Lanes hold configurations that lose nothing, one and two dimensions: `zero` lists the joints that are set to zero.
template <int G, int J>
void check_lanes(const Model<double, J>& m, const std::vector<std::vector<int>>& zero) {
  using S = Lanes<double>;
  std::mt19937_64 gen(123);
  const auto dims = interval_dims(m);
  Vec<S, J> q;
  for (int l = 0; l < S::kSize; ++l) {
    auto one = test::random_vector<J>(gen, 2);
    for (const int j : zero[static_cast<std::size_t>(l) % zero.size()]) one[j] = 0;
    for (int i = 0; i < J; ++i) q[i].set(l, one[i]);
  }
  const auto lanes = everything<G>(m, dims, q);
  std::set<double> lost;
  for (int l = 0; l < S::kSize; ++l) {
    Vec<double, J> one;
    for (int i = 0; i < J; ++i) one[i] = q[i][l];
    const auto scalar = everything<G>(m, dims, one);
    lost.insert(scalar.analysis.lost);
    const auto* expected = reinterpret_cast<const double*>(&scalar);
    for (std::size_t f = 0; f < sizeof scalar / sizeof(double); ++f)
      EXPECT_EQ(reinterpret_cast<const S*>(&lanes)[f][l], expected[f]) << "field " << f << " lane " << l;
  }
  EXPECT_EQ(lost.size(), zero.size());
}

TEST(SingularityKernels, LanesEqualScalarToTheBit) {
  check_lanes<6>(arm_named<7>("SRS7"), {{}, {3}, {1, 3, 5}});
  check_lanes<4>(arm_named<4>("SCARA"), {{}, {1}});
}

}  // namespace
}  // namespace garra::singularity
