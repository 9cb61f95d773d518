// Trajectories in six coordinates against the reference (DOP853 at 3e-14, agreed upon by two more integrators), against
// the balance of energy and against motions that are known in closed form.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "answers.hpp"
#include "garra/platform_simulate.hpp"
#include "garra/systems/platform/force_law.hpp"
#include "garra/systems/platform/legs.hpp"
#include "garra/systems/platform/runge_kutta8.hpp"
#include "platform_reference.hpp"
#include "same_bits.hpp"

namespace garra::platform {
namespace {

using test::same_bits;

using test::platform_reference;
using test::reference_platform;
using test::to_vector;

constexpr double kStateTol = 1e-10;  // what the reference's own makers found for RK4 at 1 ms: 2e-12
const Device kScalar{Executor::kScalar, 1, 0};
const Device kLanes{Executor::kLanes, 2, 0};

/// A motion of the reference: "S1", "S2", "S3".
struct ReferenceMotion {
  Platforms platforms;
  Starts starts;
  ForceInput force;
  nlohmann::json states;
};

template <int N>
void append(const Vec<double, N>& from, std::vector<double>& to) {
  to.insert(to.end(), std::begin(from.m), std::end(from.m));
}

ReferenceMotion reference_motion(std::size_t which) {
  const nlohmann::json all = platform_reference("fwddyn");
  auto it = all.begin();
  std::advance(it, static_cast<std::ptrdiff_t>(which));
  const nlohmann::json& from = *it;
  ReferenceMotion m;
  m.platforms = {reference_platform(from.at("params").get<std::string>())};
  m.states = from.at("states");
  const nlohmann::json& first = m.states.at(0);
  append(to_vector<3>(first.at("r")), m.starts.pose.position);
  append(to_vector<4>(first.at("p")), m.starts.pose.quaternion);
  append(to_vector<3>(first.at("v")), m.starts.velocity);
  append(to_vector<3>(first.at("w")), m.starts.velocity);
  append(to_vector<6>(from.at("actuator_forces")), m.force.force);
  return m;
}

SimulateOptions options(Integrator method, double step, std::vector<double> times = {}) {
  SimulateOptions o;
  o.method = method;
  o.step = step;
  o.times = std::move(times);
  return o;
}

double largest_difference(const nlohmann::json& numbers, const double* from) {
  double worst = 0;
  for (std::size_t k = 0; k < numbers.size(); ++k)
    worst = std::max(worst, std::abs(numbers.at(k).get<double>() - from[k]));
  return worst;
}

/// Of an output row from the reference's state: pose, velocity.
double error_of(const nlohmann::json& state, const Trajectories& t, std::size_t row) {
  return std::max({largest_difference(state.at("r"), t.pose.position.data() + 3 * row),
                   largest_difference(state.at("p"), t.pose.quaternion.data() + 4 * row),
                   largest_difference(state.at("v"), t.velocity.data() + 6 * row),
                   largest_difference(state.at("w"), t.velocity.data() + 6 * row + 3)});
}

double error_at_the_end(const ReferenceMotion& m, Integrator method, double step) {
  const Trajectories t = simulate(m.platforms, m.starts, m.force, options(method, step, {0.5}), kLanes);
  return error_of(m.states.back(), t, 0);
}

class PlatformReferenceMotion : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Of, PlatformReferenceMotion, testing::Values(0, 1, 2));

TEST_P(PlatformReferenceMotion, HasTheReferencesStatesAndEnergiesAtEveryOutput) {
  const ReferenceMotion m = reference_motion(GetParam());
  for (const auto& [method, step] : {std::pair{Integrator::kRk4, 1e-3}, std::pair{Integrator::kRk8, 1e-2}}) {
    const Trajectories t =
        simulate(m.platforms, m.starts, m.force, options(method, step, {0, 0.1, 0.2, 0.3, 0.4, 0.5}), kLanes);
    ASSERT_EQ(t.status.at(0), MotionStatus::kCompleted);
    EXPECT_EQ(t.end_time.at(0), 0.5);
    EXPECT_EQ(t.steps.at(0), std::lround(0.5 / step));
    for (std::size_t k = 0; k < m.states.size(); ++k) {
      const nlohmann::json& state = m.states.at(k);
      EXPECT_LT(error_of(state, t, k), kStateTol) << to_string(method) << " at output " << k;
      EXPECT_LT(largest_difference(state.at("lengths"), t.lengths.data() + 6 * k), kStateTol);
      EXPECT_NEAR(state.at("kinetic").get<double>(), t.kinetic.at(k), 1e-9);  // J, of up to 1e3 J/(m/s)
      EXPECT_NEAR(state.at("potential").get<double>(), t.potential.at(k), 1e-7);
    }
    EXPECT_LT(t.worst_balance.at(0), 1e-9);  // J, of some 500 J
    EXPECT_LT(t.worst_drift.at(0), 1e-10);
  }
}

TEST_P(PlatformReferenceMotion, IsApproachedWithOrderFourAndEight) {
  const ReferenceMotion m = reference_motion(GetParam());
  const double four =
      std::log2(error_at_the_end(m, Integrator::kRk4, 0.025) / error_at_the_end(m, Integrator::kRk4, 0.0125));
  const double eight =
      std::log2(error_at_the_end(m, Integrator::kRk8, 0.25) / error_at_the_end(m, Integrator::kRk8, 0.125));
  EXPECT_NEAR(four, 4, 0.2);
  EXPECT_NEAR(eight, 8, 0.6);
}

TEST_P(PlatformReferenceMotion, IsGoodToFiftyNanometersInFiveStepsOfOrderEight) {
  EXPECT_LT(error_at_the_end(reference_motion(GetParam()), Integrator::kRk8, 0.1), 5e-8);
}

// Work and energy.

double dot_with(const double* a, const double* b, int n) { return std::inner_product(a, a + n, b, 0.0); }

TEST(PlatformMotion, TakesTheWorkOfConstantForcesAndOfAConstantPush) {
  ReferenceMotion m = reference_motion(2);
  const double push[6] = {30, -20, 55, 0, 0, 0};
  m.starts.wrench.assign(push, push + 6);
  const Trajectories t = simulate(m.platforms, m.starts, m.force, options(Integrator::kRk8, 0.02, {0, 0.25, 0.5}));
  for (std::size_t k = 0; k < 3; ++k) {
    double work = 0;
    for (std::size_t i = 0; i < 6; ++i) work += m.force.force[i] * (t.lengths[6 * k + i] - t.lengths[i]);
    for (std::size_t i = 0; i < 3; ++i) work += push[i] * (t.pose.position[3 * k + i] - t.pose.position[i]);
    EXPECT_NEAR(t.work[k], work, 1e-9);
    EXPECT_NEAR(t.balance[k], 0, 1e-9);
    EXPECT_NEAR(t.kinetic[k] + t.potential[k] - t.kinetic[0] - t.potential[0], work, 1e-9);
  }
}

TEST(PlatformMotion, LosesEnergyToFrictionAndSettlesIntoTheBalance) {
  ReferenceMotion m = reference_motion(2);
  m.force.viscous = 300;
  m.force.coulomb = 20;
  m.force.coulomb_speed = 0.05;
  std::vector<double> times(26);
  for (std::size_t k = 0; k < times.size(); ++k) times[k] = 0.02 * static_cast<double>(k);
  const Trajectories t = simulate(m.platforms, m.starts, m.force, options(Integrator::kRk8, 0.005, times));
  double before = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < times.size(); ++k) {
    const double free = t.kinetic[k] + t.potential[k] - dot_with(m.force.force.data(), t.lengths.data() + 6 * k, 6);
    EXPECT_LT(free, before);
    before = free;
  }
  EXPECT_LT(t.worst_balance[0], 1e-9);
  // The balance has the method's order.
  const auto error = [&](double step) {
    return simulate(m.platforms, m.starts, m.force, options(Integrator::kRk4, step, {})).worst_balance[0];
  };
  EXPECT_NEAR(std::log2(error(0.01) / error(0.005)), 4, 0.7);
}

