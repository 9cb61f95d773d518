// Maps of arms with helical joints, against the exact analysis of their screws and against other arms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "garra/chain_eval.hpp"
#include "garra/core/error.hpp"
#include "garra/io/robot.hpp"
#include "garra/math/screw_algebra.hpp"
#include "garra/singularity.hpp"
#include "garra/singularity_map.hpp"
#include "garra/study/engine.hpp"
#include "on_every_executor.hpp"

namespace garra::singularity {
namespace {

/// A PUMA whose elbow and fourth joint are screws of 40 and -25 mm a radian.
chain::Robot arm(const std::string& convention = "dh") {
  const char* const joints[] = {
      "d = 0.672\nalpha = \"90 deg\"",
      "a = 0.4318",
      "type = \"helical\"\npitch = \"40 mm\"\nd = 0.15005\na = 0.0203\nalpha = \"-90 deg\"\ntheta = 0.1",
      "type = \"helical\"\npitch = \"-25 mm\"\nd = 0.4318\nalpha = \"90 deg\"",
      "alpha = \"-90 deg\"",
      "d = 0.1\nalpha = \"90 deg\"",
  };
  std::string text = "schema = 1\nrobot = \"screws\"\nconvention = \"" + convention + "\"\n";
  for (const char* joint : joints) text += std::string("[[joint]]\n") + joint + "\nlimits = [-2.5, 2.5]\n";
  return io::parse_robot_toml(text, "screws.toml", {.base = "", .tip = "", .overrides = {}, .takes_coupled = true});
}

std::vector<double> random_rows(int joints, std::int64_t count) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> u(-2.5, 2.5);
  std::vector<double> q(static_cast<std::size_t>(count * joints));
  for (double& x : q) x = u(random);
  return q;
}
std::vector<double> row(const std::vector<double>& q, std::int64_t k) {
  return {q.begin() + 6 * k, q.begin() + 6 * (k + 1)};
}

TEST(HelicalArm, HasTheSingularValuesOfItsScrews) {
  for (const char* convention : {"dh", "modified_dh"}) {
    const chain::Robot robot = arm(convention);
    ASSERT_EQ(robot.joints, 8);
    ASSERT_EQ(merge_helical(robot).joints, 6);
    const std::vector<double> q = random_rows(6, 50);
    const Measures m = measure(robot, q, {}, {});
    const chain::Results at = chain::evaluate(robot, chain::States{50, q}, chain::Output::kPose);
    for (std::int64_t k = 0; k < 50; ++k) {
      const auto i = static_cast<std::size_t>(k);
      const ScrewSet screws = make_screws(robot, row(q, k));
      const std::vector<double> sigma = singular_values(screws, natural_scaling(screws));
      EXPECT_NEAR(m.sigma_min[i], sigma.back(), 1e-12);
      EXPECT_NEAR(m.inverse_condition[i], sigma.back() / sigma.front(), 1e-12);
      for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(m.tool[3 * i + c], at.pose[16 * i + 4 * c + 3], 1e-12);
    }
  }
}

TEST(HelicalArm, HasLostAFreedomAtTheSingularityNextToAConfiguration) {
  const chain::Robot robot = arm();
  const std::vector<double> q = random_rows(6, 60);
  MeasureOptions options;
  options.near = 0.5;
  const NearSingularities found = nearest_singularities(robot, q, options, {});
  int converged = 0;
  for (std::int64_t k = 0; k < 60; ++k) {
    if (found.search_status[static_cast<std::size_t>(k)] != SearchStatus::kConverged) continue;
    ++converged;
    const std::vector<double> there = row(found.singular_q, k);
    const ScrewSet screws = make_screws(robot, there);
    const std::vector<double> sigma = singular_values(screws, natural_scaling(screws));
    EXPECT_LT(sigma.back() / sigma.front(), 1e-8);
    // No motion of the joints has power against the lost wrench.
    const double* w = found.wrench.data() + 6 * k;  // force times L, moment about the center
    const Scaling scaling = natural_scaling(screws);
    for (const Screw<double>& screw : screws.screw) {
      const Screw<double> s = about(scaling.origin, screw);
      double power = 0;
      for (int c = 0; c < 3; ++c) power += s.v[c] / scaling.length * w[c] + s.w[c] * w[3 + c];
      EXPECT_NEAR(power, 0, 1e-7);
    }
    EXPECT_GT(found.distance[static_cast<std::size_t>(k)], 0);
  }
  EXPECT_GT(converged, 20);
}

TEST(HelicalArm, WithoutPitchIsTheArmThatTurns) {
  chain::Robot flat = arm();
  for (chain::Coupling& c : flat.coupled) c.ratio = 0;
  chain::Robot turning = merge_helical(flat);
  turning.coupled.clear();
  const std::vector<double> q = random_rows(6, 20);
  const Measures a = measure(flat, q, {}, {}), b = measure(turning, q, {}, {});
  for (std::size_t i = 0; i < 20; ++i) EXPECT_NEAR(a.sigma_min[i], b.sigma_min[i], 1e-13);
}

TEST(HelicalArm, HasTheSameMapOnEveryExecutor) {
  MapScenario s;
  s.robot = merge_helical(arm());
  for (int j = 0; j < 6; ++j) s.joint.push_back({JointSource::Kind::kUniform, -2.5, 2.5});
  s.measure.near = 0.05;
  s.voxels = 4;
  s.plan.samples = 200;
  const auto study = make_study(s);
  test::expect_same_on_every_executor([&](const Device& device) {
    const study::Tally t = study->run(0, 200, device);
    return test::Answer().add("counts", t.counts).add("least", t.least);
  });
}

TEST(HelicalArm, IsRefusedElsewhere) {
  const chain::Robot merged = merge_helical(arm());
  EXPECT_THROW(static_cast<void>(chain::evaluate(merged, chain::States{1, random_rows(6, 1)}, chain::Output::kPose)),
               Error);
  chain::Robot other = arm();
  other.coupled[0].leader = 0;  // it slides along another joint's axis
  EXPECT_THROW(static_cast<void>(merge_helical(other)), Error);
}

}  // namespace
}  // namespace garra::singularity
