// Entries of platform_kinematics.hpp and platform_dynamics.hpp for poses that are on the GPU.
#include "garra/core/error.hpp"
#include "garra/platform_dynamics.hpp"
#include "garra/systems/platform/inverse_ops.hpp"
#include "platform/batch/forward_ops.hpp"
#include "platform/batch/full_ops.hpp"
#include "platform/batch/poses.hpp"

namespace garra::platform {

namespace {

using Array = DeviceArray<const double>;

/// Arguments common to all calls.
struct Given {
  const Platform& platform;
  const DevicePoses& poses;
  DeviceCall call;
  std::size_t* needed = nullptr;  ///< if not null: set, and nothing runs
};

batch::DeviceColumn needed_column(const Array& array, int width, const char* name) {
  if (array.data == nullptr) throw Error(ExitCode::kUsage, std::string(name) + " is a null pointer");
  return batch::device_column(array, width);
}

/// Runs an operation on its columns, in its order.
template <class Op>
void run(const Op& op, const Given& given, const std::vector<batch::DeviceColumn>& in,
         const std::vector<batch::DeviceColumn>& out) {
  batch::on_device({Executor::kCuda, 0, given.call.device}, op,
                   ResidentJob{make_model(given.platform), {given.poses.count, in, out, given.call, given.needed}});
}

/// True unless the batch is empty. Throws Error(kUsage) for a negative count.
bool has_rows(const Given& given) {
  if (given.poses.count < 0) throw Error(ExitCode::kUsage, "the number of poses is negative");
  return given.poses.count > 0;
}

/// `in`: inputs of the operation behind the poses.
template <class Op>
void run_on_poses(const Op& op, const Given& given, std::vector<batch::DeviceColumn> in,
                  const std::vector<batch::DeviceColumn>& out) {
  if (!has_rows(given)) return;
  in.insert(in.begin(), {needed_column(given.poses.position, 3, "position"),
                         needed_column(given.poses.quaternion, 4, "quaternion")});
  run(op, given, in, out);
}

/// Bytes of workspace of run(given), without running it.
template <class Run>
std::size_t count_workspace(const Platform& platform, const DevicePoses& poses, int device, const Run& run) {
  std::size_t bytes = 0;
  run(Given{platform, poses, {.device = device}, &bytes});
  return bytes;
}

void compute_lengths(const Given& given, const DeviceMotion& motion, const DeviceLengths& to) {
  using batch::device_column;
  run_on_poses(KinematicsOp{}, given, {device_column(motion.velocity, 6), device_column(motion.acceleration, 6)},
               {device_column(to.lengths, 6), device_column(to.rates, 6), device_column(to.accelerations, 6),
                device_column(to.status, 1)});
}

/// Poses by an operation on lengths and a guess; without a guess from home.
template <class Op>
void found_by(const Op& op, const Given& guess, const Array& lengths, const std::vector<batch::DeviceColumn>& out) {
  const batch::DeviceColumn given = needed_column(lengths, 6, "lengths");
  const DevicePoses& at = guess.poses;
  if (at.position.data == nullptr && at.quaternion.data == nullptr)
    return run(FromOneGuess<Op>{op, home_place(guess.platform)}, guess, {given}, out);
  run(op, guess, {given, needed_column(at.position, 3, "position"), needed_column(at.quaternion, 4, "quaternion")},
      out);
}

void compute_poses(const Given& guess, const Array& lengths, const ForwardOptions& asked, Form form,
                   const DeviceFound& to) {
  using batch::device_column;
  check_proofs(asked);
  if (form == Form::kFull && asked.certify)
    throw Error(ExitCode::kUsage, "the full form of forward kinematics proves nothing", "Use the minimal form.");
  if (!has_rows(guess)) return;
  std::vector<batch::DeviceColumn> out = {device_column(to.position, 3),   device_column(to.quaternion, 4),
                                          device_column(to.residual, 1),   device_column(to.sigma_min, 1),
                                          device_column(to.iterations, 1), device_column(to.status, 1)};
  const ForwardOptions options = scaled_options(asked, {guess.platform});
  if (form == Form::kFull) return found_by(full_forward_op(options), guess, lengths, out);
  if (!options.certify) return found_by(led_forward_op(options), guess, lengths, out);
  out.push_back(device_column(to.uniqueness, 1));
  found_by(CertifiedForwardOp{led_forward_op(options), mode_op(options)}, guess, lengths, out);
}

void compute_details(const Given& given, double characteristic_length, const DeviceDetails& to) {
  using batch::device_column;
  // Unused outputs, not in DeviceDetails: largest singular value, distance of each leg to the next
  // one.
  const batch::DeviceColumn largest{nullptr, 1}, apart{nullptr, 6};
  // In the order of PoseDetailOp::Out.
  run_on_poses(
      PoseDetailOp{platform::characteristic_length({given.platform}, characteristic_length),
                   make_limits(given.platform)},
      given, {},
      {device_column(to.leg_vector, 18), device_column(to.leg_quaternion, 24), device_column(to.leg_euler313, 18),
       device_column(to.universal_angles, 12), device_column(to.determinant, 1), device_column(to.sigma_min, 1),
       largest, device_column(to.free_motion, 6), device_column(to.stroke_margin, 6),
       device_column(to.universal_margin, 6), device_column(to.spherical_margin, 6), apart,
       device_column(to.clearance, 1), device_column(to.condition, 1), device_column(to.mask, 1),
       device_column(to.status, 1)});
}

void compute_forces(const Given& given, const DeviceMotion& motion, const Array& wrench, Form form,
                    const DeviceForces& to) {
  using batch::device_column;
  require_masses(given.platform);
  const double length = characteristic_length(given.platform);
  const std::vector<batch::DeviceColumn> in = {device_column(motion.velocity, 6), device_column(motion.acceleration, 6),
                                               device_column(wrench, 6)};
  std::vector<batch::DeviceColumn> out = {device_column(to.force, 6), device_column(to.spherical_force, 18),
                                          device_column(to.universal_force, 18), device_column(to.universal_moment, 6)};
  if (form == Form::kFull) out.push_back(device_column(to.multipliers, kFullCoordinates));
  out.insert(out.end(),
             {device_column(to.power_balance, 1), device_column(to.condition, 1), device_column(to.status, 1)});
  if (form == Form::kFull)
    run_on_poses(FullInverseDynamicsOp{length}, given, in, out);
  else
    run_on_poses(InverseDynamicsOp{length}, given, in, out);
}

void compute_accelerations(const Given& given, const Array& velocity, const Array& force, const Array& wrench,
                           Form form, const DeviceAccelerations& to) {
  using batch::device_column;
  require_masses(given.platform);
  const std::vector<batch::DeviceColumn> in = {device_column(velocity, 6), needed_column(force, 6, "force"),
                                               device_column(wrench, 6)},
                                         out = {device_column(to.acceleration, 6), device_column(to.kinetic, 1),
                                                device_column(to.potential, 1), device_column(to.status, 1)};
  if (form == Form::kFull)
    run_on_poses(FullForwardDynamicsOp{}, given, in, out);
  else
    run_on_poses(ForwardDynamicsOp{}, given, in, out);
}

}  // namespace

void inverse_kinematics(const Platform& platform, const DevicePoses& poses, const DeviceMotion& motion,
                        const DeviceLengths& to, const DeviceCall& call) {
  compute_lengths({platform, poses, call}, motion, to);
}
std::size_t workspace_bytes(const Platform& platform, const DevicePoses& poses, const DeviceMotion& motion,
                            const DeviceLengths& to, int device) {
  return count_workspace(platform, poses, device, [&](const Given& given) { compute_lengths(given, motion, to); });
}

void inverse_details(const Platform& platform, const DevicePoses& poses, double characteristic_length,
                     const DeviceDetails& to, const DeviceCall& call) {
  compute_details({platform, poses, call}, characteristic_length, to);
}
std::size_t workspace_bytes(const Platform& platform, const DevicePoses& poses, double characteristic_length,
                            const DeviceDetails& to, int device) {
  return count_workspace(platform, poses, device,
                         [&](const Given& given) { compute_details(given, characteristic_length, to); });
}

void forward_kinematics(const Platform& platform, const Array& lengths, const DevicePoses& guess,
                        const ForwardOptions& options, const DeviceFound& to, const DeviceCall& call, Form form) {
  compute_poses({platform, guess, call}, lengths, options, form, to);
}
std::size_t workspace_bytes(const Platform& platform, const Array& lengths, const DevicePoses& guess,
                            const ForwardOptions& options, const DeviceFound& to, int device, Form form) {
  return count_workspace(platform, guess, device,
                         [&](const Given& given) { compute_poses(given, lengths, options, form, to); });
}

void inverse_dynamics(const Platform& platform, const DevicePoses& poses, const DeviceMotion& motion,
                      const Array& wrench, const DeviceForces& to, const DeviceCall& call, Form form) {
  compute_forces({platform, poses, call}, motion, wrench, form, to);
}
std::size_t workspace_bytes(const Platform& platform, const DevicePoses& poses, const DeviceMotion& motion,
                            const Array& wrench, const DeviceForces& to, int device, Form form) {
  return count_workspace(platform, poses, device,
                         [&](const Given& given) { compute_forces(given, motion, wrench, form, to); });
}

void forward_dynamics(const Platform& platform, const DevicePoses& poses, const Array& velocity, const Array& force,
                      const Array& wrench, const DeviceAccelerations& to, const DeviceCall& call, Form form) {
  compute_accelerations({platform, poses, call}, velocity, force, wrench, form, to);
}
std::size_t workspace_bytes(const Platform& platform, const DevicePoses& poses, const Array& velocity,
                            const Array& force, const Array& wrench, const DeviceAccelerations& to, int device,
                            Form form) {
  return count_workspace(platform, poses, device,
                         [&](const Given& given) { compute_accelerations(given, velocity, force, wrench, form, to); });
}

}  // namespace garra::platform
