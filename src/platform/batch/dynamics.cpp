// Entries of platform_dynamics.hpp: the minimal form here, the full form in full*.cpp.
#include "garra/platform_dynamics.hpp"
#include "platform/batch/dynamics_ops.hpp"
#include "platform/batch/full.hpp"
#include "platform/batch/poses.hpp"
#include "platform/batch/rows_run.hpp"

namespace garra::platform {

namespace {

void check_poses(const Poses& poses) {
  check_rows("position", poses.position, count_rows(poses), 3);
  check_rows("quaternion", poses.quaternion, count_rows(poses), 4);
}

}  // namespace

InverseDynamics inverse_dynamics(const Platforms& platforms, const Poses& poses, const Motion& motion,
                                 const std::vector<double>& wrench, Form form, const Device& device) {
  if (form == Form::kFull) return inverse_dynamics_full(platforms, poses, motion, wrench, device);
  const std::int64_t n = count_rows(poses);
  require_masses(platforms);
  check_poses(poses);
  check_rows("velocity", motion.velocity, n, 6, true);
  check_rows("acceleration", motion.acceleration, n, 6, true);
  check_rows("wrench", wrench, n, 6, true);
  InverseDynamics out;
  std::vector<double> status;
  const RowsJob job{
      n,
      models_for(platforms, n),
      {column(poses.position, 3), column(poses.quaternion, 4), column(motion.velocity, 6),
       column(motion.acceleration, 6), column(wrench, 6)},
      {room(out.force, n, 6), room(out.spherical_force, n, 18), room(out.universal_force, n, 18),
       room(out.universal_moment, n, 6), room(out.power_balance, n, 1), room(out.condition, n, 1), room(status, n, 1)},
      device};
  run_rows(InverseDynamicsOp{characteristic_length(platforms, 0)}, job);
  out.status = statuses(status);
  return out;
}

ForwardDynamics forward_dynamics(const Platforms& platforms, const Poses& poses, const std::vector<double>& velocity,
                                 const std::vector<double>& force, const std::vector<double>& wrench, Form form,
                                 const Device& device) {
  if (form == Form::kFull) return forward_dynamics_full(platforms, poses, velocity, force, wrench, device);
  const std::int64_t n = count_rows(poses);
  require_masses(platforms);
  check_poses(poses);
  check_rows("velocity", velocity, n, 6, true);
  check_rows("force", force, n, 6);
  check_rows("wrench", wrench, n, 6, true);
  ForwardDynamics out;
  std::vector<double> status;
  const RowsJob job{
      n,
      models_for(platforms, n),
      {column(poses.position, 3), column(poses.quaternion, 4), column(velocity, 6), column(force, 6),
       column(wrench, 6)},
      {room(out.acceleration, n, 6), room(out.kinetic, n, 1), room(out.potential, n, 1), room(status, n, 1)},
      device};
  run_rows(ForwardDynamicsOp{}, job);
  out.status = statuses(status);
  return out;
}

}  // namespace garra::platform
