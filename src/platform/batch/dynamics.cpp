// Entries of platform_dynamics.hpp.
#include "garra/platform_dynamics.hpp"
#include "platform/batch/dynamics_ops.hpp"
#include "platform/batch/full_ops.hpp"
#include "platform/batch/poses.hpp"
#include "platform/batch/rows_run.hpp"

namespace garra::platform {

extern template void run_rows(const FullInverseDynamicsOp&, const RowsJob&);
extern template void run_rows(const FullForwardDynamicsOp&, const RowsJob&);

namespace {

/// Inputs of an operation on poses: three arrays [n,6] behind them; the second may be required.
RowsJob make_job(const Platforms& platforms, const Poses& poses, const std::vector<double>& velocity,
                 const std::pair<const char*, const std::vector<double>&>& second, const std::vector<double>& wrench) {
  const std::int64_t n = count_rows(poses);
  require_masses(platforms);
  check_rows("position", poses.position, n, 3);
  check_rows("quaternion", poses.quaternion, n, 4);
  check_rows("velocity", velocity, n, 6, true);
  check_rows(second.first, second.second, n, 6, second.first == std::string_view("acceleration"));
  check_rows("wrench", wrench, n, 6, true);
  return {n,
          models_for(platforms, n),
          {column(poses.position, 3), column(poses.quaternion, 4), column(velocity, 6), column(second.second, 6),
           column(wrench, 6)},
          {},
          {}};
}

}  // namespace

InverseDynamics inverse_dynamics(const Platforms& platforms, const Poses& poses, const Motion& motion,
                                 const std::vector<double>& wrench, Form form, const Device& device) {
  RowsJob job = make_job(platforms, poses, motion.velocity, {"acceleration", motion.acceleration}, wrench);
  const std::int64_t n = job.count;
  InverseDynamics to;
  std::vector<double> status;
  job.device = device;
  job.out = {room(to.force, n, 6), room(to.spherical_force, n, 18), room(to.universal_force, n, 18),
             room(to.universal_moment, n, 6)};
  if (form == Form::kFull) job.out.push_back(room(to.multipliers, n, kFullCoordinates));
  for (std::vector<double>* one : {&to.power_balance, &to.condition, &status}) job.out.push_back(room(*one, n, 1));
  const double length = characteristic_length(platforms, 0);
  if (form == Form::kFull)
    run_rows(FullInverseDynamicsOp{length}, job);
  else
    run_rows(InverseDynamicsOp{length}, job);
  to.status = statuses(status);
  return to;
}

ForwardDynamics forward_dynamics(const Platforms& platforms, const Poses& poses, const std::vector<double>& velocity,
                                 const std::vector<double>& force, const std::vector<double>& wrench, Form form,
                                 const Device& device) {
  RowsJob job = make_job(platforms, poses, velocity, {"force", force}, wrench);
  ForwardDynamics to;
  std::vector<double> status;
  job.device = device;
  job.out = {room(to.acceleration, job.count, 6), room(to.kinetic, job.count, 1), room(to.potential, job.count, 1),
             room(status, job.count, 1)};
  if (form == Form::kFull)
    run_rows(FullForwardDynamicsOp{}, job);
  else
    run_rows(ForwardDynamicsOp{}, job);
  to.status = statuses(status);
  return to;
}

}  // namespace garra::platform
