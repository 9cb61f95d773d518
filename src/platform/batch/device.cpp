// Entries of platform_kinematics.hpp and platform_dynamics.hpp for poses that are on the GPU.
#include "garra/core/error.hpp"
#include "garra/platform_dynamics.hpp"
#include "garra/systems/platform/inverse_ops.hpp"
#include "garra/systems/platform/kinematics_ops.hpp"
#include "platform/batch/dynamics_ops.hpp"

namespace garra::platform {

namespace {

using Array = DeviceArray<const double>;

/// What a call is given that all of these have.
struct Given {
  const Platform& platform;
  const DevicePoses& poses;
  DeviceCall call;
  std::size_t* needed = nullptr;  ///< set, and nothing runs, where it is not null
};

batch::DeviceColumn needed_column(const Array& array, int width, const char* name) {
  if (array.data == nullptr) throw Error(ExitCode::kUsage, std::string(name) + " is a null pointer");
  return batch::device_column(array, width);
}

/// `in`: what the operation takes beside poses, before them where `first`.
template <class Op>
void run(const Op& op, const Given& given, std::vector<batch::DeviceColumn> in,
         const std::vector<batch::DeviceColumn>& out, bool first = false) {
  const DevicePoses& poses = given.poses;
  if (poses.count < 0) throw Error(ExitCode::kUsage, "the number of poses is negative");
  if (poses.count == 0) return;
  const std::vector<batch::DeviceColumn> place = {needed_column(poses.position, 3, "position"),
                                                  needed_column(poses.quaternion, 4, "quaternion")};
  in.insert(first ? in.end() : in.begin(), place.begin(), place.end());
  batch::on_device({Executor::kCuda, 0, given.call.device}, op,
                   ResidentJob{model_of(given.platform), {poses.count, in, out, given.call, given.needed}});
}

/// run(given) as a call that only counts.
template <class Run>
std::size_t counted(const Platform& platform, const DevicePoses& poses, int device, const Run& run) {
  std::size_t bytes = 0;
  run(Given{platform, poses, {.device = device}, &bytes});
  return bytes;
}

void lengths_of(const Given& given, const DeviceMotion& motion, const DeviceLengths& to) {
  using batch::device_column;
  run(KinematicsOp{}, given, {device_column(motion.velocity, 6), device_column(motion.acceleration, 6)},
      {device_column(to.lengths, 6), device_column(to.rates, 6), device_column(to.accelerations, 6),
       device_column(to.status, 1)});
}

void poses_of(const Given& guess, const Array& lengths, const ForwardOptions& options, const DeviceFound& to) {
  using batch::device_column;
  if (options.certify || options.prove_mode)
    throw Error(ExitCode::kUsage, "certificates of poses are not there for arrays on the GPU",
                "Leave `certify` and `prove_mode` out, or give arrays of the host.");
  const ForwardRule rule{options.tol, static_cast<double>(options.max_iterations)};
  run(ForwardOp{rule, options.characteristic_length, options.near_singular}, guess,
      {needed_column(lengths, 6, "lengths")},
      {device_column(to.position, 3), device_column(to.quaternion, 4), device_column(to.residual, 1),
       device_column(to.sigma_min, 1), device_column(to.iterations, 1), device_column(to.status, 1)},
      true);
}

void forces_of(const Given& given, const DeviceMotion& motion, const Array& wrench, const DeviceForces& to) {
  using batch::device_column;
  run(InverseDynamicsOp{InverseOptions{}.characteristic_length}, given,
      {device_column(motion.velocity, 6), device_column(motion.acceleration, 6), device_column(wrench, 6)},
      {device_column(to.force, 6), device_column(to.spherical_force, 18), device_column(to.universal_force, 18),
       device_column(to.universal_moment, 6), device_column(to.power_balance, 1), device_column(to.condition, 1),
       device_column(to.status, 1)});
}

void accelerations_of(const Given& given, const Array& velocity, const Array& force, const Array& wrench,
                      const DeviceAccelerations& to) {
  using batch::device_column;
  run(ForwardDynamicsOp{}, given,
      {device_column(velocity, 6), needed_column(force, 6, "force"), device_column(wrench, 6)},
      {device_column(to.acceleration, 6), device_column(to.kinetic, 1), device_column(to.potential, 1),
       device_column(to.status, 1)});
}

}  // namespace

void inverse_kinematics(const Platform& platform, const DevicePoses& poses, const DeviceMotion& motion,
                        const DeviceLengths& to, const DeviceCall& call) {
  lengths_of({platform, poses, call}, motion, to);
}
std::size_t workspace_bytes(const Platform& platform, const DevicePoses& poses, const DeviceMotion& motion,
                            const DeviceLengths& to, int device) {
  return counted(platform, poses, device, [&](const Given& given) { lengths_of(given, motion, to); });
}

void forward_kinematics(const Platform& platform, const Array& lengths, const DevicePoses& guess,
                        const ForwardOptions& options, const DeviceFound& to, const DeviceCall& call) {
  poses_of({platform, guess, call}, lengths, options, to);
}
std::size_t workspace_bytes(const Platform& platform, const Array& lengths, const DevicePoses& guess,
                            const ForwardOptions& options, const DeviceFound& to, int device) {
  return counted(platform, guess, device, [&](const Given& given) { poses_of(given, lengths, options, to); });
}

void inverse_dynamics(const Platform& platform, const DevicePoses& poses, const DeviceMotion& motion,
                      const Array& wrench, const DeviceForces& to, const DeviceCall& call) {
  forces_of({platform, poses, call}, motion, wrench, to);
}
std::size_t workspace_bytes(const Platform& platform, const DevicePoses& poses, const DeviceMotion& motion,
                            const Array& wrench, const DeviceForces& to, int device) {
  return counted(platform, poses, device, [&](const Given& given) { forces_of(given, motion, wrench, to); });
}

void forward_dynamics(const Platform& platform, const DevicePoses& poses, const Array& velocity, const Array& force,
                      const Array& wrench, const DeviceAccelerations& to, const DeviceCall& call) {
  accelerations_of({platform, poses, call}, velocity, force, wrench, to);
}
std::size_t workspace_bytes(const Platform& platform, const DevicePoses& poses, const Array& velocity,
                            const Array& force, const Array& wrench, const DeviceAccelerations& to, int device) {
  return counted(platform, poses, device,
                 [&](const Given& given) { accelerations_of(given, velocity, force, wrench, to); });
}

}  // namespace garra::platform