// Closed forms.

/// The platform alone: legs without mass.
Platform free_body(const Vec3<double>& inertia) {
  Platform p = reference_platform("trepa_like");
  for (Leg& leg : p.leg) leg.lower = leg.upper = {};
  p.inertia = Mat3<double>::zero();
  for (int k = 0; k < 3; ++k) p.inertia(k, k) = inertia[k];
  return p;
}

Starts at_home(const Platform& p, const Vec<double, 6>& velocity) {
  Starts s;
  append(p.home, s.pose.position);
  append(p.home_turn, s.pose.quaternion);
  append(velocity, s.velocity);
  return s;
}

const ForceInput kNoForce{.force = std::vector<double>(6, 0.0)};

TEST(PlatformMotion, OfMasslessLegsWithoutForcesIsAFreeFall) {
  Platform p = free_body({{1, 2, 2.5}});
  p.gravity = {{1, -2, -9}};
  const Trajectories t =
      simulate({p}, at_home(p, {{0.3, 0.1, 2, 0, 0, 0}}), kNoForce, options(Integrator::kRk8, 0.05, {0.2, 0.5}));
  const Vec3<double> v{{0.3, 0.1, 2}};
  for (std::size_t k = 0; k < 2; ++k) {
    const double s = t.times[k];
    for (std::size_t j = 0; j < 3; ++j) {
      const int i = static_cast<int>(j);
      EXPECT_NEAR(t.pose.position[3 * k + j], p.home[i] + s * v[i] + 0.5 * s * s * p.gravity[i], 1e-13);
      EXPECT_NEAR(t.velocity[6 * k + j], v[i] + s * p.gravity[i], 1e-13);
    }
  }
}

