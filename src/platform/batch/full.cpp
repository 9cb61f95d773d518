// Forward kinematics in the full form.
#include "platform/batch/full.hpp"

#include "platform/batch/full_ops.hpp"
#include "platform/batch/full_rows.hpp"

namespace garra::platform {

namespace {

bool usable_guess(const Poses& guess, std::size_t row) {
  double squares = 0;
  for (std::size_t k = 0; k < 4; ++k) squares += guess.quaternion[4 * row + k] * guess.quaternion[4 * row + k];
  // A sum of squares that is subnormal or infinite has no unit quaternion in double precision.
  return finite_row(guess.position, row, 3) && std::isnormal(squares);
}

bool usable_lengths(const std::vector<double>& lengths, std::size_t row) {
  for (std::size_t k = 0; k < 6; ++k)
    if (!(std::isfinite(lengths[6 * row + k]) && lengths[6 * row + k] > 0)) return false;
  return true;
}

PoseStatus judge_forward(const ForwardOptions& options, const ForwardKinematics& r, std::size_t i, bool same_sign) {
  // Written as a negation: a NaN residual fails, too.
  if (!(r.residual[i] <= options.tol) || !finite_row(r.pose.position, i, 3) || !finite_row(r.pose.quaternion, i, 4))
    return PoseStatus::kIterationLimit;
  if (r.sigma_min[i] <= options.near_singular) return PoseStatus::kNearSingular;
  // det J changes its sign only through a singular pose, so another sign than at the guess proves another assembly
  // mode; the same sign proves nothing.
  return same_sign ? PoseStatus::kConverged : PoseStatus::kModeSuspect;
}

}  // namespace

ForwardKinematics forward_kinematics_full(const Platforms& platforms, const std::vector<double>& lengths,
                                          const Poses& guess, const ForwardOptions& options, const Device& device) {
  if (options.certify || options.prove_mode)
    throw Error(ExitCode::kUsage, "the full form of forward kinematics proves nothing", "Use the minimal form.");
  const std::int64_t n = static_cast<std::int64_t>(lengths.size() / 6);
  const bool shared = rows_of_poses(guess) == 1;
  check_rows("lengths", lengths, n, 6);
  check_rows("position of the guess", guess.position, shared ? 1 : n, 3);
  check_rows("quaternion of the guess", guess.quaternion, shared ? 1 : n, 4);
  ForwardKinematics to;
  std::vector<double> iterations, same_sign;
  const RowsJob job{n,
                    models_for(platforms, n),
                    {column(lengths, 6), {guess.position.data(), 3, shared}, {guess.quaternion.data(), 4, shared}},
                    {room(to.pose.position, n, 3), room(to.pose.quaternion, n, 4), room(to.residual, n, 1),
                     room(iterations, n, 1), room(to.sigma_min, n, 1), room(same_sign, n, 1)},
                    device};
  run_rows(FullForwardOp{options.tol, options.max_iterations, options.characteristic_length}, job);
  to.status.resize(static_cast<std::size_t>(n));
  to.iterations.resize(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < to.status.size(); ++i) {
    // Judged on the host from the input: the kernel computes such rows as any other, and their numbers are NaN or
    // nonsense.
    const bool valid = usable_guess(guess, shared ? 0 : i) && usable_lengths(lengths, i);
    to.iterations[i] = valid ? static_cast<int>(iterations[i]) : 0;
    to.status[i] = valid ? judge_forward(options, to, i, same_sign[i] > 0) : PoseStatus::kInvalidInput;
    if (valid) continue;
    blank_row(to.pose.position, i, 3);
    blank_row(to.pose.quaternion, i, 4);
    blank_row(to.residual, i, 1);
    blank_row(to.sigma_min, i, 1);
  }
  return to;
}

}  // namespace garra::platform
