// Pictures of a grasp at an instant: hand, object and forces where a reader would look for them.
#include <gtest/gtest.h>

#include <cmath>

#include "garra/io/scenario.hpp"
#include "grasp/sample/instant.hpp"
#include "places.hpp"

namespace garra::grasp {
namespace {

Scenario three_puma(const std::vector<std::string>& overrides = {}) {
  return io::read_scenario(test::source_folder() + "/data/scenarios/three_puma_sphere.toml", overrides);
}

Vec3<double> at(const std::vector<double>& list, std::size_t k) {
  return {{list[3 * k], list[3 * k + 1], list[3 * k + 2]}};
}

/// A fingertip on a sphere: one radius from its center, the normal pointing back to it.
TEST(GraspInstant, FingertipsTouchTheSphereWithNormalsToItsCenter) {
  const Scenario scenario = three_puma({"contacts.tilt=0"});
  const Study study(scenario);
  const MotionSeries first = instant(study, 0).series;
  for (const std::int64_t sample : {0, 1, 77}) {
    const MotionSeries s = instant(study, sample).series;
    const Vec3<double> center = at(s.position, 0);
    for (std::size_t j = 0; j < 3; ++j) {
      const std::vector<double>& links = s.links[j];
      ASSERT_EQ(links.size(), 3u * 8);  // base, six joints, fingertip
      const Vec3<double> out = at(links, 7) - center;
      EXPECT_NEAR(norm(out), scenario.object.radius * s.scale, 1e-9);
      for (int k = 0; k < 3; ++k) EXPECT_NEAR(at(s.normal, j)[k], -out[k] / norm(out), 1e-9);
      EXPECT_NEAR(norm(at(links, 0) - scenario.fingers[j].base.p), 0, 1e-12);
      for (std::size_t i = 0; i < 7; ++i)  // rigid links
        EXPECT_NEAR(norm(at(links, i + 1) - at(links, i)), norm(at(first.links[j], i + 1) - at(first.links[j], i)),
                    1e-9);
    }
  }
}

TEST(GraspInstant, NominalForcesOfAnExactCommandCarryTheWeight) {
  const Study study(three_puma());
  const SampleAtInstant r = nominal_instant(study);
  EXPECT_EQ(r.replay.outcome, Outcome::kHeld);
  EXPECT_TRUE(r.replay.inputs.empty());
  const double weight = study.scenario().object.mass.nominal() * 9.81;
  Vec3<double> sum = Vec3<double>::zero(), moment = Vec3<double>::zero();
  for (std::size_t j = 0; j < 3; ++j) {
    const Vec3<double> f = at(r.series.force_palm, j);
    sum = sum + f;
    moment = moment + cross(at(r.series.links[j], 7) - at(r.series.position, 0), f);
    EXPECT_NEAR(dot(f, at(r.series.normal, j)), r.series.force[3 * j], 1e-9);
  }
  EXPECT_NEAR(sum[2], weight, 1e-6);
  for (int k = 0; k < 2; ++k) EXPECT_NEAR(sum[k], 0, 1e-6);
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(moment[k], 0, 1e-6);
}

TEST(GraspInstant, IsTheSampleThatReplayShows) {
  const Study study(three_puma());
  const SampleAtInstant r = instant(study, 4711);
  const Replay replay = study.replay(4711);
  EXPECT_EQ(r.series.force, replay.c);
  EXPECT_EQ(r.series.friction, replay.mu);
  EXPECT_EQ(r.series.inputs, replay.inputs);
  EXPECT_EQ(r.replay.outcome, replay.outcome);
}

TEST(GraspInstant, AFingerThatDoesNotReachHasNoLinks) {
  // The object 2 m away in some samples.
  const Study study(three_puma({"object.position=[{ normal = [\"0 m\", \"1 m\"] }, 0, 0.3]"}));
  std::int64_t sample = 0;
  while (study.replay(sample).outcome != Outcome::kUnreachable) ASSERT_LT(++sample, 200);
  const MotionSeries s = instant(study, sample).series;
  int lost = 0;
  for (const auto& links : s.links) lost += std::isnan(links[0]) ? 1 : 0;
  EXPECT_GE(lost, 1);
  for (const double x : s.position) EXPECT_TRUE(std::isfinite(x));
}

}  // namespace
}  // namespace garra::grasp