/// exp of a rotation vector.
Quaternion<double> turn_by(const Vec3<double>& a) {
  const double angle = std::sqrt(dot(a, a)), k = angle > 0 ? std::sin(0.5 * angle) / angle : 0.5;
  return {{std::cos(0.5 * angle), k * a[0], k * a[1], k * a[2]}};
}

TEST(PlatformMotion, OfMasslessLegsIsTheRegularPrecessionOfASymmetricTop) {
  // About the angular momentum H, which is constant, at H/A, and about the own axis at (1 - C/A) w3.
  const double A = 1.5, C = 2.4, seconds = 0.5;
  Platform p = free_body({{A, A, C}});
  p.gravity = Vec3<double>::zero();
  const Vec3<double> w{{0.9, -0.6, 0.8}}, H{{A * w[0], A * w[1], C * w[2]}};
  SimulateOptions o = options(Integrator::kRk8, 0.01, {});
  o.duration = seconds;
  const Trajectories t = simulate({p}, at_home(p, {{0, 0, 0, w[0], w[1], w[2]}}), kNoForce, o);
  ASSERT_EQ(t.status[0], MotionStatus::kCompleted);
  const Quaternion<double> end = product(turn_by((seconds / A) * H), turn_by({{0, 0, seconds * (1 - C / A) * w[2]}}));
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(t.end_pose.quaternion[k], end[static_cast<int>(k)], 1e-12);
  const Mat3<double> turned = rotation_matrix(end);
  const Vec3<double> axis{{turned(0, 2), turned(1, 2), turned(2, 2)}};
  const Vec3<double> w_end = (1 / A) * H + ((1 - C / A) * w[2]) * axis;
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(t.end_velocity[3 + k], w_end[static_cast<int>(k)], 1e-12);
  EXPECT_NEAR(t.end_balance[0], 0, 1e-12);
}

TEST(PlatformMotion, StaysAtRestUnderTheForcesOfStatics) {
  for (const char* name : {"trepa_like", "irregular"}) {
    const Platform p = reference_platform(name);
    const Starts s = at_home(p, Vec<double, 6>::zero());
    const InverseDynamics hold =
        inverse_dynamics({p}, s.pose, {std::vector<double>(6, 0.0), std::vector<double>(6, 0.0)}, {});
    const Trajectories t = simulate({p}, s, {.force = hold.force}, options(Integrator::kRk8, 0.05));
    for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(t.end_velocity[k], 0, 1e-12);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(t.end_pose.position[k], p.home[static_cast<int>(k)], 1e-12);
  }
}

// Forces over time.

