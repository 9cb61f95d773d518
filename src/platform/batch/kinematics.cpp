// Forward kinematics of garra/platform_kinematics.hpp.
#include "garra/platform_kinematics.hpp"
#include "garra/systems/platform/modes_ops.hpp"
#include "platform/batch/forward_ops.hpp"
#include "platform/batch/forward_rows.hpp"
#include "platform/batch/modes.hpp"

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
    status = static_cast<PoseStatus>(static_cast<int>(
        certified_status<double>(static_cast<double>(status), proofs.proven[i] > 0, options.prove_mode)));
  }
}

}  // namespace

const char* to_string(PoseStatus status) {
  constexpr const char* kNames[] = {"converged", "certified",       "mode_suspect", "near_singular",
                                    "stalled",   "iteration_limit", "invalid_input"};
  return kNames[static_cast<int>(status)];
}

ForwardKinematics forward_kinematics(const Platforms& platforms, const std::vector<double>& lengths, const Poses& guess,
                                     const ForwardOptions& given, const Device& device) {
  check_proofs(given);
  const ForwardOptions options = scaled_options(given, platforms);
  const RowsJob job = forward_job(platforms, lengths, guess, device);
  ForwardKinematics to = run_forward(forward_op(options), job);
  if (options.certify) certify(job, options, to);
  return to;
}

}  // namespace garra::platform
