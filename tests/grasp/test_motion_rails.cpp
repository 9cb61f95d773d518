// Trajectories of a body that fingers hold which are point masses on rails, against closed forms: free flight, spin,
// friction, impacts, springs, limits.
#include <gtest/gtest.h>

#include <cmath>

#include "motion_cases.hpp"
#include "rails.hpp"

namespace garra::grasp {
namespace {

using test::body_held_by;
using test::kFar;
using test::make_load;
using test::row;
using test::set_friction;
using test::Touching;

constexpr double kRounding = 1e-12;  // of sums over a few hundred steps of numbers of order 1
constexpr double kSolver = 1e-8;     // forces of order 10 N, found to a residual of 1e-9 at least

/// Force from the start on.
TimeLoad push(const Vec3<double>& force) { return make_load(TimeLoad::Kind::kRamp, 0, 0, force); }
/// Impulse that the first step feels.
TimeLoad kick(const Vec3<double>& impulse) { return make_load(TimeLoad::Kind::kImpulse, 0, 0, impulse); }

constexpr double kRadius = 0.1;
const Touching kBeside{{{kRadius, 0, 0}}, {{-1, 0, 0}}, 1 / kRadius, 2};

TEST(GraspMotion, FallsFreelyWhenNoContactHolds) {
  Scenario s = body_held_by({kBeside}, 0.7);
  set_friction(s, 0);
  s.gravity = {{0, 0, -9.81}};
  s.velocity = {{0.3, -0.2, 1}};
  s.time->duration = 0.4;
  const MotionSeries m = Motion(s).series(0, 41);
  ASSERT_EQ(m.time.size(), 40u + 1);
  for (std::size_t k = 0; k < m.time.size(); ++k) {
    const double t = m.time[k];
    EXPECT_LE(norm(row(m.position, k) - (t * s.velocity + (0.5 * t * t) * s.gravity)), kRounding);
    EXPECT_LE(norm(row(m.velocity, k) - (s.velocity + t * s.gravity)), kRounding);
    // The gap is that of the step's configuration: half a step back, and half a step on with the velocity of its start.
    EXPECT_NEAR(m.gap[k], std::hypot(kRadius, 0.5 * 9.81 * t * (t - s.time->step)) - kRadius, kRounding);
  }
  EXPECT_LE(m.trajectory.momentum_balance, kRounding);
}

struct Spin {
  double momentum, energy;  ///< relative change to the end
  MotionSeries series;
};
Spin spun(const Vec3<double>& gyration2, double step) {
  Scenario s = body_held_by({kBeside}, 2);
  set_friction(s, 0);
  s.object.gyration2 = gyration2;
  s.angular_velocity = {{2, 5, 3}};
  s.time->duration = 0.5;
  s.time->step = step;
  Spin out;
  out.series = Motion(s).series(0, 11);
  const std::size_t last = out.series.time.size() - 1;
  const Vec3<double> spin = row(out.series.spin, last);
  const Mat3<double> R = test::rotation_at(out.series.quaternion, last);
  Vec3<double> body = transpose_times(R, spin);
  for (int i = 0; i < 3; ++i) body[i] *= gyration2[i];
  const Vec3<double> L1 = R * body, L0{{gyration2[0] * 2, gyration2[1] * 5, gyration2[2] * 3}};
  const double e1 = dot(spin, L1), e0 = dot(L0, s.angular_velocity);
  out.momentum = norm(L1 - L0) / norm(L0);
  out.energy = std::abs(e1 - e0) / e0;
  return out;
}

TEST(GraspMotion, SpinOfAFreeBoxKeepsAngularMomentumAndEnergyToFirstOrder) {
  const Vec3<double> box{{0.01, 0.03, 0.035}};
  const Spin coarse = spun(box, 2e-3), fine = spun(box, 1e-3);
  EXPECT_LT(fine.momentum, 5e-3);
  EXPECT_LT(fine.energy, 5e-3);
  EXPECT_GT(coarse.momentum / fine.momentum, 1.8);
  EXPECT_GT(coarse.energy / fine.energy, 1.8);
}

TEST(GraspMotion, SpinOfAFreeSphereIsExact) {
  const Spin s = spun({{0.01, 0.01, 0.01}}, 1e-3);
  EXPECT_LE(s.momentum, 1e-9);
  EXPECT_LE(s.energy, 1e-9);
  const double speed = std::sqrt(4.0 + 25 + 9);
  const std::size_t last = s.series.time.size() - 1;
  const double half = 0.5 * speed * s.series.time[last];
  const double want[4] = {std::cos(half), 2 * std::sin(half) / speed, 5 * std::sin(half) / speed,
                          3 * std::sin(half) / speed};
  const double sign = s.series.quaternion[4 * last] * want[0] < 0 ? -1 : 1;
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(s.series.quaternion[4 * last + k], sign * want[k], 1e-9);
}

// A force F presses a body of mass m on a finger of mass M: both accelerate by F / (m + M), and M F / (m + M) acts
// between.
TEST(GraspMotion, BodyPressedOnAFingerSharesTheForceByTheMasses) {
  for (const double curvature : {0.0, 1 / kRadius}) {
    Touching below = kBeside;
    below.curvature = curvature;
    Scenario s = body_held_by({below}, 0.5);
    s.time->duration = 0.2;
    s.time->loads = {push({{10, 0, 0}})};
    const MotionSeries m = Motion(s).series(0, 11);
    for (std::size_t k = 0; k < m.time.size(); ++k) {
      const double t = m.time[k], a = 10 / 2.5;
      EXPECT_NEAR(row(m.velocity, k)[0], a * t, kSolver);
      EXPECT_NEAR(row(m.position, k)[0], 0.5 * a * t * t, kSolver);
      if (k > 0) {
        EXPECT_NEAR(m.force[3 * k], 2 * a, 1e-6);
      }
      EXPECT_LE(std::abs(m.gap[k]), kSolver);
    }
    EXPECT_EQ(m.trajectory.end, MotionEnd::kHeld);
  }
}

// Two fingers of mass M press with f on a block of mass m that is kicked along its faces. Friction mu f at each brakes
// the block by 2 mu f / m and takes the fingers along by mu f / M, until all move at m v0 / (m + 2 M).
TEST(GraspMotion, BlockSlidesBetweenFingersUntilFrictionHasTakenThemAlong) {
  constexpr double m = 0.8, M = 3, mu = 0.25, f = 12, v0 = 1.5;
  const Touching left{{{-0.05, 0, 0}}, {{1, 0, 0}}, 0, M}, right{{{0.05, 0, 0}}, {{-1, 0, 0}}, 0, M};
  Scenario s = body_held_by({left, right}, m);
  set_friction(s, mu);
  s.grip_force = study::Distribution::constant(f);
  s.time->duration = 0.5;
  s.time->loads = {kick({{0, 0, m * v0}})};
  const MotionSeries series = Motion(s).series(0, 51);
  const double brake = 2 * mu * f / m, along = mu * f / M, stop = v0 / (brake + along), common = m * v0 / (m + 2 * M);
  EXPECT_LT(stop, 0.4);
  for (std::size_t k = 1; k < series.time.size(); ++k) {
    const double t = series.time[k];
    EXPECT_NEAR(row(series.velocity, k)[2], t < stop ? v0 - brake * t : common, t < stop ? kSolver : 10 * kSolver);
    for (std::size_t j = 0; j < 2; ++j) {
      EXPECT_NEAR(series.slip_speed[2 * k + j], std::max(v0 - (brake + along) * t, 0.0), 100 * kSolver);
      EXPECT_NEAR(series.force[6 * k + 3 * j], f, 1e-5);
      EXPECT_LE(std::abs(series.gap[2 * k + j]), 1e-9);
      EXPECT_EQ(series.state[2 * k + j], t < stop - 1e-3 ? 1 : t > stop + 1e-3 ? 0 : series.state[2 * k + j]);
    }
  }
  EXPECT_EQ(series.trajectory.end, MotionEnd::kSlipped);
  for (const std::size_t j : {0u, 1u})
    EXPECT_NEAR(series.trajectory.slip[j], 0.5 * v0 * (stop - s.time->step), 2e-6);  // the kick takes the first step
  EXPECT_LE(series.trajectory.momentum_balance, kRounding);
}

// A ball thrown up from a finger that is as good as fixed comes back with e times the speed: heights fall by e^2.
TEST(GraspMotion, BallBouncesToTheSquareOfTheRestitution) {
  const Touching below{{{0, 0, -kRadius}}, {{0, 0, 1}}, 1 / kRadius, 1e6};
  for (const double e : {0.5, 0.8}) {
    Scenario s = body_held_by({below}, 0.3);
    s.gravity = {{0, 0, -9.81}};
    s.time->restitution = e;
    s.time->duration = 1;
    s.time->step = 1e-4;
    s.time->loads = {kick({{0, 0, 0.3 * 2}})};
    const MotionSeries m = Motion(s).series(0, 2001);
    std::vector<double> peaks;
    for (std::size_t k = 1; k + 1 < m.time.size(); ++k) {
      const double z = row(m.position, k)[2];
      if (z > row(m.position, k - 1)[2] && z >= row(m.position, k + 1)[2] && z > 0.01) peaks.push_back(z);
    }
    ASSERT_GE(peaks.size(), 3u) << e;
    EXPECT_NEAR(peaks[0], 4 / (2 * 9.81), 1e-3);
    for (std::size_t n = 1; n < peaks.size(); ++n)
      EXPECT_NEAR(peaks[n] / peaks[n - 1], e * e, 0.02) << e << " bounce " << n;
  }
}

TEST(GraspMotion, BallWithoutRestitutionStaysWhereItLands) {
  const Touching below{{{0, 0, -kRadius}}, {{0, 0, 1}}, 1 / kRadius, 1e6};
  Scenario s = body_held_by({below}, 0.3);
  s.gravity = {{0, 0, -9.81}};
  s.time->duration = 0.5;
  s.time->loads = {kick({{0, 0, 0.3}})};
  const MotionSeries m = Motion(s).series(0, 11);
  const std::size_t last = m.time.size() - 1;
  EXPECT_NEAR(row(m.position, last)[2], 0, 1e-5);  // the finger itself gives way a little
  EXPECT_NEAR(m.force[3 * last], 0.3 * 9.81, 1e-5);
  EXPECT_GT(m.trajectory.peak_force[0], 100);  // the impact: 0.3 N s within a step of 1 ms
}

/// A block between two fingers that push with 12 N; they hold it by friction.
Scenario pinched() {
  const Touching left{{{-0.05, 0, 0}}, {{1, 0, 0}}, 0, 1}, right{{{0.05, 0, 0}}, {{-1, 0, 0}}, 0, 1};
  Scenario s = body_held_by({left, right}, 0.5);
  s.grip_force = study::Distribution::constant(12);
  s.time->duration = 2;
  return s;
}
double rest_of(const Scenario& s, std::size_t axis) {
  const MotionSeries m = Motion(s).series(0, 2);
  EXPECT_LE(norm(row(m.velocity, 1)), 1e-5);
  return row(m.position, 1)[static_cast<int>(axis)];
}

TEST(GraspMotion, ControllerYieldsToALoadLikeASpring) {
  Scenario s = pinched();
  s.time->controller.stiffness = 200;
  s.time->controller.damping = 50;  // about critical for 2.5 kg
  for (const int axis : {0, 2}) {
    Vec3<double> force = Vec3<double>::zero();
    force[axis] = 3;
    s.time->loads = {push(force)};
    EXPECT_NEAR(rest_of(s, static_cast<std::size_t>(axis)), 3.0 / 200, 1e-6);
  }
}

TEST(GraspMotion, JointSpringsOfAnyStiffnessHoldTheirFirstPosition) {
  for (const double stiffness : {300.0, 1e7}) {  // the second one would need steps below 0.5 ms if it were explicit
    Scenario s = pinched();
    s.time->controller.joint_stiffness = stiffness;
    s.time->controller.joint_damping = 0.1 * stiffness;
    s.time->loads = {push({{0, 0, 3}})};
    EXPECT_NEAR(rest_of(s, 2), 3.0 / (2 * stiffness), 1e-6);
  }
}

TEST(GraspMotion, FingersPressNoHarderThanTheirTorqueLimit) {
  Scenario s = pinched();
  s.time->duration = 0.02;
  s.time->instants = 2;
  s.time->torque_limit.assign(2, std::vector<double>(3, 5.0));
  const MotionSeries m = Motion(s).series(0, 3);
  for (const std::size_t j : {0u, 1u}) {
    EXPECT_NEAR(m.force[6 + 3 * j], 5, 1e-5);
    EXPECT_NEAR(m.trajectory.peak_torque[j], 12.0 / 5, 1e-9);
  }
}

TEST(GraspMotion, SampledTorquesPushAlongTheirPolygon) {
  Scenario s = body_held_by({kBeside}, 0.5);  // mass 2: both accelerate by tau / 2.5
  s.time->duration = 0.2;
  s.time->instants = 2;
  s.time->drive = Drive::kSampled;
  s.time->sample_times = {0, 0.1};
  s.time->sample_torques = {{0, 0, 0, 0, 0, -10}};  // rail 3 is x
  const MotionSeries m = Motion(s).series(0, 3);
  EXPECT_NEAR(row(m.velocity, 1)[0], -0.5 * 10 * 0.1 / 2.5, kSolver);               // growing until 0.1 s
  EXPECT_NEAR(row(m.velocity, 2)[0], -(0.5 * 10 * 0.1 + 10 * 0.1) / 2.5, kSolver);  // then kept
}

TEST(GraspMotion, GraspWithRestitutionIsHeldAllTheSame) {
  Scenario s = pinched();
  s.time->duration = 0.1;
  s.time->restitution = 0.5;
  s.time->loads = {push({{0.5, 0, 1}})};
  const MotionSeries m = Motion(s).series(0, 101);
  // The push moves 0.5 kg and both fingers of 1 kg: one presses less by its share of the force, the other more.
  const double x = 0.5 / 2.5, z = 1 / 2.5;
  for (std::size_t k = 1; k < m.time.size(); ++k) {
    EXPECT_NEAR(m.force[6 * k], 12 - x, 1e-6) << k;
    EXPECT_NEAR(m.force[6 * k + 3], 12 + x, 1e-6) << k;
    EXPECT_NEAR(row(m.velocity, k)[0], x * m.time[k], kSolver) << k;
    EXPECT_NEAR(row(m.velocity, k)[2], z * m.time[k], kSolver) << k;
  }
  EXPECT_TRUE(std::isinf(m.trajectory.open_time));
}

}  // namespace
}  // namespace garra::grasp