/// Forces of the reference plus a ramp, as `samples` samples over `duration` seconds.
ForceInput ramp(const ReferenceMotion& m, std::int64_t samples, double duration) {
  ForceInput f = m.force;
  f.force.clear();
  f.samples = samples;
  f.interval = duration / static_cast<double>(samples - 1);
  for (std::int64_t k = 0; k < samples; ++k)
    for (std::size_t i = 0; i < 6; ++i)
      f.force.push_back(m.force.force[i] + 40.0 * static_cast<double>(k) / static_cast<double>(samples - 1) *
                                               (static_cast<double>(i) - 2));
  return f;
}

TEST(PlatformForces, OverTimeAreTheLimitOfPiecewiseConstantOnes) {
  const ReferenceMotion m = reference_motion(1);
  const Trajectories smooth = simulate(m.platforms, m.starts, ramp(m, 2, 0.5), options(Integrator::kRk8, 0.025));
  const auto error_of_stairs = [&](int stairs) {
    Starts at = m.starts;
    SimulateOptions o = options(Integrator::kRk8, 0.025);
    o.duration = 0.5 / stairs;
    const ForceInput fine = ramp(m, 2 * stairs + 1, 0.5);
    for (int k = 0; k < stairs; ++k) {
      const auto middle = fine.force.begin() + 6 * (2 * k + 1);
      const Trajectories t = simulate(m.platforms, at, {.force = {middle, middle + 6}}, o);
      at.pose = t.end_pose;
      at.velocity = t.end_velocity;
    }
    double worst = 0;
    for (std::size_t k = 0; k < 3; ++k)
      worst = std::max(worst, std::abs(at.pose.position[k] - smooth.end_pose.position[k]));
    return worst;
  };
  const double coarse = error_of_stairs(8), fine = error_of_stairs(16);
  EXPECT_LT(fine, 1e-3);
  EXPECT_NEAR(std::log2(coarse / fine), 2, 0.1);  // the middle of a stair is right to second order
}

TEST(PlatformForces, AreMetByStepsAndHeldAfterTheLastSample) {
  const ReferenceMotion m = reference_motion(1);
  const Trajectories two = simulate(m.platforms, m.starts, ramp(m, 2, 0.3), options(Integrator::kRk8, 0.02, {0.3}));
  const Trajectories seven = simulate(m.platforms, m.starts, ramp(m, 7, 0.3), options(Integrator::kRk8, 0.02, {0.3}));
  EXPECT_EQ(two.steps[0], 25);    // 15 and 10
  EXPECT_EQ(seven.steps[0], 28);  // 3 in each of six spans, and 10
  for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(two.end_velocity[k], seven.end_velocity[k], 1e-11);
  ForceInput held = ramp(m, 2, 0.3);
  held.force.erase(held.force.begin(), held.force.begin() + 6);
  held.interval = 0;
  Starts at{{two.pose.position, two.pose.quaternion}, two.velocity, {}};
  SimulateOptions o = options(Integrator::kRk8, 0.02);
  o.duration = 0.2;
  const Trajectories rest = simulate(m.platforms, at, held, o);
  for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(rest.end_velocity[k], two.end_velocity[k], 1e-12);
}

// Ends of motions.

/// The first output at which `beyond` holds, without anything watched; and where the motion ends that watches.
template <class Beyond>
void expect_end(const Platform& p, const Starts& s, MotionStatus status, const Beyond& beyond) {
  const ForceInput force{.force = std::vector<double>(6, 30.0)};
  std::vector<double> times(101);
  for (std::size_t k = 0; k < times.size(); ++k) times[k] = 0.005 * static_cast<double>(k);
  SimulateOptions o = options(Integrator::kRk8, 0.005, times);
  o.near_singular = 0;
  const Trajectories all = simulate({p}, s, force, o);
  o.watch_limits = true;
  const Trajectories t = simulate({p}, s, force, o);
  std::size_t first = 0;
  while (first < times.size() && !beyond(all, first)) ++first;
  ASSERT_GT(first, 0u);
  ASSERT_LT(first, times.size());
  EXPECT_EQ(t.status[0], status);
  EXPECT_EQ(t.end_time[0], times[first]);
  for (std::size_t k = 0; k < times.size(); ++k) EXPECT_EQ(std::isnan(t.kinetic[k]), k > first);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(t.end_pose.position[k], all.pose.position[3 * first + k]);
}

