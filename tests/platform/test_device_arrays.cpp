// Poses of a platform that stay on the GPU: the bits of the scalar executor on arrays of the host, in any strides.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "answers.hpp"
#include "garra/core/error.hpp"
#include "garra/platform_simulate.hpp"
#include "on_every_executor.hpp"
#include "platform_reference.hpp"
#include "same_bits.hpp"

#ifdef GARRA_TESTS_CALL_CUDA
#include "device_array.hpp"

namespace garra::platform {
namespace {

using test::Layout;
using test::OnGpu;
using test::same_bits;

constexpr std::int64_t kCount = 69;  // two tiles and a part of one
constexpr Layout kLayouts[] = {Layout::kRows, Layout::kFields, Layout::kWithGaps};

/// Poses near home, and what acts there. One has a number that is not finite, one a quaternion that is none, one a
/// velocity that is not finite; a length is negative, and one is out of reach.
struct Rows {
  Platform platform = test::reference_platform("trepa_like");
  Poses poses, guess;
  Motion motion;
  std::vector<double> wrench, force, lengths;

  Rows() {
    const Place<double> home = home_place(platform);
    for (int i = 0; i < kCount; ++i) {
      const auto off = [&](double scale, int k) { return scale * std::sin(std::sin(1.7 * i + 1) + 2.3 * k); };
      for (int k = 0; k < 3; ++k) poses.position.push_back(home.r[k] + off(0.05, k));
      for (int k = 0; k < 4; ++k) poses.quaternion.push_back(home.p[k] + off(0.05, k));
      for (int k = 0; k < 6; ++k) {
        motion.velocity.push_back(off(0.3, k));
        motion.acceleration.push_back(off(0.5, k + 1));
        wrench.push_back(off(20, k));
        force.push_back(90 + off(10, k));
      }
    }
    lengths = inverse_kinematics({platform}, poses, {}, {}, test::kReference).lengths;
    guess = {{home.r[0], home.r[1], home.r[2]}, {home.p[0], home.p[1], home.p[2], home.p[3]}};
    poses.position[3 * 7] = std::nan("");
    for (std::size_t k = 0; k < 4; ++k) poses.quaternion[4 * 40 + k] = 0;
    motion.velocity[6 * 33 + 2] = HUGE_VAL;
    lengths[6 * 12] = -lengths[6 * 12];
    for (std::size_t k = 0; k < 6; k += 2) lengths[6 * 50 + k] *= 3;
  }
};

struct OnDevice {
  OnGpu<double> position, quaternion, velocity, acceleration, wrench, force, lengths;
  OnDevice(const Rows& r, Layout layout)
      : position(r.poses.position, kCount, 3, layout),
        quaternion(r.poses.quaternion, kCount, 4, layout),
        velocity(r.motion.velocity, kCount, 6, layout),
        acceleration(r.motion.acceleration, kCount, 6, layout),
        wrench(r.wrench, kCount, 6, layout),
        force(r.force, kCount, 6, layout),
        lengths(r.lengths, kCount, 6, layout) {}
  [[nodiscard]] DevicePoses poses() const { return {kCount, position, quaternion}; }
  [[nodiscard]] DeviceMotion motion() const { return {velocity, acceleration}; }
};

/// Of `width` numbers, to be compared with `expected`.
struct Wanted {
  OnGpu<double> array;
  const std::vector<double>& expected;
  Wanted(int width, Layout layout, const std::vector<double>& expected)
      : array(expected.empty() ? kCount : static_cast<std::int64_t>(expected.size()) / width, width, layout),
        expected(expected) {}
};
void expect_bits(const char* name, const Wanted& wanted) {
  EXPECT_TRUE(same_bits(wanted.array.rows(), wanted.expected)) << name;
}

TEST(DevicePoses, HaveTheScalarLengthsAndRates) {
  const Rows r;
  const auto plain = inverse_kinematics({r.platform}, r.poses, r.motion, {}, test::kReference);
  for (const Layout layout : kLayouts) {
    const OnDevice in(r, layout);
    const Wanted lengths(6, layout, plain.lengths), rates(6, layout, plain.rates),
        accelerations(6, layout, plain.accelerations);
    const OnGpu<PoseStatus> status(kCount, 1, layout);
    const DeviceLengths to{lengths.array, rates.array, accelerations.array, status};
    const test::Place place(workspace_bytes(r.platform, in.poses(), in.motion(), to));
    inverse_kinematics(r.platform, in.poses(), in.motion(), to, place.call());
    place.wait();
    expect_bits("lengths", lengths);
    expect_bits("rates", rates);
    expect_bits("accelerations", accelerations);
    EXPECT_EQ(status.rows(), plain.status);
    EXPECT_EQ(plain.status[7], PoseStatus::kInvalidInput);
  }
}

/// Against `plain`, which the scalar executor has found.
void expect_found(const Rows& r, const ForwardKinematics& plain, const ForwardOptions& options, Form form) {
  EXPECT_EQ(plain.status[12], PoseStatus::kInvalidInput);
  EXPECT_TRUE(std::isnan(plain.residual[12]));
  EXPECT_GT(plain.status[50], PoseStatus::kCertified);
  const OnGpu<double> position(r.guess.position, 1, 3), quaternion(r.guess.quaternion, 1, 4);
  DevicePoses guess{kCount, position, quaternion};
  guess.position.row = guess.quaternion.row = 0;  // one for all
  for (const Layout layout : kLayouts) {
    const OnDevice in(r, layout);
    const Wanted at(3, layout, plain.pose.position), turn(4, layout, plain.pose.quaternion),
        residual(1, layout, plain.residual), sigma_min(1, layout, plain.sigma_min), unique(1, layout, plain.uniqueness);
    const OnGpu<std::int32_t> iterations(kCount, 1, layout);
    const OnGpu<PoseStatus> status(kCount, 1, layout);
    DeviceFound to{at.array, turn.array, residual.array, sigma_min.array, iterations, status};
    if (options.certify) to.uniqueness = unique.array;
    const test::Place place(workspace_bytes(r.platform, in.lengths, guess, options, to, 0, form));
    forward_kinematics(r.platform, in.lengths, guess, options, to, place.call(), form);
    place.wait();
    expect_bits("position", at);
    expect_bits("quaternion", turn);
    expect_bits("residual", residual);
    expect_bits("sigma_min", sigma_min);
    if (options.certify) expect_bits("uniqueness", unique);
    const std::vector<std::int32_t> steps = iterations.rows();
    EXPECT_EQ(std::vector<int>(steps.begin(), steps.end()), plain.iterations);
    EXPECT_EQ(status.rows(), plain.status);
    // The guess is the home pose, which it is without one, too.
    const DevicePoses none{kCount};
    const Wanted again(3, layout, plain.pose.position);
    DeviceFound only;
    only.position = again.array;
    const test::Place there(workspace_bytes(r.platform, in.lengths, none, options, only, 0, form));
    forward_kinematics(r.platform, in.lengths, none, options, only, there.call(), form);
    there.wait();
    expect_bits("position from home", again);
  }
}
TEST(DevicePoses, AreFoundAsTheScalarExecutorFindsThem) {
  const Rows r;
  expect_found(r, forward_kinematics({r.platform}, r.lengths, r.guess, {}, test::kReference), {}, Form::kMinimal);
}
TEST(DevicePoses, AreLedFromFarGuessesAsTheHostLeadsThem) {
  constexpr std::int64_t kFar = 40;
  Rows r;
  r.platform = test::reference_platform("irregular");
  const Place<double> home = home_place(r.platform);
  Poses poses, guess;
  for (int i = 0; i < kFar; ++i) {
    const auto off = [&](double scale, int k) { return scale * std::sin(std::sin(2.9 * i + 1) * 40 + 2.3 * k); };
    const auto append = [&](double shift, double turn, int k, Poses& to) {
      for (int c = 0; c < 3; ++c) to.position.push_back(home.r[c] + off(shift, k + c));
      const auto p = retract(home.p, vec3(off(turn, k + 3), off(turn, k + 4), off(turn, k + 5)));
      to.quaternion.insert(to.quaternion.end(), p.m, p.m + 4);
    };
    append(0.2, 0.3, 0, poses);
    append(0.4, 1.2, 7, guess);
  }
  const std::vector<double> lengths = inverse_kinematics({r.platform}, poses, {}, {}, test::kReference).lengths;
  const ForwardKinematics host = forward_kinematics({r.platform}, lengths, guess, {}, test::kReference);
  ForwardOptions plain;
  plain.plain_iterations = -1;
  const ForwardKinematics newton = forward_kinematics({r.platform}, lengths, guess, plain, test::kReference);
  // Newton's method alone converges to other poses, or to none.
  int other = 0;
  for (std::size_t i = 0; i < kFar; ++i)
    other += newton.status[i] != host.status[i] || newton.pose.position[3 * i] != host.pose.position[3 * i];
  EXPECT_GT(other, 3);
  for (const ForwardOptions& options : {ForwardOptions{}, plain}) {
    const ForwardKinematics& expected = options.plain_iterations < 0 ? newton : host;
    const OnGpu<double> target(lengths, kFar, 6), position(guess.position, kFar, 3),
        quaternion(guess.quaternion, kFar, 4);
    const Wanted at(3, Layout::kRows, expected.pose.position), turn(4, Layout::kRows, expected.pose.quaternion);
    const OnGpu<std::int32_t> iterations(kFar, 1, Layout::kRows);
    const OnGpu<PoseStatus> status(kFar, 1, Layout::kRows);
    DeviceFound to{at.array, turn.array, {}, {}, iterations, status};
    const DevicePoses from{kFar, position, quaternion};
    const test::Place place(workspace_bytes(r.platform, target, from, options, to));
    forward_kinematics(r.platform, target, from, options, to, place.call());
    place.wait();
    expect_bits("position", at);
    expect_bits("quaternion", turn);
    EXPECT_EQ(status.rows(), expected.status);
    const std::vector<std::int32_t> steps = iterations.rows();
    EXPECT_EQ(std::vector<int>(steps.begin(), steps.end()), expected.iterations);
  }
}
TEST(DevicePoses, AreFoundInTheFullForm) {
  const Rows r;
  ForwardOptions options;
  options.tolerance = 1e-11;
  expect_found(r, forward_kinematics_full({r.platform}, r.lengths, r.guess, options, test::kReference), options,
               Form::kFull);
}
TEST(DevicePoses, AreCertified) {
  const Rows r;
  for (const bool prove : {false, true}) {
    ForwardOptions options;
    options.certify = true;
    options.certify_mode = prove;
    const ForwardKinematics plain = forward_kinematics({r.platform}, r.lengths, r.guess, options, test::kReference);
    expect_found(r, plain, options, Form::kMinimal);
    const auto certified = std::count(plain.status.begin(), plain.status.end(), PoseStatus::kCertified);
    if (prove) {
      EXPECT_GT(certified, kCount / 2);  // home is too far away for the certificate there alone
    }
    EXPECT_LT(certified, kCount);
    EXPECT_GT(plain.uniqueness[0], 0);
    EXPECT_EQ(plain.uniqueness[12], 0);
  }
}

void expect_forces(Form form) {
  const Rows r;
  const auto plain = inverse_dynamics({r.platform}, r.poses, r.motion, r.wrench, form, test::kReference);
  for (const Layout layout : kLayouts) {
    const OnDevice in(r, layout);
    const Wanted force(6, layout, plain.force), spherical(18, layout, plain.spherical_force),
        universal(18, layout, plain.universal_force), moment(6, layout, plain.universal_moment),
        multipliers(91, layout, plain.multipliers), power(1, layout, plain.power_balance),
        condition(1, layout, plain.condition);
    const OnGpu<PoseStatus> status(kCount, 1, layout);
    DeviceForces to{force.array, spherical.array, universal.array, moment.array,
                    {},          power.array,     condition.array, status};
    if (form == Form::kFull) to.multipliers = multipliers.array;
    const test::Place place(workspace_bytes(r.platform, in.poses(), in.motion(), in.wrench, to, 0, form));
    inverse_dynamics(r.platform, in.poses(), in.motion(), in.wrench, to, place.call(), form);
    place.wait();
    expect_bits("force", force);
    expect_bits("spherical", spherical);
    expect_bits("universal", universal);
    expect_bits("moment", moment);
    if (form == Form::kFull) expect_bits("multipliers", multipliers);
    expect_bits("power", power);
    expect_bits("condition", condition);
    EXPECT_EQ(status.rows(), plain.status);
  }
}
TEST(DevicePoses, NeedTheScalarForces) { expect_forces(Form::kMinimal); }
TEST(DevicePoses, NeedTheScalarForcesOfTheFullForm) { expect_forces(Form::kFull); }

void expect_accelerations(Form form) {
  const Rows r;
  // Without a wrench, on either side.
  const auto plain = forward_dynamics({r.platform}, r.poses, r.motion.velocity, r.force, {}, form, test::kReference);
  for (const Layout layout : kLayouts) {
    const OnDevice in(r, layout);
    const Wanted acceleration(6, layout, plain.acceleration), kinetic(1, layout, plain.kinetic),
        potential(1, layout, plain.potential);
    const OnGpu<PoseStatus> status(kCount, 1, layout);
    const DeviceAccelerations to{acceleration.array, kinetic.array, potential.array, status};
    const test::Place place(workspace_bytes(r.platform, in.poses(), in.velocity, in.force, {}, to, 0, form));
    forward_dynamics(r.platform, in.poses(), in.velocity, in.force, {}, to, place.call(), form);
    place.wait();
    expect_bits("acceleration", acceleration);
    expect_bits("kinetic", kinetic);
    expect_bits("potential", potential);
    EXPECT_EQ(status.rows(), plain.status);
  }
}
TEST(DevicePoses, HaveTheScalarAccelerations) { expect_accelerations(Form::kMinimal); }
TEST(DevicePoses, HaveTheScalarAccelerationsOfTheFullForm) { expect_accelerations(Form::kFull); }

TEST(DevicePoses, HaveTheScalarDetails) {
  Rows r;
  r.platform.leg[4].length_max = 0.45, r.platform.leg[2].universal_cone = 0.02;  // limits that some poses pass
  InverseOptions all;
  all.frames = all.limits = all.conditioning = true;
  all.characteristic_length = 0.3;
  for (const double radius : {0.0, 0.03}) {  // legs without thickness, and with much of it
    r.platform.leg_radius = radius;
    const auto plain = inverse_kinematics({r.platform}, r.poses, {}, all, test::kReference);
    for (const LimitBit kind : {kTooLong, kUniversalCone})
      EXPECT_TRUE(std::any_of(plain.mask.begin(), plain.mask.end(), [&](auto m) { return m / kind % 64 != 0; }))
          << kind;
    for (const Layout layout : kLayouts) {
      const OnDevice in(r, layout);
      const Wanted vector(18, layout, plain.leg_vector), quaternion(24, layout, plain.leg_quaternion),
          euler(18, layout, plain.leg_euler313), angles(12, layout, plain.universal_angles),
          determinant(1, layout, plain.determinant), condition(1, layout, plain.condition),
          sigma_min(1, layout, plain.sigma_min), free(6, layout, plain.free_motion),
          stroke(6, layout, plain.stroke_margin), universal(6, layout, plain.universal_margin),
          spherical(6, layout, plain.spherical_margin), clearance(1, layout, plain.clearance);
      const OnGpu<std::uint32_t> mask(kCount, 1, layout);
      const OnGpu<PoseStatus> status(kCount, 1, layout);
      const DeviceDetails to{vector.array,    quaternion.array, euler.array,     angles.array, determinant.array,
                             condition.array, sigma_min.array,  free.array,      mask,         stroke.array,
                             universal.array, spherical.array,  clearance.array, status};
      const test::Place place(workspace_bytes(r.platform, in.poses(), 0.3, to));
      inverse_details(r.platform, in.poses(), 0.3, to, place.call());
      place.wait();
      expect_bits("leg_vector", vector);
      expect_bits("leg_quaternion", quaternion);
      expect_bits("leg_euler313", euler);
      expect_bits("universal_angles", angles);
      expect_bits("determinant", determinant);
      expect_bits("condition", condition);
      expect_bits("sigma_min", sigma_min);
      expect_bits("free_motion", free);
      expect_bits("stroke_margin", stroke);
      expect_bits("universal_margin", universal);
      expect_bits("spherical_margin", spherical);
      expect_bits("clearance", clearance);
      EXPECT_EQ(mask.rows(), plain.mask);
      EXPECT_EQ(status.rows(), plain.status);
    }
  }
}

/// Room for trajectories with `t` outputs.
struct Flight {
  Flight(int t, Layout layout) : steps(kCount, 1, layout), corrections(kCount, 1, layout), status(kCount, 1, layout) {
    const auto give = [&](DeviceArray<double>& array, int width) { array = room.emplace_back(kCount, width, layout); };
    give(to.position, 3 * t), give(to.quaternion, 4 * t), give(to.velocity, 6 * t), give(to.lengths, 6 * t);
    give(to.kinetic, t), give(to.potential, t), give(to.work, t), give(to.balance, t), give(to.drift, t);
    give(to.end_position, 3), give(to.end_quaternion, 4), give(to.end_velocity, 6), give(to.end_time, 1);
    give(to.end_balance, 1), give(to.worst_balance, 1), give(to.worst_drift, 1);
    to.steps = steps, to.corrections = corrections, to.status = status;
  }
  [[nodiscard]] Trajectories trajectories(const std::vector<double>& times) const {
    Trajectories t;
    t.count = kCount, t.times = times;
    std::size_t k = 0;
    for (std::vector<double>* v :
         {&t.pose.position, &t.pose.quaternion, &t.velocity, &t.lengths, &t.kinetic, &t.potential, &t.work, &t.balance,
          &t.drift, &t.end_pose.position, &t.end_pose.quaternion, &t.end_velocity, &t.end_time, &t.end_balance,
          &t.worst_balance, &t.worst_drift})
      *v = room[k++].rows();
    for (const std::int32_t n : steps.rows()) t.steps.push_back(n);
    for (const std::int32_t n : corrections.rows()) t.corrections.push_back(n);
    t.status = status.rows();
    return t;
  }

