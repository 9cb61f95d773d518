// The Monte Carlo study: known answers, the same bits however it is run, and honest books.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "garra/chain_eval.hpp"
#include "garra/core/error.hpp"
#include "garra/grasp_analysis.hpp"
#include "garra/io/scenario.hpp"
#include "garra/solvers/friction_newton.hpp"
#include "grasp/study/grasp_study.hpp"
#include "grasp_robots.hpp"
#include "motion_cases.hpp"
#include "places.hpp"
#include "study_answer.hpp"

namespace garra::grasp {
namespace {

Scenario three_puma(const std::vector<std::string>& overrides = {}) {
  return io::read_scenario(test::source_folder() + "/data/scenarios/three_puma_sphere.toml", overrides);
}

/// The reference's default hand: nothing is uncertain.
const std::vector<std::string> kNominal = {
    "object.mass=1",    "object.position=[0,0,0.3]", "contacts.angle=60 deg",       "contacts.friction=0.4",
    "contacts.slide=0", "contacts.tilt=0",           "contacts.grip_force_error=0", "load.wrench={ force_radius = 0 }"};

study::Total run(const Study& study, std::int64_t samples, const Device& device, std::int64_t chunk) {
  study::Total total{};
  for (std::int64_t i = 0; i < samples; i += chunk)
    total.add(study.run(i, std::min(chunk, samples - i), device), study.shape());
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
  EXPECT_NEAR(r.metric[metric("required_friction")], 9.81 / (3 * 15), 1e-12);
  EXPECT_NEAR(r.metric[metric("friction_margin")], 1 - 9.81 / (3 * 15 * 0.4), 1e-12);
  EXPECT_NEAR(r.metric[metric("min_grip_force")], 9.81 / (3 * 0.4), 1e-9);
}

// The truth is the contact problem itself: with the weight's multiple L added, contacts stick just below L and not just
// above.
TEST(NominalHand, HoldsAsMuchMoreWeightAsItsLoadFactorSays) {
  const Replay balanced = Study(three_puma(kNominal)).replay(0);
  const double factor = balanced.metric[metric("load_factor")];
  const auto sticks_with = [&](double multiple) {
    Scenario s = three_puma(kNominal);
    s.force = {{0, 0, -multiple * 9.81}};
    for (std::size_t j = 0; j < 3; ++j)  // the command goes on as if the load were not there
      s.contacts[j].force = Vec3<double>{{balanced.c[3 * j], balanced.c[3 * j + 1], balanced.c[3 * j + 2]}};
    s.tolerance = 1e-12;
    const Replay r = Study(s).replay(0);
    EXPECT_LE(r.residual, 1e-12);
    return std::all_of(r.states.begin(), r.states.end(),
                       [](int state) { return state == static_cast<int>(ContactState::kStick); });
  };
  constexpr double kThreshold = 1e-5;  // relative; motion by less than 1e-6 of what there is counts as none
  EXPECT_TRUE(sticks_with(factor * (1 - kThreshold)));
  EXPECT_FALSE(sticks_with(factor * (1 + kThreshold)));
}

TEST(NominalHand, IsLostBelowItsCriticalFriction) {
  auto overrides = kNominal;
  overrides[3] = "contacts.friction=0.217";
  overrides.emplace_back("held.acceleration=1e-6");  // the border of the closed form, without the tolerance of held
  EXPECT_EQ(Study(three_puma(overrides)).replay(0).outcome, Outcome::kSlipping);
  overrides[3] = "contacts.friction=0.219";
  EXPECT_EQ(Study(three_puma(overrides)).replay(0).outcome, Outcome::kHeld);
}

constexpr double kDifferences = 1e-6;  // [m/s^2] of second differences of a path of order 1 m with a step of 1e-4

/// Centripetal acceleration of a point `arm` from the center.
Vec3<double> turning_alone(const Vec3<double>& spin, const Vec3<double>& arm) { return cross(spin, cross(spin, arm)); }

/// Acceleration of fingertip j while its joints go on evenly, at the least rates that give its tip this velocity: by
/// second differences of forward kinematics.
Vec3<double> rolling_finger(const Scenario& s, std::size_t j, const std::vector<double>& q, const Vec3<double>& tip) {
  const chain::Robot robot = test::robot_of(s, j);
  const auto J = chain::evaluate(robot, {1, q}, chain::Output::kJacobian).jacobian;
  const Eigen::Map<const Eigen::Matrix<double, 3, 6, Eigen::RowMajor>> Jv(J.data());
  const Eigen::Matrix<double, 6, 1> rate =
      Jv.transpose() * (Jv * Jv.transpose()).ldlt().solve(Eigen::Vector3d(tip[0], tip[1], tip[2]));
  const double h = 1e-4;
  const auto at = [&](double t) {
    std::vector<double> moved = q;
    for (std::size_t k = 0; k < 6; ++k) moved[k] += t * rate[static_cast<int>(k)];
    const auto pose = chain::evaluate(robot, {1, moved}, chain::Output::kPose).pose;
    return Vec3<double>{{pose[3], pose[7], pose[11]}};
  };
  return (1 / (h * h)) * (at(h) + at(-h) - 2.0 * at(0));
}

// What the motion adds to b is the curvature of the paths of the two points that touch: the fingers' own weight and
// Coriolis forces are compensated, and a sphere has no gyroscopic torque. (The length along the surface does not depend
// on t and o.)
TEST(MovingHand, HoldsTooWhenItCompensatesItsOwnDynamics) {
  auto overrides = kNominal;
  overrides.push_back("motion={ velocity = [0.1, 0, 0.05], angular_velocity = [0, 0, 0.3] }");
  const Scenario s = three_puma(overrides), at_rest = three_puma(kNominal);
  const Replay moving = Study(s).replay(0), still = Study(at_rest).replay(0);
  EXPECT_EQ(moving.outcome, Outcome::kHeld);
  const Analysis posture = analyze(at_rest);  // joint angles and normals
  for (std::size_t j = 0; j < 3; ++j) {
    const Vec3<double> n = test::row(posture.normal, j);
    const Vec3<double> a = turning_alone(s.angular_velocity, -0.1 * n) -
                           rolling_finger(s, j, posture.q[j], s.velocity + cross(s.angular_velocity, -0.1 * n));
    EXPECT_GT(norm(a), 1e-3);
    const double* b[2] = {&moving.b[3 * j], &still.b[3 * j]};
    EXPECT_NEAR(b[0][0] - b[1][0], dot(n, a), kDifferences);
    EXPECT_NEAR(std::hypot(b[0][1] - b[1][1], b[0][2] - b[1][2]), norm(a - dot(n, a) * n), kDifferences);
  }
}

TEST(OnlyFriction, GivesTheProbabilityOfItsDistribution) {
  auto overrides = kNominal;
  overrides[3] = "contacts.friction={ uniform = [0.1, 0.5] }";
  overrides.emplace_back("held.acceleration=1e-6");  // as the closed form has it
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
  test::expect_study_same_on_every_executor(Study(three_puma({"sampling.samples=5000"})), {8192, 1024, 3072});
}

TEST(Summary, OfOtherHandsIsTheSameOnEveryExecutor) {
  for (const char* name : {"four_finger_box", "two_finger_cylinder"}) {
    SCOPED_TRACE(name);
    const Study study(
        io::read_scenario(test::source_folder() + "/data/scenarios/" + name + ".toml", {"sampling.samples=1500"}));
    test::expect_study_same_on_every_executor(study, {2048});
    EXPECT_EQ(study::unsolved_share(study.decisions(run(study, 1500, Device{}, 2048))), 0);
  }
}

/// The bottle's fingers with more joints at the fingertip, which leave it where it is.
Scenario long_fingers(int first, int second) {
  Scenario s = io::read_scenario(test::source_folder() + "/data/scenarios/two_finger_cylinder.toml", {});
  s.plan.samples = 600;
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

TEST(Summary, OfFingersOfAnyNumberOfJointsIsTheSameOnEveryExecutor) {
  for (const auto& [first, second] : {std::pair{3, 6}, std::pair{1, 2}, std::pair{12, 4}}) {
    SCOPED_TRACE(4 + first);
    const Study study(long_fingers(first, second));
    test::expect_study_same_on_every_executor(study, {2048});
    const auto lanes = run(study, 600, Device{}, 2048);
    EXPECT_EQ(study::unsolved_share(study.decisions(lanes)), 0);
    EXPECT_GT(study.no_slip(lanes).probability, 0.8);
  }
}

TEST(Outcomes, AddUpAndUnsolvedSamplesWidenTheInterval) {
  auto scenario = three_puma();
  scenario.max_iterations = 1;
  scenario.check_uniqueness = false;
  scenario.held_imbalance = 10;  // all that stick are held
  const Study study(scenario);
  const auto total = run(study, 4096, Device{}, 4096);
  std::int64_t sum = 0;
  for (int k = 0; k < kOutcomes; ++k) sum += total.counts[static_cast<std::size_t>(k)];
  EXPECT_EQ(sum, 4096);
  // Unsolved is what takes more than one step, and the solver with its own limit says sample by sample which do.
  scenario.max_iterations = three_puma().max_iterations;
  const Study solver(scenario);
  int solved = 0, held = 0;
  for (std::int64_t i = 0; i < 4096; ++i) {
    const Replay r = solver.replay(i);
    const bool stick = std::all_of(r.states.begin(), r.states.end(),
                                   [](int state) { return state == static_cast<int>(ContactState::kStick); });
    solved += r.iterations <= 1;
    held += r.iterations <= 1 && stick;
  }
  EXPECT_LT(solved, 4096 * 0.98);
  EXPECT_EQ(study::unsolved_share(study.decisions(total)), 1 - solved / 4096.0);
  // Of "no unsolved one is held" from below, of "each is" from above.
  const auto e = study.estimate(total);
  EXPECT_EQ(e.interval.low, study::clopper_pearson(held, 4096).low);
  EXPECT_EQ(e.interval.high, 1);
}

// The truth is a search in every sample; the study searches where uniqueness is not proven.
TEST(SecondSolutions, AreFoundAsOftenAsByASearchInEverySample) {
  const Study study(three_puma({"contacts.friction={ uniform = [1.5, 5] }", "load.wrench={ force_radius = 40 }"}));
  constexpr int kSamples = 2048;
  const auto total = run(study, kSamples, Device{}, kSamples);
  std::int64_t several = 0;
  for (int i = 0; i < kSamples; ++i) {
    const Replay r = study.replay(i);
    solvers::FrictionProblem<double, 3> p;
    std::ranges::copy(r.A, p.A.m);
    std::ranges::copy(r.b, p.b.m);
    std::ranges::copy(r.mu, p.mu.m);
    solvers::FrictionNewton newton;
    newton.tolerance = study.scenario().tolerance;
    const auto first = newton.solve(p);
    newton.cold = true;
    const auto second = newton.solve(p);
    double apart = 0, size = 0;
    for (int k = 0; k < 9; ++k) {
      apart = std::max(apart, std::abs(first.a[k] - second.a[k]));
      size = std::max(size, std::abs(p.b[k]));
    }
    several += apart > 1e-5 * size;
  }
  EXPECT_GT(several, 5);
  EXPECT_EQ(total.counts[static_cast<std::size_t>(study.layout().several)], several);
}

TEST(Unreachable, SamplesAreCountedAsSuch) {
  auto overrides = kNominal;
  overrides[1] = "object.position=[{ normal = [0, 0.02] }, 0, 0.3]";
  overrides.push_back("hand.base_distance=1 m");
  const Study study(three_puma(overrides));
  const auto total = run(study, 2048, Device{}, 2048);
  // An elbow of two links (d3 aside, base to wrist) reaches a wrist between the difference and the sum of their
  // lengths.
  const double a2 = 0.4318, d3 = 0.15005, forearm = std::hypot(0.0203, 0.4318);
  std::int64_t lost = 0;
  for (std::int64_t i = 0; i < 2048; ++i) {
    const double x = study.replay(i).inputs.at(0);
    bool reached = true;
    for (const double azimuth : {-M_PI / 3, M_PI / 3, M_PI}) {
      // Radius and tool, 0.2 m, from the center to the wrist; 1 m from the palm's to the base.
      const double level = std::hypot(x - 0.8 * std::cos(azimuth), 0.8 * std::sin(azimuth));
      const double reach = std::sqrt(level * level - d3 * d3 + 0.3 * 0.3);
      reached = reached && level >= d3 && reach <= a2 + forearm && reach >= std::abs(a2 - forearm);
    }
    lost += !reached;
  }
  EXPECT_EQ(total.counts[static_cast<std::size_t>(study.layout().outcome + static_cast<int>(Outcome::kUnreachable))],
            lost);
  EXPECT_GT(lost, 100);
  EXPECT_LT(lost, 1948);
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