TEST(PlatformMotion, EndsAtTheFirstStepEndBeyondTheStroke) {
  const Platform p = reference_platform("trepa_like");
  expect_end(p, at_home(p, Vec<double, 6>::zero()), MotionStatus::kStrokeLimit,
             [&](const Trajectories& t, std::size_t k) {
               bool out = false;
               for (std::size_t i = 0; i < 6; ++i) {
                 const double length = t.lengths[6 * k + i];
                 out = out || length < p.leg[i].length_min || length > p.leg[i].length_max;
               }
               return out;
             });
}

TEST(PlatformMotion, EndsAtTheConeOfAJoint) {
  constexpr double kCone = 0.1;
  for (const bool at_platform : {false, true}) {
    Platform p = reference_platform("trepa_like");
    for (Leg& leg : p.leg) {
      (at_platform ? leg.spherical_cone : leg.universal_cone) = kCone;
      (at_platform ? leg.universal_cone : leg.spherical_cone) = 3.2;
      leg.length_min = 0.01, leg.length_max = 5;
    }
    const Model<double> m = make_model(p);
    /// Leg i's direction, seen from the base or the platform.
    const auto direction = [&](const Place<double>& at, std::size_t i) {
      const Mat3<double> A = rotation_matrix(at.p);
      const Vec3<double> z = leg_vector<double>(m.leg[i], at.r, A).z;
      return at_platform ? transpose_times(A, z) : z;
    };
    expect_end(p, at_home(p, {{0.2, 0, 0, 0.8, 0, 0.3}}), MotionStatus::kConeLimit,
               [&](const Trajectories& t, std::size_t k) {
                 Place<double> at;
                 for (std::size_t j = 0; j < 3; ++j) at.r[static_cast<int>(j)] = t.pose.position[3 * k + j];
                 for (std::size_t j = 0; j < 4; ++j) at.p[static_cast<int>(j)] = t.pose.quaternion[4 * k + j];
                 bool out = false;
                 for (std::size_t i = 0; i < 6; ++i)
                   out = out || std::acos(dot(direction(home_place(p), i), direction(at, i))) > kCone;
                 return out;
               });
  }
}

TEST(PlatformMotion, EndsWhereTwoLegsTouch) {
  Platform p = free_body({{1, 1, 2}});
  for (Leg& leg : p.leg) leg.universal_cone = leg.spherical_cone = 3.2, leg.length_min = 0.01, leg.length_max = 5;
  p.leg_radius = 0.02;
  SimulateOptions o = options(Integrator::kRk8, 0.002);
  o.watch_limits = true;
  o.near_singular = 0;
  const Trajectories t = simulate({p}, at_home(p, {{0, 0, 3, 0, 0, 5}}), kNoForce, o);
  EXPECT_EQ(t.status[0], MotionStatus::kCollision);
  EXPECT_GT(t.end_time[0], 0);
  EXPECT_LT(t.end_time[0], 0.5);
}

TEST(PlatformMotion, EndsWhereTheLegsNoLongerHoldThePlatform) {
  // Turned by a quarter about the vertical, the symmetric platform is singular: at 4 rad/s after 0.39 s.
  Platform p = free_body({{1, 1, 2}});
  p.gravity = Vec3<double>::zero();
  const double quarter = 0.5 * std::numbers::pi / 4;
  SimulateOptions o = options(Integrator::kRk8, 0.01);
  for (const double limit : {1e-9, 0.05}) {  // found by the sign of the determinant; by the singular value
    o.near_singular = limit;
    const Trajectories t = simulate({p}, at_home(p, {{0, 0, 0, 0, 0, 4}}), kNoForce, o);
    EXPECT_EQ(t.status[0], MotionStatus::kSingular);
    if (limit < 1e-3)
      EXPECT_NEAR(t.end_time[0], quarter + 0.5 * o.step, 0.5 * o.step);
    else
      EXPECT_LT(t.end_time[0], quarter);
  }
  o.near_singular = 0;
  EXPECT_EQ(simulate({p}, at_home(p, {{0, 0, 0, 0, 0, 4}}), kNoForce, o).status[0], MotionStatus::kCompleted);
}

// Batches.