  std::deque<OnGpu<double>> room;
  OnGpu<std::int32_t> steps, corrections;
  OnGpu<MotionStatus> status;
  DeviceTrajectories to;
};

TEST(DevicePoses, MoveAsTheScalarExecutorMovesThem) {
  const Rows r;
  SimulateOptions o;
  o.step = 0.01;
  o.duration = 0.03;
  o.times = {0, 0.015, 0.03};
  o.watch_limits = true;
  o.correct_above = 0;  // of the hybrid method: at every step
  const ForceInput rubbing{.force = {}, .viscous = 20, .coulomb = 5, .coulomb_speed = 0.05};
  ForceInput shared = rubbing, own = rubbing, ramp = rubbing;
  shared.force = {95, 96, 97, 98, 99, 100};
  own.force = r.force;
  own.force[6 * 21 + 3] = std::nan("");
  ramp.interval = 0.02, ramp.samples = 2;
  for (std::size_t i = 0; i < kCount; ++i)
    for (std::size_t k = 0; k < 12; ++k) ramp.force.push_back(r.force[6 * i + k % 6] * (k < 6 ? 1 : 1.1));
  for (const ForceInput* force : {&shared, &own, &ramp})
    for (const Integrator method : {Integrator::kRk4, Integrator::kRk8, Integrator::kHybrid}) {
      SCOPED_TRACE(testing::Message() << to_string(method) << ", " << force->force.size() << " forces");
      o.method = method;
      const Starts starts{r.poses, r.motion.velocity, r.wrench};
      const Trajectories plain = simulate({r.platform}, starts, *force, o, test::kReference);
      ASSERT_EQ(plain.status[0], MotionStatus::kCompleted);
      ASSERT_EQ(plain.corrections[0] > 0, method == Integrator::kHybrid);
      for (const std::size_t invalid : {7u, 33u, 40u}) ASSERT_EQ(plain.status[invalid], MotionStatus::kInvalidInput);
      ASSERT_EQ(plain.status[21], force == &own ? MotionStatus::kInvalidInput : MotionStatus::kCompleted);
      for (const Layout layout : kLayouts) {
        const OnDevice in(r, layout);
        const OnGpu<double> forces(force == &shared ? r.force : force->force, kCount, force == &ramp ? 12 : 6, layout);
        const Flight flight(3, layout);
        DeviceStarts there{in.poses(), in.velocity, in.wrench};
        ForceInput rest = *force;
        if (force != &shared) there.force = forces, rest.force.clear();
        const test::Place place(workspace_bytes(r.platform, there, rest, o, flight.to));
        simulate(r.platform, there, rest, o, flight.to, place.call());
        place.wait();
        EXPECT_EQ(test::make_answer(plain).difference(test::make_answer(flight.trajectories(o.times)), true), "");
      }
    }
}

TEST(DevicePoses, MoveWithTheirEndsAloneAndFromRest) {
  const Rows r;
  const ForceInput force{.force = {95, 96, 97, 98, 99, 100}};
  SimulateOptions o;
  o.duration = 0.02;
  const Trajectories plain = simulate({r.platform}, {r.poses, {}, {}}, force, o, test::kReference);
  const OnDevice in(r, Layout::kRows);
  const Flight flight(0, Layout::kRows);
  const DeviceStarts there{in.poses()};
  DeviceTrajectories to;
  to.end_velocity = flight.to.end_velocity;
  const std::size_t bytes = workspace_bytes(r.platform, there, force, o, to);
  EXPECT_THROW(simulate(r.platform, there, force, o, to, test::Place(bytes - 1).call()), Error);
  const test::Place place(bytes);
  simulate(r.platform, there, force, o, to, place.call());
  place.wait();
  const Trajectories found = flight.trajectories({});
  EXPECT_TRUE(same_bits(found.end_velocity, plain.end_velocity));
  for (const double x : found.end_pose.position) EXPECT_TRUE(std::isnan(x)) << "not asked for";
  DeviceStarts twice = there;
  twice.force = in.force;
  EXPECT_THROW(simulate(r.platform, twice, force, o, to, place.call()), Error) << "forces here and there";
  EXPECT_THROW(simulate(r.platform, there, {}, o, to, place.call()), Error) << "no forces";
}

TEST(DevicePoses, AreRefusedWhereSomethingIsMissing) {
  const Rows r;
  const OnDevice in(r, Layout::kRows);
  const OnGpu<double> lengths(kCount, 6);
  DeviceLengths to;
  to.lengths = lengths;
  const test::Place small(workspace_bytes(r.platform, in.poses(), {}, to) - 1);
  EXPECT_THROW(inverse_kinematics(r.platform, in.poses(), {}, to, small.call()), Error);
  DevicePoses none = in.poses();
  none.quaternion.data = nullptr;
  EXPECT_THROW(inverse_kinematics(r.platform, none, {}, to, {}), Error);
  EXPECT_THROW(forward_dynamics(r.platform, in.poses(), in.velocity, {}, {}, {}, {}), Error);
  ForwardOptions proofs;
  proofs.certify_mode = true;
  EXPECT_THROW(forward_kinematics(r.platform, in.lengths, in.poses(), proofs, {}, {}), Error);
  proofs.certify = true;
  EXPECT_THROW(forward_kinematics(r.platform, in.lengths, in.poses(), proofs, {}, {}, Form::kFull), Error);
  none.count = 0;
  EXPECT_EQ(workspace_bytes(r.platform, none, {}, to), 0u);
}

}  // namespace
}  // namespace garra::platform
#else
namespace garra {
TEST(DevicePoses, HaveTheScalarLengthsAndRates) { GTEST_SKIP() << "built without CUDA"; }
}  // namespace garra
#endif
