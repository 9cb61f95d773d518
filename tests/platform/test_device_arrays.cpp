// Poses of a platform that stay on the GPU: the bits of the scalar executor on arrays of the host, in any strides.
#include <gtest/gtest.h>

#include <cmath>

#include "garra/core/error.hpp"
#include "garra/platform_dynamics.hpp"
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
    const Place<double> home = home_of(platform);
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
      : array(kCount, width, layout), expected(expected) {}
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

TEST(DevicePoses, AreFoundAsTheScalarExecutorFindsThem) {
  const Rows r;
  const auto plain = forward_kinematics({r.platform}, r.lengths, r.guess, {}, test::kReference);
  EXPECT_EQ(plain.status[12], PoseStatus::kInvalidInput);
  EXPECT_TRUE(std::isnan(plain.residual[12]));
  EXPECT_NE(plain.status[50], PoseStatus::kConverged);
  const OnGpu<double> position(r.guess.position, 1, 3), quaternion(r.guess.quaternion, 1, 4);
  DevicePoses guess{kCount, position, quaternion};
  guess.position.row = guess.quaternion.row = 0;  // one for all
  for (const Layout layout : kLayouts) {
    const OnDevice in(r, layout);
    const Wanted at(3, layout, plain.pose.position), turn(4, layout, plain.pose.quaternion),
        residual(1, layout, plain.residual), sigma_min(1, layout, plain.sigma_min);
    const OnGpu<std::int32_t> iterations(kCount, 1, layout);
    const OnGpu<PoseStatus> status(kCount, 1, layout);
    const DeviceFound to{at.array, turn.array, residual.array, sigma_min.array, iterations, status};
    const test::Place place(workspace_bytes(r.platform, in.lengths, guess, {}, to));
    forward_kinematics(r.platform, in.lengths, guess, {}, to, place.call());
    place.wait();
    expect_bits("position", at);
    expect_bits("quaternion", turn);
    expect_bits("residual", residual);
    expect_bits("sigma_min", sigma_min);
    const std::vector<std::int32_t> steps = iterations.rows();
    EXPECT_EQ(std::vector<int>(steps.begin(), steps.end()), plain.iterations);
    EXPECT_EQ(status.rows(), plain.status);
  }
}

TEST(DevicePoses, NeedTheScalarForces) {
  const Rows r;
  const auto plain = inverse_dynamics({r.platform}, r.poses, r.motion, r.wrench, Form::kMinimal, test::kReference);
  for (const Layout layout : kLayouts) {
    const OnDevice in(r, layout);
    const Wanted force(6, layout, plain.force), spherical(18, layout, plain.spherical_force),
        universal(18, layout, plain.universal_force), moment(6, layout, plain.universal_moment),
        power(1, layout, plain.power_balance), condition(1, layout, plain.condition);
    const OnGpu<PoseStatus> status(kCount, 1, layout);
    const DeviceForces to{force.array, spherical.array, universal.array, moment.array,
                          power.array, condition.array, status};
    const test::Place place(workspace_bytes(r.platform, in.poses(), in.motion(), in.wrench, to));
    inverse_dynamics(r.platform, in.poses(), in.motion(), in.wrench, to, place.call());
    place.wait();
    expect_bits("force", force);
    expect_bits("spherical", spherical);
    expect_bits("universal", universal);
    expect_bits("moment", moment);
    expect_bits("power", power);
    expect_bits("condition", condition);
    EXPECT_EQ(status.rows(), plain.status);
  }
}

TEST(DevicePoses, HaveTheScalarAccelerations) {
  const Rows r;
  // Without a wrench, on either side.
  const auto plain =
      forward_dynamics({r.platform}, r.poses, r.motion.velocity, r.force, {}, Form::kMinimal, test::kReference);
  for (const Layout layout : kLayouts) {
    const OnDevice in(r, layout);
    const Wanted acceleration(6, layout, plain.acceleration), kinetic(1, layout, plain.kinetic),
        potential(1, layout, plain.potential);
    const OnGpu<PoseStatus> status(kCount, 1, layout);
    const DeviceAccelerations to{acceleration.array, kinetic.array, potential.array, status};
    const test::Place place(workspace_bytes(r.platform, in.poses(), in.velocity, in.force, {}, to));
    forward_dynamics(r.platform, in.poses(), in.velocity, in.force, {}, to, place.call());
    place.wait();
    expect_bits("acceleration", acceleration);
    expect_bits("kinetic", kinetic);
    expect_bits("potential", potential);
    EXPECT_EQ(status.rows(), plain.status);
  }
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
  proofs.certify = true;
  EXPECT_THROW(forward_kinematics(r.platform, in.lengths, in.poses(), proofs, {}, {}), Error);
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