/// n different motions of one platform.
Starts many_starts(const Platform& p, std::int64_t n) {
  Starts s;
  for (std::int64_t i = 0; i < n; ++i) {
    const double x = 0.01 * static_cast<double>(i % 17);
    append(p.home + Vec3<double>{{x, -0.5 * x, 0.3 * x}}, s.pose.position);
    append(Quaternion<double>{{1, 0.3 * x, -x, 0.2 * x}}, s.pose.quaternion);
    append(Vec<double, 6>{{x, 2 * x, -x, 3 * x, x, -x}}, s.velocity);
    append(Vec<double, 6>{{10 * x, 0, 5 * x, x, -x, 0}}, s.wrench);
  }
  return s;
}

/// A batch with everything switched on.
SimulateOptions busy_options() {
  SimulateOptions o = options(Integrator::kRk8, 0.1, {0, 0.17, 0.5});
  o.watch_limits = true;
  return o;
}
ForceInput busy_force() {
  return {.force = {90, 95, 80, 90, 85, 90}, .viscous = 20, .coulomb = 5, .coulomb_speed = 0.05};
}

TEST(PlatformMotion, HasTheSameBitsOnEveryExecutorAndForEverySize) {
  Platform p = reference_platform("irregular");
  p.leg_radius = 0.02;
  for (const std::int64_t n : {0, 1, 7, 8, 9, 33, 70, 300}) {
    const Starts s = many_starts(p, n);
    SCOPED_TRACE(n);
    EXPECT_EQ(simulate({p}, s, busy_force(), busy_options(), kScalar).count, n);
    const Platforms own(static_cast<std::size_t>(n), p);
    test::expect_same_on_every_executor([&](const Device& device) {
      const test::Answer shared = test::make_answer(simulate({p}, s, busy_force(), busy_options(), device));
      if (n < 2) return shared;
      const test::Answer each = test::make_answer(simulate(own, s, busy_force(), busy_options(), device));
      EXPECT_EQ(shared.difference(each, device.executor == Executor::kCuda), "") << "of a platform for each sample";
      return shared;
    });
  }
}

/// Row i of an array of rows.
std::vector<double> row(const std::vector<double>& from, std::size_t i, std::size_t width) {
  if (from.empty()) return {};
  const auto first = from.begin() + static_cast<std::ptrdiff_t>(i * width);
  return {first, first + static_cast<std::ptrdiff_t>(width)};
}
Starts make_start(const Starts& s, std::size_t i) {
  return {{row(s.pose.position, i, 3), row(s.pose.quaternion, i, 4)}, row(s.velocity, i, 6), row(s.wrench, i, 6)};
}

TEST(PlatformMotion, OfOwnPlatformsAndOwnForcesIsThatOfEachAlone) {
  constexpr std::size_t n = 11;
  Platforms platforms;
  for (std::size_t i = 0; i < n; ++i) {
    platforms.push_back(reference_platform(i % 2 == 0 ? "trepa_like" : "irregular"));
    platforms.back().mass += static_cast<double>(i);
  }
  const Starts s = many_starts(platforms[0], n);
  ForceInput f;
  f.interval = 0.2;
  f.samples = 3;
  for (std::size_t k = 0; k < n * 18; ++k) f.force.push_back(80 + static_cast<double>(k % 23));
  const SimulateOptions o = options(Integrator::kRk8, 0.1, {0.25, 0.5});
  const Trajectories all = simulate(platforms, s, f, o, kLanes);
  for (std::size_t i = 0; i < n; ++i) {
    ForceInput own = f;
    own.force = row(f.force, i, 18);
    const Trajectories alone = simulate({platforms[i]}, make_start(s, i), own, o, kScalar);
    EXPECT_TRUE(same_bits(row(all.end_velocity, i, 6), alone.end_velocity)) << i;
    EXPECT_TRUE(same_bits(row(all.lengths, i, 12), alone.lengths)) << i;
  }
}

