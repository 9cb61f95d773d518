// The platform in the paper's 91 coordinates against the reference documents and the minimal form.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "answers.hpp"
#include "garra/platform_simulate.hpp"
#include "platform_reference.hpp"
#include "same_bits.hpp"

namespace garra::platform {
namespace {

using test::same_bits;

using test::platform_reference;
using test::reference_platform;

constexpr double kPoseTolerance = 1e-12;  ///< of Newton's method at tolerance = 1e-12, well conditioned poses

void append(std::vector<double>& to, const nlohmann::json& numbers) {
  for (const auto& x : numbers) to.push_back(x.get<double>());
}

Device scalar() {
  Device d;
  d.executor = Executor::kScalar;
  return d;
}

/// The 200 reference poses.
struct Reference {
  Poses pose, guess;
  std::vector<double> lengths, iterations;
};

Reference reference() {
  Reference r;
  const nlohmann::json document = platform_reference("ik_fk_trepa_like");
  for (const auto& pose : document.at("poses")) {
    append(r.pose.position, pose.at("r"));
    append(r.pose.quaternion, pose.at("p"));
    append(r.guess.position, pose.at("guess_r"));
    append(r.guess.quaternion, pose.at("guess_p"));
    append(r.lengths, pose.at("lengths"));
    r.iterations.push_back(pose.at("fk91_iterations").get<double>());
  }
  return r;
}

template <class V>
V rows(const V& all, std::size_t n, std::size_t width) {
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n * width)};
}

TEST(PlatformFullForwardKinematics, GivesTheReferencePosesBackFromGuessesTenCentimetersAway) {
  const Reference r = reference();
  const ForwardKinematics got = forward_kinematics_full({reference_platform("trepa_like")}, r.lengths, r.guess);
  for (std::size_t k = 0; k < r.pose.position.size(); ++k)
    EXPECT_NEAR(got.pose.position[k], r.pose.position[k], kPoseTolerance);
  for (std::size_t k = 0; k < r.pose.quaternion.size(); ++k)
    EXPECT_NEAR(got.pose.quaternion[k], r.pose.quaternion[k], kPoseTolerance);
  for (std::size_t i = 0; i < got.status.size(); ++i) {
    EXPECT_EQ(got.status[i], PoseStatus::kConverged);
    EXPECT_LE(got.residual[i], 1e-12);
    // the reference counts looks at the residual, one more than steps; rounding may cost another
    EXPECT_NEAR(got.iterations[i] + 1, r.iterations[i], 1);
  }
}

TEST(PlatformFullForwardKinematics, AgreesWithTheMinimalFormOnAnIrregularPlatformFromItsHome) {
  const Platforms p = {reference_platform("irregular")};
  const Place<double> home = home_place(p[0]);
  Poses guess{{home.r[0], home.r[1], home.r[2]}, {home.p[0], home.p[1], home.p[2], home.p[3]}};
  std::vector<double> lengths;
  const std::vector<double> at_home = inverse_kinematics(p, guess, {}).lengths;
  for (int row = 0; row < 9; ++row)
    for (int i = 0; i < 6; ++i)
      lengths.push_back(at_home[static_cast<std::size_t>(i)] + 0.03 * std::sin(1.0 + row + 2.3 * i));
  const ForwardKinematics full = forward_kinematics_full(p, lengths, guess),
                          minimal = forward_kinematics(p, lengths, guess);
  for (std::size_t k = 0; k < full.pose.position.size(); ++k)
    EXPECT_NEAR(full.pose.position[k], minimal.pose.position[k], kPoseTolerance);
  for (std::size_t k = 0; k < full.pose.quaternion.size(); ++k)
    EXPECT_NEAR(full.pose.quaternion[k], minimal.pose.quaternion[k], kPoseTolerance);
}

