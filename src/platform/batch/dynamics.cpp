// Entries of platform_dynamics.hpp: the minimal form here, the full form in full*.cpp.
#include <cmath>
#include <limits>

#include "garra/platform_dynamics.hpp"
#include "platform/batch/dynamics_ops.hpp"
#include "platform/batch/full.hpp"
#include "platform/batch/rows_run.hpp"

namespace garra::platform {

namespace {

constexpr double kCharacteristicLength = 0.4;  // [m], as InverseOptions has it
constexpr double kNearSingularLimit = 1e-4;    // near singular: scaled sigma_min <= this

// The quaternions are checked against this number, so that one array alone cannot set it.
std::int64_t rows_of(const Poses& poses) { return static_cast<std::int64_t>(poses.position.size() / 3); }

void check_poses(const Poses& poses) {
  check_rows("position", poses.position, rows_of(poses), 3);
  check_rows("quaternion", poses.quaternion, rows_of(poses), 4);
}

/// Row i of every output becomes NaN.
void blank(const std::vector<OutColumn>& out, std::size_t i) {
  for (const OutColumn& c : out) {
    const std::size_t width = static_cast<std::size_t>(c.width);
    for (std::size_t w = 0; w < width; ++w) c.data[i * width + w] = std::numeric_limits<double>::quiet_NaN();
  }
}

// NaN is the kernels' only word for a row without an answer: they cannot branch on lanes (a leg parallel to its axis,
// a singular solve).
bool has_number_missing(const std::vector<OutColumn>& out, std::size_t i) {
  for (const OutColumn& c : out) {
    const std::size_t width = static_cast<std::size_t>(c.width);
    for (std::size_t w = 0; w < width; ++w)
      if (!std::isfinite(c.data[i * width + w])) return true;
  }
  return false;
}

/// `sigma_min` may be null: then no row is near singular. A row without an answer, for input or singularity, is NaN.
std::vector<PoseStatus> judge(const std::vector<OutColumn>& out, const std::vector<double>& valid,
                              const double* sigma_min) {
  std::vector<PoseStatus> status(valid.size(), PoseStatus::kConverged);
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const bool answered = valid[i] == 1 && !has_number_missing(out, i);
    if (valid[i] != 1)
      status[i] = PoseStatus::kInvalidInput;
    else if (!answered || (sigma_min != nullptr && sigma_min[i] <= kNearSingularLimit))
      status[i] = PoseStatus::kNearSingular;
    if (!answered) blank(out, i);
  }
  return status;
}

}  // namespace

InverseDynamics inverse_dynamics(const Platforms& platforms, const Poses& poses, const Motion& motion,
                                 const std::vector<double>& wrench, Form form, const Device& device) {
  if (form == Form::kFull) return inverse_dynamics_full(platforms, poses, motion, wrench, device);
  const std::int64_t n = rows_of(poses);
  check_poses(poses);
  check_rows("velocity", motion.velocity, n, 6, true);
  check_rows("acceleration", motion.acceleration, n, 6, true);
  check_rows("wrench", wrench, n, 6, true);
  InverseDynamics out;
  std::vector<double> sigma_min, valid;
  // The answers go first and apart from sigma_min and valid: judge() blanks those that a user sees, and may not blank
  // what it judges by.
  const std::vector<OutColumn> answers = {room(out.force, n, 6),
                                          room(out.spherical_force, n, 18),
                                          room(out.universal_force, n, 18),
                                          room(out.universal_moment, n, 6),
                                          room(out.power_balance, n, 1),
                                          room(out.condition, n, 1)};
  RowsJob job{n,
              models_for(platforms, n),
              {column(poses.position, 3), column(poses.quaternion, 4), column(motion.velocity, 6),
               column(motion.acceleration, 6), column(wrench, 6)},
              answers,
              device};
  job.out.push_back(room(sigma_min, n, 1));
  job.out.push_back(room(valid, n, 1));
  run_rows(InverseDynamicsOp{kCharacteristicLength}, job);
  out.status = judge(answers, valid, sigma_min.data());
  return out;
}

ForwardDynamics forward_dynamics(const Platforms& platforms, const Poses& poses, const std::vector<double>& velocity,
                                 const std::vector<double>& force, const std::vector<double>& wrench, Form form,
                                 const Device& device) {
  if (form == Form::kFull) return forward_dynamics_full(platforms, poses, velocity, force, wrench, device);
  const std::int64_t n = rows_of(poses);
  check_poses(poses);
  check_rows("velocity", velocity, n, 6, true);
  check_rows("force", force, n, 6);
  check_rows("wrench", wrench, n, 6, true);
  ForwardDynamics out;
  std::vector<double> valid;
  const std::vector<OutColumn> answers = {room(out.acceleration, n, 6), room(out.kinetic, n, 1),
                                          room(out.potential, n, 1)};
  RowsJob job{n,
              models_for(platforms, n),
              {column(poses.position, 3), column(poses.quaternion, 4), column(velocity, 6), column(force, 6),
               column(wrench, 6)},
              answers,
              device};
  job.out.push_back(room(valid, n, 1));
  // Forward dynamics divides by the mass matrix alone, which is regular in singular poses, too
  // (docs/platform-dynamics.md, (5)): no limit on sigma_min.
  run_rows(ForwardDynamicsOp{}, job);
  out.status = judge(answers, valid, nullptr);
  return out;
}

}  // namespace garra::platform
