// Rows that each have a platform of their own, on every executor: other instances, and other kernels, than those of a
// platform that all rows share.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "answers.hpp"
#include "garra/platform_dynamics.hpp"
#include "garra/platform_kinematics.hpp"
#include "garra/platform_simulate.hpp"
#include "platform_reference.hpp"

namespace garra::platform {
namespace {

using test::reference_platform;

const std::vector<std::size_t> kSizes = {2, 9};  ///< within a block of lanes, and beyond one

/// n platforms, no two alike in geometry or mass.
Platforms own_platforms(std::size_t n) {
  const Platform kinds[2] = {reference_platform("trepa_like"), reference_platform("irregular")};
  Platforms out;
  for (std::size_t i = 0; i < n; ++i) {
    const double more = static_cast<double>(i);
    out.push_back(kinds[i % 2]);
    out.back().leg[i % 6].base[0] += 1e-3 * more;
    out.back().mass += more;
  }
  return out;
}

/// A state near each platform's home, and what acts on it.
struct Rows {
  Platforms platforms;
  Poses poses, guess;
  Motion motion;
  std::vector<double> wrench, force;
};

Rows rows(std::size_t n) {
  Rows r;
  r.platforms = own_platforms(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Place<double> home = home_place(r.platforms[i]);
    const double u = std::sin(1.7 * static_cast<double>(i) + 1);
    const auto off = [&](double scale, int k) { return scale * std::sin(u + 2.3 * k); };
    for (int k = 0; k < 3; ++k) {
      r.poses.position.push_back(home.r[k] + off(0.05, k));
      r.guess.position.push_back(home.r[k]);
    }
    for (int k = 0; k < 4; ++k) {
      r.poses.quaternion.push_back(home.p[k] + off(0.05, k));
      r.guess.quaternion.push_back(home.p[k]);
    }
    for (int k = 0; k < 6; ++k) {
      r.motion.velocity.push_back(off(0.3, k));
      r.motion.acceleration.push_back(off(0.5, k + 1));
      r.wrench.push_back(off(20, k));
      r.force.push_back(90 + off(10, k));
    }
  }
  return r;
}

void expect_all(const std::vector<PoseStatus>& status, PoseStatus expected, std::size_t n) {
  EXPECT_EQ(status, std::vector<PoseStatus>(n, expected));
}

TEST(OwnPlatforms, HaveTheSameKinematicsOnEveryExecutor) {
  for (const std::size_t n : kSizes) {
    SCOPED_TRACE(n);
    const Rows r = rows(n);
    const InverseKinematics plain = inverse_kinematics(r.platforms, r.poses, r.motion);
    expect_all(plain.status, PoseStatus::kConverged, n);
    expect_all(forward_kinematics(r.platforms, plain.lengths, r.guess).status, PoseStatus::kConverged, n);
    expect_all(forward_kinematics_full(r.platforms, plain.lengths, r.guess).status, PoseStatus::kConverged, n);
    test::expect_same_on_every_executor([&](const Device& device) {
      const auto details = inverse_kinematics(r.platforms, r.poses, r.motion, {true, true, true, 0.4}, device);
      const auto inverse = inverse_kinematics(r.platforms, r.poses, r.motion, {}, device);
      const auto forward = forward_kinematics(r.platforms, plain.lengths, r.guess, {}, device);
      const auto full = forward_kinematics_full(r.platforms, plain.lengths, r.guess, {}, device);
      return test::Answer()
          .add("details", test::make_answer(details))
          .add("inverse", test::make_answer(inverse))
          .add("forward", test::make_answer(forward))
          .add("full", test::make_answer(full));
    });
  }
}

TEST(OwnPlatforms, HaveTheSameCertificatesOnEveryExecutor) {
  ForwardOptions near, certify;
  near.certify = certify.certify = certify.certify_mode = true;
  for (const std::size_t n : kSizes) {
    SCOPED_TRACE(n);
    const Rows r = rows(n);
    const std::vector<double> lengths = inverse_kinematics(r.platforms, r.poses, {}).lengths;
    // Guesses are too far away for a certificate of their own: a path leads to the poses.
    expect_all(forward_kinematics(r.platforms, lengths, r.guess, near).status, PoseStatus::kConverged, n);
    expect_all(forward_kinematics(r.platforms, lengths, r.guess, certify).status, PoseStatus::kCertified, n);
    test::expect_same_on_every_executor([&](const Device& device) {
      return test::make_answer(forward_kinematics(r.platforms, lengths, r.guess, certify, device));
    });
  }
}

TEST(OwnPlatforms, HaveTheSameDynamicsOnEveryExecutorInBothForms) {
  for (const Form form : {Form::kMinimal, Form::kFull})
    for (const std::size_t n : kSizes) {
      SCOPED_TRACE(n);
      const Rows r = rows(n);
      const InverseDynamics inverse = inverse_dynamics(r.platforms, r.poses, r.motion, r.wrench, form);
      expect_all(inverse.status, PoseStatus::kConverged, n);
      // Forces that give a motion give it back: the model of each row is the row's own, in both directions.
      const ForwardDynamics forward =
          forward_dynamics(r.platforms, r.poses, r.motion.velocity, inverse.force, r.wrench, form);
      for (std::size_t k = 0; k < 6 * n; ++k) EXPECT_NEAR(forward.acceleration[k], r.motion.acceleration[k], 1e-9) << k;
      test::expect_same_on_every_executor([&](const Device& device) {
        const auto there = inverse_dynamics(r.platforms, r.poses, r.motion, r.wrench, form, device);
        const auto back = forward_dynamics(r.platforms, r.poses, r.motion.velocity, r.force, r.wrench, form, device);
        return test::Answer().add("inverse", test::make_answer(there)).add("forward", test::make_answer(back));
      });
    }
}

TEST(OwnPlatforms, MoveTheSameOnEveryExecutorWithEachMethod) {
  for (const Integrator method : {Integrator::kRk4, Integrator::kRk8, Integrator::kHybrid}) {
    SCOPED_TRACE(to_string(method));
    Rows r = rows(9);
    const std::vector<double> lengths = inverse_kinematics(r.platforms, r.poses, {}).lengths;
    std::vector<MotionStatus> expected(9, MotionStatus::kCompleted);
    for (std::size_t i = 0; i < 9; ++i)
      for (Leg& leg : r.platforms[i].leg) leg.length_min = 0.1, leg.length_max = 5;
    for (const std::size_t i : {2u, 7u}) {  // one of either kind has a leg that is too short for its place
      r.platforms[i].leg[4].length_max = lengths[6 * i + 4] - 1e-2;
      expected[i] = MotionStatus::kStrokeLimit;
    }
    SimulateOptions o;
    o.method = method;
    o.step = 0.01;
    o.duration = 0.03;
    o.times = {0, 0.015, 0.03};
    o.watch_limits = true;
    o.correct_above = 0;  // of the hybrid method: at every step
    const Starts starts{r.poses, r.motion.velocity, r.wrench};
    const ForceInput force{.force = r.force, .viscous = 20, .coulomb = 5, .coulomb_speed = 0.05};
    const Trajectories all = simulate(r.platforms, starts, force, o);
    EXPECT_EQ(all.status, expected);
    EXPECT_EQ(all.corrections[0] > 0, method == Integrator::kHybrid);
    test::expect_same_on_every_executor(
        [&](const Device& device) { return test::make_answer(simulate(r.platforms, starts, force, o, device)); });
  }
}

}  // namespace
}  // namespace garra::platform