TEST(PlatformMotion, OfAPoisonedSampleIsInvalidAndLeavesItsNeighborsAlone) {
  const Platform p = reference_platform("trepa_like");
  const Starts clean = many_starts(p, 9);
  Starts s = clean;
  s.velocity[6 * 3 + 1] = std::numeric_limits<double>::quiet_NaN();
  s.pose.quaternion[4 * 5] = s.pose.quaternion[4 * 5 + 1] = s.pose.quaternion[4 * 5 + 2] =
      s.pose.quaternion[4 * 5 + 3] = 0;
  s.wrench[6 * 7] = 1e300;  // overflows on the way
  const Trajectories t = simulate({p}, s, busy_force(), busy_options(), kLanes);
  EXPECT_EQ(t.status[3], MotionStatus::kInvalidInput);
  EXPECT_EQ(t.status[5], MotionStatus::kInvalidInput);
  EXPECT_EQ(t.status[7], MotionStatus::kNonFinite);
  EXPECT_TRUE(std::isnan(t.kinetic[3 * 3])) << "even at the start";
  EXPECT_TRUE(std::isnan(t.end_pose.position[3 * 3]));
  EXPECT_TRUE(std::isfinite(t.end_pose.position[3 * 7]));
  const Trajectories without = simulate({p}, clean, busy_force(), busy_options(), kLanes);
  for (const std::size_t i : {0, 1, 2, 4, 6, 8}) {
    EXPECT_TRUE(same_bits(row(t.end_velocity, i, 6), row(without.end_velocity, i, 6))) << i;
    EXPECT_TRUE(same_bits(row(t.balance, i, 3), row(without.balance, i, 3))) << i;
  }
}

TEST(PlatformMotion, RefusesWhatItCannotRun) {
  const Platform p = reference_platform("trepa_like");
  const Starts s = many_starts(p, 2);
  const ForceInput f = busy_force();
  const auto refused = [&](const ForceInput& force, const SimulateOptions& o) {
    EXPECT_THROW((void)simulate({p}, s, force, o), Error);
  };
  refused({.force = {1, 2, 3}}, {});
  refused({.force = f.force, .interval = 0.1}, {});
  refused({.force = f.force, .viscous = -1}, {});
  refused({.force = {1, 2, 3, 4, 5, std::numeric_limits<double>::infinity()}}, {});
  refused(f, options(Integrator::kRk8, 0));
  refused(f, options(Integrator::kRk8, 1e-12));
  refused(f, options(Integrator::kRk8, 0.1, {0.2, 0.1}));
  refused(f, options(Integrator::kRk8, 0.1, {0.6}));
  EXPECT_THROW((void)simulate({p, p, p}, s, f), Error);
}

TEST(PlatformMotion, NamesItsMethodsAndItsEnds) {
  for (const Integrator m : {Integrator::kRk4, Integrator::kRk8, Integrator::kHybrid})
    EXPECT_EQ(parse_platform_integrator(to_string(m)), m);
  EXPECT_THROW((void)parse_platform_integrator("euler"), Error);
  EXPECT_STREQ(to_string(MotionStatus::kLostConstraints), "lost_constraints");
  EXPECT_STREQ(to_string(MotionStatus::kInvalidInput), "invalid_input");
}

// Friction.

TEST(ActuatorFriction, IsViscousPlusASmoothSignOfTheRate) {
  for (const double rate : {-3.0, -0.02, -1e-9, 0.0, 1e-12, 0.004, 1.0, 800.0})
    EXPECT_NEAR(actuator_friction(rate, 7.0, 3.0, 0.01), 7 * rate + 3 * std::tanh(rate / 0.01), 1e-12);
  EXPECT_EQ(actuator_friction(-0.3, 7.0, 3.0, 0.01), -actuator_friction(0.3, 7.0, 3.0, 0.01));
  EXPECT_TRUE(std::isnan(actuator_friction(std::nan(""), 7.0, 3.0, 0.01)));
}

// Tables.

TEST(RungeKuttaTables, AreConsistentAndIntegratePowersOfTheirOrder) {
  for (const auto& [method, order] : {std::pair{runge_kutta4(), 4}, std::pair{runge_kutta8(), 8}}) {
    for (int s = 0; s < method.count; ++s)
      EXPECT_NEAR(std::accumulate(method.a[s], method.a[s] + s, 0.0), method.c[s], 2e-14) << "stage " << s;  // |a| < 34
    for (int power = 0; power < order; ++power) {
      double sum = 0;
      for (int s = 0; s < method.count; ++s) sum += method.b[s] * std::pow(method.c[s], power);
      EXPECT_NEAR(sum, 1.0 / (power + 1), 1e-14) << "power " << power;
    }
  }
}

}  // namespace
}  // namespace garra::platform
