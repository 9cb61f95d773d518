// Forward kinematics in the full form.
#include "garra/platform_dynamics.hpp"
#include "platform/batch/forward_ops.hpp"
#include "platform/batch/forward_rows.hpp"
#include "platform/batch/full_ops.hpp"

namespace garra::platform {

ForwardKinematics forward_kinematics_full(const Platforms& platforms, const std::vector<double>& lengths,
                                          const Poses& guess, const ForwardOptions& options, const Device& device) {
  if (options.certify || options.certify_mode)
    throw Error(ExitCode::kUsage, "the full form of forward kinematics proves nothing", "Use the minimal form.");
  return run_forward(full_forward_op(scaled_options(options, platforms)),
                     forward_job(platforms, lengths, guess, device));
}

}  // namespace garra::platform
