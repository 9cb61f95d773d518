// Inverse and forward dynamics of platforms in minimal form, against reference numbers of other programs and the laws
// of mechanics.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "answers.hpp"
#include "garra/core/error.hpp"
#include "garra/platform_dynamics.hpp"
#include "garra/systems/platform/dynamics.hpp"
#include "platform_reference.hpp"

namespace garra::platform {
namespace {

using test::platform_reference;
using test::reference_platform;

constexpr double kForceTolerance = 1e-11;         // of the largest force: what issue 6 asks for
constexpr double kAccelerationTolerance = 1e-12;  // [m/s^2], [rad/s^2]: likewise
constexpr double kDifferenceTolerance = 1e-5;     // [N], [W]: five-point differences with steps of 1 ms on these paths

/// Rows of inverse dynamics.
struct Samples {
  Poses poses;
  Motion motion;
  std::vector<double> wrench;
};

void append(std::vector<double>& to, const std::vector<double>& row) { to.insert(to.end(), row.begin(), row.end()); }

/// A smooth motion whose derivatives are exact: a cubic in space and a turn about a fixed axis.
void add_moment(Samples& s, double t) {
  const double angle = 0.1 + 0.5 * t + 0.4 * t * t, rate = 0.5 + 0.8 * t, half = 0.5 * angle;
  const Vec3<double> n = {{2.0 / 7, -3.0 / 7, 6.0 / 7}};
  append(s.poses.position, {0.02 + 0.1 * t, -0.03 + 0.2 * t * t, 1.2 + 0.1 * t - 0.3 * t * t * t});
  append(s.poses.quaternion, {std::cos(half), std::sin(half) * n[0], std::sin(half) * n[1], std::sin(half) * n[2]});
  append(s.motion.velocity, {0.1, 0.4 * t, 0.1 - 0.9 * t * t, rate * n[0], rate * n[1], rate * n[2]});
  append(s.motion.acceleration, {0, 0.4, -1.8 * t, 0.8 * n[0], 0.8 * n[1], 0.8 * n[2]});
  append(s.wrench, {10, -20, 5 * t, 1, 2, -3});
}

Samples moments(int count) {
  Samples s;
  for (int k = 0; k < count; ++k) add_moment(s, 0.02 * k);
  return s;
}

/// Five moments around t, for differences.
constexpr double kStep = 1e-3;
Samples around(double t) {
  Samples s;
  for (int k = -2; k <= 2; ++k) add_moment(s, t + kStep * k);
  return s;
}
double slope(const double* y) { return (y[0] - 8 * y[1] + 8 * y[3] - y[4]) / (12 * kStep); }
double bend(const double* y) { return (-y[0] + 16 * y[1] - 30 * y[2] + 16 * y[3] - y[4]) / (12 * kStep * kStep); }

Vec3<double> three(const std::vector<double>& v, std::size_t row) {
  return {{v[3 * row], v[3 * row + 1], v[3 * row + 2]}};
}
Place<double> place(const Samples& s, std::size_t row) {
  return {three(s.poses.position, row),
          {{s.poses.quaternion[4 * row], s.poses.quaternion[4 * row + 1], s.poses.quaternion[4 * row + 2],
            s.poses.quaternion[4 * row + 3]}}};
}

double largest(const std::vector<double>& a) {
  double most = 0;
  for (const double x : a) most = std::max(most, std::abs(x));
  return most;
}
void expect_near(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << "number " << i;
}
InverseDynamics invert_matrix(const Platforms& platforms, const Samples& s, const Device& device = {}) {
  return inverse_dynamics(platforms, s.poses, s.motion, s.wrench, Form::kMinimal, device);
}

TEST(PlatformInverseDynamics, GivesForcesAndReactionsOfTheReferencePath) {
  const auto document = platform_reference("invdyn_trepa_like");
  Samples s;
  std::vector<double> force, spherical, moment;
  for (const auto& p : document["points"]) {
    append(s.poses.position, p["r"]), append(s.poses.quaternion, p["p"]);
    append(s.motion.velocity, p["v"]), append(s.motion.velocity, p["w"]);
    append(s.motion.acceleration, p["a"]), append(s.motion.acceleration, p["alpha"]);
    append(s.wrench, p["external_force"]), append(s.wrench, p["external_moment_world"]);
    append(force, p["actuator_forces"]), append(moment, p["universal_moment_on_leg"]);
    for (const auto& leg : p["spherical_force_platform_on_leg"]) append(spherical, leg);
  }
  const InverseDynamics out = invert_matrix({reference_platform("trepa_like")}, s);
  const double tolerance = kForceTolerance * largest(force);
  ASSERT_GT(force.size(), 0u);
  expect_near(out.force, force, tolerance);
  expect_near(out.spherical_force, spherical, tolerance);
  expect_near(out.universal_moment, moment, kForceTolerance * largest(moment));
  EXPECT_LT(largest(out.power_balance), tolerance);
  for (const PoseStatus status : out.status) EXPECT_EQ(status, PoseStatus::kConverged);
}

TEST(PlatformInverseDynamics, IsTheInverseOfForwardDynamics) {
  const Samples s = moments(20);
  const Platforms platforms = {reference_platform("irregular")};
  const InverseDynamics inverse = invert_matrix(platforms, s);
  const ForwardDynamics forward = forward_dynamics(platforms, s.poses, s.motion.velocity, inverse.force, s.wrench);
  expect_near(forward.acceleration, s.motion.acceleration, 1e-11);
  EXPECT_LT(largest(inverse.power_balance), 1e-10);
}

TEST(PlatformInverseDynamics, BaseAndWrenchCarryTheChangeOfMomentum) {
  const Platform p = reference_platform("irregular");
  const Samples s = around(0.3);
  double weighted[3][5], mass = p.mass;
  for (const Leg& leg : p.leg) mass += leg.lower.mass + leg.upper.mass;
  for (std::size_t k = 0; k < 5; ++k) {
    const Place<double> at = place(s, k);
    const Mat3<double> A = rotation_matrix(at.p);
    Vec3<double> sum = p.mass * at.r;
    for (const Leg& leg : p.leg) {
      const Vec3<double> d = at.r + A * leg.anchor - leg.base, z = (1 / norm(d)) * d;
      sum += leg.lower.mass * (leg.base + leg.lower.com * z) + leg.upper.mass * (leg.base + d - leg.upper.com * z);
    }
    for (int c = 0; c < 3; ++c) weighted[c][k] = sum[c];
  }
  const InverseDynamics out = invert_matrix({p}, s);
  for (int c = 0; c < 3; ++c) {
    double external = mass * p.gravity[c] + s.wrench[12 + static_cast<std::size_t>(c)];
    for (std::size_t leg = 0; leg < 6; ++leg)
      external += out.universal_force[36 + 3 * leg + static_cast<std::size_t>(c)];
    EXPECT_NEAR(external, bend(weighted[c]), kDifferenceTolerance);
  }
}

TEST(PlatformInverseDynamics, ActuatorsAndWrenchGiveTheChangeOfEnergy) {
  const Platform p = reference_platform("irregular");
  const Samples s = around(0.3);
  const InverseDynamics inverse = invert_matrix({p}, s);
  const ForwardDynamics forward = forward_dynamics({p}, s.poses, s.motion.velocity, inverse.force, s.wrench);
  double total[5], power = 0;
  for (std::size_t k = 0; k < 5; ++k) total[k] = forward.kinetic[k] + forward.potential[k];
  for (std::size_t i = 0; i < 6; ++i) {
    double length[5];
    for (std::size_t k = 0; k < 5; ++k)
      length[k] = norm(three(s.poses.position, k) + rotation_matrix(place(s, k).p) * p.leg[i].anchor - p.leg[i].base);
    power += inverse.force[12 + i] * slope(length) + s.wrench[12 + i] * s.motion.velocity[12 + i];
  }
  EXPECT_NEAR(power, slope(total), kDifferenceTolerance);
}

TEST(PlatformInverseDynamics, CarriesTheWeightAtRestInEqualParts) {
  const Platform p = reference_platform("trepa_like");
  const InverseDynamics out = inverse_dynamics({p}, {{0, 0, 1.15}, {1, 0, 0, 0}}, {}, {});
  double up = 0, weight = p.mass * -p.gravity[2];
  for (std::size_t i = 0; i < 6; ++i) {
    up += out.universal_force[3 * i + 2];
    weight += (p.leg[i].lower.mass + p.leg[i].upper.mass) * -p.gravity[2];
    EXPECT_NEAR(out.force[i], out.force[0], kForceTolerance * weight);
  }
  EXPECT_NEAR(up, weight, kForceTolerance * weight);
}

TEST(PlatformInverseDynamics, IsTheSameOnAWall) {
  const Mat3<double> R = rotation_matrix<double>(normalized<double>({{0.6, -0.3, 0.5, 0.2}}));
  const Quaternion<double> turn = normalized<double>({{0.6, -0.3, 0.5, 0.2}});
  const Platform floor = reference_platform("irregular");
  Platform wall = floor;
  wall.gravity = R * floor.gravity;
  for (Leg& leg : wall.leg) leg.base = R * leg.base, leg.axis = R * leg.axis;
  const Samples s = moments(9);
  Samples turned;
  const auto rotate = [&](const std::vector<double>& from, std::vector<double>& to) {
    for (std::size_t k = 0; k < from.size() / 3; ++k) {
      const Vec3<double> v = R * three(from, k);
      append(to, {v[0], v[1], v[2]});
    }
  };
  rotate(s.poses.position, turned.poses.position);
  rotate(s.motion.velocity, turned.motion.velocity);
  rotate(s.motion.acceleration, turned.motion.acceleration);
  rotate(s.wrench, turned.wrench);
  for (std::size_t k = 0; k < 9; ++k) {
    const Quaternion<double> q = product(turn, place(s, k).p);
    append(turned.poses.quaternion, {q[0], q[1], q[2], q[3]});
  }
  const InverseDynamics a = invert_matrix({floor}, s), b = invert_matrix({wall}, turned);
  expect_near(b.force, a.force, kForceTolerance * largest(a.force));
  expect_near(b.universal_moment, a.universal_moment, kForceTolerance * largest(a.force));
}

TEST(PlatformInverseDynamics, MarksASingularPose) {
  Poses yaw{{0, 0, 1.15}, {std::sqrt(0.5), 0, 0, std::sqrt(0.5)}};  // a quarter turn: det J = 0
  EXPECT_EQ(inverse_dynamics({reference_platform("trepa_like")}, yaw, {}, {}).status[0], PoseStatus::kNearSingular);
  yaw.quaternion = {std::cos(0.4), 0, 0, std::sin(0.4)};
  EXPECT_EQ(inverse_dynamics({reference_platform("trepa_like")}, yaw, {}, {}).status[0], PoseStatus::kConverged);
}

TEST(PlatformInverseDynamics, GivesNoForcesWhereThePoseDoesNotDetermineThem) {
  const Platforms platforms = {reference_platform("trepa_like")};
  const auto at = [&](double yaw, Form form) {
    const Poses pose{{0, 0, 1.15}, {std::cos(yaw / 2), 0, 0, std::sin(yaw / 2)}};
    return inverse_dynamics(platforms, pose, {}, {}, form);
  };
  for (const Form form : {Form::kMinimal, Form::kFull}) {
    const InverseDynamics singular = at(M_PI / 2, form), near = at(M_PI / 2 + 1e-6, form);
    EXPECT_EQ(singular.status[0], PoseStatus::kNearSingular);
    EXPECT_GT(singular.condition[0], 1e12);
    for (const double f : singular.force) EXPECT_TRUE(std::isnan(f));
    EXPECT_TRUE(std::isnan(singular.spherical_force[0]));
    // Large, but determined: a million times the ordinary conditioning.
    EXPECT_EQ(near.status[0], PoseStatus::kNearSingular);
    EXPECT_LT(near.condition[0], 1e8);
    for (const double f : near.force) EXPECT_TRUE(std::isfinite(f));
  }
}

TEST(PlatformInverseDynamics, LeavesNeighborsOfAPoisonedSampleAlone) {
  const Platforms platforms = {reference_platform("irregular")};
  const Samples clean = moments(9);
  Samples poisoned = clean;
  poisoned.motion.velocity[6 * 3] = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t c = 0; c < 4; ++c) poisoned.poses.quaternion[4 * 5 + c] = 0;
  const InverseDynamics a = invert_matrix(platforms, clean), b = invert_matrix(platforms, poisoned);
  for (std::size_t k = 0; k < 9; ++k) {
    const bool bad = k == 3 || k == 5;
    EXPECT_EQ(b.status[k], bad ? PoseStatus::kInvalidInput : PoseStatus::kConverged);
    for (std::size_t i = 6 * k; i < 6 * k + 6; ++i) {
      if (bad)
        EXPECT_TRUE(std::isnan(b.force[i]));
      else
        EXPECT_EQ(b.force[i], a.force[i]);
    }
  }
}

TEST(PlatformInverseDynamics, RefusesArraysOfWrongLength) {
  const Platform p = reference_platform("trepa_like");
  Samples s = moments(2);
  s.wrench.pop_back();
  EXPECT_THROW((void)invert_matrix({p}, s), Error);
  EXPECT_THROW((void)invert_matrix({p, p, p}, moments(2)), Error);
}

TEST(PlatformDynamics, HasTheSameBitsOnEveryExecutor) {
  const Platforms platforms = {reference_platform("irregular")};
  for (const int n : {0, 1, 7, 8, 9}) {
    const Samples s = moments(n);
    SCOPED_TRACE(n);
    const std::vector<double> force = invert_matrix(platforms, s).force;
    test::expect_same_on_every_executor([&](const Device& device) {
      const auto forward =
          forward_dynamics(platforms, s.poses, s.motion.velocity, force, s.wrench, Form::kMinimal, device);
      return test::Answer()
          .add("inverse", test::make_answer(invert_matrix(platforms, s, device)))
          .add("forward", test::make_answer(forward));
    });
  }
}

TEST(PlatformDynamics, TakesAPlatformForEverySample) {
  const Platform one = reference_platform("trepa_like"), other = reference_platform("irregular");
  const Samples s = moments(2);
  const InverseDynamics both = invert_matrix({one, other}, s);
  const InverseDynamics first = invert_matrix({one}, s), second = invert_matrix({other}, s);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(both.force[i], first.force[i]);
    EXPECT_EQ(both.force[6 + i], second.force[6 + i]);
  }
}