TEST(PlatformFullForwardKinematics, GivesTheSameBitsInLanesOfAnyNumberOfRowsAndLeavesNeighborsOfNanAlone) {
  const Reference r = reference();
  const Platforms p = {reference_platform("trepa_like")};
  for (const std::size_t n : {0u, 1u, 7u, 8u, 9u}) {
    Poses guess{rows(r.guess.position, n, 3), rows(r.guess.quaternion, n, 4)};
    std::vector<double> lengths = rows(r.lengths, n, 6);
    const ForwardKinematics clean = forward_kinematics_full(p, lengths, guess, {}, scalar());
    if (n > 3) lengths[6 * 3] = std::numeric_limits<double>::quiet_NaN();
    const ForwardKinematics lanes = forward_kinematics_full(p, lengths, guess),
                            one = forward_kinematics_full(p, lengths, guess, {}, scalar());
    test::expect_same_on_every_executor([&](const Device& device) {
      return test::make_answer(forward_kinematics_full(p, lengths, guess, {}, device));
    });
    for (std::size_t k = 0; k < 4 * n; ++k) {
      if (k / 4 != 3)
        EXPECT_EQ(lanes.pose.quaternion[k], clean.pose.quaternion[k]);
      else
        EXPECT_EQ(lanes.status[3], PoseStatus::kInvalidInput);
    }
  }
}

TEST(PlatformFullForwardKinematics, SaysWhereNoPoseHasTheLengths) {
  const Platforms p = {reference_platform("trepa_like")};
  const ForwardKinematics got = forward_kinematics_full(p, {1, 1, 1, 9, 1, 1}, {{0, 0, 1.15}, {1, 0, 0, 0}});
  EXPECT_EQ(got.status[0], PoseStatus::kIterationLimit);
}

constexpr double kForceTolerance = 1e-11;         ///< of forces and multipliers of some 100 N: a few roundings
constexpr double kAccelerationTolerance = 1e-12;  ///< [m/s^2]

/// The 82 reference points of inverse dynamics.
struct Moves {
  Poses pose;
  Motion motion;
  std::vector<double> wrench, force, multipliers, moment, spherical;
};

Moves moves() {
  Moves m;
  const nlohmann::json document = platform_reference("invdyn_trepa_like");
  for (const auto& point : document.at("points")) {
    append(m.pose.position, point.at("r"));
    append(m.pose.quaternion, point.at("p"));
    append(m.motion.velocity, point.at("v"));
    append(m.motion.velocity, point.at("w"));
    append(m.motion.acceleration, point.at("a"));
    append(m.motion.acceleration, point.at("alpha"));
    append(m.wrench, point.at("external_force"));
    append(m.wrench, point.at("external_moment_world"));
    append(m.force, point.at("actuator_forces"));
    append(m.multipliers, point.at("lambda91"));
    append(m.moment, point.at("universal_moment_on_leg"));
    for (const auto& leg : point.at("spherical_force_platform_on_leg")) append(m.spherical, leg);
  }
  return m;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], want[k], tolerance) << k;
}

TEST(PlatformFullInverseDynamics, GivesAllReferenceMultipliersForcesAndReactions) {
  const Moves m = moves();
  const InverseDynamics got =
      inverse_dynamics({reference_platform("trepa_like")}, m.pose, m.motion, m.wrench, Form::kFull, {});
  expect_near(got.multipliers, m.multipliers, kForceTolerance);
  expect_near(got.force, m.force, kForceTolerance);
  expect_near(got.universal_moment, m.moment, kForceTolerance);
  expect_near(got.spherical_force, m.spherical, kForceTolerance);
}

TEST(PlatformFullInverseDynamics, AgreesWithTheMinimalFormOnAnIrregularPlatform) {
  const Platforms p = {reference_platform("irregular")};
  const Place<double> home = home_place(p[0]);
  Moves m = moves();
  for (std::size_t i = 0; i < m.wrench.size() / 6; ++i)
    for (int k = 0; k < 3; ++k) m.pose.position[3 * i + static_cast<std::size_t>(k)] = home.r[k];
  const InverseDynamics full = inverse_dynamics(p, m.pose, m.motion, m.wrench, Form::kFull, {}),
                        minimal = inverse_dynamics(p, m.pose, m.motion, m.wrench);
  expect_near(full.force, minimal.force, 1e-10);
  expect_near(full.spherical_force, minimal.spherical_force, 1e-10);
  expect_near(full.universal_force, minimal.universal_force, 1e-10);
  expect_near(full.universal_moment, minimal.universal_moment, 1e-10);
  expect_near(full.condition, minimal.condition, 1e-10);
  for (const double watts : full.power_balance) EXPECT_NEAR(watts, 0, 1e-10);
}

