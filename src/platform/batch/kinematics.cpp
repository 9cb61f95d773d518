// Forward kinematics of garra/platform_kinematics.hpp.
#include "garra/platform_kinematics.hpp"
#include "garra/systems/platform/kinematics_ops.hpp"
#include "platform/batch/modes.hpp"
#include "platform/batch/poses.hpp"
#include "platform/batch/rows_run.hpp"

namespace garra::platform {

namespace {

/// What proofs make of the poses that are converged: they overrule the sign of the determinant.
void certify(const RowsJob& job, const ForwardOptions& options, ForwardKinematics& to) {
  const ModeProofs proofs = mode_proofs(job, to.pose, options);
  to.uniqueness.assign(to.status.size(), 0.0);
  for (std::size_t i = 0; i < to.status.size(); ++i) {
    PoseStatus& status = to.status[i];
    if (status == PoseStatus::kInvalidInput || !(to.residual[i] <= options.tol)) continue;
    to.uniqueness[i] = proofs.unique[i];
    // Near a singular pose the proof may hold and yet the answer is worth little: the warning stays.
    if (status == PoseStatus::kNearSingular) continue;
    if (proofs.proven[i] > 0)
      status = PoseStatus::kCertified;
    else if (options.prove_mode)
      status = PoseStatus::kModeSuspect;
  }
}

}  // namespace

const char* to_string(PoseStatus status) {
  constexpr const char* kNames[] = {"converged",   "certified",       "mode_suspect", "near_singular",
                                    "unreachable", "iteration_limit", "invalid_input"};
  return kNames[static_cast<int>(status)];
}

ForwardKinematics forward_kinematics(const Platforms& platforms, const std::vector<double>& lengths, const Poses& guess,
                                     const ForwardOptions& options, const Device& device) {
  if (options.prove_mode && !options.certify)
    throw Error(ExitCode::kUsage, "a proof of the mode needs the certificate", "Set `certify`, too.");
  const std::int64_t n = static_cast<std::int64_t>(lengths.size() / 6);
  const bool shared = rows_of(guess) == 1;
  check_rows("lengths", lengths, n, 6);
  check_rows("position of the guess", guess.position, shared ? 1 : n, 3);
  check_rows("quaternion of the guess", guess.quaternion, shared ? 1 : n, 4);
  ForwardKinematics to;
  std::vector<double> iterations, status;
  const RowsJob job{n,
                    models_for(platforms, n),
                    {column(lengths, 6), {guess.position.data(), 3, shared}, {guess.quaternion.data(), 4, shared}},
                    {room(to.pose.position, n, 3), room(to.pose.quaternion, n, 4), room(to.residual, n, 1),
                     room(to.sigma_min, n, 1), room(iterations, n, 1), room(status, n, 1)},
                    device};
  const ForwardRule rule{options.tol, static_cast<double>(options.max_iterations)};
  run_rows(ForwardOp{rule, options.characteristic_length, options.near_singular}, job);
  to.status = statuses(status);
  to.iterations.assign(iterations.begin(), iterations.end());
  if (options.certify) certify(job, options, to);
  return to;
}

}  // namespace garra::platform