TEST(PlatformForwardDynamics, GivesAccelerationsAndEnergiesOfTheReferenceTrajectories) {
  for (const auto& run : platform_reference("fwddyn")) {
    Samples s;
    std::vector<double> force, truth, kinetic, potential;
    for (const auto& x : run["states"]) {
      append(s.poses.position, x["r"]), append(s.poses.quaternion, x["p"]);
      append(s.motion.velocity, x["v"]), append(s.motion.velocity, x["w"]);
      append(force, run["actuator_forces"]), append(truth, x["nudot"]);
      kinetic.push_back(x["kinetic"]), potential.push_back(x["potential"]);
    }
    const ForwardDynamics out =
        forward_dynamics({reference_platform(run["params"].get<std::string>())}, s.poses, s.motion.velocity, force, {});
    expect_near(out.acceleration, truth, kAccelerationTolerance);
    expect_near(out.kinetic, kinetic, 1e-12 * largest(potential));
    expect_near(out.potential, potential, 1e-12 * largest(potential));
  }
}

TEST(PlatformBalance, IsThatOfTheReference) {
  const auto truth = platform_reference("assembly91_trepa_like");
  Samples s;
  append(s.poses.position, truth["r"]), append(s.poses.quaternion, truth["p"]);
  append(s.motion.velocity, truth["v"]), append(s.motion.velocity, truth["w"]);
  const Twist6<double> twist = {three(s.motion.velocity, 0), three(s.motion.velocity, 1)};
  const Balance<double> b = balance(make_model(reference_platform("trepa_like")), place(s, 0), twist);
  for (int i = 0; i < 6; ++i) {
    EXPECT_NEAR(b.bias[i], truth["bias_6"][static_cast<std::size_t>(i)].get<double>(), 1e-12);
    for (int j = 0; j < 6; ++j) {
      const auto& row = truth["mass_matrix_6x6"][static_cast<std::size_t>(i)];
      EXPECT_NEAR(b.mass(i, j), row[static_cast<std::size_t>(j)].get<double>(), 1e-12);
      EXPECT_EQ(b.mass(i, j), b.mass(j, i));
    }
  }
  EXPECT_EQ(factor_ldlt(b.mass).bad_pivots, 0);
}

}  // namespace
}  // namespace garra::platform