TEST(PlatformFullForwardDynamics, GivesTheReferenceAccelerationsAndTheMinimalFormsEnergies) {
  const nlohmann::json document = platform_reference("fwddyn");
  for (const auto& run : document) {
    const Platforms p = {reference_platform(run.at("params").get<std::string>())};
    for (const auto& state : run.at("states")) {
      Poses pose;
      std::vector<double> velocity, force, acceleration;
      append(pose.position, state.at("r"));
      append(pose.quaternion, state.at("p"));
      append(velocity, state.at("v"));
      append(velocity, state.at("w"));
      append(force, run.at("actuator_forces"));
      append(acceleration, state.at("nudot"));
      const ForwardDynamics got = forward_dynamics(p, pose, velocity, force, {}, Form::kFull, {});
      expect_near(got.acceleration, acceleration, kAccelerationTolerance);
      const ForwardDynamics minimal = forward_dynamics(p, pose, velocity, force, {});
      expect_near(got.kinetic, minimal.kinetic, 1e-12);
      expect_near(got.potential, minimal.potential, 1e-10);
    }
  }
}

TEST(PlatformFullDynamics, GivesTheSameBitsInLanesOfAnyNumberOfRowsAndNanForInvalidOnes) {
  const Moves all = moves();
  const Platforms p = {reference_platform("trepa_like")};
  for (const std::size_t n : {0u, 1u, 7u, 8u, 9u}) {
    Poses pose{rows(all.pose.position, n, 3), rows(all.pose.quaternion, n, 4)};
    const Motion motion{rows(all.motion.velocity, n, 6), rows(all.motion.acceleration, n, 6)};
    const std::vector<double> wrench = rows(all.wrench, n, 6), force = rows(all.force, n, 6);
    if (n > 3) pose.quaternion[12] = std::numeric_limits<double>::quiet_NaN();
    const InverseDynamics a = inverse_dynamics(p, pose, motion, wrench, Form::kFull, {}),
                          b = inverse_dynamics(p, pose, motion, wrench, Form::kFull, scalar());
    const ForwardDynamics c = forward_dynamics(p, pose, motion.velocity, force, wrench, Form::kFull, {}),
                          d = forward_dynamics(p, pose, motion.velocity, force, wrench, Form::kFull, scalar());
    test::expect_same_on_every_executor([&](const Device& device) {
      return test::Answer()
          .add("inverse", test::make_answer(inverse_dynamics(p, pose, motion, wrench, Form::kFull, device)))
          .add("forward",
               test::make_answer(forward_dynamics(p, pose, motion.velocity, force, wrench, Form::kFull, device)));
    });
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(a.status[i], i == 3 ? PoseStatus::kInvalidInput : PoseStatus::kConverged);
      EXPECT_EQ(std::isnan(c.acceleration[6 * i]), i == 3);
    }
  }
}

/// A run of fwddyn.json: its start, its forces and its end.
struct FreeRun {
  Platforms platforms;
  Starts starts;
  ForceInput force;
  std::vector<double> position, quaternion, velocity;
};

FreeRun free_run(std::size_t which) {
  const nlohmann::json run = platform_reference("fwddyn").at(which);
  FreeRun f;
  f.platforms = {reference_platform(run.at("params").get<std::string>())};
  const nlohmann::json &first = run.at("states").front(), &last = run.at("states").back();
  append(f.starts.pose.position, first.at("r"));
  append(f.starts.pose.quaternion, first.at("p"));
  append(f.starts.velocity, first.at("v"));
  append(f.starts.velocity, first.at("w"));
  append(f.force.force, run.at("actuator_forces"));
  append(f.position, last.at("r"));
  append(f.quaternion, last.at("p"));
  append(f.velocity, last.at("v"));
  append(f.velocity, last.at("w"));
  return f;
}

