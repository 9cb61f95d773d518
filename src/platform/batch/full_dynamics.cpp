// Inverse and forward dynamics in the full form.
#include "platform/batch/full.hpp"
#include "platform/batch/full_ops.hpp"
#include "platform/batch/full_rows.hpp"

namespace garra::platform {

namespace {

constexpr double kCharacteristicLength = 0.4;  // [m], as InverseOptions has it
constexpr double kNearSingularLimit = 1e-4;    // near singular: scaled sigma_min <= this

void check_poses(const Poses& poses) {
  check_rows("position", poses.position, rows_of_poses(poses), 3);
  check_rows("quaternion", poses.quaternion, rows_of_poses(poses), 4);
}

/// `sigma_min` may be null: then no row is near singular. A row without an answer, for input or singularity, is NaN.
std::vector<PoseStatus> judge(const std::vector<std::vector<double>*>& out, const std::vector<double>& valid,
                              const double* sigma_min) {
  const std::size_t n = valid.size();
  std::vector<PoseStatus> status(n, PoseStatus::kConverged);
  for (std::size_t i = 0; i < n; ++i) {
    bool answered = valid[i] == 1;
    // A column of n rows may be of any width; the quotient is exact, as room() made it so.
    for (const std::vector<double>* column : out) answered = answered && finite_row(*column, i, column->size() / n);
    if (valid[i] != 1)
      status[i] = PoseStatus::kInvalidInput;
    else if (!answered || (sigma_min != nullptr && sigma_min[i] <= kNearSingularLimit))
      status[i] = PoseStatus::kNearSingular;
    if (answered) continue;
    for (std::vector<double>* column : out) blank_row(*column, i, column->size() / n);
  }
  return status;
}

}  // namespace

InverseDynamics inverse_dynamics_full(const Platforms& platforms, const Poses& poses, const Motion& motion,
                                      const std::vector<double>& wrench, const Device& device) {
  const std::int64_t n = rows_of_poses(poses);
  check_poses(poses);
  check_rows("velocity", motion.velocity, n, 6, true);
  check_rows("acceleration", motion.acceleration, n, 6, true);
  check_rows("wrench", wrench, n, 6, true);
  InverseDynamics to;
  std::vector<double> sigma_min, valid;
  const RowsJob job{n,
                    models_for(platforms, n),
                    {column(poses.position, 3), column(poses.quaternion, 4), column(motion.velocity, 6),
                     column(motion.acceleration, 6), column(wrench, 6)},
                    {room(to.force, n, 6), room(to.spherical_force, n, 18), room(to.universal_force, n, 18),
                     room(to.universal_moment, n, 6), room(to.multipliers, n, kFullCoordinates),
                     // sigma_min and valid come last and are not blanked: they are what the others are judged by.
                     room(to.power_balance, n, 1), room(to.condition, n, 1), room(sigma_min, n, 1), room(valid, n, 1)},
                    device};
  run_rows(FullInverseDynamicsOp{kCharacteristicLength}, job);
  to.status = judge({&to.force, &to.spherical_force, &to.universal_force, &to.universal_moment, &to.multipliers,
                     &to.power_balance, &to.condition},
                    valid, sigma_min.data());
  return to;
}

ForwardDynamics forward_dynamics_full(const Platforms& platforms, const Poses& poses,
                                      const std::vector<double>& velocity, const std::vector<double>& force,
                                      const std::vector<double>& wrench, const Device& device) {
  const std::int64_t n = rows_of_poses(poses);
  check_poses(poses);
  check_rows("velocity", velocity, n, 6, true);
  check_rows("force", force, n, 6);
  check_rows("wrench", wrench, n, 6, true);
  ForwardDynamics to;
  std::vector<double> valid;
  const RowsJob job{n,
                    models_for(platforms, n),
                    {column(poses.position, 3), column(poses.quaternion, 4), column(velocity, 6), column(force, 6),
                     column(wrench, 6)},
                    {room(to.acceleration, n, 6), room(to.kinetic, n, 1), room(to.potential, n, 1), room(valid, n, 1)},
                    device};
  run_rows(FullForwardDynamicsOp{}, job);
  to.status = judge({&to.acceleration, &to.kinetic, &to.potential}, valid, nullptr);
  return to;
}

}  // namespace garra::platform
