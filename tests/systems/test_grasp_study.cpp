// The Monte Carlo study: known answers, the same bits however it is run, and honest books.
#include <gtest/gtest.h>

#include <cmath>

#include "garra/core/error.hpp"
#include "garra/io/scenario.hpp"
#include "systems/grasp_study.hpp"

namespace garra::grasp {
namespace {

Scenario three_puma(const std::vector<std::string>& overrides = {}) {
  return io::read_scenario(std::string(GARRA_SOURCE_DIR) + "/data/scenarios/three_puma_sphere.toml", overrides);
}

/// The reference's default hand: nothing is uncertain.
const std::vector<std::string> kNominal = {"object.mass=1", "object.position=[0,0,0.3]", "contacts.angle=60 deg",
                                           "contacts.friction=0.4", "contacts.slide=0", "contacts.tilt=0",
                                           "contacts.squeeze_error=0", "load.wrench={ force_ball = 0 }"};

study::Total run(const Study& study, std::int64_t samples, const Device& device, std::int64_t chunk) {
  study::Total total{};
  for (std::int64_t i = 0; i < samples; i += chunk)
    total.add(study.run(i, std::min(chunk, samples - i), device), static_cast<std::size_t>(study.layout().sums), 2);
  return total;
}

TEST(NominalHand, HoldsWithTheForcesAndTheCriticalFrictionOfTheReference) {
  const Study study(three_puma(kNominal));
  EXPECT_EQ(study.inputs().size(), 0u);
  const Replay r = study.replay(0);
  EXPECT_EQ(r.outcome, Outcome::kHeld);
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_NEAR(r.c[3 * j], 15, 1e-9);
    // The weight is carried in equal parts by friction: m g / 3 = 3.27 N, along t or o as the contact is rolled.
    EXPECT_NEAR(std::hypot(r.c[3 * j + 1], r.c[3 * j + 2]), 9.81 / 3, 1e-9);
  }
  for (const double a : r.a) EXPECT_NEAR(a, 0, 1e-9);
  EXPECT_NEAR(r.metric[metric("critical_friction")], 9.81 / (3 * 15), 1e-12);
  EXPECT_NEAR(r.metric[metric("friction_margin")], 1 - 9.81 / (3 * 15 * 0.4), 1e-12);
  EXPECT_NEAR(r.metric[metric("minimum_squeeze")], 9.81 / (3 * 0.4), 1e-9);
  EXPECT_NEAR(r.metric[metric("load_factor")], 0.4 * 15 / (9.81 / 3) - 1, 0.7);  // stiffer fingers share it unequally; order only
}

TEST(NominalHand, IsLostBelowItsCriticalFriction) {
  auto overrides = kNominal;
  overrides[3] = "contacts.friction=0.217";
  EXPECT_EQ(Study(three_puma(overrides)).replay(0).outcome, Outcome::kSlipping);
  overrides[3] = "contacts.friction=0.219";
  EXPECT_EQ(Study(three_puma(overrides)).replay(0).outcome, Outcome::kHeld);
}

TEST(MovingHand, HoldsTooWhenItCompensatesItsOwnDynamics) {
  auto overrides = kNominal;
  overrides.push_back("motion={ velocity = [0.1, 0, 0.05], angular_velocity = [0, 0, 0.3] }");
  const Replay r = Study(three_puma(overrides)).replay(0);
  EXPECT_EQ(r.outcome, Outcome::kHeld);
  double moved = 0;
  for (std::size_t k = 0; k < 9; ++k) moved += std::abs(r.b[k] - Study(three_puma(kNominal)).replay(0).b[k]);
  EXPECT_GT(moved, 1e-3);  // the velocity terms are there
}

TEST(OnlyFriction, GivesTheProbabilityOfItsDistribution) {
  auto overrides = kNominal;
  overrides[3] = "contacts.friction={ uniform = [0.1, 0.5] }";
  const Study study(three_puma(overrides));
  constexpr std::int64_t n = 200'000;
  const auto total = run(study, n, Device{}, 65536);
  const double one = (0.5 - 9.81 / 45) / 0.4, p = one * one * one;  // three independent contacts
  const auto e = study.estimate(total);
  EXPECT_NEAR(e.probability, p, 4 * std::sqrt(p * (1 - p) / n));
  EXPECT_LT(e.interval.low, e.probability);
  EXPECT_GT(e.interval.high, e.probability);
}

TEST(Summary, HasTheSameBytesForAnyExecutorThreadsAndChunks) {
  auto scenario = three_puma({"sampling.samples=5000"});
  const Study study(scenario);
  const auto text = [&](const Device& d, std::int64_t chunk) { return study.summary(run(study, 5000, d, chunk), "samples"); };
  const std::string reference = text({Executor::kScalar, 1, 0}, 8192);
  EXPECT_EQ(reference, text({Executor::kLanes, 1, 0}, 8192));
  EXPECT_EQ(reference, text({Executor::kLanes, 2, 0}, 8192));
  EXPECT_EQ(reference, text({Executor::kLanes, 2, 0}, 1024));
  EXPECT_EQ(reference, text({Executor::kLanes, 2, 0}, 3072));
}

TEST(Summary, OfOtherHandsIsTheSameInScalarAndLanes) {
  for (const char* name : {"four_finger_box", "two_finger_cylinder"}) {
    const Study study(io::read_scenario(std::string(GARRA_SOURCE_DIR) + "/data/scenarios/" + name + ".toml", {}));
    const auto scalar = run(study, 1500, {Executor::kScalar, 1, 0}, 2048), lanes = run(study, 1500, Device{}, 2048);
    EXPECT_EQ(study.summary(scalar, "samples"), study.summary(lanes, "samples")) << name;
    EXPECT_EQ(study.unsolved_share(lanes), 0) << name;
  }
}

/// The bottle's fingers with more joints at the fingertip, which leave it where it is.
Scenario long_fingers(int first, int second) {
  Scenario s = io::read_scenario(std::string(GARRA_SOURCE_DIR) + "/data/scenarios/two_finger_cylinder.toml", {});
  const int more[2] = {first, second};
  for (std::size_t j = 0; j < 2; ++j) {
    chain::DhJoint tip;
    tip.alpha = 0.5;
    tip.link.body.mass = 1e-3;
    tip.link.armature = 1e-5;
    s.fingers[j].joints.resize(4 + static_cast<std::size_t>(more[j]), tip);
  }
  return s;
}

TEST(Summary, OfFingersOfAnyNumberOfJointsIsTheSameInScalarAndLanes) {
  for (const auto& [first, second] : {std::pair{3, 6}, std::pair{1, 2}, std::pair{12, 4}}) {
    const Study study(long_fingers(first, second));
    const auto scalar = run(study, 600, {Executor::kScalar, 1, 0}, 2048), lanes = run(study, 600, Device{}, 2048);
    EXPECT_EQ(study.summary(scalar, "samples"), study.summary(lanes, "samples")) << 4 + first << " joints";
    EXPECT_EQ(study.unsolved_share(lanes), 0);
    EXPECT_GT(study.no_slip(lanes).probability, 0.8);
  }
}

TEST(Outcomes, AddUpAndUnsolvedSamplesWidenTheInterval) {
  auto scenario = three_puma();
  scenario.max_iterations = 0;  // only what the stick test solves is solved
  scenario.check_uniqueness = false;
  scenario.held_imbalance = 10;  // all that stick are held
  const Study study(scenario);
  const auto total = run(study, 4096, Device{}, 4096);
  std::int64_t sum = 0;
  for (int k = 0; k < kOutcomes; ++k) sum += total.counts[static_cast<std::size_t>(k)];
  EXPECT_EQ(sum, 4096);
  EXPECT_GT(study.unsolved_share(total), 0.02);
  const auto e = study.estimate(total);
  EXPECT_LT(e.interval.low, 0.95);   // had the unsolved samples been dropped, all were held
  EXPECT_GT(e.interval.high, 0.99);
}

TEST(Unreachable, SamplesAreCountedAsSuch) {
  const Study study(three_puma({"hand.base_distance=1 m", "object.position=[{ normal = [0, 0.02] }, 0, 0.3]"}));
  const auto total = run(study, 2048, Device{}, 2048);
  const auto lost = total.counts[static_cast<std::size_t>(Outcome::kUnreachable)];
  EXPECT_GT(lost, 0);
  EXPECT_LT(lost, 2048);
}

TEST(Unreachable, NominalGraspIsRefusedWithARemedy) {
  try {
    const Study study(three_puma({"hand.base_distance=3 m"}));
    FAIL() << "a hand that cannot reach its object was accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kInvalidFile);
    EXPECT_NE(std::string(e.what()).find("cannot reach"), std::string::npos);
  }
}

}  // namespace
}  // namespace garra::grasp