SimulateOptions hybrid(double step) {
  SimulateOptions o;
  o.method = Integrator::kHybrid;
  o.step = step;
  return o;
}

/// Baumgarte's terms pull the state off the exact motion before a correction puts it back on the constraints: more than
/// the method's own error.
constexpr double kHybridTolerance = 1e-8;

TEST(PlatformHybridSimulation, EndsWhereTheReferenceDoes) {
  for (std::size_t which = 0; which < 3; ++which) {
    const FreeRun f = free_run(which);
    const Trajectories t = simulate(f.platforms, f.starts, f.force, hybrid(2e-3), {});
    EXPECT_EQ(t.status[0], MotionStatus::kCompleted);
    EXPECT_EQ(t.steps[0], 250);
    expect_near(t.end_pose.position, f.position, kHybridTolerance);
    expect_near(t.end_pose.quaternion, f.quaternion, kHybridTolerance);
    expect_near(t.end_velocity, f.velocity, 10 * kHybridTolerance);
    EXPECT_LE(t.worst_balance[0], 1e-6);
  }
}

TEST(PlatformHybridSimulation, CorrectsWhereTheConstraintsDriftBeyondTheirLimitAndThenHoldsThem) {
  const FreeRun f = free_run(2);
  SimulateOptions o = hybrid(5e-3);
  o.correct_above = 1;
  const Trajectories never = simulate(f.platforms, f.starts, f.force, o, {});
  EXPECT_EQ(never.corrections[0], 0);
  o.baumgarte = 0;
  const Trajectories drifting = simulate(f.platforms, f.starts, f.force, o, {});
  EXPECT_GT(drifting.worst_drift[0], 1e-13);
  o.correct_above = 0;
  const Trajectories held = simulate(f.platforms, f.starts, f.force, o, {});
  EXPECT_EQ(held.status[0], MotionStatus::kCompleted);
  EXPECT_EQ(held.corrections[0], 100);
  EXPECT_LT(held.worst_drift[0], 0.1 * drifting.worst_drift[0]);
  expect_near(held.end_pose.position, f.position, kHybridTolerance);
}

TEST(PlatformHybridSimulation, GivesTheSameBitsInLanesAndLeavesNeighborsOfNanAlone) {
  const FreeRun one = free_run(2);
  Starts starts;
  ForceInput force;
  for (int i = 0; i < 9; ++i) {
    const auto add = [](std::vector<double>& to, const std::vector<double>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    add(starts.pose.position, one.starts.pose.position);
    add(starts.pose.quaternion, one.starts.pose.quaternion);
    add(starts.velocity, one.starts.velocity);
    add(force.force, one.force.force);
    force.force[static_cast<std::size_t>(6 * i)] += i;
  }
  SimulateOptions o = hybrid(0.01);
  o.duration = 0.05;
  o.times = {0, 0.02, 0.05};
  const Trajectories clean = simulate(one.platforms, starts, force, o, {});
  starts.velocity[6 * 4] = std::numeric_limits<double>::quiet_NaN();
  const Trajectories lanes = simulate(one.platforms, starts, force, o, {}),
                     alone = simulate(one.platforms, starts, force, o, scalar());
  test::expect_same_on_every_executor(
      [&](const Device& device) { return test::make_answer(simulate(one.platforms, starts, force, o, device)); });
  EXPECT_EQ(lanes.status[4], MotionStatus::kInvalidInput);
  for (std::size_t k = 0; k < lanes.pose.position.size(); ++k) {
    if (k / 9 == 4)
      EXPECT_TRUE(std::isnan(lanes.pose.position[k]));
    else
      EXPECT_EQ(lanes.pose.position[k], clean.pose.position[k]);
  }
}

}  // namespace
}  // namespace garra::platform
