// Forward kinematics of plain arrays, in either form.
#pragma once

#include "garra/platform_kinematics.hpp"
#include "platform/batch/poses.hpp"
#include "platform/batch/rows_run.hpp"

namespace garra::platform {

/// Checked inputs of forward kinematics.
inline RowsJob forward_job(const Platforms& platforms, const std::vector<double>& lengths, const Poses& guess,
                           const Device& device) {
  const std::int64_t n = static_cast<std::int64_t>(lengths.size() / 6);
  const bool shared = count_rows(guess) == 1;
  check_rows("lengths", lengths, n, 6);
  check_rows("position of the guess", guess.position, shared ? 1 : n, 3);
  check_rows("quaternion of the guess", guess.quaternion, shared ? 1 : n, 4);
  return {n,
          models_for(platforms, n),
          {column(lengths, 6), {guess.position.data(), 3, shared}, {guess.quaternion.data(), 4, shared}},
          {},
          device};
}

/// Runs forward kinematics; Op returns ForwardOp::Out.
template <class Op>
ForwardKinematics run_forward(const Op& op, RowsJob job) {
  ForwardKinematics to;
  std::vector<double> iterations, status;
  const std::int64_t n = job.count;
  job.out = {room(to.pose.position, n, 3), room(to.pose.quaternion, n, 4), room(to.residual, n, 1),
             room(to.sigma_min, n, 1),     room(iterations, n, 1),         room(status, n, 1)};
  run_rows(op, job);
  to.status = statuses(status);
  to.iterations.assign(iterations.begin(), iterations.end());
  return to;
}

}  // namespace garra::platform
