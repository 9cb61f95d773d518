// Inverse and forward dynamics in the full form.
#include "platform/batch/full.hpp"
#include "platform/batch/full_ops.hpp"
#include "platform/batch/poses.hpp"
#include "platform/batch/rows_run.hpp"

namespace garra::platform {

namespace {

void check_poses(const Poses& poses) {
  check_rows("position", poses.position, count_rows(poses), 3);
  check_rows("quaternion", poses.quaternion, count_rows(poses), 4);
}

}  // namespace

InverseDynamics inverse_dynamics_full(const Platforms& platforms, const Poses& poses, const Motion& motion,
                                      const std::vector<double>& wrench, const Device& device) {
  const std::int64_t n = count_rows(poses);
  require_masses(platforms);
  check_poses(poses);
  check_rows("velocity", motion.velocity, n, 6, true);
  check_rows("acceleration", motion.acceleration, n, 6, true);
  check_rows("wrench", wrench, n, 6, true);
  InverseDynamics to;
  std::vector<double> status;
  const RowsJob job{n,
                    models_for(platforms, n),
                    {column(poses.position, 3), column(poses.quaternion, 4), column(motion.velocity, 6),
                     column(motion.acceleration, 6), column(wrench, 6)},
                    {room(to.force, n, 6), room(to.spherical_force, n, 18), room(to.universal_force, n, 18),
                     room(to.universal_moment, n, 6), room(to.multipliers, n, kFullCoordinates),
                     room(to.power_balance, n, 1), room(to.condition, n, 1), room(status, n, 1)},
                    device};
  run_rows(FullInverseDynamicsOp{characteristic_length(platforms, 0)}, job);
  to.status = statuses(status);
  return to;
}

ForwardDynamics forward_dynamics_full(const Platforms& platforms, const Poses& poses,
                                      const std::vector<double>& velocity, const std::vector<double>& force,
                                      const std::vector<double>& wrench, const Device& device) {
  const std::int64_t n = count_rows(poses);
  require_masses(platforms);
  check_poses(poses);
  check_rows("velocity", velocity, n, 6, true);
  check_rows("force", force, n, 6);
  check_rows("wrench", wrench, n, 6, true);
  ForwardDynamics to;
  std::vector<double> status;
  const RowsJob job{n,
                    models_for(platforms, n),
                    {column(poses.position, 3), column(poses.quaternion, 4), column(velocity, 6), column(force, 6),
                     column(wrench, 6)},
                    {room(to.acceleration, n, 6), room(to.kinetic, n, 1), room(to.potential, n, 1), room(status, n, 1)},
                    device};
  run_rows(FullForwardDynamicsOp{}, job);
  to.status = statuses(status);
  return to;
}

}  // namespace garra::platform
